//! Labelled codes written to a `.npz` file, with all that belongs to them, as [`crate::npz`] reads it.

use std::io::Write;
use std::path::Path;

use ndarray::Array2;
use unbraid_data::error::Result;
use unbraid_data::labelled_codes::LabelledCodes;

use crate::archive::{Archive, write_archive};

/// Writes `codes` `[rows, latents]` beside the factors of `data` and what else it has, and these tables.
pub fn write_labelled_codes(
    path: &Path,
    codes: &Array2<f64>,
    data: &LabelledCodes,
    tables: &[(&str, &Array2<f64>)],
) -> Result<()> {
    write_archive(path, |archive| {
        write_arrays(archive, codes, data)?;
        tables.iter().try_for_each(|(name, table)| archive.add_table(name, table))
    })
}

/// Writes codes that a model made, with all that belongs to them, and beside them what their images are called (`names`), where
/// they have names.
pub fn write_encoded(path: &Path, data: &LabelledCodes, names: &[String]) -> Result<()> {
    write_archive(path, |archive| {
        write_arrays(archive, data.codes(), data)?;
        if names.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        archive.add_texts("names", &names)
    })
}

fn write_arrays(archive: &mut Archive<'_>, codes: &Array2<f64>, data: &LabelledCodes) -> std::io::Result<()> {
    let extras = data.extras();
    archive.add_table("codes", codes)?;
    archive.add_table("factors", data.factors())?;
    archive.add_factor_space(data.space())?;
    if !extras.text_factors.is_empty() {
        archive.add_whole_numbers("text_factors", extras.text_factors.iter().copied())?;
    }
    for (name, rows) in [("train_rows", &extras.train_rows), ("test_rows", &extras.test_rows)] {
        if let Some(rows) = rows {
            archive.add_whole_numbers(name, rows.iter().copied())?;
        }
    }
    if let Some(log_variances) = &extras.log_variances {
        archive.add_table("log_variances", log_variances)?;
    }
    for (name, column) in
        [("reconstruction_losses", &extras.reconstruction_losses), ("kl_divergences", &extras.kl_divergences)]
    {
        let Some(column) = column else { continue };
        archive.begin(name, "<f8", &[column.len()])?;
        column.iter().try_for_each(|value| archive.zip.write_all(&value.to_le_bytes()))?;
    }
    if let Some(jacobians) = &extras.jacobians {
        archive.begin("jacobians", "<f8", jacobians.shape())?;
        jacobians.iter().try_for_each(|value| archive.zip.write_all(&value.to_le_bytes()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array3, array};
    use unbraid_data::factor_space::{Factor, FactorSpace};
    use unbraid_data::labelled_codes::Extras;

    use super::*;
    use crate::npz::{read_labelled_codes, read_table_beside};

    #[test]
    fn all_that_is_written_is_read() {
        let extras = Extras {
            train_rows: Some(vec![0, 2]),
            test_rows: Some(vec![1]),
            log_variances: Some(array![[0.1], [0.2], [0.3]]),
            reconstruction_losses: Some(vec![3.0, 2.0, 1.0]),
            kl_divergences: Some(vec![0.5, 0.25, 4.0]),
            jacobians: Some(Array3::ones((2, 4, 1))),
            text_factors: vec![0],
            ..Extras::default()
        };
        let factor = |name: &str, size| Factor { name: name.to_string(), size };
        let space = FactorSpace::sample(vec![factor("größe", Some(4)), factor("angle", None)]);
        let factors = array![[0.0, 1.0], [3.0, 0.0], [1.0, 2.0]];
        let data = LabelledCodes::new(array![[1.0], [2.0], [3.0]], factors, space, extras).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codes.npz");
        let codes = array![[0.5], [0.25], [-1.0]];
        write_labelled_codes(&path, &codes, &data, &[("beside", &codes)]).unwrap();
        let read = read_labelled_codes(&path).unwrap();
        assert_eq!((read.codes(), read.factors(), read.space()), (&codes, data.factors(), data.space()));
        let (found, wanted) = (read.extras(), data.extras());
        assert_eq!((&found.train_rows, &found.test_rows), (&wanted.train_rows, &wanted.test_rows));
        assert_eq!(found.log_variances, wanted.log_variances);
        assert_eq!(found.kl_divergences, wanted.kl_divergences);
        assert_eq!(found.reconstruction_losses, wanted.reconstruction_losses);
        assert_eq!((&found.jacobians, &found.text_factors), (&wanted.jacobians, &wanted.text_factors));
        assert_eq!(read_table_beside(&path, "beside", (3, 1)).unwrap(), Some(codes));
        // Without extras nothing stands in their place.
        let plain = LabelledCodes::new(
            array![[1.0]],
            array![[0.5]],
            FactorSpace::sample(vec![factor("x", None)]),
            Extras::default(),
        )
        .unwrap();
        write_labelled_codes(&path, plain.codes(), &plain, &[]).unwrap();
        assert_eq!(read_table_beside(&path, "beside", (3, 1)).unwrap(), None);
        assert!(read_labelled_codes(&path).unwrap().extras().train_rows.is_none());
    }
}
