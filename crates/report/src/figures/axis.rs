//! Axes: where a value lies between two pixels, and which round numbers are marked.

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Equal differences take equal space.
    Linear,
    /// Equal ratios take equal space; all values are positive.
    Logarithmic,
}

/// From values to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// The value at `start`.
    pub low: f64,
    /// The value at `end`, above `low`.
    pub high: f64,
    /// The pixel of `low`.
    pub start: f32,
    /// The pixel of `high`.
    pub end: f32,
    /// How values are spread between them.
    pub spread: Spread,
}

impl Axis {
    /// The pixel of a value; what lies outside is put at the nearest end.
    pub fn position(&self, value: f64) -> f32 {
        let share = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Logarithmic => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
        };
        self.start + (self.end - self.start) * share.clamp(0.0, 1.0) as f32
    }

    /// Round numbers within the axis, and how they are written.
    pub fn ticks(&self, n_wanted: usize) -> Vec<(f64, String)> {
        let ticks = match self.spread {
            Spread::Linear => linear_ticks(self.low, self.high, n_wanted),
            Spread::Logarithmic => logarithmic_ticks(self.low, self.high, n_wanted),
        };
        let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let greatest = ticks.iter().fold(0.0_f64, |greatest, tick| greatest.max(tick.abs()));
        let text = |tick: f64| match self.spread {
            Spread::Linear => short_number(tick, step, greatest),
            Spread::Logarithmic => short_number(tick, tick, tick),
        };
        ticks.iter().map(|tick| (*tick, text(*tick))).collect()
    }
}

/// The one of 1, 2, 5 and 10 times a power of ten whose ratio to `rough` is nearest to one.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let lead = match rough / power {
        lead if lead < 2_f64.sqrt() => 1.0,
        lead if lead < 10_f64.sqrt() => 2.0,
        lead if lead < 50_f64.sqrt() => 5.0,
        _ => 10.0,
    };
    lead * power
}

/// Multiples of a round step between two values.
pub fn linear_ticks(low: f64, high: f64, n_wanted: usize) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return vec![low];
    }
    let step = round_step(span / n_wanted.max(1) as f64);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|multiple| multiple as f64 * step).collect()
}

/// Powers of ten between two values, and between these twice and five times as much where there is room.
fn logarithmic_ticks(low: f64, high: f64, n_wanted: usize) -> Vec<f64> {
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let within = |leads: &[f64]| -> Vec<f64> {
        let all = exponents.clone().flat_map(|exponent| leads.iter().map(move |lead| lead * 10_f64.powi(exponent)));
        all.filter(|tick| *tick >= low * 0.999_999 && *tick <= high * 1.000_001).collect()
    };
    let choices = [within(&[1.0, 2.0, 5.0]), within(&[1.0])];
    let fitting = choices.into_iter().find(|ticks| ticks.len() <= n_wanted.max(2) + 1);
    let ticks = fitting.unwrap_or_else(|| {
        let powers = within(&[1.0]);
        let stride = powers.len().div_ceil(n_wanted.max(1));
        powers.into_iter().step_by(stride.max(1)).collect()
    });
    if ticks.len() < 2 { linear_ticks(low, high, n_wanted) } else { ticks }
}

/// A number in few letters, with the digits that a difference of `step` needs and the unit that fits the `greatest` of
/// its neighbours: `50k`, `−0.25`, `1.5M`.
pub fn short_number(value: f64, step: f64, greatest: f64) -> String {
    let (divisor, unit) = match greatest {
        size if size >= 1e6 => (1e6, "M"),
        size if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let step = if step.is_finite() && step > 0.0 { step } else { value.abs().max(1e-12) / 10.0 };
    let n_digits = (0..9).find(|n_digits| {
        let scaled = step / divisor * 10_f64.powi(*n_digits);
        (scaled - scaled.round()).abs() < 1e-6 && scaled >= 0.999
    });
    let n_digits = n_digits.unwrap_or(3) as usize;
    let text = format!("{:.n_digits$}", value / divisor);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    let text = if is_zero { "0".to_string() } else { text + unit };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(linear_ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear_ticks(-0.7, 0.7, 4), [-0.5, 0.0, 0.5]);
        assert_eq!(linear_ticks(3.0, 3.0, 4), [3.0]);
        assert_eq!(logarithmic_ticks(0.5, 2000.0, 4), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(logarithmic_ticks(10.0, 60.0, 4), [10.0, 20.0, 50.0]);
    }

    #[test]
    fn numbers_are_written_short() {
        assert_eq!(short_number(50_000.0, 10_000.0, 50_000.0), "50k");
        assert_eq!(short_number(5000.0, 5000.0, 20_000.0), "5k");
        assert_eq!(short_number(-0.25, 0.05, 1.0), "−0.25");
        assert_eq!(short_number(1_500_000.0, 500_000.0, 2_000_000.0), "1.5M");
        assert_eq!(short_number(0.0, 0.2, 1.0), "0");
        assert_eq!(short_number(1000.0, 200.0, 1000.0), "1000");
    }

    #[test]
    fn positions_follow_the_spread() {
        let axis = |spread| Axis { low: 1.0, high: 100.0, start: 0.0, end: 200.0, spread };
        assert_eq!(axis(Spread::Linear).position(50.5), 100.0);
        assert!((axis(Spread::Logarithmic).position(10.0) - 100.0).abs() < 1e-3);
        assert_eq!(axis(Spread::Logarithmic).position(-5.0), 0.0);
    }
}
