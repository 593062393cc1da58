//! `unbraid entangle`: the codes of an `.npz` file with every marginal kept and every latent mixed with all others.

use std::path::{Path, PathBuf};

use unbraid_data::{Error, Result, npz};
use unbraid_metrics::impossibility::entangle;

use crate::Outcome;
use crate::output::print;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The .npz file with `codes` [rows, latents] and `factors` [rows, factors]
    input: PathBuf,

    /// The .npz file to write: other codes, and all else as it was
    output: PathBuf,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let same = |path: &Path| path.canonicalize().ok();
    if same(&arguments.output).is_some_and(|output| same(&arguments.input) == Some(output)) {
        return Err(Error::new(format!("{} is the input itself", arguments.output.display()))
            .help("name another file, so that the codes as they were are kept"));
    }
    let data = npz::read_labelled_codes(&arguments.input)?;
    npz::write_with_codes(&arguments.input, &arguments.output, &entangle(data.codes()))?;
    print(arguments.output.display())?;
    Ok(Outcome::Done)
}
