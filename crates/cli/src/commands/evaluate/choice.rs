//! Which metrics are scored, and with which settings.

use toml::{Table, Value};
use unbraid_data::error::unknown_name;
use unbraid_data::{Error, Result};
use unbraid_experiment::Named;
use unbraid_experiment::config::{apply_override, checked_metrics};
use unbraid_metrics::METRICS;

/// The metrics that the user names (those of the run where `names` is absent), with the settings that the run gives them
/// and the user's changes (`mig.bins=10`) over these.
pub fn chosen_metrics(names: Option<&str>, changes: &[String], of_run: &[Named]) -> Result<Vec<Named>> {
    let mut metrics: Vec<Named> = match names {
        None => of_run.to_vec(),
        Some("all") => METRICS.iter().map(|entry| as_in_run(entry.name, of_run)).collect(),
        Some(names) => names.split(',').map(|name| as_in_run(name.trim(), of_run)).collect(),
    };
    let mut settings = Table::new();
    const EXAMPLE: &str = "wanted METRIC.SETTING=VALUE, for instance mig.bins=10";
    for change in changes {
        if !change.contains('=') {
            return Err(Error::new(format!("--set \"{change}\" has no =")).help(EXAMPLE));
        }
        apply_override(&mut settings, change)?;
    }
    for (name, changed) in settings {
        let Value::Table(changed) = changed else {
            return Err(Error::new(format!("--set {name}={changed} names no metric")).help(EXAMPLE));
        };
        metrics
            .iter_mut()
            .find(|metric| metric.name == name)
            .ok_or_else(|| not_scored(&name))?
            .settings
            .extend(changed);
    }
    checked_metrics(metrics)
}

/// The error for a metric that is changed and not scored.
fn not_scored(name: &str) -> Error {
    if METRICS.iter().any(|entry| entry.name == name) {
        return Error::new(format!("--set changes metric \"{name}\", which is not scored"))
            .help("name it among `--metrics`");
    }
    unknown_name("metric", name, METRICS.iter().map(|entry| entry.name))
}

/// The metric called `name`, with the settings that the run gives it where it does.
fn as_in_run(name: &str, of_run: &[Named]) -> Named {
    of_run.iter().find(|metric| metric.name == name).cloned().unwrap_or_else(|| with_defaults(name))
}

/// All metrics, each with its defaults.
pub fn all_metrics() -> Vec<Named> {
    METRICS.iter().map(|entry| with_defaults(entry.name)).collect()
}

fn with_defaults(name: &str) -> Named {
    Named { name: name.to_string(), settings: Table::new() }
}
