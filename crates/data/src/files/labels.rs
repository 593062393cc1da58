//! The factors of images in published files, by the tables that stand beside the images.

use ndarray::Array2;

use crate::error::{Error, Result};
use crate::factor_kinds::{FactorKinds, Stated, StatedFactor, factor_space};
use crate::factor_space::FactorSpace;

/// The space of these factors, whose distinct values in `table` `[images, factors]` are numbered in order; every combination
/// must be there once.
pub fn numbered_grid(names: &[&str], table: &mut Array2<f64>) -> Result<FactorSpace> {
    let stated: Vec<StatedFactor> = names.iter().map(|name| (name.to_string(), Stated::Nothing)).collect();
    let discrete = names.iter().map(ToString::to_string).collect();
    let space = factor_space(table, stated, &FactorKinds { discrete, ..FactorKinds::default() })?;
    if space.is_grid() {
        return Ok(space);
    }
    let sizes: Vec<String> =
        space.factors().iter().map(|factor| format!("{} {}", factor.name, factor.size.unwrap_or(0))).collect();
    Err(Error::new(format!(
        "the {} images are not one for each combination of factors: {}",
        table.nrows(),
        sizes.join(", ")
    ))
    .help("the file is not whole, or not the published one: get it again"))
}

/// A table `[images, columns]` of so many columns from its values.
pub fn table_of(values: Vec<f64>, shape: &[usize], n_images: usize, n_columns: usize) -> Result<Array2<f64>> {
    if shape != [n_images, n_columns] {
        return Err(Error::new(format!("has shape {shape:?}, wanted [{n_images}, {n_columns}]")));
    }
    Array2::from_shape_vec((n_images, n_columns), values).map_err(|_| Error::new("has too few values"))
}
