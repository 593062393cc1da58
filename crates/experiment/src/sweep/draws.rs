//! Settings that are drawn at random, for grids with a `count`.

use rand::RngExt;
use toml::{Table, Value};
use unbraid_data::error::did_you_mean;
use unbraid_data::{Error, Result, Seed};

/// What a setting can be drawn from.
const NAMES: &[&str] = &["uniform", "log_uniform", "whole", "choice"];

/// What a setting is drawn from.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Any number from the first to the second, all alike.
    Uniform(f64, f64),
    /// Any number from the first to the second, whose logarithms are all alike.
    LogUniform(f64, f64),
    /// A whole number from the first to the second, both included.
    Whole(i64, i64),
    /// One of these.
    Choice(Vec<Value>),
}

/// Drawn numbers have this many digits, so that configs can be read, and more where their range is narrow.
const DIGITS: i32 = 4;
/// No number needs more digits behind the point than this.
const MOST_DECIMALS: i32 = 300;

impl Distribution {
    /// The distribution that a setting's table names; nothing where it names none.
    pub fn read(path: &str, table: &Table) -> Result<Option<Self>> {
        let mut entries = table.iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else { return Ok(None) };
        let wrong = |wanted: &str| {
            Error::new(format!("\"{path}\" is drawn from {name} = {value}"))
                .help(format!("wanted {path} = {{ {name} = {wanted} }}"))
        };
        let distribution = match name.as_str() {
            "uniform" => {
                let (from, to) = range(value).ok_or_else(|| wrong("[0.0, 1.0]"))?;
                Self::Uniform(from, to)
            }
            "log_uniform" => match range(value) {
                Some((from, to)) if from > 0.0 => Self::LogUniform(from, to),
                _ => return Err(wrong("[0.1, 10.0], two numbers above 0")),
            },
            "whole" => match value.as_array().map(Vec::as_slice) {
                Some([Value::Integer(from), Value::Integer(to)]) if from <= to => Self::Whole(*from, *to),
                _ => return Err(wrong("[1, 10]")),
            },
            "choice" => match value.as_array() {
                Some(values) if !values.is_empty() => Self::Choice(values.clone()),
                _ => return Err(wrong("[1, 2, 4]")),
            },
            _ => return Ok(None),
        };
        Ok(Some(distribution))
    }

    /// The value of one draw. It depends on the seed, the setting and the number of the draw alone, so that more draws leave the first ones as they
    /// were.
    pub fn draw(&self, seed: Seed, path: &str, number: u64) -> Value {
        let mut rng = seed.stream_at(&format!("draws of {path}"), number);
        match self {
            Self::Uniform(from, to) => Value::Float(rounded(from + (to - from) * rng.random::<f64>(), *from, *to)),
            Self::LogUniform(from, to) => {
                let (low, high) = (from.ln(), to.ln());
                Value::Float(rounded((low + (high - low) * rng.random::<f64>()).exp(), *from, *to))
            }
            Self::Whole(from, to) => Value::Integer(rng.random_range(*from..=*to)),
            Self::Choice(values) => values[rng.random_range(0..values.len())].clone(),
        }
    }
}

/// What may have been meant where a grid sets `framework.beta.uniforn`; nothing where no distribution is close.
pub fn misspelt(path: &str) -> Option<String> {
    let (setting, name) = path.rsplit_once('.')?;
    let close = did_you_mean(name, NAMES.iter().copied());
    (!close.is_empty()).then(|| format!("{setting} = {{ {name} = ... }} names no distribution{close}"))
}

fn range(value: &Value) -> Option<(f64, f64)> {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    match value.as_array()?.as_slice() {
        [from, to] => {
            Some((number(from)?, number(to)?)).filter(|(from, to)| from.is_finite() && to.is_finite() && from <= to)
        }
        _ => None,
    }
}

/// A number within its range with few digits: four, and four of the width of the range.
fn rounded(value: f64, from: f64, to: f64) -> f64 {
    let digits_before_the_point = |size: f64| if size > 0.0 { size.log10().floor() as i32 + 1 } else { 1 };
    let decimals = DIGITS - digits_before_the_point(value.abs()).min(digits_before_the_point(to - from));
    let text = if decimals > 0 {
        format!("{value:.*}", decimals.min(MOST_DECIMALS) as usize)
    } else {
        format!("{value:.*e}", DIGITS as usize - 1)
    };
    text.parse::<f64>().expect("a number that was written is one").clamp(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Distribution>> {
        Distribution::read("framework.beta", &text.parse().unwrap())
    }

    #[test]
    fn draws_stay_within_their_range_and_fill_it() {
        let draws = |text: &str| -> Vec<f64> {
            let distribution = read(text).unwrap().unwrap();
            let draw = |number| distribution.draw(Seed(1), "framework.beta", number);
            (0..2000).map(|number| draw(number).as_float().unwrap()).collect()
        };
        let uniform = draws("uniform = [2, 4.0]");
        let mean = uniform.iter().sum::<f64>() / 2000.0;
        assert!(uniform.iter().all(|value| (2.0..=4.0).contains(value)) && (mean - 3.0).abs() < 0.05, "{mean}");
        // Half of the logarithms lie below the middle, which is the root of 0.01 times 100.
        let log_uniform = draws("log_uniform = [0.01, 100]");
        let n_below = log_uniform.iter().filter(|value| **value < 1.0).count();
        assert!(
            log_uniform.iter().all(|value| (0.01..=100.0).contains(value)) && n_below.abs_diff(1000) < 90,
            "{n_below}"
        );
    }

    #[test]
    fn whole_numbers_and_choices_take_every_value() {
        for (text, n_values) in [("whole = [3, 5]", 3), ("choice = ['a', 'b']", 2)] {
            let distribution = read(text).unwrap().unwrap();
            let mut values: Vec<String> =
                (0..100).map(|number| distribution.draw(Seed(1), "model.latents", number).to_string()).collect();
            values.sort();
            values.dedup();
            assert_eq!(values.len(), n_values, "{values:?}");
        }
    }

    #[test]
    fn a_schedule_is_no_distribution_and_mistakes_are_told() {
        assert_eq!(read("from = 0.0\nto = 4.0\nsteps = 10").unwrap(), None);
        assert_eq!(read("start = 1").unwrap(), None);
        for text in ["uniform = 3", "log_uniform = [0.0, 1.0]", "whole = [0.5, 2]", "choice = []", "uniform = [4, 2]"] {
            let message = read(text).unwrap_err().to_string();
            assert!(
                message.starts_with("\"framework.beta\" is drawn from ") && message.contains("wanted"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_misspelt_distribution_is_offered() {
        let expected = "framework.beta = { uniforn = ... } names no distribution; did you mean \"uniform\"?";
        assert_eq!(misspelt("framework.beta.uniforn").as_deref(), Some(expected));
        assert_eq!(["framework.beta.from", "uniforn"].map(misspelt), [None, None]);
    }

    #[test]
    fn drawn_numbers_have_four_digits_and_more_in_narrow_ranges() {
        let of_wide = |value: f64| rounded(value, 0.0, 1e6);
        assert_eq!([0.123456, 1234.56, 2.00049e-7, 123_456.7].map(of_wide), [0.1235, 1235.0, 2e-7, 123_500.0]);
        assert_eq!(rounded(0.999987654, 0.999, 0.99999), 0.9999877);
        assert_eq!(rounded(1.0000123456, 1.00001, 1.00003), 1.00001235);
        assert_eq!((rounded(0.99999499, 0.5, 0.999995), rounded(3.0, 3.0, 3.0)), (0.999995, 3.0));
    }
}
