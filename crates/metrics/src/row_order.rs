//! An order of the rows that does not depend on how the table happens to be sorted, so that metrics which draw rows at
//! random draw the same images from a shuffled table.

use rayon::prelude::*;
use unbraid_data::LabelledCodes;

use crate::traversals::{combination_numbers, discrete_sizes, n_combinations};

/// All row numbers in ascending order of the rows' factors, the first factor first; rows with equal factors stay in the
/// order that they have.
pub fn rows_by_factors(data: &LabelledCodes) -> Vec<usize> {
    if data.n_factors() == 0 {
        return (0..data.n_rows()).collect();
    }
    let numbers = discrete_sizes(data).and_then(|sizes| {
        n_combinations(&sizes)?;
        Ok(combination_numbers(data, &sizes, data.n_factors() - 1))
    });
    let mut rows: Vec<usize> = (0..data.n_rows()).collect();
    match numbers {
        Ok(numbers) => rows.par_sort_by_key(|&row| numbers[row]),
        // Continuous factors, or too many combinations to number.
        Err(_) => rows.par_sort_by(|&a, &b| {
            let (a, b) = (data.factors().row(a), data.factors().row(b));
            let differing = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
            differing.unwrap_or(std::cmp::Ordering::Equal)
        }),
    }
    rows
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace};

    use super::*;

    #[test]
    fn the_first_factor_counts_first_and_equal_rows_stay_in_order() {
        let factors = array![[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [1.0, 0.0]];
        let discrete = FactorSpace::grid([("shape", 2), ("scale", 3)]);
        let size_of = |size| Factor { name: format!("{size:?}"), size };
        let continuous = FactorSpace::sample(vec![size_of(Some(2)), size_of(None)]);
        for space in [discrete, continuous] {
            let data = LabelledCodes::new(Array2::zeros((4, 1)), factors.clone(), space, Extras::default()).unwrap();
            assert_eq!(rows_by_factors(&data), [2, 1, 0, 3]);
        }
    }
}
