//! T3 table 6.2 (section 6.3.3): beta-VAEs with the beta that L-VAE learned, beside L-VAE; of each the run with the highest CbD.
//!
//! The claim is that a fixed beta reconstructs worse than the learned weights, on every dataset. (That it also disentangles less the table bears out in some cells only, and is not judged.) At paper scale betas are
//! T3's; at other scales ([`super::t3_setups`]) L-VAEs are trained first, and beta is what the chosen one learned. There the claim is only shown: once both have settled they minimise the same loss up to a
//! factor, and which is ahead is chance.

use unbraid_data::Result;

use super::planned::{Grids, Runs, above, train_at_hand};
use super::t3_setups::{SMALL, SMOKE};
use super::t3_tables::{Chosen, OF_CBD, Table, chosen, only_at_paper, rows, score_of};
use super::trained::{Group, of_scale};
use super::{Entry, Outcome, Request, Row, Run, Scale, t3_table_6_1};
use crate::config::Config;
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t3-table-6.2.toml"),
    small: &[SMALL, "[[grid]]\nframework.name = 'beta_vae'\nframework.beta = 1.0"],
    smoke: &[SMOKE],
};
const TABLE: Table = Table {
    columns: OF_CBD,
    by: "cbd",
    rows: &[
        ("dsprites", "beta_vae", &[Some(21.43), Some(0.58), Some(0.93), Some(0.31), Some(0.58)]),
        ("dsprites", "l_vae", &[Some(11.77), Some(0.59), Some(0.96), Some(0.31), Some(0.57)]),
        ("mpi3d_complex", "beta_vae", &[Some(9.84), Some(0.24), Some(0.71), Some(0.19), Some(0.45)]),
        ("mpi3d_complex", "l_vae", &[Some(9.16), Some(0.22), Some(0.73), Some(0.20), Some(0.47)]),
        ("falcor3d", "beta_vae", &[Some(75.30), Some(0.30), Some(0.92), Some(0.15), Some(0.67)]),
        ("falcor3d", "l_vae", &[Some(70.67), Some(0.32), Some(0.94), Some(0.15), Some(0.63)]),
        ("isaac3d", "beta_vae", &[Some(11.75), Some(0.41), Some(0.77), Some(0.28), Some(0.58)]),
        ("isaac3d", "l_vae", &[Some(10.73), Some(0.42), Some(0.75), Some(0.26), Some(0.56)]),
    ],
};
/// What the L-VAEs of table 6.1 learned (equation 6.3).
const LEARNED: &[(&str, f64)] = &[("dsprites", 0.89), ("mpi3d_complex", 0.92), ("falcor3d", 1.90), ("isaac3d", 0.88)];

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let learned = t3_table_6_1::GRIDS.groups(request.scale)?;
    let learned = learned.into_iter().filter(|group| group.config.framework.name == "l_vae").collect();
    let Some(mut runs) = train_at_hand(learned, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let betas = chosen(&runs, TABLE.by)?.iter().map(learned_beta).collect::<Result<Vec<(String, f64)>>>()?;
    for (dataset, beta) in &betas {
        let published = LEARNED.iter().find(|(name, _)| name == dataset).map_or(f64::NAN, |(_, beta)| *beta);
        let row = Row::number(format!("{dataset}, beta that the chosen l_vae learned"), *beta, published, 0.005);
        outcome.rows.push(row.only_beside());
    }
    let fixed = with_betas(GRIDS.groups(request.scale)?, &betas, request.scale);
    // Which datasets are not at hand was noted above.
    let Some(fixed) = train_at_hand(fixed, request, watch, &mut Vec::new())? else { return Ok(None) };
    runs.extend(fixed);
    outcome.rows.extend(of_both(&runs, request.scale)?);
    Ok(Some(of_scale(outcome, request.scale)))
}

fn of_both(runs: &[Runs], scale: Scale) -> Result<Vec<Row>> {
    let chosen = chosen(runs, TABLE.by)?;
    let mut all = rows(&TABLE, &chosen);
    for dataset in chosen.iter().filter(|one| one.model == "l_vae").map(|one| one.dataset.as_str()) {
        let both = ["beta_vae", "l_vae"].map(|model| score_of(&chosen, dataset, model, "reconstruction"));
        let claim = above(format!("{dataset}: with the beta fixed reconstruction is worse"), both);
        all.push(only_at_paper(claim, scale));
    }
    Ok(all)
}

/// The dataset of a run of L-VAE and the beta that it came to.
pub fn learned_beta(one: &Chosen) -> Result<(String, f64)> {
    let losses = one.folder.read_losses()?;
    let last = losses.column("beta_hat").and_then(|values| values.last().copied());
    Ok((one.dataset.clone(), last.unwrap_or(f64::NAN)))
}

/// At paper scale the groups as they are, else with the beta of their dataset, to three digits, so that runs on another machine have the same names.
fn with_betas(mut groups: Vec<Group>, betas: &[(String, f64)], scale: Scale) -> Vec<Group> {
    if scale != Scale::Paper {
        for group in &mut groups {
            let Config { dataset, framework, .. } = &mut group.config;
            if let Some((_, beta)) = betas.iter().find(|(name, beta)| *name == dataset.name && beta.is_finite()) {
                framework.settings.insert("beta".to_string(), toml::Value::Float((beta * 1e3).round() / 1e3));
            }
        }
    }
    groups
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-table-6.2",
    about: "beta-VAE with the beta that L-VAE learned, beside L-VAE, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, table 6.2",
    run: Run::Trained(run),
};
