//! The tables of a study's page.

use std::collections::BTreeMap;

use unbraid_data::words::{counted, shortened};
use unbraid_metrics::{Better, metric_of};
use unbraid_report::page::PageTable;
use unbraid_report::tables::score_text;

use crate::chosen_scores::{better, supervised, unsupervised};
use crate::compare::p_text;
use crate::figures::{explained as shares, random_good as bars};
use crate::statistics::random_good::{MOVES, RandomGood};
use crate::statistics::selection::selected as select;
use crate::table::{ScoreColumn, StudyTable};
use crate::verdict::mean_and_spread;

/// Longer texts of settings are cut.
const MOST_LETTERS: usize = 60;
/// Other scores that stand beside the one that selects.
const MOST_BESIDE: usize = 12;

/// The shares of variance in percent, each with what chance would explain and how many runs it rests on.
pub(crate) fn explained(table: &StudyTable) -> PageTable {
    let header = ["dataset and division", "score", "explained", "by chance", "p", "runs", "groups"].map(String::from);
    let scores = shares::scores(table);
    let mut rows = Vec::new();
    for row in shares::rows(table) {
        let name = format!("{}, {}", table.datasets().labels[row.dataset], row.divided.word());
        for (score, share) in scores.iter().zip(&row.shares) {
            let mut cells = vec![name.clone(), score.name.clone()];
            match share {
                Ok(found) => cells.extend([
                    format!("{:.1} %", 100.0 * found.share),
                    format!("{:.1} %", 100.0 * found.by_chance),
                    p_text(found.p_value),
                    found.n_runs.to_string(),
                    found.n_groups.to_string(),
                ]),
                Err(missing) => {
                    cells.extend([missing.clone(), String::new(), String::new(), String::new(), String::new()])
                }
            }
            rows.push(cells);
        }
    }
    PageTable { name: String::new(), caption: String::new(), header: header.to_vec(), rows }
}

/// How often the setting that each score chooses beats a random one.
pub(crate) fn random_good(found: &RandomGood) -> PageTable {
    let header = std::iter::once("chosen by").chain(MOVES.iter().map(|moved| moved.words()));
    let caption =
        "The metric that a setting is tried by is one of factors, also where it was chosen by a score that needs none.";
    PageTable {
        name: String::new(),
        caption: caption.to_string(),
        header: header.map(String::from).collect(),
        rows: bars::rows_by_source(found),
    }
}

/// What one rule selects for each dataset and objective, by the score itself and by all others (T3 tables 7.1 to 7.3).
pub(crate) fn selected(table: &StudyTable, rule: &ScoreColumn) -> PageTable {
    let others = supervised(table).into_iter().chain(unsupervised(table)).filter(|score| score.name != rule.name);
    let scores: Vec<&ScoreColumn> = std::iter::once(rule).chain(others.take(MOST_BESIDE)).collect();
    let header = ["selected", "dataset", "of"].map(String::from).into_iter();
    let arrow = |score: &&ScoreColumn| format!("{}{}", score.name, arrow_of(score));
    let rows = select(table, rule).into_iter().map(|one| {
        let names = [
            table.settings().labels[one.setting].clone(),
            table.datasets().labels[one.dataset].clone(),
            counted(one.n_settings, "setting"),
        ];
        let numbers =
            scores.iter().map(|score| one.summary(score).map_or("–".to_string(), |found| mean_and_spread(&found)));
        names.into_iter().chain(numbers).collect()
    });
    PageTable {
        name: String::new(),
        caption: format!(
            "The setting of each objective with the best mean {} over seeds: mean ± standard deviation over seeds (runs). {} in all.",
            rule.name,
            counted(rule.n_defined(), "run")
        ),
        rows: rows.collect(),
        header: header.chain(scores.iter().map(arrow)).collect(),
    }
}

fn arrow_of(score: &ScoreColumn) -> &'static str {
    match better(score) {
        Better::High => " ↑",
        Better::Low => " ↓",
        Better::Neither => "",
    }
}

/// Every run with the settings that vary and the scores that metrics are known by.
pub(crate) fn runs(table: &StudyTable) -> PageTable {
    let settings: Vec<_> = table.setting_columns().iter().filter(|column| column.varies()).collect();
    let scores: Vec<&ScoreColumn> = supervised(table).into_iter().chain(unsupervised(table)).collect();
    let header = std::iter::once("run".to_string())
        .chain(settings.iter().map(|column| column.name.clone()))
        .chain(scores.iter().map(|score| score.name.clone()));
    let row = |run: usize| {
        let texts = settings
            .iter()
            .map(|column| column.text(run).map_or(String::new(), |text| shortened(&text, MOST_LETTERS).into_owned()));
        let numbers = scores.iter().map(|score| score.values[run].map_or("–".to_string(), score_text));
        std::iter::once(table.names()[run].clone()).chain(texts).chain(numbers).collect()
    };
    PageTable {
        name: String::new(),
        caption:
            "Settings that vary, and the scores that metrics are known by; the files beside this page have all columns."
                .to_string(),
        header: header.collect(),
        rows: (0..table.n_runs()).map(row).collect(),
    }
}

/// The settings that are the same in all runs.
pub(crate) fn constants(table: &StudyTable) -> PageTable {
    let same = table.setting_columns().iter().filter(|column| !column.varies());
    let rows = same.map(|column| {
        vec![column.name.clone(), shortened(&column.text(0).unwrap_or_default(), MOST_LETTERS).into_owned()]
    });
    PageTable {
        name: String::new(),
        caption: String::new(),
        header: ["setting", "value"].map(String::from).to_vec(),
        rows: rows.collect(),
    }
}

/// Each score that a metric is known by and some run lacks: in how many of them, and why.
pub(crate) fn undefined(table: &StudyTable) -> PageTable {
    let mut rows = Vec::new();
    for score in table.score_columns().iter().filter(|score| metric_of(&score.name) == score.name) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for reason in score.reasons.iter().flatten() {
            *counts.entry(reason).or_default() += 1;
        }
        rows.extend(
            counts
                .into_iter()
                .map(|(reason, count)| vec![score.name.clone(), counted(count, "run"), reason.to_string()]),
        );
    }
    PageTable {
        name: String::new(),
        caption: String::new(),
        header: ["score", "undefined in", "because"].map(String::from).to_vec(),
        rows,
    }
}
