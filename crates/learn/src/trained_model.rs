//! A trained model, for reading: codes of images, and images of codes.

use std::ops::ControlFlow;
use std::sync::Arc;

use burn::tensor::Tensor;
use ndarray::{Array2, Array3};
use unbraid_data::datasets::read_images;
use unbraid_data::{Dataset, Result};

use crate::frameworks::Framework;
use crate::jacobians::decoder_jacobians;
use crate::model::Model;
use crate::perturbation::Posteriors;
use crate::posteriors::Moved;
use crate::reconstruction::Reconstruction;
use crate::tensors::floats;

/// Images that go through the network at once; fixed, so that the bits do not depend on memory or threads.
const AT_ONCE: usize = 256;

/// A model that is not trained any more. Several threads may use it at once.
#[derive(Clone)]
pub struct TrainedModel {
    model: Model,
    framework: Arc<dyn Framework>,
}

/// What a model says about some images of a dataset.
#[derive(Debug, Default)]
pub struct Encoded {
    /// One code for each image, `[rows, latents]`.
    pub codes: Array2<f32>,
    /// Log-variances, `[rows, latents]`, where the posterior has them.
    pub log_variances: Option<Array2<f32>>,
    /// Each image's KL divergence from the prior, `[rows]`, where it does not follow from codes and log-variances.
    pub kl_divergences: Option<Vec<f32>>,
    /// Each image's reconstruction loss, summed over pixels, from its code, `[rows]`; none for a model without decoder.
    pub reconstruction_losses: Option<Vec<f32>>,
}

impl TrainedModel {
    /// A model that records nothing, with the framework that trained it.
    pub(crate) fn new(model: Model, framework: Arc<dyn Framework>) -> Self {
        Self { model, framework }
    }

    /// The model itself, which records nothing.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// How its decoder's outputs are compared with images; none for a model without decoder.
    pub fn reconstruction(&self) -> Option<&Reconstruction> {
        self.framework.reconstruction()
    }

    /// How many latents a code has.
    pub fn latents(&self) -> usize {
        self.model.latents()
    }

    /// Whether it can make images of codes.
    pub fn has_decoder(&self) -> bool {
        self.framework.reconstruction().is_some()
    }

    /// What the rows of a traversal move.
    pub fn moved(&self) -> Vec<Moved> {
        self.model.family().moved(self.latents())
    }

    /// Encodes the images with these numbers. `progress` hears how many are done and says whether to go on; nothing comes of it
    /// where it breaks off.
    ///
    /// ```
    /// # use toml::Table;
    /// # use unbraid_data::{Seed, datasets};
    /// # use unbraid_learn::{Device, Learner, frameworks, networks, optimisers};
    /// use std::ops::ControlFlow;
    ///
    /// # let dataset = datasets::build("xy_squares", &"squares = 1".parse()?)?;
    /// # let shape = dataset.image_shape();
    /// # let network = networks::build("linear", &"latents = 2".parse()?, shape)?;
    /// # let framework = frameworks::build("vae", &Table::new())?;
    /// # let optimiser = optimisers::build("adam", &Table::new())?;
    /// # let learner = Learner::new(network, framework, optimiser, shape, Seed(1), Device::cpu())?;
    /// let model = learner.trained();
    /// let encoded = model.encode(dataset.as_ref(), &[0, 1, 2], |_| ControlFlow::Continue(()))?.unwrap();
    /// let images = model.decode(&encoded.codes).unwrap();
    /// assert_eq!((encoded.codes.dim(), images.len()), ((3, 2), 3 * shape.n_pixels()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode(
        &self,
        dataset: &dyn Dataset,
        rows: &[usize],
        mut progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Encoded>> {
        let (mut codes, mut log_variances, mut kl_divergences, mut losses) = (vec![], vec![], vec![], vec![]);
        let went_on = self.each_batch(dataset, rows, &mut progress, |images| {
            let posterior = self.model.encode(images.clone());
            let (code, kept) = (posterior.code(), posterior.kept());
            codes.extend(floats(code.clone()));
            log_variances.extend(kept.log_variances.map(floats).unwrap_or_default());
            kl_divergences.extend(kept.kl_divergences.map(floats).unwrap_or_default());
            if let Some(reconstruction) = self.framework.reconstruction() {
                losses.extend(floats(reconstruction.per_image(&self.model, self.model.decode(code), images)));
            }
        })?;
        if went_on.is_break() {
            return Ok(None);
        }
        let matrix =
            |values| Array2::from_shape_vec((rows.len(), self.latents()), values).expect("a row for each image");
        let where_any = |values: Vec<f32>| Some(values).filter(|values| !values.is_empty());
        Ok(Some(Encoded {
            codes: matrix(codes),
            log_variances: where_any(log_variances).map(matrix),
            kl_divergences: where_any(kl_divergences),
            reconstruction_losses: where_any(losses),
        }))
    }

    /// Whether the posterior of an image is a Gaussian with diagonal covariance.
    pub fn has_diagonal_posterior(&self) -> bool {
        let n_pixels = self.model.image_shape.n_pixels();
        let kept = self.model.encode(self.tensor(vec![0.0; n_pixels], n_pixels)).kept();
        kept.log_variances.is_some() && kept.kl_divergences.is_none()
    }

    /// Means and log-variances, `[rows, latents]` both, of the posteriors of the images with these numbers, without decoding them; the
    /// posterior has to be diagonal. `progress` as in [`TrainedModel::encode`].
    pub fn posteriors(
        &self,
        dataset: &dyn Dataset,
        rows: &[usize],
        mut progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Posteriors>> {
        let (mut means, mut log_variances) = (Vec::new(), Vec::new());
        let went_on = self.each_batch(dataset, rows, &mut progress, |images| {
            let posterior = self.model.encode(images);
            means.extend(floats(posterior.code()));
            log_variances.extend(floats(posterior.kept().log_variances.expect("the posterior is diagonal")));
        })?;
        Ok(went_on.is_continue().then_some(Posteriors { means, log_variances }))
    }

    /// Reads images batch by batch.
    fn each_batch(
        &self,
        dataset: &dyn Dataset,
        rows: &[usize],
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
        mut look: impl FnMut(Tensor<2>),
    ) -> Result<ControlFlow<()>> {
        for (batch_index, batch) in rows.chunks(AT_ONCE).enumerate() {
            look(self.tensor(read_images(dataset, batch)?, dataset.image_shape().n_pixels()));
            if progress(batch_index * AT_ONCE + batch.len()).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The images that codes `[rows, latents]` stand for, one after the other; none where there is no decoder. Pixels may lie a little
    /// outside [0, 1].
    pub fn decode(&self, codes: &Array2<f32>) -> Option<Vec<f32>> {
        let reconstruction = self.framework.reconstruction()?;
        let codes = codes.as_standard_layout();
        let values = codes.as_slice().expect("the layout is standard");
        let chunks = values.chunks(AT_ONCE * self.latents()).map(|chunk| {
            let latents = self.tensor(chunk.to_vec(), self.latents());
            floats(reconstruction.loss.to_image(self.model.decode(latents)))
        });
        Some(chunks.collect::<Vec<_>>().concat())
    }

    /// How each latent moves each pixel of the images that codes `[codes, latents]` stand for: exact Jacobians, `[codes, pixels, latents]`, of what
    /// [`TrainedModel::decode`] gives; none where there is no decoder.
    ///
    /// ```
    /// # use toml::Table;
    /// # use unbraid_data::{ImageShape, Seed};
    /// # use unbraid_learn::{Device, Learner, frameworks, networks, optimisers};
    /// # let shape = ImageShape { height: 1, width: 1, channels: 3 };
    /// # let network = networks::build("linear", &"latents = 2".parse()?, shape)?;
    /// # let framework = frameworks::build("vae", &Table::new())?;
    /// # let optimiser = optimisers::build("adam", &Table::new())?;
    /// # let learner = Learner::new(network, framework, optimiser, shape, Seed(1), Device::cpu())?;
    /// let jacobians = learner.trained().jacobians(&ndarray::array![[0.0, 1.0]]).unwrap();
    /// assert_eq!(jacobians.dim(), (1, 3, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn jacobians(&self, codes: &Array2<f32>) -> Option<Array3<f32>> {
        Some(decoder_jacobians(&self.model, self.framework.reconstruction()?, codes))
    }

    /// The name of the loss that [`TrainedModel::distances_between`] compares images by.
    pub fn image_loss(&self) -> &'static str {
        self.image_comparison().entry.name
    }

    /// How far apart images `[rows, pixels]` are as the model's reconstruction loss sees them, `[rows, rows]`: a mean over pixels, which is 0 from
    /// an image to itself and the same both ways. By squared error where there is no decoder.
    ///
    /// Half the loss of either image where the other is wanted, less that of each where it is wanted itself: `(L(a, b) + L(b, a) - L(a, a) -
    /// L(b, b)) / 2`. For squared and absolute errors that is the loss itself, since the loss of an image by itself is 0; for cross-entropy it is
    /// the mean of both KL divergences between the pixels' distributions, in which what the loss leaves out cancels.
    pub fn distances_between(&self, images: &[f32]) -> Array2<f64> {
        let n_pixels = self.model.image_shape.n_pixels();
        let n_rows = images.len() / n_pixels;
        let pairs: Vec<[usize; 2]> =
            (0..n_rows).flat_map(|first| (0..n_rows).map(move |second| [first, second])).collect();
        let tensor = self.tensor(images.to_vec(), n_pixels);
        let sums = self.image_comparison().between_images(&self.model, &tensor, &pairs);
        let of = |first: usize, second: usize| sums[first * n_rows + second];
        Array2::from_shape_fn((n_rows, n_rows), |(a, b)| {
            ((of(a, b) + of(b, a) - of(a, a) - of(b, b)) / 2.0 / n_pixels as f64).max(0.0)
        })
    }

    fn image_comparison(&self) -> Reconstruction {
        self.framework.reconstruction().cloned().unwrap_or_default()
    }

    fn tensor(&self, values: Vec<f32>, n_columns: usize) -> Tensor<2> {
        let n_rows = values.len() / n_columns;
        self.model.parameters.tensor(values, [n_rows, n_columns])
    }
}

#[cfg(test)]
mod tests {
    use toml::Table;
    use unbraid_data::{ImageShape, Seed};

    use super::*;
    use crate::{Device, Learner, frameworks, networks, optimisers};

    const SHAPE: ImageShape = ImageShape { height: 1, width: 2, channels: 1 };

    fn model(framework: &str, settings: &str) -> TrainedModel {
        let network = networks::build("linear", &"latents = 2".parse().unwrap(), SHAPE).unwrap();
        let framework = frameworks::build(framework, &settings.parse().unwrap()).unwrap();
        let optimiser = optimisers::build("adam", &Table::new()).unwrap();
        Learner::new(network, framework, optimiser, SHAPE, Seed(1), Device::cpu()).unwrap().trained()
    }

    #[test]
    fn images_are_as_far_apart_as_the_loss_says() {
        let images = [0.0, 0.5, 1.0, 0.25, 0.0, 0.5];
        let squared = model("vae", "reconstruction = 'mse'");
        assert_eq!(squared.image_loss(), "mse");
        // (1 + 1/16) / 2 between the first two, and the third is the first once more.
        let apart = 17.0 / 32.0;
        assert_eq!(
            squared.distances_between(&images),
            ndarray::arr2(&[[0.0, apart, 0.0], [apart, 0.0, apart], [0.0, apart, 0.0]])
        );
        let absolute = model("vae", "reconstruction = 'mae'").distances_between(&images);
        assert_eq!(absolute[[0, 1]], 1.25 / 2.0);
    }

    #[test]
    fn cross_entropy_is_made_a_distance() {
        let crossed = model("vae", "reconstruction = 'bce'");
        assert_eq!(crossed.image_loss(), "bce");
        // Pixels 1/2 and 3/4 have logits 0 and ln 3: half of (0 - ln 3)(1/2 - 3/4), over two pixels. Pixels 0 and 1 have -100 and 100.
        let found = crossed.distances_between(&[0.5, 0.0, 0.75, 0.0, 0.5, 1.0]);
        let near = 3.0_f64.ln() / 4.0 / 2.0 / 2.0;
        assert!((found[[0, 1]] - near).abs() < 1e-6, "{found}");
        assert!((found[[0, 2]] - 50.0).abs() < 1e-6, "{found}");
        assert_eq!((found[[1, 1]], found[[1, 0]]), (0.0, found[[0, 1]]));
    }
}
