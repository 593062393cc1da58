//! T1 figure 4.4 (section 4.3): codes are as far apart as the loss sees images to be, alike under both frameworks; Ada-GVAE is ahead in linearity and axis alignment alone.
//!
//! The figure has no numbers. Its section says that the rank correlation of distances of images and codes (equation 4.10) is almost perfect, here 0.9 or more, and
//! almost the same under both frameworks, here within 0.05, as is that of factors and codes (equation 4.2); that the latter is bounded by that of factors and images; that
//! Ada-GVAE has higher ratios; and that nothing is learned of `xy_squares` at large betas, here a divergence below a tenth of a nat at the largest. Means are over
//! runs that have codes to compare. At small scale ([`super::t1_setups`]) there are two datasets and two betas.

use unbraid_data::Result;
use unbraid_data::Seed;

use super::planned::{Grids, Runs, above, datasets, mean, means, shown, train_at_hand};
use super::run_figures::over_groups;
use super::spread::Spread;
use super::t1_setups::{OF_TRAVERSALS, SMALL, SMOKE_OF_TRAVERSALS};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::run_distances::{Comparison, DistanceSettings, run_distances};
use crate::trained_run::TrainedRun;
use crate::watch::Watch;

/// Figures 5.1, 5.5 and 5.7 set theirs beside these.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-4.4.toml"),
    small: &[
        SMALL,
        "
        [grid]
        seed = [1, 2]
        dataset = [
            { name = 'dsprites', size = 32, fix = { shape = 1, orientation = 0 }, standardise = true },
            { name = 'xy_squares', squares = 2, grid = 8, size = 32, standardise = true },
        ]
        framework.beta = [0.001, 0.1]
        training.learning_rate = [1e-3]
        ",
    ],
    smoke: &[
        SMOKE_OF_TRAVERSALS,
        "
        [grid]
        seed = [1]
        dataset = [{ name = 'xy_squares', squares = 2, grid = 4, size = 16, standardise = true }]
        framework.beta = [0.001]
        ",
    ],
};
const FRAMEWORKS: [&str; 2] = ["beta_vae", "ada_gvae"];
const BETA: &str = "framework.beta";
/// "Almost perfect", "almost the same" and "nothing" as numbers.
const ALMOST_PERFECT: f64 = 0.9;
const ALMOST_SAME: f64 = 0.05;
const NOTHING: f64 = 0.1;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = GRIDS.groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let name = |runs: &Runs| format!("{}, {}, beta {}", runs.dataset(), runs.framework(), runs.number(BETA));
    outcome.rows = means(&runs, &OF_TRAVERSALS, name)?;
    for dataset in datasets(&runs) {
        let of_dataset: Vec<Runs> = runs.iter().filter(|runs| runs.dataset() == dataset).cloned().collect();
        outcome.rows.extend(claims(&dataset, &of_dataset, request.scale, watch)?);
        let title = format!("{dataset}: scores by framework and beta");
        let beta = |runs: &Runs| format!("beta {}", runs.number(BETA));
        let figure = over_groups(&title, &of_dataset, &OF_TRAVERSALS, beta, |runs| runs.framework().to_string())?;
        outcome.figures.push((format!("{dataset}.png"), figure));
    }
    outcome.rows.extend(nothing_learned(&runs)?);
    Ok(Some(of_scale(outcome, request.scale)))
}

/// What is claimed of each dataset.
fn claims(dataset: &str, runs: &[Runs], scale: Scale, watch: &mut dyn Watch) -> Result<Vec<Row>> {
    let [beta_vae, ada_gvae] = FRAMEWORKS.map(|framework| {
        let of_framework: Vec<&Runs> = runs.iter().filter(|runs| runs.framework() == framework).collect();
        agreements(&of_framework, scale, watch)
    });
    let (beta_vae, ada_gvae) = (beta_vae?, ada_gvae?);
    let mut rows = Vec::new();
    for (framework, of) in FRAMEWORKS.iter().zip([&beta_vae, &ada_gvae]) {
        let [ground_image, ground_latent, latent_image] = [0, 1, 2].map(|index| of[index].mean);
        let what = format!("{dataset}, {framework}: rank correlation of image and code distances");
        rows.push(Row::mean(&what, of[2], None));
        let found = shown(latent_image);
        rows.push(Row::claim(format!("{what} is {ALMOST_PERFECT} or more"), found, latent_image >= ALMOST_PERFECT));
        let what = format!("{dataset}, {framework}: factors agree with codes no more than with images");
        rows.push(Row::claim(
            what,
            format!("{}, {}", shown(ground_latent), shown(ground_image)),
            ground_latent <= ground_image,
        ));
    }
    for (index, between) in [(2, "image and code"), (1, "factor and code")] {
        let what = format!("{dataset}: that of {between} distances is alike under both frameworks");
        let both = [beta_vae[index].mean, ada_gvae[index].mean];
        let is_alike = (both[0] - both[1]).abs() <= ALMOST_SAME;
        rows.push(Row::claim(what, both.map(shown).join(", "), is_alike));
    }
    for (score, shown) in &OF_TRAVERSALS[1..] {
        let of = |framework: &str| mean(runs.iter().filter(|runs| runs.framework() == framework), score);
        let what = format!("{dataset}: {shown} is higher under ada_gvae");
        rows.push(above(what, [of("ada_gvae")?, of("beta_vae")?]));
    }
    Ok(rows)
}

/// How far distances agree over runs, by rank: those of [`Comparison::ALL`].
fn agreements(runs: &[&Runs], scale: Scale, watch: &mut dyn Watch) -> Result<[Spread; 3]> {
    let settings = DistanceSettings { traversals: scale.pick(4, 64, 1024), seed: Seed(1) };
    let mut found = Comparison::ALL.map(|_| Vec::new());
    for folder in runs.iter().flat_map(|runs| &runs.restarts.folders) {
        let distances = run_distances(&TrainedRun::open(folder.path())?, &settings, watch)?;
        for (values, agreement) in found.iter_mut().zip(&distances.agreements) {
            values.extend(agreement.spearman.as_ref().ok());
        }
    }
    Ok(found.map(|values| Spread::of(&values)))
}

/// Section 4.3: `xy_squares` is missing at large betas.
fn nothing_learned(runs: &[Runs]) -> Result<Option<Row>> {
    let largest = runs.iter().map(|runs| runs.number(BETA)).fold(0.0, f64::max);
    let at_largest = |runs: &&Runs| runs.dataset() == "xy_squares" && runs.number(BETA) == largest;
    let kl = mean(runs.iter().filter(at_largest), "kl")?;
    let what = format!("xy_squares: nothing is learned at beta {largest}");
    Ok(kl.is_finite().then(|| Row::claim(what, format!("{} nats", shown(kl)), kl < NOTHING)))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-4.4",
    about: "Distances of codes follow those of images, trained: dsprites, xy_squares, and files at hand",
    paper: "Michlo 2022, figure 4.4",
    run: Run::Trained(run),
};
