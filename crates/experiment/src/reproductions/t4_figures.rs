//! The pictures of T4's trained tables: a point for each run.

use unbraid_data::Result;
use unbraid_data::npy::read_table;
use unbraid_report::figures::points::{Join, PointPanel, PointSeries, XAxis, point_panels};
use unbraid_report::{Canvas, RunFolder};

use super::trained::Restarts;

/// DS and DtO of each restart over the framework, with bars at the means; groups are called `DATASET-FRAMEWORK`.
pub fn by_framework(dataset: &str, groups: &[Restarts]) -> Result<Canvas> {
    let prefix = format!("{dataset}-");
    let names: Vec<String> = groups.iter().map(|group| group.name.replacen(&prefix, "", 1)).collect();
    let panel = |score: &str, title: &str| -> Result<PointPanel> {
        let mut points = Vec::new();
        for (position, group) in groups.iter().enumerate() {
            points.extend(group.scores(score)?.into_iter().map(|value| (position as f64, value)));
        }
        Ok(PointPanel {
            title: title.to_string(),
            x_label: String::new(),
            y_label: String::new(),
            x: XAxis::Groups(names.clone()),
            y_range: Some((0.0, 1.0)),
            series: vec![PointSeries { name: String::new(), points, join: Join::Means }],
            marks: Vec::new(),
        })
    };
    let panels = [panel("ds", "DS (high is disentangled)")?, panel("dto", "DtO (low is orthogonal)")?];
    Ok(point_panels(&format!("{dataset}: each point is a restart, bars are means"), &panels))
}

/// DS and DtO over beta, a point for each run and a line through the means, with values of beta that are marked.
pub fn over_beta(dataset: &str, runs: &[(f64, Restarts)], marks: &[(f64, String)]) -> Result<Canvas> {
    let panel = |score: &str, title: &str| -> Result<PointPanel> {
        let mut points = Vec::new();
        for (beta, restarts) in runs {
            points.extend(restarts.scores(score)?.into_iter().map(|value| (*beta, value)));
        }
        Ok(PointPanel {
            title: title.to_string(),
            x_label: "beta".to_string(),
            y_label: String::new(),
            x: XAxis::Logarithmic,
            y_range: Some((0.0, 1.0)),
            series: vec![PointSeries { name: String::new(), points, join: Join::Means }],
            marks: marks.to_vec(),
        })
    };
    let panels = [panel("ds", "DS (high is disentangled)")?, panel("dto", "DtO (low is orthogonal)")?];
    Ok(point_panels(&format!("{dataset}: line search over beta"), &panels))
}

/// Codes of restarts, second latent over first, a panel for each: squares that are turned as it happens (figure 3.5).
pub fn codes_of_restarts(runs: &[&RunFolder]) -> Result<Canvas> {
    let mut panels = Vec::new();
    for (position, folder) in runs.iter().enumerate() {
        let codes = read_table(&folder.codes_path())?; // [rows, latents]
        let shown = codes.rows().into_iter().take(MOST_CODES);
        let points = shown.map(|row| (row[0], row[1])).collect();
        panels.push(PointPanel {
            title: format!("restart {}", position + 1),
            x_label: "z0".to_string(),
            y_label: "z1".to_string(),
            // A square that is turned is one only in equal units.
            x: XAxis::SameUnit,
            y_range: None,
            series: vec![PointSeries { name: String::new(), points, join: Join::Nothing }],
            marks: Vec::new(),
        });
    }
    Ok(point_panels("Codes of points of a square, factors of equal scale", &panels))
}

/// More would run together.
const MOST_CODES: usize = 600;
