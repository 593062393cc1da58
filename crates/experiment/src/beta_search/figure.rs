//! A search as a picture: what posteriors come to as beta grows, and how orthogonal and disentangled the codes are.

use unbraid_report::Canvas;
use unbraid_report::figures::points::{Join, PointPanel, PointSeries, XAxis, point_panels};

use super::{Suggestion, Tried};

/// The smallest and the largest mean posterior variance over beta, and beside them DtO, DS and MIG where there are any. Both ends of the suggestion
/// are marked.
pub fn draw_search(title: &str, tried: &[Tried], suggestion: Suggestion) -> Canvas {
    let of = |value: &dyn Fn(&Tried) -> Option<f64>| -> Vec<(f64, f64)> {
        tried.iter().filter_map(|one| Some((one.beta, value(one)?))).collect()
    };
    let series =
        |name: &str, points: Vec<(f64, f64)>| PointSeries { name: name.to_string(), points, join: Join::Means };
    let none = |name: &str| series(name, Vec::new());
    let variances = vec![
        series("largest mean variance", of(&|one| Some(one.variance_range().1))),
        series("smallest mean variance", of(&|one| Some(one.variance_range().0))),
    ];
    // A series looks the same in all panels by its position, and those of the first panel come first.
    let mut scores = vec![none(""), none("")];
    for (score, name) in [("dto", "DtO"), ("ds", "DS"), ("mig", "MIG")] {
        let points = of(&|one| one.scores.value(score));
        if !points.is_empty() {
            scores.push(series(name, points));
        }
    }
    let panel = |title: &str, series: Vec<PointSeries>| PointPanel {
        title: title.to_string(),
        x_label: "beta".to_string(),
        y_label: String::new(),
        x: XAxis::Logarithmic,
        y_range: Some((0.0, 1.0)),
        series,
        marks: marks(suggestion),
    };
    let panels = [panel("Posteriors of latents", variances), panel("Codes", scores)];
    point_panels(title, &panels)
}

fn marks(suggestion: Suggestion) -> Vec<(f64, String)> {
    match suggestion.beta() {
        Some(beta) => vec![(beta, format!("suggestion {beta}"))],
        None => Vec::new(),
    }
}
