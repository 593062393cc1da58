//! Labelled codes from CSV: a line of names, then a line for each row.
//!
//! Cells are separated by commas, in a `.tsv` file by tabs. A column holds numbers, or text in every row. What each
//! column is for follows from its name (see [`crate::columns`]).

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder, Trim};
use unbraid_data::error::{Error, Result};
use unbraid_data::npy::open_file;
use unbraid_data::words::counted;

use crate::columns::{Column, Roles, Table, Understood, Values, shortened};
use crate::memory_limit::MemoryLimit;

/// The most bytes that a line may have: a hundred thousand columns and more.
const MOST_LINE_BYTES: u64 = 1 << 25;

/// Reads labelled codes from a CSV file.
pub fn read_labelled_codes(path: &Path, roles: &Roles, limit: MemoryLimit) -> Result<Understood> {
    let (file, n_bytes) = open_file(path)?;
    let is_tabbed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let table = read_table(file, n_bytes, if is_tabbed { b'\t' } else { b',' }, &roles.kinds.discrete, limit);
    table.and_then(|table| table.into_labelled_codes(roles)).map_err(|error| error.at(path.display()))
}

/// Reads the table from a file of `n_bytes`; the columns called `as_text` may mix numbers and text.
fn read_table(file: File, n_bytes: u64, delimiter: u8, as_text: &[String], limit: MemoryLimit) -> Result<Table> {
    let since_line = Rc::new(Cell::new(0));
    let lines_that_end = LinesThatEnd { file, since_line: Rc::clone(&since_line) };
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).from_reader(lines_that_end);
    let header = reader.byte_headers().map_err(|error| in_plain_words(&error))?.clone();
    limit.check((header.len() * (size_of::<Cells>() + size_of::<String>())) as f64)?;
    let mut columns = header_names(&header)?
        .into_iter()
        .map(|name| Cells { keeps_text: as_text.contains(&name), name, values: None, mistake: None })
        .collect::<Vec<_>>();
    let mut memory = header.as_slice().len() + columns.len() * size_of::<Cells>();
    let mut lines = Vec::new();
    let mut record = ByteRecord::new();
    since_line.set(0);
    while reader.read_byte_record(&mut record).map_err(|error| in_plain_words(&error))? {
        since_line.set(0);
        let line = record.position().map_or(0, ::csv::Position::line);
        memory += size_of_val(&line);
        for (cells, cell) in columns.iter_mut().zip(&record) {
            cells.push(cell, lines.len(), line);
            memory += cells.memory_of(cell);
        }
        lines.push(line);
        if !limit.allows(memory as f64) {
            let share_read = reader.position().byte() as f64 / n_bytes as f64;
            return Err(limit.refusal(memory as f64 / share_read.clamp(f64::MIN_POSITIVE, 1.0)));
        }
    }
    let columns = columns.into_iter().map(Cells::finish).collect();
    Ok(Table { columns, n_rows: lines.len(), lines: Some(lines) })
}

/// A file whose lines have to end: one that has none is not read into memory for ever.
struct LinesThatEnd {
    file: File,
    /// How many bytes were read since the last row was whole.
    since_line: Rc<Cell<u64>>,
}

impl Read for LinesThatEnd {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n_bytes = self.file.read(buffer)?;
        self.since_line.set(self.since_line.get() + n_bytes as u64);
        if self.since_line.get() > MOST_LINE_BYTES {
            return Err(std::io::Error::other(ENDLESS));
        }
        Ok(n_bytes)
    }
}

/// What is wrong with a line that is too long.
const ENDLESS: &str = "a line has no end";

fn header_names(header: &ByteRecord) -> Result<Vec<String>> {
    let names: Option<Vec<String>> = header
        .iter()
        .map(|name| Some(std::str::from_utf8(name).ok()?.trim_start_matches('\u{feff}').to_string()))
        .collect();
    let names = names.ok_or_else(|| Error::new("the first line is not UTF-8 text").help("save the file as UTF-8"))?;
    if names.is_empty() {
        return Err(Error::new("the file is empty, wanted a first line with the names of the columns"));
    }
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(Error::new("the first line holds numbers, wanted the names of the columns")
            .help("put a first line like z0,z1,shape,scale before them"));
    }
    if let [name] = names.as_slice()
        && name.contains([';', '\t'])
    {
        return Err(Error::new("the first line has no comma, wanted the names of the columns separated by commas")
            .help("save it with commas; where tabs separate, call the file .tsv"));
    }
    Ok(names)
}

/// A column that is being read.
struct Cells {
    name: String,
    values: Option<Values>,
    /// The first thing wrong with it.
    mistake: Option<Error>,
    /// Its cells stay text until all are read.
    keeps_text: bool,
}

impl Cells {
    /// The bytes that a cell takes, beside its place in the table of all columns.
    fn memory_of(&self, cell: &[u8]) -> usize {
        match &self.values {
            Some(Values::Text(_)) => 2 * size_of::<f64>() + size_of::<String>() + cell.len(),
            _ => 2 * size_of::<f64>(),
        }
    }

    fn push(&mut self, cell: &[u8], row: usize, line: u64) {
        if self.mistake.is_some() {
            return;
        }
        let mistake = match std::str::from_utf8(cell) {
            Err(_) => Some(("is not UTF-8 text".to_string(), "save the file as UTF-8".to_string())),
            Ok(text) if text.contains(['\n', '\r']) => {
                Some(("goes over several lines".to_string(), "close its quote".to_string()))
            }
            Ok("") => Some(("is empty".to_string(), "every row needs a value: leave such rows out".to_string())),
            Ok(text) => {
                self.push_text(text, row);
                None
            }
        };
        let name = &self.name;
        self.mistake =
            mistake.map(|(what, help)| Error::new(format!("line {line}, column \"{name}\" {what}")).help(help));
    }

    fn push_text(&mut self, text: &str, row: usize) {
        let number = if self.keeps_text { None } else { text.parse::<f64>().ok() };
        match (&mut self.values, number) {
            (None, Some(number)) => self.values = Some(Values::Numbers(vec![number])),
            (None, None) => self.values = Some(Values::Text(vec![text.to_string()])),
            (Some(Values::Numbers(numbers)), Some(number)) => numbers.push(number),
            (Some(Values::Text(texts)), None) => texts.push(text.to_string()),
            (Some(Values::Numbers(numbers)), None) => {
                let number = (0, numbers[0].to_string());
                self.values = Some(Values::Mixed { number, text: (row, shortened(text)) });
            }
            (Some(Values::Text(texts)), Some(_)) => {
                let first = (0, shortened(&texts[0]));
                self.values = Some(Values::Mixed { number: (row, shortened(text)), text: first });
            }
            (Some(Values::Mixed { .. }), _) => {}
        }
    }

    fn finish(self) -> Column {
        let values = match (self.mistake, self.values.unwrap_or(Values::Numbers(Vec::new()))) {
            (Some(mistake), _) => Err(mistake),
            (None, Values::Text(texts)) if self.keeps_text => {
                let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.parse().ok()).collect();
                Ok(numbers.map_or(Values::Text(texts), Values::Numbers))
            }
            (None, values) => Ok(values),
        };
        Column { name: self.name, values }
    }
}

fn in_plain_words(error: &::csv::Error) -> Error {
    match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, ::csv::Position::line);
            let (cells, columns) = (counted(*len as usize, "cell"), counted(*expected_len as usize, "column"));
            Error::new(format!("line {line} has {cells}, but the first line names {columns}"))
                .help("give every line as many cells; quote text that holds a comma")
        }
        ErrorKind::Io(error) if error.to_string() == ENDLESS => {
            Error::new(format!("a line goes on for more than {} MB", MOST_LINE_BYTES >> 20))
                .help("wanted a line for each row; where a quote is open, close it")
        }
        ErrorKind::Io(error) => Error::new(format!("cannot be read: {error}")),
        _ => Error::new(format!("cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;
    use unbraid_data::factor_kinds::FactorKinds;

    use super::*;

    fn read(text: impl AsRef<[u8]>, roles: &Roles) -> Result<Understood> {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        file.write_all(text.as_ref()).unwrap();
        read_labelled_codes(file.path(), roles, MemoryLimit::default())
    }

    fn message(text: impl AsRef<[u8]>) -> String {
        let message = read(text, &Roles::default()).unwrap_err().to_string();
        message.split_once(".csv: ").unwrap().1.to_string()
    }

    #[test]
    fn numbers_and_text_are_read() {
        let text = "\u{feff}shape,z0, z1 ,scale\n\"a, b\",1e-3,-2,0.5\nc,.5,3,1\n\nc,+1,4,1.5\n";
        let data = read(text, &Roles::default()).unwrap().data;
        assert_eq!(
            data.codes().rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>(),
            [[0.001, -2.0], [0.5, 3.0], [1.0, 4.0]]
        );
        assert_eq!(data.space().names().collect::<Vec<_>>(), ["shape", "scale"]);
        assert_eq!(data.space().factors().iter().map(|factor| factor.size).collect::<Vec<_>>(), [Some(2), None]);
        assert_eq!(data.factors().column(0).to_vec(), [0.0, 1.0, 1.0]);
    }

    #[test]
    fn bad_cells_are_told_with_line_and_column() {
        assert!(message("z0,x\n1,2\n1,\n").starts_with("line 3, column \"x\" is empty"));
        assert!(message("z0,x\n1,\"a\n2,b\n").starts_with("line 2, column \"x\" goes over several lines"));
        let mixed =
            "column \"x\" holds \"big\" on line 3, and numbers in other rows\n       correct it; `--discrete x`";
        assert!(message("z0,x\n1,2\n1,big\n").starts_with(mixed));
        assert!(
            message("z0,x\n1,big\n1,2\n").starts_with("column \"x\" holds \"2\" on line 3, and text in other rows")
        );
        for text in ["z0,x\n1,2\nNA,3\n2,4\n", "z0,x\n1,2\nNA,3\n", "z0,x\n1,2\nNA,3\nNA,4\n"] {
            let wanted = "column \"z0\" holds \"NA\" on line 3, which is no number\n";
            assert!(message(text).starts_with(wanted) && !message(text).contains("--discrete"), "{}", message(text));
        }
        let first = "column \"z0\" holds \"NA\" on line 2, which is no number\n";
        assert!(message("z0,x\nNA,2\n1,3\n").starts_with(first));
        assert!(message("z0,x\n1,2\nnan,3\n").starts_with("column \"z0\" holds NaN on line 3"));
        assert!(message("z0,x\n1,2\n3\n").starts_with("line 3 has 1 cell, but the first line names 2 columns"));
        assert!(message(b"z0,x\n1,\xff\n").starts_with("line 2, column \"x\" is not UTF-8 text"));
        assert!(message(b"z0,\xff\n1,2\n").starts_with("the first line is not UTF-8"));
        assert!(message("1,2\n3,4\n").starts_with("the first line holds numbers, wanted the names"));
        assert!(message("z0;x\n1;2\n").starts_with("the first line has no comma"));
        assert!(message("z0,x\n").starts_with("wanted at least one row"));
        assert!(message("").starts_with("the file is empty"));
        assert!(message("\n\n").starts_with("the file is empty"));
    }

    #[test]
    fn a_column_that_is_called_discrete_may_mix_numbers_and_text() {
        let kinds = FactorKinds { discrete: vec!["x".to_string(), "y".to_string()], ..FactorKinds::default() };
        let roles = Roles { factors: None, kinds };
        let data = read("z0,x,y\n1,10,10\n1,b,9\n1,10,10\n", &roles).unwrap().data;
        assert_eq!(data.factors().column(0).to_vec(), [0.0, 1.0, 0.0]);
        // As numbers 9 comes before 10, as text it would not.
        assert_eq!(data.factors().column(1).to_vec(), [1.0, 0.0, 1.0]);
    }

    #[test]
    fn lines_without_end_are_refused() {
        let long = vec![0; MOST_LINE_BYTES as usize + 10_000];
        assert!(message(&long).starts_with("a line goes on for more than 32 MB"));
        let mut quoted = b"z0,x\n1,\"2\n".to_vec();
        quoted.extend(b"3,4\n".repeat(MOST_LINE_BYTES as usize / 4 + 10_000));
        assert!(message(&quoted).starts_with("a line goes on for more than 32 MB"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn files_that_never_end_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.csv");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = read_labelled_codes(&path, &Roles::default(), MemoryLimit::default()).unwrap_err();
        assert!(error.to_string().contains("a line goes on for more than 32 MB"), "{error}");
    }

    #[test]
    fn a_table_of_too_many_columns_is_refused() {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        file.write_all(&b"z0,".repeat(100_000)).unwrap();
        let limit = MemoryLimit::gigabytes(0.001).unwrap();
        let error = read_labelled_codes(file.path(), &Roles::default(), limit).unwrap_err().to_string();
        assert!(error.contains("above the limit of 1 MB"), "{error}");
    }

    #[test]
    fn tables_above_the_limit_are_refused_with_their_size() {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        file.write_all(b"z0,shape\n").unwrap();
        file.write_all(&b"0.25,square\n".repeat(100_000)).unwrap();
        let read = |gigabytes: f64| {
            read_labelled_codes(file.path(), &Roles::default(), MemoryLimit::gigabytes(gigabytes).unwrap())
        };
        // A row takes 8 bytes for its line, 16 for the latent, and 16 + 24 + 6 for the text: 70.
        let message = read(0.001).unwrap_err().to_string();
        assert!(message.contains(": would take 7 MB of memory, above the limit of 1 MB\n"), "{message}");
        assert_eq!(read(0.0071).unwrap().data.n_rows(), 100_000);
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(bytes, &Roles::default());
        }

        #[test]
        fn random_tables_never_panic(text in "(z0,x,split\n)?([-0-9a-z.,\"\n\r]|,|\n){0,60}") {
            let _ = read(text, &Roles::default());
        }
    }
}
