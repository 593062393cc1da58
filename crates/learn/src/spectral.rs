//! Spectral normalisation (Miyato et al. 2018, eq 8): the weights of a network divided by their largest singular values, so that no
//! layer stretches a difference of its inputs.
//!
//! For a weight `W`, `[inputs, outputs]`, the largest singular value is `sigma = v' W u` with the singular vectors `u` and `v`, which are
//! found by power iteration: `v` along `W u`, then `u` along `W' v`, once each step of training, from the `u` of the step before (algorithm
//! 1). No gradient passes through `u` and `v`, but through `W` twice, as what is divided and as what it is divided by (eq 9 to 12).
//!
//! Weights are those parameters whose names end in `.weight`; that of a convolution, `[kernel * kernel * inputs, outputs]`, is taken as the
//! matrix that it is here, as in the paper. The first `u` has the same number in each place, where the paper draws one: the first weights are
//! drawn from normal distributions, which look the same from all sides.

use burn::tensor::Tensor;

use crate::parameters::{Initialiser, Parameters};
use crate::state::State;
use crate::tensors::constant;

/// Keeps the division by a length of 0 away.
const EPSILON: f64 = 1e-12;

/// Remembers a vector for each weight of the network called `network`, all of which were added before.
pub fn initialise(network: &str, initialiser: &mut Initialiser) {
    let parameters = initialiser.added().of_network(network);
    for (name, weight) in parameters.iter().filter(|(name, _)| is_weight(name)) {
        let outputs = weight.dims()[1];
        initialiser.state(&key(network, name), vec![1.0 / (outputs as f32).sqrt(); outputs]);
    }
}

/// The parameters of the network called `network`, under the rest of their names ([`Parameters::of_network`]), each weight divided by its
/// largest singular value. Its vectors take one more iteration, which is remembered.
pub fn normalised(network: &str, parameters: &Parameters, state: &mut State) -> Parameters {
    parameters.of_network(network).with_each(|name, weight| {
        if !is_weight(name) {
            return weight.clone();
        }
        let key = key(network, name);
        let (largest, next) = largest_singular_value(weight, &state.get(&key));
        state.set(&key, &next);
        let [inputs, outputs] = weight.dims();
        weight.clone() / (largest + EPSILON).repeat_dim(0, inputs).repeat_dim(1, outputs)
    })
}

fn is_weight(name: &str) -> bool {
    name.ends_with(".weight")
}

fn key(network: &str, name: &str) -> String {
    format!("spectral.{network}.{name}")
}

/// The largest singular value, `[1, 1]`, of a weight `[inputs, outputs]`, and its vector `[1, outputs]`, by one iteration from the
/// vector given.
fn largest_singular_value(weight: &Tensor<2>, of_outputs: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let still = constant(weight);
    let of_inputs = of_length_one(of_outputs.clone().matmul(still.clone().transpose())); // [1, inputs]
    let of_outputs = of_length_one(of_inputs.clone().matmul(still)); // [1, outputs]
    let largest = (of_inputs.matmul(weight.clone()) * of_outputs.clone()).sum_dim(1);
    (largest, of_outputs)
}

/// A row `[1, n]` divided by its length.
fn of_length_one(row: Tensor<2>) -> Tensor<2> {
    let length = row.clone().powi_scalar(2).sum_dim(1).sqrt(); // [1, 1]
    let n = row.dims()[1];
    row / (length + EPSILON).repeat_dim(1, n)
}

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    /// A network `critic` of one layer of these weights.
    fn critic(weight: &[f32], shape: [usize; 2]) -> (Parameters, State) {
        let mut initialiser = Initialiser::new(Seed(1), Device::cpu());
        initialiser.within("critic", |initialiser| initialiser.linear("layer", shape[0], shape[1]));
        initialise("critic", &mut initialiser);
        let (mut parameters, state) = initialiser.finish();
        parameters.replace("critic.layer.weight", weight.to_vec(), &shape).unwrap();
        (parameters, state)
    }

    /// What is divided by after so many iterations.
    fn found(weight: &[f32], shape: [usize; 2], n_iterations: usize) -> f32 {
        let (parameters, mut state) = critic(weight, shape);
        let mut divided = Vec::new();
        for _ in 0..n_iterations {
            divided = floats(normalised("critic", &parameters, &mut state).get("layer.weight"));
        }
        weight[0] / divided[0]
    }

    fn close(found: f32, wanted: f32) {
        assert!((found - wanted).abs() <= 1e-5 * wanted, "{found} is not {wanted}");
    }

    #[test]
    fn one_iteration_by_hand() {
        // W = [[3, 0], [4, 5]] and u = (1, 1) / sqrt 2. W u = (3, 9) / sqrt 2, so v = (1, 3) / sqrt 10; W' v = (15, 15) / sqrt 10, so
        // u stays where it is, and v' W u = 15 sqrt 2 / sqrt 10 = sqrt 45. Indeed W' W = [[25, 20], [20, 25]] has eigenvalues 45 and 5.
        let (parameters, mut state) = critic(&[3.0, 0.0, 4.0, 5.0], [2, 2]);
        let of_one = normalised("critic", &parameters, &mut state);
        let root = 45.0_f32.sqrt();
        for (found, wanted) in floats(of_one.get("layer.weight")).into_iter().zip([3.0, 0.0, 4.0, 5.0]) {
            assert!((found - wanted / root).abs() < 1e-6, "{found} is not {wanted} / {root}");
        }
        assert_eq!(floats(of_one.get("layer.bias")), [0.0, 0.0]);
        for value in floats(state.get("spectral.critic.layer.weight")) {
            close(value, 0.5_f32.sqrt());
        }
    }

    /// The largest root of a 2x2 matrix's characteristic polynomial.
    fn largest_of_two_columns(weight: &[f32]) -> f32 {
        let product =
            |i: usize, j: usize| weight.chunks_exact(2).map(|row| f64::from(row[i]) * f64::from(row[j])).sum();
        let (a, b, c): (f64, f64, f64) = (product(0, 0), product(0, 1), product(1, 1));
        let square = f64::midpoint(a, c) + (((a - c) / 2.0).powi(2) + b * b).sqrt();
        square.sqrt() as f32
    }

    #[test]
    fn many_iterations_find_the_largest_singular_value_whatever_the_shape() {
        for (weight, shape) in [
            (vec![1.0, 2.0, -0.5, 0.3], [2, 2]),
            (vec![0.2, -1.0, 3.0, 0.4, 0.9, 1.1], [3, 2]),
            (vec![0.7, -2.0], [1, 2]),
        ] {
            close(found(&weight, shape, 100), largest_of_two_columns(&weight));
        }
        // Turned, it has the same singular values: [[0.2, 3, 0.9], [-1, 0.4, 1.1]].
        let turned = [0.2, 3.0, 0.9, -1.0, 0.4, 1.1];
        close(found(&turned, [2, 3], 100), largest_of_two_columns(&[0.2, -1.0, 3.0, 0.4, 0.9, 1.1]));
        // One column: its length, (9 + 16)^(1/2), at once.
        close(found(&[3.0, 4.0], [2, 1], 1), 5.0);
    }

    #[test]
    fn a_weight_of_zeros_stays_one() {
        let (parameters, mut state) = critic(&[0.0; 4], [2, 2]);
        assert_eq!(floats(normalised("critic", &parameters, &mut state).get("layer.weight")), [0.0; 4]);
    }

    #[test]
    fn the_gradient_passes_through_what_is_divided_by() {
        // W / sigma does not change when W grows by a factor: its gradient is at right angles to W.
        let (parameters, mut state) = critic(&[1.0, 2.0, -0.5, 0.3], [2, 2]);
        let divided = normalised("critic", &parameters, &mut state).get("layer.weight");
        let weight = parameters.get("critic.layer.weight");
        let gradients = divided.powi_scalar(3).sum().backward();
        let gradient = floats(weight.grad(&gradients).unwrap());
        let along: f32 = gradient.iter().zip(floats(weight.inner())).map(|(slope, value)| slope * value).sum();
        assert!(along.abs() < 1e-6 && gradient.iter().any(|slope| slope.abs() > 1e-3), "{gradient:?}");
    }
}
