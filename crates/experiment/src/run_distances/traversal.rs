//! Distances within one traversal of a factor, at the levels of a trained model.

use std::ops::ControlFlow;

use ndarray::{Array2, ArrayView1};
use unbraid_data::Result;
use unbraid_data::datasets::read_images;

use crate::trained_run::TrainedRun;

/// Distances within one traversal, `[values, values]` each.
pub(super) struct Traversal {
    /// By the reconstruction loss.
    pub(super) images: Array2<f64>,
    /// L1 distances of codes.
    pub(super) codes: Array2<f64>,
    /// L2 distances of codes.
    pub(super) latent_means: Array2<f64>,
    /// KL divergences, where posteriors are Gaussians of independent latents.
    pub(super) posteriors: Option<Array2<f64>>,
    /// By the reconstruction loss, where there is a decoder.
    pub(super) reconstructions: Option<Array2<f64>>,
}

/// The distances within the traversal through these images, from the first value of a factor to its last.
pub(super) fn traversal(run: &TrainedRun, images: &[usize]) -> Result<Traversal> {
    let (dataset, model) = (run.dataset.as_ref(), &run.model);
    let encoded = model.encode(dataset, images, |_| ControlFlow::Continue(()))?.expect("nobody asks to stop");
    let codes = encoded.codes.mapv(f64::from); // [values, latents]
    let between = |distance: &dyn Fn(usize, usize) -> f64| {
        Array2::from_shape_fn((images.len(), images.len()), |(i, j)| distance(i, j))
    };
    let differences = |i: usize, j: usize| codes.row(i).into_owned() - codes.row(j);
    // Posteriors that keep KL divergences of their own are no Gaussians of independent latents.
    let log_variances = encoded.log_variances.filter(|_| encoded.kl_divergences.is_none());
    let log_variances = log_variances.map(|table| table.mapv(f64::from)); // [values, latents]
    Ok(Traversal {
        images: model.distances_between(&read_images(dataset, images)?),
        codes: between(&|i, j| differences(i, j).mapv(f64::abs).sum()),
        latent_means: between(&|i, j| differences(i, j).mapv(|value| value * value).sum().sqrt()),
        posteriors: log_variances
            .map(|of| between(&|i, j| gaussian_divergence([&codes.row(i), &of.row(i)], [&codes.row(j), &of.row(j)]))),
        reconstructions: model.decode(&encoded.codes).map(|pixels| model.distances_between(&pixels)),
    })
}

/// `KL(p || q)` in nats of Gaussians of independent latents, each given by means and log-variances `[latents]`.
fn gaussian_divergence(p: [&ArrayView1<f64>; 2], q: [&ArrayView1<f64>; 2]) -> f64 {
    let of_latent = |latent: usize| {
        let [[mean_p, log_p], [mean_q, log_q]] = [p, q].map(|of| of.map(|values| values[latent]));
        let difference = log_p - log_q;
        0.5 * (difference.exp() - 1.0 - difference + (mean_p - mean_q).powi(2) * (-log_q).exp())
    };
    (0..p[0].len()).map(of_latent).sum()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_divergence_of_two_gaussians_by_hand() {
        // N(1, 4) from N(3, 1): ln(1/2) + (4 + 4) / 2 - 1/2; the other way ln 2 + (1 + 4) / 8 - 1/2. The second latent is N(0, 1) in both.
        let (wide, narrow) = ([array![1.0, 0.0], array![4.0_f64.ln(), 0.0]], [array![3.0, 0.0], array![0.0, 0.0]]);
        let divergence = |p: &[ndarray::Array1<f64>; 2], q: &[ndarray::Array1<f64>; 2]| {
            gaussian_divergence([&p[0].view(), &p[1].view()], [&q[0].view(), &q[1].view()])
        };
        assert!((divergence(&wide, &narrow) - (0.5_f64.ln() + 3.5)).abs() < 1e-12);
        assert!((divergence(&narrow, &wide) - (2.0_f64.ln() + 0.125)).abs() < 1e-12);
        assert_eq!(divergence(&wide, &wide), 0.0);
    }
}
