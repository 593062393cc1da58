//! `unbraid entangle`: codes with every marginal kept and every latent mixed with all others, and the way back.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{Error, LabelledCodes, Result};
use unbraid_experiment::evaluation::{Reading, has_extension};
use unbraid_formats::{npz, npz_writer};
use unbraid_metrics::impossibility::{Entangled, Entangling, disentangle, entangle};

use super::inputs::{ReadingArguments, check_npz_name, read_inputs};
use crate::Outcome;
use crate::output::print;

const MORE: &str = "\
`unbraid entangle codes.npz mixed.npz`, then `unbraid entangle --undo mixed.npz back.npz`: theorem 1 of Locatello et al. 2019, both
ways. The file that is written holds the map beside the codes, in two arrays: entangle_values, each latent's values in rising
order, and entangle_normals, where each row was turned to. What comes back are the codes before, to the bit of 64-bit floats,
which all codes are written as, also where a latent has equal values. A file that is entangled again keeps the last map alone.

Jacobians of a decoder and log-variances are those of the latents before, and are left out, of a run and of a file alike.";

/// The arrays of the map in a file.
const VALUES: &str = "entangle_values";
const NORMALS: &str = "entangle_normals";

/// Arrays that belong to the latents before.
const OF_LATENTS: [&str; 2] = ["jacobians", "log_variances"];

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// A run, or a file of codes and factors, as `unbraid evaluate` reads them; with --undo an .npz file that was entangled
    input: PathBuf,

    /// The .npz file to write: other codes, and all else as it was but for Jacobians and log-variances
    output: PathBuf,

    /// Go back: write the codes as they were before they were entangled
    #[arg(long)]
    undo: bool,

    #[command(flatten)]
    reading: ReadingArguments,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { input, output, undo, reading } = arguments;
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
    match (undo, is_archive) {
        (false, _) => write_entangled(input, output, &reading, is_archive)?,
        (true, true) => write_disentangled(input, output, &reading)?,
        (true, false) => return Err(no_map(input)),
    }
    print(output.display())?;
    Ok(Outcome::Done)
}

fn write_entangled(input: &PathBuf, output: &Path, reading: &Reading, is_archive: bool) -> Result<()> {
    let read = read_inputs(std::slice::from_ref(input), reading)?;
    let data = &read[0].data;
    let Entangled { codes, map } = entangle(data.codes());
    let map: [(&str, &Array2<f64>); 2] = [(VALUES, &map.values), (NORMALS, &map.normals)];
    match is_archive {
        true => {
            npz::check_exact(input, "codes", data.codes())?;
            npz::write_with_codes(input, output, &codes, &map, &OF_LATENTS)
        }
        false => {
            let extras = Extras { jacobians: None, log_variances: None, ..data.extras().clone() };
            let kept = LabelledCodes::new(codes, data.factors().clone(), data.space().clone(), extras)?;
            npz_writer::write_labelled_codes(output, kept.codes(), &kept, &map)
        }
    }
}

fn write_disentangled(input: &PathBuf, output: &Path, reading: &Reading) -> Result<()> {
    let read = read_inputs(std::slice::from_ref(input), reading)?;
    let codes = read[0].data.codes();
    let table = |name: &str| npz::read_table_beside(input, name, codes.dim());
    let (Some(values), Some(normals)) = (table(VALUES)?, table(NORMALS)?) else { return Err(no_map(input)) };
    let before = disentangle(codes, &Entangling { values, normals }).map_err(|error| error.at(input.display()))?;
    npz::write_with_codes(input, output, &before, &[], &[VALUES, NORMALS])
}

fn no_map(input: &Path) -> Error {
    let message = format!("{} holds no map back: there are no arrays {VALUES} and {NORMALS}", input.display());
    Error::new(message).help("wanted an .npz file that `unbraid entangle` wrote, from a run or any file")
}
