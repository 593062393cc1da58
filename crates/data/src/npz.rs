//! The `.npz` format of numpy, a zip archive of arrays, and labelled codes read from one.
//!
//! Any outside model is scored this way: it saves `codes` `[rows, latents]` and `factors` `[rows, factors]`, and may add
//! `factor_sizes`, `factor_names`, `train_rows`, `test_rows`, `log_variances`, `reconstruction_losses` and `jacobians`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ndarray::Array2;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::archive::write_archive;
use crate::error::{Error, Result};
use crate::factor_kinds::{FactorKinds, Stated, StatedFactor, factor_space};
use crate::labelled_codes::{Extras, LabelledCodes};
use crate::npy::{NpyArray, indices, open_file};

/// An open archive of arrays.
pub struct Npz {
    archive: ZipArchive<BufReader<File>>,
}

impl Npz {
    /// Opens the archive at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, _) = open_file(path)?;
        match ZipArchive::new(BufReader::new(file)) {
            Ok(archive) => Ok(Self { archive }),
            Err(ZipError::Io(error)) => Err(Error::new(format!("cannot be read: {error}")).at(path.display())),
            Err(error) => Err(Error::new(format!("is not a whole .npz file ({error})"))
                .at(path.display())
                .help("save it with numpy.savez; if it was copied, copy it again")),
        }
    }

    /// The names of the arrays, in order.
    pub fn names(&self) -> Vec<String> {
        self.archive.file_names().map(|name| name.strip_suffix(".npy").unwrap_or(name).to_string()).collect()
    }

    /// The array called `name`, where there is one.
    pub fn array(&mut self, name: &str) -> Result<Option<NpyArray>> {
        let place = format!("array \"{name}\"");
        match self.archive.by_name(&format!("{name}.npy")) {
            Ok(entry) => {
                let n_bytes = entry.size();
                NpyArray::read(entry, n_bytes).map(Some).map_err(|error| error.at(place))
            }
            Err(ZipError::FileNotFound) => Ok(None),
            Err(error) => Err(Error::new(format!("cannot be read: {error}")).at(place)),
        }
    }

    /// The array called `name`; an error that says what there is where it is missing.
    pub fn required(&mut self, name: &str) -> Result<NpyArray> {
        self.array(name)?.ok_or_else(|| {
            let names = self.names();
            let found = if names.is_empty() { "nothing".to_string() } else { names.join(", ") };
            Error::new(format!("there is no array \"{name}\"; found {found}"))
        })
    }
}

/// Reads labelled codes from a `.npz` file.
pub fn read_labelled_codes(path: &Path) -> Result<LabelledCodes> {
    read_labelled_codes_as(path, &FactorKinds::default())
}

/// Reads labelled codes from a `.npz` file, with factors of the kinds that the user says.
pub fn read_labelled_codes_as(path: &Path, kinds: &FactorKinds) -> Result<LabelledCodes> {
    let mut npz = Npz::open(path)?;
    labelled_codes(&mut npz, kinds).map_err(|error| error.at(path.display()))
}

fn labelled_codes(npz: &mut Npz, kinds: &FactorKinds) -> Result<LabelledCodes> {
    let codes = table(&npz.required("codes")?, "codes")?;
    let stored = npz.required("factors")?;
    let mut factors = table(&stored, "factors")?;
    let sizes = optional(npz, "factor_sizes", indices)?;
    let names = optional(npz, "factor_names", NpyArray::to_text)?;
    let named = name_factors(names, factors.ncols())?;
    let stated = stated_factors(&stored, named, sizes.as_deref())?;
    let space = factor_space(&mut factors, stated, kinds)?;
    let extras = Extras {
        train_rows: optional(npz, "train_rows", indices)?,
        test_rows: optional(npz, "test_rows", indices)?,
        log_variances: optional(npz, "log_variances", NpyArray::to_table)?,
        reconstruction_losses: optional(npz, "reconstruction_losses", numbers)?,
        jacobians: optional(npz, "jacobians", NpyArray::to_tables)?,
        text_factors: Vec::new(),
    };
    LabelledCodes::new(codes, factors, space, extras)
}

fn table(array: &NpyArray, name: &str) -> Result<Array2<f64>> {
    array.to_table().map_err(|error| error.at(format!("array \"{name}\"")))
}

fn numbers(array: &NpyArray) -> Result<Vec<f64>> {
    match array.shape() {
        [_] => array.to_f64(),
        shape => Err(Error::new(format!("wanted one axis of numbers, found shape {shape:?}"))),
    }
}

fn optional<T>(npz: &mut Npz, name: &str, decode: impl Fn(&NpyArray) -> Result<T>) -> Result<Option<T>> {
    let Some(array) = npz.array(name)? else { return Ok(None) };
    decode(&array).map(Some).map_err(|error| error.at(format!("array \"{name}\"")))
}

/// The names as given, or `factor_0`, `factor_1` and so on.
pub(crate) fn name_factors(names: Option<Vec<String>>, n_factors: usize) -> Result<Vec<String>> {
    let Some(names) = names else { return Ok((0..n_factors).map(|factor| format!("factor_{factor}")).collect()) };
    check_count("factor_names", names.len(), n_factors)?;
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(Error::new(format!("two factors are called \"{name}\""))),
        None => Ok(names),
    }
}

fn check_count(name: &str, found: usize, n_factors: usize) -> Result<()> {
    if found == n_factors {
        return Ok(());
    }
    Err(Error::new(format!("{name} has {found} entries but factors have {n_factors} columns")))
}

/// Writes to `to` all that the archive at `from` holds, with other codes in place of its own.
pub fn write_with_codes(from: &Path, to: &Path, codes: &Array2<f64>) -> Result<()> {
    let mut npz = Npz::open(from)?;
    npz.required("codes").map_err(|error| error.at(from.display()))?;
    write_archive(to, |archive| archive.copy_but(&mut npz.archive, "codes", codes))
}

/// What the file says of each factor: a factor of size 0 in `sizes` is continuous, and without sizes a whole-number array
/// makes its factors discrete.
pub(crate) fn stated_factors(
    stored: &NpyArray,
    names: Vec<String>,
    sizes: Option<&[usize]>,
) -> Result<Vec<StatedFactor>> {
    if let Some(sizes) = sizes {
        check_count("factor_sizes", sizes.len(), names.len())?;
    }
    let stated = |position: usize| match sizes.map(|sizes| sizes[position]) {
        Some(0) => Stated::Continuous,
        Some(size) => Stated::Size(size),
        None if stored.holds_whole_numbers() => Stated::Whole,
        None => Stated::Nothing,
    };
    Ok(names.into_iter().enumerate().map(|(position, name)| (name, stated(position))).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::NamedTempFile;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::factor_space::{Factor, FactorSpace};
    use crate::npy::write_header;

    /// An archive of arrays, each with its name, numpy's type, shape and bytes.
    fn archive(arrays: &[(&str, &str, &[usize], Vec<u8>)]) -> NamedTempFile {
        let mut zip = ZipWriter::new(NamedTempFile::new().unwrap());
        for (name, descr, shape, data) in arrays {
            zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            write_header(&mut zip, descr, shape).unwrap();
            zip.write_all(data).unwrap();
        }
        zip.finish().unwrap()
    }

    fn floats(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn wholes(values: &[i64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// Four codes of one latent, and these arrays.
    fn read(others: &[(&str, &str, &[usize], Vec<u8>)]) -> Result<LabelledCodes> {
        let mut arrays = vec![("codes", "<f8", [4, 1].as_slice(), floats(&[0.5, 1.5, 2.5, 3.5]))];
        arrays.extend_from_slice(others);
        read_labelled_codes(archive(&arrays).path())
    }

    fn message(others: &[(&str, &str, &[usize], Vec<u8>)]) -> String {
        let message = read(others).unwrap_err().to_string();
        message.split_once(": ").unwrap().1.to_string()
    }

    #[test]
    fn whole_factors_that_meet_every_combination_are_a_grid() {
        let factors = ("factors", "<i8", [4, 2].as_slice(), wholes(&[1, 1, 0, 0, 0, 1, 1, 0]));
        let names = ("factor_names", "|S1", [2].as_slice(), b"xy".to_vec());
        let data = read(&[factors.clone(), names]).unwrap();
        assert_eq!(data.codes().column(0).to_vec(), [0.5, 1.5, 2.5, 3.5]);
        assert_eq!(data.space(), &FactorSpace::grid([("x", 2), ("y", 2)]));
        // With a third value of the first factor, two combinations are missing.
        let sizes = ("factor_sizes", "<i8", [2].as_slice(), wholes(&[3, 2]));
        let space = read(&[factors, sizes]).unwrap().space().clone();
        assert!(space.grid_sizes().is_err());
        assert_eq!(space.factors()[0], Factor { name: "factor_0".to_string(), size: Some(3) });
    }

    #[test]
    fn a_combination_that_comes_twice_is_no_grid() {
        let factors = ("factors", "<i8", [4, 2].as_slice(), wholes(&[1, 1, 0, 0, 0, 1, 0, 1]));
        assert!(read(&[factors]).unwrap().space().grid_sizes().is_err());
    }

    #[test]
    fn floats_with_fractions_are_continuous() {
        let factors = ("factors", "<f8", [4, 2].as_slice(), floats(&[0.0, 0.1, 1.0, 0.2, 2.0, 0.3, 3.0, 0.4]));
        let data = read(&[factors]).unwrap();
        assert_eq!(data.space().factors().iter().map(|factor| factor.size).collect::<Vec<_>>(), [Some(4), None]);
    }

    #[test]
    fn optional_arrays_are_taken_along() {
        let data = read(&[
            ("factors", "<i8", [4, 1].as_slice(), wholes(&[0, 1, 2, 3])),
            ("train_rows", "<i8", [2].as_slice(), wholes(&[0, 2])),
            ("test_rows", "<i8", [1].as_slice(), wholes(&[3])),
            ("log_variances", "<f8", [4, 1].as_slice(), floats(&[0.0, 1.0, 2.0, 3.0])),
            ("reconstruction_losses", "<f8", [4].as_slice(), floats(&[9.0, 8.0, 7.0, 6.0])),
            ("jacobians", "<f8", [1, 3, 1].as_slice(), floats(&[0.5, 1.5, 2.5])),
        ])
        .unwrap();
        let extras = data.extras();
        assert_eq!((extras.train_rows.as_deref(), extras.test_rows.as_deref()), (Some(&[0, 2][..]), Some(&[3][..])));
        assert_eq!(extras.log_variances.as_ref().unwrap()[[3, 0]], 3.0);
        assert_eq!(extras.reconstruction_losses.as_ref().unwrap()[0], 9.0);
        assert_eq!(extras.jacobians.as_ref().unwrap()[[0, 2, 0]], 2.5);
    }

    #[test]
    fn bad_archives_are_refused_in_one_clear_line() {
        let whole = |values: &[i64]| ("factors", "<i8", [4, 1].as_slice(), wholes(values));
        assert_eq!(message(&[]), "there is no array \"factors\"; found codes");
        let pickled = ("factors", "|O", [4, 1].as_slice(), vec![0; 9]);
        assert_eq!(message(&[pickled]), "array \"factors\": pickled objects are not read; save plain arrays");
        let flat = ("factors", "<i8", [4].as_slice(), wholes(&[0, 1, 2, 3]));
        assert_eq!(message(&[flat]), "array \"factors\": wanted a table with two axes, found shape [4]");
        let short = ("factors", "<i8", [3, 1].as_slice(), wholes(&[0, 1, 2]));
        assert_eq!(message(&[short]), "codes have 4 rows but factors have 3");
        assert!(message(&[whole(&[0, 1, 2, -1])]).starts_with("factor \"factor_0\" is -1 at row 3"));
        assert!(message(&[whole(&[0, 1, 2, i64::MAX])]).contains("number its values from 0 without gaps"));
        let huge = ("factors", "<f8", [4, 1].as_slice(), floats(&[0.0, 1.0, 2.0, 1e300]));
        assert!(message(&[huge]).contains("number its values from 0 without gaps"));
        let nan = ("factors", "<f8", [4, 1].as_slice(), floats(&[0.0, f64::NAN, 2.0, 3.0]));
        assert!(message(&[nan]).starts_with("factors hold NaN at row 1, column 0"));
        let two_names = ("factor_names", "|S1", [2].as_slice(), b"xy".to_vec());
        assert_eq!(
            message(&[whole(&[0, 1, 2, 3]), two_names]),
            "factor_names has 2 entries but factors have 1 columns"
        );
        let rows = ("train_rows", "<i8", [1].as_slice(), wholes(&[4]));
        assert_eq!(message(&[whole(&[0, 1, 2, 3]), rows]), "train_rows names row 4 but there are 4 rows");
    }

    #[test]
    fn codes_are_replaced_and_all_else_is_kept() {
        let factors = ("factors", "<i8", [2, 1].as_slice(), wholes(&[1, 0]));
        let notes = ("notes", "|u1", [3].as_slice(), vec![7, 8, 9]);
        let file = archive(&[notes, ("codes", "<f4", [2, 1].as_slice(), vec![0; 8]), factors]);
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new.npz");
        write_with_codes(file.path(), &to, &ndarray::array![[0.1, 2.0], [0.3, 4.0]]).unwrap();
        assert_eq!(read_labelled_codes(&to).unwrap().codes(), &ndarray::array![[0.1, 2.0], [0.3, 4.0]]);
        let mut npz = Npz::open(&to).unwrap();
        assert_eq!(npz.names(), ["notes", "codes", "factors"]);
        assert_eq!(npz.required("notes").unwrap().into_u8().unwrap(), [7, 8, 9]);
        // In place of itself, too.
        write_with_codes(&to, &to, &ndarray::array![[5.0], [6.0]]).unwrap();
        assert_eq!(read_labelled_codes(&to).unwrap().n_latents(), 1);
        let none = archive(&[]);
        assert!(write_with_codes(none.path(), &to, &ndarray::array![[5.0]]).is_err());
    }

    #[test]
    fn files_that_are_no_archive_are_refused() {
        let missing = read_labelled_codes(Path::new("/no/such.npz")).unwrap_err().to_string();
        assert_eq!(missing, "there is no file /no/such.npz");
        let mut text = NamedTempFile::new().unwrap();
        text.write_all(b"latent,value").unwrap();
        let message = read_labelled_codes(text.path()).unwrap_err().to_string();
        assert!(message.contains("is not a whole .npz file"), "{message}");
        let folder = read_labelled_codes(Path::new("/")).unwrap_err().to_string();
        assert!(folder.starts_with("/: cannot be read"), "{folder}");
    }
}
