//! Pictures of what trained runs score: a panel for each score, a point for each run, lines and bars at the means.

use unbraid_data::Result;
use unbraid_report::Canvas;
use unbraid_report::figures::points::{Join, PointPanel, PointSeries, XAxis, point_panels};

use super::planned::Runs;

/// Scores over a number that runs have, with a colour for each name that `series` gives.
pub fn over_number(
    title: &str,
    (x_label, x): (&str, XAxis),
    runs: &[Runs],
    scores: &[(&str, &str)],
    at: impl Fn(&Runs) -> f64,
    series: impl Fn(&Runs) -> String,
) -> Result<Canvas> {
    let panels = scores.iter().map(|score| panel(*score, (x_label, x.clone()), runs, &at, &series));
    Ok(point_panels(title, &panels.collect::<Result<Vec<PointPanel>>>()?))
}

/// Scores over groups with names, in the order in which runs have them.
pub fn over_groups(
    title: &str,
    runs: &[Runs],
    scores: &[(&str, &str)],
    group: impl Fn(&Runs) -> String,
    series: impl Fn(&Runs) -> String,
) -> Result<Canvas> {
    let names = in_order(runs, &group);
    let at = |one: &Runs| names.iter().position(|name| *name == group(one)).unwrap_or(0) as f64;
    over_number(title, ("", XAxis::Groups(names.clone())), runs, scores, at, series)
}

fn panel(
    (score, shown): (&str, &str),
    (x_label, x): (&str, XAxis),
    runs: &[Runs],
    at: &impl Fn(&Runs) -> f64,
    series: &impl Fn(&Runs) -> String,
) -> Result<PointPanel> {
    let names = in_order(runs, series);
    let mut all = Vec::new();
    for name in names {
        let mut points = Vec::new();
        for one in runs.iter().filter(|one| series(one) == name) {
            points.extend(one.restarts.scores(score)?.into_iter().map(|value| (at(one), value)));
        }
        all.push(PointSeries { name, points, join: Join::Means });
    }
    Ok(PointPanel {
        title: shown.to_string(),
        x_label: x_label.to_string(),
        y_label: String::new(),
        x,
        y_range: Some((0.0, 0.1)),
        series: all,
        marks: Vec::new(),
    })
}

/// Each name once, in the order of the runs.
fn in_order(runs: &[Runs], name: &impl Fn(&Runs) -> String) -> Vec<String> {
    let mut names = Vec::new();
    for name in runs.iter().map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
