//! `losses.csv`: one row per logged step, appended while training goes on and cut back when it is resumed.
//!
//! A run that was killed and resumed leaves the same bytes as one that was not, provided that the log is flushed
//! before each checkpoint is written: every row up to the checkpoint is then in the file, and the rest is made again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use unbraid_data::file_errors::{cannot_read, cannot_write};
use unbraid_data::whole_file::read_text;
use unbraid_data::{Error, Result};

/// A `losses.csv` that is being written. Numbers are 32-bit floats in the shortest form that reads back the same.
#[derive(Debug)]
pub struct LossLog {
    path: PathBuf,
    writer: BufWriter<File>,
    n_columns: usize,
}

/// What a `losses.csv` holds.
#[derive(Debug, Clone, PartialEq)]
pub struct LossTable {
    /// The logged steps, rising.
    pub steps: Vec<usize>,
    /// `loss` and its parts; each has one value per step.
    pub columns: Vec<LossColumn>,
}

/// One column of a `losses.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct LossColumn {
    /// What the values are, for instance `kl`.
    pub name: String,
    /// One value per step.
    pub values: Vec<f64>,
}

impl LossLog {
    /// Starts the file anew with these columns after `step`: `loss`, then the names of its parts.
    pub fn create(path: &Path, columns: &[&str]) -> Result<Self> {
        let start = || {
            let mut file = File::create(path)?;
            file.write_all(header(columns).as_bytes())?;
            Ok(file)
        };
        Ok(Self::new(path, columns, start().map_err(|error| cannot_write(path, &error))?))
    }

    /// Goes on with a file after a checkpoint of step `last_step`: later rows, and a last line that was cut short by
    /// a crash, are removed. A file that lacks one of the rows before is refused.
    pub fn resume(path: &Path, columns: &[&str], last_step: usize) -> Result<Self> {
        if last_step == 0 {
            return Self::create(path, columns);
        }
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => return Err(cannot_read(path, &error).help(LOST)),
        };
        if header(columns).as_bytes().starts_with(&bytes) {
            return Err(Error::new(format!("{} holds no losses", path.display())).help(LOST));
        }
        if !bytes.starts_with(header(columns).as_bytes()) {
            return Err(other_columns(path, columns, &bytes));
        }
        let kept = length_up_to(&bytes, last_step);
        check_steps(&bytes[..kept], columns.len(), last_step).map_err(|error| error.at(path.display()))?;
        let cut = || {
            let mut file = OpenOptions::new().write(true).open(path)?;
            file.set_len(kept as u64)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        Ok(Self::new(path, columns, cut().map_err(|error: io::Error| cannot_write(path, &error))?))
    }

    /// Appends the row of `step`, one value per column. It reaches the disk with the next `flush`.
    pub fn push(&mut self, step: usize, values: &[f64]) -> Result<()> {
        if values.len() != self.n_columns {
            let (found, wanted) = (values.len(), self.n_columns);
            return Err(Error::failure(format!("step {step} has {found} losses but the log has {wanted} columns")));
        }
        let mut row = step.to_string();
        for value in values {
            row.push_str(&format!(",{:?}", *value as f32));
        }
        row.push('\n');
        self.writer.write_all(row.as_bytes()).map_err(|error| cannot_write(&self.path, &error))
    }

    /// Forces all rows to disk. To be called before a checkpoint is written, and at the end.
    pub fn flush(&mut self) -> Result<()> {
        let flushed = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        flushed.map_err(|error| cannot_write(&self.path, &error))
    }

    fn new(path: &Path, columns: &[&str], file: File) -> Self {
        Self { path: path.to_path_buf(), writer: BufWriter::new(file), n_columns: columns.len() }
    }
}

/// What to do about a log that does not reach back to the first step.
const LOST: &str = "a run goes on only with the losses of all its steps: put the file back, or start a new run";

/// Refuses a log that does not have a whole row for each step from 1 to `last_step`.
fn check_steps(bytes: &[u8], n_columns: usize, last_step: usize) -> Result<()> {
    let rows = std::str::from_utf8(bytes).unwrap_or_default().lines().skip(1);
    let is_whole = |(row, line): &(usize, &str)| {
        let mut numbers = line.split(',').map(str::parse::<f64>);
        let step = numbers.next().and_then(|step| step.ok());
        step == Some((row + 1) as f64) && numbers.clone().all(|number| number.is_ok()) && numbers.count() == n_columns
    };
    let n_whole = rows.enumerate().take_while(is_whole).count();
    if n_whole == last_step {
        return Ok(());
    }
    Err(Error::new(format!("the checkpoint was taken after step {last_step}, but the losses end at step {n_whole}"))
        .help(LOST))
}

impl LossTable {
    /// The values of the column called `name`.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|column| column.name == name).map(|column| column.values.as_slice())
    }
}

/// Reads a `losses.csv`. A last line without its end, as a run in progress may show, is left out.
pub fn read_losses(path: &Path) -> Result<LossTable> {
    read_some_losses(path, |_| true)
}

/// Reads the rows of a `losses.csv` whose steps are wanted, and the last one. Of the others only the step is looked at, which is
/// much faster where there are millions.
pub fn read_some_losses(path: &Path, is_wanted: impl Fn(usize) -> bool) -> Result<LossTable> {
    parse_losses(&read_text(path)?, is_wanted).map_err(|error| error.at(path.display()))
}

fn parse_losses(text: &str, is_wanted: impl Fn(usize) -> bool) -> Result<LossTable> {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let names = lines.next().and_then(|line| line.strip_prefix("step,"));
    let names = names.ok_or_else(|| Error::new("the first line does not name the columns \"step\" and \"loss\""))?;
    let columns = names.split(',').map(|name| LossColumn { name: name.to_string(), values: Vec::new() });
    let mut table = LossTable { steps: Vec::new(), columns: columns.collect() };
    let mut lines = lines.enumerate().peekable();
    while let Some((line_index, line)) = lines.next() {
        let malformed =
            || Error::new(format!("line {} is \"{line}\"", line_index + 2)).help("wanted one number per column");
        let (step, values) = line.split_once(',').ok_or_else(malformed)?;
        let step = step.parse().map_err(|_| malformed())?;
        if !is_wanted(step) && lines.peek().is_some() {
            continue;
        }
        table.steps.push(step);
        let values: Vec<f64> = values.split(',').map_while(|value| value.parse().ok()).collect();
        if values.len() != table.columns.len() {
            return Err(malformed());
        }
        for (column, value) in table.columns.iter_mut().zip(values) {
            column.values.push(value);
        }
    }
    Ok(table)
}

fn header(columns: &[&str]) -> String {
    format!("step,{}\n", columns.join(","))
}

/// How many bytes the header and the whole rows of steps up to `last_step` take.
fn length_up_to(bytes: &[u8], last_step: usize) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let rows = lines.skip(1).take_while(|line| {
        let step = line.split(|byte| *byte == b',').next().and_then(|step| std::str::from_utf8(step).ok());
        line.ends_with(b"\n") && step.and_then(|step| step.parse().ok()).is_some_and(|step: usize| step <= last_step)
    });
    let n_header_bytes = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    n_header_bytes + rows.map(<[u8]>::len).sum::<usize>()
}

fn other_columns(path: &Path, columns: &[&str], bytes: &[u8]) -> Error {
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Error::new(format!(
        "{} has the columns {} but this run logs {}",
        path.display(),
        String::from_utf8_lossy(first_line).replace(',', ", "),
        header(columns).trim_end().replace(',', ", "),
    ))
    .help("the file belongs to a run with other losses: move it away")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const COLUMNS: [&str; 2] = ["loss", "kl"];

    fn push_steps(log: &mut LossLog, steps: std::ops::RangeInclusive<usize>) {
        for step in steps {
            log.push(step, &[1.0 / step as f64, step as f64]).unwrap();
        }
        log.flush().unwrap();
    }

    #[test]
    fn rows_are_short_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("losses.csv");
        let mut log = LossLog::create(&path, &COLUMNS).unwrap();
        push_steps(&mut log, 3..=4);
        assert_eq!(fs::read_to_string(&path).unwrap(), "step,loss,kl\n3,0.33333334,3.0\n4,0.25,4.0\n");
        let table = read_losses(&path).unwrap();
        assert_eq!(table.steps, [3, 4]);
        assert_eq!(table.column("kl"), Some([3.0, 4.0].as_slice()));
    }

    #[test]
    fn a_killed_and_resumed_log_has_the_bytes_of_one_that_was_not() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, killed] = ["whole.csv", "killed.csv"].map(|name| folder.path().join(name));
        push_steps(&mut LossLog::create(&whole, &COLUMNS).unwrap(), 1..=120);
        let expected = fs::read(&whole).unwrap();
        // The checkpoint was of step 57; the kill came at any byte after that step's row.
        let flushed = expected.windows(4).position(|bytes| bytes == b"\n58,").unwrap() + 1;
        for n_bytes in (flushed..expected.len()).step_by(17) {
            fs::write(&killed, &expected[..n_bytes]).unwrap();
            push_steps(&mut LossLog::resume(&killed, &COLUMNS, 57).unwrap(), 58..=120);
            assert!(fs::read(&killed).unwrap() == expected, "killed after {n_bytes} bytes");
        }
    }

    #[test]
    fn resuming_before_the_first_checkpoint_starts_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("losses.csv");
        for found in [None, Some(""), Some("step,lo"), Some("step,loss,kl\n"), Some("step,loss,kl\n1,2.0,3")] {
            let _ = fs::remove_file(&path);
            if let Some(text) = found {
                fs::write(&path, text).unwrap();
            }
            push_steps(&mut LossLog::resume(&path, &COLUMNS, 0).unwrap(), 1..=1);
            assert_eq!(fs::read_to_string(&path).unwrap(), "step,loss,kl\n1,1.0,1.0\n", "after {found:?}");
        }
    }

    #[test]
    fn a_log_that_lacks_steps_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("losses.csv");
        assert!(LossLog::resume(&path, &COLUMNS, 2).unwrap_err().to_string().contains("put the file back"));
        for rows in [
            "",
            "1,1.0,1.0\n",
            "1,1.0,1.0\n3,1.0,1.0\n",
            "1,1.0,1.0\n2,1.0",
            "1,1.0,1.0\n2,1.0\n",
            "1,1.0,x\n2,1.0,1.0\n",
        ] {
            fs::write(&path, format!("step,loss,kl\n{rows}")).unwrap();
            let error = LossLog::resume(&path, &COLUMNS, 2).unwrap_err().to_string();
            assert!(error.contains("put the file back"), "{rows}: {error}");
        }
    }

    #[test]
    fn other_columns_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("losses.csv");
        fs::write(&path, "step,loss,tc\n").unwrap();
        let error = LossLog::resume(&path, &COLUMNS, 1).unwrap_err().to_string();
        assert!(error.contains("has the columns step, loss, tc but this run logs step, loss, kl"), "{error}");
        let mut log = LossLog::create(&path, &COLUMNS).unwrap();
        let error = log.push(7, &[1.0]).unwrap_err().to_string();
        assert_eq!(error, "step 7 has 1 losses but the log has 2 columns");
    }

    #[test]
    fn a_damaged_line_is_named_and_a_torn_one_is_left_out() {
        assert_eq!(parse_losses("step,loss\n1,2.0\n2,3.", |_| true).unwrap().steps, [1]);
        let error = parse_losses("step,loss\n1,x\n", |_| true).unwrap_err().to_string();
        assert_eq!(error, "line 2 is \"1,x\"\n       wanted one number per column");
        assert!(parse_losses("", |_| true).is_err());
    }

    #[test]
    fn rows_that_are_not_wanted_are_left_out_but_for_the_last() {
        let text = "step,loss\n1,2.0\n2,3.0\n3,4.0\n4,5.0\n5,6.0\n";
        let table = parse_losses(text, |step| step % 2 == 0).unwrap();
        assert_eq!(
            (table.steps.as_slice(), table.column("loss")),
            ([2, 4, 5].as_slice(), Some([3.0, 5.0, 6.0].as_slice()))
        );
    }
}
