//! A trained model, for reading: codes of images, and images of codes.

use std::ops::ControlFlow;
use std::sync::Arc;

use burn::tensor::Tensor;
use ndarray::Array2;
use unbraid_data::datasets::read_images;
use unbraid_data::{Dataset, Result};

use crate::frameworks::Framework;
use crate::model::Model;
use crate::posteriors::Moved;
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
        for (batch_index, batch) in rows.chunks(AT_ONCE).enumerate() {
            let images = self.tensor(read_images(dataset, batch)?, dataset.image_shape().n_pixels());
            let posterior = self.model.encode(images.clone());
            let (code, kept) = (posterior.code(), posterior.kept());
            codes.extend(floats(code.clone()));
            log_variances.extend(kept.log_variances.map(floats).unwrap_or_default());
            kl_divergences.extend(kept.kl_divergences.map(floats).unwrap_or_default());
            if let Some(reconstruction) = self.framework.reconstruction() {
                losses.extend(floats(reconstruction.per_image(&self.model, self.model.decode(code), images)));
            }
            if progress(batch_index * AT_ONCE + batch.len()).is_break() {
                return Ok(None);
            }
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

    fn tensor(&self, values: Vec<f32>, n_columns: usize) -> Tensor<2> {
        let n_rows = values.len() / n_columns;
        self.model.parameters.tensor(values, [n_rows, n_columns])
    }
}
