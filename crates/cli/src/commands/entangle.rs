//! `unbraid entangle`: codes with every marginal kept and every latent mixed with all others.

use std::path::{Path, PathBuf};

use unbraid_data::{Error, Result};
use unbraid_experiment::evaluation::has_extension;
use unbraid_formats::{npz, npz_writer};
use unbraid_metrics::impossibility::entangle;

use super::inputs::{ReadingArguments, check_npz_name, read_inputs};
use crate::Outcome;
use crate::output::print;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// A run, or a file of codes and factors, as `unbraid evaluate` reads them
    input: PathBuf,

    /// The .npz file to write: other codes, and all else as it was
    output: PathBuf,

    #[command(flatten)]
    reading: ReadingArguments,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { input, output, reading } = arguments;
    check_npz_name(output)?;
    let same = |path: &Path| path.canonicalize().ok();
    if same(output).is_some_and(|output| same(input) == Some(output)) {
        return Err(Error::new(format!("{} is the input itself", output.display()))
            .help("name another file, so that the codes as they were are kept"));
    }
    let reading = reading.to_reading()?;
    let is_archive = has_extension(input, &["npz"]) && !input.is_dir();
    if is_archive && reading.overrules_kinds() {
        return Err(Error::new(format!("{}: the factors of an .npz file are copied as they are", input.display()))
            .help("leave out `--continuous` and `--discrete`; `unbraid evaluate` takes them"));
    }
    let read = read_inputs(std::slice::from_ref(input), &reading)?;
    let data = &read[0].data;
    let codes = entangle(data.codes());
    if is_archive {
        npz::write_with_codes(input, output, &codes)?;
    } else {
        npz_writer::write_labelled_codes(output, &codes, data)?;
    }
    print(output.display())?;
    Ok(Outcome::Done)
}
