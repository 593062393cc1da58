//! T3's tables: of each model the run that is best by a score, and its other scores beside the published ones.

use unbraid_data::Result;
use unbraid_metrics::Scores;
use unbraid_report::RunFolder;

use super::planned::Runs;
use super::spread::{PublishedMean, Spread};
use super::trained::Group;
use super::{Row, Scale};

/// A published table.
pub struct Table {
    /// Its columns: scores, and how they are shown.
    pub columns: &'static [(&'static str, &'static str)],
    /// The score by which the run of each model was chosen.
    pub by: &'static str,
    /// Dataset, model and a number for each column; none where the table lost it.
    pub rows: &'static [(&'static str, &'static str, &'static [Option<f64>])],
}

/// Columns of tables 6.1, 6.2, 7.1 and 7.4. Explicitness goes below one half in T3, as only a scaled area does.
pub const OF_CBD: &[(&str, &str)] = &[
    ("reconstruction", "reconstruction"),
    ("cbd", "CbD"),
    ("beta_vae", "beta-VAE metric"),
    ("mig", "MIG"),
    ("explicitness.scaled", "explicitness"),
];

/// Models of a ranking that a claim tells, beside the one that it is of.
const MOST_SHOWN: usize = 3;

/// The run that was chosen of a model.
#[derive(Clone)]
pub struct Chosen {
    /// What it was trained on.
    pub dataset: String,
    /// What [`model`] calls it.
    pub model: String,
    /// Its files.
    pub folder: RunFolder,
    /// Its scores.
    pub scores: Scores,
}

/// What tables call a model: its framework, with the variant of an mdL-VAE.
pub fn model(runs: &Runs) -> String {
    match runs.framework() {
        "mdl_vae" => format!("mdl_vae {}", runs.word("framework.variant")),
        framework => framework.to_string(),
    }
}

/// The groups with the smallest batches and the largest rate, of any length.
pub fn of_one_rate(mut groups: Vec<Group>) -> Vec<Group> {
    let Some(batch_size) = groups.iter().map(|group| group.config.training.batch_size).min() else { return groups };
    groups.retain(|group| group.config.training.batch_size == batch_size);
    let rate = |group: &Group| group.config.training.learning_rate.at(0);
    let most = groups.iter().map(rate).fold(0.0, f64::max);
    groups.retain(|group| rate(group) == most);
    groups
}

/// Of the groups of [`of_one_rate`] those that are trained longest.
pub fn longest(groups: Vec<Group>) -> Vec<Group> {
    let mut groups = of_one_rate(groups);
    let most = groups.iter().map(|group| group.config.training.steps).max();
    groups.retain(|group| Some(group.config.training.steps) == most);
    groups
}

/// The run of each model on each dataset whose score is highest, in the order of the grid.
pub fn chosen(runs: &[Runs], by: &str) -> Result<Vec<Chosen>> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for one in runs {
        for folder in &one.restarts.folders {
            let (dataset, model) = (one.dataset().to_string(), model(one));
            let scores = folder.read_scores()?;
            let found = Chosen { dataset, model, folder: folder.clone(), scores };
            let score = |of: &Chosen| of.scores.value(by).unwrap_or(f64::NEG_INFINITY);
            let is_same = |other: &&mut Chosen| other.dataset == found.dataset && other.model == found.model;
            match chosen.iter_mut().find(is_same) {
                Some(best) if score(&found) > score(best) => *best = found,
                Some(_) => {}
                None => chosen.push(found),
            }
        }
    }
    Ok(chosen)
}

/// Ours beside the published numbers, for each model that was trained; see [`super::t3_setups`] for why none is compared.
pub fn rows(table: &Table, chosen: &[Chosen]) -> Vec<Row> {
    let mut rows = Vec::new();
    for one in chosen {
        let is_it = |row: &&(&str, &str, &[Option<f64>])| row.0 == one.dataset && row.1 == one.model;
        let published = table.rows.iter().find(is_it).map(|row| row.2);
        for (index, (score, shown)) in table.columns.iter().enumerate() {
            let ours: Vec<f64> = one.scores.value(score).into_iter().collect();
            let mean = published.and_then(|numbers| numbers[index]);
            let published = mean.map(|mean| PublishedMean { mean, deviation: None, rounding: 0.005, n: 1 });
            let what = format!("{}, {}, {shown}", one.dataset, one.model);
            rows.push(Row::mean(what, Spread::of(&ours), published).only_beside());
        }
    }
    rows
}

/// The score of the run that was chosen of a model; not a number where there is none.
pub fn score_of(chosen: &[Chosen], dataset: &str, model: &str, score: &str) -> f64 {
    let one = chosen.iter().find(|one| one.dataset == dataset && one.model == model);
    one.and_then(|one| one.scores.value(score)).unwrap_or(f64::NAN)
}

/// The models on a dataset, the one with the highest score first.
pub fn ranking<'a>(chosen: &'a [Chosen], dataset: &str, score: &str) -> Vec<(&'a str, f64)> {
    let of_dataset = chosen.iter().filter(|one| one.dataset == dataset);
    let mut ranking: Vec<(&str, f64)> =
        of_dataset.filter_map(|one| Some((one.model.as_str(), one.scores.value(score)?))).collect();
    ranking.sort_by(|one, other| other.1.total_cmp(&one.1));
    ranking
}

/// The claim that a model is among the first of a ranking, by two digits as T3 tells them: several may share a place.
pub fn among_first(what: impl Into<String>, ranking: &[(&str, f64)], model: &str, n_first: usize) -> Row {
    let place = ranking.iter().position(|(name, _)| *name == model);
    let is_shown = |at: usize| at < MOST_SHOWN || Some(at) == place;
    let shown = ranking.iter().enumerate().filter(|(at, _)| is_shown(*at));
    let ours: Vec<String> = shown.map(|(at, (model, score))| format!("{}. {model} {score:.2}", at + 1)).collect();
    let hundredths = |score: f64| (100.0 * score).round();
    let n_above = |score: f64| ranking.iter().filter(|(_, other)| hundredths(*other) > hundredths(score)).count();
    Row::claim(what, ours.join(", "), place.is_some_and(|place| n_above(ranking[place].1) < n_first))
}

/// A claim that is judged where T3's own runs are made, and only shown where less is trained.
pub fn only_at_paper(row: Row, scale: Scale) -> Row {
    if scale == Scale::Paper { row } else { row.only_beside() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn curves_are_of_the_smallest_batches_the_largest_rate_and_the_longest_training() {
        let text = "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'vae'";
        let group = |batch_size: u64, rate: &str, steps: u64| {
            let changes = [
                format!("training.batch_size={batch_size}"),
                format!("training.learning_rate={rate}"),
                format!("training.steps={steps}"),
            ];
            Group { name: String::new(), config: Config::parse(text, &changes).unwrap(), n_seeds: 1 }
        };
        let all = vec![group(64, "1e-4", 10), group(64, "1e-4", 20), group(64, "1e-5", 30), group(128, "1e-3", 40)];
        assert_eq!(of_one_rate(all.clone()), all[..2]);
        assert_eq!(longest(all.clone()), all[1..2]);
    }

    #[test]
    fn the_highest_comes_first_and_what_is_undefined_takes_no_part() {
        let folder = tempfile::tempdir().unwrap();
        let one = |name: &str, cbd: Option<f64>| {
            let folder = RunFolder::create(&folder.path().join(name), "seed = 1").unwrap();
            let scores = cbd.map_or_else(Scores::new, |cbd| Scores::new().with("cbd", cbd));
            Chosen { dataset: "dsprites".to_string(), model: name.to_string(), folder, scores }
        };
        let chosen = [one("a", Some(0.1)), one("b", None), one("c", Some(0.3))];
        let found = ranking(&chosen, "dsprites", "cbd");
        assert_eq!(found, [("c", 0.3), ("a", 0.1)]);
        assert_eq!(among_first("a is first", &found, "a", 1), Row::claim("a is first", "1. c 0.30, 2. a 0.10", false));
        assert_eq!(among_first("a", &found, "a", 2).agrees(), Some(true));
        let shared = [("c", 0.304), ("a", 0.301), ("b", 0.294)];
        assert_eq!(["a", "b"].map(|one| among_first("", &shared, one, 1).agrees()), [Some(true), Some(false)]);
        assert!(score_of(&chosen, "dsprites", "b", "cbd").is_nan());
    }
}
