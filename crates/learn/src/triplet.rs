//! Triplet losses on codes: an anchor's code has to be closer to that of the positive than to that of the negative (T1 section 5.1).
//!
//! Both take the two distances of each triplet. The hard one (T1 eq 5.1) is 0 once the negative is farther than the positive by a
//! margin psi; the soft one (T1 eq 5.2; Hermans et al. 2017) has no margin and never ends. disent computes the soft one as
//! `log(1 + exp(x))`, which is infinite from x = 89 on; here it is `-log sigmoid(-x)`, the same function, which is not.
//!
//! The gradient of an L2 distance of 0 is taken to be 0, as that of L1 is. Written as the root of a sum of squares it would be NaN, and two
//! images with the same code would end a run.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result};

use crate::frameworks::MOST_WEIGHT;
use crate::schedule::Schedule;
use crate::tensors::{constant, softplus};

/// Which triplet loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Triplet {
    /// `max(0, psi + to_positive - to_negative)` (T1 eq 5.1).
    #[default]
    Hard,
    /// `ln(1 + exp(to_positive - to_negative))` (T1 eq 5.2).
    Soft,
}

/// How far apart two codes are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distance {
    /// The sum of absolute differences, which T1 section 5.3.2 argues for.
    #[default]
    L1,
    /// The root of the sum of squared differences.
    L2,
}

/// The weight of the triplet loss.
pub const ALPHA: Setting =
    Setting { name: "alpha", values: Values::Schedule(0.0, MOST_WEIGHT), meaning: "weight of the triplet loss" };

/// Which [`Triplet`] loss is taken.
pub const TRIPLET: Setting = Setting {
    name: "triplet",
    values: Values::OneOf(&["hard", "soft"]),
    meaning: "whether the triplet loss ends at a margin, or is soft and never ends",
};

/// The margin psi, and its default, which is T1's (table A.5).
pub const MARGIN: Setting = Setting {
    name: "margin",
    values: Values::Schedule(0.0, MOST_WEIGHT),
    meaning: "how much farther than the positive the negative has to be, where the triplet loss is hard",
};
pub(crate) const DEFAULT_MARGIN: Schedule = Schedule::Constant(10.0);

/// Which [`Distance`] is taken.
pub const DISTANCE: Setting =
    Setting { name: "distance", values: Values::OneOf(&["l1", "l2"]), meaning: "how far apart two codes are" };

/// Whether [`to_decoder`] hands gradients back.
pub const DECODER_GRADIENT: Setting = Setting {
    name: "decoder_gradient",
    values: Values::Flag,
    meaning: "whether the encoder learns from the reconstruction; if not, the decoder only looks on",
};

impl Triplet {
    /// The loss of each triplet, `[batch, 1]`, from its two distances, `[batch, 1]` both.
    pub fn loss(self, to_positive: Tensor<2>, to_negative: Tensor<2>, margin: f64) -> Tensor<2> {
        let excess = to_positive - to_negative;
        match self {
            Triplet::Hard => relu(excess + margin),
            Triplet::Soft => softplus(excess),
        }
    }

    /// Refuses margins out of range, and one for a loss that has none.
    pub fn check(self, margin: &Schedule) -> Result<()> {
        margin.check("margin", 0.0, MOST_WEIGHT)?;
        if self == Triplet::Soft && *margin != DEFAULT_MARGIN {
            return Err(Error::new("setting \"margin\" is given, but a soft triplet loss has no margin")
                .help("leave \"margin\" out, or set triplet = \"hard\""));
        }
        Ok(())
    }
}

impl Distance {
    /// The length of each row of differences `[batch, latents]`, `[batch, 1]`.
    pub fn of(self, differences: Tensor<2>) -> Tensor<2> {
        match self {
            Distance::L1 => differences.abs().sum_dim(1),
            // Below the least square the gradient is 0; its root, 1e-15, is nothing beside any margin.
            Distance::L2 => differences.powi_scalar(2).sum_dim(1).clamp_min(LEAST_SQUARE).sqrt(),
        }
    }
}

const LEAST_SQUARE: f64 = 1e-30;

/// Latents as the decoder sees them: constants where its gradient is not to reach the encoder (T1 figure 5.3b).
pub fn to_decoder(latents: Tensor<2>, decoder_gradient: bool) -> Tensor<2> {
    if decoder_gradient { latents } else { constant(&latents) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    fn column(values: &[f32]) -> Tensor<2> {
        Device::cpu().recording_tensor(values.to_vec(), [values.len(), 1])
    }

    fn close(found: &[f32], wanted: &[f32]) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn losses_by_hand() {
        // Excesses -3, 1 and 200. With a margin of 2: max(0, -1), 3 and 202. Soft: ln(1 + e^-3) = 0.0485874, ln(1 + e) =
        // 1.3132617, and 200, for which e^200 would be infinite.
        let (to_positive, to_negative) = (column(&[1.0, 2.0, 200.0]), column(&[4.0, 1.0, 0.0]));
        let loss = |triplet: Triplet| floats(triplet.loss(to_positive.clone(), to_negative.clone(), 2.0));
        close(&loss(Triplet::Hard), &[0.0, 3.0, 202.0]);
        close(&loss(Triplet::Soft), &[0.048_587_35, 1.313_261_7, 200.0]);
    }

    #[test]
    fn a_soft_loss_has_finite_gradients_however_wrong_the_distances() {
        // The slope is a sigmoid: 1, 1/2 and 0.
        let to_positive = column(&[500.0, 0.0, 0.0]).require_grad();
        let loss = Triplet::Soft.loss(to_positive.clone(), column(&[0.0, 0.0, 500.0]), 0.0);
        let gradients = loss.sum().backward(); // [3, 1]
        close(&floats(to_positive.grad(&gradients).unwrap()), &[1.0, 0.5, 0.0]);
    }

    #[test]
    fn distances_by_hand_and_gradients_where_codes_coincide() {
        let differences = Device::cpu().recording_tensor(vec![3.0, -4.0, 0.0, 0.0], [2, 2]).require_grad();
        // Slopes: of |3| + |-4| the signs, of the root of 25 the differences over 5; where both are 0, none.
        for (distance, lengths, slopes) in
            [(Distance::L1, [7.0, 0.0], [1.0, -1.0, 0.0, 0.0]), (Distance::L2, [5.0, 0.0], [0.6, -0.8, 0.0, 0.0])]
        {
            let found = distance.of(differences.clone());
            close(&floats(found.clone()), &lengths);
            let gradients = found.sum().backward(); // [2, 1]
            close(&floats(differences.grad(&gradients).unwrap()), &slopes);
        }
    }

    #[test]
    fn a_margin_that_would_be_ignored_is_refused() {
        let other = Schedule::Constant(1.0);
        assert!(Triplet::Hard.check(&other).is_ok() && Triplet::Soft.check(&DEFAULT_MARGIN).is_ok());
        assert!(Triplet::Soft.check(&other).unwrap_err().to_string().contains("has no margin"));
        assert!(Triplet::Hard.check(&Schedule::Constant(-1.0)).is_err());
    }
}
