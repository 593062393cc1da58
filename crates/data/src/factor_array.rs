//! Factors as an array of numpy holds them: numbers or text, `[rows, factors]`, or `[rows]` where there is one.
//!
//! Text is read as in CSV: a factor whose texts are numbers throughout holds numbers (numpy turns numbers beside text into
//! text), any other has its distinct texts numbered in sorted order.

use std::collections::BTreeSet;

use ndarray::Array2;

use crate::error::{Error, Result};
use crate::factor_kinds::{FactorKinds, Stated, StatedFactor, number_texts};
use crate::npy::NpyArray;
use crate::words::counted;

/// The factors of an array.
pub struct FactorArray {
    /// `[rows, factors]`.
    pub values: Array2<f64>,
    /// Each factor's name, and what is known of it.
    pub stated: Vec<StatedFactor>,
    /// The positions of those that were text.
    pub texts: Vec<usize>,
}

/// How many rows and factors an array of this shape holds.
pub fn rows_and_factors(shape: &[usize]) -> Result<(usize, usize)> {
    match *shape {
        [n_rows] => Ok((n_rows, 1)),
        [n_rows, n_factors] => Ok((n_rows, n_factors)),
        _ => Err(Error::new(format!("wanted a table with two axes, rows and factors, found shape {shape:?}"))),
    }
}

/// The factors of an array, with the names and sizes that stand beside it; a size of 0 says that a factor is continuous.
pub fn factor_array(
    stored: &NpyArray,
    names: Option<Vec<String>>,
    sizes: Option<&[usize]>,
    kinds: &FactorKinds,
) -> Result<FactorArray> {
    let (n_rows, n_factors) = rows_and_factors(stored.shape())?;
    let names = name_factors(names, n_factors)?;
    if let Some(sizes) = sizes {
        check_count("factor_sizes", sizes.len(), n_factors)?;
    }
    let stated = |position: usize| match sizes.map(|sizes| sizes[position]) {
        None => Stated::Nothing,
        Some(0) => Stated::Continuous,
        Some(size) => Stated::Size(size),
    };
    let stated: Vec<StatedFactor> = names.into_iter().enumerate().map(|(at, name)| (name, stated(at))).collect();
    if stored.holds_text() {
        return of_text(&stored.to_text()?, (n_rows, n_factors), stated, kinds);
    }
    let values =
        Array2::from_shape_vec((n_rows, n_factors), stored.to_f64()?).expect("the shape was checked when read");
    Ok(FactorArray { values, stated, texts: Vec::new() })
}

fn of_text(
    cells: &[String],
    shape: (usize, usize),
    mut stated: Vec<StatedFactor>,
    kinds: &FactorKinds,
) -> Result<FactorArray> {
    let mut values = Array2::zeros(shape);
    let mut texts = Vec::new();
    for (position, (name, stated)) in stated.iter_mut().enumerate() {
        let column: Vec<&str> = cells.iter().skip(position).step_by(shape.1).map(String::as_str).collect();
        let numbers: Option<Vec<f64>> = column.iter().map(|text| text.trim().parse().ok()).collect();
        let numbers = match numbers {
            Some(numbers) => numbers,
            None if kinds.continuous.contains(name) || *stated == Stated::Continuous => {
                return Err(Error::new(format!("factor \"{name}\" is called continuous, but holds text"))
                    .help("wanted numbers: text is discrete"));
            }
            None => {
                let (numbers, size) = number_texts(&column);
                texts.push(position);
                if *stated == Stated::Nothing {
                    *stated = Stated::Size(size);
                }
                numbers
            }
        };
        values.column_mut(position).assign(&ndarray::aview1(&numbers));
    }
    Ok(FactorArray { values, stated, texts })
}

/// The names as given, or `factor_0`, `factor_1` and so on.
fn name_factors(names: Option<Vec<String>>, n_factors: usize) -> Result<Vec<String>> {
    let Some(names) = names else { return Ok((0..n_factors).map(|factor| format!("factor_{factor}")).collect()) };
    check_count("factor_names", names.len(), n_factors)?;
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(Error::new(format!("two factors are called \"{name}\""))),
        None => Ok(names),
    }
}

/// An error where a list beside the factors has not an entry for each of them.
pub fn check_count(name: &str, found: usize, n_factors: usize) -> Result<()> {
    if found == n_factors {
        return Ok(());
    }
    let found = if found == 1 { "1 entry".to_string() } else { format!("{found} entries") };
    Err(Error::new(format!("{name} has {found} but factors have {}", counted(n_factors, "column"))))
}
