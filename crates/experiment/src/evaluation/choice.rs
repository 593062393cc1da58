//! Which metrics are scored, with which settings and seed.

use toml::{Table, Value};
use unbraid_data::error::unknown_name;
use unbraid_data::{Error, Result};
use unbraid_metrics::METRICS;

use super::Input;
use crate::config::{Named, apply_override, checked_metrics};

/// What a change of a setting looks like.
const EXAMPLE: &str = "wanted METRIC.SETTING=VALUE, for instance mig.bins=10";

/// Which metrics are scored and how. By default those of each input, as they are, with the input's seed.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Which metrics.
    pub metrics: Which,
    /// Changes of their settings, `mig.bins=10`, over those that a run's config gives them.
    pub changes: Vec<String>,
    /// The seed of metrics that draw at random; the input's where absent.
    pub seed: Option<u64>,
}

/// Which metrics are scored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Which {
    /// Those of the run's config; all where the input is no run.
    #[default]
    OfInput,
    /// Every metric there is.
    All,
    /// These, by name.
    Named(Vec<String>),
}

impl Which {
    /// The metrics with these names.
    pub fn named<Name: AsRef<str>>(names: impl IntoIterator<Item = Name>) -> Self {
        Self::Named(names.into_iter().map(|name| name.as_ref().trim().to_string()).collect())
    }
}

impl Choice {
    /// The metrics that score this input, with every setting filled in.
    pub fn metrics_of(&self, input: &Input) -> Result<Vec<Named>> {
        let mut metrics: Vec<Named> = match &self.metrics {
            Which::OfInput => input.metrics.clone(),
            Which::All => METRICS.iter().map(|entry| as_in_run(entry.name, &input.metrics)).collect(),
            Which::Named(names) => names.iter().map(|name| as_in_run(name, &input.metrics)).collect(),
        };
        for (name, changed) in changed_settings(&self.changes)? {
            let metric = metrics.iter_mut().find(|metric| metric.name == name).ok_or_else(|| not_scored(&name))?;
            metric.settings.extend(changed);
        }
        checked_metrics(metrics)
    }
}

/// For each metric that is changed its settings.
fn changed_settings(changes: &[String]) -> Result<Vec<(String, Table)>> {
    let mut settings = Table::new();
    for change in changes {
        if !change.contains('=') {
            return Err(Error::new(format!("the change \"{change}\" has no =")).help(EXAMPLE));
        }
        apply_override(&mut settings, change)?;
    }
    let of_metric = |(name, changed): (String, Value)| match changed {
        Value::Table(changed) => Ok((name, changed)),
        value => Err(Error::new(format!("the change {name}={value} names no metric")).help(EXAMPLE)),
    };
    settings.into_iter().map(of_metric).collect()
}

/// The error for a metric that is changed and not scored.
fn not_scored(name: &str) -> Error {
    if METRICS.iter().any(|entry| entry.name == name) {
        return Error::new(format!("a setting of metric \"{name}\" is changed, which is not scored"))
            .help("name it among the metrics");
    }
    unknown_name("metric", name, METRICS.iter().map(|entry| entry.name))
}

/// The metric called `name`, with the settings that the run gives it where it does.
fn as_in_run(name: &str, of_run: &[Named]) -> Named {
    of_run.iter().find(|metric| metric.name == name).cloned().unwrap_or_else(|| with_defaults(name))
}

/// All metrics, each with its defaults.
pub(super) fn all_metrics() -> Vec<Named> {
    METRICS.iter().map(|entry| with_defaults(entry.name)).collect()
}

fn with_defaults(name: &str) -> Named {
    Named { name: name.to_string(), settings: Table::new() }
}
