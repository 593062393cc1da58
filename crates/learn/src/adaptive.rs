//! Which latents the images of an example share, as adaptive frameworks guess it: those that are closer than a threshold
//! between the least and the largest distance of all latents (T1 eq 2.12-2.14; Locatello et al. 2020).
//!
//! The guess is a choice and is not differentiated.

use burn::tensor::{Bool, Tensor};
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};

use crate::posteriors::DiagonalGaussian;
use crate::tensors::constant;

/// How far apart two posteriors of a latent are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distance {
    /// Mean of both KL divergences (T1 eq A.2; Dittadi et al. 2020).
    #[default]
    SymmetricKl,
    /// KL divergence of the first from the second (Locatello et al. 2020).
    Kl,
    /// Absolute difference of the means.
    AbsoluteDifference,
}

/// Which [`Distance`] is taken.
pub const DISTANCE: Setting = Setting {
    name: "distance",
    values: Values::OneOf(&["symmetric_kl", "kl", "absolute_difference"]),
    meaning: "how far apart the two posteriors of a latent are",
};

/// Where the threshold lies.
pub const ETA: Setting = Setting {
    name: "eta",
    values: Values::Schedule(0.0, 1.0),
    meaning: "where the threshold for shared latents lies between a pair's smallest (0) and largest (1) distance",
};

impl Distance {
    /// For each latent of each pair, `[batch, latents]`, without gradient.
    pub fn between(self, first: &DiagonalGaussian, second: &DiagonalGaussian) -> Tensor<2> {
        let constants = |posterior: &DiagonalGaussian| DiagonalGaussian {
            mean: constant(&posterior.mean),
            log_variance: constant(&posterior.log_variance),
        };
        let (first, second) = (constants(first), constants(second));
        match self {
            Distance::Kl => kl(&first, &second),
            Distance::SymmetricKl => (kl(&first, &second) + kl(&second, &first)) * 0.5,
            Distance::AbsoluteDifference => (first.mean - second.mean).abs(),
        }
    }
}

/// What f32 can hold: without these, posteriors that are almost points would have no distance, and would share nothing.
const LEAST_VARIANCE: f64 = 1e-37;
const MOST_DISTANCE: f64 = 1e37;

/// KL(p || q) of two Gaussians for each latent.
fn kl(p: &DiagonalGaussian, q: &DiagonalGaussian) -> Tensor<2> {
    let difference = p.mean.clone() - q.mean.clone();
    let log_ratio = p.log_variance.clone() - q.log_variance.clone();
    let scaled = difference.powi_scalar(2) / q.log_variance.clone().exp().clamp_min(LEAST_VARIANCE);
    ((log_ratio.clone().exp() - log_ratio + scaled - 1.0) * 0.5).clamp_max(MOST_DISTANCE)
}

/// Which latents are closer than `least + eta (largest - least)` of the distances of their pair, `[batch, latents]` (eq 2.13 with
/// eta 1/2, 2.14).
pub fn shared_latents(distances: Tensor<2>, eta: f64) -> Tensor<2, Bool> {
    let least = distances.clone().min_dim(1); // [batch, 1]
    let most = distances.clone().max_dim(1); // [batch, 1]
    // Where all distances are the same, rounding must not take the threshold above them.
    let threshold = (least * (1.0 - eta) + most.clone() * eta).min_pair(most);
    let latents = distances.dims()[1];
    distances.lower(threshold.repeat_dim(1, latents))
}

/// Both members one after the other, `[2 * batch, latents]`: `common` in the latents that a pair shares, their own in others
/// (eq 2.10, 2.11).
pub fn with_common(members: [&Tensor<2>; 2], common: &Tensor<2>, shared: &Tensor<2, Bool>) -> Tensor<2> {
    let choose = |own: &Tensor<2>| own.clone().mask_where(shared.clone(), common.clone());
    Tensor::cat(members.map(choose).to_vec(), 0)
}

/// The same for the means and the log-variances of posteriors.
pub fn with_common_posterior(
    members: [&DiagonalGaussian; 2],
    common: &DiagonalGaussian,
    shared: &Tensor<2, Bool>,
) -> DiagonalGaussian {
    DiagonalGaussian {
        mean: with_common(members.map(|member| &member.mean), &common.mean, shared),
        log_variance: with_common(members.map(|member| &member.log_variance), &common.log_variance, shared),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        Device::cpu().recording_tensor(values, shape)
    }

    fn gaussian(mean: [f32; 2], variance: [f32; 2]) -> DiagonalGaussian {
        let log_variance = variance.map(f32::ln).to_vec();
        DiagonalGaussian { mean: tensor(mean.to_vec(), [1, 2]), log_variance: tensor(log_variance, [1, 2]) }
    }

    fn close(found: &[f32], wanted: &[f32]) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-6, "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn distances_by_hand() {
        let (p, q) = (gaussian([0.0, 1.0], [1.0, 4.0]), gaussian([2.0, 1.0], [1.0, 1.0]));
        // Latent 0: (1 - ln 1 + 4 - 1) / 2 = 2 both ways. Latent 1: (4 - ln 4 - 1) / 2 = 0.8068528 and, the other way,
        // (1/4 + ln 4 - 1) / 2 = 0.3181472; their mean is 0.5625.
        close(&floats(Distance::Kl.between(&p, &q)), &[2.0, 0.806_852_8]);
        close(&floats(Distance::SymmetricKl.between(&p, &q)), &[2.0, 0.5625]);
        close(&floats(Distance::AbsoluteDifference.between(&p, &q)), &[2.0, 0.0]);
    }

    #[test]
    fn posteriors_that_are_almost_points_share_what_they_agree_in() {
        // Variances of e^-200 are 0 in f32. Means agree in latent 0 and not in latent 1.
        let narrow = |mean: [f32; 2]| DiagonalGaussian {
            mean: tensor(mean.to_vec(), [1, 2]),
            log_variance: tensor(vec![-200.0, -200.0], [1, 2]),
        };
        for distance in [Distance::Kl, Distance::SymmetricKl] {
            let distances = distance.between(&narrow([1.0, 1.0]), &narrow([1.0, 3.0]));
            assert!(floats(distances.clone()).iter().all(|distance| distance.is_finite()), "{distances}");
            assert_eq!(floats(shared_latents(distances, 0.5).float()), [1.0, 0.0]);
        }
    }

    #[test]
    fn the_threshold_lies_between_least_and_most_and_is_strict() {
        let shared = |distances: [f32; 3], eta| {
            let mask = shared_latents(tensor(distances.to_vec(), [1, 3]), eta);
            floats(mask.float())
        };
        assert_eq!(shared([0.0, 1.0, 2.0], 0.5), [1.0, 0.0, 0.0]); // 1 is not below 1
        assert_eq!(shared([0.0, 1.0, 2.0], 0.75), [1.0, 1.0, 0.0]);
        assert_eq!(shared([0.0, 1.0, 2.0], 0.0), [0.0, 0.0, 0.0]);
        // Half of 3 twice is 3, but 0.6 and 0.4 of some numbers are more than the number in f32.
        for eta in [0.5, 0.4, 0.2, 0.3] {
            for distance in [3.0, 0.1, 0.7, 1.3, 2.9] {
                assert_eq!(shared([distance; 3], eta), [0.0, 0.0, 0.0], "{distance} at {eta}");
            }
        }
    }

    #[test]
    fn shared_latents_get_what_is_common_and_others_keep_theirs() {
        let (p, q) = (gaussian([0.0, 1.0], [1.0, 4.0]), gaussian([2.0, 3.0], [3.0, 2.0]));
        let shared = tensor(vec![1.0, 0.0], [1, 2]).greater_scalar(0.5);
        let both = with_common_posterior([&p, &q], &gaussian([5.0, 6.0], [7.0, 8.0]), &shared);
        close(&floats(both.mean.clone()), &[5.0, 1.0, 5.0, 3.0]);
        close(&floats(both.log_variance.clone().exp()), &[7.0, 4.0, 7.0, 2.0]);
    }
}
