//! Pairs of rows with the distance of their factors and of their codes, as the distance correlations need them.

use ndarray::Array2;
use rand::RngExt;
use rayon::prelude::*;
use unbraid_data::Rng;

use crate::distance_agreement::Counts;
use crate::scaled_table::ScaledTable;

/// Distances between pairs of rows.
pub struct Pool {
    /// L1 distances of the factors, in units of `ground_unit`. `[pairs]`
    pub ground: Vec<f64>,
    /// A power of two.
    pub ground_unit: f64,
    /// L1 and L2 distances of the codes, in the unit of their table. `[pairs]` each
    pub latent: [Vec<f64>; 2],
    /// How the pairs came about.
    pub origin: Origin,
}

/// How the pairs of a pool came about.
pub enum Origin {
    /// Triples `(a, p, n)` were drawn, one after another with the pairs `(a, p)` and `(a, n)`.
    Triples,
    /// Traversals with this many values, one after another with each pair of values `(i, j)`, `i < j`, in ascending
    /// order. A pool of all ordered pairs has them twice, and besides each value with itself.
    Traversals(usize),
}

impl Pool {
    /// How often its pairs count.
    pub fn counts(&self) -> Counts {
        match self.origin {
            Origin::Triples => Counts { multiplicity: 1.0, n_coincident: 0.0 },
            Origin::Traversals(n_values) => {
                let n_coincident = 2.0 * self.ground.len() as f64 / (n_values - 1) as f64;
                Counts { multiplicity: 2.0, n_coincident }
            }
        }
    }

    /// All pairs within each of `traversals [traversals, values]`.
    pub fn of_traversals(codes: &ScaledTable, traversals: &Array2<usize>) -> Self {
        let n_values = traversals.ncols();
        let pairs: Vec<(usize, usize)> = (0..n_values).flat_map(|i| (i + 1..n_values).map(move |j| (i, j))).collect();
        let ground = pairs.iter().map(|(i, j)| (j - i) as f64);
        let distances = |traversal: usize| {
            let rows = traversals.row(traversal);
            pairs.iter().map(|&(i, j)| codes.distances(rows[i], rows[j])).collect::<Vec<_>>()
        };
        let latent: Vec<[f64; 2]> = (0..traversals.nrows()).into_par_iter().flat_map_iter(distances).collect();
        Self {
            ground: ground.cycle().take(latent.len()).collect(),
            ground_unit: 1.0,
            latent: by_norm(&latent),
            origin: Origin::Traversals(n_values),
        }
    }

    /// The pairs `(a, p)` and `(a, n)` of these triples of rows.
    pub fn of_triples(codes: &ScaledTable, factors: &ScaledTable, triples: &[[usize; 3]]) -> Self {
        let pairs = triples.par_iter().flat_map_iter(|&[a, p, n]| [(a, p), (a, n)]);
        let latent: Vec<[f64; 2]> = pairs.clone().map(|(a, b)| codes.distances(a, b)).collect();
        Self {
            ground: pairs.map(|(a, b)| factors.distances(a, b)[0]).collect(),
            ground_unit: factors.unit,
            latent: by_norm(&latent),
            origin: Origin::Triples,
        }
    }
}

fn by_norm(distances: &[[f64; 2]]) -> [Vec<f64>; 2] {
    [0, 1].map(|norm| distances.iter().map(|distances| distances[norm]).collect())
}

/// Three positions below `n`, with replacement.
pub fn draw_triple(n: usize, rng: &mut Rng) -> [usize; 3] {
    std::array::from_fn(|_| rng.random_range(0..n as u64) as usize)
}
