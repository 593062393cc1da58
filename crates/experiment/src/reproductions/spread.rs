//! Means over runs that differ by their seeds, and when two of them agree.
//!
//! Where ours and the published runs were the same experiment, both would be draws of one distribution. Its variance is estimated from both,
//! `s^2 = ((m - 1) s_published^2 + (n - 1) s_ours^2) / (m + n - 2)`, and the means may differ by two standard errors of their difference and by the
//! rounding of the published one:
//!
//! `|ours - published| <= 2 s sqrt(1/m + 1/n) + half a unit of the last digit`.
//!
//! Of twenty rows that are the same experiment about one lies outside. T4 does not tell how many restarts its chapter 3 has; `m` is taken to be ten,
//! as in its figures 4.4 to 4.7. Where it tells no spread, ours stands for both.

/// Restarts that a published mean is taken to be of, where their number is not told.
pub const ASSUMED_RESTARTS: usize = 10;

/// Numbers of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Their mean; not a number where there are none.
    pub mean: f64,
    /// Their standard deviation, with one less than their number below the line; 0 of a single one.
    pub deviation: f64,
    /// How many there are.
    pub n: usize,
}

impl Spread {
    /// The spread of these numbers.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if n < 2 { 0.0 } else { (squares / (n - 1) as f64).sqrt() };
        Self { mean, deviation, n }
    }
}

/// A published mean over restarts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedMean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, where it is told.
    pub deviation: Option<f64>,
    /// Half a unit of the last digit.
    pub rounding: f64,
    /// How many restarts there were.
    pub n: usize,
}

impl PublishedMean {
    /// `mean +- deviation` with two digits after the point, of ten restarts.
    pub const fn of_two_digits(mean: f64, deviation: f64) -> Self {
        Self { mean, deviation: Some(deviation), rounding: 0.005, n: ASSUMED_RESTARTS }
    }

    /// By how much the mean of these runs may differ.
    pub fn allowed(&self, ours: &Spread) -> f64 {
        let (n, m) = (ours.n as f64, self.n as f64);
        let variance = match self.deviation {
            Some(deviation) => {
                ((m - 1.0) * deviation.powi(2) + (n - 1.0) * ours.deviation.powi(2)) / (m + n - 2.0).max(1.0)
            }
            None => ours.deviation.powi(2),
        };
        2.0 * (variance * (1.0 / m + 1.0 / n)).sqrt() + self.rounding
    }

    /// Whether the mean of these runs is the same within what chance explains.
    pub fn agrees_with(&self, ours: &Spread) -> bool {
        // A hair is for the last digit of decimal fractions.
        (ours.mean - self.mean).abs() <= self.allowed(ours) + 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_by_hand() {
        // Deviations from the mean 3 are -2, 0 and 2: 8 / 2 = 4.
        assert_eq!(Spread::of(&[1.0, 3.0, 5.0]), Spread { mean: 3.0, deviation: 2.0, n: 3 });
        assert_eq!(Spread::of(&[0.5]), Spread { mean: 0.5, deviation: 0.0, n: 1 });
        assert!(Spread::of(&[]).mean.is_nan());
    }

    #[test]
    fn the_largest_difference_that_agrees_by_hand() {
        let published = PublishedMean { mean: 0.5, deviation: Some(0.3), rounding: 0.005, n: 10 };
        // (9 * 0.09 + 2 * 0.04) / 11 = 0.89 / 11; its root is 0.284445, and sqrt(1/10 + 1/3) is 0.658281.
        let ours = Spread { mean: 0.1, deviation: 0.2, n: 3 };
        assert!((published.allowed(&ours) - (2.0 * 0.284_445 * 0.658_281 + 0.005)).abs() < 1e-5);
        assert!(!published.agrees_with(&ours));
        assert!(published.agrees_with(&Spread { mean: 0.13, ..ours }));
        // One run has no deviation of its own: 2 * 0.3 * sqrt(1.1) is 0.629285.
        let one = Spread { mean: 0.0, deviation: 0.0, n: 1 };
        assert!((published.allowed(&one) - 0.634_285).abs() < 1e-6);
        // Without a published spread ours stands for it: 2 * 0.2 * 0.658281.
        let untold = PublishedMean { deviation: None, ..published };
        assert!((untold.allowed(&ours) - (0.4 * 0.658_281 + 0.005)).abs() < 1e-5);
    }

    #[test]
    fn what_is_undefined_agrees_with_nothing() {
        assert!(!PublishedMean::of_two_digits(0.0, 1.0).agrees_with(&Spread::of(&[])));
    }
}
