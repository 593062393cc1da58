//! A hyper-parameter that may change with the step.

use serde::{Deserialize, Serialize};
use toml::Value;
use unbraid_data::{Error, Result, settings};

/// A number for each step: constant, or moving from one value to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum Schedule {
    /// The same at every step.
    Constant(f64),
    /// Moves from one value to another.
    Change(Change),
}

/// From one value to another over some steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// The value at `start`.
    pub from: f64,
    /// The value that is reached.
    pub to: f64,
    /// How many steps the way takes (one period, where cyclic).
    pub steps: u64,
    /// The step at which the way begins.
    pub start: u64,
    /// How the way is shaped.
    pub shape: Shape,
}

/// The shape of the way from one value to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A straight line, then constant.
    #[default]
    Linear,
    /// Half a cosine wave, then constant.
    Cosine,
    /// A straight line, begun anew every `steps` steps (Fu et al. 2019).
    Cyclic,
}

impl Default for Change {
    /// Nothing moves; a config has to say from where, to where and how long.
    fn default() -> Self {
        Self { from: 0.0, to: 0.0, steps: 0, start: 0, shape: Shape::default() }
    }
}

impl TryFrom<Value> for Schedule {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self> {
        match value {
            Value::Float(number) => Ok(Schedule::Constant(number)),
            Value::Integer(number) => Ok(Schedule::Constant(number as f64)),
            Value::Table(table) => {
                let change = settings::read(&table).map_err(|error| error.of("a schedule"))?;
                match ["from", "to", "steps"].into_iter().find(|key| !table.contains_key(*key)) {
                    None => Ok(Schedule::Change(change)),
                    Some(key) => Err(Error::new(format!("the schedule has no \"{key}\"")).help(LIKE)),
                }
            }
            other => Err(Error::new(format!("found {other}, wanted a number or a schedule")).help(LIKE)),
        }
    }
}

const LIKE: &str = "a schedule is like { from = 0.0, to = 4.0, steps = 10_000, shape = \"linear\" }";

impl Schedule {
    /// The value at a step (counted from 0).
    pub fn at(&self, step: u64) -> f64 {
        match self {
            Schedule::Constant(value) => *value,
            Schedule::Change(change) => change.from + (change.to - change.from) * change.progress(step),
        }
    }

    /// The least value of all steps.
    pub fn least(&self) -> f64 {
        match self {
            Schedule::Constant(value) => *value,
            Schedule::Change(change) => change.from.min(change.to),
        }
    }

    /// Refuses values outside `least..=most`, and ways of no steps.
    pub fn check(&self, name: &str, least: f64, most: f64) -> Result<()> {
        let values = match self {
            Schedule::Constant(value) => vec![*value],
            Schedule::Change(change) => vec![change.from, change.to],
        };
        if let Schedule::Change(Change { steps: 0, .. }) = self {
            return Err(Error::new(format!("setting \"{name}\": a schedule over 0 steps"))
                .help("give it at least 1 step, or a number in place of the table"));
        }
        match values.iter().find(|value| !(least..=most).contains(*value)) {
            Some(value) => Err(Error::new(format!("setting \"{name}\" is {value}")).help(range(least, most))),
            None => Ok(()),
        }
    }
}

fn range(least: f64, most: f64) -> String {
    if most == f64::MAX { format!("wanted {least} or more") } else { format!("wanted {least} to {most}") }
}

impl Change {
    /// How far along the way a step is, 0 to 1.
    fn progress(&self, step: u64) -> f64 {
        let done = step.saturating_sub(self.start);
        let share = (done as f64 / self.steps as f64).min(1.0);
        match self.shape {
            Shape::Linear => share,
            Shape::Cosine => (1.0 - (share * std::f64::consts::PI).cos()) / 2.0,
            Shape::Cyclic => (done % self.steps) as f64 / self.steps as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(shape: Shape) -> Schedule {
        Schedule::Change(Change { from: 1.0, to: 5.0, steps: 4, start: 10, shape })
    }

    #[test]
    fn linear_goes_straight_and_stays() {
        let values: Vec<f64> = [0, 10, 11, 14, 99].map(|step| change(Shape::Linear).at(step)).into();
        assert_eq!(values, [1.0, 1.0, 2.0, 5.0, 5.0]);
    }

    #[test]
    fn cosine_is_slow_at_both_ends() {
        // (1 - cos(pi/4)) / 2 = 0.1464466
        let value = change(Shape::Cosine).at(11);
        assert!((value - (1.0 + 4.0 * 0.146_446_609_406_726_24)).abs() < 1e-12, "{value}");
        assert!((change(Shape::Cosine).at(12) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn cyclic_begins_anew() {
        let values: Vec<f64> = [10, 13, 14, 15].map(|step| change(Shape::Cyclic).at(step)).into();
        assert_eq!(values, [1.0, 4.0, 1.0, 2.0]);
    }

    #[test]
    fn a_number_or_a_table_is_read_and_anything_else_explained() {
        #[derive(Debug, Deserialize)]
        struct Holder {
            beta: Schedule,
        }
        let read = |text: &str| toml::from_str::<Holder>(text).map(|holder| holder.beta);
        assert_eq!(read("beta = 4").unwrap(), Schedule::Constant(4.0));
        assert_eq!(read("beta = { from = 0, to = 8, steps = 2 }").unwrap().at(1), 4.0);
        let message = |text: &str| read(text).unwrap_err().message().to_string();
        assert!(message("beta = 'x'").starts_with("found \"x\", wanted a number or a schedule"));
        assert!(
            message("beta = { from = 0, too = 1, steps = 3 }").contains("has no setting \"too\"; did you mean \"to\"?")
        );
        assert!(message("beta = { from = 0, to = 1, steps = -3 }").contains("setting \"steps\": found integer -3"));
        assert!(
            message("beta = { from = 0, to = 1, steps = 3, shape = 'liner' }").contains("did you mean \"linear\"?")
        );
        assert!(message("beta = { from = 0, to = 1 }").starts_with("the schedule has no \"steps\""));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let message = Schedule::Constant(-1.0).check("beta", 0.0, f64::MAX).unwrap_err().to_string();
        assert_eq!(message, "setting \"beta\" is -1\n       wanted 0 or more");
        assert!(Schedule::Constant(f64::NAN).check("beta", 0.0, f64::MAX).is_err());
    }
}
