//! Convolutions of 4x4, stride 2 and padding 1 with fewer products (Winograd 1980; Lavin and Gray 2016, F(2x2, 2x2)).
//!
//! With stride 2, the even and the odd lines of the padded image never meet under one tap, so the convolution is the
//! sum of four, one for each phase, of 2x2 and stride 1. Along one axis, two outputs of a two-tap convolution take
//! three products instead of four:
//!
//! ```text
//! y0 = d0 g0 + d1 g1 = m0 + m1      m0 = (d0 - d1) g0
//! y1 = d1 g0 + d2 g1 = m1 + m2      m1 =  d1 (g0 + g1)
//!                                   m2 = (d2 - d1) g1
//! ```
//!
//! In two dimensions a tile of 2x2 outputs takes 9 products for each pair of channels instead of 16. All factors are
//! 1 or -1, so little is lost to rounding. In matrices, with `U` the transformed weight, `V` the transformed fine grid
//! (four phases of `in_channels`) and `E` the transformed coarse grid, for each of the 9 points:
//!
//! ```text
//! convolution, and image gradient of the transposed one     coarse = out(V U)
//! transposed convolution, and image gradient of the other   fine = out(E transpose(U))
//! weight gradients                                          U's = transpose(V) E
//! ```
//!
//! Each pass runs on one thread, over blocks of whole images, with a weight that was transformed before.

mod lanes;
mod tiles;
mod weights;

use crate::activation::{Finish, MaskedValues};
use crate::backward::{Backward, ImageLens};
use crate::groups::add_rows;
use crate::product::{Matrix, Store, Target, multiply};
use crate::scratch::with_scratch;
use crate::shape::ConvShape;
use lanes::WIDEST;
use tiles::Tiles;
pub(crate) use weights::WeightLayout;

/// Products of a tile for each pair of channels.
const POINTS: usize = 9;
/// Even and odd lines times even and odd columns.
const PHASES: usize = 4;

/// Transformed values of a block, on both grids, unless one image has more: enough to repay reading the weights, few
/// enough to stay in a core's share of the last-level cache.
const BLOCK_LEN: usize = 256 * 1024;

/// Whether this shape can be computed so: whole tiles, whole vectors of channels.
pub(crate) fn suits(shape: &ConvShape) -> bool {
    let ConvShape { height, width, in_channels, out_channels, kernel, stride, padding, .. } = *shape;
    let whole = |channels: usize| channels.is_multiple_of(WIDEST);
    (kernel, stride, padding) == (4, 2, 1)
        && height.is_multiple_of(4)
        && width.is_multiple_of(4)
        && whole(in_channels)
        && whole(out_channels)
}

/// The convolution, with a transformed weight of layout [`WeightLayout::conv`].
pub(crate) fn conv(shape: &ConvShape, fine: &[f32], weight: &[f32], finish: Finish, coarse: &mut [f32]) {
    let plan = Plan::new(shape);
    for (fine, coarse) in fine.chunks(plan.fine_len()).zip(coarse.chunks_mut(plan.coarse_len())) {
        plan.with_transformed(fine.len() / shape.image_len(), |v, e| {
            plan.tiles.transform_fine(MaskedValues::plain(fine), v);
            for point in 0..POINTS {
                let weight = plan.weight(weight, point, shape.out_channels);
                multiply(plan.fine_matrix(v, point), weight, Store::Overwrite, plan.coarse_target(e, point));
            }
            plan.tiles.finish_coarse(e, finish, coarse);
        });
    }
}

/// The transposed convolution, with a transformed weight of layout [`WeightLayout::transposed_conv`]. `shape` is that of
/// its adjoint.
pub(crate) fn transposed_conv(shape: &ConvShape, coarse: &[f32], weight: &[f32], finish: Finish, fine: &mut [f32]) {
    let plan = Plan::new(shape);
    for (fine, coarse) in fine.chunks_mut(plan.fine_len()).zip(coarse.chunks(plan.coarse_len())) {
        plan.with_transformed(fine.len() / shape.image_len(), |v, e| {
            plan.tiles.transform_coarse(MaskedValues::plain(coarse), e);
            for point in 0..POINTS {
                let weight = plan.weight(weight, point, PHASES * shape.in_channels);
                multiply(plan.coarse_matrix(e, point), weight, Store::Overwrite, plan.fine_target(v, point));
            }
            plan.tiles.finish_fine(v, finish, fine);
        });
    }
}

/// Adds the gradients of [`conv`] to `sums`, if they are wanted, those of the transformed weight and then those of the
/// bias, from that of its output on the coarse grid.
pub(crate) fn conv_backward(shape: &ConvShape, backward: Backward, weight: &[f32], sums: Option<&mut [f32]>) {
    let plan = Plan::new(shape);
    let mut sums = sums.map(|sums| sums.split_at_mut(weight.len()));
    let lens = ImageLens { images: shape.image_len(), out: shape.out_image_len() };
    for block in backward.split(plan.block_images, lens) {
        plan.with_transformed(block.images.len() / shape.image_len(), |v, e| {
            plan.tiles.transform_coarse(block.grad_out, e);
            if let Some((sums_of_weight, sums_of_bias)) = &mut sums {
                plan.tiles.add_coarse(e, sums_of_bias);
                plan.tiles.transform_fine(MaskedValues::plain(block.images), v);
                for point in 0..POINTS {
                    let (fine, coarse) = (plan.fine_matrix(v, point), plan.coarse_matrix(e, point));
                    let target = plan.weight_target(sums_of_weight, point, shape.out_channels);
                    multiply(fine.transposed(), coarse, Store::Add, target);
                }
            }
            if let Some(grad_images) = block.grad_images {
                for point in 0..POINTS {
                    let weight = plan.weight(weight, point, shape.out_channels).transposed();
                    multiply(plan.coarse_matrix(e, point), weight, Store::Overwrite, plan.fine_target(v, point));
                }
                plan.tiles.finish_fine(v, Finish::NOTHING, grad_images);
            }
        });
    }
}

/// Adds the gradients of [`transposed_conv`] to `sums`, if they are wanted, those of the transformed weight and then those
/// of the bias, from that of its output on the fine grid.
pub(crate) fn transposed_conv_backward(
    shape: &ConvShape,
    backward: Backward,
    weight: &[f32],
    sums: Option<&mut [f32]>,
) {
    let plan = Plan::new(shape);
    let mut sums = sums.map(|sums| sums.split_at_mut(weight.len()));
    let lens = ImageLens { images: shape.out_image_len(), out: shape.image_len() };
    for block in backward.split(plan.block_images, lens) {
        plan.with_transformed(block.images.len() / shape.out_image_len(), |v, e| {
            plan.tiles.transform_fine(block.grad_out, v);
            if let Some((sums_of_weight, sums_of_bias)) = &mut sums {
                with_scratch(block.grad_out.values.len(), |copy| add_rows(block.grad_out.masked(copy), sums_of_bias));
                plan.tiles.transform_coarse(MaskedValues::plain(block.images), e);
                for point in 0..POINTS {
                    let (fine, coarse) = (plan.fine_matrix(v, point), plan.coarse_matrix(e, point));
                    let target = plan.weight_target(sums_of_weight, point, PHASES * shape.in_channels);
                    multiply(coarse.transposed(), fine, Store::Add, target);
                }
            }
            if let Some(grad_images) = block.grad_images {
                for point in 0..POINTS {
                    let weight = plan.weight(weight, point, PHASES * shape.in_channels).transposed();
                    multiply(plan.fine_matrix(v, point), weight, Store::Overwrite, plan.coarse_target(e, point));
                }
                plan.tiles.finish_coarse(e, Finish::NOTHING, grad_images);
            }
        });
    }
}

/// How a batch is divided, and where the matrices of a block lie.
struct Plan<'a> {
    shape: &'a ConvShape,
    tiles: Tiles<'a>,
    /// Images in a block.
    block_images: usize,
}

impl<'a> Plan<'a> {
    fn new(shape: &'a ConvShape) -> Self {
        let tiles = Tiles::new(shape);
        let image_len = tiles.per_image() * POINTS * (PHASES * shape.in_channels + shape.out_channels);
        Self { shape, tiles, block_images: (BLOCK_LEN / image_len).clamp(1, shape.batch.max(1)) }
    }

    fn fine_len(&self) -> usize {
        self.block_images * self.shape.image_len()
    }

    fn coarse_len(&self) -> usize {
        self.block_images * self.shape.out_image_len()
    }

    /// Lends `job` buffers for the transformed grids of so many images: fine, `[tiles, POINTS, PHASES, in_channels]`, and
    /// coarse, `[tiles, POINTS, out_channels]`.
    fn with_transformed(&self, n_images: usize, job: impl FnOnce(&mut [f32], &mut [f32])) {
        let n_rows = n_images * self.tiles.per_image() * POINTS;
        let fine_len = n_rows * PHASES * self.shape.in_channels;
        with_scratch(fine_len + n_rows * self.shape.out_channels, |scratch| {
            let (fine, coarse) = scratch.split_at_mut(fine_len);
            job(fine, coarse);
        });
    }

    /// `[tiles, PHASES * in_channels]`.
    fn fine_matrix<'m>(&self, fine: &'m [f32], point: usize) -> Matrix<'m> {
        Matrix::interleaved(fine, POINTS, PHASES * self.shape.in_channels, point)
    }

    fn fine_target<'m>(&self, fine: &'m mut [f32], point: usize) -> Target<'m> {
        Target::interleaved(fine, POINTS, PHASES * self.shape.in_channels, point)
    }

    /// `[tiles, out_channels]`.
    fn coarse_matrix<'m>(&self, coarse: &'m [f32], point: usize) -> Matrix<'m> {
        Matrix::interleaved(coarse, POINTS, self.shape.out_channels, point)
    }

    fn coarse_target<'m>(&self, coarse: &'m mut [f32], point: usize) -> Target<'m> {
        Target::interleaved(coarse, POINTS, self.shape.out_channels, point)
    }

    /// The weight of one point, with `n_columns` columns.
    fn weight<'m>(&self, transformed: &'m [f32], point: usize, n_columns: usize) -> Matrix<'m> {
        let len = transformed.len() / POINTS;
        Matrix::of_rows(&transformed[point * len..][..len], n_columns)
    }

    fn weight_target<'m>(&self, transformed: &'m mut [f32], point: usize, n_columns: usize) -> Target<'m> {
        let len = transformed.len() / POINTS;
        Target::of_rows(&mut transformed[point * len..][..len], n_columns)
    }
}
