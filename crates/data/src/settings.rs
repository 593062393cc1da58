//! Settings in a table (of a config, of `--set`) to a settings struct and back.
//!
//! A settings struct derives `Serialize` and `Deserialize` with `#[serde(default)]`, and its `Default` is the published
//! setting. From the default follow the keys that are accepted and the full table that a run writes back.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

use crate::error::{Error, Result, did_you_mean};

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
    serde_path_to_error::deserialize(table.clone())
        .map_err(|error| Error::new(format!("setting \"{}\": {}", error.path(), one_line(error.inner()))))
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

/// The message on one line, with what was wanted in the words of a config rather than of Rust.
fn one_line(error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ").replace('`', "");
    ["u64", "u32", "usize"]
        .iter()
        .fold(message, |text, whole| text.replace(&format!("expected {whole}"), "wanted a whole number of 0 or more"))
        .replace("expected f64", "wanted a number")
        .replace("expected a boolean", "wanted true or false")
        .replace("invalid type: ", "found ")
        .replace("invalid value: ", "found ")
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
    }

    impl Default for Sample {
        fn default() -> Self {
            Self { steps: 5, note: None }
        }
    }

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_left_out_takes_its_default() {
        assert_eq!(read::<Sample>(&table("note = 'a'")).unwrap(), Sample { steps: 5, note: Some("a".into()) });
        assert_eq!(complete::<Sample>(&table("")).unwrap(), table("steps = 5"));
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_offers_the_right_one() {
        let message = read::<Sample>(&table("step = 3")).unwrap_err().to_string();
        assert_eq!(message, "has no setting \"step\"; did you mean \"steps\"?\n       it has steps, note");
    }

    #[test]
    fn a_wrong_type_names_the_setting() {
        let message = read::<Sample>(&table("steps = 'many'")).unwrap_err().to_string();
        assert_eq!(message, "setting \"steps\": found string \"many\", wanted a whole number of 0 or more");
        let message = read::<Sample>(&table("steps = -1")).unwrap_err().to_string();
        assert_eq!(message, "setting \"steps\": found integer -1, wanted a whole number of 0 or more");
    }
}
