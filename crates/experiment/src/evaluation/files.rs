//! Runs, and files of several formats, read as inputs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use unbraid_data::{Error, Result};
use unbraid_formats::{csv, npy_pair, npz, parquet};
use unbraid_report::RunFolder;

use super::input_names::name_of;
use super::reading::without_factors;
use super::reading_notes::{columns_note, identifier_notes};
use super::{Input, Reading, has_extension};
use crate::measure::read_codes;
use crate::run::read_config;

/// Reads the inputs at these paths: folders of runs, `.npz`, `.npy`, `.csv`, `.tsv` and `.parquet`. What has to be known of
/// how each was read is among its notes.
pub fn read_inputs(paths: &[PathBuf], reading: &Reading) -> Result<Vec<Input>> {
    if let Some(position) = (1..paths.len()).find(|&position| paths[..position].contains(&paths[position])) {
        return Err(Error::new(format!("{} is named twice", paths[position].display())).help("leave one out"));
    }
    reading.check_use(paths)?;
    let inputs = paths.iter().map(|path| read_input(path, reading)).collect::<Result<Vec<_>>>()?;
    let names: BTreeSet<&str> = inputs.iter().flat_map(|input| input.data.space().names()).collect();
    reading.kinds().check_names(&names.into_iter().collect::<Vec<_>>())?;
    Ok(inputs)
}

fn read_input(path: &Path, reading: &Reading) -> Result<Input> {
    if path.is_dir() {
        return read_run(path, reading);
    }
    if !path.exists() {
        return Err(Error::new(format!("there is no file {}", path.display())).help("check the path"));
    }
    let (kinds, limit) = (reading.kinds(), reading.memory_limit);
    let mut notes = Vec::new();
    let data = if has_extension(path, &["npz"]) {
        npz::read_labelled_codes_as(path, &kinds, limit)?
    } else if has_extension(path, &["npy"]) {
        let factors = reading.factors_file.as_ref().ok_or_else(|| without_factors(path))?;
        npy_pair::read_labelled_codes(path, factors, &kinds, limit)?
    } else if has_extension(path, &["csv", "tsv", "parquet", "pq"]) {
        let understood = match has_extension(path, &["csv", "tsv"]) {
            true => csv::read_labelled_codes(path, &reading.roles(), limit)?,
            false => parquet::read_labelled_codes(path, &reading.roles(), limit)?,
        };
        notes.push(columns_note(&understood));
        understood.data
    } else {
        return Err(Error::new(format!("{} is of no kind that is read", path.display())).help(
            "wanted the folder of a run, .npz, .npy, .csv, .tsv or .parquet; `unbraid evaluate --help` tells more",
        ));
    };
    notes.extend(identifier_notes(&data));
    Ok(Input { notes, ..Input::in_memory(&name_of(path), data) })
}

/// Reads the codes of a run. Its model is not opened: all that metrics need of it was saved beside the codes.
fn read_run(path: &Path, reading: &Reading) -> Result<Input> {
    let folder = RunFolder::open(path)?;
    let config = read_config(&folder)?;
    let mut data = read_codes(&folder, &config)?;
    if reading.overrules_kinds() {
        data = data.with_kinds(&reading.kinds()).map_err(|error| error.at(path.display()))?;
    }
    let run = Some(folder);
    Ok(Input { metrics: config.metrics, seed: config.seed, run, ..Input::in_memory(&name_of(path), data) })
}
