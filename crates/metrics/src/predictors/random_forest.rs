//! A random forest that predicts one factor from the codes.
//!
//! Breiman 2001, "Random forests", as scikit-learn 1.9's `RandomForestClassifier` grows it by default: 100 trees, each on
//! as many rows as there are, drawn with replacement, and grown until its leaves are pure. A node is split by the best
//! place, in Gini impurity, of a few latents drawn for it: the square root of their number, and more until one is not
//! constant. A prediction is the class with the highest mean share in the leaves; a latent's importance is its share
//! of the impurity that a tree's splits take off, averaged over trees.
//!
//! Each tree has its own random stream, so that the same trees grow on any number of threads.

use ndarray::Array2;
use rand::RngExt;
use rayon::prelude::*;
use unbraid_data::{Rng, Seed};

use super::decision_tree::DecisionTree;
use super::ranked_columns::RankedColumns;
use crate::statistics::classes::Classes;

const N_TREES: usize = 100;

/// How many rows are predicted at a time.
const ROWS_AT_ONCE: usize = 2048;

/// Trees fitted to one factor.
pub struct RandomForest {
    trees: Vec<DecisionTree>,
    n_classes: usize,
    importance: Vec<f64>,
}

impl RandomForest {
    /// Fits a forest to the classes of the table's rows.
    pub fn fit(table: &RankedColumns, classes: &Classes, rng: &mut Rng) -> Self {
        Self::fit_to_depths(table, classes, &[], rng)
    }

    /// Fits a forest whose trees are no deeper than the last of the ascending `depths`, and which predicts as it would had
    /// it been grown no further than to any one of them.
    pub fn fit_to_depths(table: &RankedColumns, classes: &Classes, depths: &[usize], rng: &mut Rng) -> Self {
        let seeds: Vec<Seed> = (0..N_TREES).map(|_| Seed(rng.random())).collect();
        let grown: Vec<(DecisionTree, Vec<f64>)> =
            seeds.par_iter().map(|seed| DecisionTree::grow(table, classes, depths, &mut seed.stream("tree"))).collect();
        let mut importance = vec![0.0; table.columns.len()];
        for (_, of_tree) in &grown {
            // A tree that split nothing has no importances, and the mean is over the others.
            let sum: f64 = of_tree.iter().sum();
            importance.iter_mut().zip(of_tree).filter(|_| sum > 0.0).for_each(|(mean, part)| *mean += part / sum);
        }
        let sum: f64 = importance.iter().sum();
        importance.iter_mut().filter(|_| sum > 0.0).for_each(|mean| *mean /= sum);
        let trees = grown.into_iter().map(|(tree, _)| tree).collect();
        Self { trees, n_classes: classes.n_classes, importance }
    }

    /// Each latent's share of importance; all 0 where nothing was split. `[latents]`
    pub fn importance(&self) -> &[f64] {
        &self.importance
    }

    /// The predicted classes. `codes [rows, latents]`
    pub fn predict(&self, codes: &Array2<f64>) -> Vec<usize> {
        self.predict_at(None, codes)
    }

    /// The classes that the trees predict at one of the depths they were fitted to.
    pub fn predict_at_depth(&self, depth: usize, codes: &Array2<f64>) -> Vec<usize> {
        self.predict_at(Some(depth), codes)
    }

    fn predict_at(&self, depth: Option<usize>, codes: &Array2<f64>) -> Vec<usize> {
        let n_latents = codes.ncols();
        let codes: Vec<f64> = codes.iter().copied().collect();
        let blocks = codes.par_chunks(ROWS_AT_ONCE * n_latents);
        blocks.flat_map_iter(|block| self.predict_block(block, n_latents, depth)).collect()
    }

    fn predict_block(&self, block: &[f64], n_latents: usize, depth: Option<usize>) -> Vec<usize> {
        let mut shares = vec![0.0; block.len() / n_latents * self.n_classes]; // [rows, classes]
        for tree in &self.trees {
            tree.add_shares(block, n_latents, depth, &mut shares, self.n_classes);
        }
        let first_best = |shares: &[f64]| {
            (1..shares.len()).fold(0, |best, class| if shares[class] > shares[best] { class } else { best })
        };
        shares.chunks_exact(self.n_classes).map(first_best).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::classes::distinct_values;

    fn codes(n_rows: usize, frequency: f64) -> Array2<f64> {
        Array2::from_shape_fn((n_rows, 3), |(row, latent)| {
            ((row + 1) as f64 * (latent + 1) as f64 * frequency + 0.3 * latent as f64).sin()
        })
    }

    fn fit(codes: &Array2<f64>, classes: &Classes) -> RandomForest {
        RandomForest::fit(&RankedColumns::new(codes), classes, &mut Seed(1).stream("forest"))
    }

    #[test]
    fn importances_agree_with_the_mean_over_scikit_learns_seeds() {
        // Mean and standard deviation over 20 seeds of scikit-learn 1.9.1.
        let codes = codes(600, 1.7);
        let value = |row: usize| codes[[row, 0]] + 0.5 * codes[[row, 1]] * codes[[row, 2]];
        let class = |row| usize::from(value(row) >= -0.4) + usize::from(value(row) >= 0.5);
        let classes = Classes { of_rows: (0..600).map(class).collect(), n_classes: 3 };
        let forest = fit(&codes, &classes);
        let expected = [(0.6175, 0.0138), (0.2585, 0.0091), (0.1240, 0.0077)];
        for (found, (mean, deviation)) in forest.importance().iter().zip(expected) {
            assert!((found - mean).abs() < 4.0 * deviation, "{found}, wanted {mean}");
        }
        assert_eq!(forest.predict(&codes), classes.of_rows);
    }

    #[test]
    fn rows_that_cannot_be_parted_are_predicted_by_their_majority() {
        let codes = Array2::from_shape_fn((90, 2), |(row, _)| (row / 30) as f64);
        let values = ndarray::Array1::from_shape_fn(90, |row| ((row / 30 + usize::from(row % 5 == 0)) % 3) as f64);
        let forest = fit(&codes, &distinct_values(&values));
        let expected: Vec<usize> = (0..90).map(|row| row / 30).collect();
        assert_eq!(forest.predict(&codes), expected);
    }

    #[test]
    fn constant_codes_and_single_classes_split_nothing() {
        let constant = fit(&Array2::ones((5, 2)), &Classes { of_rows: vec![0, 1, 1, 1, 1], n_classes: 2 });
        assert_eq!(constant.importance(), [0.0, 0.0]);
        assert_eq!(constant.predict(&Array2::ones((1, 2))), [1]);
        let single = fit(&codes(5, 1.7), &Classes { of_rows: vec![0; 5], n_classes: 1 });
        assert_eq!(single.importance(), [0.0; 3]);
    }
}
