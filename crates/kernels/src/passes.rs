//! The three passes that both convolutions are made of.
//!
//! A convolution joins a fine grid, `[batch, height, width, in_channels]`, to a coarse one,
//! `[batch, out_height, out_width, out_channels]`. The convolution itself and the image gradient of the transposed
//! one go from fine to coarse; the transposed convolution and the image gradient of the other go from coarse to
//! fine; both weight gradients need the two grids together.
//!
//! Each pass runs over blocks of whole images in parallel, and inside a block over tiles of output lines whose
//! patches stay in the second-level cache until they are multiplied. Blocks, tiles and the order of every sum follow
//! from the shape alone, never from the number of threads.

use rayon::prelude::*;

use crate::patches::{gather_line, scatter_line};
use crate::product::{Matrix, Store, multiply};
use crate::scratch::with_scratch;
use crate::shape::ConvShape;

/// Values of patches and output that a tile may have: 256 KiB, half of a small second-level cache.
const TILE_LEN: usize = 64 * 1024;

/// Output pixels that a tile has even if its patches are then too many, since fewer would not repay reading the weight.
const MIN_TILE_PIXELS: usize = 128;

/// Most partial sums that a weight gradient is made of.
const MAX_GROUPS: usize = 8;

/// Which layer a weight gradient is for.
#[derive(Clone, Copy)]
pub(crate) enum Layer {
    /// Goes from fine to coarse: the bias is on the coarse grid, the weight `[patch, out_channels]`.
    Conv,
    /// Goes from coarse to fine: the bias is on the fine grid, the weight `[out_channels, patch]`, both named as
    /// those of the convolution.
    Transposed,
}

/// `coarse = finish(patches(fine) * weight)`, with `weight` `[kernel * kernel * in_channels, out_channels]`.
/// `finish` is called on whole pixels of the result.
pub(crate) fn fine_to_coarse(
    shape: &ConvShape,
    fine: &[f32],
    weight: Matrix,
    finish: impl Fn(&mut [f32]) + Sync,
    coarse: &mut [f32],
) {
    let tiling = Tiling::new(shape);
    let blocks = coarse.par_chunks_mut(tiling.coarse_block_len()).zip(fine.par_chunks(tiling.fine_block_len()));
    blocks.for_each(|(coarse, fine)| {
        with_scratch(tiling.patches_len(), |patches| {
            for (tile_index, coarse) in coarse.chunks_mut(tiling.coarse_tile_len()).enumerate() {
                let patches = tiling.gather_tile(fine, tile_index, coarse.len(), patches);
                multiply(Matrix::of_rows(patches, shape.patch_len()), weight, Store::Overwrite, coarse);
                finish(coarse);
            }
        });
    });
}

/// `fine = finish(start + the adjoint of patches(coarse * weight))`, with `weight`
/// `[out_channels, kernel * kernel * in_channels]`. `start` and `finish` are called on whole images.
pub(crate) fn coarse_to_fine(
    shape: &ConvShape,
    coarse: &[f32],
    weight: Matrix,
    start: impl Fn(&mut [f32]) + Sync,
    finish: impl Fn(&mut [f32]) + Sync,
    fine: &mut [f32],
) {
    let tiling = Tiling::new(shape);
    let blocks = fine.par_chunks_mut(tiling.fine_block_len()).zip(coarse.par_chunks(tiling.coarse_block_len()));
    blocks.for_each(|(fine, coarse)| {
        start(fine);
        with_scratch(tiling.patches_len(), |patches| {
            for (tile_index, coarse) in coarse.chunks(tiling.coarse_tile_len()).enumerate() {
                let patches = tiling.patches_of(coarse.len(), patches);
                multiply(Matrix::of_rows(coarse, shape.out_channels), weight, Store::Overwrite, patches);
                tiling.scatter_tile(patches, tile_index, fine);
            }
        });
        finish(fine);
    });
}

/// `grad_weight = transpose(patches(fine)) * coarse`, or the transpose of that, as `layer` wants its weight; and
/// `grad_bias`, the sum of one grid over its pixels.
pub(crate) fn weight_and_bias_gradients(
    shape: &ConvShape,
    fine: &[f32],
    coarse: &[f32],
    layer: Layer,
    grad_weight: &mut [f32],
    grad_bias: &mut [f32],
) {
    let tiling = Tiling::new(shape);
    let n_images = shape.batch.div_ceil(MAX_GROUPS).next_multiple_of(tiling.block_images).max(1);
    let n_groups = shape.batch.div_ceil(n_images);
    let n_weights = grad_weight.len();
    let group_len = n_weights + grad_bias.len();
    with_scratch(n_groups * group_len, |partials| {
        partials
            .par_chunks_mut(group_len)
            .zip(fine.par_chunks(n_images * shape.image_len()))
            .zip(coarse.par_chunks(n_images * shape.out_height() * shape.line_len()))
            .for_each(|((partial, fine), coarse)| {
                let (partial_weight, partial_bias) = partial.split_at_mut(n_weights);
                partial_weight.fill(0.0);
                partial_bias.fill(0.0);
                tiling.add_gradients(fine, coarse, layer, partial_weight, partial_bias);
            });
        sum_partials(partials, group_len, 0, grad_weight);
        sum_partials(partials, group_len, n_weights, grad_bias);
    });
}

/// How a batch is divided.
struct Tiling<'a> {
    shape: &'a ConvShape,
    /// Images in a block.
    block_images: usize,
    /// Output lines in a tile; a block's last tile may have fewer.
    tile_lines: usize,
}

impl<'a> Tiling<'a> {
    fn new(shape: &'a ConvShape) -> Self {
        let most_pixels = (TILE_LEN / (shape.patch_len() + shape.out_channels)).max(MIN_TILE_PIXELS);
        let most_lines = (most_pixels / shape.out_width()).max(1);
        let block_images = (most_lines / shape.out_height()).clamp(1, shape.batch.max(1));
        let block_lines = block_images * shape.out_height();
        // Tiles of about equal size, rather than full ones and a remainder.
        let n_tiles = block_lines.div_ceil(most_lines);
        Self { shape, block_images, tile_lines: block_lines.div_ceil(n_tiles) }
    }

    fn fine_block_len(&self) -> usize {
        self.block_images * self.shape.image_len()
    }

    fn coarse_block_len(&self) -> usize {
        self.block_images * self.shape.out_height() * self.shape.line_len()
    }

    fn coarse_tile_len(&self) -> usize {
        self.tile_lines * self.shape.line_len()
    }

    fn patches_len(&self) -> usize {
        self.tile_lines * self.shape.out_width() * self.shape.patch_len()
    }

    /// The part of `patches` that belongs to `coarse_len` values of the coarse grid.
    fn patches_of<'p>(&self, coarse_len: usize, patches: &'p mut [f32]) -> &'p mut [f32] {
        &mut patches[..coarse_len / self.shape.out_channels * self.shape.patch_len()]
    }

    /// Gathers the patches of one tile of a block, `[pixels of the tile, patch]`.
    fn gather_tile<'p>(
        &self,
        fine: &[f32],
        tile_index: usize,
        coarse_len: usize,
        patches: &'p mut [f32],
    ) -> &'p mut [f32] {
        let patches = self.patches_of(coarse_len, patches);
        let first_line = tile_index * self.tile_lines;
        for (line, patches) in patches.chunks_exact_mut(self.shape.out_width() * self.shape.patch_len()).enumerate() {
            let (image_index, out_y) = self.place_of(first_line + line);
            let image = &fine[image_index * self.shape.image_len()..][..self.shape.image_len()];
            gather_line(self.shape, image, out_y, patches);
        }
        patches
    }

    /// Adds the patches of one tile of a block to its images.
    fn scatter_tile(&self, patches: &[f32], tile_index: usize, fine: &mut [f32]) {
        let first_line = tile_index * self.tile_lines;
        for (line, patches) in patches.chunks_exact(self.shape.out_width() * self.shape.patch_len()).enumerate() {
            let (image_index, out_y) = self.place_of(first_line + line);
            let image = &mut fine[image_index * self.shape.image_len()..][..self.shape.image_len()];
            scatter_line(self.shape, patches, out_y, image);
        }
    }

    /// The image of a block, and the line of that image's output, that a line of the block is.
    fn place_of(&self, line: usize) -> (usize, usize) {
        (line / self.shape.out_height(), line % self.shape.out_height())
    }

    /// Adds the gradients of the images of one group, block by block.
    fn add_gradients(
        &self,
        fine: &[f32],
        coarse: &[f32],
        layer: Layer,
        grad_weight: &mut [f32],
        grad_bias: &mut [f32],
    ) {
        let blocks = fine.chunks(self.fine_block_len()).zip(coarse.chunks(self.coarse_block_len()));
        with_scratch(self.patches_len(), |patches| {
            for (fine, coarse) in blocks {
                for (tile_index, coarse) in coarse.chunks(self.coarse_tile_len()).enumerate() {
                    let patches = self.gather_tile(fine, tile_index, coarse.len(), patches);
                    let patches = Matrix::of_rows(patches, self.shape.patch_len());
                    let coarse = Matrix::of_rows(coarse, self.shape.out_channels);
                    match layer {
                        Layer::Conv => multiply(patches.transposed(), coarse, Store::Add, grad_weight),
                        Layer::Transposed => multiply(coarse.transposed(), patches, Store::Add, grad_weight),
                    }
                }
                match layer {
                    Layer::Conv => add_rows(coarse, grad_bias),
                    Layer::Transposed => add_rows(fine, grad_bias),
                }
            }
        });
    }
}

/// Adds every row of `rows`, `[rows, sums.len()]`, to `sums`.
///
/// Several rows are added at once, each to sums of its own: one chain of additions is slow, and loses digits when it
/// is long.
fn add_rows(rows: &[f32], sums: &mut [f32]) {
    const ROWS_AT_ONCE: usize = 16;
    with_scratch(ROWS_AT_ONCE * sums.len(), |lanes| {
        lanes.fill(0.0);
        for rows in rows.chunks(lanes.len()) {
            lanes.iter_mut().zip(rows).for_each(|(lane, value)| *lane += value);
        }
        for lane in lanes.chunks_exact(sums.len()) {
            sums.iter_mut().zip(lane).for_each(|(sum, value)| *sum += value);
        }
    });
}

/// Adds up, group after group, what each group of `partials`, `[groups, group_len]`, holds from `offset` on.
fn sum_partials(partials: &[f32], group_len: usize, offset: usize, sums: &mut [f32]) {
    const PIECE_LEN: usize = 4096;
    sums.par_chunks_mut(PIECE_LEN).enumerate().for_each(|(piece_index, sums)| {
        let offset = offset + piece_index * PIECE_LEN;
        sums.fill(0.0);
        for partial in partials.chunks_exact(group_len) {
            sums.iter_mut().zip(&partial[offset..]).for_each(|(sum, value)| *sum += value);
        }
    });
}
