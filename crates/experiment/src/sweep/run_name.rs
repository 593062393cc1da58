//! The name of a run's folder in a sweep: what it is of, for people, and a number that follows from all that decides it.
//!
//! Settings at their defaults take no part in the number: a setting that a later version adds, with a default that changes nothing, leaves names
//! as they are. The metrics do, since a run with others has other scores.

use md5::{Digest, Md5};
use toml::{Table, Value};
use unbraid_data::{datasets, samplers};
use unbraid_learn::{frameworks, networks, optimisers};

use crate::config::{Config, Named};

/// Letters of the number: with 48 bits, ten thousand runs share one with a chance of one in five million, and a folder with another config is
/// refused.
const N_DIGITS: usize = 12;

/// The name of the folder of a config's run: `dsprites-beta_vae-s1-0f3a...`.
pub fn run_name(config: &Config) -> String {
    let deciding = toml::to_string(&deciding(config)).expect("a table of numbers, strings and tables is TOML");
    let digest: String = Md5::digest(deciding.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-s{}-{}", config.dataset.name, config.framework.name, config.seed, &digest[..N_DIGITS])
}

/// All that decides a run, without what is at its default.
fn deciding(config: &Config) -> Table {
    let mut table = config.to_table();
    // What is written for other programs decides nothing.
    table.remove("log");
    let sections: [(&str, &Named, &Complete); 5] = [
        ("dataset", &config.dataset, &datasets::complete),
        ("sampler", &config.sampler, &samplers::complete),
        ("framework", &config.framework, &frameworks::complete),
        ("model", &config.model, &networks::complete),
        ("optimiser", &config.optimiser, &optimisers::complete),
    ];
    for (key, named, complete) in sections {
        table.insert(key.to_string(), Value::Table(without_defaults(named, complete)));
    }
    let metrics = config.metrics.iter().map(|named| Value::Table(without_defaults(named, &unbraid_metrics::complete)));
    table.insert("metrics".to_string(), Value::Array(metrics.collect()));
    table
}

/// Fills in the settings of what is called so.
type Complete = dyn Fn(&str, &Table) -> unbraid_data::Result<Table>;

fn without_defaults(named: &Named, complete: &Complete) -> Table {
    let mut table = named.to_table();
    // What cannot be completed from nothing, a dataset that needs a path, keeps all it has.
    if let Ok(defaults) = complete(&named.name, &Table::new()) {
        table.retain(|key, value| key == "name" || defaults.get(key) != Some(value));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'beta_vae'\n";

    fn name(changes: &[&str]) -> String {
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        run_name(&Config::parse(SMALL, &changes).unwrap())
    }

    #[test]
    fn a_default_that_is_named_changes_nothing_and_anything_else_does() {
        assert!(name(&[]).starts_with("xy_squares-beta_vae-s1-"));
        assert_eq!(
            name(&[]),
            name(&["framework.beta=4.0", "seed=1", "dataset.spacing=8", "model.name=conv64", "log.tensorboard=true"])
        );
        let changes = ["framework.beta=4.5", "seed=2", "dataset.spacing=7", "training.steps=3", "rows=4", "metrics=[]"];
        let mut names: Vec<String> = changes.iter().map(|change| name(&[change])).collect();
        names.push(name(&[]));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), changes.len() + 1);
    }

    #[test]
    fn settings_of_a_later_version_leave_names_as_they_are() {
        let config =
            Config::parse(SMALL, &["framework.beta=4.5".to_string(), "metrics=[{name='mig'}]".into()]).unwrap();
        let table = deciding(&config);
        assert_eq!(table["framework"].to_string(), "{ beta = 4.5, name = \"beta_vae\" }");
        assert_eq!(table["metrics"].to_string(), "[{ name = \"mig\" }]");
        // Taken down when it was first made: another would lose every sweep that was begun before.
        assert_eq!(run_name(&config), "xy_squares-beta_vae-s1-e482b56cc8c7");
    }
}
