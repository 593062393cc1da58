//! Logistic regression with an L2 penalty, fitted by L-BFGS.
//!
//! As scikit-learn's `LogisticRegression` (1.9): for `n` rows, weights `w` of each class and the intercepts `b`, which are
//! not penalised, the minimum of
//!
//! `-1/n sum_r ln p(class_r | x_r) + 1/(2 C n) |w|^2`, with `p = softmax(w x + b)`,
//!
//! started from 0 and stopped after 100 iterations or where no entry of the gradient is above 1e-4. For two classes
//! there is one weight vector, and `p` of the second class is the sigmoid.

use ndarray::Array2;
use rayon::prelude::*;

use super::lbfgs::{Stop, minimise};
use super::softmax_blocks::{BLOCK, Blocks, padded, sigmoid, softmax, take_own_class_off};
use crate::statistics::classes::Classes;
use crate::statistics::first_largest::first_largest;

/// Rows whose sums are taken by one task; the tasks' sums are then added up in order.
const BLOCKS_PER_TASK: usize = 8;

/// A fitted classifier. Features are to be at most 1e100 in size, so that no sum of them overflows.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticRegression {
    /// `[outputs, features + 1]`, the intercept last; one output for two classes, else one for each class.
    pub weights: Array2<f64>,
    n_classes: usize,
}

impl LogisticRegression {
    /// Fits `features [rows, features]` to the classes of their rows, each of which occurs, with the penalty's inverse
    /// strength `c`.
    pub fn fit(features: &Array2<f64>, classes: &Classes, c: f64) -> Self {
        let start = Array2::zeros((n_outputs(classes.n_classes), features.ncols() + 1));
        Self::fit_from(&start, features, classes, c)
    }

    /// The same from other weights than 0, such as those that fit for another `c`.
    pub fn fit_from(start: &Array2<f64>, features: &Array2<f64>, classes: &Classes, c: f64) -> Self {
        let problem = Problem { blocks: Blocks::new(features), classes, n_features: features.ncols(), c };
        let start = start.iter().copied().collect();
        let weights = minimise(|weights| problem.value_and_gradient(weights), start, Stop::default());
        let shape = (n_outputs(classes.n_classes), features.ncols() + 1);
        let weights = Array2::from_shape_vec(shape, weights).expect("as many weights as were started from");
        Self { weights, n_classes: classes.n_classes }
    }

    /// The probability of each class, `[rows, classes]`.
    pub fn probabilities(&self, features: &Array2<f64>) -> Array2<f64> {
        self.map_rows(features, |logits, probabilities| match logits {
            [logit] => probabilities.copy_from_slice(&[sigmoid(-logit).0, sigmoid(*logit).0]),
            _ => {
                let largest = logits.iter().fold(f64::NEG_INFINITY, |largest, &logit| largest.max(logit));
                let sum: f64 = logits.iter().map(|logit| (logit - largest).exp()).sum();
                let shares = logits.iter().map(|logit| (logit - largest).exp() / sum);
                probabilities.iter_mut().zip(shares).for_each(|(probability, share)| *probability = share);
            }
        })
    }

    /// The most probable class of each row; the first of several.
    pub fn predict(&self, features: &Array2<f64>) -> Vec<usize> {
        let probabilities = self.map_rows(features, |logits, scores| match logits {
            [logit] => scores.copy_from_slice(&[0.0, *logit]),
            _ => scores.copy_from_slice(logits),
        });
        probabilities.outer_iter().map(|of_row| first_largest(&of_row)).collect()
    }

    /// Fills one row of the result for each row's logits.
    fn map_rows(&self, features: &Array2<f64>, fill: impl Fn(&[f64], &mut [f64]) + Sync) -> Array2<f64> {
        let n_outputs = n_outputs(self.n_classes);
        let mut filled = Array2::zeros((features.nrows(), self.n_classes));
        let rows = filled.as_slice_mut().expect("a new array is contiguous").par_chunks_mut(self.n_classes);
        rows.enumerate().for_each_init(
            || vec![0.0; n_outputs],
            |logits, (row, filled)| {
                for (logit, weights) in logits.iter_mut().zip(self.weights.outer_iter()) {
                    let inputs = features.row(row);
                    let products = inputs.iter().zip(&weights).map(|(input, weight)| input * weight);
                    *logit = products.sum::<f64>() + weights[inputs.len()];
                }
                fill(logits, filled);
            },
        );
        filled
    }
}

fn n_outputs(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// What is minimised.
struct Problem<'a> {
    blocks: Blocks,
    classes: &'a Classes,
    n_features: usize,
    c: f64,
}

impl Problem<'_> {
    /// The penalised mean loss at `weights [outputs, features + 1]`, and its gradient in the same shape.
    fn value_and_gradient(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let n_outputs = n_outputs(self.classes.n_classes);
        let n_weights = self.n_features + 1;
        let (n_rows, n_padded) = (self.blocks.n_rows as f64, self.blocks.n_padded);
        let (loss, sums) = self.sums(&self.transposed(weights));
        let penalty = 1.0 / (self.c * n_rows);
        let mut squares = 0.0;
        let mut gradient = Vec::with_capacity(weights.len());
        for output in 0..n_outputs {
            for feature in 0..n_weights {
                let weight = weights[output * n_weights + feature];
                let penalised = if feature < self.n_features { weight } else { 0.0 };
                squares += penalised * penalised;
                gradient.push(sums[output * n_padded + feature] / n_rows + penalty * penalised);
            }
        }
        (loss / n_rows + 0.5 * penalty * squares, gradient)
    }

    /// `[features, outputs]` with zeros up to multiples of four.
    fn transposed(&self, weights: &[f64]) -> Vec<f64> {
        let n_outputs = n_outputs(self.classes.n_classes);
        let n_columns = padded(n_outputs);
        let mut transposed = vec![0.0; self.blocks.n_padded * n_columns];
        for (output, of_output) in weights.chunks_exact(self.n_features + 1).enumerate() {
            for (feature, weight) in of_output.iter().enumerate() {
                transposed[feature * n_columns + output] = *weight;
            }
        }
        transposed
    }

    /// The sums over all rows of the loss, and of its derivative by each weight, `[outputs, features]` padded.
    fn sums(&self, transposed: &[f64]) -> (f64, Vec<f64>) {
        let n_outputs = n_outputs(self.classes.n_classes);
        let n_tasks = self.blocks.n_blocks().div_ceil(BLOCKS_PER_TASK);
        let of_task = |task: usize| {
            let mut logits = vec![0.0; padded(n_outputs) * BLOCK];
            let mut sums = vec![0.0; n_outputs * self.blocks.n_padded];
            let mut loss = 0.0;
            let end = ((task + 1) * BLOCKS_PER_TASK).min(self.blocks.n_blocks());
            for block in task * BLOCKS_PER_TASK..end {
                self.blocks.outputs(block, transposed, &mut logits);
                let logits = &mut logits[..n_outputs * BLOCK];
                loss += self.to_derivatives(block, logits);
                self.blocks.add_products(block, logits, &mut sums);
            }
            (loss, sums)
        };
        let of_tasks: Vec<(f64, Vec<f64>)> = (0..n_tasks).into_par_iter().map(of_task).collect();
        let mut total = (0.0, vec![0.0; n_outputs * self.blocks.n_padded]);
        for (loss, sums) in of_tasks {
            total.0 += loss;
            total.1.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total
    }

    /// The loss of one block; its `logits [outputs, BLOCK]` become the derivatives of the loss by them. Rows that only
    /// fill the block up have zeros for features, so that what is left of them counts for nothing.
    fn to_derivatives(&self, block: usize, logits: &mut [f64]) -> f64 {
        let n_rows = self.blocks.n_rows_of(block);
        let classes = &self.classes.of_rows[block * BLOCK..block * BLOCK + n_rows];
        let mut loss = 0.0;
        if self.classes.n_classes == 2 {
            for (logit, &class) in logits.iter_mut().zip(classes) {
                let (probability, log_sum) = sigmoid(*logit);
                loss += log_sum - *logit * class as f64;
                *logit = probability - class as f64;
            }
        } else {
            let own: f64 = classes.iter().enumerate().map(|(row, class)| logits[class * BLOCK + row]).sum();
            let log_sums = softmax(logits);
            loss = log_sums[..n_rows].iter().sum::<f64>() - own;
            take_own_class_off(logits, self.classes, block, n_rows);
        }
        loss
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn table(n_classes: usize) -> (Array2<f64>, Classes) {
        let features = Array2::from_shape_fn((150, 3), |(row, feature)| {
            ((row * 37 + feature * 11 + row * row * (feature + 1)) % 29) as f64 / 7.0 - 2.0
        });
        let of_rows = (0..150).map(|row| (row * 5 + row / 7) % n_classes).collect();
        (features, Classes { of_rows, n_classes })
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        for n_classes in [2, 3, 6] {
            let (features, classes) = table(n_classes);
            let problem = Problem { blocks: Blocks::new(&features), classes: &classes, n_features: 3, c: 0.5 };
            let weights: Vec<f64> = (0..n_outputs(n_classes) * 4).map(|place| (place as f64).sin()).collect();
            let (_, gradient) = problem.value_and_gradient(&weights);
            for place in 0..weights.len() {
                let shifted = |by: f64| {
                    let mut weights = weights.clone();
                    weights[place] += by;
                    problem.value_and_gradient(&weights).0
                };
                let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                assert!((difference - gradient[place]).abs() < 1e-9, "{n_classes} classes, weight {place}");
            }
        }
    }

    #[test]
    fn one_feature_of_two_balanced_values_has_a_closed_form() {
        // x = +-1 tells the class, so the intercept is 0 and the weight solves 1/(1 + e^w) = w / (C n): for C n = 4,
        // w = 1.0 gives 0.2689 > 0.25 and w = 1.05 gives 0.2592 < 0.2625; the root is 1.0419... by bisection.
        let root = (0..100).fold((0.0, 4.0), |(low, high): (f64, f64), _| {
            let middle = (low + high) / 2.0;
            if 1.0 / (1.0 + middle.exp()) > middle / 4.0 { (middle, high) } else { (low, middle) }
        });
        let classes = Classes { of_rows: vec![0, 0, 1, 1], n_classes: 2 };
        let fitted = LogisticRegression::fit(&array![[-1.0], [-1.0], [1.0], [1.0]], &classes, 1.0);
        assert!((fitted.weights[[0, 0]] - root.0).abs() < 1e-3, "{:?} {root:?}", fitted.weights);
        assert!(fitted.weights[[0, 1]].abs() < 1e-9);
        assert_eq!(fitted.predict(&array![[-0.1], [0.1]]), [0, 1]);
    }

    /// Classes that the first feature says something about.
    fn shifted(features: &Array2<f64>, classes: &Classes) -> Classes {
        let rows = classes.of_rows.iter().zip(features.column(0));
        let of_rows = rows.map(|(class, &x)| (class + usize::from(x > 0.0)) % classes.n_classes).collect();
        Classes { of_rows, n_classes: classes.n_classes }
    }

    #[test]
    fn weights_and_probabilities_are_those_of_scikit_learn() {
        // Printed by LogisticRegression() of scikit-learn 1.9.1, which stops at the same iteration: 5.
        let expected = [
            (
                2,
                array![[0.192993637752, -0.038767454713, -0.016696145407, 0.005037325240]],
                [0.594696888943, 0.566666666667],
            ),
            (
                3,
                array![
                    [-0.113210441441, 0.096790562061, 0.102531588445, 0.067782884083],
                    [0.130930435687, -0.113117471342, 0.022375191618, 0.017855826646],
                    [-0.017719994246, 0.016326909282, -0.124906780062, -0.085638710729]
                ],
                [0.465453124620, 0.433333333333],
            ),
        ];
        for (n_classes, weights, [first_probability, accuracy]) in expected {
            let (features, classes) = table(n_classes);
            let classes = shifted(&features, &classes);
            let fitted = LogisticRegression::fit(&features, &classes, 1.0);
            assert!((&fitted.weights - &weights).iter().all(|off| off.abs() < 1e-9), "{:?}", fitted.weights);
            assert!((fitted.probabilities(&features)[[0, 0]] - first_probability).abs() < 1e-9);
            let predicted = fitted.predict(&features);
            let n_right = predicted.iter().zip(&classes.of_rows).filter(|(a, b)| a == b).count();
            assert!((n_right as f64 / 150.0 - accuracy).abs() < 1e-9);
        }
    }

    #[test]
    fn the_way_to_the_minimum_is_that_of_scikit_learn() {
        // Features of three scales, for which scikit-learn 1.9.1 takes 98 iterations; printed with `max_iter` 10, 20 and 40.
        let (features, classes) = table(4);
        let of_rows = features
            .outer_iter()
            .zip(&classes.of_rows)
            .map(|(x, class)| (class + 2 * usize::from(x[0] + x[1] > 0.0) + usize::from(x[2] > 0.0)) % 4);
        let classes = Classes { of_rows: of_rows.collect(), n_classes: 4 };
        let blocks = Blocks::new(&(&features * &array![1.0, 30.0, 0.03]));
        let problem = Problem { blocks, classes: &classes, n_features: 3, c: 1.0 };
        for (iterations, expected) in [
            (10, [0.124_103_629_383_6, 0.004_446_033_416_7, -0.012_075_414_656_3]),
            (20, [0.115_820_817_775_4, 0.004_428_997_644_3, -0.023_769_872_271_5]),
            (40, [0.126_678_622_153_6, 0.004_579_661_133_5, -0.123_086_646_002_9]),
        ] {
            let stop = Stop { iterations, ..Stop::default() };
            let weights = minimise(|weights| problem.value_and_gradient(weights), vec![0.0; 16], stop);
            for (weight, expected) in weights.iter().zip(expected) {
                assert!((weight - expected).abs() < 1e-5, "{iterations} iterations: {:?}", &weights[..4]);
            }
        }
    }

    #[test]
    fn a_fit_goes_on_from_where_it_is_started() {
        let (features, classes) = table(3);
        let fitted = LogisticRegression::fit(&features, &classes, 1.0);
        assert_eq!(LogisticRegression::fit_from(&fitted.weights, &features, &classes, 1.0), fitted);
    }

    #[test]
    fn huge_features_give_no_nan() {
        let features = array![[1e100, 0.0], [-1e100, 5e-324], [3.0, 1.0], [1e99, -1e100]];
        for n_classes in [2, 3, 4] {
            let of_rows = (0..4).map(|row| row % n_classes).collect();
            let fitted = LogisticRegression::fit(&features, &Classes { of_rows, n_classes }, 1.0);
            assert!(fitted.probabilities(&features).iter().all(|p| (0.0..=1.0).contains(p)), "{fitted:?}");
        }
    }
}
