//! Pictures of the scores of runs that were trained again.

use unbraid_data::Result;
use unbraid_data::folders::remove_file;
use unbraid_report::Canvas;
use unbraid_report::figures::{Join, PointPanel, PointSeries, XAxis, point_panels};

use super::plan::Data;
use super::results::{RunResult, frameworks_of};
use super::tables::{at_scale, scales_of};
use crate::perturb::PerturbFolder;
use crate::perturb::summary::Summary;

/// Draws `retrain.png`, `factors.png` and, of a line search, `line_search.png`.
pub fn draw(folder: &PerturbFolder, summary: &Summary, results: &[RunResult]) -> Result<()> {
    let title = |what: &str| format!("{}: {what}", summary.dataset);
    scores_picture(&title("MIG after training on each data"), results).save(&folder.picture_path("retrain"))?;
    factors_picture(&title("MIG of each factor"), results).save(&folder.picture_path("factors"))?;
    let path = folder.picture_path("line_search");
    match line_search_picture(&title("MIG on altered images, main setting multiplied"), results, (0, "MIG")) {
        // One that is there is of runs that are gone.
        None => remove_file(&path),
        Some(picture) => picture.save(&path),
    }
}

/// The gap of every run on each version of the images (T4 figure 4.8 has those on altered ones, as histograms).
pub fn scores_picture(title: &str, results: &[RunResult]) -> Canvas {
    point_panels(title, &[scores_panel(results)])
}

/// The gap of each factor, a panel for each framework (T4 figure 4.9).
pub fn factors_picture(title: &str, results: &[RunResult]) -> Canvas {
    let panels: Vec<PointPanel> =
        frameworks_of(results).iter().map(|framework| factors_panel(results, framework.name)).collect();
    point_panels(title, &panels)
}

/// A score, by its place and name, over the scales of a line search, a panel for each framework (T4 figures 4.4 to 4.7); none where there was no search.
pub fn line_search_picture(title: &str, results: &[RunResult], score: (usize, &str)) -> Option<Canvas> {
    let searched =
        frameworks_of(results).into_iter().filter(|framework| !scales_of(results, framework.name).is_empty());
    let panels: Vec<PointPanel> = searched
        .map(|framework| line_search_panel(results, framework.name, framework.main.map_or("", |main| main.0), score))
        .collect();
    (!panels.is_empty()).then(|| point_panels(title, &panels))
}

/// The gap of every run, in groups of frameworks.
fn scores_panel(results: &[RunResult]) -> PointPanel {
    let frameworks = frameworks_of(results);
    let series = Data::ALL.map(|data| PointSeries {
        name: data.name().to_string(),
        points: (0..frameworks.len())
            .flat_map(|group| of(results, frameworks[group].name, data).map(move |run| (group, run)))
            .filter_map(|(group, run)| Some((group as f64, run.scores[0]?)))
            .collect(),
        join: Join::Means,
    });
    PointPanel {
        title: String::new(),
        x_label: String::new(),
        y_label: "MIG".to_string(),
        x: XAxis::Groups(frameworks.iter().map(|framework| framework.name.to_string()).collect()),
        y_range: Some((0.0, 0.1)),
        series: series.to_vec(),
        marks: Vec::new(),
    }
}

/// The gap of every run of a framework, in groups of factors.
fn factors_panel(results: &[RunResult], framework: &str) -> PointPanel {
    let names: Vec<String> = results
        .first()
        .map(|run| run.mig_of_factors.iter().map(|(name, _)| name.clone()).collect())
        .unwrap_or_default();
    let series = Data::ALL.map(|data| PointSeries {
        name: data.name().to_string(),
        points: of(results, framework, data)
            .flat_map(|run| run.mig_of_factors.iter().enumerate())
            .filter_map(|(factor, (_, value))| Some((factor as f64, (*value)?)))
            .collect(),
        join: Join::Means,
    });
    PointPanel {
        title: framework.to_string(),
        x_label: String::new(),
        y_label: "MIG".to_string(),
        x: XAxis::Groups(names),
        y_range: Some((0.0, 0.1)),
        series: series.to_vec(),
        marks: Vec::new(),
    }
}

/// The score of the runs that are not over-pruned at each scale, and beside them that of all runs on the original images.
fn line_search_panel(
    results: &[RunResult],
    framework: &str,
    setting: &str,
    (score, name): (usize, &str),
) -> PointPanel {
    let scales = scales_of(results, framework);
    let runs = || scales.iter().flat_map(|&scale| at_scale(results, framework, scale));
    let n_dropped = runs().filter(|run| run.is_over_pruned()).count();
    let kept = runs().filter(|run| !run.is_over_pruned());
    let original = of(results, framework, Data::Original);
    PointPanel {
        title: format!("{framework}, {n_dropped} over-pruned dropped"),
        x_label: format!("{setting} multiplied by"),
        y_label: name.to_string(),
        x: XAxis::Linear,
        y_range: Some((0.0, 0.1)),
        series: vec![
            PointSeries {
                name: "original images".to_string(),
                points: original.filter_map(|run| Some((1.0, run.scores[score]?))).collect(),
                join: Join::Nothing,
            },
            PointSeries {
                name: "altered images".to_string(),
                points: kept.filter_map(|run| Some((run.scale, run.scores[score]?))).collect(),
                join: Join::Means,
            },
        ],
        marks: Vec::new(),
    }
}

fn of<'a>(results: &'a [RunResult], framework: &'a str, data: Data) -> impl Iterator<Item = &'a RunResult> {
    results.iter().filter(move |run| run.framework.name == framework && run.data == data && run.scale == 1.0)
}
