//! The settings of many runs as columns: a dotted key for each, with numbers, truths or text below.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// One setting in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingColumn {
    /// The dotted key, for instance `framework.beta`.
    pub name: String,
    /// A value for each run; none where its config does not have the key.
    pub values: SettingValues,
}

/// The values of a setting, of the plainest kind that holds all of them.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingValues {
    /// Whole numbers.
    Wholes(Vec<Option<i64>>),
    /// Finite numbers.
    Numbers(Vec<Option<f64>>),
    /// `true` and `false`.
    Truths(Vec<Option<bool>>),
    /// Text as it is; where kinds are mixed, and for lists, as TOML writes them.
    Texts(Vec<Option<String>>),
}

impl SettingColumn {
    /// The value in one run as text, for labels and for telling values apart.
    pub fn text(&self, run: usize) -> Option<String> {
        match &self.values {
            SettingValues::Wholes(values) => values[run].map(|value| value.to_string()),
            SettingValues::Numbers(values) => values[run].map(number_text),
            SettingValues::Truths(values) => values[run].map(|value| value.to_string()),
            SettingValues::Texts(values) => values[run].clone(),
        }
    }

    /// The place of each run's value among the distinct values in rising order; 0 where there is none. `[runs]`
    pub fn places(&self) -> Vec<usize> {
        match &self.values {
            SettingValues::Wholes(values) => places(values, Ord::cmp),
            SettingValues::Numbers(values) => places(values, f64::total_cmp),
            SettingValues::Truths(values) => places(values, Ord::cmp),
            SettingValues::Texts(values) => places(values, Ord::cmp),
        }
    }

    /// Whether any two runs differ in it.
    pub fn varies(&self) -> bool {
        self.places().windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// The number in as few digits as tell it from all others; very large and very small ones as a power of ten.
fn number_text(value: f64) -> String {
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) { format!("{value}") } else { format!("{value:e}") }
}

fn places<T: Clone>(values: &[Option<T>], order: impl Fn(&T, &T) -> std::cmp::Ordering) -> Vec<usize> {
    let mut distinct: Vec<T> = values.iter().flatten().cloned().collect();
    distinct.sort_by(&order);
    distinct.dedup_by(|a, b| order(a, b).is_eq());
    let place = |value: &T| distinct.partition_point(|one| order(one, value).is_lt()) + 1;
    values.iter().map(|value| value.as_ref().map_or(0, place)).collect()
}

/// The settings of all configs, in the order of their keys.
pub fn setting_columns<'a>(configs: impl ExactSizeIterator<Item = &'a Table>) -> Vec<SettingColumn> {
    let n_runs = configs.len();
    let mut columns: BTreeMap<String, Vec<Option<Value>>> = BTreeMap::new();
    for (run, config) in configs.enumerate() {
        for (key, value) in flattened(config) {
            columns.entry(key).or_insert_with(|| vec![None; n_runs])[run] = Some(value);
        }
    }
    columns.into_iter().map(|(name, values)| SettingColumn { name, values: plainest(&values) }).collect()
}

/// `framework.beta`, and of a schedule `framework.beta.from` and so on; a list of tables with names, such as `[[metrics]]`, is a section for each:
/// `metrics.mig.bins`.
fn flattened(config: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (key, value) in config {
        match value {
            Value::Table(section) => add_section(key, section, &mut found),
            Value::Array(entries) if !entries.is_empty() && entries.iter().all(|entry| name_of(entry).is_some()) => {
                for entry in entries {
                    if let (Value::Table(section), Some(name)) = (entry, name_of(entry)) {
                        add_section(&format!("{key}.{name}"), section, &mut found);
                    }
                }
            }
            other => found.push((key.clone(), other.clone())),
        }
    }
    found
}

fn add_section(prefix: &str, section: &Table, found: &mut Vec<(String, Value)>) {
    for (key, value) in section {
        let path = format!("{prefix}.{key}");
        match value {
            Value::Table(within) => add_section(&path, within, found),
            value => found.push((path, value.clone())),
        }
    }
}

fn name_of(entry: &Value) -> Option<&str> {
    entry.get("name")?.as_str()
}

/// The values as the plainest kind that holds all of them.
fn plainest(values: &[Option<Value>]) -> SettingValues {
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(is);
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    if all(Value::is_integer) {
        SettingValues::Wholes(values.iter().map(|value| value.as_ref().and_then(Value::as_integer)).collect())
    } else if all(|value| value.is_integer() || value.as_float().is_some_and(f64::is_finite)) {
        SettingValues::Numbers(values.iter().map(|value| value.as_ref().and_then(number)).collect())
    } else if all(Value::is_bool) {
        SettingValues::Truths(values.iter().map(|value| value.as_ref().and_then(Value::as_bool)).collect())
    } else {
        SettingValues::Texts(values.iter().map(|value| value.as_ref().map(text_of)).collect())
    }
}

/// Text as it is, all else on one line of TOML.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(configs: &[&str]) -> Vec<SettingColumn> {
        let configs: Vec<Table> = configs.iter().map(|text| text.parse().unwrap()).collect();
        setting_columns(configs.iter())
    }

    #[test]
    fn sections_and_schedules_become_dotted_keys() {
        let found = columns(&[
            "seed = 1\n[framework]\nbeta = { from = 0.0, to = 4.0 }\nname = 'beta_vae'\n[[metrics]]\nname = 'mig'\nbins = 20",
            "seed = 2\n[framework]\nbeta = 4\nname = 'beta_vae'\n[model]\nencoder = [1, 2]",
        ]);
        let names: Vec<&str> = found.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "framework.beta",
                "framework.beta.from",
                "framework.beta.to",
                "framework.name",
                "metrics.mig.bins",
                "metrics.mig.name",
                "model.encoder",
                "seed"
            ]
        );
        let texts = |column: usize| [0, 1].map(|run| found[column].text(run));
        assert_eq!((texts(0), texts(2)), ([None, Some("4".to_string())], [Some("4".to_string()), None]));
        assert_eq!(found[6].text(1).as_deref(), Some("[1, 2]"));
        assert_eq!(found[4].values, SettingValues::Wholes(vec![Some(20), None]));
    }

    #[test]
    fn four_and_four_point_zero_are_one_number() {
        let found = columns(&["a = 4", "a = 4.0", "a = 10", "b = 1"]);
        assert_eq!(found[0].values, SettingValues::Numbers(vec![Some(4.0), Some(4.0), Some(10.0), None]));
        assert_eq!(found[0].places(), [1, 1, 2, 0]);
        assert_eq!(found[0].text(2).as_deref(), Some("10"));
    }

    #[test]
    fn what_is_no_finite_number_is_text() {
        let found = columns(&["a = nan\nb = true", "a = 1.0\nb = false"]);
        assert_eq!(found[0].text(0).as_deref(), Some("nan"));
        assert_eq!(found[1].values, SettingValues::Truths(vec![Some(true), Some(false)]));
        assert!(found[0].varies() && !columns(&["a = 1", "a = 1"])[0].varies());
    }
}
