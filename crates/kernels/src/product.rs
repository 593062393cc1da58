//! Matrix products on slices: the one place that talks to `gemm`, and the one place with `unsafe`.

use gemm::Parallelism;

/// A matrix in a slice that is not its own, possibly transposed.
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

/// What a product does with the values it finds in its output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Overwrite,
    Add,
}

/// `out = left * right`, or `out += left * right`, on this thread alone; `out` is row-major.
pub(crate) fn multiply(left: Matrix, right: Matrix, store: Store, out: &mut [f32]) {
    let (n_rows, n_inner, n_columns) = (left.n_rows, left.n_columns, right.n_columns);
    assert_eq!(n_inner, right.n_rows, "the inner sizes of a product must agree");
    assert_eq!(out.len(), n_rows * n_columns, "the output of a product must have its size");
    // SAFETY: `Matrix` can only be made over a slice of exactly n_rows * n_columns values with strides that stay
    // inside it, `out` was checked to hold n_rows * n_columns values, and being borrowed mutably it overlaps neither.
    unsafe {
        gemm::gemm(
            n_rows,
            n_columns,
            n_inner,
            out.as_mut_ptr(),
            1,
            n_columns as isize,
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
            Parallelism::None,
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
        multiply(left, right, Store::Overwrite, &mut out);
        assert_eq!(out, [5.0, 11.0, 14.0, 23.0]);
        multiply(right.transposed(), left.transposed(), Store::Add, &mut out);
        assert_eq!(out, [10.0, 25.0, 25.0, 46.0]);
    }
}
