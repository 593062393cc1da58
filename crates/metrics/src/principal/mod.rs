//! Principal components of rows that need not fit into memory.
//!
//! Rows are read block by block. Where there are few columns their covariance is added up, and its leading eigenvectors are taken
//! ([`exact`]); where there are many, they are found in a few passes over the rows themselves ([`randomised`]). Both divide by the rows less one, as scikit-learn does, and add in an order that the shape of the table
//! alone decides, so that the bits are the same for any number of threads.
//!
//! Columns are shifted by the mean of some rows, spread evenly, before anything is squared: what the true mean is off by is taken
//! away at the end, so that values far from 0 lose no digits.

mod centred;
pub mod compared;
pub mod exact;
mod leading;
pub mod randomised;

use ndarray::{Array1, Array2, Axis};
use unbraid_data::words::counted;
use unbraid_data::{Error, Result};

/// Directions with less than this share of all variance are what rounding leaves: 32-bit floats know a millionth of a spread.
const LEAST_SHARE: f64 = 1e-12;
/// Two variances that differ by less than this share are the same.
const SAME: f64 = 1e-6;
/// Entries within this share of the largest are as large, so that rounding does not decide about the sign.
const AS_LARGE: f64 = 1e-6;

/// A table that is read a few rows at a time. Several threads may read it at once.
pub trait Rows: Sync {
    /// How many rows there are.
    fn n_rows(&self) -> usize;

    /// How many numbers a row has.
    fn n_columns(&self) -> usize;

    /// The rows with these numbers, one after the other, `[rows, columns]`.
    fn read(&self, rows: &[usize]) -> Result<Vec<f32>>;
}

/// What hears how far the work is: what is done, and how much of how much.
pub type Tell<'a> = &'a mut dyn FnMut(&str, usize, usize);

/// The leading principal components of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalComponents {
    /// Of each column. `[columns]`
    pub mean: Array1<f64>,
    /// Those with most variance first, each of length 1, its largest entry positive. `[components, columns]`
    pub components: Array2<f64>,
    /// The variance along each component, over the rows less one. `[components]`
    pub variances: Vec<f64>,
    /// The variance of all columns together.
    pub total_variance: f64,
    /// Rows that were looked at.
    pub n_rows: usize,
    /// How often they were read.
    pub n_passes: usize,
    /// How far the passes came where they ended early: the greatest `|C u - v u| / v` of a component `u` with variance `v`.
    pub unsettled: Option<f64>,
}

/// Neighbouring components between which the variance decides too little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tie {
    /// The position of the first of the two.
    pub first: usize,
    /// By which share of the first their variances differ.
    pub gap: f64,
    /// Whether any turn of the two would do as well: the gap is below what rounding, or the number of rows, can tell.
    pub is_equal: bool,
}

impl PrincipalComponents {
    /// Puts them together from eigenvectors `[components, columns]` and eigenvalues in falling order: leaves out directions without
    /// variance, and fixes signs. An error where no column varies.
    fn new(mean: Array1<f64>, vectors: &Array2<f64>, values: &[f64], total: f64, n_rows: usize) -> Result<Self> {
        if total <= 0.0 {
            return Err(no_variance(n_rows));
        }
        let n_kept = values.iter().take_while(|&&value| value > LEAST_SHARE * total).count();
        let kept: Vec<usize> = (0..n_kept).collect();
        let mut components = vectors.select(Axis(0), &kept);
        components.rows_mut().into_iter().for_each(|mut component| {
            let sign = sign_of_largest(component.iter().copied());
            component.mapv_inplace(|entry| entry * sign);
        });
        let variances = values[..n_kept].to_vec();
        Ok(Self { mean, components, variances, total_variance: total, n_rows, n_passes: 1, unsettled: None })
    }

    /// The share of all variance along each component, in [0, 1].
    pub fn shares(&self) -> Vec<f64> {
        self.variances.iter().map(|variance| variance / self.total_variance).collect()
    }

    /// The share of all variance along this component and those before it.
    pub fn cumulative(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let summed = self.shares().into_iter().map(|share| {
            sum += share;
            sum
        });
        summed.collect()
    }

    /// Neighbours whose variances differ by at most `within` of the first; those that cannot be told apart are `is_equal`. Of a
    /// sample a variance is known to about `sqrt(2 / rows)` of itself (North et al. 1982), of `all_rows` to rounding.
    pub fn ties(&self, within: f64, all_rows: bool) -> Vec<Tie> {
        let known = if all_rows { SAME } else { (2.0 / self.n_rows as f64).sqrt().max(SAME) };
        let gaps = self.variances.windows(2).enumerate().map(|(first, pair)| (first, (pair[0] - pair[1]) / pair[0]));
        gaps.filter(|(_, gap)| *gap <= within.max(known))
            .map(|(first, gap)| Tie { first, gap, is_equal: gap <= known })
            .collect()
    }
}

/// The error for a table in which nothing varies.
fn no_variance(n_rows: usize) -> Error {
    let found = if n_rows < 2 { counted(n_rows, "row") } else { format!("{n_rows} rows that are all the same") };
    Error::new(format!("there is no variance to explain in {found}")).help("wanted at least two that differ")
}

/// 1 or -1: the sign of the first entry that is as large as any.
pub fn sign_of_largest(entries: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = entries.clone().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let mut entries = entries;
    entries.find(|entry| entry.abs() >= (1.0 - AS_LARGE) * largest).map_or(1.0, f64::signum)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn of(values: &[f64]) -> PrincipalComponents {
        let vectors = Array2::eye(values.len());
        PrincipalComponents::new(Array1::zeros(values.len()), &vectors, values, values.iter().sum(), 8).unwrap()
    }

    #[test]
    fn shares_add_up_to_what_is_explained() {
        let found = of(&[3.0, 0.75, 0.25]);
        assert_eq!(found.shares(), [0.75, 0.1875, 0.0625]);
        assert_eq!(found.cumulative(), [0.75, 0.9375, 1.0]);
    }

    #[test]
    fn signs_are_fixed_and_what_rounding_leaves_is_left_out() {
        let vectors = array![[0.6, -0.8], [-0.8, -0.6]];
        let found = PrincipalComponents::new(Array1::zeros(2), &vectors, &[1.0, 1e-13], 1.0, 9).unwrap();
        assert_eq!(found.components, array![[-0.6, 0.8]]);
        // Of two that are as large the first decides, whatever rounding makes of them.
        assert_eq!(sign_of_largest([-0.5, 0.5 + 1e-12].into_iter()), -1.0);
        assert!(PrincipalComponents::new(Array1::zeros(2), &vectors, &[0.0, 0.0], 0.0, 9).is_err());
    }

    #[test]
    fn equal_variances_are_told_as_far_as_the_rows_can_tell() {
        let found = of(&[1.0, 1.0 - 1e-9, 0.7, 0.694]);
        let firsts = |ties: &[Tie]| ties.iter().map(|tie| (tie.first, tie.is_equal)).collect::<Vec<_>>();
        assert_eq!(firsts(&found.ties(0.0, true)), [(0, true)]);
        assert_eq!(firsts(&found.ties(0.01, true)), [(0, true), (2, false)]);
        // Of 8 sampled rows a variance is known to half of itself.
        assert_eq!(firsts(&found.ties(0.01, false)), [(0, true), (1, true), (2, true)]);
    }
}
