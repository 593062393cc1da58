//! What decided a run's training, which a checkpoint keeps; and what may change from one session of a run to the next.

use toml::{Table, Value};
use unbraid_data::error::did_you_mean;
use unbraid_data::words::listed;
use unbraid_data::{Error, Result};

use crate::config::{Config, KEYS, parse_toml, render_dsprites};

/// How long the training goes on, what is encoded, measured and logged may change; what decides a training step may not. Files
/// may lie elsewhere: of images a fingerprint is kept, and of a run that gives features the weights and of a loss its kernel are in the
/// checkpoint; all must be the same.
const MAY_CHANGE: &[&str] = &[
    "training.steps",
    "training.checkpoint_every",
    "selection.checkpoint",
    "rows",
    "rows_seed",
    "metrics",
    "log.tensorboard",
    "dataset.path",
    "dataset.csv",
    "framework.features",
    "framework.reconstruction.features",
    "framework.perceived.features",
    "framework.reconstruction.path",
    "framework.perceived.path",
];

impl Config {
    /// The part of the config that decides each training step, as TOML.
    pub fn origin(&self) -> String {
        toml::to_string(&deciding(self.to_table())).expect("a table of numbers, strings and tables is TOML")
    }

    /// Refuses to go on with a checkpoint that was trained with another config. Settings that its version did not have count
    /// with their defaults.
    pub fn check_origin(&self, origin: &str) -> Result<()> {
        let then = parse_toml(origin).and_then(|mut table| {
            render_dsprites(&mut table);
            Self::from_table(deciding(table))
        });
        let other = then.map_err(|error| {
            error
                .at("the checkpoint was trained with a config that this version does not know")
                .help("it was made by another version of unbraid: go on with that one")
        })?;
        let (own, other) = (deciding(self.to_table()), deciding(other.to_table()));
        match KEYS.iter().find_map(|key| difference(key, own.get(*key), other.get(*key))) {
            None => Ok(()),
            Some((key, now, then)) => Err(Error::new(format!(
                "\"{key}\" is not what the checkpoint was trained with: it is {now}, and was {then}"
            ))
            .help(only_these())),
        }
    }
}

/// Refuses changes (`framework.beta=8`) of what may not change in a run.
pub fn check_changes(changes: &[String]) -> Result<()> {
    let key = |change: &String| change.split('=').next().unwrap_or_default().trim().to_string();
    match changes.iter().map(key).find(|key| !MAY_CHANGE.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) if !close_to(&key).is_empty() => {
            let close = close_to(&key);
            Err(Error::new(format!("--set {key}: a run cannot change that{close}")).help(only_these()))
        }
        Some(key) => Err(Error::new(format!("--set {key}: a run goes on with the \"{key}\" that it was started with"))
            .help(format!("{}; `unbraid train` starts a new run", only_these()))),
    }
}

fn only_these() -> String {
    format!("only {} may change in a run", listed(MAY_CHANGE))
}

/// `; did you mean "x"?` where `key` may be a misspelt one of those that may change. Keys of one section are alike without that.
fn close_to(key: &str) -> String {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_string();
    let is_close = |path: &&&str| !did_you_mean(&last(key), [last(path).as_str()]).is_empty();
    did_you_mean(key, MAY_CHANGE.iter().filter(is_close).copied())
}

/// The table without what may change.
fn deciding(mut table: Table) -> Table {
    for path in MAY_CHANGE {
        let (sections, key) = path.rsplit_once('.').map_or((None, *path), |(sections, key)| (Some(sections), key));
        let mut section = sections.iter().flat_map(|sections| sections.split('.'));
        let section = section.try_fold(&mut table, |table, name| table.get_mut(name)?.as_table_mut());
        section.and_then(|section| section.remove(key));
    }
    // A section of which all may change decides nothing.
    table.retain(|_, value| value.as_table().is_none_or(|section| !section.is_empty()));
    table
}

/// The first setting in which two values of `key` differ, with both values.
fn difference(key: &str, own: Option<&Value>, other: Option<&Value>) -> Option<(String, String, String)> {
    if own == other {
        return None;
    }
    if let (Some(Value::Table(own)), Some(Value::Table(other))) = (own, other) {
        // The name comes first: other settings follow from it.
        let keys = std::iter::once("name").chain(own.keys().chain(other.keys()).map(String::as_str));
        return keys
            .map(|inner| (inner, own.get(inner), other.get(inner)))
            .find_map(|(inner, own, other)| difference(&format!("{key}.{inner}"), own, other));
    }
    let shown = |value: Option<&Value>| value.map_or("left out".to_string(), Value::to_string);
    Some((key.to_string(), shown(own), shown(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "seed = 7\n[dataset]\nname = 'xy_squares'\n[framework]\nname = 'beta_vae'\n";

    fn config(changes: &[&str]) -> Config {
        Config::parse(SMALL, &changes.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    /// The origin as an earlier version wrote it, without one of today's settings.
    fn origin_without(line: &str) -> String {
        let origin = config(&[]).origin();
        assert!(origin.contains(&format!("{line}\n")), "{origin}");
        origin.replace(&format!("{line}\n"), "")
    }

    #[test]
    fn a_setting_that_an_earlier_version_did_not_have_counts_with_its_default() {
        let origin = origin_without("epsilon = 0.00000001");
        config(&[]).check_origin(&origin).unwrap();
        let message = config(&["optimiser.epsilon=1e-6"]).check_origin(&origin).unwrap_err().to_string();
        assert_eq!(
            message,
            "\"optimiser.epsilon\" is not what the checkpoint was trained with: it is 0.000001, and was 0.00000001\n       \
             only training.steps, training.checkpoint_every, selection.checkpoint, rows, rows_seed, metrics, \
             log.tensorboard, dataset.path, dataset.csv, framework.features, framework.reconstruction.features, framework.perceived.features, \
             framework.reconstruction.path and framework.perceived.path may change in a run"
        );
    }

    #[test]
    fn the_first_versions_words_mean_the_same() {
        // What may change stood there as zeros and as an empty list.
        let origin = config(&[]).origin().replace("[training]\n", "[training]\nsteps = 0\ncheckpoint_every = 0\n");
        config(&["training.steps=9", "rows=20", "rows_seed=4"])
            .check_origin(&format!("metrics = []\n{origin}"))
            .unwrap();
    }

    #[test]
    fn the_folder_of_a_run_that_gives_features_may_change_and_nothing_beside_it() {
        for [name, section] in [["dfc_vae", "framework"], ["vae", "framework.reconstruction"]] {
            let perceptual = "framework.reconstruction={ name = 'perceptual' }";
            let config = |folder: &str, weight: f64| {
                let change = [format!("{section}.features={folder}"), format!("{section}.pixel_weight={weight:?}")];
                let mut changes = vec![format!("framework={{ name = '{name}' }}")];
                changes.extend((name == "vae").then(|| perceptual.to_string()));
                changes.extend(change);
                Config::parse(SMALL, &changes).unwrap()
            };
            let origin = config("runs/ae", 2.0).origin();
            assert!(!origin.contains("runs/ae"), "{origin}");
            config("elsewhere/ae", 2.0).check_origin(&origin).unwrap();
            let message = config("runs/ae", 3.0).check_origin(&origin).unwrap_err().to_string();
            assert!(message.starts_with(&format!("\"{section}.pixel_weight\" is not what")), "{message}");
        }
    }

    #[test]
    fn a_setting_that_this_version_does_not_have_is_named() {
        let origin = config(&[]).origin().replace("[framework]\n", "[framework]\ngamma = 1.0\n");
        let message = config(&[]).check_origin(&origin).unwrap_err().to_string();
        assert!(message.contains("[framework] has no setting \"gamma\""), "{message}");
        assert!(message.ends_with("it was made by another version of unbraid: go on with that one"), "{message}");
        let message = config(&[]).check_origin("curriculum = 2").unwrap_err().to_string();
        assert!(message.contains("a config has no \"curriculum\""), "{message}");
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let origin = config(&[]).origin();
        let first = |changes: &[&str]| {
            config(changes).check_origin(&origin).unwrap_err().to_string().lines().next().unwrap().to_string()
        };
        let end = "is not what the checkpoint was trained with";
        assert_eq!(first(&["seed=8"]), format!("\"seed\" {end}: it is 8, and was 7"));
        assert_eq!(first(&["framework.beta=8"]), format!("\"framework.beta\" {end}: it is 8.0, and was 4.0"));
        assert_eq!(
            first(&["framework.name=ae"]),
            format!("\"framework.name\" {end}: it is \"ae\", and was \"beta_vae\"")
        );
        assert_eq!(
            first(&["dataset.fix={ x_0 = 0 }"]),
            format!("\"dataset.fix\" {end}: it is {{ x_0 = 0 }}, and was left out")
        );
    }

    #[test]
    fn a_key_close_to_one_that_may_change_is_offered() {
        let message = check_changes(&["training.step=80".to_string()]).unwrap_err().to_string();
        assert!(message.contains("did you mean \"training.steps\"?"), "{message}");
    }

    #[test]
    fn changes_of_what_decides_the_training_are_refused() {
        let changes = |all: &[&str]| check_changes(&all.iter().map(ToString::to_string).collect::<Vec<_>>());
        changes(&["training.steps=80", "rows=5", "rows_seed=2", "training.checkpoint_every=4", "metrics=[]"]).unwrap();
        for change in ["seed=2", "framework.beta=8", "training.learning_rate=1.0", "training={ steps = 1 }", "training"]
        {
            let message = changes(&["rows=5", change]).unwrap_err().to_string();
            let key = change.split('=').next().unwrap();
            assert!(message.starts_with(&format!("--set {key}: a run goes on with the \"{key}\"")), "{message}");
        }
    }
}
