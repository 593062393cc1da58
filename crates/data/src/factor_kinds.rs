//! Which factors of a table are discrete, how many values each takes, and whether they form a grid.
//!
//! A factor is what the user says it is; else what the file says; else discrete where it holds nothing but whole numbers
//! from 0, and continuous otherwise.

use ndarray::{Array2, ArrayView1, ArrayViewMut1};

use crate::error::{Error, Result, did_you_mean};
use crate::factor_space::{Factor, FactorSpace, index_of};

/// A factor whose values are not numbered from 0 would make tables of its size; real ones have far fewer values.
const MOST_VALUES: usize = 1_000_000;

/// What the user says of factors, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactorKinds {
    /// These are continuous, whatever they hold.
    pub continuous: Vec<String>,
    /// These are discrete: their distinct values, in order, are numbered from 0.
    pub discrete: Vec<String>,
}

/// What a file says of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stated {
    /// Nothing: its values decide.
    Nothing,
    /// It takes this many values.
    Size(usize),
    /// It is continuous.
    Continuous,
}

/// A factor's name, and what the file says of it.
pub type StatedFactor = (String, Stated);

impl FactorKinds {
    /// Every factor that the user speaks of is one of `names`, and is called one thing only.
    pub fn check_names(&self, names: &[&str]) -> Result<()> {
        if let Some(name) = self.continuous.iter().find(|name| self.discrete.contains(name)) {
            return Err(
                Error::new(format!("factor \"{name}\" is called both continuous and discrete")).help("leave one out")
            );
        }
        match self.continuous.iter().chain(&self.discrete).find(|name| !names.contains(&name.as_str())) {
            Some(name) => {
                Err(Error::new(format!("no factor is called \"{name}\"{}", did_you_mean(name, names.iter().copied())))
                    .help(format!("the factors are {}", names.join(", "))))
            }
            None => Ok(()),
        }
    }
}

/// The numbers of texts, which are their positions among the distinct ones in sorted order, and how many these are.
pub fn number_texts(texts: &[&str]) -> (Vec<f64>, usize) {
    let mut distinct = texts.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let number = |text: &&str| distinct.partition_point(|other| other < text) as f64;
    (texts.iter().map(number).collect(), distinct.len())
}

/// The space of `factors` `[rows, factors]`: a grid where every combination of values is there exactly once. Factors that
/// the user calls discrete are numbered in place; names that are no factors are let be, since several inputs may share
/// what the user says.
pub fn factor_space(factors: &mut Array2<f64>, stated: Vec<StatedFactor>, kinds: &FactorKinds) -> Result<FactorSpace> {
    let mut named = Vec::new();
    for (column, (name, stated)) in factors.columns_mut().into_iter().zip(stated) {
        let size = if kinds.continuous.contains(&name) {
            None
        } else if kinds.discrete.contains(&name) {
            Some(number_values(column))
        } else {
            size_of(&column.view(), stated)
        };
        if let Some(size) = size.filter(|&size| size > MOST_VALUES) {
            return Err(Error::new(format!("factor \"{name}\" would take {size} values")).help(format!(
                "number its values from 0 without gaps, {MOST_VALUES} is the most; or call it continuous: \
                     `--continuous {name}`"
            )));
        }
        named.push(Factor { name, size });
    }
    Ok(if is_grid(factors, &named) {
        FactorSpace::grid(named.iter().filter_map(|factor| Some((factor.name.as_str(), factor.size?))))
    } else {
        FactorSpace::sample(named)
    })
}

fn size_of(column: &ArrayView1<f64>, stated: Stated) -> Option<usize> {
    let is_whole = || column.iter().all(|value| value.fract() == 0.0 && *value >= 0.0);
    match stated {
        Stated::Continuous => None,
        Stated::Size(size) => Some(size),
        Stated::Nothing if !is_whole() => None,
        Stated::Nothing => {
            let most = column.fold(0.0_f64, |most, &value| most.max(value));
            Some((most as usize).saturating_add(1))
        }
    }
}

/// Puts in place of each value its position among the distinct values; how many there are. Values that are not finite
/// stay, to be refused with their place.
fn number_values(mut column: ArrayViewMut1<f64>) -> usize {
    // Adding 0 makes -0 the same value as 0.
    let mut distinct: Vec<f64> = column.iter().filter(|value| value.is_finite()).map(|value| value + 0.0).collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    for value in column.iter_mut().filter(|value| value.is_finite()) {
        *value = distinct.partition_point(|other| *other < *value) as f64;
    }
    distinct.len().max(1)
}

/// Whether every combination of values is there exactly once, in any order.
fn is_grid(factors: &Array2<f64>, named: &[Factor]) -> bool {
    let Some(sizes) = named.iter().map(|factor| factor.size).collect::<Option<Vec<usize>>>() else { return false };
    let n_combinations = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    if factors.is_empty() || n_combinations != Some(factors.nrows()) {
        return false;
    }
    let mut seen = vec![false; factors.nrows()];
    factors.rows().into_iter().all(|row| match whole_values(&row, &sizes) {
        Some(values) => !std::mem::replace(&mut seen[index_of(&values, &sizes)], true),
        None => false,
    })
}

/// The values of a row, where all are whole numbers within their factor's size.
fn whole_values(row: &ArrayView1<f64>, sizes: &[usize]) -> Option<Vec<usize>> {
    let values = row.iter().zip(sizes).map(|(&value, &size)| {
        let fits = value.fract() == 0.0 && value >= 0.0 && value < size as f64;
        fits.then_some(value as usize)
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn stated(names: &[&str]) -> Vec<StatedFactor> {
        names.iter().map(|name| (name.to_string(), Stated::Nothing)).collect()
    }

    fn kinds(continuous: &[&str], discrete: &[&str]) -> FactorKinds {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        FactorKinds { continuous: names(continuous), discrete: names(discrete) }
    }

    #[test]
    fn the_user_has_the_last_word() {
        let mut factors = array![[0.0, 0.5], [1.0, -2.5], [2.0, 0.5]];
        let names = || stated(&["count", "angle"]);
        let sizes = |space: FactorSpace| space.factors().iter().map(|factor| factor.size).collect::<Vec<_>>();
        assert_eq!(sizes(factor_space(&mut factors, names(), &FactorKinds::default()).unwrap()), [Some(3), None]);
        let space = factor_space(&mut factors, names(), &kinds(&["count"], &["angle"])).unwrap();
        assert_eq!(sizes(space), [None, Some(2)]);
        // -2.5 comes before 0.5.
        assert_eq!(factors.column(1).to_vec(), [1.0, 0.0, 1.0]);
    }

    #[test]
    fn numbered_values_can_form_a_grid() {
        let mut factors = array![[10.0, 0.5], [10.0, 0.25], [30.0, 0.5], [30.0, 0.25]];
        let space = factor_space(&mut factors, stated(&["x", "y"]), &kinds(&[], &["x", "y"])).unwrap();
        assert_eq!(space.grid_sizes().unwrap(), [2, 2]);
    }

    #[test]
    fn whole_numbers_below_0_are_continuous() {
        let mut factors = array![[-1.0, 0.0], [0.0, 1.0], [1.0, 2.0]];
        let space = factor_space(&mut factors, stated(&["tilt", "count"]), &FactorKinds::default()).unwrap();
        assert_eq!(space.factors().iter().map(|factor| factor.size).collect::<Vec<_>>(), [None, Some(3)]);
    }

    #[test]
    fn no_rows_are_no_grid() {
        for size in [Stated::Size(0), Stated::Size(1), Stated::Nothing] {
            let stated = vec![("shape".to_string(), size)];
            let space = factor_space(&mut Array2::zeros((0, 1)), stated, &FactorKinds::default()).unwrap();
            assert!(space.grid_sizes().is_err());
        }
    }

    #[test]
    fn zero_has_no_sign() {
        let mut factors = array![[-0.0], [0.0], [1.0]];
        let space = factor_space(&mut factors, stated(&["x"]), &kinds(&[], &["x"])).unwrap();
        assert_eq!((space.factors()[0].size, factors.column(0).to_vec()), (Some(2), vec![0.0, 0.0, 1.0]));
    }

    #[test]
    fn names_that_are_no_factors_are_refused() {
        let message = |kinds: FactorKinds| kinds.check_names(&["shape"]).unwrap_err().to_string();
        let wanted = "no factor is called \"shap\"; did you mean \"shape\"?\n       the factors are shape";
        assert_eq!(message(kinds(&["shap"], &[])), wanted);
        assert!(message(kinds(&["shape"], &["shape"])).starts_with("factor \"shape\" is called both"));
    }
}
