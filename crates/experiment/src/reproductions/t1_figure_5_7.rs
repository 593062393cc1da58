//! T1 figure 5.7 (section 5.5.2): Ada-TVAEs without supervision, whose triplets are ordered by how far apart images look.
//!
//! The figure has no numbers. Its section says that scores are higher on datasets whose image distances follow the factors more (tables 4.1 and 4.2), here that the rank
//! correlation over datasets is positive, which needs three of them; and that scores are lower than those of unsupervised VAEs, here the highest MIG than that of the beta-VAEs of figure 4.4 on
//! the same data. That they vary less is not judged: two seeds tell no spread.
//!
//! At small scale ([`super::t1_setups`]) there are two squares and a sub-grid of dSprites, and what makes distances follow the factors is the loss: two squares under `mse` are trained as
//! well, and the claim is that they score lower than under `mse_box`. T1 has no such runs.

use ndarray::aview1;
use unbraid_data::Result;
use unbraid_metrics::statistics::geometric_mean::geometric_mean;
use unbraid_metrics::statistics::spearman::spearman;

use super::planned::{Grids, Runs, above, datasets, largest, mean, means, shown, train_at_hand};
use super::run_figures::over_groups;
use super::t1_figure_5_1::on_same_data;
use super::t1_setups::{OF_TRAVERSALS, SMALL, SMALL_SQUARES, SMOKE_OF_TRAVERSALS, SMOKE_SQUARES};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run, t1_figure_4_4};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-5.7.toml"),
    small: &[
        SMALL,
        SMALL_SQUARES,
        "
        [base.training]
        batch_size = 64
        [shared]
        framework.triplets = [512]
        [[grid]]
        dataset = [{ name = 'dsprites', size = 32, fix = { shape = 1, orientation = 0 }, standardise = true }]
        framework.reconstruction = 'mse'
        [[grid]]
        framework.reconstruction = ['mse', { name = 'mse_box', radius = 15, weight = 961 }]
        ",
    ],
    smoke: &[
        SMOKE_OF_TRAVERSALS,
        SMOKE_SQUARES,
        "
        [shared]
        seed = [1]
        framework.triplets = [32]
        [[grid]]
        framework.reconstruction = ['mse', { name = 'mse_box', radius = 7, weight = 225 }]
        ",
    ],
};
/// Rank correlations of image and factor distances along each factor, under `mse` (T1 table 4.1) and `mse_box` (table 4.2).
const FOLLOWS: &[(&str, &[f64])] = &[
    ("dsprites", &[0.72, 0.95, 0.17, 0.75, 0.75]),
    ("shapes3d", &[0.76, 0.74, 0.71, 0.88, 0.79, 0.92]),
    ("cars3d", &[0.93, 0.34, 0.04]),
    ("smallnorb", &[0.53, 0.52, 0.90, 0.19, 0.29]),
    ("xy_squares", &[0.97]),
];
const LOSS: &str = "framework.reconstruction";
const SCORES: [(&str, &str); 3] = [OF_TRAVERSALS[0], OF_TRAVERSALS[2], ("mig", "MIG")];

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let mut groups = GRIDS.groups(request.scale)?;
    let others = on_same_data(&groups, t1_figure_4_4::GRIDS.groups(request.scale)?);
    groups.extend(others.into_iter().filter(|group| group.config.framework.name == "beta_vae"));
    let Some(all) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let (runs, others): (Vec<Runs>, Vec<Runs>) =
        all.iter().cloned().partition(|runs| runs.framework() == "ada_tvae_data");
    outcome.rows = means(&runs, &SCORES, name)?;
    outcome.rows.extend(means(&others, &SCORES, name)?);
    outcome.rows.extend(follows(&runs)?);
    outcome.rows.extend(by_loss(&runs)?);
    for dataset in datasets(&runs) {
        let is_it = |runs: &&Runs| runs.dataset() == dataset;
        let [own, theirs] = [&runs, &others].map(|all| largest(all.iter().filter(is_it), "mig"));
        let what = format!("{dataset}: the highest MIG of beta_vae is above that of ada_tvae_data");
        outcome.rows.push(above(what, [theirs?, own?]));
        let of_dataset: Vec<Runs> = all.iter().filter(is_it).cloned().collect();
        let title = format!("{dataset}: Ada-TVAE without supervision, beside beta-VAE");
        let framework = |runs: &Runs| runs.framework().to_string();
        let figure = over_groups(&title, &of_dataset, &SCORES, |runs| runs.word(LOSS), framework)?;
        outcome.figures.push((format!("{dataset}.png"), figure));
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn name(runs: &Runs) -> String {
    let of = format!("{}, {}, {}", runs.dataset(), runs.framework(), runs.word(LOSS));
    match runs.framework() {
        "ada_tvae_data" => format!("{of}, {} triplets", runs.number("framework.triplets")),
        _ => format!("{of}, beta {}, rate {}", runs.number("framework.beta"), runs.number("training.learning_rate")),
    }
}

/// Whether scores follow how well images tell the factors' distances, over datasets; nothing where there are fewer than three.
fn follows(runs: &[Runs]) -> Result<Option<Row>> {
    let (mut offered, mut found) = (Vec::new(), Vec::new());
    for (dataset, correlations) in FOLLOWS {
        let score = mean(runs.iter().filter(|runs| runs.dataset() == *dataset), "distance_correlation")?;
        if score.is_finite() {
            offered.push(geometric_mean(correlations));
            found.push(score);
        }
    }
    let correlation = spearman(&aview1(&offered), &aview1(&found));
    let what = "datasets whose image distances follow the factors more have a higher distance correlation";
    let row = || Row::claim(what, format!("rank correlation {}", shown(correlation)), correlation > 0.0);
    Ok((found.len() >= 3).then(row))
}

/// The same squares under two losses; nothing where one alone is trained.
fn by_loss(runs: &[Runs]) -> Result<Vec<Row>> {
    let squares = |loss: &str, score: &str| {
        mean(runs.iter().filter(|runs| runs.dataset() == "xy_squares" && runs.word(LOSS) == loss), score)
    };
    let mut rows = Vec::new();
    for (score, shown) in SCORES {
        let both = [squares("mse_box", score)?, squares("mse", score)?];
        if both.iter().all(|value| value.is_finite()) {
            rows.push(above(format!("xy_squares: {shown} is higher under mse_box than under mse"), both));
        }
    }
    Ok(rows)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-5.7",
    about: "Ada-TVAEs without supervision, trained: xy_squares, dsprites, and files at hand",
    paper: "Michlo 2022, figure 5.7",
    run: Run::Trained(run),
};
