//! Matrix products, through the `gemm` crate; and the one place with `unsafe`.

use gemm::Parallelism;

/// A matrix in a slice that is not its own: every `row_stride`-th and `column_stride`-th value, from `values[0]` on.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    n_rows: usize,
    n_columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// `values` read row by row, as many rows of `n_columns` as there are.
    pub(crate) fn of_rows(values: &'a [f32], n_columns: usize) -> Self {
        assert!(n_columns > 0 && values.len().is_multiple_of(n_columns), "{} / {n_columns}", values.len());
        Self { values, n_rows: values.len() / n_columns, n_columns, row_stride: n_columns, column_stride: 1 }
    }

    /// The `position`-th of the matrices whose rows take turns in `values`, `[rows, n_matrices, n_columns]`.
    pub(crate) fn interleaved(values: &'a [f32], n_matrices: usize, n_columns: usize, position: usize) -> Self {
        let row_stride = n_matrices * n_columns;
        assert!(position < n_matrices && values.len().is_multiple_of(row_stride), "{} / {row_stride}", values.len());
        let n_rows = values.len() / row_stride;
        Self { values: &values[position * n_columns..], n_rows, n_columns, row_stride, column_stride: 1 }
    }

    /// Rows and columns exchanged. Nothing is moved.
    pub(crate) fn transposed(self) -> Self {
        Self {
            n_rows: self.n_columns,
            n_columns: self.n_rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// The matrix that a product is written to.
pub(crate) struct Target<'a> {
    values: &'a mut [f32],
    row_stride: usize,
}

impl<'a> Target<'a> {
    /// All of `values`, row by row.
    pub(crate) fn of_rows(values: &'a mut [f32], n_columns: usize) -> Self {
        Self { values, row_stride: n_columns }
    }

    /// The `position`-th of the matrices whose rows take turns in `values`, `[rows, n_matrices, n_columns]`.
    pub(crate) fn interleaved(values: &'a mut [f32], n_matrices: usize, n_columns: usize, position: usize) -> Self {
        Self { values: &mut values[position * n_columns..], row_stride: n_matrices * n_columns }
    }
}

/// What a product does with the values it finds in its target.
#[derive(Clone, Copy, PartialEq, Eq)]
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

fn multiply_on(threads: Parallelism, left: Matrix, right: Matrix, store: Store, target: Target) {
    let Target { values, row_stride } = target;
    let (n_rows, n_inner, n_columns) = (left.n_rows, left.n_columns, right.n_columns);
    assert_eq!(n_inner, right.n_rows, "the inner sizes of a product must agree");
    assert!(n_columns <= row_stride, "the rows of a product must not overlap");
    let end = n_rows.checked_sub(1).map_or(0, |last_row| last_row * row_stride + n_columns);
    assert!(end <= values.len(), "the target of a product must have its size");
    // SAFETY: `Matrix` can only be made over a slice that holds n_rows * n_columns values at its strides; the target
    // was checked to hold n_rows rows of n_columns values, which do not overlap, and being borrowed mutably it
    // overlaps neither of the others.
    unsafe {
        gemm::gemm(
            n_rows,
            n_columns,
            n_inner,
            values.as_mut_ptr(),
            1,
            row_stride as isize,
            store == Store::Add,
            left.values.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.values.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
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
    fn rows_of_several_matrices_may_take_turns() {
        let values = [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]; // [[1, 2], [3, 4]] and [[5, 6], [7, 8]]
        let (first, second) = (Matrix::interleaved(&values, 2, 2, 0), Matrix::interleaved(&values, 2, 2, 1));
        let mut out = [9.0; 8];
        multiply(first, second, Store::Overwrite, Target::interleaved(&mut out, 2, 2, 1));
        assert_eq!(out, [9.0, 9.0, 19.0, 22.0, 9.0, 9.0, 43.0, 50.0]);
    }
}
