//! Distances along one factor: matrices as means over traversals, and the pairs that correlations are taken over.

use ndarray::Array2;

use super::agreement::{Comparison, agreement};
use super::traversal::Traversal;
use super::{FactorDistances, Level};

/// Matrices summed over the traversals of a factor, and the distances of all pairs.
pub(super) struct Sums {
    n_values: usize,
    n_traversals: usize,
    matrices: [Option<Array2<f64>>; 5],
    /// Of the ground truth, of images and of codes, the pairs `(i, j)`, `i < j`, of one traversal after another.
    pairs: [Vec<f64>; 3],
}

impl Sums {
    /// Nothing yet, of a factor with so many values.
    pub(super) fn new(n_values: usize) -> Self {
        let matrices = Level::ALL.map(|_| Some(Array2::zeros((n_values, n_values))));
        Self { n_values, n_traversals: 0, matrices, pairs: Default::default() }
    }

    /// One more traversal.
    pub(super) fn add(&mut self, traversal: &Traversal) {
        let Traversal { images, codes, latent_means, posteriors, reconstructions } = traversal;
        let ground = Array2::from_shape_fn(images.dim(), |(i, j)| i.abs_diff(j) as f64);
        let at_levels =
            [Some(&ground), Some(images), Some(latent_means), posteriors.as_ref(), reconstructions.as_ref()];
        for (sum, distances) in self.matrices.iter_mut().zip(at_levels) {
            // A level that one traversal lacks is left out, and so is one whose numbers have run away.
            *sum = sum.take().zip(distances).map(|(sum, distances)| sum + distances);
            *sum = sum.take().filter(|sum| sum.iter().all(|value| value.is_finite()));
        }
        for (pairs, distances) in self.pairs.iter_mut().zip([&ground, images, codes]) {
            let above = (0..self.n_values).flat_map(|i| (i + 1..self.n_values).map(move |j| [i, j]));
            pairs.extend(above.map(|place| distances[place]));
        }
        self.n_traversals += 1;
    }

    /// What came of it, for a factor with so many traversals in all.
    pub(super) fn finish(self, name: String, n_all_traversals: usize) -> FactorDistances {
        let [ground, images, codes] = &self.pairs;
        let n_values = self.n_values;
        let agreements = Comparison::ALL.map(|comparison| match comparison {
            Comparison::GroundImage => agreement(n_values, ("values", ground), ("images", images)),
            Comparison::GroundLatent => agreement(n_values, ("values", ground), ("codes", codes)),
            Comparison::LatentImage => agreement(n_values, ("codes", codes), ("images", images)),
        });
        let n_traversals = self.n_traversals;
        let matrices = self.matrices.map(|sum| sum.map(|sum| sum / n_traversals as f64));
        FactorDistances { name, n_values, n_traversals, n_all_traversals, matrices, agreements }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    /// A traversal whose three codes are given, and whose images are an isometry of these.
    fn traversal(codes: &[[f64; 2]; 3]) -> Traversal {
        let between =
            |i: usize, j: usize| (0..2).map(|latent| (codes[i][latent] - codes[j][latent]).abs()).sum::<f64>();
        let distances = Array2::from_shape_fn((3, 3), |(i, j)| between(i, j));
        Traversal {
            images: &distances / 2.0,
            codes: distances.clone(),
            latent_means: distances,
            posteriors: None,
            reconstructions: Some(Array2::from_elem((3, 3), f64::INFINITY)),
        }
    }

    #[test]
    fn codes_that_are_an_isometry_of_images_agree_with_them_exactly() {
        let mut sums = Sums::new(3);
        sums.add(&traversal(&[[0.0, 0.0], [0.5, 0.5], [4.0, 1.0]]));
        sums.add(&traversal(&[[3.0, 1.0], [1.0, 1.0], [0.0, 7.0]]));
        let found = sums.finish("x".to_string(), 9);
        let latent_image = &found.agreements[Comparison::LatentImage as usize];
        for value in [&latent_image.pearson, &latent_image.spearman] {
            assert!((value.clone().unwrap() - 1.0).abs() < 1e-12, "{latent_image:?}");
        }
        let ground = array![[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]];
        assert_eq!(found.matrices[0], Some(ground));
        // L1 distances 1, 5, 4 and 2, 9, 7, half of which images are apart; means of both traversals.
        assert_eq!(found.matrices[1], Some(array![[0.0, 0.75, 3.5], [0.75, 0.0, 2.75], [3.5, 2.75, 0.0]]));
        assert_eq!(found.matrices[3..], [None, None]);
        assert_eq!((found.n_traversals, found.n_all_traversals, found.n_values), (2, 9, 3));
    }

    #[test]
    fn one_traversal_by_hand() {
        // Codes 0, 1, 5, as worked by hand for the distance correlation of metrics: 110 / sqrt(44 * 356).
        let mut sums = Sums::new(3);
        sums.add(&traversal(&[[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]]));
        let found = sums.finish("x".to_string(), 1);
        let expected = 110.0 / (44.0_f64 * 356.0).sqrt();
        for comparison in [Comparison::GroundLatent, Comparison::GroundImage] {
            let pearson = found.agreements[comparison as usize].pearson.clone().unwrap();
            assert!((pearson - expected).abs() < 1e-12, "{comparison:?}");
        }
    }

    #[test]
    fn what_is_all_the_same_has_a_reason() {
        let mut sums = Sums::new(3);
        sums.add(&traversal(&[[2.0, 2.0]; 3]));
        let found = sums.finish("x".to_string(), 1);
        let reasons = found.agreements.map(|agreement| agreement.spearman.unwrap_err());
        assert_eq!(reasons, ["images", "codes", "codes"].map(|of| format!("its {of} are all the same")));
    }
}
