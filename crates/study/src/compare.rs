//! Runs side by side: groups of runs that differ only in their seed, mean and spread of every score, and paired tests where seeds match.

use serde::Serialize;
use unbraid_data::words::{counted, on_one_line};
use unbraid_metrics::{ScoreOf, metric_of};
use unbraid_report::tables::{numbers_table, score_text};

use crate::chosen_scores::better;
use crate::statistics::paired::{PairedTest, paired_test};
use crate::statistics::summary::{LEVEL, Summary, defined, summary};
use crate::table::{ScoreColumn, StudyTable};

/// Groups side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// In the order in which their first runs were given.
    pub groups: Vec<Group>,
    /// Every score of the whole, in the order of the list of metrics.
    pub scores: Vec<ComparedScore>,
}

/// Runs that differ only in their seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What tells it from the others.
    pub label: String,
    /// What its runs learned from.
    pub dataset: String,
    /// What its runs are called.
    pub runs: Vec<String>,
    /// The seed of each.
    pub seeds: Vec<i64>,
}

/// One score in all groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedScore {
    /// Its name.
    pub name: String,
    /// `high`, `low` or `neither`.
    pub better: &'static str,
    /// Mean and spread over the runs of each group that have it; none where no run has. `[groups]`
    pub groups: Vec<Option<Summary>>,
    /// Why runs do not have it: the run and the reason.
    pub undefined: Vec<(String, String)>,
    /// Each group but the first against the first, over the seeds that both have; none where no seed matches, or where they learned from different
    /// datasets. `[groups - 1]`
    pub against_first: Vec<Option<PairedTest>>,
}

/// Which scores a text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The score that each metric is known by.
    Headlines,
    /// All scores of the whole.
    All,
}

/// More groups stand below each other instead.
const MOST_BESIDE: usize = 4;
/// Scores that stand beside each other where groups stand below each other.
const SCORES_BESIDE: usize = 4;
/// A smaller p-value is not told in digits.
const LEAST_P: f64 = 1e-4;

/// Sets the groups of runs side by side.
pub fn compare(table: &StudyTable) -> Comparison {
    let groups = groups(table);
    let of_groups: Vec<Vec<usize>> = groups.iter().map(|(_, runs)| runs.clone()).collect();
    let whole = table.score_columns().iter().filter(|column| column.of == ScoreOf::Whole);
    let scores = whole.map(|column| compared(table, column, &of_groups)).collect();
    let groups = groups.into_iter().map(|(label, runs)| Group {
        label,
        dataset: table.datasets().labels[table.datasets().of_runs[runs[0]]].clone(),
        seeds: runs.iter().map(|&run| table.seeds()[run]).collect(),
        runs: runs.iter().map(|&run| table.names()[run].clone()).collect(),
    });
    Comparison { groups: groups.collect(), scores }
}

/// The runs of each group with its label, in the order of their first runs.
fn groups(table: &StudyTable) -> Vec<(String, Vec<usize>)> {
    let mut found: Vec<((usize, usize), Vec<usize>)> = Vec::new();
    for run in 0..table.n_runs() {
        let key = (table.datasets().of_runs[run], table.settings().of_runs[run]);
        match found.iter_mut().find(|(one, _)| *one == key) {
            Some((_, runs)) => runs.push(run),
            None => found.push((key, vec![run])),
        }
    }
    found.into_iter().map(|((dataset, setting), runs)| (label(table, dataset, setting), runs)).collect()
}

/// The dataset where there are several, and the setting, without the objective where that is the same in all.
fn label(table: &StudyTable, dataset: usize, setting: usize) -> String {
    let full = &table.settings().labels[setting];
    let objective = &table.objectives().labels[0];
    let rest = full.strip_prefix(objective).map(str::trim_start).filter(|rest| !rest.is_empty());
    let setting = if table.objectives().len() == 1 { rest.unwrap_or(full) } else { full };
    match (table.datasets().len(), table.settings().len()) {
        (1, _) => setting.to_string(),
        (_, 1) => table.datasets().labels[dataset].clone(),
        _ => format!("{} on {}", setting, table.datasets().labels[dataset]),
    }
}

fn compared(table: &StudyTable, column: &ScoreColumn, groups: &[Vec<usize>]) -> ComparedScore {
    let reasons = table.names().iter().zip(&column.reasons);
    let first = &groups[0];
    let of_dataset = |runs: &[usize]| table.datasets().of_runs[runs[0]];
    let tested = |runs: &Vec<usize>| {
        let is_same = of_dataset(runs) == of_dataset(first);
        if is_same { paired_test(&pairs(table, column, runs, first)) } else { None }
    };
    ComparedScore {
        name: column.name.clone(),
        better: better(column).word(),
        groups: groups.iter().map(|runs| summary(&defined(&column.values, runs))).collect(),
        undefined: reasons.filter_map(|(run, reason)| Some((run.clone(), reason.clone()?))).collect(),
        against_first: groups[1..].iter().map(tested).collect(),
    }
}

/// The scores of runs with the same seed, in the order of seeds.
fn pairs(table: &StudyTable, column: &ScoreColumn, one: &[usize], other: &[usize]) -> Vec<(f64, f64)> {
    let mut found: Vec<(i64, f64, f64)> = Vec::new();
    for &run in one {
        let seed = table.seeds()[run];
        let same = other.iter().find(|&&other| table.seeds()[other] == seed);
        if let Some((value, other)) = same.and_then(|&other| Some((column.values[run]?, column.values[other]?))) {
            found.push((seed, value, other));
        }
    }
    found.sort_by_key(|(seed, _, _)| *seed);
    found.into_iter().map(|(_, one, other)| (one, other)).collect()
}

/// The comparison for the terminal: mean and standard deviation of each group, and below the tests against the first group. Many groups stand
/// below each other, a few scores at a time.
pub fn comparison_text(comparison: &Comparison, shown: Shown, width: Option<u16>) -> String {
    let is_shown = |score: &&ComparedScore| {
        let is_defined = score.groups.iter().any(Option::is_some);
        is_defined && (shown == Shown::All || metric_of(&score.name) == score.name)
    };
    let scores: Vec<&ComparedScore> = comparison.scores.iter().filter(is_shown).collect();
    if scores.is_empty() {
        return "no score is defined in any run; --json has the reasons\n".to_string();
    }
    if comparison.groups.len() > MOST_BESIDE {
        return many_groups_text(comparison, &scores, width);
    }
    means_text(comparison, &scores, width) + &tests_text(comparison, &scores, width)
}

/// A line for each group, and below a line for each but the first with its differences from the first.
fn many_groups_text(comparison: &Comparison, scores: &[&ComparedScore], width: Option<u16>) -> String {
    let groups = &comparison.groups;
    let row = |name: &Group, cells: Vec<String>| std::iter::once(name.label.clone()).chain(cells).collect::<Vec<_>>();
    let beside = |first: &str, scores: &[&ComparedScore], rows: &[Vec<String>]| {
        let header: Vec<&str> = std::iter::once(first).chain(scores.iter().map(|score| score.name.as_str())).collect();
        numbers_table(&header, rows, width)
    };
    let (mut means, mut tests, mut n_tests) = (String::new(), String::new(), 0);
    for scores in scores.chunks(SCORES_BESIDE) {
        let cells = |place: usize| {
            let n_runs = groups[place].runs.len();
            scores.iter().map(|score| mean_text(&score.groups[place], n_runs)).collect()
        };
        let rows: Vec<Vec<String>> = groups.iter().enumerate().map(|(at, group)| row(group, cells(at))).collect();
        means += &(beside("mean ± deviation", scores, &rows) + "\n");
        let tested = |place: usize| {
            scores.iter().map(|score| score.against_first[place - 1].as_ref().filter(is_test)).collect::<Vec<_>>()
        };
        let rows: Vec<Vec<String>> = (1..groups.len())
            .filter(|&place| tested(place).iter().any(Option::is_some))
            .map(|place| row(&groups[place], tested(place).into_iter().map(difference_text).collect()))
            .collect();
        n_tests += (1..groups.len())
            .map(|place| tested(place).into_iter().flatten().filter(has_p_value).count())
            .sum::<usize>();
        if !rows.is_empty() {
            tests += &(beside("difference (p of t test)", scores, &rows) + "\n");
        }
    }
    let first = on_one_line(&groups[0].label);
    let shares_seeds = |group: &Group| {
        let n_shared = group.seeds.iter().filter(|seed| groups[0].seeds.contains(seed)).count();
        group.dataset == groups[0].dataset && n_shared > 1
    };
    let tests = if tests.is_empty() {
        let why = match groups[1..].iter().any(shares_seeds) {
            true => "no score is defined for two seeds that a group shares with the first",
            false => "no group shares two seeds and the dataset with the first",
        };
        format!("{why}, so there is no paired test\n")
    } else {
        let told = if n_tests > 0 { told_of_tests(n_tests) } else { String::new() };
        format!("less {first}, over matching seeds of the same dataset:\n{tests}{told}")
    };
    means + &tests + "--json has intervals, pairs and Wilcoxon's test\n"
}

/// Whether there is a p-value: not where all differences are alike.
fn has_p_value(test: &&PairedTest) -> bool {
    test.t_p_value.is_some()
}

/// Whether a test is of pairs enough.
fn is_test(test: &&PairedTest) -> bool {
    test.difference.n > 1
}

/// `-0.1200 (0.0130)`: the mean difference, and how likely one as large is by chance.
fn difference_text(test: Option<&PairedTest>) -> String {
    let Some(test) = test else { return "–".to_string() };
    format!("{} ({})", score_text(test.difference.mean), p_text(test.t_p_value))
}

fn interval_text(found: &Summary) -> String {
    found.interval.map_or("–".to_string(), |(low, high)| format!("{} to {}", score_text(low), score_text(high)))
}

fn means_text(comparison: &Comparison, scores: &[&ComparedScore], width: Option<u16>) -> String {
    let labels =
        comparison.groups.iter().map(|group| format!("{} ({})", group.label, counted(group.runs.len(), "run")));
    let header: Vec<String> =
        std::iter::once("score".to_string()).chain(labels).chain(["better".to_string()]).collect();
    let rows: Vec<Vec<String>> = scores
        .iter()
        .map(|score| {
            let cells =
                score.groups.iter().zip(&comparison.groups).map(|(found, group)| mean_text(found, group.runs.len()));
            let better = match score.better {
                "high" => "higher",
                "low" => "lower",
                _ => "",
            };
            std::iter::once(score.name.clone()).chain(cells).chain([better.to_string()]).collect()
        })
        .collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    numbers_table(&header, &rows, width)
}

/// `0.4500 ± 0.0300`; with how many runs that is of where not all of a group have the score.
fn mean_text(found: &Option<Summary>, n_runs: usize) -> String {
    let Some(found) = found else { return "–".to_string() };
    let spread = found.deviation.map_or(String::new(), |deviation| format!(" ± {}", score_text(deviation)));
    let of = if found.n < n_runs { format!(" ({} of {n_runs})", found.n) } else { String::new() };
    format!("{}{spread}{of}", score_text(found.mean))
}

fn tests_text(comparison: &Comparison, scores: &[&ComparedScore], width: Option<u16>) -> String {
    let mut text = String::new();
    let mut n_tests = 0;
    for (place, group) in comparison.groups.iter().enumerate().skip(1) {
        let tests = scores.iter().filter_map(|score| Some((score, score.against_first[place - 1].as_ref()?)));
        let tests: Vec<_> = tests.filter(|(_, test)| is_test(test)).collect();
        let rows: Vec<Vec<String>> = tests.iter().map(|(score, test)| test_row(&score.name, test)).collect();
        let (one, first) = (on_one_line(&group.label), on_one_line(&comparison.groups[0].label));
        if group.dataset != comparison.groups[0].dataset {
            text +=
                &format!("\n{one} against {first}: they learned from different datasets, so there is no paired test\n");
            continue;
        }
        if rows.is_empty() {
            let n_matching = group.seeds.iter().filter(|seed| comparison.groups[0].seeds.contains(seed)).count();
            let why = match n_matching {
                0 | 1 => "fewer than two seeds match",
                _ => "no score is defined in both for two seeds that match",
            };
            text += &format!("\n{one} against {first}: {why}, so there is no paired test\n");
            continue;
        }
        n_tests += tests.iter().filter(|(_, test)| has_p_value(test)).count();
        let header = ["score", "difference", "95 % interval", "pairs", "p (t)", "p (Wilcoxon)"];
        text += &format!("\n{one} less {first}, over matching seeds:\n{}", numbers_table(&header, &rows, width));
    }
    if n_tests > 0 {
        text += &format!("\n{}With five pairs or fewer, Wilcoxon's is never below 0.06.\n", told_of_tests(n_tests));
    }
    text
}

/// What a p-value means, and how many are small by chance.
fn told_of_tests(n_tests: usize) -> String {
    format!(
        "p is the probability of a difference at least as large by chance, of each score by itself: of {} without any true \
         difference, about {:.1} would be below {:.2}.\n",
        counted(n_tests, "test"),
        (1.0 - LEVEL) * n_tests as f64,
        1.0 - LEVEL
    )
}

/// A p-value by four digits, with the least that is told in numbers; a dash where there is none.
pub(crate) fn p_text(p: Option<f64>) -> String {
    match p {
        None => "–".to_string(),
        Some(p) if p < LEAST_P => format!("< {LEAST_P}"),
        Some(p) => format!("{p:.4}"),
    }
}

fn test_row(name: &str, test: &PairedTest) -> Vec<String> {
    vec![
        name.to_string(),
        score_text(test.difference.mean),
        interval_text(&test.difference),
        test.difference.n.to_string(),
        p_text(test.t_p_value),
        p_text(test.wilcoxon_p_value),
    ]
}

#[cfg(test)]
mod tests {
    use unbraid_metrics::Scores;

    use super::*;
    use crate::table::Run;

    fn run(name: &str, seed: i64, beta: f64, mig: Option<f64>) -> Run {
        let scores = Scores::new().with_outcome("mig", mig.ok_or("one factor")).with("kl", 1.0);
        let text = format!("seed = {seed}\ndataset.name = 'a'\nframework = {{ name = 'beta_vae', beta = {beta:?} }}");
        Run { name: name.to_string(), config: text.parse().unwrap(), scores }
    }

    #[test]
    fn groups_are_named_by_what_differs_and_seeds_are_matched() {
        let runs = [
            run("d", 2, 4.0, Some(0.5)),
            run("a", 1, 4.0, Some(0.25)),
            run("b", 1, 1.0, Some(0.75)),
            run("c", 2, 1.0, Some(1.5)),
            run("e", 3, 1.0, Some(0.1)),
            run("f", 4, 1.0, None),
        ];
        let found = compare(&StudyTable::new(&runs).unwrap());
        let labels: Vec<&str> = found.groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(labels, ["beta=4", "beta=1"]);
        assert_eq!(found.groups[0].runs, ["d", "a"]);
        let mig = &found.scores[0];
        assert_eq!((mig.name.as_str(), mig.better, mig.groups[1].unwrap().n), ("mig", "high", 3));
        assert_eq!(mig.undefined, [("f".to_string(), "one factor".to_string())]);
        // 0.75 - 0.25 and 1.5 - 0.5.
        let test = mig.against_first[0].as_ref().unwrap();
        assert_eq!((test.difference.n, test.difference.mean), (2, 0.75));
        let text = comparison_text(&found, Shown::Headlines, None);
        assert!(text.contains(" score   beta=4 (2 runs)            beta=1 (4 runs)   better"), "{text}");
        assert!(
            text.contains("beta=1 less beta=4, over matching seeds:") && text.contains("0.7833 ± 0.7006 (3 of 4)"),
            "{text}"
        );
        assert!(serde_json::to_string(&found).unwrap().contains("\"t_p_value\":0."));
    }

    #[test]
    fn runs_without_matching_seeds_are_not_tested() {
        let runs = [run("a", 1, 4.0, Some(0.25)), run("b", 2, 1.0, Some(0.75))];
        let found = compare(&StudyTable::new(&runs).unwrap());
        assert_eq!(found.scores[0].against_first, [None]);
        let text = comparison_text(&found, Shown::All, None);
        assert!(
            text.contains("beta=1 against beta=4: fewer than two seeds match") && text.contains("0.2500"),
            "{text}"
        );
    }

    #[test]
    fn many_groups_whose_scores_are_all_alike_have_differences_and_no_p_value() {
        let of = |beta: f64| [1, 2].map(|seed| run(&format!("{beta} {seed}"), seed, beta, Some(0.25)));
        let runs = [1.0, 2.0, 3.0, 4.0, 5.0].map(of).concat();
        let text = comparison_text(&compare(&StudyTable::new(&runs).unwrap()), Shown::All, None);
        assert!(text.contains("less beta=1, over matching seeds") && text.contains("0.0000 (–)"), "{text}");
        assert!(!text.contains("p is the probability") && !text.contains("no group shares"), "{text}");
        // Where the first has no score, that is the reason.
        let of = |beta: f64| {
            [1, 2].map(|seed| {
                let mut one = run(&format!("{beta} {seed}"), seed, beta, (beta > 1.0).then_some(0.25));
                one.scores.values.retain(|score| score.name == "mig");
                one
            })
        };
        let runs = [1.0, 2.0, 3.0, 4.0, 5.0].map(of).concat();
        let text = comparison_text(&compare(&StudyTable::new(&runs).unwrap()), Shown::All, None);
        assert!(text.contains("no score is defined for two seeds that a group shares with the first"), "{text}");
        let undefined: Vec<Run> = of(1.0).to_vec();
        let text = comparison_text(&compare(&StudyTable::new(&undefined).unwrap()), Shown::All, None);
        assert_eq!(text, "no score is defined in any run; --json has the reasons\n");
    }

    #[test]
    fn scores_that_are_undefined_are_the_reason_where_seeds_match_and_equal_ones_have_no_p_value() {
        let of = |beta: f64, mig: Option<f64>| [1, 2].map(|seed| run(&format!("{beta} {seed}"), seed, beta, mig));
        let mut runs = [of(4.0, Some(0.25)), of(1.0, None)].concat();
        // The divergences are alike.
        let text = comparison_text(&compare(&StudyTable::new(&runs).unwrap()), Shown::All, None);
        assert!(!text.contains("p is the probability"), "{text}");
        runs.iter_mut().for_each(|run| run.scores.values.retain(|score| score.name == "mig"));
        let text = comparison_text(&compare(&StudyTable::new(&runs).unwrap()), Shown::All, None);
        assert!(text.contains("beta=1 against beta=4: no score is defined in both for two seeds that match"), "{text}");
    }

    #[test]
    fn many_groups_stand_below_each_other_and_datasets_are_not_tested_against_each_other() {
        let of_beta = |beta: usize| {
            let score = |seed: usize| Some(0.1 * beta as f64 + 0.01 * (seed * beta) as f64);
            [1, 2].map(|seed| run(&format!("{beta}-{seed}"), seed as i64, beta as f64, score(seed)))
        };
        let mut runs: Vec<Run> = (1..=5).flat_map(of_beta).collect();
        let text = comparison_text(&compare(&StudyTable::new(&runs).unwrap()), Shown::Headlines, None);
        assert!(text.contains(" beta=5             0.5750 ± 0.0354"), "{text}");
        // 0.51 - 0.11 and 0.52 - 0.12 would be the same; here 0.55 - 0.11 and 0.6 - 0.12: 0.46.
        assert!(text.contains("less beta=1, over matching seeds") && text.contains("0.4600 ("), "{text}");
        runs.truncate(4);
        runs[2..].iter_mut().for_each(|run| run.config["dataset"]["name"] = "b".into());
        let found = compare(&StudyTable::new(&runs).unwrap());
        assert_eq!((found.groups[1].dataset.as_str(), found.scores[0].against_first[0].is_none()), ("b", true));
        let text = comparison_text(&found, Shown::Headlines, None);
        assert!(text.contains("they learned from different datasets"), "{text}");
    }

    #[test]
    fn one_group_alone_is_shown_without_tests() {
        let runs = [run("a", 1, 4.0, Some(0.25)), run("b", 2, 4.0, Some(0.75))];
        let text = comparison_text(&compare(&StudyTable::new(&runs).unwrap()), Shown::Headlines, None);
        assert!(text.contains("beta_vae (2 runs)") && !text.contains("p ("), "{text}");
    }
}
