//! Exact Jacobians of a decoder, by backward passes: how each latent moves each pixel of the image that a code stands for.
//!
//! One backward pass gives the gradient of one number with respect to all latents. So a code is repeated once for each pixel, and the
//! sum of every row's own pixel is differentiated: its gradient with respect to a row is that of the row's pixel. A Jacobian costs as
//! many images, there and back, as an image has pixels, whatever the number of latents; differences cost two images a latent.

use burn::tensor::{Int, Tensor, TensorData};
use ndarray::{Array2, Array3};

use crate::model::Model;
use crate::ops;
use crate::reconstruction::Reconstruction;
use crate::tensors::floats;

/// Rows that go through the decoder at once, which bounds the memory that they take; fixed, so that the bits do not depend on it.
const AT_ONCE: usize = 256;

/// The Jacobians of the images that `codes [codes, latents]` stand for, `[codes, pixels, latents]`.
pub(crate) fn decoder_jacobians(model: &Model, reconstruction: &Reconstruction, codes: &Array2<f32>) -> Array3<f32> {
    let model = model.recording();
    let (n_codes, n_latents) = codes.dim();
    let n_pixels = model.image_shape.n_pixels();
    let n_rows = n_codes * n_pixels;
    let mut values = Vec::with_capacity(n_rows * n_latents);
    for first in (0..n_rows).step_by(AT_ONCE) {
        let rows = first..(first + AT_ONCE).min(n_rows);
        let repeated = rows.clone().flat_map(|row| codes.row(row / n_pixels).to_vec()).collect();
        let own_pixels = rows.clone().map(|row| (row % n_pixels) as i32).collect();
        values.extend(gradients_of_own_pixels(&model, reconstruction, repeated, own_pixels));
    }
    Array3::from_shape_vec((n_codes, n_pixels, n_latents), values).expect("a gradient for each pixel of each code")
}

/// The gradient of one pixel of each row's image with respect to the row's code, `[rows, latents]`.
fn gradients_of_own_pixels(
    model: &Model,
    reconstruction: &Reconstruction,
    codes: Vec<f32>,
    own_pixels: Vec<i32>,
) -> Vec<f32> {
    let n_rows = own_pixels.len();
    let latents: Tensor<2> = model.parameters.tensor(codes, [n_rows, model.latents()]).require_grad();
    let images = reconstruction.loss.to_image(model.decode(latents.clone())); // [rows, pixels]
    let places: Tensor<2, Int> = Tensor::from_data(TensorData::new(own_pixels, [n_rows, 1]), &images.device());
    let gradients = ops::sum(images.gather(1, places)).backward();
    floats(latents.grad(&gradients).expect("the decoder looks at its latents"))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};
    use toml::Table;
    use unbraid_data::{ImageShape, Seed};

    use super::*;
    use crate::{Device, Learner, TrainedModel, frameworks, networks, optimisers};

    fn learner(framework: (&str, &str), network: (&str, &str), shape: ImageShape, device: Device) -> Learner {
        let table = |text: &str| text.parse::<Table>().unwrap();
        let network = networks::build(network.0, &table(network.1), shape).unwrap();
        let framework = frameworks::build(framework.0, &table(framework.1)).unwrap();
        let optimiser = optimisers::build("adam", &Table::new()).unwrap();
        Learner::new(network, framework, optimiser, shape, Seed(3), device).unwrap()
    }

    const MLP: (&str, &str) = ("mlp", "latents = 3\nencoder = [4]\ndecoder = [7]\nnonlinearity = 'tanh'");
    const POINT: ImageShape = ImageShape { height: 1, width: 1, channels: 6 };

    /// The parameter called `name` in 64 bits, `[rows, columns]`.
    fn matrix(learner: &Learner, name: &str) -> Array2<f64> {
        let tensor = learner.model.parameters.get(name).inner();
        let [rows, columns] = tensor.dims();
        let values = floats(tensor).into_iter().map(f64::from).collect();
        Array2::from_shape_vec((rows, columns), values).unwrap()
    }

    /// `W1 diag(1 - tanh^2) W2`, and for cross-entropy each pixel times `p (1 - p)`: a network small enough for the chain rule by hand.
    #[test]
    fn a_small_network_by_the_chain_rule() {
        for loss in ["mse", "bce"] {
            let settings = format!("reconstruction = '{loss}'");
            let learner = learner(("vae", &settings), MLP, POINT, Device::cpu());
            let [first, last] = ["decoder.hidden0.weight", "decoder.outputs.weight"].map(|name| matrix(&learner, name));
            let codes = array![[0.3_f32, -1.1, 0.7], [0.0, 0.0, 0.0]];
            let found = learner.trained().jacobians(&codes).unwrap();
            for (code, jacobian) in codes.rows().into_iter().zip(found.outer_iter()) {
                // Biases begin at 0.
                let hidden: Array1<f64> = code.mapv(f64::from).dot(&first).mapv(f64::tanh);
                let outputs = hidden.dot(&last);
                for ((pixel, latent), value) in jacobian.indexed_iter() {
                    let along: f64 = (0..7)
                        .map(|unit| first[[latent, unit]] * (1.0 - hidden[unit].powi(2)) * last[[unit, pixel]])
                        .sum();
                    let p = 1.0 / (1.0 + (-outputs[pixel]).exp());
                    let wanted = if loss == "bce" { p * (1.0 - p) * along } else { along };
                    assert!((f64::from(*value) - wanted).abs() < 1e-6, "{loss} {pixel} {latent}: {value} {wanted}");
                }
            }
        }
    }

    /// Slopes between the values of each pixel at a step to both sides, latent by latent.
    fn dense_differences(model: &TrainedModel, code: &Array1<f32>, step: f32) -> Array2<f64> {
        let moved = |latent: usize, by: f32| {
            let mut code = code.clone();
            code[latent] += by;
            model.decode(&code.insert_axis(ndarray::Axis(0))).unwrap()
        };
        let columns: Vec<[Vec<f32>; 2]> =
            (0..code.len()).map(|latent| [moved(latent, step), moved(latent, -step)]).collect();
        Array2::from_shape_fn((columns[0][0].len(), code.len()), |(pixel, latent)| {
            let [above, below] = columns[latent].each_ref().map(|image| f64::from(image[pixel]));
            (above - below) / (2.0 * f64::from(step))
        })
    }

    #[test]
    fn convolutions_by_differences() {
        let shape = ImageShape { height: 64, width: 64, channels: 1 };
        let model = learner(("ae", ""), ("conv64", "latents = 2"), shape, Device::cpu()).trained();
        let code = array![0.8_f32, -0.4];
        let exact = model.jacobians(&code.clone().insert_axis(ndarray::Axis(0))).unwrap();
        let exact = exact.index_axis(ndarray::Axis(0), 0).mapv(f64::from);
        let norm = |table: &Array2<f64>| table.iter().map(|value| value * value).sum::<f64>().sqrt();
        // ReLUs that bend within the step change some slopes: 2.7 % of the norm at this step, and more at larger ones.
        let apart = norm(&(&exact - &dense_differences(&model, &code, 1.0 / 256.0)));
        assert!(apart < 0.05 * norm(&exact), "{apart} of {}", norm(&exact));
        // Biases begin at 0, and ReLUs bend at 0 alone: what twice the code draws is twice the picture, so that J z is the picture (Euler's theorem).
        let drawn = model.decode(&code.clone().insert_axis(ndarray::Axis(0))).unwrap();
        let largest = drawn.iter().fold(0.0_f32, |largest, pixel| largest.max(pixel.abs()));
        for (along, pixel) in exact.dot(&code.mapv(f64::from)).iter().zip(&drawn) {
            assert!((along - f64::from(*pixel)).abs() < 1e-5 * f64::from(largest), "{along} {pixel}");
        }
    }

    #[test]
    fn operations_of_burn_give_the_same() {
        let codes = array![[0.3_f32, -1.1, 0.7]];
        let [ours, burns] = [Device::cpu(), Device::cpu_of_burn()]
            .map(|device| learner(("vae", ""), MLP, POINT, device).trained().jacobians(&codes).unwrap());
        assert!(ours.iter().zip(&burns).all(|(a, b)| (a - b).abs() < 1e-6), "{ours} {burns}");
    }

    #[test]
    fn without_a_decoder_there_are_none() {
        let model = learner(("pcl", ""), ("linear", "latents = 2"), POINT, Device::cpu()).trained();
        assert!(model.jacobians(&array![[0.0, 0.0]]).is_none());
    }
}
