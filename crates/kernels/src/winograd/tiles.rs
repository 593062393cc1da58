//! The two grids, between their pixels and the 9 points of each tile at which they are multiplied.
//!
//! A tile is 2x2 pixels of the coarse grid and the 4x4 of the fine grid below them. Its windows see 6x6 pixels of the
//! fine grid, one more on every side: 3x3 of each phase. Along one axis phase 0 has the lines -1, 1 and 3 of a tile,
//! phase 1 the lines 0, 2 and 4. Along one axis, with `d` pixels, `y` outputs and `m` points:
//!
//! ```text
//! fine pixels to points     m = d0 - d1, d1, d2 - d1     and its adjoint     d = m0, m1 - m0 - m2, m2
//! points to coarse pixels   y = m0 + m1, m1 + m2         and its adjoint     m = y0, y0 + y1, y1
//! ```
//!
//! Inside [`WithSimd::with_simd`] arrays are filled by plain loops: the closure of an array's `map` is not always inlined,
//! and is then compiled for the oldest processor.

use pulp::{Arch, Simd, WithSimd};

use super::lanes::{activated, add3, gradient_before, sub3, vectors, vectors_mut};
use super::{PHASES, POINTS};
use crate::activation::{Activation, Finish, MaskedValues};
use crate::shape::ConvShape;

/// The tiles of each image.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'a> {
    shape: &'a ConvShape,
    n_high: usize,
    n_wide: usize,
}

/// One tile of a block.
#[derive(Clone, Copy)]
struct Tile {
    image: usize,
    y: usize,
    x: usize,
}

impl<'a> Tiles<'a> {
    pub(super) fn new(shape: &'a ConvShape) -> Self {
        Self { shape, n_high: shape.height / 4, n_wide: shape.width / 4 }
    }

    pub(super) fn per_image(&self) -> usize {
        self.n_high * self.n_wide
    }

    /// Fills `points`, `[tiles, POINTS, PHASES, in_channels]`, from images of the fine grid.
    pub(super) fn transform_fine(&self, fine: MaskedValues, points: &mut [f32]) {
        Arch::new().dispatch(TransformFine { tiles: *self, fine, points });
    }

    /// Fills `points`, `[tiles, POINTS, out_channels]`, from images of the coarse grid.
    pub(super) fn transform_coarse(&self, coarse: MaskedValues, points: &mut [f32]) {
        Arch::new().dispatch(TransformCoarse { tiles: *self, coarse, points });
    }

    /// Fills images of the coarse grid from `points`, `[tiles, POINTS, out_channels]`.
    pub(super) fn finish_coarse(&self, points: &[f32], finish: Finish, coarse: &mut [f32]) {
        Arch::new().dispatch(FinishCoarse { tiles: *self, points, finish, coarse });
    }

    /// Fills images of the fine grid from `points`, `[tiles, POINTS, PHASES, in_channels]`.
    pub(super) fn finish_fine(&self, points: &[f32], finish: Finish, fine: &mut [f32]) {
        Arch::new().dispatch(FinishFine { tiles: *self, points, finish, fine });
    }

    /// Adds all pixels of the coarse grid to `sums`, `[out_channels]`: a tile's middle point is their sum.
    pub(super) fn add_coarse(&self, points: &[f32], sums: &mut [f32]) {
        const MIDDLE: usize = 4;
        for points in points.chunks_exact(POINTS * self.shape.out_channels) {
            let middle = &points[MIDDLE * sums.len()..];
            sums.iter_mut().zip(middle).for_each(|(sum, value)| *sum += value);
        }
    }

    #[inline(always)]
    fn tile(&self, index: usize) -> Tile {
        let (line, x) = (index / self.n_wide, index % self.n_wide);
        Tile { image: line / self.n_high, y: line % self.n_high, x }
    }

    /// The number of a pixel of the fine grid.
    #[inline(always)]
    fn fine_pixel(&self, image: usize, line: usize, column: usize) -> usize {
        (image * self.shape.height + line) * self.shape.width + column
    }

    /// The numbers of the 2x2 pixels of the coarse grid that belong to a tile.
    #[inline(always)]
    fn coarse_pixels(&self, tile: Tile) -> [[usize; 2]; 2] {
        let line = 2 * (tile.image * self.n_high + tile.y);
        let first = (line * self.n_wide + tile.x) * 2;
        [[first, first + 1], [first + 2 * self.n_wide, first + 2 * self.n_wide + 1]]
    }

    /// The numbers of the 3x3 pixels of the fine grid that a tile's windows see of a phase; none outside of the image.
    #[inline(always)]
    fn seen_pixels(&self, tile: Tile, phase: usize) -> [[Option<usize>; 3]; 3] {
        let mut pixels = [[None; 3]; 3];
        for (i, pixels) in pixels.iter_mut().enumerate() {
            for (j, pixel) in pixels.iter_mut().enumerate() {
                // One more than the line and the column, so that none is negative.
                let (line, column) = (4 * tile.y + phase / 2 + 2 * i, 4 * tile.x + phase % 2 + 2 * j);
                if (1..=self.shape.height).contains(&line) && (1..=self.shape.width).contains(&column) {
                    *pixel = Some(self.fine_pixel(tile.image, line - 1, column - 1));
                }
            }
        }
        pixels
    }
}

struct TransformFine<'a> {
    tiles: Tiles<'a>,
    fine: MaskedValues<'a>,
    points: &'a mut [f32],
}

impl WithSimd for TransformFine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n_vectors = self.tiles.shape.in_channels / S::F32_LANES;
        let (fine, out) = (vectors::<S>(self.fine.values), vectors::<S>(self.fine.out));
        let activation = self.fine.activation;
        let zero = simd.splat_f32s(0.0);
        let tiles = vectors_mut::<S>(self.points).chunks_exact_mut(POINTS * PHASES * n_vectors);
        for (index, points) in tiles.enumerate() {
            let tile = self.tiles.tile(index);
            for phase in 0..PHASES {
                let pixels = self.tiles.seen_pixels(tile, phase);
                for vector in 0..n_vectors {
                    let mut d = [[zero; 3]; 3];
                    for i in 0..3 {
                        for j in 0..3 {
                            if let Some(pixel) = pixels[i][j] {
                                let place = pixel * n_vectors + vector;
                                d[i][j] = match activation {
                                    Activation::None => fine[place],
                                    _ => gradient_before(simd, activation, fine[place], out[place]),
                                };
                            }
                        }
                    }
                    let rows = [sub3(simd, d[0], d[1]), d[1], sub3(simd, d[2], d[1])];
                    for (i, row) in rows.into_iter().enumerate() {
                        let values = [simd.sub_f32s(row[0], row[1]), row[1], simd.sub_f32s(row[2], row[1])];
                        for (j, value) in values.into_iter().enumerate() {
                            points[((3 * i + j) * PHASES + phase) * n_vectors + vector] = value;
                        }
                    }
                }
            }
        }
    }
}

struct TransformCoarse<'a> {
    tiles: Tiles<'a>,
    coarse: MaskedValues<'a>,
    points: &'a mut [f32],
}

impl WithSimd for TransformCoarse<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n_vectors = self.tiles.shape.out_channels / S::F32_LANES;
        let (coarse, out) = (vectors::<S>(self.coarse.values), vectors::<S>(self.coarse.out));
        let activation = self.coarse.activation;
        let tiles = vectors_mut::<S>(self.points).chunks_exact_mut(POINTS * n_vectors);
        for (index, points) in tiles.enumerate() {
            let pixels = self.tiles.coarse_pixels(self.tiles.tile(index));
            for vector in 0..n_vectors {
                let mut rows = [[simd.splat_f32s(0.0); 3]; 3];
                for i in 0..2 {
                    let places = [pixels[i][0] * n_vectors + vector, pixels[i][1] * n_vectors + vector];
                    let (mut y0, mut y1) = (coarse[places[0]], coarse[places[1]]);
                    if activation != Activation::None {
                        y0 = gradient_before(simd, activation, y0, out[places[0]]);
                        y1 = gradient_before(simd, activation, y1, out[places[1]]);
                    }
                    rows[2 * i] = [y0, simd.add_f32s(y0, y1), y1];
                }
                rows[1] = add3(simd, rows[0], rows[2]);
                for (i, row) in rows.into_iter().enumerate() {
                    for (j, value) in row.into_iter().enumerate() {
                        points[(3 * i + j) * n_vectors + vector] = value;
                    }
                }
            }
        }
    }
}

struct FinishCoarse<'a> {
    tiles: Tiles<'a>,
    points: &'a [f32],
    finish: Finish<'a>,
    coarse: &'a mut [f32],
}

impl WithSimd for FinishCoarse<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n_vectors = self.tiles.shape.out_channels / S::F32_LANES;
        let coarse = vectors_mut::<S>(self.coarse);
        let bias = self.finish.bias.map(vectors::<S>);
        let tiles = vectors::<S>(self.points).chunks_exact(POINTS * n_vectors);
        for (index, points) in tiles.enumerate() {
            let pixels = self.tiles.coarse_pixels(self.tiles.tile(index));
            for vector in 0..n_vectors {
                let mut m = [[simd.splat_f32s(0.0); 3]; 3];
                for i in 0..3 {
                    for j in 0..3 {
                        m[i][j] = points[(3 * i + j) * n_vectors + vector];
                    }
                }
                let rows = [add3(simd, m[0], m[1]), add3(simd, m[1], m[2])];
                for (i, row) in rows.into_iter().enumerate() {
                    let values = [simd.add_f32s(row[0], row[1]), simd.add_f32s(row[1], row[2])];
                    for (j, value) in values.into_iter().enumerate() {
                        let bias = bias.map(|bias| bias[vector]);
                        let value = finished(simd, value, bias, self.finish.activation);
                        coarse[pixels[i][j] * n_vectors + vector] = value;
                    }
                }
            }
        }
    }
}

struct FinishFine<'a> {
    tiles: Tiles<'a>,
    points: &'a [f32],
    finish: Finish<'a>,
    fine: &'a mut [f32],
}

impl WithSimd for FinishFine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Tiles { shape, n_high, n_wide } = self.tiles;
        let n_vectors = shape.in_channels / S::F32_LANES;
        let tile_len = POINTS * PHASES * n_vectors;
        let (points, fine) = (vectors::<S>(self.points), vectors_mut::<S>(self.fine));
        let bias = self.finish.bias.map(vectors::<S>);
        let zero = simd.splat_f32s(0.0);
        for index in 0..points.len() / tile_len {
            let tile = self.tiles.tile(index);
            for phase in 0..PHASES {
                let (y, x) = (Axis::new(phase / 2, tile.y, n_high), Axis::new(phase % 2, tile.x, n_wide));
                let vertical = y.has_neighbour.then(|| y.neighbour(index, n_wide));
                let horizontal = x.has_neighbour.then(|| x.neighbour(index, 1));
                let diagonal = vertical.filter(|_| x.has_neighbour).map(|vertical| x.neighbour(vertical, 1));
                for vector in 0..n_vectors {
                    let place = |tile: usize, i: usize, j: usize| {
                        tile * tile_len + ((3 * i + j) * PHASES + phase) * n_vectors + vector
                    };
                    let mut own = [[zero; 3]; 3];
                    for i in 0..3 {
                        for j in 0..3 {
                            own[i][j] = points[place(index, i, j)];
                        }
                    }
                    let (other_i, other_j) = (2 - y.own_point, 2 - x.own_point);
                    let mut vertical_row = [zero; 3];
                    if let Some(vertical) = vertical {
                        for j in 0..3 {
                            vertical_row[j] = points[place(vertical, other_i, j)];
                        }
                    }
                    let mut horizontal_column = [zero; 3];
                    if let Some(horizontal) = horizontal {
                        for i in 0..3 {
                            horizontal_column[i] = points[place(horizontal, i, other_j)];
                        }
                    }
                    let corner = diagonal.map_or(zero, |diagonal| points[place(diagonal, other_i, other_j)]);

                    // Chosen by `if`: an index would put the vectors into memory.
                    let outer = if phase / 2 == 0 { own[2] } else { own[0] };
                    let shared_line = add3(simd, outer, vertical_row);
                    let inner_line = sub3(simd, sub3(simd, own[1], own[0]), own[2]);
                    let horizontal_outer = if phase / 2 == 0 { horizontal_column[2] } else { horizontal_column[0] };
                    let shared_ends = simd.add_f32s(horizontal_outer, corner);
                    let (shared_own, inner_own) =
                        if phase % 2 == 0 { (shared_line[2], inner_line[2]) } else { (shared_line[0], inner_line[0]) };
                    let values = [
                        [simd.add_f32s(shared_own, shared_ends), inner(simd, shared_line)],
                        [simd.add_f32s(inner_own, inner(simd, horizontal_column)), inner(simd, inner_line)],
                    ];
                    let (lines, columns) = ([y.shared_line, y.inner_line], [x.shared_line, x.inner_line]);
                    for i in 0..2 {
                        for j in 0..2 {
                            let (line, column) = (4 * tile.y + lines[i], 4 * tile.x + columns[j]);
                            let pixel = self.tiles.fine_pixel(tile.image, line, column);
                            let bias = bias.map(|bias| bias[vector]);
                            let value = finished(simd, values[i][j], bias, self.finish.activation);
                            fine[pixel * n_vectors + vector] = value;
                        }
                    }
                }
            }
        }
    }
}

/// Where the lines of one phase of a tile get their values from, along one axis.
#[derive(Clone, Copy)]
struct Axis {
    /// The line that the tile shares with a neighbour, counted from the tile's first: it is the tile's own outer point
    /// plus the other outer point of the neighbour.
    shared_line: usize,
    own_point: usize,
    /// The line that is the tile's alone.
    inner_line: usize,
    has_neighbour: bool,
    neighbour_is_next: bool,
}

impl Axis {
    #[inline(always)]
    fn new(phase: usize, position: usize, n_tiles: usize) -> Self {
        if phase == 0 {
            let has_neighbour = position + 1 < n_tiles;
            Self { shared_line: 3, own_point: 2, inner_line: 1, has_neighbour, neighbour_is_next: true }
        } else {
            let has_neighbour = position > 0;
            Self { shared_line: 0, own_point: 0, inner_line: 2, has_neighbour, neighbour_is_next: false }
        }
    }

    /// The neighbour of a tile, where tiles next to each other are `step` apart.
    #[inline(always)]
    fn neighbour(&self, index: usize, step: usize) -> usize {
        if self.neighbour_is_next { index + step } else { index - step }
    }
}

/// The pixel in the middle of three points.
#[inline(always)]
fn inner<S: Simd>(simd: S, [m0, m1, m2]: [S::f32s; 3]) -> S::f32s {
    simd.sub_f32s(simd.sub_f32s(m1, m0), m2)
}

#[inline(always)]
fn finished<S: Simd>(simd: S, value: S::f32s, bias: Option<S::f32s>, activation: Activation) -> S::f32s {
    let value = bias.map_or(value, |bias| simd.add_f32s(value, bias));
    activated(simd, activation, value)
}
