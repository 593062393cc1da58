//! Settings in a table (of a config, of `--set`) to a settings struct and back.
//!
//! A settings struct derives `Serialize` and `Deserialize` with `#[serde(default)]`, and its `Default` is the published
//! setting. From the default follow the keys that are accepted and the full table that a run writes back.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

use crate::error::{Error, Result, did_you_mean};

/// What `unbraid list KIND NAME` tells of one setting. Its default follows from the settings struct.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The key in a config.
    pub name: &'static str,
    /// What it takes.
    pub values: Values,
    /// What it does, in one line.
    pub meaning: &'static str,
}

/// What a setting takes. Bounds belong to the range, and what lies beyond them is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values {
    /// A whole number between these.
    Whole(u64, u64),
    /// A number between these.
    Number(f64, f64),
    /// A number between these, or a schedule of such numbers.
    Schedule(f64, f64),
    /// One of these names.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// Something else, in words.
    Words(&'static str),
}

impl Values {
    /// Whether the range ends nowhere: a config cannot hold a larger whole number than `i64::MAX`.
    pub fn is_open(&self) -> bool {
        match *self {
            Values::Whole(_, most) => i64::try_from(most).map_or(true, |most| most == i64::MAX),
            Values::Number(_, most) | Values::Schedule(_, most) => most == f64::MAX,
            Values::OneOf(_) | Values::Flag | Values::Words(_) => false,
        }
    }
}

impl fmt::Display for Values {
    /// `a whole number from 1 to 10000`, `0 to 1, or a schedule`, `sum or mean`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |least: f64, most: f64| match self.is_open() {
            true => format!("{} or more", short(least)),
            false => format!("{} to {}", short(least), short(most)),
        };
        match *self {
            Values::Whole(least, _) if self.is_open() => write!(formatter, "a whole number from {least}"),
            Values::Whole(least, most) => write!(formatter, "a whole number from {least} to {most}"),
            Values::Number(least, most) => write!(formatter, "{}", range(least, most)),
            Values::Schedule(least, most) => write!(formatter, "{}, or a schedule", range(least, most)),
            Values::OneOf(names) => match names.split_last() {
                Some((last, [])) => write!(formatter, "{last}"),
                Some((last, others)) => write!(formatter, "{} or {last}", others.join(", ")),
                None => Ok(()),
            },
            Values::Flag => write!(formatter, "true or false"),
            Values::Words(words) => write!(formatter, "{words}"),
        }
    }
}

/// A number as short as it can be written: `0.5`, `1e100`.
fn short(number: f64) -> String {
    if number == 0.0 || (1e-3..1e6).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

/// Reads `table` into settings; a key that the settings do not have, or a value of the wrong type, is an error. Its
/// message goes on from the place that the caller puts before it ([`Error::of`]): `[training] has no setting "step"`.
pub fn read<T: Serialize + DeserializeOwned + Default>(table: &Table) -> Result<T> {
    let keys = keys::<T>();
    for key in table.keys() {
        if !keys.contains(key) {
            let close = did_you_mean(key, keys.iter().map(String::as_str));
            let help = if keys.is_empty() { "it has none".to_string() } else { format!("it has {}", keys.join(", ")) };
            return Err(Error::new(format!("has no setting \"{key}\"{close}")).help(help));
        }
    }
    serde_path_to_error::deserialize(table.clone()).map_err(|error| explain(&error.path().to_string(), error.inner()))
}

/// The table of every setting, those left out of `table` at their defaults.
pub fn complete<T: Serialize + DeserializeOwned + Default>(table: &Table) -> Result<Table> {
    Ok(as_table(&read::<T>(table)?))
}

/// Settings as a table. A setting that is `None` is left out, as TOML has no null.
pub fn as_table<T: Serialize>(settings: &T) -> Table {
    Table::try_from(settings).expect("settings structs hold only what TOML can write")
}

/// The names of all settings of `T`, those that default to `None` included.
fn keys<T: Serialize + Default>() -> Vec<String> {
    match serde_json::to_value(T::default()) {
        Ok(serde_json::Value::Object(fields)) => fields.into_iter().map(|(key, _)| key).collect(),
        _ => Vec::new(),
    }
}

/// The error for a setting that cannot be read, in the words of a config rather than of Rust. A message of ours, which a
/// setting with its own rules gives, is kept with its help.
fn explain(setting: &str, error: &toml::de::Error) -> Error {
    let (message, help) = error.message().split_once('\n').unwrap_or((error.message(), ""));
    let error = Error::new(format!("setting \"{setting}\": {}", in_plain_words(message)));
    if help.trim().is_empty() { error } else { error.help(help.trim()) }
}

fn in_plain_words(message: &str) -> String {
    // `unknown variant `summ`, expected `sum` or `mean``: the names stand between backticks.
    if message.starts_with("unknown variant") {
        let mut names = message.split('`').skip(1).step_by(2);
        let found = names.next().unwrap_or_default();
        let choices: Vec<&str> = names.collect();
        let close = did_you_mean(found, choices.iter().copied());
        return format!("found \"{found}\", wanted one of {}{close}", choices.join(", "));
    }
    let words = [
        ("invalid type: ", "found "),
        ("invalid value: ", "found "),
        ("expected a nonzero usize", "wanted a whole number of 1 or more"),
        ("expected u64", "wanted a whole number of 0 or more"),
        ("expected usize", "wanted a whole number of 0 or more"),
        ("expected f64", "wanted a number"),
        ("expected a boolean", "wanted true or false"),
        ("expected a sequence", "wanted a list, in square brackets"),
    ];
    let is_serdes = words.iter().any(|(rust, _)| message.contains(rust));
    let message = if is_serdes { message.replace('`', "") } else { message.to_string() };
    words.iter().fold(message, |text, (rust, plain)| text.replace(rust, plain))
}

/// Refuses a setting that is not within `least..=most`.
pub fn check_range<T: PartialOrd + fmt::Display + Copy>(name: &str, value: T, least: T, most: T) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::new(format!("setting \"{name}\" is {value}")).help(format!("wanted {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Sample {
        steps: u64,
        note: Option<String>,
        reduction: Reduction,
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Reduction {
        #[default]
        Sum,
        Mean,
    }

    impl Default for Sample {
        fn default() -> Self {
            Self { steps: 5, note: None, reduction: Reduction::Sum }
        }
    }

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_left_out_takes_its_default() {
        assert_eq!(
            read::<Sample>(&table("note = 'a'")).unwrap(),
            Sample { note: Some("a".into()), ..Sample::default() }
        );
        assert_eq!(complete::<Sample>(&table("")).unwrap(), table("steps = 5\nreduction = 'sum'"));
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_offers_the_right_one() {
        let message = read::<Sample>(&table("step = 3")).unwrap_err().to_string();
        assert_eq!(message, "has no setting \"step\"; did you mean \"steps\"?\n       it has steps, note, reduction");
    }

    #[test]
    fn what_a_setting_takes_is_told_in_words() {
        let shown = [
            (Values::Whole(1, 20), "a whole number from 1 to 20"),
            (Values::Whole(0, u64::MAX), "a whole number from 0"),
            (Values::Number(1e-100, 0.5), "1e-100 to 0.5"),
            (Values::Number(0.0, f64::MAX), "0 or more"),
            (Values::Schedule(0.0, 1e9), "0 to 1e9, or a schedule"),
            (Values::OneOf(&["sum", "mean", "none"]), "sum, mean or none"),
            (Values::Flag, "true or false"),
            (Values::Words("a list"), "a list"),
        ];
        for (values, text) in shown {
            assert_eq!(values.to_string(), text);
        }
    }

    #[test]
    fn a_wrong_type_names_the_setting() {
        let message = read::<Sample>(&table("steps = 'many'")).unwrap_err().to_string();
        assert_eq!(message, "setting \"steps\": found string \"many\", wanted a whole number of 0 or more");
        let message = read::<Sample>(&table("reduction = 'summ'")).unwrap_err().to_string();
        assert_eq!(message, "setting \"reduction\": found \"summ\", wanted one of sum, mean; did you mean \"sum\"?");
        let message = read::<Sample>(&table("steps = -1")).unwrap_err().to_string();
        assert_eq!(message, "setting \"steps\": found integer -1, wanted a whole number of 0 or more");
    }
}
