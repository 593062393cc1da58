//! What came out of a study, in a few plain sentences.

use unbraid_data::words::{counted, listed};
use unbraid_metrics::Better;
use unbraid_report::tables::score_text;

use crate::chosen_scores::{better, directed, goodness, supervised, unsupervised};
use crate::figures::explained::rows;
use crate::statistics::agreement::{of_metrics, with_unsupervised};
use crate::statistics::correlations::Coefficient;
use crate::statistics::random_good::{MOVES, random_good};
use crate::statistics::selection::{Selected, rules, selected};
use crate::statistics::summary::Summary;
use crate::statistics::variance_explained::{Divided, Explained};
use crate::table::{ScoreColumn, StudyTable};

/// More would not be read.
const MOST_NAMES: usize = 6;
/// Objectives whose best setting is told of each dataset.
const MOST_BEST: usize = 3;
/// A score with a smaller correlation tells little of the metrics.
const LEAST_TO_FOLLOW: f64 = 0.3;

/// `75 runs of 3 objectives (beta_vae, ...) in 15 settings with 5 seeds, on 1 dataset (dsprites).`
pub fn lead(table: &StudyTable) -> String {
    let mut seeds = table.seeds().to_vec();
    seeds.sort_unstable();
    seeds.dedup();
    let told = format!(
        "{} of {} in {} with {}, on {}.",
        counted(table.n_runs(), "run"),
        counted_and_named("objective", &table.objectives().labels),
        counted(table.settings().len(), "setting"),
        counted(seeds.len(), "seed"),
        counted_and_named("dataset", &table.datasets().labels)
    );
    told + &without_scores(table)
}

/// ` 3 runs have no metric of factors: ...`, which makes their settings look better than they are; nothing where all have one.
fn without_scores(table: &StudyTable) -> String {
    let scores = supervised(table);
    let Some(first) = scores.first() else { return String::new() };
    let is_without = |run: &usize| scores.iter().all(|score| score.values[*run].is_none());
    let without: Vec<usize> = (0..table.n_runs()).filter(is_without).collect();
    let Some(&run) = without.first() else { return String::new() };
    let why = first.reasons[run].as_deref().unwrap_or("not measured");
    let has = if without.len() == 1 { "has" } else { "have" };
    format!(" {} {has} no metric of factors ({}: {why}).", counted(without.len(), "run"), first.name)
}

fn counted_and_named(thing: &str, names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    format!("{} ({}{more})", counted(names.len(), thing), shown.join(", "))
}

/// Each a few words and what they mean here; questions that the runs cannot answer are left out.
pub fn verdicts(table: &StudyTable) -> Vec<(String, String)> {
    let answers = [
        ("What decides a score", what_decides(table)),
        ("Which metrics agree", which_agree(table)),
        ("Selecting without factors", without_factors(table)),
        ("How far a good setting carries", how_far(table)),
        ("Best settings", best_settings(table)),
    ];
    answers
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(heading, text)| (heading.to_string(), text))
        .collect()
}

/// The typical share of variance that objective and settings explain, for each dataset.
fn what_decides(table: &StudyTable) -> String {
    let rows = rows(table);
    let sentences = rows.chunks(2).filter_map(|both| {
        let [objective, setting] = both else { return None };
        let label = &table.datasets().labels[objective.dataset];
        let shares =
            [objective, setting].map(|row| (row.divided, row.shares.iter().flatten().copied().collect::<Vec<_>>()));
        let parts: Vec<String> = shares.iter().filter_map(|(divided, shares)| share_text(*divided, shares)).collect();
        (!parts.is_empty()).then(|| format!("On {label}, {}.", parts.join("; ")))
    });
    sentences.take(MOST_NAMES).collect::<Vec<_>>().join(" ")
}

/// `the objective explains 12 % of a metric's variance (median of 6; 5 % to 31 %; by chance 3 %)`.
fn share_text(divided: Divided, shares: &[Explained]) -> Option<String> {
    let mut sorted: Vec<f64> = shares.iter().map(|found| found.share).collect();
    sorted.sort_by(f64::total_cmp);
    let (least, greatest) = (sorted.first()?, sorted.last()?);
    let chance = shares.iter().map(|found| found.by_chance).fold(0.0, f64::max);
    let what = match divided {
        Divided::ByObjective => "the objective explains",
        Divided::BySetting => "all settings together explain",
    };
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let n = shares.len();
    let range =
        if n > 1 { format!("median of {n}, {} to {}; ", percent(*least), percent(*greatest)) } else { String::new() };
    let middle = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    Some(format!("{what} {} of a metric's variance ({range}by chance {})", percent(middle), percent(chance)))
}

fn which_agree(table: &StudyTable) -> String {
    let sign = |name: &str| table.score(name).map_or(1.0, |score| goodness(score, 1.0));
    let sentences = (0..table.datasets().len()).filter_map(|dataset| {
        let found = of_metrics(table, dataset, Coefficient::Spearman);
        let [most, least] = found.extremes(sign)?;
        let pair = format!("On {}, {} and {}", table.datasets().labels[dataset], most.one, most.other);
        let (correlation, n_runs) = (signed(most.correlation), most.n_runs);
        if (most.one, most.other) == (least.one, least.other) {
            return Some(format!("{pair} have a rank correlation of {correlation} over {n_runs} runs."));
        }
        let worst = format!("{} and {} least ({})", least.one, least.other, signed(least.correlation));
        Some(format!("{pair} agree most (rank correlation {correlation} over {n_runs} runs), {worst}."))
    });
    sentences.take(MOST_NAMES).collect::<Vec<_>>().join(" ")
}

/// The score without factors whose better runs are the better ones by most metrics.
fn without_factors(table: &StudyTable) -> String {
    let metrics = directed(table);
    let sentences = (0..table.datasets().len()).filter_map(|dataset| {
        let found = with_unsupervised(table, dataset);
        let mean_of = |column: &&ScoreColumn| -> Option<(String, f64)> {
            let place = found.columns.iter().position(|name| *name == column.name)?;
            let agreements = metrics.iter().filter_map(|metric| {
                let row = found.rows.iter().position(|name| *name == metric.name)?;
                Some(goodness(metric, goodness(column, found.values[[row, place]]?)))
            });
            let agreements: Vec<f64> = agreements.collect();
            let mean = agreements.iter().sum::<f64>() / agreements.len() as f64;
            (!agreements.is_empty()).then(|| (column.name.clone(), mean))
        };
        let columns = unsupervised(table);
        let means = columns.iter().filter(|column| better(column) != Better::Neither).filter_map(mean_of);
        let (name, mean) = means.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let label = &table.datasets().labels[dataset];
        let correlation = format!("a rank correlation of {} on average, where 1 is better with better", signed(mean));
        Some(if mean >= LEAST_TO_FOLLOW {
            format!("On {label}, {name} follows the metrics best: {correlation}.")
        } else {
            format!("On {label}, no score follows the metrics; {name} is nearest, with {correlation}.")
        })
    });
    sentences.take(MOST_NAMES).collect::<Vec<_>>().join(" ")
}

fn how_far(table: &StudyTable) -> String {
    let Ok(found) = random_good(table) else { return String::new() };
    let parts = MOVES
        .iter()
        .zip(&found.overall)
        .filter_map(|(moved, won)| Some(format!("{:.0} % ({})", 100.0 * (*won)?.share, moved.words())));
    let parts: Vec<String> = parts.collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!(
        "The setting that is best for one seed beats a random one on other seeds or datasets in {}; 50 % would be chance.",
        listed(&parts)
    )
}

/// The setting of each objective that the first rule selects, best first.
fn best_settings(table: &StudyTable) -> String {
    let Some(rule) = rules(table).first().copied() else { return String::new() };
    let all = selected(table, rule);
    let sentences = (0..table.datasets().len()).filter_map(|dataset| {
        let mut of_dataset: Vec<(&Selected, Summary)> =
            all.iter().filter(|one| one.dataset == dataset).filter_map(|one| Some((one, one.summary(rule)?))).collect();
        of_dataset.sort_by(|a, b| goodness(rule, b.1.mean).total_cmp(&goodness(rule, a.1.mean)));
        let texts = of_dataset
            .iter()
            .take(MOST_BEST)
            .map(|(one, found)| format!("{} {}", table.settings().labels[one.setting], mean_and_spread(found)));
        let more = match of_dataset.len().saturating_sub(MOST_BEST) {
            0 => String::new(),
            more => format!(" and {} below", counted(more, "objective")),
        };
        let texts = texts.collect::<Vec<_>>().join(", ");
        let label = &table.datasets().labels[dataset];
        // Runs may have been measured by other metrics there.
        (!of_dataset.is_empty()).then(|| format!("By {} on {label}: {texts}{more}.", rule.name))
    });
    sentences.take(MOST_NAMES).collect::<Vec<_>>().join(" ")
}

/// `0.4500 ± 0.0300 (5)`: mean, standard deviation over seeds, and how many.
pub fn mean_and_spread(found: &Summary) -> String {
    let spread = found.deviation.map_or(String::new(), |deviation| format!(" ± {}", score_text(deviation)));
    format!("{}{spread} ({})", score_text(found.mean), found.n)
}

fn signed(value: f64) -> String {
    format!("{value:.2}").replace("-0.00", "0.00").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use unbraid_metrics::Scores;

    use super::*;
    use crate::table::Run;

    #[test]
    fn runs_without_a_metric_of_factors_are_told_first() {
        let run = |seed: i64, mig: Result<f64, &str>| Run {
            name: format!("{seed}"),
            config: format!("seed = {seed}\ndataset.name = 'a'\nframework.name = 'vae'").parse().unwrap(),
            scores: Scores::new().with_outcome("mig", mig).with("kl", 1.0),
        };
        let told = |second| lead(&StudyTable::new(&[run(1, Ok(0.5)), run(2, second)]).unwrap());
        let all = "2 runs of 1 objective (vae) in 1 setting with 2 seeds, on 1 dataset (a).";
        assert_eq!(told(Ok(0.25)), all);
        assert_eq!(
            told(Err("no latent moves")),
            format!("{all} 1 run has no metric of factors (mig: no latent moves).")
        );
    }
}
