//! The `.npz` format of numpy, a zip archive of arrays, and labelled codes read from one.
//!
//! Any outside model is scored this way: it saves `codes` `[rows, latents]` and `factors` `[rows, factors]`, and may add
//! `factor_sizes`, `factor_names`, `train_rows`, `test_rows`, `log_variances` and `reconstruction_losses`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ndarray::{Array2, ArrayView1};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Error, Result};
use crate::factor_space::{Factor, FactorSpace, index_of};
use crate::labelled_codes::{Extras, LabelledCodes};
use crate::npy::{NpyArray, indices, open_file};

/// A factor whose values are not numbered from 0 would make tables of its size; real ones have far fewer values.
const MOST_VALUES: usize = 1_000_000;

/// An open archive of arrays.
pub struct Npz {
    archive: ZipArchive<BufReader<File>>,
}

impl Npz {
    /// Opens the archive at `path`. Errors of this and of the methods below do not name the path again.
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
    let mut npz = Npz::open(path)?;
    labelled_codes(&mut npz).map_err(|error| error.at(path.display()))
}

fn labelled_codes(npz: &mut Npz) -> Result<LabelledCodes> {
    let codes = table(&npz.required("codes")?, "codes")?;
    let factors = npz.required("factors")?;
    let are_whole = factors.holds_whole_numbers();
    let factors = table(&factors, "factors")?;
    let sizes = optional(npz, "factor_sizes", indices)?;
    let names = optional(npz, "factor_names", NpyArray::to_text)?;
    let named = name_factors(names, factors.ncols())?;
    let space = factor_space(&factors, are_whole, named, sizes)?;
    let extras = Extras {
        train_rows: optional(npz, "train_rows", indices)?,
        test_rows: optional(npz, "test_rows", indices)?,
        log_variances: optional(npz, "log_variances", NpyArray::to_table)?,
        reconstruction_losses: optional(npz, "reconstruction_losses", numbers)?,
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
fn name_factors(names: Option<Vec<String>>, n_factors: usize) -> Result<Vec<String>> {
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

/// A factor of size 0 in `sizes` is continuous. Without sizes, a column of a whole-number array is discrete, and so is
/// a column of floats that holds nothing but whole numbers from 0.
fn factor_space(
    factors: &Array2<f64>,
    are_whole: bool,
    names: Vec<String>,
    sizes: Option<Vec<usize>>,
) -> Result<FactorSpace> {
    if let Some(sizes) = &sizes {
        check_count("factor_sizes", sizes.len(), factors.ncols())?;
    }
    let mut named = Vec::new();
    for (position, name) in names.into_iter().enumerate() {
        let column = factors.column(position);
        let size = match &sizes {
            Some(sizes) => Some(sizes[position]).filter(|&size| size > 0),
            None if are_whole || column.iter().all(|value| value.fract() == 0.0 && *value >= 0.0) => {
                Some(column.fold(0.0_f64, |most, &value| most.max(value)) as usize + 1)
            }
            None => None,
        };
        if let Some(size) = size.filter(|&size| size > MOST_VALUES) {
            return Err(Error::new(format!("factor \"{name}\" would take {size} values"))
                .help(format!("number its values from 0 without gaps; {MOST_VALUES} is the most")));
        }
        named.push(Factor { name, size });
    }
    Ok(if is_grid(factors, &named) {
        FactorSpace::grid(named.iter().filter_map(|factor| Some((factor.name.as_str(), factor.size?))))
    } else {
        FactorSpace::sample(named)
    })
}

/// Whether every combination of values is there exactly once, in any order.
fn is_grid(factors: &Array2<f64>, named: &[Factor]) -> bool {
    let Some(sizes) = named.iter().map(|factor| factor.size).collect::<Option<Vec<usize>>>() else { return false };
    let n_combinations = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    if n_combinations != Some(factors.nrows()) {
        return false;
    }
    let mut seen = vec![false; factors.nrows()];
    factors.rows().into_iter().all(|row| match whole_values(row, &sizes) {
        Some(values) => !std::mem::replace(&mut seen[index_of(&values, &sizes)], true),
        None => false,
    })
}

/// The values of a row, where all are whole numbers within their factor's size.
fn whole_values(row: ArrayView1<f64>, sizes: &[usize]) -> Option<Vec<usize>> {
    let values = row.iter().zip(sizes).map(|(&value, &size)| {
        let fits = value.fract() == 0.0 && value >= 0.0 && value < size as f64;
        fits.then_some(value as usize)
    });
    values.collect()
}
