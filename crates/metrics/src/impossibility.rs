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
//! same. Equal values are put in a fixed random order, since a rank has to be unique. Constant latents take no part.
//!
//! A is its own inverse, so the way back is the same walk: `f^-1(z) = F^-1(Phi(A y))` from the turned normals `y`. The
//! sample keeps of these only their order, so [`Entangling`] holds them, row by row, beside the values of each rank. The
//! codes before come back to the bit, and latents with equal values too: which of them a row had is told by its normals,
//! though not by its code alone, which is one-to-one only where all values of a latent differ.

use ndarray::{Array1, Array2, ArrayRef1, Axis};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use unbraid_data::{Error, Result, Seed};

use crate::statistics::normal::normal_quantile;

/// Turned back, normals are those of a rank up to a few rounding errors; what is farther off was changed.
const ROUNDING: f64 = 1e-9;

/// Codes with every latent's values kept and all latents mixed, and the way back.
#[derive(Debug, Clone, PartialEq)]
pub struct Entangled {
    /// `[rows, latents]`
    pub codes: Array2<f64>,
    /// What [`disentangle`] needs beside them.
    pub map: Entangling,
}

/// The map of one sample, which can be walked both ways.
#[derive(Debug, Clone, PartialEq)]
pub struct Entangling {
    /// The values of each latent in rising order, `[rows, latents]`: those before and those after.
    pub values: Array2<f64>,
    /// The normals of each row after they were turned, `[rows, latents]`; 0 for constant latents.
    pub normals: Array2<f64>,
}

/// Entangles `codes [rows, latents]`: the same values in every column, and each latent a mixture of all that move.
pub fn entangle(codes: &Array2<f64>) -> Entangled {
    let columns: Vec<Array1<f64>> = codes.columns().into_iter().map(|column| column.to_owned()).collect();
    let moving: Vec<usize> = (0..columns.len()).filter(|&latent| moves(&columns[latent])).collect();
    let orders: Vec<Vec<usize>> =
        columns.par_iter().enumerate().map(|(latent, column)| order(column, latent)).collect();
    let mut normals = Array2::zeros((codes.nrows(), moving.len()));
    for (index, &latent) in moving.iter().enumerate() {
        for (rank, &row) in orders[latent].iter().enumerate() {
            normals[[row, index]] = quantile_of_rank(rank, codes.nrows());
        }
    }
    let turned = normals.dot(&mixing_matrix(moving.len())); // [rows, moving latents]

    let mut values = Array2::zeros(codes.dim());
    for (latent, order) in orders.iter().enumerate() {
        order.iter().enumerate().for_each(|(rank, &row)| values[[rank, latent]] = columns[latent][row]);
    }
    let entangled = with_values_by_rank(codes, &values, &turned, &moving);
    let mut of_all_latents = Array2::zeros(codes.dim());
    for (index, &latent) in moving.iter().enumerate() {
        of_all_latents.column_mut(latent).assign(&turned.column(index));
    }
    Entangled { codes: entangled, map: Entangling { values, normals: of_all_latents } }
}

/// The codes before, of entangled `codes [rows, latents]` and their map; an error where the two do not belong together.
pub fn disentangle(codes: &Array2<f64>, map: &Entangling) -> Result<Array2<f64>> {
    let Entangling { values, normals } = map;
    for (name, table) in [("values", values), ("normals", normals)] {
        if table.dim() != codes.dim() {
            let ((rows, latents), (n_rows, n_latents)) = (table.dim(), codes.dim());
            let message = format!(
                "the map has {name} of {rows} rows and {latents} latents, but codes have {n_rows} and {n_latents}"
            );
            return Err(Error::new(message).help("undo all codes at once, as `unbraid entangle` wrote them"));
        }
    }
    let moving: Vec<usize> = (0..codes.ncols()).filter(|&latent| moves(&values.column(latent))).collect();
    let turned = normals.select(Axis(1), &moving);
    if with_values_by_rank(codes, values, &turned, &moving) != codes {
        return Err(Error::new("the codes are not those that the map was made with")
            .help("undo them as `unbraid entangle` wrote them, all rows in their order"));
    }
    let normals = turned.dot(&mixing_matrix(moving.len())); // [rows, moving latents]
    for (index, &latent) in moving.iter().enumerate() {
        let is_of_rank = |(rank, &row): (usize, &usize)| {
            (normals[[row, index]] - quantile_of_rank(rank, codes.nrows())).abs() <= ROUNDING
        };
        if !order(&normals.column(index), latent).iter().enumerate().all(is_of_rank) {
            return Err(Error::new(format!("the map of latent {latent} leads to no ranks"))
                .help("the file was changed: entangle the codes again"));
        }
    }
    Ok(with_values_by_rank(codes, values, &normals, &moving))
}

/// The codes with the values of the moving latents put in the order of these normals, `[rows, moving latents]`.
fn with_values_by_rank(
    codes: &Array2<f64>,
    values: &Array2<f64>,
    normals: &Array2<f64>,
    moving: &[usize],
) -> Array2<f64> {
    let mut placed = codes.clone();
    for (index, &latent) in moving.iter().enumerate() {
        for (rank, row) in order(&normals.column(index), latent).into_iter().enumerate() {
            placed[[row, latent]] = values[[rank, latent]];
        }
    }
    placed
}

fn moves(column: &ArrayRef1<f64>) -> bool {
    column.iter().any(|&value| value != column[0])
}

/// The normal value of a rank among so many.
fn quantile_of_rank(rank: usize, n_rows: usize) -> f64 {
    normal_quantile((rank as f64 + 0.5) / n_rows as f64)
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
        let entangled = entangle(&codes).codes;
        for (before, after) in codes.axis_iter(Axis(1)).zip(entangled.axis_iter(Axis(1))) {
            let sorted = |column: ndarray::ArrayView1<f64>| {
                let mut values = column.to_vec();
                values.sort_by(f64::total_cmp);
                values
            };
            assert_eq!(sorted(before), sorted(after));
        }
        assert_ne!(codes, entangled);
        assert_eq!(entangled, entangle(&codes).codes);
    }

    #[test]
    fn the_map_leads_back_to_the_bit_also_where_values_are_equal() {
        // A latent of two values, one of 32-bit floats, one that is constant, and zeros of both signs.
        let codes = Array2::from_shape_fn((200, 4), |(row, latent)| match latent {
            0 => f64::from(u8::from(row % 3 == 0)),
            1 => f64::from((row as f32 * 0.618_034).fract()),
            2 => 7.5,
            _ => [0.0, -0.0, 1.0][row % 3],
        });
        let Entangled { codes: mixed, map } = entangle(&codes);
        assert_ne!(mixed, codes);
        let back = disentangle(&mixed, &map).unwrap();
        let bits = |codes: &Array2<f64>| codes.mapv(f64::to_bits);
        assert_eq!(bits(&back), bits(&codes));
    }

    #[test]
    fn codes_that_are_not_of_the_map_are_refused() {
        let codes = Array2::from_shape_fn((50, 2), |(row, latent)| ((row * (latent + 7)) as f64 * 0.3).sin());
        let Entangled { codes: mixed, map } = entangle(&codes);
        let message = |codes: &Array2<f64>, map: &Entangling| disentangle(codes, map).unwrap_err().to_string();
        assert!(message(&codes, &map).starts_with("the codes are not those that the map was made with"));
        let fewer = mixed.select(Axis(0), &[0, 1, 2]);
        let expected = "the map has values of 50 rows and 2 latents, but codes have 3 and 2\n";
        assert!(message(&fewer, &map).starts_with(expected));
        // The same order, but no longer the normals of ranks.
        let changed = Entangling { normals: &map.normals * 1.5, ..map.clone() };
        assert!(message(&mixed, &changed).starts_with("the map of latent 0 leads to no ranks"));
    }

    #[test]
    fn one_latent_has_nothing_to_mix_with() {
        let codes = array![[3.0], [1.0], [2.0]];
        assert_eq!(entangle(&codes).codes, codes);
    }

    #[test]
    fn done_twice_it_comes_back() {
        // On a full grid the latents are independent also in the sample, so their ranks come back nearly as they were.
        let n = 60;
        let codes = Array2::from_shape_fn((n * n, 2), |(row, latent)| {
            let place = [row / n, row % n][latent] as f64;
            place + (row as f64 * 0.618_033_988_749_895).fract() * 0.9
        });
        let twice = entangle(&entangle(&codes).codes).codes;
        let mean_distance = (&twice - &codes).mapv(f64::abs).mean().unwrap();
        assert!(mean_distance < 1.5, "{mean_distance}");
        let once = (&entangle(&codes).codes - &codes).mapv(f64::abs).mean().unwrap();
        assert!(once > 8.0, "{once}");
    }
}
