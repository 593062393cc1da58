//! The inputs of `unbraid evaluate`: runs, and files of several formats.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use unbraid_data::columns::{Roles, Understood};
use unbraid_data::{Error, FactorKinds, LabelledCodes, Result, csv, datasets, npy_pair, npz, parquet};
use unbraid_experiment::Named;
use unbraid_experiment::jacobians::{wants_jacobians, with_jacobians};
use unbraid_experiment::measure::read_codes;
use unbraid_experiment::prepare::prepare;
use unbraid_experiment::run::read_config;
use unbraid_experiment::train::load_checkpoint;
use unbraid_report::RunFolder;

use super::Arguments;
use super::choice::all_metrics;
use crate::output::tell;

/// Factors with no more values than this are taken without a word.
const MOST_LIKELY_VALUES: usize = 100;

/// What is scored, and how where the command does not say.
pub struct Input {
    /// The path as it was typed.
    pub name: String,
    /// The codes and factors.
    pub data: LabelledCodes,
    /// The metrics of the run's config, or all.
    pub metrics: Vec<Named>,
    /// The run's seed, or 1.
    pub seed: u64,
}

impl Input {
    /// Adds what a run's decoder tells, where a metric needs more than codes; nothing where its checkpoint is gone, for
    /// metrics then say what they miss.
    pub fn add_what_the_decoder_tells(&mut self, metrics: &[Named]) -> Result<()> {
        let path = Path::new(&self.name);
        if !path.is_dir() || !wants_jacobians(metrics) {
            return Ok(());
        }
        let folder = RunFolder::open(path)?;
        let config = read_config(&folder)?;
        let mut prepared = prepare(&config)?;
        if load_checkpoint(&folder, &config, &mut prepared.learner)? > 0 {
            self.data = with_jacobians(self.data.clone(), metrics, &mut prepared.learner)?;
        }
        Ok(())
    }
}

/// What the user says of the factors.
struct Said {
    /// An `.npy` file of factors.
    file: Option<PathBuf>,
    roles: Roles,
}

/// Reads all inputs.
pub fn read_inputs(arguments: &Arguments) -> Result<Vec<Input>> {
    let paths = &arguments.inputs;
    if let Some(position) = (1..paths.len()).find(|&position| paths[..position].contains(&paths[position])) {
        return Err(Error::new(format!("{} is named twice", paths[position].display())).help("leave one out"));
    }
    let said = said(arguments);
    paths.iter().map(|path| read_input(path, &said)).collect()
}

fn said(arguments: &Arguments) -> Said {
    let names = |list: &[String]| list.iter().map(|name| name.trim().to_string()).collect::<Vec<_>>();
    let kinds = FactorKinds { continuous: names(&arguments.continuous), discrete: names(&arguments.discrete) };
    match arguments.factors.as_deref() {
        Some(file) if has_extension(Path::new(file), &["npy"]) => {
            Said { file: Some(file.into()), roles: Roles { factors: None, kinds } }
        }
        Some(list) => {
            let factors = list.split(',').map(|name| name.trim().to_string()).collect();
            Said { file: None, roles: Roles { factors: Some(factors), kinds } }
        }
        None => Said { file: None, roles: Roles { factors: None, kinds } },
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| extensions.contains(&extension.as_str()))
}

fn read_input(path: &Path, said: &Said) -> Result<Input> {
    if path.is_dir() {
        return read_run(path, said);
    }
    if !path.exists() {
        return Err(Error::new(format!("there is no file {}", path.display())).help("check the path"));
    }
    let data = if has_extension(path, &["npz"]) {
        said.refuse_factors(path, "a .npz file holds its factors")?;
        npz::read_labelled_codes_as(path, &said.roles.kinds)?
    } else if has_extension(path, &["npy"]) {
        let factors = said.file.as_ref().ok_or_else(|| {
            Error::new(format!("{} holds codes without factors", path.display()))
                .help("name the file of the factors: `--factors FACTORS.npy`")
        })?;
        npy_pair::read_labelled_codes(path, factors, &said.roles.kinds)?
    } else if has_extension(path, &["csv", "tsv"]) {
        told(path, csv::read_labelled_codes(path, said.column_roles(path)?)?)
    } else if has_extension(path, &["parquet", "pq"]) {
        told(path, parquet::read_labelled_codes(path, said.column_roles(path)?)?)
    } else {
        return Err(Error::new(format!("{} is of no kind that is read", path.display())).help(
            "wanted the folder of a run, .npz, .npy, .csv, .tsv or .parquet; `unbraid evaluate --help` tells more",
        ));
    };
    tell_of_identifiers(path, &data);
    Ok(Input { name: path.display().to_string(), data, metrics: all_metrics(), seed: 1 })
}

/// A factor with almost as many values as there are rows is hardly one; predictors would take each value for a class.
fn tell_of_identifiers(path: &Path, data: &LabelledCodes) {
    for (column, factor) in data.space().factors().iter().enumerate().filter(|(_, factor)| factor.size.is_some()) {
        let values: BTreeSet<u64> = data.factors().column(column).iter().map(|value| value.to_bits()).collect();
        if values.len() > MOST_LIKELY_VALUES && 2 * values.len() > data.n_rows() {
            tell(format!(
                "note: {}: factor \"{name}\" has {} values in {} rows, each of them a class; if it is a number use \
                 `--continuous {name}`, if it only names rows leave it out",
                path.display(),
                values.len(),
                data.n_rows(),
                name = factor.name
            ));
        }
    }
}

fn read_run(path: &Path, said: &Said) -> Result<Input> {
    said.refuse_factors(path, "a run has the factors of its dataset")?;
    if said.roles.kinds != FactorKinds::default() {
        return Err(Error::new(format!("{}: a run has the factors of its dataset", path.display()))
            .help("leave out `--continuous` and `--discrete`"));
    }
    let folder = RunFolder::open(path)?;
    let config = read_config(&folder)?;
    let dataset = datasets::open(&config.dataset.name, &config.dataset.settings)?;
    let data = read_codes(&folder, &config, dataset.as_ref())?;
    Ok(Input { name: path.display().to_string(), data, metrics: config.metrics, seed: config.seed })
}

impl Said {
    fn refuse_factors(&self, path: &Path, why: &str) -> Result<()> {
        if self.file.is_none() && self.roles.factors.is_none() {
            return Ok(());
        }
        Err(Error::new(format!("{}: {why}", path.display())).help("leave out `--factors`"))
    }

    fn column_roles(&self, path: &Path) -> Result<&Roles> {
        match &self.file {
            None => Ok(&self.roles),
            Some(_) => Err(Error::new(format!("{}: the factors are columns of the same file", path.display()))
                .help("name the columns: `--factors shape,scale`")),
        }
    }
}

/// Tells how the columns of a table were understood: a name that was meant otherwise would go unnoticed.
fn told(path: &Path, understood: Understood) -> LabelledCodes {
    let Understood { data, latents, left_out } = understood;
    let latents = match latents.as_slice() {
        [] => String::new(),
        [one] => format!("latent {one}"),
        [first, .., last] => format!("{} latents from {first} to {last}", latents.len()),
    };
    let factors = data.space().factors().iter().map(|factor| match factor.size {
        Some(size) => format!("{} ({size} values)", factor.name),
        None => format!("{} (continuous)", factor.name),
    });
    let factors: Vec<String> = factors.collect();
    let left_out: Vec<&str> =
        left_out.iter().map(|name| if name.is_empty() { "a column without a name" } else { name }).collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!("; left out {}", left_out.join(", ")) };
    tell(format!("{}: {latents}; factors {}{left_out}", path.display(), factors.join(", ")));
    data
}
