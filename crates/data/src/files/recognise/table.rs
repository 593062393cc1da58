//! Tables of codes and factors: CSV and Parquet.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use super::Recognised;
use super::reads::{add_evaluate, dataset_with, folder_of, quoted};
use crate::error::{Error, Result};
use crate::file_errors::cannot_read;
use crate::words::counted;

/// Columns that are named.
const MOST_NAMED: usize = 20;
/// The most bytes that a row may have: a hundred thousand columns and more.
const MOST_ROW_BYTES: usize = 1 << 25;
/// What begins and ends a Parquet file.
const PARQUET: &[u8; 4] = b"PAR1";

pub(super) fn recognise_csv(path: &Path, delimiter: u8) -> Recognised {
    let (what, ending) = match delimiter {
        b'\t' => ("a table (tabs between cells)", "tsv"),
        _ => ("a table (CSV)", "csv"),
    };
    let mut table = Table::default();
    let read = table.read(path, delimiter);
    let mut recognised = Recognised::new(what).checked(read.map_err(|error| error.at(path.display())));
    let Table { headings, n_rows } = table;
    recognised.detail(format!("{}, {}", counted(n_rows, "row"), columns(&headings)));
    if headings.iter().any(|heading| heading == "file") {
        recognised.what = format!("{what} of factors of pictures");
        recognised.detail("read where its column file names all pictures of its folder");
        let csv = [("csv", quoted(path))];
        return recognised.read_by(dataset_with("folder", &folder_of(path), &csv));
    }
    add_evaluate(&mut recognised, path, &[ending], "");
    recognised
}

/// A file whose rows have to end: one that has none is not read into memory for ever.
struct RowsThatEnd {
    file: File,
    /// Bytes that were read since the last row was whole.
    since_row: Rc<Cell<usize>>,
}

impl Read for RowsThatEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.file.read(buffer)?;
        self.since_row.set(self.since_row.get() + n_bytes);
        if self.since_row.get() > MOST_ROW_BYTES {
            return Err(io::Error::other("a line does not end"));
        }
        Ok(n_bytes)
    }
}

#[derive(Default)]
struct Table {
    headings: Vec<String>,
    n_rows: usize,
}

impl Table {
    fn read(&mut self, path: &Path, delimiter: u8) -> Result<()> {
        let broken = |error: csv::Error| {
            Error::new(format!("is not a whole table: {error}"))
                .help("wanted as many cells in every line as in the first: copy or save the file again")
        };
        let since_row = Rc::new(Cell::new(0));
        let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
        let file = RowsThatEnd { file, since_row: Rc::clone(&since_row) };
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(file);
        self.headings = reader.headers().map_err(broken)?.iter().map(String::from).collect();
        let mut row = csv::ByteRecord::new();
        while reader.read_byte_record(&mut row).map_err(broken)? {
            self.n_rows += 1;
            since_row.set(0);
        }
        Ok(())
    }
}

fn columns(headings: &[String]) -> String {
    let named: Vec<&str> = headings.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = headings.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}: {}{more}", counted(headings.len(), "column"), named.join(", "))
}

pub(super) fn recognise_parquet(path: &Path) -> Recognised {
    let recognised = Recognised::new("a Parquet file")
        .with_detail("its length and its ends are checked; `unbraid evaluate` decodes its columns");
    let mut recognised = recognised.checked(check_footer(path).map_err(|error| error.at(path.display())));
    add_evaluate(&mut recognised, path, &["parquet", "pq"], "");
    recognised
}

/// A Parquet file ends with its footer, the length of that, and the mark that it begins with.
fn check_footer(path: &Path) -> Result<()> {
    let at = |error: io::Error| cannot_read(path, &error);
    let again = "copy or download the file again";
    let mut file = File::open(path).map_err(at)?;
    let n_bytes = file.metadata().map_err(at)?.len();
    let n_marks = 3 * PARQUET.len() as u64;
    if n_bytes < n_marks {
        return Err(Error::new(format!("is cut short: it has {n_bytes} bytes")).help(again));
    }
    let mut end = [0; 8];
    file.seek(SeekFrom::End(-8)).and_then(|_| file.read_exact(&mut end)).map_err(at)?;
    let [a, b, c, d, mark @ ..] = end;
    if mark != *PARQUET {
        return Err(Error::new("is cut short: wanted the mark PAR1 at its end").help(again));
    }
    let footer_bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
    if footer_bytes + n_marks > n_bytes {
        return Err(
            Error::new(format!("announces a footer of {footer_bytes} bytes, but has {n_bytes} in all")).help(again)
        );
    }
    Ok(())
}
