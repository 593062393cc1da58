//! T1 figures 5.1 and 5.3 (section 5.3): triplets ordered by factors give beta-TVAEs distances and straight traversals, along no latent in particular.
//!
//! The figures have no numbers. Their section says that beta-TVAEs have a higher distance correlation and linearity than the beta-VAEs and Ada-GVAEs of figure 4.4, on
//! average; that L1 is better than L2; that axis ratios stay below linearity; and, in figure 5.3, that hard and soft triplets reach about the same reconstruction loss where the
//! encoder learns from the decoder, here within a quarter, and hard ones a lower one where it does not. T1 takes the best of each training, here scores are those of its end.
//! At small scale ([`super::t1_setups`]) the dataset is two squares, with one margin, weight and sampler, from two seeds.

use unbraid_data::Result;

use super::planned::{Grids, Runs, above, mean, means, shown, train_at_hand};
use super::run_figures::over_groups;
use super::t1_setups::{OF_TRAVERSALS, SMALL, SMALL_SQUARES, SMOKE_OF_TRAVERSALS, SMOKE_SQUARES};
use super::trained::{Group, of_scale};
use super::{Entry, Outcome, Request, Row, Run, t1_figure_4_4};
use crate::watch::Watch;

/// Figure 5.5 sets its runs beside these.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-5.1.toml"),
    small: &[
        SMALL,
        SMALL_SQUARES,
        "
        [shared]
        dataset = []
        sampler.distance = ['scaled_l1']
        framework.alpha = [1]
        [[grid]]
        framework.triplet = 'hard'
        framework.margin = [10]
        seed = [1, 2]
        [[grid]]
        framework.triplet = 'soft'
        seed = [1, 2]
        ",
    ],
    smoke: &[
        SMOKE_OF_TRAVERSALS,
        SMOKE_SQUARES,
        "
        [shared]
        framework.distance = ['l1']
        framework.decoder_gradient = [true]
        [[grid]]
        framework.triplet = 'hard'
        framework.margin = [10]
        ",
    ],
};
/// Figure 5.3: reconstruction losses that differ by no more than this share are about the same.
const ABOUT: f64 = 0.25;
const DISTANCE: &str = "framework.distance";
const TRIPLET: &str = "framework.triplet";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let mut groups = GRIDS.groups(request.scale)?;
    groups.extend(on_same_data(&groups, t1_figure_4_4::GRIDS.groups(request.scale)?));
    let Some(all) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let (runs, others): (Vec<Runs>, Vec<Runs>) = all.iter().cloned().partition(|runs| runs.framework() == "beta_tvae");
    outcome.rows = means(&runs, &OF_TRAVERSALS, name)?;
    outcome.rows.extend(means(&others, &OF_TRAVERSALS, name)?);
    for other in ["beta_vae", "ada_gvae"] {
        for (score, shown) in &OF_TRAVERSALS[..2] {
            let theirs = mean(others.iter().filter(|runs| runs.framework() == other), score)?;
            let what = format!("{shown} of beta_tvae is above that of {other}");
            outcome.rows.push(above(what, [mean(&runs, score)?, theirs]));
        }
    }
    for (score, shown) in OF_TRAVERSALS {
        let by = |distance: &str| mean(runs.iter().filter(|runs| runs.word(DISTANCE) == distance), score);
        outcome.rows.push(above(format!("{shown} is higher by l1 than by l2"), [by("l1")?, by("l2")?]));
    }
    let both = [mean(&runs, "linearity_ratio")?, mean(&runs, "axis_ratio")?];
    outcome.rows.push(above("traversals are straight along no latent: linearity is above the axis ratio", both));
    outcome.rows.extend(reconstructions(&runs)?);
    let title = "triplets ordered by factors, beside beta-VAE and Ada-GVAE";
    let triplet = |runs: &Runs| match runs.framework() {
        "beta_tvae" => format!("{} {}", runs.word(TRIPLET), runs.word(DISTANCE)),
        other => other.to_string(),
    };
    let figure = over_groups(title, &all, &OF_TRAVERSALS, triplet, |runs| runs.dataset().to_string())?;
    outcome.figures.push(("triplets.png".to_string(), figure));
    Ok(Some(of_scale(outcome, request.scale)))
}

/// Those of `others` whose dataset some of `groups` have.
pub fn on_same_data(groups: &[Group], others: Vec<Group>) -> Vec<Group> {
    let is_there = |other: &Group| groups.iter().any(|group| group.config.dataset == other.config.dataset);
    others.into_iter().filter(is_there).collect()
}

fn name(runs: &Runs) -> String {
    let (dataset, framework, beta) = (runs.dataset(), runs.framework(), runs.number("framework.beta"));
    if framework != "beta_tvae" {
        return format!("{dataset}, {framework}, beta {beta}, rate {}", runs.number("training.learning_rate"));
    }
    let triplet = match runs.word(TRIPLET).as_str() {
        "hard" => format!("hard, margin {}", runs.number("framework.margin")),
        soft => soft.to_string(),
    };
    let gradient = if looks_on(runs) { "without" } else { "with" };
    let (by, alpha) = (runs.word("sampler.distance"), runs.number("framework.alpha"));
    format!("{dataset} by {by}, {triplet}, {}, alpha {alpha}, {gradient} gradient of the decoder", runs.word(DISTANCE))
}

/// Whether the encoder learns nothing from the decoder.
fn looks_on(runs: &Runs) -> bool {
    runs.config.framework.settings.get("decoder_gradient").and_then(toml::Value::as_bool) == Some(false)
}

/// Figure 5.3; nothing where not both kinds of triplets are trained.
fn reconstructions(runs: &[Runs]) -> Result<Vec<Row>> {
    let of = |triplet: &str, is_without: bool| {
        let is_one = |runs: &&Runs| runs.word(TRIPLET) == triplet && looks_on(runs) == is_without;
        mean(runs.iter().filter(is_one), "reconstruction")
    };
    let mut rows = Vec::new();
    let [hard, soft] = [of("hard", false)?, of("soft", false)?];
    if hard.is_finite() && soft.is_finite() {
        let what = "with the decoder's gradient hard and soft triplets reconstruct about as well";
        let ours = format!("{} and {}", shown(hard), shown(soft));
        rows.push(Row::claim(what, ours, (hard - soft).abs() <= ABOUT * hard.min(soft)));
    }
    let [hard, soft] = [of("hard", true)?, of("soft", true)?];
    if hard.is_finite() && soft.is_finite() {
        let what = "without it the reconstruction loss of soft triplets is above that of hard ones";
        rows.push(above(what, [soft, hard]));
    }
    Ok(rows)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-5.1",
    about: "Distances and ratios of beta-TVAEs by how triplets are compared, trained: xy_squares, dsprites, and files at hand",
    paper: "Michlo 2022, figures 5.1 and 5.3",
    run: Run::Trained(run),
};
