//! Pictures of a dataset's images, factor by factor.

use unbraid_data::datasets::{read_factors, read_numbered};
use unbraid_data::factor_space::index_of;
use unbraid_data::{Dataset, Result};
use unbraid_report::Picture;
use unbraid_report::figures::{FactorRow, evenly_spread};

/// Values that are shown of a factor.
const SHOWN_VALUES: usize = 10;
/// Images among which those with a certain value of a factor are looked for.
const MOST_LOOKED_AT: usize = 1_000_000;

/// For each factor, images along which it alone changes; the others have the middle of their values, or one of them where these have
/// no order.
pub fn rows_by_factor(dataset: &dyn Dataset) -> Result<Vec<FactorRow>> {
    let Ok(sizes) = dataset.factors().grid_sizes() else { return rows_by_value(dataset) };
    let unordered = dataset.unordered_factors();
    let base = |(position, size): (usize, &usize)| match unordered.contains(&position) {
        // Hues of several things would all be the same in the middle.
        true => (size / 2 + 3 * position) % size,
        false => size / 2,
    };
    let middle: Vec<usize> = sizes.iter().enumerate().map(base).collect();
    let mut rows = Vec::new();
    for (position, factor) in dataset.factors().factors().iter().enumerate() {
        let values = evenly_spread(sizes[position], SHOWN_VALUES);
        let along = |&value: &usize| {
            let mut combination = middle.clone();
            combination[position] = value;
            picture(dataset, index_of(&combination, &sizes))
        };
        let pictures = values.iter().map(along).collect::<Result<_>>()?;
        rows.push(FactorRow { name: factor.name.clone(), n_values: sizes[position], values, pictures });
    }
    Ok(rows)
}

/// For each discrete factor of images that form no grid, the first image with each of its values.
fn rows_by_value(dataset: &dyn Dataset) -> Result<Vec<FactorRow>> {
    let numbers: Vec<usize> = (0..dataset.n_images().min(MOST_LOOKED_AT)).collect();
    let factors = read_factors(dataset, &numbers);
    let mut rows = Vec::new();
    for (factor, column) in dataset.factors().factors().iter().zip(factors.columns()) {
        let Some(size) = factor.size else { continue };
        let first = |&value: &usize| Some((value, column.iter().position(|&found| found == value as f64)?));
        let found: Vec<(usize, usize)> = evenly_spread(size, SHOWN_VALUES).iter().filter_map(first).collect();
        if found.is_empty() {
            continue;
        }
        let (values, images): (Vec<usize>, Vec<usize>) = found.into_iter().unzip();
        let pictures = images.iter().map(|&image| picture(dataset, image)).collect::<Result<_>>()?;
        rows.push(FactorRow { name: factor.name.clone(), n_values: size, values, pictures });
    }
    Ok(rows)
}

/// One image as a picture.
pub fn picture(dataset: &dyn Dataset, index: usize) -> Result<Picture> {
    let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
    read_numbered(dataset, index, &mut pixels)?;
    Picture::new(dataset.image_shape(), pixels)
}
