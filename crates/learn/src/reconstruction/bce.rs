//! Binary cross-entropy with logits: the negative log-likelihood of a Bernoulli decoder.
//!
//! For logit `x` and pixel `t`: `log(1 + exp(x)) - x t`, the first part being `-log sigmoid(-x)`, which does not overflow.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use serde::{Deserialize, Serialize};
use unbraid_data::settings;

use super::{Compared, Entry, ReconstructionLoss, sums};
use crate::model::Model;
use crate::ops::PixelLoss;
use crate::tensors::softplus;

const MOST_LOGIT: f64 = 100.0;

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Bce {}

impl ReconstructionLoss for Bce {
    fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        sums(model, PixelLoss::CrossEntropy, per_pixel, outputs, images)
    }

    fn to_image(&self, outputs: Tensor<2>) -> Tensor<2> {
        sigmoid(outputs)
    }

    /// The logit stands for a pixel; for 0 or 1, whose logarithm would be infinite, -100 or 100, as PyTorch has it.
    fn compared(&self, _model: &Model, images: Tensor<2>) -> Compared {
        let log_rest = (-images.clone() + 1.0).log();
        let outputs = (images.clone().log() - log_rest).clamp(-MOST_LOGIT, MOST_LOGIT);
        Compared { outputs, images, loss: PixelLoss::CrossEntropy }
    }
}

fn per_pixel(outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
    softplus(outputs.clone()) - outputs * images
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "bce",
    about: "binary cross-entropy of each pixel, the decoder's outputs being logits",
    paper: "Kingma and Welling 2014, Auto-encoding variational Bayes",
    settings: &[],
    example: "",
    wants_unit_pixels: true,
    build: |table| Ok(Box::new(settings::read::<Bce>(table)?)),
    complete: settings::complete::<Bce>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    #[test]
    fn the_gradient_at_logit_zero_is_a_half_less_the_pixel() {
        let logits = Device::cpu().recording_tensor(vec![0.0, 0.0], [1, 2]).require_grad();
        let images = Device::cpu().recording_tensor(vec![1.0, 0.25], [1, 2]);
        let gradients = per_pixel(logits.clone(), images).sum().backward();
        assert_eq!(floats(logits.grad(&gradients).unwrap()), [-0.5, 0.25]);
    }

    #[test]
    fn cross_entropy_by_hand() {
        // Logit 0 is probability 1/2: ln 2 whatever the pixel. Logit ln 3 is probability 3/4: -ln(3/4) for a pixel of 1,
        // -ln(1/4) for 0. Logit -200 of a pixel of 1: 200, without overflow.
        let logits = vec![0.0, 3.0_f32.ln(), 3.0_f32.ln(), -200.0];
        let [logits, pixels] = [logits, vec![0.3, 1.0, 0.0, 1.0]].map(|values| Device::cpu().tensor(values, [1, 4]));
        let found = floats(per_pixel(logits, pixels));
        let wanted = [2.0_f32.ln(), (4.0_f32 / 3.0).ln(), 4.0_f32.ln(), 200.0];
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        }
    }
}
