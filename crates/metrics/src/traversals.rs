//! Complete traversals of a factor: rows that show each of its values once while the other factors stay as they are.

use ndarray::Array2;
use rayon::prelude::*;
use unbraid_data::{Factor, LabelledCodes};

/// Every complete traversal of the factor at position `factor` in the whole table, in whatever order its rows are: row
/// numbers `[traversals, values]`, values ascending, traversals in the order of the other factors' values. Rows whose
/// combination of factors occurs twice belong to no traversal, since none of them has the better claim. Where there
/// is no traversal, why.
pub fn complete_traversals(data: &LabelledCodes, factor: usize) -> Result<Array2<usize>, String> {
    let sizes = discrete_sizes(data)?;
    let n_values = sizes[factor];
    let n_combinations = n_combinations(&sizes)?;
    let numbers = combination_numbers(data, &sizes, factor);
    let rows = if n_combinations <= MOST_PLACES_PER_ROW * data.n_rows() as u64 {
        traversals_by_place(&numbers, n_values, n_combinations as usize)
    } else {
        traversals_by_order(&numbers, n_values)
    };
    if rows.is_empty() {
        return Err(what_is_missing(data, factor, n_values));
    }
    Ok(Array2::from_shape_vec((rows.len() / n_values, n_values), rows).expect("whole traversals were added"))
}

fn what_is_missing(data: &LabelledCodes, factor: usize, n_values: usize) -> String {
    let name = &data.space().factors()[factor].name;
    let mut is_there = vec![false; n_values];
    data.factors().column(factor).iter().for_each(|&value| is_there[value as usize] = true);
    let needed = format!(
        "needs rows with each of the {n_values} values of factor \"{name}\" once while the other factors stay equal"
    );
    match is_there.iter().filter(|is_there| **is_there).count() {
        n_there if n_there < n_values => {
            format!(
                "{needed}; only {n_there} of the numbers 0 to {} occur: number the values without gaps",
                n_values - 1
            )
        }
        _ => needed,
    }
}

/// The sizes of all factors; continuous ones have no traversals.
pub fn discrete_sizes(data: &LabelledCodes) -> Result<Vec<usize>, String> {
    let size_of = |factor: &Factor| {
        factor
            .size
            .ok_or_else(|| format!("factor \"{}\" is continuous, and traversals need discrete ones", factor.name))
    };
    data.space().factors().iter().map(size_of).collect()
}

/// How many combinations there are of factors with these sizes.
pub fn n_combinations(sizes: &[usize]) -> Result<u64, String> {
    let product = sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size as u64));
    product.ok_or_else(|| format!("{} factors have more combinations than can be numbered", sizes.len()))
}

/// The number of each row's combination, row-major with `factor` least significant.
pub fn combination_numbers(data: &LabelledCodes, sizes: &[usize], factor: usize) -> Vec<u64> {
    let mut numbers = vec![0; data.n_rows()];
    let others = (0..sizes.len()).filter(|&other| other != factor);
    for column in others.chain([factor]) {
        for (number, &value) in numbers.iter_mut().zip(data.factors().column(column)) {
            *number = *number * sizes[column] as u64 + value as u64;
        }
    }
    numbers
}

/// Combinations are given a place each where there are at most so many of them to a row; else the rows are sorted.
const MOST_PLACES_PER_ROW: u64 = 8;

/// The rows of all complete traversals, one after another, found by a place for each combination.
fn traversals_by_place(numbers: &[u64], n_values: usize, n_combinations: usize) -> Vec<usize> {
    const EMPTY: usize = usize::MAX;
    const TAKEN_TWICE: usize = usize::MAX - 1;
    let mut places = vec![EMPTY; n_combinations];
    for (row, &number) in numbers.iter().enumerate() {
        let place = &mut places[number as usize];
        *place = if *place == EMPTY { row } else { TAKEN_TWICE };
    }
    let whole = places.chunks_exact(n_values).filter(|rows| rows.iter().all(|&row| row < TAKEN_TWICE));
    whole.flatten().copied().collect()
}

/// The same, found by sorting the rows.
fn traversals_by_order(numbers: &[u64], n_values: usize) -> Vec<usize> {
    let mut numbered: Vec<(u64, usize)> = numbers.iter().copied().zip(0..).collect();
    numbered.par_sort_unstable();
    let mut rows = Vec::new();
    for group in numbered.chunk_by(|a, b| a.0 / n_values as u64 == b.0 / n_values as u64) {
        let rises_by_one = group.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0);
        if group.len() == n_values && rises_by_one {
            rows.extend(group.iter().map(|(_, row)| row));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    fn data(factors: Array2<f64>) -> LabelledCodes {
        let space = FactorSpace::grid([("shape", 2), ("scale", 3)]);
        LabelledCodes::new(Array2::zeros((factors.nrows(), 1)), factors, space, Extras::default()).unwrap()
    }

    #[test]
    fn rows_are_found_in_any_order_and_incomplete_traversals_left_out() {
        // scale runs through 0, 1, 2 at shape 1 (rows 3, 0, 4) and lacks 1 at shape 0.
        let data = data(array![[1.0, 1.0], [0.0, 2.0], [0.0, 0.0], [1.0, 0.0], [1.0, 2.0]]);
        assert_eq!(complete_traversals(&data, 1), Ok(array![[3, 0, 4]]));
        // shape runs through 0, 1 at scale 0 (rows 2, 3) and at scale 2 (rows 1, 4).
        assert_eq!(complete_traversals(&data, 0), Ok(array![[2, 3], [1, 4]]));
    }

    #[test]
    fn places_and_sorting_find_the_same() {
        // Three values each: 0 to 2 is whole, 3 to 5 has 4 twice, 6 to 8 lacks 7.
        let numbers = [8, 4, 2, 0, 3, 4, 5, 1, 6];
        assert_eq!(traversals_by_place(&numbers, 3, 9), [3, 7, 2]);
        assert_eq!(traversals_by_order(&numbers, 3), [3, 7, 2]);
    }

    #[test]
    fn a_combination_that_occurs_twice_spoils_its_traversal() {
        let data = data(array![[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]);
        assert!(complete_traversals(&data, 0).unwrap_err().starts_with("needs rows with each of the 2 values"));
    }

    #[test]
    fn continuous_factors_and_too_many_combinations_are_named() {
        let continuous = Factor { name: "angle".to_string(), size: None };
        let space = FactorSpace::sample(vec![continuous]);
        let data = LabelledCodes::new(array![[1.0]], array![[0.5]], space, Extras::default()).unwrap();
        assert!(complete_traversals(&data, 0).unwrap_err().starts_with("factor \"angle\" is continuous"));

        let space = FactorSpace::grid([("a", 1 << 40), ("b", 1 << 40)]);
        let data = LabelledCodes::new(array![[1.0]], array![[0.0, 0.0]], space, Extras::default()).unwrap();
        assert!(complete_traversals(&data, 0).unwrap_err().starts_with("2 factors have more combinations"));
    }
}
