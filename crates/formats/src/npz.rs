//! The `.npz` format of numpy, a zip archive of arrays, and labelled codes read from one.
//!
//! Any outside model is scored this way: it saves `codes` `[rows, latents]` and `factors` `[rows, factors]`, and may add
//! `factor_sizes`, `factor_names`, `train_rows`, `test_rows`, `log_variances`, `reconstruction_losses`,
//! `kl_divergences`, `jacobians` and `text_factors`.

use std::path::Path;

use ndarray::Array2;
use unbraid_data::error::{Error, Result};
use unbraid_data::factor_array::{check_count, factor_array, rows_and_factors};
use unbraid_data::factor_kinds::{FactorKinds, factor_space};
pub use unbraid_data::files::npz::Npz;
use unbraid_data::labelled_codes::{Extras, LabelledCodes, check_sizes};
use unbraid_data::npy::{Kind, NpyArray, indices};
use unbraid_data::words::counted;

use crate::archive::write_archive;
use crate::memory_limit::MemoryLimit;

/// The arrays that may stand beside codes and factors.
const OPTIONAL: [&str; 9] = [
    "factor_sizes",
    "factor_names",
    "text_factors",
    "train_rows",
    "test_rows",
    "log_variances",
    "reconstruction_losses",
    "kl_divergences",
    "jacobians",
];

/// Reads labelled codes from a `.npz` file.
pub fn read_labelled_codes(path: &Path) -> Result<LabelledCodes> {
    read_labelled_codes_as(path, &FactorKinds::default(), MemoryLimit::default())
}

/// Reads labelled codes from a `.npz` file, with factors of the kinds that the user says.
pub fn read_labelled_codes_as(path: &Path, kinds: &FactorKinds, limit: MemoryLimit) -> Result<LabelledCodes> {
    let mut npz = Npz::open(path)?;
    labelled_codes(&mut npz, kinds, limit).map_err(|error| error.at(path.display()))
}

fn labelled_codes(npz: &mut Npz, kinds: &FactorKinds, limit: MemoryLimit) -> Result<LabelledCodes> {
    check_announced(npz, limit)?;
    let codes = npz.required("codes")?.to_table().map_err(|error| error.at("array \"codes\""))?;
    let stored = npz.required("factors")?;
    let sizes = optional(npz, "factor_sizes", indices)?;
    let names = optional(npz, "factor_names", NpyArray::to_text)?;
    let mut factors = factor_array(&stored, names, sizes.as_deref(), kinds)?;
    let space = factor_space(&mut factors.values, factors.stated, kinds)?;
    let stated_texts = optional(npz, "text_factors", indices)?;
    let extras = Extras {
        train_rows: optional(npz, "train_rows", indices)?,
        test_rows: optional(npz, "test_rows", indices)?,
        log_variances: optional(npz, "log_variances", NpyArray::to_table)?,
        reconstruction_losses: optional(npz, "reconstruction_losses", numbers)?,
        kl_divergences: optional(npz, "kl_divergences", numbers)?,
        jacobians: optional(npz, "jacobians", NpyArray::to_tables)?,
        text_factors: stated_texts.unwrap_or(factors.texts),
        ..Extras::default()
    };
    LabelledCodes::new(codes, factors.values, space, extras)
}

/// Compares the shapes that the arrays announce with each other and with the limit, before any of them is read.
fn check_announced(npz: &mut Npz, limit: MemoryLimit) -> Result<()> {
    let codes = npz.announced("codes")?.ok_or_else(|| npz.lacks("codes"))?;
    let factors = npz.announced("factors")?.ok_or_else(|| npz.lacks("factors"))?;
    let at = |name: &'static str| move |error: Error| error.at(format!("array \"{name}\""));
    let (n_rows, n_latents) = rows_and_latents(&codes.shape).map_err(at("codes"))?;
    let (n_factor_rows, n_factors) = rows_and_factors(&factors.shape).map_err(at("factors"))?;
    check_sizes((n_rows, n_latents), (n_factor_rows, n_factors))?;
    let mut memory = codes.memory() + factors.memory();
    for name in OPTIONAL {
        let Some(array) = npz.announced(name)? else { continue };
        memory += array.memory();
        match (name, array.shape.as_slice()) {
            ("factor_sizes" | "factor_names", &[n_entries]) => check_count(name, n_entries, n_factors)?,
            ("log_variances" | "reconstruction_losses" | "kl_divergences", &[found, ..]) if found != n_rows => {
                let rows = counted(found, "row");
                return Err(Error::new(format!("{name} have {rows} but codes have {n_rows}")));
            }
            ("log_variances", &[_, found]) | ("jacobians", &[_, _, found]) if found != n_latents => {
                let latents = counted(found, "latent");
                return Err(Error::new(format!("{name} are of {latents} but codes have {n_latents}")));
            }
            _ => {}
        }
    }
    limit.check(memory)
}

/// How many rows and latents codes of this shape have.
pub(crate) fn rows_and_latents(shape: &[usize]) -> Result<(usize, usize)> {
    match *shape {
        [n_rows, n_latents] => Ok((n_rows, n_latents)),
        [_] => Err(Error::new(format!("wanted a table with two axes, rows and latents, found shape {shape:?}"))
            .help("where there is one latent, save codes[:, None]")),
        _ => Err(Error::new(format!("wanted a table with two axes, rows and latents, found shape {shape:?}"))),
    }
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

/// Writes to `to` all that the archive at `from` holds, with other codes in place of its own, and these tables beside them;
/// but what is left out.
pub fn write_with_codes(
    from: &Path,
    to: &Path,
    codes: &Array2<f64>,
    tables: &[(&str, &Array2<f64>)],
    left_out: &[&str],
) -> Result<()> {
    let mut npz = Npz::open(from)?;
    npz.required("codes").map_err(|error| error.at(from.display()))?;
    let tables: Vec<(&str, &Array2<f64>)> = std::iter::once(("codes", codes)).chain(tables.iter().copied()).collect();
    write_archive(to, |archive| archive.copy_but(npz.archive(), &tables, left_out))
}

/// Refuses whole numbers in an array that 64-bit floats, as which it was read, do not tell apart.
pub fn check_exact(path: &Path, name: &str, values: &Array2<f64>) -> Result<()> {
    let announced = Npz::open(path)?.announced(name)?;
    let is_whole = announced.is_some_and(|array| matches!(array.kind, Kind::Signed | Kind::Unsigned));
    match values.iter().find(|value| is_whole && value.abs() >= MOST_EXACT) {
        None => Ok(()),
        Some(value) => Err(Error::new(format!(
            "{}: array \"{name}\" has the whole number {value}, and 64-bit floats tell those below 2^53 apart",
            path.display()
        ))
        .help("save the array as float64, or in a smaller unit")),
    }
}

/// From here on 64-bit floats skip whole numbers: 2^53.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a table that may stand beside codes of this shape in an `.npz` file, where there is one; it must have that shape.
pub fn read_table_beside(path: &Path, name: &str, shape: (usize, usize)) -> Result<Option<Array2<f64>>> {
    let mut npz = Npz::open(path)?;
    let read = |npz: &mut Npz| -> Result<Option<Array2<f64>>> {
        let Some(announced) = npz.announced(name)? else { return Ok(None) };
        // Before it is read: what is larger than the codes could take any memory.
        if announced.shape != [shape.0, shape.1] {
            let (found, (rows, latents)) = (announced.shape, shape);
            let message =
                format!("array \"{name}\" has shape {found:?}, but codes have {rows} rows and {latents} latents");
            return Err(Error::new(message));
        }
        optional(npz, name, NpyArray::to_table)
    };
    read(&mut npz).map_err(|error| error.at(path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::NamedTempFile;
    use unbraid_data::factor_space::{Factor, FactorSpace};
    use unbraid_data::npy::write_header;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

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
    fn whole_numbers_below_0_are_continuous() {
        let factors = ("factors", "<i8", [4, 2].as_slice(), wholes(&[-1, 0, 0, 1, 1, 2, 0, 0]));
        let data = read(&[factors]).unwrap();
        assert_eq!(data.space().factors().iter().map(|factor| factor.size).collect::<Vec<_>>(), [None, Some(3)]);
    }

    /// Texts as numpy stores them, four bytes a letter.
    fn texts(width: usize, texts: &[&str]) -> Vec<u8> {
        let padded = texts.iter().flat_map(|text| text.chars().chain(std::iter::repeat('\0')).take(width));
        padded.flat_map(|letter| u32::from(letter).to_le_bytes()).collect()
    }

    #[test]
    fn text_is_numbered_in_sorted_order_and_numbers_beside_it_stay_numbers() {
        // What numpy makes of a table of names, sizes and angles.
        let cells = ["heart", "9", "0.5", "square", "10", "1.5", "ball", "9", "-1", "heart", "0", "2"];
        let data = read(&[("factors", "<U6", [4, 3].as_slice(), texts(6, &cells))]).unwrap();
        let columns: Vec<Vec<f64>> = data.factors().columns().into_iter().map(|column| column.to_vec()).collect();
        assert_eq!(columns[0], [1.0, 2.0, 0.0, 1.0]);
        assert_eq!(columns[1], [9.0, 10.0, 9.0, 0.0]);
        assert_eq!(columns[2], [0.5, 1.5, -1.0, 2.0]);
        let sizes: Vec<_> = data.space().factors().iter().map(|factor| factor.size).collect();
        assert_eq!(sizes, [Some(3), Some(11), None]);
        assert_eq!(data.extras().text_factors, [0]);
    }

    #[test]
    fn one_factor_may_be_an_array_of_one_axis() {
        let data = read(&[("factors", "|S2", [4].as_slice(), b"b\0aab\0c\0".to_vec())]).unwrap();
        assert_eq!(data.factors().column(0).to_vec(), [1.0, 0.0, 1.0, 2.0]);
        let data = read(&[("factors", "<i8", [4].as_slice(), wholes(&[3, 0, 1, 2]))]).unwrap();
        assert_eq!((data.n_factors(), data.space().grid_sizes().unwrap()), (1, vec![4]));
        assert!(data.extras().text_factors.is_empty());
    }

    #[test]
    fn text_is_discrete_whatever_is_said() {
        let letters = || ("factors", "|S1", [4, 1].as_slice(), b"abca".to_vec());
        let continuous = ("factor_sizes", "<i8", [1].as_slice(), wholes(&[0]));
        assert!(message(&[letters(), continuous]).starts_with("factor \"factor_0\" is called continuous, but holds"));
        let few = ("factor_sizes", "<i8", [1].as_slice(), wholes(&[2]));
        assert!(message(&[letters(), few]).starts_with("factor \"factor_0\" is 2 at row 2"));
        let more = ("factor_sizes", "<i8", [1].as_slice(), wholes(&[7]));
        assert_eq!(read(&[letters(), more]).unwrap().space().factors()[0].size, Some(7));
        let codes = ("codes", "|S1", [4, 1].as_slice(), b"abca".to_vec());
        let error = read_labelled_codes(archive(&[codes, letters()]).path()).unwrap_err().to_string();
        assert!(error.ends_with("array \"codes\": wanted numbers, found text"), "{error}");
    }

    #[test]
    fn numbers_that_stand_for_text_may_be_named() {
        let factors = ("factors", "<i8", [4, 2].as_slice(), wholes(&[0, 0, 0, 1, 1, 0, 1, 1]));
        let named = ("text_factors", "<i8", [1].as_slice(), wholes(&[1]));
        assert_eq!(read(&[factors.clone(), named]).unwrap().extras().text_factors, [1]);
        let wrong = ("text_factors", "<i8", [1].as_slice(), wholes(&[2]));
        assert_eq!(message(&[factors, wrong]), "text_factors names factor 2, but there are 2 factors");
    }

    #[test]
    fn shapes_are_compared_before_anything_is_read() {
        // Neither array could be read: their values are missing.
        let broken = |name: &'static str, shape: &'static [usize]| (name, "<f8", shape, Vec::new());
        let factors = || ("factors", "|u1", [4, 1].as_slice(), vec![0, 1, 2, 3]);
        let cases = [
            (vec![factors(), broken("log_variances", &[0, 1])], "log_variances have 0 rows but codes have 4"),
            (vec![factors(), broken("reconstruction_losses", &[0])], "reconstruction_losses have 0 rows but codes"),
            (vec![factors(), broken("jacobians", &[0, 9, 3])], "jacobians are of 3 latents but codes have 1"),
            (vec![broken("factors", &[0, 1])], "codes have 4 rows but factors have 0"),
        ];
        for (arrays, wanted) in cases {
            assert!(message(&arrays).starts_with(wanted), "{wanted}");
        }
    }

    #[test]
    fn arrays_without_rows_are_refused_whatever_their_other_sizes() {
        for (codes, factors) in [([0, 1], [0, 1 << 59]), ([0, 1 << 59], [0, 1]), ([1 << 59, 0], [1 << 59, 0])] {
            let file = archive(&[("codes", "<f8", &codes, Vec::new()), ("factors", "|u1", &factors, Vec::new())]);
            let message = read_labelled_codes(file.path()).unwrap_err().to_string();
            assert!(message.contains("wanted at least one row and latent"), "{message}");
        }
    }

    #[test]
    fn arrays_above_the_limit_are_refused_unread() {
        // A million rows: 8 MB of codes are 16 MB while they are read, 1 MB of factors 9 MB.
        let n_rows = 1_000_000;
        let shape = [n_rows, 1];
        let codes = ("codes", "<f8", shape.as_slice(), vec![0; 8 * n_rows]);
        let file = archive(&[codes, ("factors", "|u1", shape.as_slice(), vec![0; n_rows])]);
        let read = |gigabytes: f64| {
            read_labelled_codes_as(file.path(), &FactorKinds::default(), MemoryLimit::gigabytes(gigabytes).unwrap())
        };
        let message = read(0.01).unwrap_err().to_string();
        assert!(message.contains(": would take 25 MB of memory, above the limit of 10 MB\n"), "{message}");
        assert!(message.ends_with("`--memory-limit 0.2`"), "{message}");
        assert_eq!(read(0.2).unwrap().n_rows(), n_rows);
    }

    #[test]
    fn entries_need_no_ending() {
        let mut zip = ZipWriter::new(NamedTempFile::new().unwrap());
        for (name, descr, data) in [("codes", "<f8", floats(&[0.5, 1.5])), ("factors", "|u1", vec![1, 0])] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            write_header(&mut zip, descr, &[2, 1]).unwrap();
            zip.write_all(&data).unwrap();
        }
        let file = zip.finish().unwrap();
        assert_eq!(read_labelled_codes(file.path()).unwrap().codes().column(0).to_vec(), [0.5, 1.5]);
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new.npz");
        write_with_codes(file.path(), &to, &ndarray::array![[5.0], [6.0]], &[], &[]).unwrap();
        assert_eq!(read_labelled_codes(&to).unwrap().codes().column(0).to_vec(), [5.0, 6.0]);
        let mut zip = ZipWriter::new_append(file).unwrap();
        zip.start_file("factor_names", SimpleFileOptions::default()).unwrap();
        zip.write_all(b"shape").unwrap();
        let message = read_labelled_codes(zip.finish().unwrap().path()).unwrap_err().to_string();
        assert!(message.ends_with("array \"factor_names\": is not an array of numpy (.npy)"), "{message}");
    }

    #[test]
    fn a_cut_archive_is_called_cut() {
        let shape = [4, 1].as_slice();
        let file = archive(&[("codes", "<f8", shape, vec![0; 32]), ("factors", "|u1", shape, vec![0, 1, 2, 3])]);
        let whole = std::fs::read(file.path()).unwrap();
        let message = |bytes: &[u8]| {
            std::fs::write(file.path(), bytes).unwrap();
            read_labelled_codes(file.path()).unwrap_err().to_string()
        };
        for n_bytes in [whole.len() - 1, whole.len() - 30, whole.len() / 2, 10, 0] {
            let message = message(&whole[..n_bytes]);
            assert!(message.contains("is cut short or damaged") || message.contains("is not a whole"), "{message}");
        }
        let mut changed = whole.clone();
        // The last byte of the first array, just before the next entry.
        let next = whole.windows(4).rposition(|bytes| bytes == b"PK\x03\x04").unwrap();
        changed[next - 1] ^= 1;
        let message = message(&changed);
        assert!(message.contains("array \"codes\": ") && message.contains("cut short or damaged"), "{message}");
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
        assert!(message(&[pickled]).starts_with("array \"factors\": pickled objects are not read"));
        let deep = ("factors", "<i8", [4, 1, 1].as_slice(), wholes(&[0, 1, 2, 3]));
        assert!(message(&[deep]).starts_with("array \"factors\": wanted a table with two axes"));
        let short = ("factors", "<i8", [3, 1].as_slice(), wholes(&[0, 1, 2]));
        assert_eq!(message(&[short]), "codes have 4 rows but factors have 3");
        assert!(message(&[whole(&[0, 1, 2, i64::MAX])]).contains("number its values from 0 without gaps"));
        let huge = ("factors", "<f8", [4, 1].as_slice(), floats(&[0.0, 1.0, 2.0, 1e300]));
        assert!(message(&[huge]).contains("number its values from 0 without gaps"));
        let nan = ("factors", "<f8", [4, 1].as_slice(), floats(&[0.0, f64::NAN, 2.0, 3.0]));
        assert!(message(&[nan]).starts_with("factors hold NaN at row 1, column 0"));
        let two_names = ("factor_names", "|S1", [2].as_slice(), b"xy".to_vec());
        assert_eq!(message(&[whole(&[0, 1, 2, 3]), two_names]), "factor_names has 2 entries but factors have 1 column");
        let rows = ("train_rows", "<i8", [1].as_slice(), wholes(&[4]));
        assert_eq!(message(&[whole(&[0, 1, 2, 3]), rows]), "train_rows names row 4, but codes have 4 rows");
    }

    #[test]
    fn codes_are_replaced_and_all_else_is_kept() {
        let factors = ("factors", "<i8", [2, 1].as_slice(), wholes(&[1, 0]));
        let notes = ("notes", "|u1", [3].as_slice(), vec![7, 8, 9]);
        let file = archive(&[notes, ("codes", "<f4", [2, 1].as_slice(), vec![0; 8]), factors]);
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new.npz");
        write_with_codes(file.path(), &to, &ndarray::array![[0.1, 2.0], [0.3, 4.0]], &[], &[]).unwrap();
        assert_eq!(read_labelled_codes(&to).unwrap().codes(), &ndarray::array![[0.1, 2.0], [0.3, 4.0]]);
        let mut npz = Npz::open(&to).unwrap();
        assert_eq!(npz.names(), ["notes", "codes", "factors"]);
        assert_eq!(npz.required("notes").unwrap().into_u8().unwrap(), [7, 8, 9]);
        // In place of itself, too.
        write_with_codes(&to, &to, &ndarray::array![[5.0], [6.0]], &[], &[]).unwrap();
        assert_eq!(read_labelled_codes(&to).unwrap().n_latents(), 1);
        let none = archive(&[]);
        assert!(write_with_codes(none.path(), &to, &ndarray::array![[5.0]], &[], &[]).is_err());
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
        assert!(folder.starts_with("/ is a folder"), "{folder}");
    }
}
