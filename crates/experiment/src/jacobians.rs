//! How each latent moves each pixel that a trained decoder draws: its Jacobians at some of the codes.
//!
//! They are central differences, `(draw(z + h e_j) - draw(z - h e_j)) / 2h`, of the pictures as they are shown (after the
//! sigmoid of a loss that has one, in the original colours of a standardised dataset). Their error is about `h^2 / 6` times the third derivative, from the bend, plus `e / h`,
//! from pixels that are known to `e`, about 1e-6 for a network of 32-bit floats. Both together are least near
//! `h = (3 e)^(1/3)`, which is 1.4e-2.
//!
//! Exact ones, by backward passes ([`TrainedModel::jacobians`]), cost as many images as an image has pixels, where differences cost two
//! a latent; docs/inside.md tells how near the two are.
//!
//! They are 32-bit floats, as they are saved: rounding to these changes a value by a part in ten million, differencing by a
//! few parts in ten thousand. What is scored is what was rounded, so that a run's codes give the same scores whenever they
//! are read again.

use std::path::Path;

use ndarray::{Array2, Array3, ArrayView2, Axis};
use unbraid_data::words::quoted;
use unbraid_data::{Dataset, LabelledCodes, Result};
use unbraid_learn::TrainedModel;
use unbraid_metrics::Need;

use crate::config::Named;
use crate::trained_run::decode_as_shown;

/// How many codes there are Jacobians of, spread evenly over the rows; their mean is known to a few hundredths then.
const CODES: usize = 100;
/// There are Jacobians of fewer codes where there would be more numbers than this, which take 64 MB as they are saved:
/// 100 codes of 10 latents have as many at 16,777 pixels. Of one code there always are.
const MOST_NUMBERS: usize = 1 << 24;
/// How far a latent is moved to each side; a power of two, so that adding it to a code rounds least.
const STEP: f32 = 1.0 / 64.0;
/// About how many pictures are drawn at once, which bounds the memory that they take.
const AT_ONCE: usize = 256;

/// How Jacobians are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Way {
    /// Central differences.
    #[default]
    Differences,
    /// Backward passes.
    Exact,
}

/// Whether one of these metrics needs the decoder's Jacobians.
pub fn wants_jacobians(metrics: &[Named]) -> bool {
    let needs =
        |metric: &Named| unbraid_metrics::find(&metric.name).is_ok_and(|entry| entry.needs.contains(&Need::Jacobians));
    metrics.iter().any(needs)
}

/// Why the codes of a run are without Jacobians: its config names no metric that needs them, or an earlier version made it.
pub fn why_no_jacobians(run: &Path) -> String {
    let place = quoted(run);
    format!("needs the decoder's Jacobians, which {place} does not hold: `unbraid report {place}` makes jacobians.npy")
}

/// Why the codes of a model without decoder are without Jacobians.
pub const NO_DECODER: &str = "needs the decoder's Jacobians, and the model has no decoder";

/// The codes together with their decoder's Jacobians; with the reason why there are none, where there is no decoder.
pub fn with_jacobians(data: LabelledCodes, model: &TrainedModel, dataset: &dyn Dataset) -> Result<LabelledCodes> {
    let first = data.codes().select(Axis(0), &[0]).mapv(|value| value as f32);
    let Some(n_pixels) = model.decode(&first).map(|pixels| pixels.len()) else {
        return Ok(data.without_jacobians(NO_DECODER.to_string()));
    };
    let rows = rows_with_jacobians(data.n_rows(), n_pixels, data.n_latents(), CODES);
    let codes = data.codes().select(Axis(0), &rows).mapv(|value| value as f32);
    let jacobians = decoder_jacobians(model, dataset, &codes, STEP);
    data.with_jacobians(jacobians.mapv(f64::from))
}

/// The rows whose codes there are Jacobians of, in rising order: as many as are wanted, where there are enough and they are not too large.
pub(crate) fn rows_with_jacobians(n_rows: usize, n_pixels: usize, n_latents: usize, n_wanted: usize) -> Vec<usize> {
    let most = (MOST_NUMBERS / (n_pixels * n_latents)).max(1);
    let n_codes = n_wanted.min(n_rows).min(most);
    (0..n_codes).map(|code| code * n_rows / n_codes).collect()
}

/// The Jacobians of a model's decoder at `codes [codes, latents]`, `[codes, pixels, latents]`, of pictures as they are shown; none where
/// the model has no decoder.
pub fn jacobians_at(model: &TrainedModel, dataset: &dyn Dataset, codes: &Array2<f32>, way: Way) -> Option<Array3<f32>> {
    match way {
        Way::Differences => model.has_decoder().then(|| decoder_jacobians(model, dataset, codes, STEP)),
        Way::Exact => {
            let mut jacobians = model.jacobians(codes)?;
            if let Some(standardised) = dataset.as_standardised() {
                let n_channels = dataset.image_shape().channels;
                for (pixel, mut of_pixel) in jacobians.axis_iter_mut(Axis(1)).enumerate() {
                    of_pixel *= standardised.divisor_of(pixel % n_channels);
                }
            }
            Some(jacobians)
        }
    }
}

/// The Jacobians of a model's decoder, which it has, at `codes [codes, latents]`, `[codes, pixels, latents]`.
fn decoder_jacobians(model: &TrainedModel, dataset: &dyn Dataset, codes: &Array2<f32>, step: f32) -> Array3<f32> {
    let draw = |codes: &Array2<f32>| decode_as_shown(model, dataset, codes).expect("the model has a decoder");
    central_differences(draw, codes, step)
}

/// The Jacobians of `draw`, from codes `[rows, latents]` to all their pixels one after the other.
fn central_differences(mut draw: impl FnMut(&Array2<f32>) -> Vec<f32>, codes: &Array2<f32>, step: f32) -> Array3<f32> {
    let n_latents = codes.ncols();
    let codes_at_once = (AT_ONCE / (2 * n_latents)).max(1);
    let mut values = Vec::new();
    let mut n_pixels = 0;
    for some in codes.axis_chunks_iter(Axis(0), codes_at_once) {
        let moved = moved_codes(&some, step);
        let drawn = draw(&moved);
        n_pixels = drawn.len() / moved.nrows();
        for code in 0..some.nrows() {
            for pixel in 0..n_pixels {
                for latent in 0..n_latents {
                    let up = 2 * (code * n_latents + latent);
                    // What the code was moved by, which its rounding may have changed a little.
                    let width = f64::from(moved[[up, latent]]) - f64::from(moved[[up + 1, latent]]);
                    let [above, below] = [up, up + 1].map(|row| f64::from(drawn[row * n_pixels + pixel]));
                    values.push(((above - below) / width) as f32);
                }
            }
        }
    }
    Array3::from_shape_vec((codes.nrows(), n_pixels, n_latents), values).expect("a value for each pixel and latent")
}

/// For each code of `codes [codes, latents]` and each latent the code with this latent moved up, then moved down,
/// `[codes * latents * 2, latents]`.
fn moved_codes(codes: &ArrayView2<f32>, step: f32) -> Array2<f32> {
    let (n_codes, n_latents) = codes.dim();
    Array2::from_shape_fn((2 * n_latents * n_codes, n_latents), |(row, latent)| {
        let (code, moved_latent, is_down) = (row / (2 * n_latents), row / 2 % n_latents, row % 2 == 1);
        let value = codes[[code, latent]];
        // Larger for values beyond 1, which would else swallow the step.
        let step = step * value.abs().max(1.0);
        match (latent == moved_latent, is_down) {
            (false, _) => value,
            (true, false) => value + step,
            (true, true) => value - step,
        }
    })
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::Seed;
    use unbraid_metrics::metrics::dto::local_decoder;
    use unbraid_metrics::statistics::normal::normal_noise;

    use super::*;
    use crate::Config;
    use crate::prepare::prepare;

    #[test]
    fn a_bent_map_within_the_stated_error() {
        // sin(a) + b^2 and a b in 32-bit floats, at two codes: cos(a), 2b; b, a.
        let draw = |codes: &Array2<f32>| {
            let rows = codes.rows().into_iter();
            rows.flat_map(|code| [code[0].sin() + code[1] * code[1], code[0] * code[1]]).collect()
        };
        let codes = array![[0.3_f32, -0.7], [-1.1, 100.0]];
        let found = central_differences(draw, &codes, STEP);
        for (code, of_code) in codes.rows().into_iter().zip(found.outer_iter()) {
            let (a, b) = (f64::from(code[0]), f64::from(code[1]));
            let error = (of_code.mapv(f64::from) - array![[a.cos(), 2.0 * b], [b, a]]).mapv(f64::abs);
            assert!(error.iter().all(|&error| error < 1e-4 * (1.0 + b.abs())), "{error}");
        }
    }

    #[test]
    fn the_step_has_about_the_least_error() {
        // A sigmoid whose values are rounded to 1e-6; its third derivative is up to 1/8.
        let draw = |codes: &Array2<f32>| {
            codes.iter().map(|value| (1e6 / (1.0 + (-value).exp())).round() / 1e6).collect::<Vec<f32>>()
        };
        let codes = Array2::from_shape_fn((200, 1), |(row, _)| row as f32 / 50.0 - 2.0);
        let error = |step: f32| {
            let found = central_differences(draw, &codes, step);
            let errors = codes.iter().zip(&found).map(|(&value, found)| {
                let sigmoid = 1.0 / (1.0 + (-f64::from(value)).exp());
                (f64::from(*found) - sigmoid * (1.0 - sigmoid)).powi(2)
            });
            (errors.sum::<f64>() / 200.0).sqrt()
        };
        assert!(error(STEP) < 1e-4, "{}", error(STEP));
        for other in [STEP / 16.0, STEP * 16.0] {
            assert!(error(STEP) < error(other), "{} at {other}", error(other));
        }
    }

    #[test]
    fn large_pictures_have_jacobians_of_fewer_codes() {
        assert_eq!(rows_with_jacobians(250, 4_096, 10, 100), (0..100).map(|code| code * 5 / 2).collect::<Vec<_>>());
        assert_eq!(rows_with_jacobians(3, 4_096, 10, 100), [0, 1, 2]);
        // 128 x 128 pixels of three colours: 34 codes, which take 67 million bytes.
        assert_eq!(rows_with_jacobians(1_000, 3 << 14, 10, 100).len(), 34);
        assert_eq!(rows_with_jacobians(1_000, 1 << 25, 10, 100), [0]);
    }

    #[test]
    fn a_linear_decoder_has_its_matrix_everywhere() {
        let text = "[dataset]\nname = \"synth_linear\"\n[framework]\nname = \"beta_vae\"\nreconstruction = \"mse\"\n\
                    [model]\nname = \"linear\"\n";
        let prepared = prepare(&Config::parse(text, &[]).unwrap()).unwrap();
        let model = prepared.learner.trained();
        // What it draws of 0 and of each axis tells its matrix.
        let drawn = model.decode(&array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap();
        let n_pixels = drawn.len() / 3;
        let found = decoder_jacobians(&model, prepared.dataset.as_ref(), &array![[0.0, 0.0], [0.4, -2.0]], STEP);
        assert_eq!(found.dim(), (2, n_pixels, 2));
        for ((_, pixel, latent), value) in found.indexed_iter() {
            let expected = drawn[(latent + 1) * n_pixels + pixel] - drawn[pixel];
            assert!((value - expected).abs() < 1e-4, "{value}, {expected}");
        }
    }

    /// Codes like those of a standard normal prior, `[codes, latents]`.
    fn codes_of_the_prior(n_codes: usize, n_latents: usize) -> Array2<f32> {
        let mut rng = Seed(1).stream("codes");
        Array2::from_shape_simple_fn((n_codes, n_latents), || normal_noise(&mut rng) as f32)
    }

    /// DtO of Jacobians over all latents.
    fn dto(jacobians: &Array3<f32>) -> f64 {
        let each = jacobians.outer_iter().map(|one| local_decoder(&one.mapv(f64::from)).distance.unwrap());
        each.sum::<f64>() / jacobians.dim().0 as f64
    }

    #[test]
    fn differences_are_as_good_as_backward_passes() {
        let grey = "[dataset]\nname = 'xy_squares'\nsquares = 1\nrgb = false\n";
        let mlp = "[model]\nname = 'mlp'\nlatents = 4\nencoder = [8]\ndecoder = [20]\nnonlinearity = 'tanh'\n";
        let conv = "[model]\nname = 'conv64'\nlatents = 4\n";
        let points = "[dataset]\nname = 'synth_nonlinear'\nstandardise = true\n";
        // ReLUs bend within the step. Those of a conv64 whose weights were drawn at random all bend at the code 0: Jacobians are 11 % apart, and with singular
        // values that are nearly equal DtO is 0.03; docs/inside.md tells of trained ones. Smooth networks are a few parts in ten thousand apart.
        for (dataset, model, loss, n_codes, apart_at_most, dto_at_most) in
            [(points, mlp, "mse", 20, 1e-3, 1e-3), (grey, mlp, "bce", 5, 1e-3, 1e-3), (grey, conv, "mse", 2, 0.2, 0.1)]
        {
            let text = format!("{dataset}[framework]\nname = 'beta_vae'\nreconstruction = '{loss}'\n{model}");
            let prepared = prepare(&Config::parse(&text, &[]).unwrap()).unwrap();
            let (trained, codes) = (prepared.learner.trained(), codes_of_the_prior(n_codes, 4));
            let of = |way: Way| jacobians_at(&trained, prepared.dataset.as_ref(), &codes, way).unwrap();
            let (exact, differences) = (of(Way::Exact), of(Way::Differences));
            let norm = |values: &Array3<f32>| values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
            let apart = norm(&(&exact - &differences)) / norm(&exact);
            let dto_apart = (dto(&exact) - dto(&differences)).abs();
            assert!(apart < apart_at_most && dto_apart < dto_at_most, "{model}{loss}: {apart} {dto_apart}");
        }
    }

    #[test]
    fn a_linear_decoder_with_known_directions_has_the_known_distance() {
        // M = U diag(3, 1) V' from two latents to three numbers, V turned by t: |V - 1|_F = sqrt(4 - 4 cos t).
        let text = "[dataset]\nname = 'synth_linear'\n[framework]\nname = 'beta_vae'\n[model]\nname = 'linear'\n";
        let mut prepared = prepare(&Config::parse(text, &[]).unwrap()).unwrap();
        let (sin, cos) = 0.4_f64.sin_cos();
        let right = array![[cos, -sin], [sin, cos]];
        let left = array![[2.0, -2.0], [1.0, 2.0], [2.0, 1.0]] / 3.0;
        let matrix = left.dot(&Array2::from_diag(&array![3.0, 1.0])).dot(&right.t()); // [pixels, latents]
        let weight = matrix.t().iter().map(|value| *value as f32).collect();
        prepared.learner.model.parameters.replace("decoder.outputs.weight", weight, &[2, 3]).unwrap();
        let model = prepared.learner.trained();
        for way in [Way::Differences, Way::Exact] {
            let found = jacobians_at(&model, prepared.dataset.as_ref(), &codes_of_the_prior(10, 2), way).unwrap();
            assert!((dto(&found) - (4.0 - 4.0 * cos).sqrt()).abs() < 1e-4, "{way:?}: {}", dto(&found));
            let singular = local_decoder(&found.index_axis(Axis(0), 0).mapv(f64::from)).singular_values;
            assert!((singular[0] - 3.0).abs() < 1e-4 && (singular[1] - 1.0).abs() < 1e-4, "{singular:?}");
        }
    }
}
