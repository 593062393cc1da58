//! Matrix products, through the `gemm` crate; and the one place of this crate with `unsafe`.
//!
//! `gemm` takes pointers and strides, and believes them. So whatever it is given is checked right before it is called.
#![allow(unsafe_code, reason = "gemm takes pointers; all that it may touch is checked first")]

use gemm::Parallelism;

/// A matrix in a slice that is not its own.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    layout: Layout,
}

impl<'a> Matrix<'a> {
    /// `values` read row by row, as many rows of `n_columns` as there are.
    pub(crate) fn of_rows(values: &'a [f32], n_columns: usize) -> Self {
        Self { values, layout: Layout::interleaved(values.len(), 1, n_columns) }
    }

    /// The `position`-th of the matrices whose rows take turns in `values`, `[rows, n_matrices, n_columns]`.
    pub(crate) fn interleaved(values: &'a [f32], n_matrices: usize, n_columns: usize, position: usize) -> Self {
        let layout = Layout::interleaved(values.len(), n_matrices, n_columns);
        Self { values: &values[layout.start(position, n_matrices, values.len())..], layout }
    }

    /// Rows and columns exchanged. Nothing is moved.
    pub(crate) fn transposed(self) -> Self {
        let Layout { n_rows, n_columns, row_stride, column_stride } = self.layout;
        let (n_rows, n_columns) = (n_columns, n_rows);
        Self { layout: Layout { n_rows, n_columns, row_stride: column_stride, column_stride: row_stride }, ..self }
    }

    /// So many of its columns, from this one on.
    fn columns(self, first: usize, n_columns: usize) -> Self {
        assert!(first + n_columns <= self.layout.n_columns, "there are no such columns in {:?}", self.layout);
        let start = (first * self.layout.column_stride).min(self.values.len());
        Self { values: &self.values[start..], layout: Layout { n_columns, ..self.layout } }
    }

    /// So many of its rows, from this one on.
    fn rows(self, first: usize, n_rows: usize) -> Self {
        self.transposed().columns(first, n_rows).transposed()
    }
}

/// The matrix that a product is written to.
pub(crate) struct Target<'a> {
    values: &'a mut [f32],
    layout: Layout,
}

impl<'a> Target<'a> {
    /// All of `values`, row by row.
    pub(crate) fn of_rows(values: &'a mut [f32], n_columns: usize) -> Self {
        Self { layout: Layout::interleaved(values.len(), 1, n_columns), values }
    }

    /// The `position`-th of the matrices whose rows take turns in `values`, `[rows, n_matrices, n_columns]`.
    pub(crate) fn interleaved(values: &'a mut [f32], n_matrices: usize, n_columns: usize, position: usize) -> Self {
        let layout = Layout::interleaved(values.len(), n_matrices, n_columns);
        let start = layout.start(position, n_matrices, values.len());
        Self { values: &mut values[start..], layout }
    }
}

/// Where the values of a matrix lie in its slice: that of row `r` and column `c` at `r * row_stride + c * column_stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    n_rows: usize,
    n_columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl Layout {
    /// That of each of the matrices whose rows take turns in `len` values, from its own first value on.
    fn interleaved(len: usize, n_matrices: usize, n_columns: usize) -> Self {
        let row_stride = n_matrices.checked_mul(n_columns).filter(|stride| *stride > 0);
        let Some(row_stride) = row_stride.filter(|stride| len.is_multiple_of(*stride)) else {
            panic!("{len} values are not rows of {n_columns} columns of {n_matrices} matrices");
        };
        Self { n_rows: len / row_stride, n_columns, row_stride, column_stride: 1 }
    }

    /// Where in `len` values the `position`-th of `n_matrices` matrices begins.
    fn start(&self, position: usize, n_matrices: usize, len: usize) -> usize {
        assert!(position < n_matrices, "there is no matrix {position} among {n_matrices}");
        (position * self.n_columns).min(len)
    }

    /// Panics unless every value lies within `len` values.
    fn check(&self, len: usize) {
        if self.n_rows == 0 || self.n_columns == 0 {
            return;
        }
        let last_row = (self.n_rows - 1).checked_mul(self.row_stride);
        let last_column = (self.n_columns - 1).checked_mul(self.column_stride);
        let last = last_row.zip(last_column).and_then(|(row, column)| row.checked_add(column));
        assert!(last.is_some_and(|last| last < len), "{self:?} does not fit in {len} values");
    }

    /// Panics unless every row ends before the next begins.
    fn check_rows_are_apart(&self) {
        let are_apart = self.column_stride == 1 && self.n_columns <= self.row_stride;
        assert!(are_apart, "the rows of {self:?} overlap");
    }

    /// Column and row stride, as `gemm` wants them.
    fn strides(&self) -> [isize; 2] {
        [self.column_stride, self.row_stride].map(|stride| isize::try_from(stride).expect("a stride within a slice"))
    }
}

/// What a product does with the values it finds in its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    Overwrite,
    Add,
}

/// `target = left * right`, or `target += left * right`, on this thread alone.
pub(crate) fn multiply(left: Matrix, right: Matrix, store: Store, target: Target) {
    multiply_on(Parallelism::None, left, right, store, target);
}

/// The same on all threads of the pool, which divide rows and columns among themselves, never a sum.
pub(crate) fn multiply_on_all_threads(left: Matrix, right: Matrix, target: Target) {
    multiply_on(Parallelism::Rayon(0), left, right, Store::Overwrite, target);
}

/// Products that are summed before they are added to the target. `gemm` sums as many as fit into the processor's first cache, but never fewer than these.
const MOST_SUMMED: usize = 512;
/// Up to so many rows and columns `gemm` sums as many whatever the processor, and so it does where there is one row or column.
const ALIKE_EVERYWHERE: usize = 64;

/// A long sum is taken in equal parts, so that it is rounded alike on every processor.
fn multiply_on(threads: Parallelism, left: Matrix, right: Matrix, store: Store, mut target: Target) {
    let (n_rows, n_inner, n_columns) = (left.layout.n_rows, left.layout.n_columns, right.layout.n_columns);
    assert_eq!(n_inner, right.layout.n_rows, "the inner sizes of a product must agree");
    let is_alike = n_rows.max(n_columns) <= ALIKE_EVERYWHERE || n_rows.min(n_columns) <= 1;
    if is_alike || n_inner <= MOST_SUMMED {
        return multiply_at_once(threads, left, right, store, &mut target);
    }
    let part = n_inner.div_ceil(n_inner.div_ceil(MOST_SUMMED));
    for first in (0..n_inner).step_by(part) {
        let n_summed = part.min(n_inner - first);
        let store = if first == 0 { store } else { Store::Add };
        multiply_at_once(threads, left.columns(first, n_summed), right.rows(first, n_summed), store, &mut target);
    }
}

fn multiply_at_once(threads: Parallelism, left: Matrix, right: Matrix, store: Store, target: &mut Target) {
    let Target { values: target_values, layout: target_layout } = target;
    let (n_rows, n_inner, n_columns) = (left.layout.n_rows, left.layout.n_columns, right.layout.n_columns);
    assert_eq!(n_inner, right.layout.n_rows, "the inner sizes of a product must agree");
    let found = (target_layout.n_rows, target_layout.n_columns);
    assert_eq!(found, (n_rows, n_columns), "the target of a product must have its size");
    if n_rows == 0 || n_columns == 0 {
        return;
    }
    left.layout.check(left.values.len());
    right.layout.check(right.values.len());
    target_layout.check(target_values.len());
    target_layout.check_rows_are_apart();
    let ([left_column, left_row], [right_column, right_row]) = (left.layout.strides(), right.layout.strides());
    let [target_column, target_row] = target_layout.strides();
    // SAFETY: the sizes agree, and every value of each matrix lies in its slice, as was checked above. The values of the
    // target do not overlap each other, and being borrowed mutably they overlap neither of the others.
    unsafe {
        gemm::gemm(
            n_rows,
            n_columns,
            n_inner,
            target_values.as_mut_ptr(),
            target_column,
            target_row,
            store == Store::Add,
            left.values.as_ptr(),
            left_column,
            left_row,
            right.values.as_ptr(),
            right_column,
            right_row,
            1.0,
            1.0,
            false,
            false,
            false,
            threads,
        );
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn products_by_hand() {
        let left = Matrix::of_rows(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3); // [2, 3]
        let right = Matrix::of_rows(&[1.0, 0.0, 2.0, 1.0, 0.0, 3.0], 2); // [3, 2]
        let mut out = [9.0; 4];
        multiply(left, right, Store::Overwrite, Target::of_rows(&mut out, 2));
        assert_eq!(out, [5.0, 11.0, 14.0, 23.0]);
        multiply(right.transposed(), left.transposed(), Store::Add, Target::of_rows(&mut out, 2));
        assert_eq!(out, [10.0, 25.0, 25.0, 46.0]);
    }

    #[test]
    fn long_sums_are_the_same_on_every_processor() {
        let random = |n: usize, seed: u32| -> Vec<f32> {
            let next = |state: &mut u32| {
                *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                Some((*state >> 8) as f32 / (1 << 23) as f32 - 1.0)
            };
            (0..n).scan(seed, |state, _| next(state)).collect()
        };
        for (n_rows, n_inner, n_columns) in [(96, 1024, 70), (70, 1536, 2), (3, 700, 256)] {
            let (left, right) = (random(n_rows * n_inner, 1), random(n_inner * n_columns, 2));
            let (left, right) = (Matrix::of_rows(&left, n_inner), Matrix::of_rows(&right, n_columns));
            let n_parts = n_inner.div_ceil(512);
            let part = n_inner.div_ceil(n_parts);
            let mut expected = vec![0.0; n_rows * n_columns];
            for first in (0..n_inner).step_by(part) {
                let n = part.min(n_inner - first);
                // No product of so few numbers is divided, whatever the processor.
                multiply(
                    left.columns(first, n),
                    right.rows(first, n),
                    Store::Add,
                    Target::of_rows(&mut expected, n_columns),
                );
            }
            let mut out = vec![0.0; n_rows * n_columns];
            multiply(left, right, Store::Overwrite, Target::of_rows(&mut out, n_columns));
            assert!(out == expected, "{n_rows} x {n_inner} x {n_columns}");
            multiply_on_all_threads(left, right, Target::of_rows(&mut out, n_columns));
            assert!(out == expected, "{n_rows} x {n_inner} x {n_columns} on all threads");
        }
    }

    #[test]
    fn rows_of_several_matrices_may_take_turns() {
        let values = [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]; // [[1, 2], [3, 4]] and [[5, 6], [7, 8]]
        let (first, second) = (Matrix::interleaved(&values, 2, 2, 0), Matrix::interleaved(&values, 2, 2, 1));
        let mut out = [9.0; 8];
        multiply(first, second, Store::Overwrite, Target::interleaved(&mut out, 2, 2, 1));
        assert_eq!(out, [9.0, 9.0, 19.0, 22.0, 9.0, 9.0, 43.0, 50.0]);
    }

    /// A matrix of small whole numbers among others whose rows take turns with its own, so that sums are exact.
    fn values(n_rows: usize, n_columns: usize, n_matrices: usize, seed: usize) -> Vec<f32> {
        (0..n_rows * n_matrices * n_columns).map(|index| ((index * 7 + seed) % 11) as f32 - 5.0).collect()
    }

    /// The value of a row and a column, by definition.
    fn at(matrix: &Matrix, row: usize, column: usize) -> f32 {
        matrix.values[row * matrix.layout.row_stride + column * matrix.layout.column_stride]
    }

    /// `values`, `[n_rows, n_matrices, n_columns]` or with rows and columns exchanged, read as `[n_rows, n_columns]`.
    fn any_way(
        values: &[f32],
        n_columns: usize,
        n_rows: usize,
        is_turned: bool,
        n: usize,
        position: usize,
    ) -> Matrix<'_> {
        match is_turned {
            false => Matrix::interleaved(values, n, n_columns, position),
            true => Matrix::interleaved(values, n, n_rows, position).transposed(),
        }
    }

    proptest! {
        #[test]
        fn products_are_their_definition(
            (n_rows, n_inner, n_columns) in (0..20_usize, 0..20_usize, 1..20_usize),
            (n_matrices, position) in (1..4_usize).prop_flat_map(|n| (Just(n), 0..n)),
            (left_is_turned, right_is_turned) in (any::<bool>(), any::<bool>()),
            store in prop_oneof![Just(Store::Overwrite), Just(Store::Add)],
        ) {
            // A slice cannot tell how many rows of no columns it has.
            let left_is_turned = left_is_turned && n_rows > 0;
            prop_assume!(n_inner > 0 || left_is_turned);
            let right_is_turned = right_is_turned && n_inner > 0;
            let left_values = values(n_rows, n_inner, n_matrices, 1);
            let right_values = values(n_inner, n_columns, n_matrices, 2);
            let left = any_way(&left_values, n_inner, n_rows, left_is_turned, n_matrices, position);
            let right = any_way(&right_values, n_columns, n_inner, right_is_turned, n_matrices, position);
            let before = values(n_rows, n_columns, n_matrices, 3);
            let mut out = before.clone();
            multiply(left, right, store, Target::interleaved(&mut out, n_matrices, n_columns, position));

            let mut wanted = before;
            for (row, column) in (0..n_rows).flat_map(|row| (0..n_columns).map(move |column| (row, column))) {
                let place = &mut wanted[(row * n_matrices + position) * n_columns + column];
                let product: f32 = (0..n_inner).map(|inner| at(&left, row, inner) * at(&right, inner, column)).sum();
                *place = if store == Store::Add { *place + product } else { product };
            }
            prop_assert_eq!(out, wanted);
        }
    }

    /// Whether `job` panics with a message that has `words` in it.
    fn is_refused<T>(words: &str, job: impl FnOnce() -> T) -> bool {
        let Err(panic) = catch_unwind(AssertUnwindSafe(job)) else { return false };
        panic.downcast_ref::<String>().is_some_and(|message| message.contains(words))
    }

    #[test]
    fn slices_that_are_no_matrices_are_refused() {
        let (values, mut target) = ([0.0; 12], [0.0; 12]);
        assert!(is_refused("12 values are not rows of 5", || Matrix::of_rows(&values, 5)));
        assert!(is_refused("12 values are not rows of 0", || Matrix::of_rows(&values, 0)));
        assert!(is_refused("12 values are not rows of 3", || Matrix::interleaved(&values, 3, 3, 0)));
        assert!(is_refused("12 values are not rows of 3", || Matrix::interleaved(&values, 0, 3, 0)));
        // 2^63 matrices of 4 columns: the product would be 0.
        assert!(is_refused("values are not rows", || Matrix::interleaved(&values, 1 << 63, 4, 0)));
        assert!(is_refused("no matrix 2 among 2", || Matrix::interleaved(&values, 2, 3, 2)));
        assert!(is_refused("no matrix 2 among 2", || {
            let _ = Target::interleaved(&mut target, 2, 3, 2);
        }));
        assert!(is_refused("12 values are not rows of 5", || {
            let _ = Target::of_rows(&mut target, 5);
        }));
    }

    #[test]
    fn products_of_other_sizes_are_refused() {
        let (left, right) = (Matrix::of_rows(&[0.0; 6], 3), Matrix::of_rows(&[0.0; 12], 4)); // [2, 3] and [3, 4]
        let mut out = [0.0; 24];
        let inner = "the inner sizes of a product must agree";
        assert!(is_refused(inner, || multiply(right, left, Store::Overwrite, Target::of_rows(&mut out[..8], 4))));
        let size = "the target of a product must have its size";
        assert!(is_refused(size, || multiply(left, right, Store::Overwrite, Target::of_rows(&mut out[..12], 4))));
        assert!(is_refused(size, || multiply(left, right, Store::Overwrite, Target::of_rows(&mut out[..4], 4))));
        // Four columns would fit between the rows, but the last of them belongs to another matrix.
        assert!(is_refused(size, || {
            multiply(left, right, Store::Overwrite, Target::interleaved(&mut out[..12], 2, 3, 0));
        }));
    }

    /// Layouts that no constructor makes: what is checked right before the pointers are handed over.
    #[test]
    fn layouts_that_leave_their_slice_are_refused() {
        let square = Layout { n_rows: 2, n_columns: 2, row_stride: 2, column_stride: 1 };
        let right = Matrix::of_rows(&[0.0; 4], 2);
        let wrong_layouts = [
            Layout { row_stride: 3, ..square },
            Layout { column_stride: 2, ..square },
            Layout { row_stride: usize::MAX, ..square },
            Layout { row_stride: usize::MAX, column_stride: usize::MAX, ..square },
        ];
        for layout in wrong_layouts {
            let matrix = Matrix { values: &[0.0; 4], layout };
            let mut out = [0.0; 4];
            assert!(is_refused("does not fit in 4", || {
                multiply(matrix, right, Store::Add, Target::of_rows(&mut out, 2));
            }));
            assert!(is_refused("does not fit in 4", || {
                multiply(right, matrix, Store::Add, Target::of_rows(&mut out, 2));
            }));
            assert!(is_refused("does not fit in 4", || {
                multiply(right, right, Store::Add, Target { values: &mut out, layout });
            }));
        }
        let overlapping = Layout { row_stride: 1, ..square };
        assert!(is_refused("overlap", || {
            multiply(right, right, Store::Add, Target { values: &mut [0.0; 4], layout: overlapping });
        }));
    }
}
