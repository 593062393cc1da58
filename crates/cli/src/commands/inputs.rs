//! The inputs of `unbraid evaluate` and `unbraid entangle`: how the command reads them.

use std::path::{Path, PathBuf};

use unbraid_data::words::on_one_line;
use unbraid_data::{Error, Result};
use unbraid_experiment::evaluation::{self, Input, Reading, has_extension};
use unbraid_formats::MemoryLimit;

use crate::output::tell;

/// How inputs are read.
#[derive(clap::Args)]
pub struct ReadingArguments {
    /// The factors: an .npy file for inputs that are .npy, the names of columns for CSV and Parquet; both may be given
    #[arg(long, value_name = "FILE.npy|NAMES")]
    factors: Vec<String>,

    /// Factors that are continuous, by name, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    continuous: Vec<String>,

    /// Factors that are discrete, by name: their distinct values are numbered in order
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    discrete: Vec<String>,

    /// Gigabytes of memory that the tables of one file may take; larger ones are refused before they are read
    #[arg(long, value_name = "GB", default_value_t = MemoryLimit::DEFAULT_GIGABYTES)]
    memory_limit: f64,
}

impl ReadingArguments {
    /// What they say, with the file of factors apart from the names of columns.
    pub fn to_reading(&self) -> Result<Reading> {
        let (files, lists): (Vec<&String>, Vec<&String>) =
            self.factors.iter().partition(|given| has_extension(Path::new(given), &["npy"]));
        if let [_, second, ..] = files.as_slice() {
            return Err(Error::new(format!("--factors names a second file, {second}"))
                .help("all .npy inputs of one command share the file of factors"));
        }
        let columns = trimmed(lists.iter().flat_map(|list| list.split(',')));
        Ok(Reading {
            factors_file: files.first().map(PathBuf::from),
            factor_columns: Some(columns).filter(|columns| !columns.is_empty()),
            continuous: trimmed(self.continuous.iter().map(String::as_str)),
            discrete: trimmed(self.discrete.iter().map(String::as_str)),
            memory_limit: MemoryLimit::gigabytes(self.memory_limit)?,
        })
    }
}

fn trimmed<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.map(|name| name.trim().to_string()).collect()
}

/// Reads all inputs, and prints what has to be known of how each was read.
pub fn read_inputs(paths: &[PathBuf], reading: &Reading) -> Result<Vec<Input>> {
    let inputs = evaluation::read_inputs(paths, reading)?;
    for input in &inputs {
        input.notes.iter().for_each(|note| tell(on_one_line(&format!("{}: {note}", input.name))));
    }
    Ok(inputs)
}

/// Refuses to write an archive under the name of another format, which would then not be read.
pub fn check_npz_name(path: &Path) -> Result<()> {
    check_name(path, "npz")
}

/// Refuses to write an array under the name of another format, which would then not be read.
pub fn check_npy_name(path: &Path) -> Result<()> {
    check_name(path, "npy")
}

fn check_name(path: &Path, format: &str) -> Result<()> {
    let others = ["csv", "tsv", "parquet", "npy", "npz", "json"].into_iter().filter(|&other| other != format);
    if has_extension(path, &others.collect::<Vec<_>>()) {
        return Err(Error::new(format!("{} is written as .{format}, and is not called so", path.display()))
            .help(format!("name it {}", path.with_extension(format).display())));
    }
    Ok(())
}
