//! Labelled codes from CSV: a line of names, then a line for each row.
//!
//! Cells are separated by commas, in a `.tsv` file by tabs. A column holds numbers, or text in every row. What each
//! column is for follows from its name (see [`crate::columns`]).

use std::fs::File;
use std::path::Path;

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder, Trim};

use crate::columns::{Column, Roles, Table, Understood, Values, shortened};
use crate::error::{Error, Result};
use crate::npy::open_file;

/// Reads labelled codes from a CSV file.
pub fn read_labelled_codes(path: &Path, roles: &Roles) -> Result<Understood> {
    let (file, _) = open_file(path)?;
    let is_tabbed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let table = read_table(file, if is_tabbed { b'\t' } else { b',' }, &roles.kinds.discrete);
    table.and_then(|table| table.into_labelled_codes(roles)).map_err(|error| error.at(path.display()))
}

/// Reads the table; the columns called `as_text` may mix numbers and text.
fn read_table(file: File, delimiter: u8, as_text: &[String]) -> Result<Table> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).from_reader(file);
    let header = reader.byte_headers().map_err(|error| in_plain_words(&error))?.clone();
    let mut columns = header_names(&header)?
        .into_iter()
        .map(|name| Cells { keeps_text: as_text.contains(&name), name, values: None, mistake: None })
        .collect::<Vec<_>>();
    let mut lines = Vec::new();
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| in_plain_words(&error))? {
        let line = record.position().map_or(0, ::csv::Position::line);
        lines.push(line);
        for (cells, cell) in columns.iter_mut().zip(&record) {
            cells.push(cell, line);
        }
    }
    Ok(Table { columns: columns.into_iter().map(Cells::finish).collect(), lines: Some(lines) })
}

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
    fn push(&mut self, cell: &[u8], line: u64) {
        if self.mistake.is_some() {
            return;
        }
        let mistake = match std::str::from_utf8(cell) {
            Err(_) => Some(("is not UTF-8 text".to_string(), "save the file as UTF-8".to_string())),
            Ok(text) if text.contains(['\n', '\r']) => {
                Some(("goes over several lines".to_string(), "close its quote".to_string()))
            }
            Ok("") => Some(("is empty".to_string(), "every row needs a value: leave such rows out".to_string())),
            Ok(text) => self.push_text(text),
        };
        let name = &self.name;
        self.mistake =
            mistake.map(|(what, help)| Error::new(format!("line {line}, column \"{name}\" {what}")).help(help));
    }

    /// Adds a cell; where it does not fit, what is wrong and what to do.
    fn push_text(&mut self, text: &str) -> Option<(String, String)> {
        let number = if self.keeps_text { None } else { text.parse::<f64>().ok() };
        match (&mut self.values, number) {
            (None, Some(number)) => self.values = Some(Values::Numbers(vec![number])),
            (None, None) => self.values = Some(Values::Text(vec![text.to_string()])),
            (Some(Values::Numbers(numbers)), Some(number)) => numbers.push(number),
            (Some(Values::Text(texts)), None) => texts.push(text.to_string()),
            (Some(before), _) => {
                let above = if matches!(before, Values::Numbers(_)) { "numbers" } else { "text" };
                let what = format!("holds \"{}\", but the lines above hold {above}", shortened(text));
                return Some((what, format!("correct it; `--discrete {}` takes all its values as text", self.name)));
            }
        }
        None
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
            Error::new(format!("line {line} has {len} cells, but the first line names {expected_len} columns"))
                .help("give every line as many cells; quote text that holds a comma")
        }
        ErrorKind::Io(error) => Error::new(format!("cannot be read: {error}")),
        _ => Error::new(format!("cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::factor_kinds::FactorKinds;

    fn read(text: impl AsRef<[u8]>, roles: &Roles) -> Result<Understood> {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        file.write_all(text.as_ref()).unwrap();
        read_labelled_codes(file.path(), roles)
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
            "line 3, column \"x\" holds \"big\", but the lines above hold numbers\n       correct it; `--discrete x`";
        assert!(message("z0,x\n1,2\n1,big\n").starts_with(mixed));
        assert!(
            message("z0,x\n1,big\n1,2\n")
                .starts_with("line 3, column \"x\" holds \"2\", but the lines above hold text")
        );
        assert!(message("z0,x\n1,2\nnan,3\n").starts_with("column \"z0\" holds NaN on line 3"));
        assert!(message("z0,x\n1,2\n3\n").starts_with("line 3 has 1 cells, but the first line names 2 columns"));
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
