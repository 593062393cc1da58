//! Convolutions of any shape, as products of patches and weights (im2col).
//!
//! A convolution joins a fine grid, `[batch, height, width, in_channels]`, to a coarse one,
//! `[batch, out_height, out_width, out_channels]`. The convolution itself and the image gradient of the transposed
//! one go from fine to coarse; the transposed convolution and the image gradient of the other go from coarse to
//! fine; both weight gradients need the two grids together.
//!
//! Each pass runs on one thread, over blocks of whole images and inside a block over tiles of output lines whose
//! patches stay in the second-level cache until they are multiplied.

mod patches;

use crate::activation::Finish;
use crate::backward::{Backward, ImageLens};
use crate::groups::add_rows;
use crate::product::{Matrix, Store, Target, multiply};
use crate::scratch::with_scratch;
use crate::shape::ConvShape;
use patches::{gather_line, scatter_line};

/// Values of patches and output that a tile may have: 256 KiB, half of a small second-level cache.
const TILE_LEN: usize = 64 * 1024;

/// Output pixels that a tile has even if its patches are then too many, since fewer would not repay reading the weight.
const MIN_TILE_PIXELS: usize = 128;

/// The convolution: `coarse = finish(patches(fine) * weight)`.
pub(crate) fn conv(shape: &ConvShape, fine: &[f32], weight: &[f32], finish: Finish, coarse: &mut [f32]) {
    let tiling = Tiling::new(shape);
    let weight = Matrix::of_rows(weight, shape.out_channels);
    let blocks = coarse.chunks_mut(tiling.coarse_block_len()).zip(fine.chunks(tiling.fine_block_len()));
    with_scratch(tiling.patches_len(), |patches| {
        for (coarse, fine) in blocks {
            for (tile_index, coarse) in coarse.chunks_mut(tiling.coarse_tile_len()).enumerate() {
                let patches = tiling.gather_tile(fine, tile_index, coarse.len(), patches);
                tiling.to_coarse(patches, weight, coarse);
                finish.apply(coarse);
            }
        }
    });
}

/// The transposed convolution: `fine = finish(the adjoint of patches(coarse * weight))`.
pub(crate) fn transposed_conv(shape: &ConvShape, coarse: &[f32], weight: &[f32], finish: Finish, fine: &mut [f32]) {
    let tiling = Tiling::new(shape);
    let weight = Matrix::of_rows(weight, shape.patch_len());
    let blocks = fine.chunks_mut(tiling.fine_block_len()).zip(coarse.chunks(tiling.coarse_block_len()));
    with_scratch(tiling.patches_len(), |patches| {
        for (fine, coarse) in blocks {
            fine.fill(0.0);
            for (tile_index, coarse) in coarse.chunks(tiling.coarse_tile_len()).enumerate() {
                tiling.to_fine(coarse, weight, tile_index, patches, fine);
            }
            finish.apply(fine);
        }
    });
}

/// Adds the gradients of [`conv`] to `sums`, if they are wanted, those of the weight and then those of the bias, from that
/// of its output on the coarse grid.
pub(crate) fn conv_backward(shape: &ConvShape, backward: Backward, weight: &[f32], sums: Option<&mut [f32]>) {
    let tiling = Tiling::new(shape);
    let weight = Matrix::of_rows(weight, shape.out_channels).transposed();
    let mut sums = sums.map(|sums| sums.split_at_mut(shape.weight_len()));
    let lens = ImageLens { images: shape.image_len(), out: shape.out_image_len() };
    with_scratch(tiling.coarse_block_len() + tiling.patches_len(), |scratch| {
        let (copy, patches) = scratch.split_at_mut(tiling.coarse_block_len());
        for block in backward.split(tiling.block_images, lens) {
            let grad_coarse = block.grad_out.masked(copy);
            if let Some((sums_of_weight, sums_of_bias)) = &mut sums {
                add_rows(grad_coarse, sums_of_bias);
                for (tile_index, coarse) in grad_coarse.chunks(tiling.coarse_tile_len()).enumerate() {
                    let patches = tiling.gather_tile(block.images, tile_index, coarse.len(), patches);
                    let (patches, coarse) = tiling.matrices(patches, coarse);
                    let target = Target::of_rows(sums_of_weight, shape.out_channels);
                    multiply(patches.transposed(), coarse, Store::Add, target);
                }
            }
            if let Some(grad_fine) = block.grad_images {
                grad_fine.fill(0.0);
                for (tile_index, coarse) in grad_coarse.chunks(tiling.coarse_tile_len()).enumerate() {
                    tiling.to_fine(coarse, weight, tile_index, patches, grad_fine);
                }
            }
        }
    });
}

/// Adds the gradients of [`transposed_conv`] to `sums`, if they are wanted, those of the weight and then those of the
/// bias, from that of its output on the fine grid.
pub(crate) fn transposed_conv_backward(
    shape: &ConvShape,
    backward: Backward,
    weight: &[f32],
    sums: Option<&mut [f32]>,
) {
    let tiling = Tiling::new(shape);
    let weight = Matrix::of_rows(weight, shape.patch_len()).transposed();
    let mut sums = sums.map(|sums| sums.split_at_mut(shape.weight_len()));
    let lens = ImageLens { images: shape.out_image_len(), out: shape.image_len() };
    with_scratch(tiling.fine_block_len() + tiling.patches_len(), |scratch| {
        let (copy, patches) = scratch.split_at_mut(tiling.fine_block_len());
        for mut block in backward.split(tiling.block_images, lens) {
            let grad_fine = block.grad_out.masked(copy);
            if let Some((_, sums_of_bias)) = &mut sums {
                add_rows(grad_fine, sums_of_bias);
            }
            for (tile_index, coarse) in block.images.chunks(tiling.coarse_tile_len()).enumerate() {
                let patches = tiling.gather_tile(grad_fine, tile_index, coarse.len(), patches);
                if let Some(grad_coarse) = &mut block.grad_images {
                    let tile = &mut grad_coarse[tile_index * tiling.coarse_tile_len()..][..coarse.len()];
                    tiling.to_coarse(patches, weight, tile);
                }
                if let Some((sums_of_weight, _)) = &mut sums {
                    let (patches, coarse) = tiling.matrices(patches, coarse);
                    let target = Target::of_rows(sums_of_weight, shape.patch_len());
                    multiply(coarse.transposed(), patches, Store::Add, target);
                }
            }
        }
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
        self.block_images * self.shape.out_image_len()
    }

    fn coarse_tile_len(&self) -> usize {
        self.tile_lines * self.shape.line_len()
    }

    fn patches_len(&self) -> usize {
        self.tile_lines * self.shape.out_width() * self.shape.patch_len()
    }

    /// A tile's patches, `[pixels, patch]`, and its part of the coarse grid, `[pixels, out_channels]`.
    fn matrices<'m>(&self, patches: &'m [f32], coarse: &'m [f32]) -> (Matrix<'m>, Matrix<'m>) {
        (Matrix::of_rows(patches, self.shape.patch_len()), Matrix::of_rows(coarse, self.shape.out_channels))
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

    /// One tile of the coarse grid from its patches and a weight `[patch, out_channels]`.
    fn to_coarse(&self, patches: &[f32], weight: Matrix, coarse: &mut [f32]) {
        let patches = Matrix::of_rows(patches, self.shape.patch_len());
        multiply(patches, weight, Store::Overwrite, Target::of_rows(coarse, self.shape.out_channels));
    }

    /// Adds what one tile of the coarse grid contributes to the images of its block, with a weight
    /// `[out_channels, patch]`.
    fn to_fine(&self, coarse: &[f32], weight: Matrix, tile_index: usize, patches: &mut [f32], fine: &mut [f32]) {
        let patches = self.patches_of(coarse.len(), patches);
        let coarse = Matrix::of_rows(coarse, self.shape.out_channels);
        multiply(coarse, weight, Store::Overwrite, Target::of_rows(patches, self.shape.patch_len()));
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
}
