//! T3 table 7.1 and section 7.3.1: mdL-VAE, which learns a weight for the divergence of each latent, beside the models of table 6.1; of each the run with the highest CbD.
//!
//! Claims are that mdL-VAE has the highest CbD on each dataset (shared on some), that on MPI3D its weak variant has a higher one than the strong, and that a latent's learned sigma tells whether it is
//! disentangled (figures 7.2 to 7.7): here that sigmas and the strongest correlation of each latent with a factor have a positive rank correlation, on average over all
//! runs of mdL-VAE. At small scale ([`super::t3_setups`]) the first is only shown: which way the two positions, of nearly the same variance, are turned decides CbD there, and is chance.

use ndarray::aview1;
use unbraid_data::Result;
use unbraid_data::npy::read_table;
use unbraid_metrics::statistics::pearson::absolute_pearson_matrix;
use unbraid_metrics::statistics::spearman::spearman;
use unbraid_report::RunFolder;

use super::planned::{Grids, Runs, above, datasets, train_at_hand};
use super::spread::Spread;
use super::t3_setups::{SMALL, SMOKE};
use super::t3_table_6_1;
use super::t3_tables::{Chosen, OF_CBD, Table, among_first, chosen, model, only_at_paper, ranking, rows, score_of};
use super::trained::{Group, of_scale};
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t3-table-7.1.toml"),
    small: &[SMALL, "[[grid]]\nframework = [{ name = 'mdl_vae', variant = 'strong' }]"],
    smoke: &[SMOKE],
};
const OF_MDL_VAE: &[(&str, &str, &[Option<f64>])] = &[
    ("dsprites", "mdl_vae strong", &[Some(19.99), Some(0.60), Some(0.97), Some(0.31), Some(0.59)]),
    ("falcor3d", "mdl_vae strong", &[Some(75.17), Some(0.41), Some(0.95), Some(0.17), Some(0.61)]),
    ("isaac3d", "mdl_vae strong", &[Some(13.78), Some(0.52), Some(0.76), Some(0.37), Some(0.57)]),
    ("mpi3d_complex", "mdl_vae strong", &[Some(16.60), Some(0.21), Some(0.54), Some(0.12), Some(0.34)]),
    ("mpi3d_complex", "mdl_vae weak", &[Some(8.80), Some(0.23), Some(0.79), Some(0.19), Some(0.41)]),
];

/// The runs of tables 7.1, 7.2 and 7.3: those of table 6.1, and mdL-VAEs.
pub fn groups(scale: Scale) -> Result<Vec<Group>> {
    let mut groups = t3_table_6_1::GRIDS.groups(scale)?;
    for group in GRIDS.groups(scale)? {
        if groups.iter().all(|other| other.config != group.config) {
            groups.push(group);
        }
    }
    Ok(groups)
}

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let chosen = chosen(&runs, "cbd")?;
    for published in [t3_table_6_1::PUBLISHED, OF_MDL_VAE] {
        let table = Table { columns: OF_CBD, by: "cbd", rows: published };
        let is_there = |one: &Chosen| published.iter().any(|row| row.1 == one.model);
        let of_table: Vec<Chosen> = chosen.iter().filter(|one| is_there(one)).cloned().collect();
        outcome.rows.extend(rows(&table, &of_table));
    }
    for dataset in datasets(&runs) {
        let variant = if dataset == "mpi3d_complex" { "mdl_vae weak" } else { "mdl_vae strong" };
        let what = format!("{dataset}: {variant} has the highest CbD");
        let claim = among_first(what, &ranking(&chosen, &dataset, "cbd"), variant, 1);
        outcome.rows.push(only_at_paper(claim, request.scale));
    }
    let variants = ["mdl_vae weak", "mdl_vae strong"].map(|model| score_of(&chosen, "mpi3d_complex", model, "cbd"));
    if variants.iter().all(|cbd| cbd.is_finite()) {
        outcome.rows.push(above("mpi3d_complex: the weak variant has a higher CbD than the strong", variants));
    }
    outcome.rows.extend(sigmas_tell(&runs)?);
    Ok(Some(of_scale(outcome, request.scale)))
}

/// Section 7.3.1: learned sigmas mark the latents that are disentangled.
fn sigmas_tell(runs: &[Runs]) -> Result<[Row; 2]> {
    let mut found = Vec::new();
    for one in runs.iter().filter(|runs| model(runs) == "mdl_vae strong") {
        for folder in &one.restarts.folders {
            let (sigmas, correlations) = (sigmas(folder)?, strongest_correlations(folder)?);
            // Where all are alike there is no order.
            let varies = |values: &[f64]| values.windows(2).any(|pair| pair[0] != pair[1]);
            if varies(&sigmas) && varies(&correlations) {
                found.push(spearman(&aview1(&sigmas), &aview1(&correlations)));
            }
        }
    }
    let spread = Spread::of(&found);
    let what = "mdl_vae: rank correlation of latents' sigmas and strongest correlations";
    let claim = Row::claim(format!("{what} is positive"), format!("{:.2}", spread.mean), spread.mean > 0.0);
    Ok([Row::mean(what, spread, None), claim])
}

/// The sigma of each latent at the end of a run.
fn sigmas(folder: &RunFolder) -> Result<Vec<f64>> {
    let losses = folder.read_losses()?;
    let of_latents = losses.columns.iter().filter(|column| column.name.starts_with("sigma_z"));
    Ok(of_latents.filter_map(|column| column.values.last().copied()).collect())
}

/// Of each latent the largest absolute correlation with a factor.
fn strongest_correlations(folder: &RunFolder) -> Result<Vec<f64>> {
    let correlations =
        absolute_pearson_matrix(&read_table(&folder.codes_path())?, &read_table(&folder.factors_path())?); // [latents, factors]
    Ok(correlations.rows().into_iter().map(|of_latent| of_latent.iter().copied().fold(0.0, f64::max)).collect())
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-table-7.1",
    about: "mdL-VAE beside six models, best by CbD, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, table 7.1 and section 7.3.1",
    run: Run::Trained(run),
};
