//! Codes of images, and images of codes, without recording gradients.

use std::ops::ControlFlow;

use ndarray::Array2;
use unbraid_data::datasets::read_images;
use unbraid_data::{Dataset, Result};

use crate::learner::Learner;
use crate::model::Model;
use crate::posterior::PosteriorKind;
use crate::tensors::{floats, tensor};

/// Images that go through the network at once; fixed, so that the bits do not depend on memory or threads.
const AT_ONCE: usize = 256;

/// What a model says about some images of a dataset.
pub struct Encoded {
    /// Posterior means, `[rows, latents]`.
    pub codes: Array2<f32>,
    /// Log-variances, `[rows, latents]`; none for a deterministic model.
    pub log_variances: Option<Array2<f32>>,
    /// Each image's reconstruction loss, summed over pixels, from its code, `[rows]`.
    pub reconstruction_losses: Vec<f32>,
}

/// Encodes the images with these numbers. `progress` is told how many are done and says whether to go on; nothing comes
/// of it where it breaks off.
pub fn encode(
    learner: &mut Learner,
    dataset: &dyn Dataset,
    rows: &[usize],
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<Encoded>> {
    let reconstruction = learner.framework.reconstruction();
    learner.model.without_gradients(|model| {
        let (mut codes, mut log_variances, mut losses) = (Vec::new(), Vec::new(), Vec::new());
        for (batch_index, batch) in rows.chunks(AT_ONCE).enumerate() {
            let images = tensor(
                read_images(dataset, batch)?,
                [batch.len(), dataset.image_shape().n_pixels()],
                model.parameters.device(),
            );
            let mean = match model.posterior() {
                PosteriorKind::Deterministic => model.encode_point(images.clone()),
                PosteriorKind::DiagonalGaussian => {
                    let posterior = model.encode_gaussian(images.clone());
                    log_variances.extend(floats(posterior.log_variance));
                    posterior.mean
                }
            };
            codes.extend(floats(mean.clone()));
            losses.extend(floats(reconstruction.per_image(model.decode(mean), images)));
            if progress(batch_index * AT_ONCE + batch.len()).is_break() {
                return Ok(None);
            }
        }
        let matrix =
            |values| Array2::from_shape_vec((rows.len(), model.latents()), values).expect("a row for each image");
        let log_variances = (!log_variances.is_empty()).then(|| matrix(log_variances));
        Ok(Some(Encoded { codes: matrix(codes), log_variances, reconstruction_losses: losses }))
    })
}

/// The images that codes `[rows, latents]` stand for, one after the other. Pixels may lie a little outside [0, 1].
pub fn decode(learner: &mut Learner, codes: &Array2<f32>) -> Vec<f32> {
    let reconstruction = learner.framework.reconstruction();
    learner.model.without_gradients(|model: &Model| {
        let codes = codes.as_standard_layout();
        let values = codes.as_slice().expect("the layout is standard");
        let chunks = values.chunks(AT_ONCE * model.latents()).map(|chunk| {
            let latents =
                tensor(chunk.to_vec(), [chunk.len() / model.latents(), model.latents()], model.parameters.device());
            floats((reconstruction.0.to_image)(model.decode(latents)))
        });
        chunks.collect::<Vec<_>>().concat()
    })
}
