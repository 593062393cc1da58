//! The scores of runs that were trained again as tables, and in words.

use unbraid_report::page::PageTable;

use super::frameworks::{Retrained, SCORE_TITLES};
use super::plan::Data;
use super::results::{
    RunResult, drop_in_words, frameworks_of, published_text, spread, spread_of, spread_of_factor, spread_text,
};
use crate::perturb::summary::Summary;

/// The dataset of which T4's numbers are.
pub const PUBLISHED: &str = "dsprites";

/// For each framework what fell, in words.
pub fn words(results: &[RunResult]) -> Vec<(String, String)> {
    let frameworks = frameworks_of(results).into_iter();
    frameworks
        .filter_map(|framework| Some((framework.name.to_string(), drop_in_words(results, framework.name)?)))
        .collect()
}

/// A table for each score (T4 tables 4.2 to 4.5), published numbers beside ours where they are of the same dataset, and one for the gap of each
/// factor; none where nothing was trained again.
pub fn score_tables(results: &[RunResult], summary: &Summary) -> Vec<PageTable> {
    if results.is_empty() {
        return Vec::new();
    }
    let beside = summary.dataset == PUBLISHED;
    let mut tables: Vec<PageTable> = (0..SCORE_TITLES.len()).map(|score| score_table(results, score, beside)).collect();
    tables.extend(factor_table(results));
    tables
}

fn score_table(results: &[RunResult], score: usize, beside: bool) -> PageTable {
    let has_published = |framework: &&Retrained| framework.published[score].is_some();
    let beside = beside && frameworks_of(results).iter().any(has_published);
    let mut header = vec!["framework".to_string()];
    for data in Data::ALL {
        header.push(data.name().to_string());
        header.extend(beside.then(|| "T4".to_string()));
    }
    let row = |framework: &'static Retrained| {
        let mut cells = vec![framework.name.to_string()];
        for data in Data::ALL {
            cells.push(spread_text(spread_of(results, framework.name, data, score)));
            let published = framework.published[score].map(|published| published_text(published[data as usize]));
            cells.extend(beside.then(|| published.unwrap_or_default()));
        }
        cells
    };
    let caption = match beside {
        true => format!(
            "T4 (table 4.{}) has ten seeds of the whole of dSprites, convolutional networks and its own settings.",
            score + 2
        ),
        false => format!("As T4 table 4.{}.", score + 2),
    };
    let rows = frameworks_of(results).into_iter().map(row).collect();
    PageTable { name: format!("{}, mean ± standard deviation", SCORE_TITLES[score]), caption, header, rows }
}

/// The gap of each factor, for each framework and each data.
fn factor_table(results: &[RunResult]) -> Option<PageTable> {
    let factors: Vec<String> = results.first()?.mig_of_factors.iter().map(|(name, _)| name.clone()).collect();
    let mut rows = Vec::new();
    for framework in frameworks_of(results) {
        for data in Data::ALL {
            let mut cells = vec![format!("{}, {}", framework.name, data.name())];
            let of = |factor: usize| spread_text(spread_of_factor(results, framework.name, data, factor));
            cells.extend((0..factors.len()).map(of));
            rows.push(cells);
        }
    }
    let header = std::iter::once("framework".to_string()).chain(factors).collect();
    let caption = "As T4 figure 4.9.".to_string();
    Some(PageTable { name: "MIG of each factor".to_string(), caption, header, rows })
}

/// The line search; nothing where there was none. Runs that were dropped are counted.
pub fn line_search_table(results: &[RunResult]) -> Option<PageTable> {
    let mut rows = Vec::new();
    for framework in frameworks_of(results).into_iter().filter(|framework| framework.main.is_some()) {
        for scale in scales_of(results, framework.name) {
            let runs: Vec<&RunResult> = at_scale(results, framework.name, scale).collect();
            let kept = runs.iter().filter(|run| !run.is_over_pruned()).filter_map(|run| run.scores[0]);
            let kept = spread(&kept.collect::<Vec<_>>());
            let n_dropped = runs.iter().filter(|run| run.is_over_pruned()).count();
            let (setting, _) = framework.main?;
            let text = kept.map_or("all dropped".to_string(), |kept| spread_text(Some(kept)));
            rows.push(vec![
                format!("{}, {setting} x {scale}", framework.name),
                text,
                kept.map_or(0, |kept| kept.n).to_string(),
                n_dropped.to_string(),
            ]);
        }
    }
    let header = ["setting", "MIG", "runs", "dropped: over-pruned"].map(String::from).to_vec();
    let caption = "On altered images. A run is over-pruned where fewer latents have a mean posterior variance below 0.8 than there are factors \
                   (T4 4.3.4, figure 4.4)."
        .to_string();
    (!rows.is_empty()).then(|| PageTable { name: "Line search".to_string(), caption, header, rows })
}

/// The scales at which a framework was trained, in rising order; none where it was trained at one alone.
pub fn scales_of(results: &[RunResult], framework: &str) -> Vec<f64> {
    let mut scales: Vec<f64> =
        results.iter().filter(|result| result.framework.name == framework).map(|result| result.scale).collect();
    scales.sort_by(f64::total_cmp);
    scales.dedup();
    if scales.len() > 1 { scales } else { Vec::new() }
}

/// The runs of a framework on altered images at a scale.
pub fn at_scale<'a>(results: &'a [RunResult], framework: &'a str, scale: f64) -> impl Iterator<Item = &'a RunResult> {
    results.iter().filter(move |result| {
        result.framework.name == framework && result.scale == scale && result.data == Data::Perturbed
    })
}

#[cfg(test)]
mod tests {
    use super::super::frameworks::FRAMEWORKS;
    use super::*;

    fn result(scale: f64, active: usize, mig: f64) -> RunResult {
        RunResult {
            framework: &FRAMEWORKS[1],
            data: Data::Perturbed,
            seed: 1,
            scale,
            path: "run".into(),
            scores: [Some(mig), None, None, None],
            mig_of_factors: vec![],
            active_latents: Some(active),
            n_factors: 3,
        }
    }

    #[test]
    fn over_pruned_runs_are_dropped_and_counted() {
        let results =
            [result(1.0, 3, 0.5), result(1.0, 4, 0.25), result(2.0, 2, 0.9), result(2.0, 3, 0.1), result(4.0, 1, 0.7)];
        let table = line_search_table(&results).unwrap();
        let rows: Vec<[&str; 4]> = table.rows.iter().map(|row| [0, 1, 2, 3].map(|cell| row[cell].as_str())).collect();
        assert_eq!(
            rows,
            [
                ["beta_vae, beta x 1", "0.38 ± 0.18", "2", "0"],
                ["beta_vae, beta x 2", "0.10 ± 0.00", "1", "1"],
                ["beta_vae, beta x 4", "all dropped", "0", "1"],
            ]
        );
        assert!(line_search_table(&results[..2]).is_none());
    }
}
