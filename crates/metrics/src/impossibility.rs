//! The impossibility of unsupervised disentanglement, as a function: codes whose every marginal stays as it was, and whose
//! every latent mixes all the others.
//!
//! Locatello et al. 2019, "Challenging common assumptions in the unsupervised learning of disentangled representations",
//! theorem 1. Independent latents z with distribution functions `F_i` are mapped to uniform variables, these to normal
//! ones, which an orthogonal matrix A without zeros turns, and all the way back:
//!
//! `f(z) = F^-1(Phi(A Phi^-1(F(z))))`
//!
//! Independent normals that are turned are independent normals, so `f(z)` has the distribution of z; f is a bijection, and
//! no entry of its Jacobian is 0. Whatever looks at the distribution of codes or of images alone cannot tell z from f(z),
//! though one of them may be disentangled and the other is not.
//!
//! Here F is what the sample says: a value's rank, and on the way back the value of that rank. The marginals therefore
//! stay not only alike but the same: each column holds the values it held, in other rows. That the *joint* distribution
//! stays takes independent latents, as in the theorem; latents that depend on each other keep their marginals all the
//! same. Equal values are put in a fixed random order, since a rank has to be unique; they come back equal, so that of
//! latents with few values the map is onto the table's rows but not one-to-one on codes. Constant latents take no part.

use ndarray::{Array1, Array2, ArrayRef1};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use unbraid_data::Seed;

use crate::statistics::normal::normal_quantile;

/// Entangles `codes [rows, latents]`: the same values in every column, and each latent a mixture of all that move.
pub fn entangle(codes: &Array2<f64>) -> Array2<f64> {
    let n_rows = codes.nrows();
    let columns: Vec<Array1<f64>> = codes.columns().into_iter().map(|column| column.to_owned()).collect();
    let moving: Vec<usize> =
        (0..columns.len()).filter(|&latent| columns[latent].iter().any(|&value| value != columns[latent][0])).collect();
    let orders: Vec<Vec<usize>> = moving.par_iter().map(|&latent| order(&columns[latent], latent)).collect();
    let mut normals = Array2::zeros((n_rows, moving.len()));
    for (index, order) in orders.iter().enumerate() {
        for (rank, &row) in order.iter().enumerate() {
            normals[[row, index]] = normal_quantile((rank as f64 + 0.5) / n_rows as f64);
        }
    }
    let turned = normals.dot(&mixing_matrix(moving.len())); // [rows, moving latents]

    let mut entangled = codes.clone();
    for (index, &latent) in moving.iter().enumerate() {
        let by_rank = order(&turned.column(index), latent);
        for (&to, &from) in by_rank.iter().zip(&orders[index]) {
            entangled[[to, latent]] = columns[latent][from];
        }
    }
    entangled
}

/// Row numbers in ascending order of their values; equal ones in a random order that is the same each time.
fn order(column: &ArrayRef1<f64>, latent: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..column.len()).collect();
    // The order of the rows may itself tell about factors, so ties are not left in it.
    rows.shuffle(&mut Seed(0).stream_at("ties", latent as u64));
    rows.sort_by(|&a, &b| column[a].total_cmp(&column[b]));
    rows
}

/// An orthogonal matrix without zeros: `sqrt(2/n) cos(pi (2i + 1) (2j + 1) / 4n)`, the cosine transform of type IV. The
/// product of two odd numbers is never an even multiple of n, which is what a zero would take. It is its own inverse.
fn mixing_matrix(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, n), |(i, j)| {
        let angle = std::f64::consts::PI * ((2 * i + 1) * (2 * j + 1)) as f64 / (4 * n) as f64;
        (2.0 / n as f64).sqrt() * angle.cos()
    })
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array};

    use super::*;

    #[test]
    fn the_mixing_matrix_is_orthogonal_and_has_no_zeros() {
        for n in [1, 2, 3, 8, 10, 50] {
            let matrix = mixing_matrix(n);
            let product = matrix.dot(&matrix.t());
            for ((i, j), &entry) in product.indexed_iter() {
                assert!((entry - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
            assert!(matrix.iter().all(|entry| entry.abs() > 1e-4), "{n}");
        }
    }

    #[test]
    fn columns_keep_their_values_and_constants_stay() {
        let codes = array![[3.0, 7.0, 1.0], [1.0, 7.0, 1.0], [2.0, 7.0, 5.0], [2.0, 7.0, -4.0]];
        let entangled = entangle(&codes);
        for (before, after) in codes.axis_iter(Axis(1)).zip(entangled.axis_iter(Axis(1))) {
            let sorted = |column: ndarray::ArrayView1<f64>| {
                let mut values = column.to_vec();
                values.sort_by(f64::total_cmp);
                values
            };
            assert_eq!(sorted(before), sorted(after));
        }
        assert_ne!(codes, entangled);
        assert_eq!(entangled, entangle(&codes));
    }

    #[test]
    fn one_latent_has_nothing_to_mix_with() {
        let codes = array![[3.0], [1.0], [2.0]];
        assert_eq!(entangle(&codes), codes);
    }

    #[test]
    fn done_twice_it_comes_back() {
        // On a full grid the latents are independent also in the sample, so their ranks come back nearly as they were.
        let n = 60;
        let codes = Array2::from_shape_fn((n * n, 2), |(row, latent)| {
            let place = [row / n, row % n][latent] as f64;
            place + (row as f64 * 0.618_033_988_749_895).fract() * 0.9
        });
        let twice = entangle(&entangle(&codes));
        let mean_distance = (&twice - &codes).mapv(f64::abs).mean().unwrap();
        assert!(mean_distance < 1.5, "{mean_distance}");
        let once = (&entangle(&codes) - &codes).mapv(f64::abs).mean().unwrap();
        assert!(once > 8.0, "{once}");
    }
}
