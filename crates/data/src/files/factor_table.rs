//! Factors of pictures from a CSV file, whose column `file` names each picture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use csv::StringRecord;

use crate::error::{Error, Result};
use crate::factor_kinds::{Stated, number_texts};
use crate::file_errors::{cannot_read, check_is_file};
use crate::words::shortened;

/// Letters of a name or of the headings that are told.
const MOST_LETTERS: usize = 300;

/// One column of the file.
pub struct FactorColumn {
    /// Its heading.
    pub name: String,
    /// What is known of it.
    pub stated: Stated,
    /// The value of each picture, in the order of the pictures.
    pub values: Vec<f64>,
    /// Whether it was text, whose distinct values are numbered in sorted order.
    pub is_text: bool,
}

/// The factors of the pictures called `names`, each of which must have a row.
pub fn read_factor_table(path: &Path, names: &[String]) -> Result<Vec<FactorColumn>> {
    check_is_file(path)?;
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    if path.is_dir() {
        return Err(cannot_read(path, &ErrorKind::IsADirectory.into()));
    }
    read(file, names).map_err(|error| error.at(path.display()))
}

fn read(file: File, names: &[String]) -> Result<Vec<FactorColumn>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let headings = reader.headers().map_err(|error| broken(&error))?.clone();
    let Some(file_column) = headings.iter().position(|heading| heading == "file") else {
        let found = headings.iter().collect::<Vec<_>>().join(", ");
        return Err(Error::new(format!("there is no column \"file\"; found {}", shortened(&found, MOST_LETTERS)))
            .help("wanted a first line like file,angle,size"));
    };
    let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mut rows: BTreeMap<String, StringRecord> = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|error| broken(&error))?;
        let name = row.get(file_column).unwrap_or_default().replace('\\', "/");
        let line = row.position().map_or(0, csv::Position::line);
        if !known.contains(name.as_str()) {
            let name = shortened(&name, MOST_LETTERS);
            return Err(Error::new(format!("line {line} names \"{name}\", and there is no such picture"))
                .help("wanted paths from the folder, like cat/one.png"));
        }
        if rows.insert(name.clone(), row).is_some() {
            return Err(
                Error::new(format!("line {line} names \"{name}\" a second time")).help("give each picture one row")
            );
        }
    }
    let missing = |name: &String| {
        Error::new(format!("no row names the picture \"{name}\""))
            .help("give each picture a row, or take it out of the folder")
    };
    let ordered: Vec<&StringRecord> =
        names.iter().map(|name| rows.get(name).ok_or_else(|| missing(name))).collect::<Result<_>>()?;
    // A column without a heading numbers the rows, as pandas writes it.
    let is_factor = |(position, heading): &(usize, &str)| *position != file_column && !heading.is_empty();
    let columns = headings.iter().enumerate().filter(is_factor);
    columns.map(|(position, heading)| column(heading, &ordered, position)).collect()
}

/// Numbers where every cell is one, else text. Neither has holes: an empty cell or a number that is not finite would make
/// text of a column of numbers.
fn column(name: &str, rows: &[&StringRecord], position: usize) -> Result<FactorColumn> {
    let texts: Vec<&str> = rows.iter().map(|row| row.get(position).unwrap_or_default()).collect();
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.parse().ok()).collect();
    let is_hole = |place: &usize| match &numbers {
        Some(numbers) => !numbers[*place].is_finite(),
        None => texts[*place].is_empty(),
    };
    if let Some(place) = (0..rows.len()).find(is_hole) {
        let line = rows[place].position().map_or(0, csv::Position::line);
        let found = if texts[place].is_empty() { "is empty".to_string() } else { format!("is \"{}\"", texts[place]) };
        return Err(Error::new(format!("line {line}: column \"{name}\" {found}"))
            .help("wanted a finite number or a text for every picture"));
    }
    let name = name.to_string();
    Ok(match numbers {
        Some(values) => FactorColumn { name, stated: Stated::Nothing, values, is_text: false },
        None => {
            let (values, size) = number_texts(&texts);
            FactorColumn { name, stated: Stated::Size(size), values, is_text: true }
        }
    })
}

fn broken(error: &csv::Error) -> Error {
    let line = error.position().map_or(1, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => Error::new(format!("line {line} is not UTF-8"))
            .help("save the file again as UTF-8, without special characters"),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Error::new(format!("line {line} has {len} cells, and the first line {expected_len}"))
                .help("wanted as many cells in every line as in the first; text with a comma needs quotes")
        }
        _ => Error::new(format!("is not a whole CSV file: {error}")).help("save it again"),
    }
}
