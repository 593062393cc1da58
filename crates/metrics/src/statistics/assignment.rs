//! The best one-to-one assignment between the rows and the columns of a matrix, exactly.
//!
//! Shortest augmenting paths with potentials: Jonker and Volgenant 1987, "A shortest augmenting path algorithm for dense
//! and sparse linear assignment problems", without its shortcuts for sparse matrices. It takes `n^2 m` steps for `n` rows
//! and `m >= n` columns. Where several assignments are best, the same one is found every time.

use ndarray::{Array1, Array2};

/// For each row of `weights [rows, columns]` the column that it is assigned to, so that the sum of the weights is as
/// large as it can be and no column is taken twice. Where there are more rows than columns, the rows that are left over
/// have `None`. Weights are finite and of a size at which their differences are too.
pub fn best_assignment(weights: &Array2<f64>) -> Vec<Option<usize>> {
    let (n_rows, n_columns) = weights.dim();
    if n_rows <= n_columns {
        return inverse(&row_of_each_column(&weights.mapv(|weight| -weight)), n_rows);
    }
    row_of_each_column(&weights.t().mapv(|weight| -weight))
}

/// The sum of the weights that an assignment takes; rows without a column add nothing.
pub fn assigned_weight(weights: &Array2<f64>, column_of_row: &[Option<usize>]) -> f64 {
    let taken = column_of_row.iter().enumerate().filter_map(|(row, column)| Some(weights[[row, (*column)?]]));
    taken.sum()
}

/// Where `of[a]` is `b`, the inverse has `a` at `b`.
fn inverse(of: &[Option<usize>], n: usize) -> Vec<Option<usize>> {
    let mut inverse = vec![None; n];
    for (from, to) in of.iter().enumerate() {
        if let Some(to) = *to {
            inverse[to] = Some(from);
        }
    }
    inverse
}

/// The cheapest assignment of all rows of `costs [rows, columns]`, which has at least as many columns, told by column.
fn row_of_each_column(costs: &Array2<f64>) -> Vec<Option<usize>> {
    let (n_rows, n_columns) = costs.dim();
    let mut search = Search {
        costs,
        row_potentials: Array1::zeros(n_rows),
        column_potentials: Array1::zeros(n_columns),
        row_of_column: vec![None; n_columns],
    };
    (0..n_rows).for_each(|row| search.assign(row));
    search.row_of_column
}

/// The rows that are assigned so far, at the least cost. A cost minus both its potentials is never below 0, and is 0
/// where its row is assigned to its column.
struct Search<'a> {
    costs: &'a Array2<f64>,
    row_potentials: Array1<f64>,
    column_potentials: Array1<f64>,
    row_of_column: Vec<Option<usize>>,
}

/// The shortest ways from a row to the columns.
struct Ways {
    /// How far each column is. `[columns]`
    distances: Vec<f64>,
    /// The column before each column on its way, `None` where the way comes straight from the first row. `[columns]`
    before: Vec<Option<usize>>,
    /// Whether a column's distance is final. `[columns]`
    is_final: Vec<bool>,
    /// The nearest column that no row has.
    end: usize,
}

impl Search<'_> {
    /// Assigns one more row, moving others along the shortest way to a column that no row has.
    fn assign(&mut self, row: usize) {
        let Ways { distances, before, is_final, end } = self.ways_from(row);
        self.row_potentials[row] += distances[end];
        for column in (0..distances.len()).filter(|&column| is_final[column]) {
            let nearer = distances[end] - distances[column];
            self.column_potentials[column] -= nearer;
            if let Some(row) = self.row_of_column[column] {
                self.row_potentials[row] += nearer;
            }
        }
        let mut column = end;
        while let Some(previous) = before[column] {
            self.row_of_column[column] = self.row_of_column[previous];
            column = previous;
        }
        self.row_of_column[column] = Some(row);
    }

    /// Dijkstra's search over costs minus potentials.
    fn ways_from(&self, mut row: usize) -> Ways {
        let n_columns = self.costs.ncols();
        let (mut distances, mut before) = (vec![f64::INFINITY; n_columns], vec![None; n_columns]);
        let mut is_final = vec![false; n_columns];
        let (mut reached, mut last) = (0.0, None);
        loop {
            let open = (0..n_columns).filter(|&column| !is_final[column]);
            let mut nearest = None;
            for column in open {
                let cost = self.costs[[row, column]] - self.row_potentials[row] - self.column_potentials[column];
                if reached + cost < distances[column] {
                    (distances[column], before[column]) = (reached + cost, last);
                }
                if nearest.is_none_or(|nearest: usize| distances[column] < distances[nearest]) {
                    nearest = Some(column);
                }
            }
            let nearest = nearest.expect("there are columns for all rows");
            is_final[nearest] = true;
            match self.row_of_column[nearest] {
                None => return Ways { distances, before, is_final, end: nearest },
                Some(next) => (row, reached, last) = (next, distances[nearest], Some(nearest)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;

    /// The largest sum over all one-to-one assignments, tried one after the other.
    fn best_by_trial(weights: &Array2<f64>) -> f64 {
        fn from(weights: &Array2<f64>, row: usize, taken: &mut Vec<bool>, n_skipped: usize) -> f64 {
            let (n_rows, n_columns) = weights.dim();
            if row == n_rows {
                return 0.0;
            }
            let mut best = f64::NEG_INFINITY;
            if n_skipped > 0 {
                best = from(weights, row + 1, taken, n_skipped - 1);
            }
            for column in 0..n_columns {
                if !taken[column] {
                    taken[column] = true;
                    best = best.max(weights[[row, column]] + from(weights, row + 1, taken, n_skipped));
                    taken[column] = false;
                }
            }
            best
        }
        let (n_rows, n_columns) = weights.dim();
        from(weights, 0, &mut vec![false; n_columns], n_rows.saturating_sub(n_columns))
    }

    #[test]
    fn the_greedy_choice_is_not_the_best() {
        // Taking 9 first leaves 0, in all 9; the other diagonal has 8 + 8.
        assert_eq!(best_assignment(&array![[9.0, 8.0], [8.0, 0.0]]), [Some(1), Some(0)]);
    }

    #[test]
    fn rows_or_columns_may_be_left_over() {
        assert_eq!(best_assignment(&array![[1.0, 5.0, 2.0]]), [Some(1)]);
        assert_eq!(best_assignment(&array![[1.0], [5.0], [2.0]]), [None, Some(0), None]);
        assert_eq!(best_assignment(&Array2::zeros((2, 0))), [None, None]);
        assert_eq!(assigned_weight(&array![[1.0], [5.0]], &[None, Some(0)]), 5.0);
    }

    #[test]
    fn random_matrices_agree_with_trying_all_permutations() {
        let mut rng = Seed(1).stream("weights");
        for trial in 0..2000 {
            let shape = (rng.random_range(1..7), rng.random_range(1..7));
            // Every other matrix is full of ties, and some weights are below 0.
            let mut weight = || match trial % 2 {
                0 => rng.random_range(-1.0..1.0),
                _ => f64::from(rng.random_range(-2_i32..3)),
            };
            let weights = Array2::from_shape_simple_fn(shape, &mut weight);
            let assignment = best_assignment(&weights);
            let mut columns: Vec<usize> = assignment.iter().copied().flatten().collect();
            assert_eq!(columns.len(), shape.0.min(shape.1));
            columns.sort_unstable();
            assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "a column was taken twice: {assignment:?}");
            let (found, best) = (assigned_weight(&weights, &assignment), best_by_trial(&weights));
            assert!((found - best).abs() < 1e-12, "{weights}: {found}, {best}");
        }
    }
}
