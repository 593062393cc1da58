//! Blocks of rows, shifted near to 0.

use ndarray::{Array1, Array2, Axis};
use rayon::prelude::*;
use unbraid_data::Result;

use super::Rows;

/// Rows that the shift is the mean of.
const SHIFT_ROWS: usize = 1024;
/// About how many numbers a block has: 16 MB of 64-bit floats.
const BLOCK_NUMBERS: usize = 1 << 21;

/// A table whose columns are shifted by about their means.
pub(super) struct Centred<'a> {
    rows: &'a dyn Rows,
    /// `[columns]`
    pub(super) shift: Array1<f64>,
    block_rows: usize,
}

impl<'a> Centred<'a> {
    /// The shift is the mean of rows that are spread evenly over the table.
    pub(super) fn new(rows: &'a dyn Rows) -> Result<Self> {
        let (n_rows, n_columns) = (rows.n_rows(), rows.n_columns());
        let block_rows = (BLOCK_NUMBERS / n_columns.max(1)).clamp(16, 512);
        let zero = Array1::zeros(n_columns);
        let mut table = Self { rows, shift: zero.clone(), block_rows };
        let n_some = SHIFT_ROWS.min(n_rows);
        let some: Vec<usize> = (0..n_some).map(|place| place * n_rows / n_some).collect();
        let mut sum = zero;
        for chunk in some.chunks(block_rows) {
            sum += &table.read(chunk)?.sum_axis(Axis(0));
        }
        // Constant columns keep their value to the bit, since the sum of as many equal 32-bit floats is exact.
        table.shift = sum / n_some as f64;
        Ok(table)
    }

    /// Gives `take` one block after the other, `[rows, columns]`, and tells how many rows are done.
    pub(super) fn for_each_block(
        &self,
        mut take: impl FnMut(&Array2<f64>),
        mut tell: impl FnMut(usize, usize),
    ) -> Result<()> {
        let n_rows = self.rows.n_rows();
        let mut done = 0;
        tell(done, n_rows);
        while done < n_rows {
            let numbers: Vec<usize> = (done..(done + self.block_rows).min(n_rows)).collect();
            take(&self.read(&numbers)?);
            done += numbers.len();
            tell(done, n_rows);
        }
        Ok(())
    }

    fn read(&self, numbers: &[usize]) -> Result<Array2<f64>> {
        let n_columns = self.rows.n_columns();
        let values = self.rows.read(numbers)?;
        let mut block = vec![0.0; values.len()];
        let shift = self.shift.as_slice().expect("a new array is contiguous");
        block.par_chunks_mut(n_columns).zip(values.par_chunks(n_columns)).for_each(|(to, from)| {
            for ((to, &from), shift) in to.iter_mut().zip(from).zip(shift) {
                *to = f64::from(from) - shift;
            }
        });
        Ok(Array2::from_shape_vec((numbers.len(), n_columns), block).expect("a value for each row and column"))
    }
}

/// A table in memory, for tests.
#[cfg(test)]
impl Rows for Array2<f32> {
    fn n_rows(&self) -> usize {
        self.nrows()
    }

    fn n_columns(&self) -> usize {
        self.ncols()
    }

    fn read(&self, rows: &[usize]) -> Result<Vec<f32>> {
        Ok(self.select(Axis(0), rows).into_iter().collect())
    }
}
