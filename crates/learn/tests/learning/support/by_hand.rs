//! Losses of networks that are simple enough to work out by hand.
//!
//! The network is linear with 2 pixels and 1 latent: encoder outputs are `[mean, log-variance]`. Weights are set so that
//! the mean is pixel 0 and the log-variance is -200 (no noise to speak of) or 0; the decoder gives `[z, 2 z]`.

use unbraid_data::ImageShape;
use unbraid_learn::Learner;

use super::{Parts, batch_of, losses};

pub const SHAPE: ImageShape = ImageShape { height: 1, width: 1, channels: 2 };

/// Encoder outputs: pixel 0, then these numbers whatever the image.
pub fn learner(framework: &str, settings: &str, others: &[f32]) -> Learner {
    let mut learner = Parts::new((framework, settings), ("linear", "latents = 1"), SHAPE).learner();
    let outputs = 1 + others.len();
    let mut weight = vec![0.0; 2 * outputs]; // [pixels, outputs]
    weight[0] = 1.0;
    let bias = [&[0.0], others].concat();
    let parameters = &mut learner.model.parameters;
    parameters.replace("encoder.outputs.weight", weight, &[2, outputs]).unwrap();
    parameters.replace("encoder.outputs.bias", bias, &[1, outputs]).unwrap();
    parameters.replace("decoder.outputs.weight", vec![1.0, 2.0], &[1, 2]).unwrap();
    learner
}

/// A learner of two latents that are the two pixels; other encoder outputs are the log-variance, where there is one. The decoder gives
/// the latents, times this.
pub fn two_latents(framework: &str, settings: &str, log_variance: f32, decoder: f32) -> Learner {
    let mut learner = Parts::new((framework, settings), ("linear", "latents = 2"), SHAPE).learner();
    let parameters = &mut learner.model.parameters;
    let outputs = parameters.get("encoder.outputs.bias").dims()[1];
    let mut weight = vec![0.0; 2 * outputs]; // [pixels, outputs]
    (weight[0], weight[outputs + 1]) = (1.0, 1.0);
    let bias = (0..outputs).map(|output| if output < 2 { 0.0 } else { log_variance }).collect();
    parameters.replace("encoder.outputs.weight", weight, &[2, outputs]).unwrap();
    parameters.replace("encoder.outputs.bias", bias, &[1, outputs]).unwrap();
    parameters.replace("decoder.outputs.weight", vec![decoder, 0.0, 0.0, decoder], &[2, 2]).unwrap();
    learner
}

/// The parts and the total, with this log-variance.
pub fn parts(framework: &str, settings: &str, log_variance: f32, members: &[[f32; 4]]) -> (Vec<f32>, f32) {
    let others: &[f32] = if ["ae", "ada_ae"].contains(&framework) { &[] } else { &[log_variance] };
    parts_of(&learner(framework, settings, others), 0, members)
}

pub fn parts_of(learner: &Learner, step: u64, members: &[impl AsRef<[f32]>]) -> (Vec<f32>, f32) {
    let batch = batch_of(learner, step, members.iter().map(|values| values.as_ref().to_vec()).collect());
    let (total, parts) = losses(learner, &batch).read_out();
    (parts.iter().map(|part| part.value).collect(), total)
}

pub fn close(found: &(Vec<f32>, f32), parts: &[f32], total: f32) {
    assert_eq!(found.0.len(), parts.len());
    for (a, b) in found.0.iter().chain([&found.1]).zip(parts.iter().chain([&total])) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{found:?} is not {parts:?}, {total}");
    }
}

/// Images [1, 1] and [2, 1]; codes 1 and 2; outputs [1, 2] and [2, 4].
pub const IMAGES: [f32; 4] = [1.0, 1.0, 2.0, 1.0];
