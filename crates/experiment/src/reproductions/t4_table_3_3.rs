//! T4 table 3.3: distance to orthogonality (DtO) of the decoder and disentanglement score (DS), by dataset and framework, over restarts.
//!
//! DtO is over all latents, as in equation 3.25, and so is that of random decoders: models before their first step, which move no two latents
//! alike. Theirs follows from how weights are drawn, which T4 does not tell, and so it is shown beside the published number; directions drawn
//! uniformly are at 0.548 from the axes of 2 latents, 1.63 of 5 and 1.91 of 6.
//!
//! At small scale numbers of dSprites are shown beside what was published too, as they are of a sub-grid of three factors and of three latents; that the beta-VAE
//! has the most orthogonal decoder is judged there as well. Of both MNISTs, which are learned from in few steps, nothing is judged; see
//! [`super::t4_setups`].

use unbraid_data::{Result, Seed};
use unbraid_metrics::Scores;

use super::spread::{PublishedMean, Spread};
use super::t4_figures::by_framework;
use super::t4_setups::{DSPRITES, FASHION_MNIST, MNIST, SYNTH_LINEAR, SYNTH_NONLINEAR, Setup};
use super::trained::{Group, Restarts, of_scale, train};
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::config::Config;
use crate::jacobians::with_jacobians;
use crate::measure::{encode_images, measure};
use crate::prepare::{prepare, rows_to_encode};
use crate::watch::Watch;

/// A mean and its deviation.
type Cell = (f64, f64);

/// What was published of a dataset.
struct Published {
    setup: &'static Setup,
    /// A framework with its DS, where there is one, and its DtO.
    frameworks: &'static [(&'static str, Option<Cell>, Cell)],
    random_decoder: Cell,
}

const PUBLISHED: &[Published] = &[
    Published {
        setup: &SYNTH_LINEAR,
        frameworks: &[
            ("beta_vae", Some((0.99, 0.01)), (0.00, 0.00)),
            ("ae", Some((0.71, 0.19)), (0.33, 0.18)),
            ("beta_vae_full", Some((0.71, 0.31)), (0.34, 0.35)),
        ],
        random_decoder: (0.79, 0.21),
    },
    Published {
        setup: &SYNTH_NONLINEAR,
        frameworks: &[
            ("beta_vae", Some((0.73, 0.16)), (0.18, 0.02)),
            ("ae", Some((0.59, 0.30)), (0.54, 0.13)),
            ("beta_vae_full", Some((0.42, 0.24)), (0.55, 0.02)),
        ],
        random_decoder: (0.89, 0.16),
    },
    Published {
        setup: &DSPRITES,
        frameworks: &[
            ("beta_vae", Some((0.33, 0.15)), (0.76, 0.08)),
            ("vae", Some((0.21, 0.10)), (1.08, 0.15)),
            ("ae", Some((0.09, 0.04)), (1.62, 0.03)),
            ("beta_vae_full", Some((0.12, 0.06)), (1.73, 0.14)),
        ],
        random_decoder: (1.86, 0.11),
    },
    Published {
        setup: &MNIST,
        frameworks: &[("vae", None, (1.59, 0.08)), ("ae", None, (1.83, 0.05)), ("beta_vae_full", None, (1.93, 0.08))],
        random_decoder: (2.11, 0.11),
    },
    Published {
        setup: &FASHION_MNIST,
        frameworks: &[("vae", None, (1.36, 0.05)), ("ae", None, (1.87, 0.03)), ("beta_vae_full", None, (2.02, 0.08))],
        random_decoder: (2.11, 0.11),
    },
];

/// Random decoders of a dataset.
const N_RANDOM: u64 = 10;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let scale = request.scale;
    let mut outcome = Outcome::default();
    let mut groups = Vec::new();
    let mut at_hand = Vec::new();
    for published in PUBLISHED {
        if let Some(changes) = published.setup.at_hand(scale, &mut outcome.notes)? {
            groups.extend(groups_of(published, scale, &changes)?);
            at_hand.push((published, changes));
        }
    }
    let Some(trained) = train(&groups, request, watch)? else { return Ok(None) };
    let mut left = trained.as_slice();
    for (published, changes) in at_hand {
        let (restarts, others) = left.split_at(published.frameworks.len());
        outcome.rows.extend(rows_of(published, restarts, scale, &changes)?);
        let figure = by_framework(published.setup.dataset, restarts)?;
        outcome.figures.push((format!("{}.png", published.setup.dataset), figure));
        left = others;
    }
    Ok(Some(of_scale(outcome, scale)))
}

fn groups_of(published: &Published, scale: Scale, changes: &[String]) -> Result<Vec<Group>> {
    let setup = published.setup;
    let group = |(framework, _, _): &(&str, Option<Cell>, Cell)| {
        let config = setup.config(scale, framework, changes)?;
        Ok(Group { name: format!("{}-{framework}", setup.dataset), config, n_seeds: scale.pick(2, 3, 10) })
    };
    published.frameworks.iter().map(group).collect()
}

fn rows_of(published: &Published, restarts: &[Restarts], scale: Scale, changes: &[String]) -> Result<Vec<Row>> {
    let (dataset, mut rows) = (published.setup.dataset, Vec::new());
    let compared_if = |holds: bool, row: Row| if holds && changes.is_empty() { row } else { row.only_beside() };
    let has_numbers = published.setup.has_numbers(scale);
    for ((framework, ds, dto), restarts) in published.frameworks.iter().zip(restarts) {
        for (name, cell) in [("ds", *ds), ("dto", Some(*dto))] {
            let Some((mean, deviation)) = cell else { continue };
            let what = format!("{dataset}, {framework}, {}", title(name));
            let mean = PublishedMean::of_two_digits(mean, deviation);
            rows.push(compared_if(has_numbers, Row::mean(what, restarts.spread(name)?, mean)));
        }
    }
    let config = published.setup.config(scale, "beta_vae", changes)?;
    let (mean, deviation) = published.random_decoder;
    let random = PublishedMean::of_two_digits(mean, deviation);
    rows.push(Row::mean(format!("{dataset}, random decoder, DtO"), random_decoders(&config)?, random).only_beside());
    rows.push(compared_if(published.setup.has_order(scale), least_dto(dataset, published, restarts)?));
    Ok(rows)
}

/// The claim of section 3.3.3, of the first framework: a diagonal posterior is what makes decoders orthogonal.
fn least_dto(dataset: &str, published: &Published, restarts: &[Restarts]) -> Result<Row> {
    let means: Vec<f64> = restarts.iter().map(|of| Ok(of.spread("dto")?.mean)).collect::<Result<_>>()?;
    let names = published.frameworks.iter().map(|(framework, _, _)| *framework);
    let of = |wanted: &str| names.clone().position(|name| name == wanted).map_or(f64::NAN, |at| means[at]);
    let (first, others) = (published.frameworks[0].0, [of("ae"), of("beta_vae_full")]);
    Ok(Row::claim(
        format!("{dataset}: DtO of {first} is below those of ae and beta_vae_full"),
        format!("{:.2}, {:.2} and {:.2}", means[0], others[0], others[1]),
        others.iter().all(|other| means[0] < *other),
    ))
}

fn title(score: &str) -> &'static str {
    if score == "ds" { "DS" } else { "DtO" }
}

/// The DtO of models before their first step, at the codes of the images that are scored.
fn random_decoders(config: &Config) -> Result<Spread> {
    let dto: Vec<_> = config.metrics.iter().filter(|metric| metric.name == "dto").cloned().collect();
    let of_seed = |seed: u64| -> Result<Scores> {
        let prepared = prepare(&Config { seed, ..config.clone() })?;
        let dataset = prepared.dataset.as_ref();
        let (model, rows) = (prepared.learner.trained(), rows_to_encode(config, dataset.n_images())?);
        let data = with_jacobians(encode_images(&model, dataset, &rows)?, &model, dataset)?;
        measure(&dto, &data, Seed(seed), &mut |_| {})
    };
    let scores = (1..=N_RANDOM).map(of_seed).collect::<Result<Vec<Scores>>>()?;
    Ok(Spread::of(&scores.iter().filter_map(|scores| scores.value("dto")).collect::<Vec<f64>>()))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t4-table-3.3",
    about: "Orthogonality of decoders and disentanglement, by framework, trained: synthetic points, dsprites, and files at hand",
    paper: "Zietlow 2022, table 3.3",
    run: Run::Trained(run),
};
