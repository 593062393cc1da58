//! The leading components in passes over the rows, for any number of columns.
//!
//! The covariance itself is never made: a block of rows B adds `B' (B Q)` to the directions Q times it. How the passes find the components,
//! `leading.rs` tells.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};
use rayon::prelude::*;
use unbraid_data::{Result, Rng};

use super::centred::Centred;
use super::leading::{Leading, Limits, leading};
use super::{PrincipalComponents, Rows, Tell, no_variance};

/// Each pass reads all rows, so that they end sooner than those of [`super::exact`].
const LIMITS: Limits = Limits { settled: 1e-7, most_passes: 60 };
/// Columns that one thread multiplies at a time, and rows likewise.
const COLUMNS_AT_ONCE: usize = 1024;
const ROWS_AT_ONCE: usize = 32;

/// The first components, `n_components` of them or as many as have variance, of at least two rows.
pub fn principal_components(
    rows: &dyn Rows,
    n_components: usize,
    tell: Tell,
    rng: &mut Rng,
) -> Result<PrincipalComponents> {
    let (n_rows, n_columns) = (rows.n_rows(), rows.n_columns());
    if n_rows < 2 {
        return Err(no_variance(n_rows));
    }
    let n_wanted = n_components.min(n_columns).min(n_rows - 1);
    let mut table = Table { centred: Centred::new(rows)?, n_rows: n_rows as f64, moments: None };
    let multiply = |pass: usize, directions: &Array2<f64>| {
        table.times_covariance(directions, |done, total| tell(&format!("pass {pass}"), done, total))
    };
    let Leading { vectors, values, n_passes, unsettled } =
        leading(n_wanted, [n_rows, n_columns], &LIMITS, multiply, rng)?;
    let Moments { off, total } = table.moments.expect("a pass was made");
    let found = PrincipalComponents::new(&table.centred.shift + &off, &vectors, &values, total, n_rows)?;
    Ok(PrincipalComponents { n_passes, unsettled, ..found })
}

/// The rows, and what the first pass learns of them beside its products.
struct Table<'a> {
    centred: Centred<'a>,
    n_rows: f64,
    moments: Option<Moments>,
}

struct Moments {
    /// From the shift to the mean. `[columns]`
    off: Array1<f64>,
    /// The variance of all columns together.
    total: f64,
}

impl Table<'_> {
    /// Each direction times the covariance, `[directions, columns]`.
    fn times_covariance(&mut self, directions: &Array2<f64>, tell: impl FnMut(usize, usize)) -> Result<Array2<f64>> {
        let n_columns = directions.ncols();
        let starts: Vec<usize> = (0..n_columns).step_by(COLUMNS_AT_ONCE).collect();
        let range = |start: usize| start..(start + COLUMNS_AT_ONCE).min(n_columns);
        let mut parts: Vec<Array2<f64>> =
            starts.iter().map(|&start| Array2::zeros((directions.nrows(), range(start).len()))).collect();
        let (mut sum, mut squares) = (Array1::zeros(n_columns), 0.0);
        let is_first = self.moments.is_none();
        let take = |block: &Array2<f64>| {
            let along = products_of_rows(block, directions); // [rows, directions]
            parts.par_iter_mut().zip(&starts).for_each(|(part, &start)| {
                general_mat_mul(1.0, &along.t(), &block.slice(s![.., range(start)]), 1.0, part);
            });
            if is_first {
                sum += &block.sum_axis(Axis(0));
                squares += block.rows().into_iter().map(|row| row.dot(&row)).sum::<f64>();
            }
        };
        self.centred.for_each_block(take, tell)?;
        let n_rows = self.n_rows;
        let Moments { off, .. } = self.moments.get_or_insert_with(|| {
            let off = &sum / n_rows;
            let total = ((squares - n_rows * off.dot(&off)) / (n_rows - 1.0)).max(0.0);
            Moments { off, total }
        });
        let parts: Vec<ArrayView2<f64>> = parts.iter().map(|part| part.view()).collect();
        let mut products = concatenate(Axis(1), &parts).expect("parts have a row for each direction");
        for (mut product, direction) in products.rows_mut().into_iter().zip(directions.rows()) {
            product.scaled_add(-n_rows * direction.dot(off), off);
        }
        Ok(products / (n_rows - 1.0))
    }
}

/// `block [rows, columns]` times `directions [directions, columns]`, `[rows, directions]`, a few rows on each thread.
fn products_of_rows(block: &Array2<f64>, directions: &Array2<f64>) -> Array2<f64> {
    let chunks: Vec<ArrayView2<f64>> = block.axis_chunks_iter(Axis(0), ROWS_AT_ONCE).collect();
    let parts: Vec<Array2<f64>> = chunks.par_iter().map(|rows| rows.dot(&directions.t())).collect();
    let parts: Vec<ArrayView2<f64>> = parts.iter().map(|part| part.view()).collect();
    concatenate(Axis(0), &parts).expect("parts have a column for each direction")
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;
    use crate::principal::exact;

    fn randomised(table: &Array2<f32>, n: usize) -> PrincipalComponents {
        principal_components(table, n, &mut |_, _, _| {}, &mut Seed(1).stream("components")).unwrap()
    }

    /// Rows whose variance falls slowly from direction to direction, as that of pictures does.
    fn slowly_falling(n_rows: usize, n_columns: usize) -> Array2<f32> {
        let mut rng = Seed(2).stream("rows");
        let mixing = Array2::from_shape_fn((n_columns, n_columns), |(i, j)| {
            ((i * j + i) as f64).sin() / (1.0 + i as f64).sqrt()
        });
        let noise = Array2::from_shape_simple_fn((n_rows, n_columns), || rng.random_range(-1.0..1.0));
        (noise.dot(&mixing) + 3.0).mapv(|value: f64| value as f32)
    }

    #[test]
    fn the_exact_components_are_found() {
        let table = slowly_falling(900, 300);
        let mut rng = Seed(5).stream("components");
        let wanted = exact::principal_components(&table, 12, &mut |_, _, _| {}, &mut rng).unwrap();
        let found = randomised(&table, 12);
        assert!(found.unsettled.is_none() && found.n_passes > 2, "{}", found.n_passes);
        assert!((found.total_variance / wanted.total_variance - 1.0).abs() < 1e-12);
        for (found, wanted) in found.variances.iter().zip(&wanted.variances) {
            assert!((found / wanted - 1.0).abs() < 1e-10, "{found}, {wanted}");
        }
        let apart = (&found.components - &wanted.components).mapv(f64::abs);
        assert!(apart.iter().all(|&apart| apart < 1e-5), "{:?}", apart.iter().fold(0.0_f64, |a, &b| a.max(b)));
        assert!((&found.mean - &wanted.mean).iter().all(|apart| apart.abs() < 1e-12));
    }

    #[test]
    fn rows_of_few_directions_end_the_passes_at_once() {
        // Two directions of 50 columns, and more components wanted than there are.
        let table = Array2::from_shape_fn((40, 50), |(row, column)| {
            ((row % 5) as f32) * (column % 3) as f32 + (row / 5) as f32 * (column % 7) as f32 * 0.1
        });
        let found = randomised(&table, 20);
        assert_eq!((found.components.nrows(), found.unsettled), (2, None));
        assert!((found.cumulative()[1] - 1.0).abs() < 1e-9);
        let constant = Array2::from_elem((9, 5), 0.3_f32);
        let refused = principal_components(&constant, 2, &mut |_, _, _| {}, &mut Seed(1).stream("components"));
        assert!(refused.unwrap_err().to_string().contains("9 rows that are all the same"));
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let table = slowly_falling(100, 1100);
        let on = |threads: usize| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| randomised(&table, 3))
        };
        assert_eq!(on(1), on(3));
    }
}
