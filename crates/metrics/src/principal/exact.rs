//! The leading eigenvectors of the covariance, which is added up block by block: one pass over the rows, and as many numbers in memory as
//! the square of the columns.
//!
//! How the eigenvectors are found, `leading.rs` tells: a full decomposition of a covariance of 4,096 columns takes half a minute for the few
//! that are wanted, and does not end where most of the columns are the same.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};
use rayon::prelude::*;
use unbraid_data::{Result, Rng};

use super::centred::Centred;
use super::leading::{Leading, Limits, leading};
use super::{PrincipalComponents, Rows, Tell, no_variance};

/// Columns beyond this take gigabytes; [`super::randomised`] takes any number.
pub const MOST_COLUMNS: usize = 4096;
/// Columns of a square of the covariance, which one thread adds up.
const TILE: usize = 256;
/// A pass costs little where the covariance is at hand.
const LIMITS: Limits = Limits { settled: 1e-10, most_passes: 300 };

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
    let (mean, covariance) = mean_and_covariance(&Centred::new(rows)?, rows, tell)?;
    let total = covariance.diag().sum();
    tell("eigenvectors", 0, 0);
    let n_wanted = n_components.min(n_columns).min(n_rows - 1);
    let multiply = |_: usize, directions: &Array2<f64>| Ok(times(directions, &covariance));
    let Leading { vectors, values, unsettled, .. } = leading(n_wanted, [n_rows, n_columns], &LIMITS, multiply, rng)?;
    let found = PrincipalComponents::new(mean, &vectors, &values, total, n_rows)?;
    Ok(PrincipalComponents { unsettled, ..found })
}

/// The mean, and the covariance, `[columns, columns]`.
fn mean_and_covariance(centred: &Centred, rows: &dyn Rows, tell: Tell) -> Result<(Array1<f64>, Array2<f64>)> {
    let (n_rows, n_columns) = (rows.n_rows() as f64, rows.n_columns());
    let n_tiles = n_columns.div_ceil(TILE);
    let range = |tile: usize| tile * TILE..((tile + 1) * TILE).min(n_columns);
    let places: Vec<(usize, usize)> = (0..n_tiles).flat_map(|row| (0..=row).map(move |column| (row, column))).collect();
    let mut tiles: Vec<Array2<f64>> =
        places.iter().map(|&(row, column)| Array2::zeros((range(row).len(), range(column).len()))).collect();
    let mut sum = Array1::zeros(n_columns);
    let take = |block: &Array2<f64>| {
        sum += &block.sum_axis(Axis(0));
        tiles.par_iter_mut().zip(&places).for_each(|(tile, &(row, column))| {
            let (left, right) = (block.slice(s![.., range(row)]), block.slice(s![.., range(column)]));
            general_mat_mul(1.0, &left.t(), &right, 1.0, tile);
        });
    };
    centred.for_each_block(take, |done, total| tell("covariance", done, total))?;
    let off = sum / n_rows; // [columns], from the shift to the mean
    let mut covariance = Array2::zeros((n_columns, n_columns));
    for (tile, &(row, column)) in tiles.iter().zip(&places) {
        for ((i, j), &product) in tile.indexed_iter() {
            let (i, j) = (row * TILE + i, column * TILE + j);
            let entry = (product - n_rows * off[i] * off[j]) / (n_rows - 1.0);
            (covariance[[i, j]], covariance[[j, i]]) = (entry, entry);
        }
    }
    Ok((&centred.shift + &off, covariance))
}

/// Each of `directions [directions, columns]` times a symmetric matrix, a few of its rows on each thread.
fn times(directions: &Array2<f64>, matrix: &Array2<f64>) -> Array2<f64> {
    let chunks: Vec<ArrayView2<f64>> = matrix.axis_chunks_iter(Axis(0), TILE).collect();
    let parts: Vec<Array2<f64>> = chunks.par_iter().map(|rows| directions.dot(&rows.t())).collect();
    let parts: Vec<ArrayView2<f64>> = parts.iter().map(|part| part.view()).collect();
    concatenate(Axis(1), &parts).expect("parts have a row for each direction")
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;

    fn exact(table: &Array2<f32>, n: usize) -> PrincipalComponents {
        principal_components(table, n, &mut |_, _, _| {}, &mut Seed(1).stream("components")).unwrap()
    }

    #[test]
    fn four_points_worked_by_hand() {
        // Along (3, 4) / 5 by -10, -5, 5, 10, and along (-4, 3) / 5 by 1, -1, -1, 1: sums of squares 250 and 4, over 3. The sum of
        // the products is -10 + 5 - 5 + 10 = 0.
        let along = [[-10.0, 1.0], [-5.0, -1.0], [5.0, -1.0], [10.0, 1.0_f32]];
        let table = Array2::from_shape_fn((4, 2), |(row, column)| {
            let [first, second] = along[row];
            100.0 + [3.0 * first - 4.0 * second, 4.0 * first + 3.0 * second][column] / 5.0
        });
        let found = exact(&table, 5);
        assert_eq!(found.components.nrows(), 2);
        for (value, wanted) in found.variances.iter().zip([250.0 / 3.0, 4.0 / 3.0]) {
            assert!((value - wanted).abs() < 1e-4, "{value}");
        }
        for (value, wanted) in found.components.iter().zip([0.6, 0.8, 0.8, -0.6]) {
            assert!((value - wanted).abs() < 1e-6, "{}", found.components);
        }
        assert!(found.mean.iter().all(|mean| (mean - 100.0).abs() < 1e-5));
    }

    #[test]
    fn blocks_and_tiles_add_up_far_from_0() {
        // 1100 rows of 300 columns: three blocks, and two tiles each way. A direction of known variance on top of noise, at 1e4.
        let mut rng = Seed(3).stream("rows");
        let direction: Vec<f64> = (0..300).map(|column| if column < 100 { 0.1 } else { 0.0 }).collect();
        let table = Array2::from_shape_fn((1100, 300), |(row, column)| {
            let along = if row % 2 == 0 { 5.0 } else { -5.0 };
            (1e4 + along * direction[column] + 1e-2 * rng.random_range(-1.0..1.0)) as f32
        });
        let found = exact(&table, 2);
        // Twenty-five, over the rows less one, and a little of the noise.
        assert!((found.variances[0] - 25.0 * 1100.0 / 1099.0).abs() < 1e-2, "{:?}", found.variances);
        let cosine: f64 = found.components.row(0).iter().zip(&direction).map(|(a, b)| a * b).sum();
        assert!(cosine > 1.0 - 1e-4, "{cosine}");
    }

    #[test]
    fn few_rows_of_many_columns_have_few_components() {
        // Five pictures of a square each, apart from each other, of 700 columns: four directions with one variance.
        let table = Array2::from_shape_fn((5, 700), |(row, column)| f32::from(u8::from(column / 64 == row)));
        let found = exact(&table, 20);
        // 64 pixels of variance (4/5)^2 + 4 (1/5)^2 over 4, which is 1/5, in each of five squares, in four equal parts.
        assert_eq!(found.variances.len(), 4);
        assert!(found.variances.iter().all(|variance| (variance - 16.0).abs() < 1e-9), "{:?}", found.variances);
        assert!((found.cumulative()[3] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let table = Array2::from_shape_fn((700, 270), |(row, column)| ((row * 31 + column * 17) as f32 * 0.7).sin());
        let on = |threads: usize| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| exact(&table, 3))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn what_does_not_vary_is_refused() {
        let message = |table: &Array2<f32>| {
            principal_components(table, 1, &mut |_, _, _| {}, &mut Seed(1).stream("components"))
                .unwrap_err()
                .to_string()
        };
        assert!(message(&array![[0.1, 0.7], [0.1, 0.7], [0.1, 0.7]]).contains("in 3 rows that are all the same"));
        assert!(message(&array![[0.1, 0.7]]).contains("to explain in 1 row\n"));
    }
}
