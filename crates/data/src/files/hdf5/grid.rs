//! The grid of chunks that a dataset is cut into.

use super::source::damaged;
use crate::error::Result;

/// Chunks of one shape, side by side along every axis; those at the far ends may reach beyond the dataset.
#[derive(Debug)]
pub(super) struct Grid {
    chunk: Vec<u64>,
    chunk_bytes: u64,
    /// How many chunks there are along each axis.
    counts: Vec<u64>,
    /// How many chunks the arrays of places count along each axis, slowest axis first.
    array_axes: Vec<(usize, u64)>,
}

/// The largest chunk that is read.
const MOST_CHUNK_BYTES: u64 = 1 << 30;

impl Grid {
    /// The grid of a dataset that may grow up to `most` along each axis.
    pub(super) fn new(shape: &[u64], most: &[u64], chunk: &[u64], element_bytes: usize) -> Result<Self> {
        let chunk_bytes = chunk.iter().try_fold(element_bytes as u64, |product, &size| product.checked_mul(size));
        let chunk_bytes = chunk_bytes.filter(|&n_bytes| n_bytes <= MOST_CHUNK_BYTES);
        let chunk_bytes =
            chunk_bytes.ok_or_else(|| damaged(format!("chunks of shape {chunk:?} have more than 1 GiB")))?;
        let count = |(&size, &chunk): (&u64, &u64)| size.div_ceil(chunk);
        let counts: Vec<u64> = shape.iter().zip(chunk).map(count).collect();
        // An axis that grows without end comes first, so that what is there keeps its position.
        let most_counts = most.iter().zip(chunk).map(count).enumerate();
        let mut array_axes: Vec<(usize, u64)> = most_counts.collect();
        array_axes.sort_by_key(|&(axis, _)| most[axis] != u64::MAX);
        Ok(Self { chunk: chunk.to_vec(), chunk_bytes, counts, array_axes })
    }

    pub(super) fn n_axes(&self) -> usize {
        self.counts.len()
    }

    /// What a chunk decodes to.
    pub(super) fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// The place of the first chunk.
    pub(super) fn origin(&self) -> Vec<u64> {
        vec![0; self.counts.len()]
    }

    /// Whether there is a chunk at this place.
    pub(super) fn holds(&self, place: &[u64]) -> bool {
        place.iter().zip(&self.counts).all(|(place, count)| place < count)
    }

    /// The number of the chunk at a place that the grid holds.
    pub(super) fn number(&self, place: &[u64]) -> u64 {
        place.iter().zip(&self.counts).fold(0, |number, (place, count)| number * count + place)
    }

    /// How many chunks there are beside each other in one layer along the first axis.
    pub(super) fn n_in_layer(&self) -> u64 {
        self.counts[1..].iter().product()
    }

    /// The place of the chunk of this number.
    pub(super) fn place(&self, mut number: u64) -> Vec<u64> {
        let mut place = self.origin();
        for (place, count) in place.iter_mut().zip(&self.counts).rev() {
            *place = number % count;
            number /= count;
        }
        place
    }

    /// Whether the chunk of this number reaches beyond a dataset of this shape.
    pub(super) fn is_cut(&self, number: u64, shape: &[u64]) -> bool {
        let ends = self.place(number).into_iter().zip(&self.chunk).map(|(place, chunk)| (place + 1) * chunk);
        ends.zip(shape).any(|(end, &size)| end > size)
    }

    /// The place of the chunk that begins at `starts`.
    pub(super) fn place_of_start(&self, starts: &[u64]) -> Option<Vec<u64>> {
        let whole = starts.iter().zip(&self.chunk).all(|(start, chunk)| start % chunk == 0);
        whole.then(|| starts.iter().zip(&self.chunk).map(|(start, chunk)| start / chunk).collect())
    }

    /// How many chunks there may be when the dataset has grown.
    pub(super) fn n_growable(&self) -> u64 {
        self.array_axes.iter().fold(1, |product, &(_, count)| product.saturating_mul(count))
    }

    /// The place of the chunk at a position of an array of places.
    pub(super) fn place_in_array(&self, mut position: u64) -> Option<Vec<u64>> {
        let mut place = self.origin();
        for &(axis, count) in self.array_axes.iter().rev() {
            place[axis] = position.checked_rem(count)?;
            position /= count;
        }
        (position == 0).then_some(place)
    }
}
