//! T1 figures 5.4 and 5.5 (section 5.4.6): Ada-TVAEs turn latents to the factors.
//!
//! The figures have no numbers. Their section says that linearity is excellent and the axis ratio almost perfect, here 0.8 or more in the best setting; that both are
//! above those of beta-VAEs and Ada-GVAEs, and the axis ratio above that of beta-TVAEs; that shared latents are found better by absolute differences than by the symmetric KL divergence; that
//! triplets by scaled distances are better, where factors differ in size, which those of `xy_squares` do not; and that `weight_weak` is the best schedule on average. T1 takes the best
//! of each training, here scores are those of its end, at which strong schedules have decayed.
//!
//! Beside them stand the runs of figure 4.4 on the same data, the best beta of each framework, and those of figure 5.1 with the same triplets. At small scale
//! ([`super::t1_setups`]) two squares have two schedules and one sampler, and the sub-grid of dSprites two samplers and one schedule, from two seeds.

use unbraid_data::Result;

use super::planned::{Grids, Runs, above, datasets, largest, mean, means, shown, train_at_hand};
use super::run_figures::over_groups;
use super::t1_figure_5_1::on_same_data;
use super::t1_setups::{OF_TRAVERSALS, SMALL, SMALL_SQUARES, SMOKE_OF_TRAVERSALS, SMOKE_SQUARES};
use super::trained::{Group, of_scale};
use super::{Entry, Outcome, Request, Row, Run, Scale, t1_figure_4_4, t1_figure_5_1};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-5.5.toml"),
    small: &[
        SMALL,
        SMALL_SQUARES,
        "
        [[grid]]
        seed = [1, 2]
        sampler.distance = 'scaled_l1'
        framework.threshold_distance = ['symmetric_kl', 'absolute_difference']
        framework.schedule = ['weight_weak', 'both_strong']
        [[grid]]
        seed = [1, 2]
        dataset = [{ name = 'dsprites', size = 32, fix = { shape = 1, orientation = 0 }, standardise = true }]
        sampler.distance = ['l1', 'scaled_l1']
        framework.threshold_distance = 'absolute_difference'
        framework.schedule = 'weight_weak'
        ",
    ],
    smoke: &[
        SMOKE_OF_TRAVERSALS,
        SMOKE_SQUARES,
        "
        [[grid]]
        sampler.distance = 'scaled_l1'
        framework.threshold_distance = ['symmetric_kl', 'absolute_difference']
        framework.schedule = ['weight_weak']
        ",
    ],
};
const ALMOST_PERFECT: f64 = 0.8;
const THRESHOLD: &str = "framework.threshold_distance";
const SCHEDULE: &str = "framework.schedule";
const SAMPLER: &str = "sampler.distance";
const SCORES: [(&str, &str); 3] = [OF_TRAVERSALS[1], OF_TRAVERSALS[2], ("mig", "MIG")];

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let mut groups = GRIDS.groups(request.scale)?;
    groups.extend(beside(&groups, request.scale)?);
    let Some(all) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let (runs, others): (Vec<Runs>, Vec<Runs>) = all.iter().cloned().partition(|runs| runs.framework() == "ada_tvae");
    outcome.rows = means(&runs, &SCORES, name)?;
    outcome.rows.extend(means(&others, &SCORES, name)?);
    let datasets = datasets(&runs);
    for dataset in &datasets {
        let [own, theirs] = [&runs, &others].map(|all| of_dataset(all, dataset));
        outcome.rows.extend(claims_of_dataset(dataset, &own, &theirs)?);
    }
    outcome.rows.extend(claims_of_settings(&runs)?);
    for dataset in &datasets {
        let title = format!("{dataset}: Ada-TVAE beside others");
        let of_dataset: Vec<Runs> = all.iter().filter(|runs| runs.dataset() == dataset.as_str()).cloned().collect();
        let figure = over_groups(&title, &of_dataset, &SCORES, |runs| runs.framework().to_string(), setting)?;
        outcome.figures.push((format!("{dataset}.png"), figure));
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn of_dataset<'a>(runs: &'a [Runs], dataset: &str) -> Vec<&'a Runs> {
    runs.iter().filter(|runs| runs.dataset() == dataset).collect()
}

/// The runs of figure 4.4 on the same data, and those of figure 5.1 with a hard margin of 10, L1, weight 1 and the decoder's gradient.
fn beside(groups: &[Group], scale: Scale) -> Result<Vec<Group>> {
    let mut others = on_same_data(groups, t1_figure_4_4::GRIDS.groups(scale)?);
    let of_triplets = on_same_data(groups, t1_figure_5_1::GRIDS.groups(scale)?);
    let alike = |group: &Group| {
        let settings = &group.config.framework.settings;
        let is = |key: &str, value: toml::Value| settings.get(key) == Some(&value);
        is("triplet", "hard".into())
            && is("distance", "l1".into())
            && is("margin", toml::Value::Float(10.0))
            && is("alpha", toml::Value::Float(1.0))
            && is("decoder_gradient", true.into())
    };
    others.extend(of_triplets.into_iter().filter(alike));
    Ok(others)
}

fn name(runs: &Runs) -> String {
    format!("{}, {}, {}", runs.dataset(), runs.framework(), setting(runs))
}

/// What tells runs of a framework apart.
fn setting(runs: &Runs) -> String {
    match runs.framework() {
        "ada_tvae" => format!("{}, {}, {}", runs.word(SCHEDULE), runs.word(THRESHOLD), runs.word(SAMPLER)),
        "beta_tvae" => runs.word(SAMPLER),
        _ => format!("beta {}, rate {}", runs.number("framework.beta"), runs.number("training.learning_rate")),
    }
}

fn claims_of_dataset(dataset: &str, own: &[&Runs], others: &[&Runs]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let best = largest(own.iter().copied(), "axis_ratio")?;
    let what = format!("{dataset}: the axis ratio of the best ada_tvae is {ALMOST_PERFECT} or more");
    rows.push(Row::claim(what, shown(best), best >= ALMOST_PERFECT));
    for (other, scores) in [("beta_vae", &SCORES[..2]), ("ada_gvae", &SCORES[..2]), ("beta_tvae", &SCORES[1..2])] {
        for (score, shown) in scores {
            let theirs = largest(others.iter().copied().filter(|runs| runs.framework() == other), score)?;
            if theirs.is_finite() {
                let what = format!("{dataset}: {shown} of ada_tvae is above that of {other}");
                rows.push(above(what, [mean(own.iter().copied(), score)?, theirs]));
            }
        }
    }
    Ok(rows)
}

/// Which settings are better on average; nothing where not both were trained.
fn claims_of_settings(runs: &[Runs]) -> Result<Vec<Row>> {
    let axis = |is_one: &dyn Fn(&Runs) -> bool| mean(runs.iter().filter(|runs| is_one(runs)), "axis_ratio");
    let by = |distance: &'static str| axis(&move |runs: &Runs| runs.word(THRESHOLD) == distance);
    let drawn = |distance: &'static str| {
        axis(&move |runs: &Runs| runs.dataset() != "xy_squares" && runs.word(SAMPLER) == distance)
    };
    let weak = axis(&|runs| runs.word(SCHEDULE) == "weight_weak" && runs.word(SAMPLER) == "scaled_l1")?;
    let strong = axis(&|runs| runs.word(SCHEDULE) == "both_strong" && runs.word(SAMPLER) == "scaled_l1")?;
    let compared = [
        (
            "axis ratio: absolute differences are better than symmetric KL",
            [by("absolute_difference")?, by("symmetric_kl")?],
        ),
        ("axis ratio: triplets by scaled_l1 are better than by l1", [drawn("scaled_l1")?, drawn("l1")?]),
        ("axis ratio: weight_weak is better at the end than both_strong", [weak, strong]),
    ];
    let is_trained = |both: &[f64; 2]| both.iter().all(|value| value.is_finite());
    Ok(compared.into_iter().filter(|(_, both)| is_trained(both)).map(|(what, both)| above(what, both)).collect())
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-5.5",
    about: "Linearity and axis ratio of Ada-TVAEs beside other frameworks, trained: xy_squares, dsprites, and files at hand",
    paper: "Michlo 2022, figures 5.4 and 5.5",
    run: Run::Trained(run),
};
