//! Soft ranks: ranks that change smoothly with what is ranked, and so have a gradient (Blondel et al. 2020, "Fast differentiable sorting and
//! ranking", eq. 5 and proposition 3, with the quadratic regulariser).
//!
//! Ranks are the corner of the permutahedron, the convex hull of all orders of `1, ..., n`, that lies furthest in the direction of the
//! values. Soft ranks are the point of the permutahedron nearest to `values / strength`. That is an isotonic regression on the sorted
//! values, forward and backward exact, in the time of a sort. The greatest value has the greatest rank.

use crate::isotonic::Falling;

/// The soft ranks of some values, with what their gradient needs.
#[derive(Debug, Clone)]
pub struct SoftRanks {
    /// The ranks, from 1 for the least value to n; their sum is always that of 1 to n.
    pub ranks: Vec<f64>,
    /// The positions of the values, the greatest value first.
    order: Vec<usize>,
    fit: Falling,
    strength: f64,
}

impl SoftRanks {
    /// Ranks `values`. The greater `strength` (epsilon in the paper), the smoother and nearer to the mean rank; towards 0 they become the
    /// ranks themselves, equal values sharing their mean rank.
    pub fn of(values: &[f64], strength: f64) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let scaled: Vec<f64> = order.iter().map(|&position| values[position] / strength).collect();
        // The projection of a falling sequence s onto the permutahedron of w = (n, ..., 1) is s minus the falling sequence nearest to
        // s - w.
        let beyond: Vec<f64> = scaled.iter().zip((1..=values.len()).rev()).map(|(s, rank)| s - rank as f64).collect();
        let fit = Falling::fit(&beyond);
        let mut ranks = vec![0.0; values.len()];
        for (block, &value) in fit.blocks().zip(&fit.values) {
            for place in block {
                ranks[order[place]] = scaled[place] - value;
            }
        }
        Self { ranks, order, fit, strength }
    }

    /// The gradient at the values of a function of the ranks whose gradient at the ranks is given. On each block of the regression the
    /// ranks move with the values less the mean of the block.
    pub fn gradient(&self, at_ranks: &[f64]) -> Vec<f64> {
        let mut at_values = vec![0.0; at_ranks.len()];
        for block in self.fit.blocks() {
            let of_block = || self.order[block.clone()].iter();
            let mean = of_block().map(|&position| at_ranks[position]).sum::<f64>() / block.len() as f64;
            of_block().for_each(|&position| at_values[position] = (at_ranks[position] - mean) / self.strength);
        }
        at_values
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranks(values: &[f64], strength: f64) -> Vec<f64> {
        SoftRanks::of(values, strength).ranks
    }

    fn assert_close(found: &[f64], wanted: &[f64], most: f64) {
        let close = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= most);
        assert!(close, "{found:?} is not {wanted:?}");
    }

    #[test]
    fn three_and_four_values_by_hand() {
        // Values 0.5, 2, 1 at strength 1: falling s = 2, 1, 0.5, less w = 3, 2, 1 is -1, -1, -0.5, out of order: one block of mean
        // -5/6. Ranks are s + 5/6: 2.8333, 1.8333, 1.3333, in the order of the values 1.3333, 2.8333, 1.8333; their sum is 6.
        assert_close(&ranks(&[0.5, 2.0, 1.0], 1.0), &[4.0 / 3.0, 17.0 / 6.0, 11.0 / 6.0], 1e-12);
        // Values 0, 3, 10, 2.5 at strength 1: s = 10, 3, 2.5, 0 less 4, 3, 2, 1 is 6, 0, 0.5, -1. The two in the middle are pooled to
        // 0.25: falling 6, 0.25, 0.25, -1. Ranks: 4, 2.75, 2.25, 1.
        assert_close(&ranks(&[0.0, 3.0, 10.0, 2.5], 1.0), &[1.0, 2.75, 4.0, 2.25], 1e-12);
        // Its gradient of the rank of 3: the block of 3 and 2.5 has a mean of 1/2, so 1/2 for itself and -1/2 for 2.5.
        let gradient = SoftRanks::of(&[0.0, 3.0, 10.0, 2.5], 1.0).gradient(&[0.0, 1.0, 0.0, 0.0]);
        assert_close(&gradient, &[0.0, 0.5, 0.0, -0.5], 1e-12);
        // Half the strength is twice the values: s = 20, 6, 5, 0 less w is 16, 3, 3, -1, which falls already: the ranks themselves.
        assert_close(&ranks(&[0.0, 3.0, 10.0, 2.5], 0.5), &[1.0, 3.0, 4.0, 2.0], 1e-12);
    }

    #[test]
    fn equal_values_share_their_mean_rank() {
        assert_close(&ranks(&[7.0; 5], 1e-3), &[3.0; 5], 1e-12);
        assert_close(&ranks(&[1.0, 5.0, 5.0, 9.0], 1e-6), &[1.0, 2.5, 2.5, 4.0], 1e-9);
        assert_close(&ranks(&[], 1.0), &[], 0.0);
        assert_close(&ranks(&[-4.0], 1.0), &[1.0], 1e-12);
    }

    #[test]
    fn a_great_strength_leaves_the_mean_rank() {
        assert_close(&ranks(&[1.0, -2.0, 3.0, 0.0], 1e9), &[2.5; 4], 1e-8);
    }

    /// All orders of `1..=n`.
    fn corners(n: usize) -> Vec<Vec<f64>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let smaller = corners(n - 1);
        let put = |corner: &Vec<f64>, place: usize| {
            let mut corner = corner.clone();
            corner.insert(place, n as f64);
            corner
        };
        smaller.iter().flat_map(|corner| (0..n).map(move |place| put(corner, place))).collect()
    }

    /// Whether `point` is the nearest to `target` in the hull of the corners: then no corner lies further in the direction of the target
    /// (the variational inequality of a projection), and the point is in the hull.
    fn is_projection(point: &[f64], target: &[f64]) -> bool {
        let n = point.len();
        let towards =
            |corner: &Vec<f64>| -> f64 { (0..n).map(|i| (target[i] - point[i]) * (corner[i] - point[i])).sum() };
        let mut falling = point.to_vec();
        falling.sort_by(|a, b| b.total_cmp(a));
        // The hull of all orders of w are the points whose k greatest sum to no more than those of w, and all to as much (Rado 1952).
        let sums = |values: &[f64]| -> Vec<f64> { (1..=n).map(|k| values[..k].iter().sum()).collect() };
        let of_corner: Vec<f64> = (1..=n).rev().map(|rank| rank as f64).collect();
        let (found, most) = (sums(&falling), sums(&of_corner));
        let inside = found.iter().zip(&most).all(|(a, b)| *a <= b + 1e-9) && (found[n - 1] - most[n - 1]).abs() < 1e-9;
        inside && corners(n).iter().all(|corner| towards(corner) <= 1e-9)
    }

    /// The projection by walking: Frank and Wolfe's steps towards the best corner, with the step length by line search.
    fn by_walking(target: &[f64]) -> Vec<f64> {
        let corners = corners(target.len());
        let mut point = corners[0].clone();
        for _ in 0..20_000 {
            let slope: Vec<f64> = target.iter().zip(&point).map(|(target, point)| target - point).collect();
            let gain =
                |corner: &Vec<f64>| -> f64 { corner.iter().zip(&slope).map(|(corner, slope)| corner * slope).sum() };
            let best = corners.iter().max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap();
            let way: Vec<f64> = best.iter().zip(&point).map(|(best, point)| best - point).collect();
            let (along, length): (f64, f64) =
                (way.iter().zip(&slope).map(|(a, b)| a * b).sum(), way.iter().map(|a| a * a).sum());
            if length < 1e-20 || along < 1e-14 {
                break;
            }
            let step = (along / length).clamp(0.0, 1.0);
            point.iter_mut().zip(&way).for_each(|(point, way)| *point += step * way);
        }
        point
    }

    #[test]
    fn walking_to_the_nearest_point_of_the_permutahedron_arrives_there() {
        for (values, strength) in
            [(vec![0.3, 0.1, 0.9], 0.5), (vec![1.0, 1.1, -0.2, 0.4], 0.4), (vec![0.2, 0.2, 3.0, -1.0, 0.5], 0.7)]
        {
            let target: Vec<f64> = values.iter().map(|value| value / strength).collect();
            assert_close(&ranks(&values, strength), &by_walking(&target), 2e-2);
        }
    }

    proptest! {
        #[test]
        fn they_are_the_projection_on_the_permutahedron(
            values in proptest::collection::vec(-2.0..2.0_f64, 1..6),
            strength in 0.05..3.0_f64,
        ) {
            let target: Vec<f64> = values.iter().map(|value| value / strength).collect();
            prop_assert!(is_projection(&ranks(&values, strength), &target));
        }

        #[test]
        fn without_strength_they_are_the_ranks(values in proptest::collection::vec(-50..50_i32, 1..30)) {
            let floats: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
            let count = |value: i32, is: fn(&i32, &i32) -> bool| values.iter().filter(|other| is(other, &value)).count();
            let wanted: Vec<f64> = values
                .iter()
                .map(|&value| count(value, |a, b| a < b) as f64 + (count(value, |a, b| a == b) as f64 + 1.0) / 2.0)
                .collect();
            assert_close(&ranks(&floats, 1e-3), &wanted, 1e-6);
        }

        #[test]
        fn gradients_are_those_of_finite_differences(
            values in proptest::collection::vec(-2.0..2.0_f64, 2..9),
            strength in 0.1..3.0_f64,
        ) {
            let weights: Vec<f64> = (0..values.len()).map(|i| (i as f64 * 1.7).sin()).collect();
            let weighed = |values: &[f64]| -> f64 { ranks(values, strength).iter().zip(&weights).map(|(r, w)| r * w).sum() };
            let gradient = SoftRanks::of(&values, strength).gradient(&weights);
            for (position, found) in gradient.iter().enumerate() {
                let moved = |step: f64| {
                    let mut moved = values.clone();
                    moved[position] += step;
                    weighed(&moved)
                };
                // Where blocks meet, the two sides have slopes of their own, and the gradient is one of them.
                let (before, now, after) = (moved(-1e-6), weighed(&values), moved(1e-6));
                let slopes = [(now - before) / 1e-6, (after - now) / 1e-6];
                prop_assume!((slopes[0] - slopes[1]).abs() < 1e-4);
                prop_assert!((found - slopes[0]).abs() < 1e-3, "{position}: {found} is not {slopes:?}");
            }
        }
    }
}
