//! Rotations drawn uniformly.

use ndarray::{Array1, Array2};
use unbraid_data::Rng;

use super::normal::normal_noise;

/// An orthogonal matrix `[n, n]`, each as likely as any other (Haar's measure): normal numbers, each column made orthogonal to those
/// before it.
pub fn random_rotation(n: usize, rng: &mut Rng) -> Array2<f64> {
    let mut columns: Vec<Array1<f64>> = Vec::new();
    while columns.len() < n {
        let mut column = Array1::from_shape_simple_fn(n, || normal_noise(rng));
        // Twice, since once leaves rounding errors of the size of the columns' likeness.
        for other in columns.iter().chain(&columns) {
            let along = column.dot(other);
            column.scaled_add(-along, other);
        }
        let length = column.dot(&column).sqrt();
        columns.push(column / length);
    }
    Array2::from_shape_fn((n, n), |(row, column)| columns[column][row])
}

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;

    #[test]
    fn columns_are_orthogonal_and_entries_have_their_variance() {
        let mut rng = Seed(1).stream("rotations");
        let mut squares = 0.0;
        for _ in 0..2000 {
            let rotation = random_rotation(3, &mut rng);
            let product = rotation.t().dot(&rotation);
            assert!(product.indexed_iter().all(|((i, j), v)| (v - f64::from(u8::from(i == j))).abs() < 1e-12));
            squares += rotation[[0, 2]].powi(2);
        }
        // An entry is a part of a vector of length 1 in three dimensions: its square is 1/3 in the mean, with a deviation of 0.3.
        assert!((squares / 2000.0 - 1.0 / 3.0).abs() < 0.03, "{squares}");
    }
}
