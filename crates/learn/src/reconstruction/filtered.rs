//! What the losses share that also compare filtered images: squared error, and with a weight that of the filtered images (T1 equations 3.8
//! and 6.3). Each channel is filtered for itself, and beyond an image's edges there is nothing, as in disent.

use std::sync::{Arc, OnceLock};

use burn::tensor::Tensor;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use unbraid_data::ImageShape;
use unbraid_data::settings::{Setting, Values};

use super::{Compared, mse};
use crate::frameworks::MOST_WEIGHT;
use crate::model::Model;
use crate::ops::{FilterShape, FilteredError, PixelLoss, filtered_sums};
use crate::tensors::floats;

/// The weight of what is filtered.
pub const WEIGHT_SETTING: Setting = Setting {
    name: "weight",
    values: Values::Number(0.0, MOST_WEIGHT),
    meaning: "weight of the squared error of the filtered images, beside that of the images",
};

/// A filter and its weight, made for the shape of a model's images.
#[derive(Debug, Default)]
pub struct Filtered {
    made: OnceLock<Made>,
}

#[derive(Debug)]
struct Made {
    error: Arc<FilteredError>,
    /// The kernel `[side, side]` times the root of its weight.
    kernel: Vec<f32>,
}

impl Filtered {
    /// Makes it: `filter` is what the kernel `[side, side]` does, and sums of the squares of what it gives have this weight.
    pub fn make(&self, shape: ImageShape, filter: impl FnOnce(FilterShape) -> FilteredError, kernel: Vec<f32>) {
        let ImageShape { height, width, channels } = shape;
        self.made.get_or_init(|| Made { error: Arc::new(filter(FilterShape { height, width, channels })), kernel });
    }

    fn made(&self) -> &Made {
        self.made.get().expect("a model was made, and the filter for its images")
    }

    /// The loss of each image, `[batch, 1]`.
    pub fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        if model.parameters.device().has_kernels() {
            return filtered_sums(outputs, images, self.made().error.clone());
        }
        let pixels = mse::squared_errors(model, outputs.clone(), images.clone());
        pixels + self.of_burn(model, outputs - images).powi_scalar(2).sum_dim(1)
    }

    /// Pixels and filtered pixels side by side, these times the root of their weight.
    pub fn compared(&self, model: &Model, images: Tensor<2>) -> Compared {
        let numbers = if model.parameters.device().has_kernels() {
            let FilteredError { filter, weight } = self.made().error.as_ref();
            let (n_values, mut filtered) = (filter.shape().n_values(), floats(images.clone()));
            for image in filtered.chunks_exact_mut(n_values) {
                let before = image.to_vec();
                filter.apply(&before, image);
                image.iter_mut().for_each(|value| *value *= weight.sqrt());
            }
            Tensor::cat(vec![images.clone(), model.parameters.tensor(filtered, images.dims())], 1)
        } else {
            Tensor::cat(vec![images.clone(), self.of_burn(model, images)], 1)
        };
        Compared { outputs: numbers.clone(), images: numbers, loss: PixelLoss::SquaredError }
    }

    /// Filtered images `[batch, pixels]`, times the root of the weight, by burn's own operations, which turn a kernel by half a turn.
    fn of_burn(&self, model: &Model, images: Tensor<2>) -> Tensor<2> {
        let ImageShape { height, width, channels } = model.image_shape;
        let (side, n_images) = (self.made().kernel.len().isqrt(), images.dims()[0]);
        let turned = self.made().kernel.iter().rev().copied().collect();
        let weight = model.parameters.tensor(turned, [1, 1, side, side]);
        let planes = images.reshape([n_images, height, width, channels]).permute([0, 3, 1, 2]);
        let planes = planes.reshape([n_images * channels, 1, height, width]);
        let options = ConvOptions::new([1; 2], [side / 2; 2], [1; 2], 1);
        conv2d(planes, weight, None, options).reshape([n_images, channels * height * width])
    }
}
