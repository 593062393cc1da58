//! The figures of a run that was looked inside.

use ndarray::{Array1, Array2, Axis};
use rand::seq::index;
use unbraid_data::{LabelledCodes, Result, Seed};
use unbraid_learn::posteriors::Moved;
use unbraid_report::figures::curves::{Panels, Scale, loss_curves};
use unbraid_report::figures::picture_grid::{PictureGrid, PictureRow, picture_grid};
use unbraid_report::figures::points::{Join, PointPanel, PointSeries, XAxis, point_panels};
use unbraid_report::figures::traversals::value_headers;
use unbraid_report::loss_log::LossColumn;
use unbraid_report::posterior_log::POLARIZED_BELOW;
use unbraid_report::{Canvas, LossTable, PosteriorRow};

use super::{Directions, InspectSettings, Inspected, Inspection, LatentFacts, RandomRotations, Several};
use crate::pictures::{decoded, has_pictures};
use crate::trained_run::TrainedRun;

/// How many images the mean code is of (T4 3.3.5).
const MEAN_OF: usize = 300;
/// How many latents have eigen-images, the first in order.
pub(super) const EIGEN_ROWS: usize = 10;
/// How many pictures stand beside each other.
const COLUMNS: usize = 7;
/// The same where there is little room.
const NARROW_COLUMNS: usize = 5;
/// Relative errors above this are drawn here: while a run begins they may be of any size.
const MOST_ERROR: f64 = 0.2;
/// How many singular values are drawn.
const SINGULAR_VALUES: usize = 8;
/// How many codes are drawn.
const CODES: usize = 800;

/// Whether latents of this run can be moved by hand, and what comes of it be looked at.
pub(super) fn why_no_pictures(run: &TrainedRun) -> Option<&'static str> {
    if !run.model.has_decoder() {
        return Some("the model has no decoder, so that no picture can be made of a code");
    }
    if !has_pictures(run) {
        return Some("the dataset's images are points in space, which cannot be drawn");
    }
    let is_moved = |moved: &Moved| matches!(moved, Moved::Latent(_));
    let moved = run.model.moved();
    (!moved.iter().any(is_moved)).then_some("latents take a few values each: `unbraid traverse` shows these")
}

/// The latents that can be moved along a range, in order.
fn movable<'a>(run: &TrainedRun, found: &'a Inspection) -> Vec<&'a LatentFacts> {
    let moved = run.model.moved();
    found.latents.iter().filter(|facts| moved.contains(&Moved::Latent(facts.latent))).collect()
}

/// How many latents can be moved along a range.
pub(super) fn n_movable(inspected: &Inspected) -> usize {
    movable(&inspected.run, &inspected.found).len()
}

/// How many images the mean code is of.
pub(super) fn n_of_mean_code(data: &LabelledCodes) -> usize {
    MEAN_OF.min(data.n_rows())
}

/// The mean code of some images, drawn at random and the same for every run of as many.
fn mean_code(run: &TrainedRun, data: &LabelledCodes) -> Array1<f64> {
    let mut rng = Seed(run.config.rows_seed).stream("images of the mean code");
    let rows = index::sample(&mut rng, data.n_rows(), n_of_mean_code(data)).into_vec();
    data.codes().select(Axis(0), &rows).mean_axis(Axis(0)).expect("there is an image")
}

/// How far a latent goes to each side: alpha where the prior is a standard normal, alpha deviations of its codes where there is none.
fn reach(facts: &LatentFacts, alpha: f64) -> f64 {
    if facts.variance.is_some() { alpha } else { alpha * facts.deviation }
}

fn spread(middle: f64, reach: f64, count: usize) -> Vec<f64> {
    (0..count).map(|place| middle + reach * (2.0 * place as f64 / (count - 1) as f64 - 1.0)).collect()
}

/// What columns are called: `−α`, ..., `0`, ..., `α`.
fn headers(alpha: f64, count: usize, has_variances: bool) -> Vec<String> {
    let values = value_headers(&spread(0.0, alpha, count));
    if has_variances { values } else { values.into_iter().map(|value| format!("{value} std")).collect() }
}

/// Nonlinear eigen-images (T4 figure 3.6): the mean code, and each of the first latents moved to both sides of it; once more for narrow screens.
pub(super) fn eigen_images(inspected: &Inspected, settings: &InspectSettings) -> Result<(Canvas, Canvas)> {
    let Inspected { run, data, found } = inspected;
    let mean = mean_code(run, data);
    let draw = |n_columns: usize| -> Result<Canvas> {
        let mut rows = Vec::new();
        for facts in movable(run, found).into_iter().take(EIGEN_ROWS) {
            let values = spread(mean[facts.latent], reach(facts, settings.alpha), n_columns);
            let codes = Array2::from_shape_fn((n_columns, mean.len()), |(row, latent)| {
                if latent == facts.latent { values[row] as f32 } else { mean[latent] as f32 }
            });
            let place = found.latents.iter().position(|other| other.latent == facts.latent).unwrap_or_default();
            let label = format!("{}: z{}", place + 1, facts.latent);
            rows.push(PictureRow {
                label,
                note: note(facts),
                pictures: decoded(run, &codes)?,
                ..PictureRow::default()
            });
        }
        let headers = headers(settings.alpha, n_columns, found.posterior.has_variances());
        let title = if n_columns == COLUMNS { "Nonlinear eigen-images".to_string() } else { String::new() };
        Ok(picture_grid(&PictureGrid { title, headers, rows }))
    };
    Ok((draw(COLUMNS)?, draw(NARROW_COLUMNS)?))
}

/// How wide a latent's posterior is, or its codes.
fn note(facts: &LatentFacts) -> String {
    match facts.variance {
        Some(variance) => format!("σ {:.2}", variance.sqrt()),
        None => format!("std {:.2}", facts.deviation),
    }
}

/// The planes that are drawn: those that are asked for, or that of the first two latents.
pub(super) fn planes(inspected: &Inspected, settings: &InspectSettings) -> Vec<[usize; 2]> {
    if !settings.planes.is_empty() {
        return settings.planes.clone();
    }
    match movable(&inspected.run, &inspected.found)[..] {
        [first, second, ..] => vec![[first.latent, second.latent]],
        _ => Vec::new(),
    }
}

/// Two latents moved against each other around the mean code (T4 figures 4.10 and 4.11): the first across, the second upwards.
pub(super) fn plane(inspected: &Inspected, [across, up]: [usize; 2], settings: &InspectSettings) -> Result<Canvas> {
    let Inspected { run, data, found } = inspected;
    let mean = mean_code(run, data);
    let facts = |latent: usize| found.latents.iter().find(|facts| facts.latent == latent).expect("it was checked");
    let values = |latent: usize| spread(mean[latent], reach(facts(latent), settings.alpha), COLUMNS);
    let (values_across, values_up) = (values(across), values(up));
    let names = headers(settings.alpha, COLUMNS, found.posterior.has_variances());
    let mut rows = Vec::new();
    for step in (0..COLUMNS).rev() {
        let codes = Array2::from_shape_fn((COLUMNS, mean.len()), |(row, latent)| match latent {
            latent if latent == across => values_across[row] as f32,
            latent if latent == up => values_up[step] as f32,
            latent => mean[latent] as f32,
        });
        let label = format!("z{up} {}", names[step]);
        rows.push(PictureRow { label, pictures: decoded(run, &codes)?, ..PictureRow::default() });
    }
    let headers = names.iter().map(|value| format!("z{across} {value}")).collect();
    Ok(picture_grid(&PictureGrid { title: format!("z{across} across, z{up} upwards"), headers, rows }))
}

/// The relative KL error over training beside the line of 3 %.
pub(super) fn relative_errors(rows: &[PosteriorRow]) -> Canvas {
    let error = |row: &PosteriorRow| Some((row.step as f64, row.relative_error?.min(MOST_ERROR)));
    let points: Vec<(f64, f64)> = rows.iter().filter_map(error).collect();
    let is_cut = rows.iter().any(|row| row.relative_error > Some(MOST_ERROR));
    let ends = [rows.first(), rows.last()].into_iter().flatten().map(|row| (row.step as f64, POLARIZED_BELOW));
    let series =
        |name: &str, points: Vec<(f64, f64)>| PointSeries { name: name.to_string(), points, join: Join::Means };
    let panel = PointPanel {
        title: String::new(),
        x_label: "step".to_string(),
        y_label: if is_cut { format!("those above {MOST_ERROR} are drawn there") } else { String::new() },
        x: XAxis::Linear,
        y_range: Some((0.0, 0.06)),
        series: vec![series("relative KL error", points), series("3 %", ends.collect())],
        marks: Vec::new(),
    };
    point_panels("Polarized regime", &[panel])
}

/// Mean variances and deviations of means of all latents over training.
pub(super) fn latents_over_training(rows: &[PosteriorRow], set: Panels) -> Canvas {
    let n_latents = rows.first().map_or(0, |row| row.variances.len());
    let columns = |name: &str, of: &dyn Fn(&PosteriorRow) -> &Vec<f64>| -> Vec<LossColumn> {
        let column = |latent: usize| LossColumn {
            name: format!("{name}_z{latent}"),
            values: rows.iter().map(|row| of(row)[latent]).collect(),
        };
        (0..n_latents).map(column).collect()
    };
    let mut all = columns("mean posterior variance", &|row| &row.variances);
    all.extend(columns("deviation of means", &|row| &row.deviations));
    let table = LossTable { steps: rows.iter().map(|row| row.step as usize).collect(), columns: all };
    loss_curves("", &table, "", Scale::Linear, set)
}

/// DtO at each code beside random rotations, and the singular values at each code.
pub(super) fn local_decoders(directions: &Directions) -> Canvas {
    let series =
        |name: &str, points: Vec<(f64, f64)>| PointSeries { name: name.to_string(), points, join: Join::Means };
    let grouped =
        |title: &str, x_label: &str, y_label: &str, groups: Vec<String>, points: Vec<(f64, f64)>| PointPanel {
            title: title.to_string(),
            x_label: x_label.to_string(),
            y_label: y_label.to_string(),
            x: XAxis::Groups(groups),
            y_range: Some((0.0, 0.0)),
            series: vec![series("", points)],
            marks: Vec::new(),
        };
    let distances = directions.distances.iter().flatten().take(RandomRotations::SHOWN).map(|distance| (0.0, *distance));
    let random = directions.random.some.iter().map(|distance| (1.0, *distance));
    let groups = vec!["this run".to_string(), "random".to_string()];
    let dto = grouped(
        "Distance to orthogonality",
        "codes; random rotations",
        "DtO",
        groups,
        distances.chain(random).collect(),
    );
    let n_shown = directions.n_latents.min(SINGULAR_VALUES);
    let of_code = |values: &Vec<f64>| (0..n_shown).map(|place| (place as f64, values[place])).collect::<Vec<_>>();
    let points = directions.of_codes.iter().take(RandomRotations::SHOWN).flat_map(of_code).collect();
    let groups = (1..=n_shown).map(|place| place.to_string()).collect();
    let singular = grouped("Singular values", "largest to smallest at each code", "", groups, points);
    point_panels("", &[dto, singular])
}

/// Codes of two latents (T4 figure 3.5), told apart by where their first two factors lie.
pub(super) fn codes(data: &LabelledCodes) -> Canvas {
    let count = CODES.min(data.n_rows());
    let rows: Vec<usize> = (0..count).map(|place| place * data.n_rows() / count).collect();
    let middle = |factor: usize| {
        let column = data.factors().column(factor);
        (column.fold(f64::INFINITY, |a, &b| a.min(b)) + column.fold(f64::NEG_INFINITY, |a, &b| a.max(b))) / 2.0
    };
    let n_factors = data.n_factors().min(2);
    let middles: Vec<f64> = (0..n_factors).map(middle).collect();
    let names: Vec<&str> = data.space().names().take(n_factors).collect();
    let part = |row: usize| {
        let is_high = |factor: usize| usize::from(data.factors()[[row, factor]] > middles[factor]);
        (0..n_factors).fold(0, |part, factor| 2 * part + is_high(factor))
    };
    let name = |part: usize| {
        let word = |factor: usize| if part >> (n_factors - 1 - factor) & 1 == 1 { "high" } else { "low" };
        (0..n_factors).map(|factor| format!("{} {}", names[factor], word(factor))).collect::<Vec<_>>().join(", ")
    };
    let series = |of: usize| PointSeries {
        name: name(of),
        points: rows
            .iter()
            .filter(|row| part(**row) == of)
            .map(|&row| (data.codes()[[row, 0]], data.codes()[[row, 1]]))
            .collect(),
        join: Join::Nothing,
    };
    let panel = PointPanel {
        title: String::new(),
        x_label: "z0".to_string(),
        y_label: "z1".to_string(),
        x: XAxis::Linear,
        y_range: None,
        series: (0..1 << n_factors).map(series).collect(),
        marks: Vec::new(),
    };
    point_panels("Codes", &[panel])
}

/// DtO against DS and MIG, a point for each run and a series for each framework (T4 figure 3.4).
pub(super) fn orthogonality_and_scores(several: &Several) -> Option<Canvas> {
    let has_points = |name: &&str| ["ds", "mig"].iter().any(|score: &&str| !several.points(name, score).is_empty());
    let frameworks: Vec<&str> = several.frameworks().into_iter().filter(has_points).collect();
    let panel = |score: &str| {
        let series: Vec<PointSeries> = frameworks
            .iter()
            .map(|name| PointSeries {
                name: name.to_string(),
                points: several.points(name, score),
                join: Join::Nothing,
            })
            .collect();
        series.iter().any(|one| !one.points.is_empty()).then(|| PointPanel {
            title: String::new(),
            x_label: "distance to orthogonality (DtO)".to_string(),
            y_label: score.to_uppercase(),
            x: XAxis::Linear,
            y_range: Some((0.0, 1.0)),
            series,
            marks: Vec::new(),
        })
    };
    let panels: Vec<PointPanel> = ["ds", "mig"].into_iter().filter_map(panel).collect();
    (!panels.is_empty()).then(|| point_panels("Orthogonality and disentanglement", &panels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_to_both_sides_of_the_middle() {
        assert_eq!(spread(1.0, 2.0, 5), [-1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(headers(2.5, 5, true), ["−2.50", "−1.25", "0.00", "1.25", "2.50"]);
        assert_eq!(headers(2.0, 5, false)[4], "2 std");
    }
}
