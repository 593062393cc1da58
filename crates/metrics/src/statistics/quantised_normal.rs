//! A normal distribution spread over bins of equal width.

use std::f64::consts::TAU;
use std::ops::Range;

/// A density below this at every bin's middle is too far from all bins, or too narrow, to be spread by its density there.
const LEAST_DENSITY: f64 = 1e-5;
/// Bins with less than this part of the fullest bin's share are left empty.
const LEAST_PART: f64 = 1e-20;

/// Bins of equal width between `-limit` and `limit`.
#[derive(Debug, Clone, Copy)]
pub struct QuantisedNormal {
    /// How many bins there are; at least one.
    pub n_bins: usize,
    /// Where they end, above 0.
    pub limit: f64,
}

impl QuantisedNormal {
    /// Writes the share of each bin into `shares [bins]`, and gives the bins that have one; all others are to be taken
    /// for 0. Together they are 1.
    ///
    /// As Do and Tran 2020 do it, a bin's share is in proportion to the density in its middle. Where that is below 1e-5
    /// for all bins because the distribution is narrow or far away, the bin of the mean (the outermost one, if the mean lies
    /// beyond) has it all. One that is wider than all bins is spread however low its density, where the authors' code
    /// takes it for a point.
    pub fn spread(&self, mean: f64, log_variance: f64, shares: &mut [f64]) -> Range<usize> {
        let width = 2.0 * self.limit / self.n_bins as f64;
        let nearest = (((mean + self.limit) / width) as usize).min(self.n_bins - 1);
        let distance = (nearest as f64 + 0.5) * width - self.limit - mean; // from the mean to the middle of its bin
        let variance = log_variance.exp();
        let log_density = -(distance * distance / variance + log_variance + TAU.ln()) / 2.0;
        shares[nearest] = 1.0;
        // Also where a variance of 0 leaves no number at all.
        if log_density.is_nan() || (log_density < LEAST_DENSITY.ln() && variance < self.limit * self.limit) {
            return nearest..nearest + 1;
        }
        // From a bin to the next, the density changes by a ratio that itself changes by the same ratio each time.
        let first_ratio = |distance: f64| (-(2.0 * distance + width) * width / (2.0 * variance)).exp();
        let ratio_of_ratios = (-width * width / variance).exp();
        let (mut part, mut ratio, mut end) = (1.0, first_ratio(distance), nearest + 1);
        while end < self.n_bins && part * ratio > LEAST_PART {
            part *= ratio;
            ratio *= ratio_of_ratios;
            shares[end] = part;
            end += 1;
        }
        let (mut part, mut ratio, mut start) = (1.0, first_ratio(-distance), nearest);
        while start > 0 && part * ratio > LEAST_PART {
            part *= ratio;
            ratio *= ratio_of_ratios;
            start -= 1;
            shares[start] = part;
        }
        let sum: f64 = shares[start..end].iter().sum();
        shares[start..end].iter_mut().for_each(|share| *share /= sum);
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(n_bins: usize, mean: f64, log_variance: f64) -> Vec<f64> {
        let mut shares = vec![f64::NAN; n_bins];
        let filled = QuantisedNormal { n_bins, limit: 4.0 }.spread(mean, log_variance, &mut shares);
        (0..n_bins).map(|bin| if filled.contains(&bin) { shares[bin] } else { 0.0 }).collect()
    }

    #[test]
    fn shares_are_densities_in_the_middle_of_bins() {
        // Four bins with their middles at -3, -1, 1, 3; mean 0.5, variance 4: exp(-(12.25, 2.25, 0.25, 6.25) / 8).
        let densities = [12.25_f64, 2.25, 0.25, 6.25].map(|square| (-square / 8.0).exp());
        let sum: f64 = densities.iter().sum();
        for (share, density) in spread(4, 0.5, 4_f64.ln()).iter().zip(densities) {
            assert!((share - density / sum).abs() < 1e-15);
        }
    }

    #[test]
    fn a_hundred_bins_agree_with_their_densities_one_by_one() {
        for (mean, log_variance) in [(0.3, 0.0), (-3.9, -2.0), (5.5, -0.5), (1.23, -5.0), (0.0, 3.0), (-2.0, -9.0)] {
            let middle = |bin: usize| (bin as f64 + 0.5) * 0.08 - 4.0;
            let densities: Vec<f64> =
                (0..100).map(|bin| (-(middle(bin) - mean).powi(2) / (2.0 * f64::exp(log_variance))).exp()).collect();
            let sum: f64 = densities.iter().sum();
            for (share, density) in spread(100, mean, log_variance).iter().zip(&densities) {
                assert!((share - density / sum).abs() < 1e-12, "{mean}, {log_variance}: {share}");
            }
        }
    }

    #[test]
    fn what_is_far_or_narrow_has_the_bin_of_its_mean() {
        let only = |bin: usize| (0..4).map(|other| f64::from(u8::from(other == bin))).collect::<Vec<f64>>();
        assert_eq!(spread(4, 10.0, 0.0), only(3));
        assert_eq!(spread(4, -1e300, 0.0), only(0));
        assert_eq!(spread(4, 0.0, -30.0), only(2));
        assert_eq!(spread(4, -1.0, -1e300), only(1));
        assert_eq!(spread(4, 1e300, -1e300), only(3));
    }

    #[test]
    fn what_is_wide_is_even_however_low_its_density() {
        for log_variance in [22.0, 30.0, 800.0, f64::MAX] {
            assert!(spread(4, 0.5, log_variance).iter().all(|share| (share - 0.25).abs() < 1e-9), "{log_variance}");
        }
    }
}
