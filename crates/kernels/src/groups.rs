//! Sums over a batch, in an order that does not follow from the number of threads.

use rayon::prelude::*;

use crate::scratch::with_scratch;

/// Most groups that a batch is divided into where something is summed over it: as many threads can share the work.
const MAX_GROUPS: usize = 8;

/// Rows of a batch (images, or inputs of a linear layer) in a group, if they come in blocks of `block_rows`.
pub(crate) fn rows_of_group(batch: usize, block_rows: usize) -> usize {
    batch.div_ceil(MAX_GROUPS).next_multiple_of(block_rows).max(1)
}

/// Calls `job(group, sums)` for each group, side by side, where `sums` are `len` zeros to add to; then calls `finish`
/// with what was added, in the order of the groups.
pub(crate) fn sum_over_groups<G: Send>(
    groups: Vec<G>,
    len: usize,
    job: impl Fn(G, &mut [f32]) + Sync,
    finish: impl FnOnce(&[f32]),
) {
    if len == 0 {
        groups.into_par_iter().for_each(|group| job(group, &mut []));
        return finish(&[]);
    }
    with_scratch(groups.len().max(1) * len, |partials| {
        if groups.is_empty() {
            partials.fill(0.0);
        }
        partials.par_chunks_mut(len).zip(groups).for_each(|(partial, group)| {
            partial.fill(0.0);
            job(group, partial);
        });
        let (sums, others) = partials.split_at_mut(len);
        add_all(others, sums);
        finish(sums);
    });
}

/// Adds every row of `rows`, `[rows, sums.len()]`, to `sums`, one after the other.
fn add_all(rows: &[f32], sums: &mut [f32]) {
    const PIECE_LEN: usize = 4096;
    let row_len = sums.len();
    sums.par_chunks_mut(PIECE_LEN).enumerate().for_each(|(piece_index, sums)| {
        for row in rows.chunks_exact(row_len) {
            sums.iter_mut().zip(&row[piece_index * PIECE_LEN..]).for_each(|(sum, value)| *sum += value);
        }
    });
}

/// Adds every row of `rows`, `[rows, sums.len()]`, to `sums`.
///
/// Several rows are added at once, each to sums of its own: one chain of additions is slow, and loses digits when it
/// is long.
pub(crate) fn add_rows(rows: &[f32], sums: &mut [f32]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_added_up_and_none_leave_zeros() {
        let total = |groups: Vec<f32>| {
            let mut total = vec![9.0; 2];
            let add = |value, sums: &mut [f32]| sums.iter_mut().for_each(|sum| *sum += value);
            sum_over_groups(groups, 2, add, |sums| total.copy_from_slice(sums));
            total
        };
        assert_eq!(total(vec![1.0, 2.0, 4.0]), [7.0, 7.0]);
        assert_eq!(total(vec![]), [0.0, 0.0]);
    }

    #[test]
    fn rows_are_added_up() {
        let rows: Vec<f32> = (0..70_u8).map(f32::from).collect();
        let mut sums = [1.0, 1.0];
        add_rows(&rows, &mut sums);
        assert_eq!(sums, [1191.0, 1226.0]); // 1 + 0 + 2 + .. + 68 and 1 + 1 + 3 + .. + 69
    }
}
