//! T4 table 3.2: the share of training in which the divergence follows from active latents alone.
//!
//! The relative error of equation 3.38 is taken every 500 batches, of up to 256 test images, and the share is that of the evaluations after the last
//! one at which it is 3 % or more. The table has no spread, and no number of restarts: ours stands for its spread, and one evaluation more or less
//! agrees as well. Shares can be compared where as many batches are learned from as in T4. Where there are fewer, as at small scale, the
//! first phase is as long and a larger share: there ours stand beside the published numbers, and the claim that it is no larger with more latents is judged.

use unbraid_data::Result;
use unbraid_report::RunFolder;
use unbraid_report::posterior_log::polarized_at_end;

use super::spread::{ASSUMED_RESTARTS, PublishedMean, Spread};
use super::t4_setups::{DSPRITES, FASHION_MNIST, MNIST, SYNTH_LINEAR, SYNTH_NONLINEAR, Setup};
use super::trained::{Group, Restarts, of_scale, train};
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

/// A dataset, with percentages of training with the latents of table 3.1 and with ten.
const PUBLISHED: &[(&Setup, [f64; 2])] = &[
    (&SYNTH_LINEAR, [99.8, 96.7]),
    (&SYNTH_NONLINEAR, [99.9, 98.5]),
    (&DSPRITES, [97.8, 90.6]),
    (&MNIST, [99.8, 99.5]),
    (&FASHION_MNIST, [99.8, 97.7]),
];
const MANY_LATENTS: usize = 10;
/// Batches between evaluations.
const EVERY: u64 = 500;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let mut groups = Vec::new();
    let (mut at_hand, mut has_order) = (Vec::new(), Vec::new());
    for (setup, percentages) in PUBLISHED {
        if let Some(changes) = setup.at_hand(request.scale, &mut outcome.notes)? {
            groups.extend(groups_of(setup, request.scale, &changes)?);
            let is_whole = changes.is_empty();
            let has_numbers = is_whole && setup.is_as_long(request.scale)?;
            at_hand.extend(percentages.map(|percentage| (setup.dataset, percentage, has_numbers)));
            has_order.push(is_whole && setup.has_order(request.scale));
        }
    }
    let Some(trained) = train(&groups, request, watch)? else { return Ok(None) };
    for (&(dataset, percentage, has_numbers), (restarts, group)) in at_hand.iter().zip(trained.iter().zip(&groups)) {
        let training = &group.config.training;
        let one_evaluation = 100.0 * training.checkpoint_every as f64 / training.steps as f64;
        let published =
            PublishedMean { mean: percentage, deviation: None, rounding: 0.05 + one_evaluation, n: ASSUMED_RESTARTS };
        let latents = group.config.model.settings["latents"].as_integer().unwrap_or_default();
        let what = format!("{dataset}, {latents} latents, % of training");
        let row = Row::mean(what, percentages(restarts)?, published);
        outcome.rows.push(if has_numbers { row } else { row.only_beside() });
    }
    for (pair, has_order) in trained.chunks(2).zip(has_order) {
        let claim = longer_with_many(pair)?;
        outcome.rows.push(if has_order { claim } else { claim.only_beside() });
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn groups_of(setup: &Setup, scale: Scale, changes: &[String]) -> Result<[Group; 2]> {
    let every = format!("training.checkpoint_every={}", scale.pick(10, EVERY, EVERY));
    let group = |name: &str, more: &[String]| -> Result<Group> {
        let config = setup.config(scale, "beta_vae", &[changes, std::slice::from_ref(&every), more].concat())?;
        Ok(Group { name: format!("{}-{name}", setup.dataset), config, n_seeds: scale.pick(1, 3, 3) })
    };
    Ok([group("few", &[])?, group("many", &[format!("model.latents={MANY_LATENTS}")])?])
}

fn percentages(restarts: &Restarts) -> Result<Spread> {
    let of_run = |folder: &RunFolder| -> Result<f64> {
        let polarized = polarized_at_end(&folder.read_posteriors()?);
        Ok(polarized.map_or(0.0, |(_, share)| 100.0 * share))
    };
    Ok(Spread::of(&restarts.folders.iter().map(of_run).collect::<Result<Vec<f64>>>()?))
}

/// Section 3.4: a larger latent space takes longer to be pruned.
fn longer_with_many(pair: &[Restarts]) -> Result<Row> {
    let [few, many] = [percentages(&pair[0])?.mean, percentages(&pair[1])?.mean];
    let dataset = pair[0].name.trim_end_matches("-few");
    Ok(Row::claim(
        format!("{dataset}: the share is no larger with {MANY_LATENTS} latents"),
        format!("{few:.1} %, {many:.1} %"),
        many <= few,
    ))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t4-table-3.2",
    about: "Share of training in the polarized regime, trained: synthetic points, dsprites, and files at hand",
    paper: "Zietlow 2022, table 3.2",
    run: Run::Trained(run),
};
