//! Nearest neighbours on a line: the rows whose single value is closest to a query, and what they predict.
//!
//! As scikit-learn's `KNeighborsClassifier` and `KNeighborsRegressor` with uniform weights: a class is the one that most
//! neighbours have (the smallest of those that equally many have), a number is the neighbours' mean. Rows at equal
//! distance are taken in the order of their numbers, as an exhaustive search with a stable sort would; scikit-learn leaves
//! that order to its search tree.
//!
//! A column is sorted once and each query is found in it by bisection, so that it costs `(n + m) log n`
//! for `n` rows and `m` queries, however many values are equal.

use ndarray::{Array2, ArrayRef1};

/// The numbers of the `n_neighbours` rows of `column [rows]` nearest to each of `queries`, nearest first,
/// `[queries, neighbours]`; all rows where there are not that many.
pub fn nearest_rows(column: &ArrayRef1<f64>, queries: &ArrayRef1<f64>, n_neighbours: usize) -> Array2<usize> {
    let groups = EqualValues::new(column);
    let n_neighbours = n_neighbours.min(column.len());
    let mut nearest = Vec::with_capacity(queries.len() * n_neighbours);
    for &query in queries {
        groups.push_nearest(query, n_neighbours, &mut nearest);
    }
    Array2::from_shape_vec((queries.len(), n_neighbours), nearest).expect("each query has as many neighbours")
}

/// The value that occurs most often; of those that occur equally often the smallest. `values` are put in order.
pub fn most_common(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let mut best: &[f64] = &[];
    for group in values.chunk_by(|a, b| a == b) {
        if group.len() > best.len() {
            best = group;
        }
    }
    best[0]
}

/// The rows of a column in groups that share a value.
struct EqualValues {
    /// Distinct values, ascending. `[groups]`
    values: Vec<f64>,
    /// Where each group begins in `rows`, and at last where they end. `[groups + 1]`
    starts: Vec<usize>,
    /// Row numbers group by group, ascending in each. `[rows]`
    rows: Vec<usize>,
}

impl EqualValues {
    fn new(column: &ArrayRef1<f64>) -> Self {
        // Adding 0 turns -0 into 0, which would else be sorted before it.
        let mut order: Vec<(f64, usize)> = column.iter().map(|value| value + 0.0).zip(0..).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut values, mut starts) = (Vec::new(), vec![0]);
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            values.push(group[0].0);
            starts.push(starts[starts.len() - 1] + group.len());
        }
        Self { values, starts, rows: order.into_iter().map(|(_, row)| row).collect() }
    }

    fn rows_of(&self, group: usize) -> &[usize] {
        &self.rows[self.starts[group]..self.starts[group + 1]]
    }

    /// Adds the rows nearest to `query` to `nearest`, group by group from the query outwards on both sides.
    fn push_nearest(&self, query: f64, n_neighbours: usize, nearest: &mut Vec<usize>) {
        let wanted = nearest.len() + n_neighbours;
        let mut above = self.values.partition_point(|&value| value < query);
        let mut n_below = above;
        while nearest.len() < wanted {
            let distance_above = self.values.get(above).map(|value| (value - query).abs());
            let distance_below = n_below.checked_sub(1).map(|below| (query - self.values[below]).abs());
            let (takes_below, takes_above) = match (distance_below, distance_above) {
                (Some(below), Some(above)) => (below <= above, above <= below),
                (below, above) => (below.is_some(), above.is_some()),
            };
            let of_below = if takes_below { self.rows_of(n_below - 1) } else { &[] };
            let of_above = if takes_above { self.rows_of(above) } else { &[] };
            push_merged(of_below, of_above, wanted, nearest);
            n_below -= usize::from(takes_below);
            above += usize::from(takes_above);
        }
    }
}

/// Adds ascending rows of two groups in ascending order, until there are `wanted`.
fn push_merged<'a>(mut a: &'a [usize], mut b: &'a [usize], wanted: usize, nearest: &mut Vec<usize>) {
    while nearest.len() < wanted {
        let from = match (a.first(), b.first()) {
            (Some(of_a), Some(of_b)) if of_a > of_b => &mut b,
            (Some(_), _) => &mut a,
            _ => &mut b,
        };
        let Some((&row, rest)) = from.split_first() else { return };
        *from = rest;
        nearest.push(row);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;

    #[test]
    fn the_nearest_rows_by_hand() {
        // Distances from 2: 3, 1, 0.5, 1, 2. Rows 1 and 3 tie and come in order.
        let nearest = nearest_rows(&array![5.0, 1.0, 2.5, 3.0, 0.0], &array![2.0, 9.0], 3);
        assert_eq!(nearest, array![[2, 1, 3], [0, 3, 2]]);
    }

    #[test]
    fn fewer_rows_than_neighbours_are_all_taken() {
        assert_eq!(nearest_rows(&array![1.0, 0.0], &array![-1.0], 5), array![[1, 0]]);
    }

    #[test]
    fn both_zeros_are_one_value() {
        assert_eq!(nearest_rows(&array![0.0, -0.0, 0.0], &array![-0.0, 3.0], 2), array![[0, 1], [0, 1]]);
    }

    #[test]
    fn an_exhaustive_search_finds_the_same_rows() {
        let mut rng = Seed(1).stream("neighbours");
        for trial in 0..300 {
            let mut value = || match trial % 3 {
                0 => rng.random_range(-1.0..1.0),
                1 => f64::from(rng.random_range(-3_i32..4)),
                _ => [0.0, -0.0, 1.0, 2.0][rng.random_range(0..4)],
            };
            let column = Array1::from_shape_simple_fn(30, &mut value);
            let queries = Array1::from_shape_simple_fn(20, &mut value);
            let nearest = nearest_rows(&column, &queries, 5);
            for (query, found) in queries.iter().zip(nearest.rows()) {
                let mut rows: Vec<usize> = (0..30).collect();
                rows.sort_by(|&a, &b| (column[a] - query).abs().total_cmp(&(column[b] - query).abs()));
                assert_eq!(found.to_vec(), rows[..5], "{column} {query}");
            }
        }
    }

    #[test]
    fn distances_beyond_the_largest_number_are_no_obstacle() {
        let column = array![f64::MAX, f64::MIN, 0.0, 5e-324];
        assert_eq!(nearest_rows(&column, &array![f64::MAX, f64::MIN], 4), array![[0, 3, 2, 1], [1, 2, 3, 0]]);
    }

    #[test]
    fn of_equally_common_values_the_smallest_is_taken() {
        assert_eq!(most_common(&mut [3.0, 1.0, 3.0, 1.0, 2.0]), 1.0);
        assert_eq!(most_common(&mut [3.0, 1.0, 2.0, 3.0, 0.0]), 3.0);
    }
}
