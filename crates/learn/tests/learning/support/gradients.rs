//! Gradients against finite differences.

use burn::tensor::Tensor;
use unbraid_learn::losses::MAIN;
use unbraid_learn::tensors::{floats, scalar};
use unbraid_learn::{Batch, Learner};

use super::{batch, losses};

/// All parameters but those that training leaves as they are, which have no gradient.
pub fn trainable(learner: &Learner) -> impl Iterator<Item = (&str, &Tensor<2>)> {
    let parameters = &learner.model.parameters;
    let is_fixed = |name: &str, tensor: &Tensor<2>| {
        assert!(!(parameters.is_fixed(name) && tensor.is_require_grad()), "{name} asks for a gradient");
        parameters.is_fixed(name)
    };
    parameters.iter().filter(move |(name, tensor)| !is_fixed(name, tensor))
}

/// Every parameter's gradient beside the central difference of the loss. The loss is computed in f32, whose rounding
/// over a difference of 2e-2 leaves an error of about 1e-7 * loss / 2e-2, some 1e-4 of the largest gradient of all. With
/// the curvature's share, 1 % of the largest gradient of the same parameter and 1e-3 of the largest of all are allowed.
pub fn check_gradients(learner: Learner, stride: usize, step: f32) {
    let value = |learner: &Learner, batch: &Batch, objective: usize| {
        f64::from(scalar(losses(learner, batch).objectives()[objective].1.clone().detach()))
    };
    check_gradients_of(value, learner, stride, step);
}

/// The same for losses that are defined by their gradients: `value` is the function of which they are the gradients.
pub fn check_gradients_of(
    value: impl Fn(&Learner, &Batch, usize) -> f64 + Send,
    learner: Learner,
    stride: usize,
    step: f32,
) {
    // On a thread that computes, like a training step: from outside, each operation would be handed over to one and waited for.
    rayon::scope(|_| compare_with_differences(value, learner, stride, step));
}

fn compare_with_differences(
    value: impl Fn(&Learner, &Batch, usize) -> f64,
    mut learner: Learner,
    stride: usize,
    step: f32,
) {
    let batch = batch(&learner, 0, 2);
    let own_optimisers = learner.framework.own_optimisers();
    let mut exact: Vec<(usize, String, [usize; 2], Vec<f32>)> = Vec::new();
    for (objective, (network, total)) in losses(&learner, &batch).objectives().iter().enumerate() {
        let gradients = total.backward();
        for (name, parameter) in trainable(&learner) {
            let own = own_optimisers.iter().find(|own| own.changes(name));
            if own.map_or(MAIN, |own| own.network) == *network {
                let gradient = parameter.grad(&gradients).unwrap_or_else(|| panic!("{name} has no gradient"));
                exact.push((objective, name.to_string(), parameter.dims(), floats(gradient)));
            }
        }
    }
    assert_eq!(exact.len(), trainable(&learner).count(), "some parameters are in no objective");
    let largest = exact.iter().flat_map(|(_, _, _, gradient)| gradient).fold(0.0_f32, |a, b| a.max(b.abs()));
    assert!(largest > 0.0);
    let mut n_checked = 0;
    for (objective, name, shape, gradient) in exact {
        let values = floats(learner.model.parameters.get(&name).inner());
        let own_largest = gradient.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
        let allowed = f64::from(0.01 * own_largest + 1e-3 * largest);
        for position in (0..values.len()).step_by(stride) {
            let mut at = |change: f32| {
                let mut moved = values.clone();
                moved[position] += change;
                learner.model.parameters.replace(&name, moved, &shape).unwrap();
                value(&learner, &batch, objective)
            };
            // A bend, such as that of a ReLU, spoils the steps that reach over it; rounding spoils very small ones.
            let sizes = [step, step / 4.0, step / 16.0];
            let agrees = |numeric: f64| (numeric - f64::from(gradient[position])).abs() < allowed;
            let mut tried = Vec::new();
            let is_right = sizes.into_iter().any(|size| {
                tried.push((at(size) - at(-size)) / f64::from(2.0 * size));
                agrees(tried[tried.len() - 1])
            });
            let (parts, exact) = (learner.parts(), gradient[position]);
            assert!(is_right, "{parts:?}, {name}[{position}]: none of {tried:?} is {exact}");
            n_checked += 1;
        }
        learner.model.parameters.replace(&name, values, &shape).unwrap();
    }
    assert!(n_checked > 20, "only {n_checked} gradients were compared");
}
