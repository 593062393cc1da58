//! T4 figure 3.4: restarts whose decoders are more orthogonal (low DtO) disentangle better (high DS): the same beta-VAE on dSprites, trained for 10, 30 or
//! 50 epochs.
//!
//! The figure has no numbers; its claim is a clear correlation, here a negative rank correlation over all runs. At small scale it is
//! judged on a sub-grid of three factors, learned from in 1,200, 3,600 and 6,000 steps ([`super::t4_setups`]).

use ndarray::aview1;
use unbraid_data::Result;
use unbraid_metrics::statistics::spearman::spearman;
use unbraid_report::Canvas;
use unbraid_report::figures::points::{Join, PointPanel, PointSeries, XAxis, point_panels};

use super::t4_setups::DSPRITES;
use super::trained::{Group, Restarts, of_scale, train};
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

const EPOCHS: [u64; 3] = [10, 30, 50];

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let groups = EPOCHS.iter().map(|epochs| group(*epochs, request.scale)).collect::<Result<Vec<Group>>>()?;
    let Some(trained) = train(&groups, request, watch)? else { return Ok(None) };
    let names: Vec<String> = groups.iter().map(|group| format!("{} steps", group.config.training.steps)).collect();
    let mut points = Vec::new();
    for restarts in &trained {
        points.push(points_of(restarts)?);
    }
    let all = points.concat();
    let (ds, dto): (Vec<f64>, Vec<f64>) = all.iter().copied().unzip();
    let correlation = spearman(&aview1(&dto), &aview1(&ds));
    let mut outcome = Outcome::default();
    for (name, restarts) in names.iter().zip(&trained) {
        outcome.rows.push(Row::mean(format!("{name}, DS"), restarts.spread("ds")?, None));
        outcome.rows.push(Row::mean(format!("{name}, DtO"), restarts.spread("dto")?, None));
    }
    outcome.rows.push(Row::ours(format!("rank correlation of DtO and DS over {} runs", all.len()), correlation));
    let found = format!("{correlation:.2}");
    let claim = Row::claim("low DtO goes with high DS: the correlation is negative", found, correlation < 0.0);
    outcome.rows.push(if DSPRITES.has_order(request.scale) { claim } else { claim.only_beside() });
    outcome.notes.push("runs of the same seed are one model at three ages, and not independent".to_string());
    outcome.figures.push(("orthogonality.png".to_string(), scatter(names, points)));
    Ok(Some(of_scale(outcome, request.scale)))
}

fn group(epochs: u64, scale: Scale) -> Result<Group> {
    let of_all = DSPRITES.config(scale, "beta_vae", &[])?.training.steps;
    let steps = of_all * epochs / EPOCHS[EPOCHS.len() - 1];
    let config = DSPRITES.config(scale, "beta_vae", &[format!("training.steps={steps}")])?;
    Ok(Group { name: format!("epochs{epochs}"), config, n_seeds: scale.pick(2, 5, 10) })
}

/// DS and DtO of each run that has both.
fn points_of(restarts: &Restarts) -> Result<Vec<(f64, f64)>> {
    let mut points = Vec::new();
    for folder in &restarts.folders {
        let scores = folder.read_scores()?;
        points.extend(scores.value("ds").zip(scores.value("dto")));
    }
    Ok(points)
}

fn scatter(names: Vec<String>, points: Vec<Vec<(f64, f64)>>) -> Canvas {
    let across = |points: Vec<(f64, f64)>| points.into_iter().map(|(ds, dto)| (dto, ds)).collect();
    let series = names.into_iter().zip(points);
    let series = series.map(|(name, points)| PointSeries { name, points: across(points), join: Join::Nothing });
    let panel = PointPanel {
        title: String::new(),
        x_label: "DtO (low is orthogonal)".to_string(),
        y_label: "DS (high is disentangled)".to_string(),
        x: XAxis::Linear,
        y_range: None,
        series: series.collect(),
        marks: Vec::new(),
    };
    point_panels("dsprites: each point is a run of a beta-VAE", &[panel])
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t4-figure-3.4",
    about: "Orthogonality of decoders against disentanglement over restarts, trained: dsprites",
    paper: "Zietlow 2022, figure 3.4",
    run: Run::Trained(run),
};
