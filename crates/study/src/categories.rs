//! Which runs belong together: by dataset, by objective, and by setting, which is everything but dataset and seed.

use std::collections::BTreeMap;

use crate::columns::SettingColumn;

/// What decides neither the images nor the model: the seed, how the model is measured, and how often it is saved. What is logged for other
/// programs does not either.
const NOT_OF_THE_MODEL: [&str; 4] = ["seed", "rows", "rows_seed", "training.checkpoint_every"];
/// Longer values are cut in labels.
const MOST_LETTERS: usize = 40;

/// A division of the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Categories {
    /// What each category is called; no two alike.
    pub labels: Vec<String>,
    /// The category of each run. `[runs]`
    pub of_runs: Vec<usize>,
}

impl Categories {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none, as in a table without runs.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The runs of one category.
    pub fn runs_of(&self, category: usize) -> Vec<usize> {
        (0..self.of_runs.len()).filter(|&run| self.of_runs[run] == category).collect()
    }

    /// The categories that some of these runs are of, in order.
    pub fn among(&self, runs: &[usize]) -> Vec<usize> {
        let mut found: Vec<usize> = runs.iter().map(|&run| self.of_runs[run]).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether a column tells how a model was measured, which does not make it another model.
pub fn is_measuring(column: &str) -> bool {
    column.starts_with("metrics.") || ["rows", "rows_seed"].contains(&column)
}

fn is_of_dataset(column: &str) -> bool {
    column.starts_with("dataset.")
}

/// The datasets that the runs learned from, each with all its settings.
pub fn datasets(columns: &[SettingColumn], n_runs: usize) -> Categories {
    let varying: Vec<&SettingColumn> =
        columns.iter().filter(|column| is_of_dataset(&column.name) && column.varies()).collect();
    divided(columns, "dataset.name", &varying, n_runs)
}

/// The objectives: what each framework is called.
pub fn objectives(columns: &[SettingColumn], n_runs: usize) -> Categories {
    divided(columns, "framework.name", &[], n_runs)
}

/// The settings: all that decides a model but its dataset and its seed. What depends on the dataset alone (more latents where there
/// are more factors, say) makes no other setting, so that settings can be followed from dataset to dataset.
pub fn settings(columns: &[SettingColumn], datasets: &Categories) -> Categories {
    let varying: Vec<&SettingColumn> =
        setting_columns_that_vary(columns).filter(|column| varies_within(column, datasets)).collect();
    divided(columns, "framework.name", &varying, datasets.of_runs.len())
}

/// The columns that decide a model, apart from dataset and seed, and differ between runs.
pub fn setting_columns_that_vary(columns: &[SettingColumn]) -> impl Iterator<Item = &SettingColumn> {
    columns.iter().filter(|column| {
        let name = column.name.as_str();
        let is_of_model = !is_measuring(name) && !name.starts_with("log.") && !NOT_OF_THE_MODEL.contains(&name);
        is_of_model && !is_of_dataset(name) && column.varies()
    })
}

fn varies_within(column: &SettingColumn, datasets: &Categories) -> bool {
    let places = column.places();
    (0..datasets.len()).any(|dataset| {
        let runs = datasets.runs_of(dataset);
        runs.windows(2).any(|pair| places[pair[0]] != places[pair[1]])
    })
}

/// Runs divided by the column called `first` and then by all others, and named by their values.
fn divided(columns: &[SettingColumn], first: &str, others: &[&SettingColumn], n_runs: usize) -> Categories {
    let first = columns.iter().find(|column| column.name == first);
    let others: Vec<&SettingColumn> = others
        .iter()
        .copied()
        .filter(|column| Some(column.name.as_str()) != first.map(|first| first.name.as_str()))
        .collect();
    let all: Vec<&SettingColumn> = first.into_iter().chain(others.iter().copied()).collect();
    let places: Vec<Vec<usize>> = all.iter().map(|column| column.places()).collect();
    let key = |run: usize| places.iter().map(|column| column[run]).collect::<Vec<usize>>();
    let mut numbers: BTreeMap<Vec<usize>, usize> = (0..n_runs).map(|run| (key(run), run)).collect();
    // What is the same in all runs of that name goes without saying, whatever other names have.
    let told_of = |run: usize| -> Vec<&SettingColumn> {
        let has_same_name = |other: &usize| first.is_none() || places[0][*other] == places[0][run];
        let same_name: Vec<usize> = (0..n_runs).filter(has_same_name).collect();
        let varies = |of_column: &[usize]| same_name.iter().any(|&other| of_column[other] != of_column[run]);
        let of_others = &places[places.len() - others.len()..];
        others.iter().zip(of_others).filter(|(_, places)| varies(places)).map(|(column, _)| *column).collect()
    };
    let labels = all_different(numbers.values().map(|&run| label(first, &told_of(run), &others, run)).collect());
    numbers.values_mut().enumerate().for_each(|(position, number)| *number = position);
    let of_runs = (0..n_runs).map(|run| numbers[&key(run)]).collect();
    Categories { labels, of_runs }
}

/// `beta_vae beta=4`: the columns that are told, called so that they are told from all others.
fn label(first: Option<&SettingColumn>, told: &[&SettingColumn], others: &[&SettingColumn], run: usize) -> String {
    let first = first.and_then(|column| column.text(run));
    let told = told.iter().filter_map(|column| {
        let text = column.text(run)?;
        let is_long = text.chars().count() > MOST_LETTERS;
        let text = if is_long { text.chars().take(MOST_LETTERS).chain(['…']).collect() } else { text };
        Some(format!("{}={text}", short_name(column, others)))
    });
    first.into_iter().chain(told).collect::<Vec<_>>().join(" ")
}

/// Labels that were cut to the same text are numbered.
fn all_different(labels: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for label in labels {
        let numbered = (2..).map(|number| format!("{label} ({number})"));
        let free = std::iter::once(label.clone()).chain(numbered).find(|label| !found.contains(label));
        found.push(free.expect("numbers do not end"));
    }
    found
}

/// What stands after the section, where that tells the column from all others.
fn short_name<'a>(column: &'a SettingColumn, all: &[&SettingColumn]) -> &'a str {
    let short = within_section(&column.name);
    let is_alone = all.iter().filter(|other| within_section(&other.name) == short).count() == 1;
    if is_alone && short != "name" { short } else { &column.name }
}

fn within_section(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::columns::setting_columns;

    fn columns(configs: &[&str]) -> Vec<SettingColumn> {
        let configs: Vec<Table> = configs.iter().map(|text| text.parse().unwrap()).collect();
        setting_columns(configs.iter())
    }

    #[test]
    fn settings_are_named_by_what_differs_and_ordered_by_number() {
        let config = |beta: &str, seed: usize| {
            format!(
                "seed = {seed}\nrows = {seed}\nlog.tensorboard = {}\ndataset.name = 'a'\nframework.name = 'beta_vae'\nframework.beta = {beta}",
                seed == 1
            )
        };
        let configs = [config("16.0", 1), config("4.0", 1), config("16.0", 2)];
        let columns = columns(&configs.each_ref().map(String::as_str));
        let found = settings(&columns, &datasets(&columns, 3));
        assert_eq!(found.labels, ["beta_vae beta=4", "beta_vae beta=16"]);
        assert_eq!(found.of_runs, [1, 0, 1]);
        assert_eq!((found.runs_of(1), found.among(&[0, 2])), (vec![0, 2], vec![1]));
    }

    #[test]
    fn of_a_schedule_what_differs_is_told() {
        let config = |to: &str| {
            format!(
                "dataset.name = 'a'\nframework = {{ name = 'b', capacity = {{ from = 0.0, to = {to}, steps = 9 }} }}"
            )
        };
        let configs = [config("25.0"), config("5.0")];
        let columns = columns(&configs.each_ref().map(String::as_str));
        let found = settings(&columns, &datasets(&columns, 2));
        assert_eq!(
            (found.labels, found.of_runs),
            (vec!["b capacity.to=5".to_string(), "b capacity.to=25".into()], vec![1, 0])
        );
    }

    #[test]
    fn what_follows_from_the_dataset_is_no_other_setting() {
        let config = |dataset: &str, latents: usize| {
            format!("seed = 1\ndataset.name = '{dataset}'\nframework.name = 'vae'\nmodel.latents = {latents}")
        };
        let configs = [config("a", 5), config("b", 7)];
        let apart = columns(&configs.each_ref().map(String::as_str));
        assert_eq!(settings(&apart, &datasets(&apart, 2)).labels, ["vae"]);
        let configs = [config("a", 5), config("b", 7), config("b", 5)];
        let within = columns(&configs.each_ref().map(String::as_str));
        assert_eq!(settings(&within, &datasets(&within, 3)).labels, ["vae latents=5", "vae latents=7"]);
    }

    #[test]
    fn datasets_differ_in_their_settings_too() {
        let found = columns(&["dataset = { name = 'a', spacing = 1 }", "dataset = { name = 'a', spacing = 2 }"]);
        assert_eq!(datasets(&found, 2).labels, ["a spacing=1", "a spacing=2"]);
        // Where names tell them apart, nothing else is told.
        let found = columns(&["dataset = { name = 'a', spacing = 1 }", "dataset = { name = 'b', size = 32 }"]);
        assert_eq!(datasets(&found, 2).labels, ["a", "b"]);
    }

    #[test]
    fn labels_that_were_cut_stay_apart() {
        let long = "x".repeat(60);
        let configs =
            ["1", "2"].map(|end| format!("framework.name = 'a'\ndataset.name = 'd'\nmodel.b = '{long}{end}'"));
        let columns = columns(&configs.each_ref().map(String::as_str));
        let labels = settings(&columns, &datasets(&columns, 2)).labels;
        assert!(labels[1].ends_with("… (2)") && labels[0].ends_with('…'), "{labels:?}");
    }
}
