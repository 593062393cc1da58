//! Convolutional layers on top of each other.
//!
//! A few images go through all layers before the next ones, so that what one layer makes is still in the cache when the
//! next one reads it, forward and backward. The batch is divided by its size alone, never by the number of threads.

use rayon::prelude::*;

use crate::activation::{Activation, Finish, MaskedValues};
use crate::backward::Backward;
use crate::groups::{rows_of_group, sum_over_groups};
use crate::layer::{LayerShape, Method};
use crate::scratch::with_scratch;
use crate::shape::{check_len, check_wanted_len};

/// Most images that go through the layers together: enough for products of a good size in the layers of few pixels.
const BLOCK_IMAGES: usize = 16;

/// One layer with its parameters.
#[derive(Clone, Copy)]
pub struct StackLayer<'a> {
    /// Its kind and sizes.
    pub shape: LayerShape,
    /// Of a convolution `[kernel * kernel * in_channels, out_channels]`, of a transposed one
    /// `[in_channels, kernel * kernel * out_channels]`.
    pub weight: &'a [f32],
    /// `[out_channels]`.
    pub bias: &'a [f32],
    /// What its output goes through.
    pub activation: Activation,
}

/// Where the gradients of a stack go; none is computed that is not wanted. What the slices hold before is overwritten.
pub struct StackGradients<'a> {
    /// With respect to what went into the first layer.
    pub images: Option<&'a mut [f32]>,
    /// With respect to the weight and the bias of each layer.
    pub layers: Vec<Option<(&'a mut [f32], &'a mut [f32])>>,
}

/// Length of what the backward pass needs of the forward pass: the outputs of all layers but the last.
pub fn kept_len(shapes: &[LayerShape]) -> usize {
    shapes.first().map_or(0, LayerShape::batch) * kept_image_len(shapes)
}

fn kept_image_len(shapes: &[LayerShape]) -> usize {
    shapes.split_last().map_or(0, |(_, inner)| inner.iter().map(LayerShape::out_image_len).sum())
}

/// Sends `images`, `[batch, height, width, channels]`, through all layers into `out`. The outputs between them go to
/// `kept`, if they are wanted, which is [`kept_len`] long.
pub fn forward(layers: &[StackLayer], images: &[f32], kept: Option<&mut [f32]>, out: &mut [f32]) {
    let stack = Stack::new(layers);
    stack.check(images, kept.as_deref(), out);
    let block_images = stack.block_images();
    let blocks = images
        .par_chunks(block_images * stack.image_len())
        .zip(out.par_chunks_mut(block_images * stack.out_image_len()));
    stack.with_prepared(|prepared| match kept {
        Some(kept) if stack.kept_image_len > 0 => {
            let kept = kept.par_chunks_mut(block_images * stack.kept_image_len);
            blocks.zip(kept).for_each(|((images, out), kept)| stack.forward_block(images, prepared, kept, out));
        }
        _ => blocks.for_each(|(images, out)| {
            with_scratch(images.len() / stack.image_len() * stack.kept_image_len, |kept| {
                stack.forward_block(images, prepared, kept, out);
            });
        }),
    });
}

/// The gradients of [`forward`], from what it was given and made, and from the gradient of `out`.
pub fn backward(
    layers: &[StackLayer],
    images: &[f32],
    kept: &[f32],
    out: &[f32],
    grad_out: &[f32],
    gradients: StackGradients,
) {
    let stack = Stack::new(layers);
    stack.check(images, Some(kept), out);
    stack.check_gradients(grad_out, &gradients);
    let block_images = stack.block_images();
    let wanted: Vec<bool> = gradients.layers.iter().map(Option::is_some).collect();
    let pass = Pass { images, kept, out, grad_out, grad_images: gradients.images };
    let groups = stack.split(pass, rows_of_group(stack.batch, block_images));
    stack.with_prepared(|prepared| {
        let add_group = |group: Pass, sums: &mut [f32]| {
            for block in stack.split(group, block_images) {
                stack.backward_block(block, prepared, &wanted, sums);
            }
        };
        sum_over_groups(groups, stack.sums_len(&wanted), add_group, |sums| {
            let mut sums = sums;
            for ((_, method), gradients) in stack.layers.iter().zip(gradients.layers) {
                if let Some((grad_weight, grad_bias)) = gradients {
                    let (of_layer, others) = sums.split_at(method.prepared_len() + grad_bias.len());
                    method.finish_gradients(of_layer, grad_weight, grad_bias);
                    sums = others;
                }
            }
        });
    });
}

struct Stack<'a> {
    layers: Vec<(StackLayer<'a>, Method)>,
    batch: usize,
    kept_image_len: usize,
}

/// What goes into and comes out of a backward pass, for some images of the batch.
struct Pass<'a> {
    images: &'a [f32],
    kept: &'a [f32],
    out: &'a [f32],
    grad_out: &'a [f32],
    grad_images: Option<&'a mut [f32]>,
}

impl<'a> Stack<'a> {
    fn new(layers: &[StackLayer<'a>]) -> Self {
        assert!(!layers.is_empty(), "a stack must have a layer");
        let shapes: Vec<LayerShape> = layers.iter().map(|layer| layer.shape).collect();
        for pair in shapes.windows(2) {
            let (made, wanted) = (pair[0].out_image_len(), pair[1].image_len());
            assert!(made == wanted, "a layer makes images of {made} values but the next wants {wanted}");
            assert!(pair[0].batch() == pair[1].batch(), "all layers must have the same batch");
        }
        for layer in layers {
            check_len("weight", layer.weight.len(), layer.shape.weight_len());
            check_len("bias", layer.bias.len(), layer.shape.bias_len());
        }
        let layers = layers.iter().map(|layer| (*layer, layer.shape.method())).collect();
        Self { layers, batch: shapes[0].batch(), kept_image_len: kept_image_len(&shapes) }
    }

    fn check(&self, images: &[f32], kept: Option<&[f32]>, out: &[f32]) {
        check_len("images", images.len(), self.batch * self.image_len());
        check_len("out", out.len(), self.batch * self.out_image_len());
        if let Some(kept) = kept {
            check_len("kept", kept.len(), self.batch * self.kept_image_len);
        }
    }

    fn check_gradients(&self, grad_out: &[f32], gradients: &StackGradients) {
        check_len("grad_out", grad_out.len(), self.batch * self.out_image_len());
        check_wanted_len("grad_images", gradients.images.as_deref(), self.batch * self.image_len());
        assert!(gradients.layers.len() == self.layers.len(), "there must be gradients for each layer, or none of it");
        for ((layer, _), gradients) in self.layers.iter().zip(&gradients.layers) {
            if let Some((grad_weight, grad_bias)) = gradients {
                check_len("grad_weight", grad_weight.len(), layer.shape.weight_len());
                check_len("grad_bias", grad_bias.len(), layer.shape.bias_len());
            }
        }
    }

    fn image_len(&self) -> usize {
        self.layers[0].0.shape.image_len()
    }

    fn out_image_len(&self) -> usize {
        self.layers[self.layers.len() - 1].0.shape.out_image_len()
    }

    /// Images in a block: a group in as few equal parts as are not too large.
    fn block_images(&self) -> usize {
        let n_images = rows_of_group(self.batch, 1);
        n_images.div_ceil(n_images.div_ceil(BLOCK_IMAGES))
    }

    /// Length of the gradients of the prepared weights and biases of the layers where they are wanted.
    fn sums_len(&self, wanted: &[bool]) -> usize {
        let wanted = self.layers.iter().zip(wanted).filter(|(_, wanted)| **wanted);
        wanted.map(|((layer, method), _)| method.prepared_len() + layer.bias.len()).sum()
    }

    /// Calls `job` with the weights of all layers as they are wanted, one after the other.
    fn with_prepared(&self, job: impl FnOnce(&[f32])) {
        let len = self.layers.iter().map(|(_, method)| method.prepared_len()).sum();
        with_scratch(len, |prepared| {
            let mut rest = &mut prepared[..];
            for (layer, method) in &self.layers {
                let (of_layer, others) = rest.split_at_mut(method.prepared_len());
                method.prepare(layer.weight, of_layer);
                rest = others;
            }
            job(prepared);
        });
    }

    /// Some images through all layers. `kept` is the output of the first layer for all of them, then that of the second,
    /// and so on.
    fn forward_block(&self, images: &[f32], prepared: &[f32], kept: &mut [f32], out: &mut [f32]) {
        let n_images = images.len() / self.image_len();
        let (mut input, mut kept, mut prepared) = (images, kept, prepared);
        let n_inner = self.layers.len() - 1;
        for (layer, method) in &self.layers[..n_inner] {
            let (made, others) = kept.split_at_mut(n_images * layer.shape.out_image_len());
            let (weight, weights) = prepared.split_at(method.prepared_len());
            method.forward(input, weight, finish(layer), made);
            (input, kept, prepared) = (made, others, weights);
        }
        let (layer, method) = &self.layers[n_inner];
        method.forward(input, prepared, finish(layer), out);
    }

    /// Some images back through all layers; `sums` are as long as [`Stack::sums_len`] says.
    fn backward_block(&self, pass: Pass, prepared: &[f32], wanted: &[bool], sums: &mut [f32]) {
        let n_images = pass.images.len() / self.image_len();
        let largest = self.layers.iter().map(|(layer, _)| layer.shape.image_len()).max().unwrap_or(0);
        let (mut kept, mut prepared, mut sums) = (pass.kept, prepared, sums);
        let mut grad_images = pass.grad_images;
        with_scratch(2 * n_images * largest, |scratch| {
            let (mut spare, mut other) = scratch.split_at_mut(n_images * largest);
            // What came out of the layer at hand, and its gradient: at first the stack's, then that in `other`.
            let mut out = pass.out;
            for (depth, (layer, method)) in self.layers.iter().enumerate().rev() {
                let image_len = n_images * layer.shape.image_len();
                let wanted_below = grad_images.is_some() || wanted[..depth].contains(&true);
                if !wanted_below && !wanted[depth] {
                    break;
                }
                let (images, grad) = if depth == 0 {
                    (pass.images, grad_images.take())
                } else {
                    let (below, images) = kept.split_at(kept.len() - image_len);
                    kept = below;
                    (images, wanted_below.then_some(&mut spare[..image_len]))
                };
                let grad_out = if depth + 1 == self.layers.len() { pass.grad_out } else { &other[..out.len()] };
                let (weights, weight) = prepared.split_at(prepared.len() - method.prepared_len());
                let n_here = if wanted[depth] { weight.len() + layer.bias.len() } else { 0 };
                let (sums_below, sums_here) = sums.split_at_mut(sums.len() - n_here);
                let sums_here = wanted[depth].then_some(sums_here);
                let grad_out = MaskedValues::before(layer.activation, out, grad_out);
                method.backward(Backward { images, grad_out, grad_images: grad }, weight, sums_here);
                (out, prepared, sums) = (images, weights, sums_below);
                std::mem::swap(&mut spare, &mut other);
            }
        });
    }

    /// Divided into parts of `n_images` images; the last may have fewer.
    fn split<'p>(&self, pass: Pass<'p>, n_images: usize) -> Vec<Pass<'p>> {
        let mut grad_images = pass.grad_images.map(|grad| grad.chunks_mut(n_images * self.image_len()));
        let parts = pass.images.chunks(n_images * self.image_len()).enumerate().map(|(index, images)| {
            let part = |values: &'p [f32], image_len: usize| {
                let len = images.len() / self.image_len() * image_len;
                &values[index * n_images * image_len..][..len]
            };
            Pass {
                images,
                kept: part(pass.kept, self.kept_image_len),
                out: part(pass.out, self.out_image_len()),
                grad_out: part(pass.grad_out, self.out_image_len()),
                grad_images: grad_images.as_mut().and_then(Iterator::next),
            }
        });
        parts.collect()
    }
}

fn finish<'a>(layer: &StackLayer<'a>) -> Finish<'a> {
    Finish { bias: Some(layer.bias), activation: layer.activation }
}
