//! Correlations of every pair of columns over the runs that have both: T2 figure 2 by ranks, T3 figures 5.4 to 5.6 by values.

use ndarray::{Array1, Array2};
use unbraid_metrics::Matrix;
use unbraid_metrics::statistics::deviations::deviations;
use unbraid_metrics::statistics::pearson::pearson;
use unbraid_metrics::statistics::spearman::rank_deviations;

/// Fewer runs than this say nothing of how two scores go together.
pub const LEAST_RUNS: usize = 5;

/// Which correlation is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficient {
    /// Spearman's, of ranks, equal values sharing their mean rank.
    Spearman,
    /// Pearson's, of the values.
    Pearson,
}

impl Coefficient {
    /// `rank correlation` or `linear correlation`.
    pub fn words(self) -> &'static str {
        match self {
            Coefficient::Spearman => "rank correlation",
            Coefficient::Pearson => "linear correlation",
        }
    }
}

/// The correlation of every pair of rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlations {
    /// What the rows are.
    pub rows: Vec<String>,
    /// What the columns are.
    pub columns: Vec<String>,
    /// In [-1, 1]; none where too few runs have both, or one of the two is the same in all of these. `[rows, columns]`
    pub values: Array2<Option<f64>>,
    /// How many runs have both. `[rows, columns]`
    pub counts: Array2<usize>,
}

/// How two scores go together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement<'a> {
    /// The one.
    pub one: &'a str,
    /// The other.
    pub other: &'a str,
    /// 1 where they put runs in the same order from bad to good.
    pub correlation: f64,
    /// How many runs have both.
    pub n_runs: usize,
}

/// A column with its name: a number for each run, or none.
pub type Named<'a> = (&'a str, Vec<Option<f64>>);

/// The correlation of each of `rows` with each of `columns`, over the runs that have both, where these are at least `least_runs`.
pub fn correlations(rows: &[Named], columns: &[Named], coefficient: Coefficient, least_runs: usize) -> Correlations {
    let shape = (rows.len(), columns.len());
    let pairs = Array2::from_shape_fn(shape, |(row, column)| complete_pairs(&rows[row].1, &columns[column].1));
    let names = |named: &[Named]| named.iter().map(|(name, _)| name.to_string()).collect();
    Correlations {
        rows: names(rows),
        columns: names(columns),
        values: pairs.map(|(a, b)| correlation(a, b, coefficient, least_runs)),
        counts: pairs.map(|(a, _)| a.len()),
    }
}

/// The correlation of two columns of equal length; none where there are fewer than `least` rows, or a column is constant.
pub fn correlation(a: &[f64], b: &[f64], coefficient: Coefficient, least: usize) -> Option<f64> {
    if a.len() < least.max(2) {
        return None;
    }
    let [a, b] = [a, b].map(|column| {
        let column = Array1::from(column.to_vec());
        match coefficient {
            Coefficient::Spearman => rank_deviations(&column),
            Coefficient::Pearson => deviations(&column),
        }
    });
    if a.scale == 0.0 || b.scale == 0.0 { None } else { Some(pearson(&a, &b)) }
}

fn complete_pairs(a: &[Option<f64>], b: &[Option<f64>]) -> (Vec<f64>, Vec<f64>) {
    a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).unzip()
}

impl Correlations {
    /// The correlation of a row and a column by their names; none where there is none.
    pub fn between(&self, row: &str, column: &str) -> Option<f64> {
        let place = |names: &[String], wanted: &str| names.iter().position(|name| name == wanted);
        self.values[[place(&self.rows, row)?, place(&self.columns, column)?]]
    }

    /// Whether any pair has a correlation that is not of a column with itself.
    pub fn tells_something(&self) -> bool {
        let is_other = |(row, column): (usize, usize)| self.rows[row] != self.columns[column];
        self.values.indexed_iter().any(|(place, value)| value.is_some() && is_other(place))
    }

    /// The pair of different names that agree most and the one that agree least, where `sign` is -1 for names of which lower is better.
    pub fn extremes(&self, sign: impl Fn(&str) -> f64) -> Option<[Agreement<'_>; 2]> {
        let pairs = self.values.indexed_iter().filter_map(|((row, column), value)| {
            let (one, other) = (self.rows[row].as_str(), self.columns[column].as_str());
            // Each pair once, where rows and columns are the same.
            let is_first = self.rows != self.columns || row < column;
            let correlation = sign(one) * sign(other) * (*value)?;
            (is_first && one != other).then_some(Agreement {
                one,
                other,
                correlation,
                n_runs: self.counts[[row, column]],
            })
        });
        let pairs: Vec<Agreement> = pairs.collect();
        let most = pairs.iter().max_by(|a, b| a.correlation.total_cmp(&b.correlation))?;
        let least = pairs.iter().min_by(|a, b| a.correlation.total_cmp(&b.correlation))?;
        Some([*most, *least])
    }

    /// For a heatmap, which shows cells without a number as a dash.
    pub fn matrix(&self) -> Matrix {
        Matrix {
            name: "correlations".to_string(),
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            values: self.values.map(|value| value.unwrap_or(f64::NAN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_taken_where_both_are_there() {
        let a = ("a", vec![Some(1.0), Some(2.0), None, Some(4.0), Some(9.0)]);
        let b = ("b", vec![Some(1.0), Some(3.0), Some(7.0), Some(5.0), None]);
        let found = correlations(&[a.clone(), b.clone()], &[a, b], Coefficient::Spearman, 3);
        assert_eq!(found.counts[[0, 1]], 3);
        assert!((found.values[[0, 1]].unwrap() - 1.0).abs() < 1e-15);
        let [most, least] = found.extremes(|name| if name == "a" { -1.0 } else { 1.0 }).unwrap();
        assert_eq!((most.one, most.other, most.n_runs, least), ("a", "b", 3, most));
        assert!((most.correlation + 1.0).abs() < 1e-15);
    }

    #[test]
    fn too_few_and_constant_columns_have_no_correlation() {
        let [a, b] = [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]];
        assert_eq!(correlation(&a, &b, Coefficient::Pearson, 2), None);
        assert_eq!(correlation(&a, &a, Coefficient::Spearman, 4), None);
        assert_eq!(correlation(&[], &[], Coefficient::Spearman, 0), None);
    }
}
