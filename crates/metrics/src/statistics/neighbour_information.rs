//! Mutual information between a column of numbers and a column of classes, from distances to nearest neighbours.
//!
//! Ross 2014, "Mutual information between discrete and continuous data sets": for each row, the distance d to its k-th
//! nearest neighbour of the same class, and how many rows m of any class lie as near as that:
//!
//! `I = psi(n) + <psi(k)> - <psi(n_class)> - <psi(m)>`
//!
//! with psi the digamma function and means over the rows; a row is not its own neighbour. Rows whose class has no other
//! take no part. Where several rows lie at the distance d, all of them are counted, in k too, as Gao et al. 2017
//! ("Estimating mutual information for discrete-continuous mixtures") do for d = 0; scikit-learn breaks such ties by adding
//! noise, which would make the score depend on it.

use ndarray::ArrayRef1;

use super::classes::Classes;

/// A column's values in ascending order, and the row of each.
pub struct Sorted {
    values: Vec<f64>,
    rows: Vec<usize>,
}

impl Sorted {
    /// Sorts a column.
    pub fn of(column: &ArrayRef1<f64>) -> Self {
        let mut rows: Vec<usize> = (0..column.len()).collect();
        rows.sort_unstable_by(|&a, &b| column[a].total_cmp(&column[b]).then(a.cmp(&b)));
        // Halves keep the distance of two huge numbers finite.
        Self { values: rows.iter().map(|&row| column[row] / 2.0).collect(), rows }
    }
}

/// The information in nats, at least 0; `n_neighbours` is k, or one less than the rows of a class that has fewer.
pub fn neighbour_information(column: &Sorted, classes: &Classes, n_neighbours: usize) -> f64 {
    let counts = classes.counts();
    // The rows of the classes that have at least two, ascending by value, and of each class the same.
    let kept: Vec<(f64, usize)> = (column.values.iter().zip(&column.rows))
        .map(|(&value, &row)| (value, classes.of_rows[row]))
        .filter(|(_, class)| counts[*class] > 1)
        .collect();
    if kept.is_empty() {
        return 0.0;
    }
    let values: Vec<f64> = kept.iter().map(|(value, _)| *value).collect();
    let mut of_class: Vec<Vec<f64>> = counts.iter().map(|&count| Vec::with_capacity(count as usize)).collect();
    kept.iter().for_each(|&(value, class)| of_class[class].push(value));
    let digamma = digamma_of_whole_numbers(values.len());
    let mut next = vec![0; counts.len()];
    let mut sum = 0.0;
    for (place, &(value, class)) in kept.iter().enumerate() {
        let own = &of_class[class];
        let k = n_neighbours.min(own.len() - 1);
        let distance = neighbour_distance(own, next[class], k);
        let near = |other: f64| (other - value).abs() <= distance;
        let k = n_around(own, next[class], near) - 1;
        let m = n_around(&values, place, near) - 1;
        next[class] += 1;
        sum += digamma[k] - digamma[own.len()] - digamma[m];
    }
    (digamma[values.len()] + sum / values.len() as f64).max(0.0)
}

/// How far the k-th nearest of the ascending `values` is from the one at `place`, which does not count.
fn neighbour_distance(values: &[f64], place: usize, k: usize) -> f64 {
    // The k nearest and the value itself are k + 1 neighbours in the order; the window of that length whose farther end is
    // nearest holds them. As the window moves up, its lower end comes nearer and its upper end goes away.
    let (mut first, mut last) = (place.saturating_sub(k), place.min(values.len() - 1 - k));
    while first < last {
        let middle = first.midpoint(last);
        if values[place] - values[middle] > values[middle + k] - values[place] {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    let farther = |first: usize| (values[place] - values[first]).max(values[first + k] - values[place]);
    let before = first.checked_sub(1).filter(|&before| before + k >= place);
    before.map_or(f64::INFINITY, farther).min(farther(first))
}

/// How many of the ascending `values` around `place` hold, those at `place` included; they are all beside each other.
fn n_around(values: &[f64], place: usize, holds: impl Fn(f64) -> bool) -> usize {
    let n_to_one_side = |last: usize, at: &dyn Fn(usize) -> f64| {
        // Steps that double find where it stops to hold, so that a near end costs little in a long column.
        let mut step = 1;
        while step <= last && holds(at(step)) {
            step *= 2;
        }
        let (mut inside, mut outside) = (step / 2, step.min(last + 1));
        while outside - inside > 1 {
            let middle = inside.midpoint(outside);
            if holds(at(middle)) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    };
    1 + n_to_one_side(place, &|step| values[place - step])
        + n_to_one_side(values.len() - 1 - place, &|step| values[place + step])
}

/// `psi(0)` (unused, 0), `psi(1)`, ..., `psi(most)`: minus Euler's constant plus the sum of 1/i below the number.
fn digamma_of_whole_numbers(most: usize) -> Vec<f64> {
    let mut values = vec![0.0, -0.577_215_664_901_532_9];
    for number in 1..most.max(1) {
        values.push(values[number] + 1.0 / number as f64);
    }
    values
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;

    fn information(column: &Array1<f64>, of_rows: &[usize], k: usize) -> f64 {
        let classes = Classes { of_rows: of_rows.to_vec(), n_classes: 3 };
        neighbour_information(&Sorted::of(column), &classes, k)
    }

    #[test]
    fn two_clusters_worked_by_hand() {
        // The nearest of the class is the nearest of all: k = m = 1. psi(4) + psi(1) - psi(2) - psi(1) = 1/2 + 1/3.
        let value = information(&array![0.0, 1.0, 10.0, 11.0], &[0, 0, 1, 1], 1);
        assert!((value - 5.0 / 6.0).abs() < 1e-12, "{value}");
    }

    #[test]
    fn ties_are_counted_and_lone_rows_left_out() {
        // Two values of two rows each, told apart by the class: k = m = 1 as well, at a distance of 0.
        let value = information(&array![0.0, 0.0, 1.0, 1.0, 5.0], &[0, 0, 1, 1, 2], 10);
        assert!((value - 5.0 / 6.0).abs() < 1e-12, "{value}");
        // Where all values are equal, k = 1 and m = 3: psi(4) + psi(1) - psi(2) - psi(4) < 0, which is no information.
        assert_eq!(information(&array![3.0, 3.0, 3.0, 3.0], &[0, 0, 1, 1], 10), 0.0);
        assert_eq!(information(&array![1.0, 2.0], &[0, 1], 10), 0.0);
    }

    #[test]
    fn neighbours_agree_with_a_search_of_all_rows() {
        let column: Vec<f64> = (0..60).map(|row| f64::from((row * row * 7919) % 101) / 7.0).collect();
        let mut sorted = column;
        sorted.sort_by(f64::total_cmp);
        for k in [1, 2, 5, 59] {
            for place in 0..60 {
                let mut distances: Vec<f64> = sorted.iter().map(|value| (value - sorted[place]).abs()).collect();
                distances.sort_by(f64::total_cmp);
                assert!((neighbour_distance(&sorted, place, k) - distances[k]).abs() < 1e-15, "{k}, {place}");
                let near = sorted.iter().filter(|value| (**value - sorted[place]).abs() < 2.0).count();
                assert_eq!(n_around(&sorted, place, |value| (value - sorted[place]).abs() < 2.0), near);
            }
        }
    }
}
