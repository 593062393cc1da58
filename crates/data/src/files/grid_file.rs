//! What datasets that are read from published files share: settings, the grid of their factors, and a refusal.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::settings::{Setting, Values};

/// More images than this are in no file.
const MOST_IMAGES: usize = 1 << 40;

/// Where the file is.
pub const PATH: Setting = Setting {
    name: "path",
    values: Values::Words("a path"),
    meaning: "where the file or folder is; looked for in the data root where left out",
};

/// Which files of a dataset that is published in two parts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Those for training.
    #[default]
    Train,
    /// Those for testing.
    Test,
}

/// How many values each factor takes.
pub const FACTOR_SIZES: Setting = Setting {
    name: "factor_sizes",
    values: Values::Words("a list of whole numbers"),
    meaning: "values of each factor, for files of part of the images; the published ones where left out",
};

/// The grid of factors with these names and sizes.
pub fn grid_of(names: &[&str], sizes: &[usize]) -> Result<FactorSpace> {
    let n_images = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    if sizes.len() != names.len() || !n_images.is_some_and(|n_images| (1..=MOST_IMAGES).contains(&n_images)) {
        return Err(Error::new(format!("setting \"factor_sizes\" is {sizes:?}")).help(format!(
            "wanted {} whole numbers from 1, for {}",
            names.len(),
            names.join(", ")
        )));
    }
    Ok(FactorSpace::grid(names.iter().copied().zip(sizes.iter().copied())))
}

/// The error for a file that does not have an image for each combination of factors.
pub fn wrong_count(path: &Path, what: &str, n_images: usize, factors: &FactorSpace) -> Error {
    let sizes: Vec<String> =
        factors.factors().iter().map(|factor| format!("{} {}", factor.name, factor.size.unwrap_or(0))).collect();
    let wanted = factors.n_combinations().unwrap_or(0);
    Error::new(format!("{what} has {n_images} images, wanted {wanted} of bytes, for {}", sizes.join(", ")))
        .at(path.display())
        .help("the file may be another one, or not whole; of a file with part of the images say factor_sizes = [...]")
}
