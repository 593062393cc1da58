//! Decoded chunks to rows: every row of a chunk is a block inside a row of the dataset.

use super::grid::Grid;

/// How the rows of a dataset are cut, in bytes. Axes that chunks span whole are one with the axis before.
#[derive(Debug)]
pub(super) struct Tiles {
    axes: Vec<Axis>,
    /// How many rows a chunk has.
    pub(super) chunk_rows: usize,
    pub(super) row_bytes: usize,
    /// The part of a row that a chunk holds.
    pub(super) chunk_row_bytes: usize,
}

#[derive(Debug)]
struct Axis {
    /// Its number in the grid, or one more for the bytes of a value.
    in_grid: usize,
    size: usize,
    chunk: usize,
}

/// An axis of one chunk: where the chunk begins and how much of it lies inside of the row.
struct Span {
    start: usize,
    n_inside: usize,
    /// The bytes of one step in the row and in the chunk.
    row_step: usize,
    chunk_step: usize,
}

impl Tiles {
    /// The tiles of a dataset of this shape, whose sizes in bytes are known to fit.
    pub(super) fn new(shape: &[usize], chunk: &[usize], element_bytes: usize) -> Self {
        let mut axes: Vec<Axis> = Vec::new();
        let sizes =
            shape.iter().zip(chunk).map(|(&size, &chunk)| (size, chunk)).chain([(element_bytes, element_bytes)]);
        for (in_grid, (size, chunk)) in sizes.enumerate().skip(1) {
            match axes.last_mut() {
                Some(last) if size == chunk => {
                    last.size *= size;
                    last.chunk *= chunk;
                }
                _ => axes.push(Axis { in_grid, size, chunk }),
            }
        }
        let row_bytes = axes.iter().map(|axis| axis.size).product();
        let chunk_row_bytes = axes.iter().map(|axis| axis.chunk).product();
        Self { axes, chunk_rows: chunk[0], row_bytes, chunk_row_bytes }
    }

    /// Copies what a chunk holds of some rows to them. `chunk` and `rows` begin with the same row.
    pub(super) fn copy(&self, grid: &Grid, number: u64, chunk: &[u8], rows: &mut [u8]) {
        let spans = self.spans(&grid.place(number));
        for (row, chunk_row) in rows.chunks_exact_mut(self.row_bytes).zip(chunk.chunks_exact(self.chunk_row_bytes)) {
            copy_block(&spans, chunk_row, row);
        }
    }

    fn spans(&self, place: &[u64]) -> Vec<Span> {
        let (mut row_step, mut chunk_step) = (1, 1);
        let spans = self.axes.iter().rev().map(|axis| {
            let start = place.get(axis.in_grid).map_or(0, |&place| place as usize * axis.chunk);
            let span = Span { start, n_inside: axis.chunk.min(axis.size - start), row_step, chunk_step };
            row_step *= axis.size;
            chunk_step *= axis.chunk;
            span
        });
        let mut spans: Vec<Span> = spans.collect();
        spans.reverse();
        spans
    }
}

fn copy_block(spans: &[Span], chunk: &[u8], row: &mut [u8]) {
    match spans {
        [] => {}
        [last] => row[last.start..last.start + last.n_inside].copy_from_slice(&chunk[..last.n_inside]),
        // One channel of several: single bytes with gaps.
        [span, last] if last.n_inside == 1 => {
            let to = row[span.start * span.row_step + last.start..].iter_mut().step_by(span.row_step);
            to.zip(chunk.iter().step_by(span.chunk_step)).take(span.n_inside).for_each(|(to, from)| *to = *from);
        }
        [span, rest @ ..] => {
            let to = row[span.start * span.row_step..].chunks_exact_mut(span.row_step);
            let blocks = to.zip(chunk.chunks_exact(span.chunk_step)).take(span.n_inside);
            blocks.for_each(|(to, from)| copy_block(rest, from, to));
        }
    }
}
