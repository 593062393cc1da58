//! What each factor of a dataset does: one row per factor, along which only that factor changes.

use super::picture_grid::{PictureGrid, PictureRow, picture_grid};
use crate::canvas::Canvas;
use crate::picture::Picture;

/// The images along one factor.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorRow {
    /// What the factor is called.
    pub name: String,
    /// How many values it takes in the dataset, of which some may be shown.
    pub n_values: usize,
    /// The shown values.
    pub values: Vec<usize>,
    /// One picture per shown value.
    pub pictures: Vec<Picture>,
}

/// One row per factor, with the number of each value below its picture.
pub fn factor_rows(title: &str, rows: &[FactorRow]) -> Canvas {
    let rows = rows.iter().map(|row| PictureRow {
        label: row.name.clone(),
        note: if row.n_values == 1 { "1 value".to_string() } else { format!("{} values", row.n_values) },
        pictures: row.pictures.clone(),
        captions: row.values.iter().map(ToString::to_string).collect(),
        space_below: 10,
    });
    picture_grid(&PictureGrid { title: title.to_string(), headers: Vec::new(), rows: rows.collect() })
}

/// At most `n_shown` of the numbers below `n_values`, evenly spread, with the first and the last among them.
pub fn evenly_spread(n_values: usize, n_shown: usize) -> Vec<usize> {
    let n_shown = n_shown.min(n_values);
    match n_shown {
        0 => Vec::new(),
        1 => vec![0],
        _ => (0..n_shown).map(|index| (index * (n_values - 1) + (n_shown - 1) / 2) / (n_shown - 1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_values_reach_from_the_first_to_the_last() {
        assert_eq!(evenly_spread(32, 5), [0, 8, 16, 23, 31]);
        assert_eq!(evenly_spread(3, 8), [0, 1, 2]);
        assert_eq!(evenly_spread(9, 1), [0]);
        assert_eq!(evenly_spread(0, 4), [0; 0]);
    }

    #[test]
    fn each_factor_has_a_row() {
        let row = FactorRow { name: "scale".to_string(), n_values: 6, values: vec![0, 5], pictures: Vec::new() };
        let one = factor_rows("", std::slice::from_ref(&row)).height();
        assert!(factor_rows("", &[row.clone(), row]).height() > one);
    }
}
