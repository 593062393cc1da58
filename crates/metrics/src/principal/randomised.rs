//! The leading components from a random start, in passes over the rows, for any number of columns.
//!
//! Halko, Martinsson, Shkolnisky and Tygert 2011, "An algorithm for the principal component analysis of large data sets": a few more
//! random directions than components are wanted, multiplied by the covariance C again and again; the directions of all passes
//! are kept, and the components are the best within their span (Rayleigh-Ritz), so that each pass gains more than a plain power
//! iteration would. C itself is never made: a block of rows B adds `B' (B Q)`.
//!
//! Departures: the number of passes is not fixed. They end when `|C u - v u|` is at most a ten-millionth of the variance v of each
//! wanted component u, which bounds its error by that over the gap to its neighbours. Where the span gets large it is cut back to the
//! best of it, and the passes go on from there (Wu and Simon 2000, thick restarts).

use faer::{Mat, Side};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};
use rayon::prelude::*;
use unbraid_data::{Error, Result, Rng};

use super::centred::Centred;
use super::{PrincipalComponents, Rows, Tell, no_variance};
use crate::statistics::normal::normal_noise;

/// Directions beside those that are wanted.
const OVERSAMPLING: usize = 10;
/// The span is cut back when it holds this many times the directions of a pass.
const MOST_BLOCKS: usize = 8;
/// Passes over the rows, after which what was found is taken as it is.
const MOST_PASSES: usize = 60;
/// The residual of a component, as a share of its variance, at which it has settled.
const SETTLED: f64 = 1e-7;
/// Components with less than this share of the largest variance settle to a share of that, which rounding allows.
const LEAST_UNIT: f64 = 1e-6;
/// A direction of which less than this share is new adds nothing.
const NOTHING_NEW: f64 = 1e-10;
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
    let n_directions = (n_wanted + OVERSAMPLING).min(n_columns);
    let mut table = Table { centred: Centred::new(rows)?, n_rows: n_rows as f64, moments: None };
    let start = Array2::from_shape_simple_fn((n_directions, n_columns), || normal_noise(rng));
    let mut span = Span { basis: Array2::zeros((0, n_columns)), products: Array2::zeros((0, n_columns)) };
    let mut directions = span.new_directions(&start); // [directions, columns]
    let mut n_passes = 0;
    let (best, unsettled) = loop {
        n_passes += 1;
        let stage = format!("pass {n_passes}");
        let products = table.times_covariance(&directions, |done, total| tell(&stage, done, total))?;
        span.basis = stacked(&span.basis, &directions);
        span.products = stacked(&span.products, &products);
        directions = span.new_directions(&products);
        let best = span.best(n_directions)?;
        let worst = best.worst_residual(n_wanted);
        if worst <= SETTLED || directions.is_empty() {
            break (best, None);
        }
        if n_passes == MOST_PASSES {
            break (best, Some(worst));
        }
        if span.basis.nrows() >= MOST_BLOCKS * n_directions {
            span = Span { basis: best.vectors, products: best.products };
        }
    };
    let Moments { off, total } = table.moments.expect("a pass was made");
    let n_kept = n_wanted.min(best.values.len());
    let mean = &table.centred.shift + &off;
    let found = PrincipalComponents::new(mean, &best.vectors, &best.values[..n_kept], total, n_rows)?;
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

fn stacked(above: &Array2<f64>, below: &Array2<f64>) -> Array2<f64> {
    concatenate(Axis(0), &[above.view(), below.view()]).expect("both have as many columns")
}

/// Orthonormal directions, `[directions, columns]`, and each times the covariance.
struct Span {
    basis: Array2<f64>,
    products: Array2<f64>,
}

/// What comes nearest to eigenvectors within a span, those with the largest eigenvalues first.
struct Best {
    /// `[directions, columns]`, each of length 1.
    vectors: Array2<f64>,
    /// Each times the covariance. `[directions, columns]`
    products: Array2<f64>,
    /// `[directions]`
    values: Vec<f64>,
}

impl Span {
    /// What is new in these directions, made orthonormal; fewer where some lie in the span.
    fn new_directions(&self, wanted: &Array2<f64>) -> Array2<f64> {
        let mut found: Array2<f64> = Array2::zeros((0, wanted.ncols()));
        for direction in wanted.outer_iter() {
            let mut direction = direction.to_owned();
            let length = direction.dot(&direction).sqrt();
            // Twice is enough: what rounding leaves of the first is gone after the second.
            for _ in 0..2 {
                for known in [&self.basis, &found] {
                    let along = known.dot(&direction);
                    direction -= &known.t().dot(&along);
                }
            }
            let left = direction.dot(&direction).sqrt();
            if left > NOTHING_NEW * length {
                direction /= left;
                found.push_row(direction.view()).expect("it has as many columns");
            }
        }
        found
    }

    fn best(&self, n: usize) -> Result<Best> {
        let small = self.basis.dot(&self.products.t());
        let n_basis = small.nrows();
        let matrix = Mat::from_fn(n_basis, n_basis, |i, j| (small[[i, j]] + small[[j, i]]) / 2.0);
        let eigen = matrix
            .self_adjoint_eigen(Side::Lower)
            .map_err(|_| Error::failure("the components did not converge within their span"))?;
        let n = n.min(n_basis);
        // faer has them in rising order.
        let place = |position: usize| n_basis - 1 - position;
        let turn = Array2::from_shape_fn((n, n_basis), |(position, row)| eigen.U()[(row, place(position))]);
        let values = (0..n).map(|position| eigen.S().column_vector()[place(position)].max(0.0)).collect();
        Ok(Best { vectors: turn.dot(&self.basis), products: turn.dot(&self.products), values })
    }
}

impl Best {
    /// The greatest `|C u - v u| / v` of the first `n`.
    fn worst_residual(&self, n: usize) -> f64 {
        let unit = |value: f64| value.max(LEAST_UNIT * self.values[0]).max(f64::MIN_POSITIVE);
        let residual = |position: usize| {
            let off = &self.products.row(position) - &(&self.vectors.row(position) * self.values[position]);
            off.dot(&off).sqrt() / unit(self.values[position])
        };
        (0..n.min(self.values.len())).map(residual).fold(0.0, f64::max)
    }
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
        let wanted = exact::principal_components(&table, 12, &mut |_, _, _| {}).unwrap();
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
