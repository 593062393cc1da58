//! The inputs of `unbraid evaluate` and `unbraid entangle`: runs, and files of several formats.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use unbraid_data::words::{counted, on_one_line};
use unbraid_data::{Error, FactorKinds, LabelledCodes, Result, datasets};
use unbraid_experiment::Named;
use unbraid_experiment::jacobians::{wants_jacobians, with_jacobians};
use unbraid_experiment::measure::read_codes;
use unbraid_experiment::prepare::prepare;
use unbraid_experiment::run::read_config;
use unbraid_experiment::train::load_checkpoint;
use unbraid_formats::columns::{Roles, Understood};
use unbraid_formats::{MemoryLimit, csv, npy_pair, npz, parquet};
use unbraid_report::RunFolder;

use super::evaluate::choice::all_metrics;
use crate::output::tell;

/// Factors with no more values than this are taken without a word.
const MOST_LIKELY_VALUES: usize = 100;

/// How inputs are read.
#[derive(clap::Args)]
pub struct Reading {
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

impl Reading {
    /// Whether the user says which factors are continuous or discrete.
    pub fn overrules_kinds(&self) -> bool {
        !self.continuous.is_empty() || !self.discrete.is_empty()
    }
}

/// What is scored, and how where the command does not say.
pub struct Input {
    /// The path as it was typed; where that is no text or another input has the same name, one that is its own.
    pub name: String,
    /// Where it was read.
    pub path: PathBuf,
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
        if !self.path.is_dir() || !wants_jacobians(metrics) {
            return Ok(());
        }
        let folder = RunFolder::open(&self.path)?;
        let config = read_config(&folder)?;
        let mut prepared = prepare(&config)?;
        if load_checkpoint(&folder, &config, &mut prepared.learner)? > 0 {
            self.data = with_jacobians(self.data.clone(), metrics, &mut prepared.learner)?;
        }
        Ok(())
    }
}

/// Reads all inputs.
pub fn read_inputs(paths: &[PathBuf], reading: &Reading) -> Result<Vec<Input>> {
    if let Some(position) = (1..paths.len()).find(|&position| paths[..position].contains(&paths[position])) {
        return Err(Error::new(format!("{} is named twice", paths[position].display())).help("leave one out"));
    }
    let said = Said::of(reading)?;
    said.check_use(paths)?;
    let mut inputs: Vec<Input> = Vec::new();
    for path in paths {
        let mut input = read_input(path, &said)?;
        input.name = free_name(&input.name, &inputs);
        inputs.push(input);
    }
    let names: BTreeSet<&str> = inputs.iter().flat_map(|input| input.data.space().names()).collect();
    said.roles.kinds.check_names(&names.into_iter().collect::<Vec<_>>())?;
    Ok(inputs)
}

/// The name, or with a number where another input has it, so that the scores of neither take the other's place.
fn free_name(name: &str, inputs: &[Input]) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let is_free = |name: &String| inputs.iter().all(|input| input.name != *name);
    std::iter::once(name.to_string()).chain(numbered).find(is_free).expect("numbers do not end")
}

/// The path as text: bytes that are no text are shown, `\xff`, since a sign that stands for all of them would make names
/// alike.
fn name_of(path: &Path) -> String {
    let chunks = path.as_os_str().as_encoded_bytes().utf8_chunks();
    chunks.fold(String::new(), |name, chunk| {
        let others: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        name + chunk.valid() + &others
    })
}

/// What the user says of the factors.
struct Said {
    /// An `.npy` file of factors.
    file: Option<PathBuf>,
    roles: Roles,
    limit: MemoryLimit,
}

impl Said {
    fn of(reading: &Reading) -> Result<Self> {
        let names = |list: &[String]| list.iter().map(|name| name.trim().to_string()).collect::<Vec<_>>();
        let kinds = FactorKinds { continuous: names(&reading.continuous), discrete: names(&reading.discrete) };
        let (files, lists): (Vec<&String>, Vec<&String>) =
            reading.factors.iter().partition(|given| has_extension(Path::new(given), &["npy"]));
        if let [_, second, ..] = files.as_slice() {
            return Err(Error::new(format!("--factors names a second file, {second}"))
                .help("all .npy inputs of one command share the file of factors"));
        }
        let factors: Vec<String> =
            lists.iter().flat_map(|list| list.split(',')).map(|name| name.trim().to_string()).collect();
        let factors = Some(factors).filter(|factors| !factors.is_empty());
        let limit = MemoryLimit::gigabytes(reading.memory_limit)?;
        Ok(Self { file: files.first().map(PathBuf::from), roles: Roles { factors, kinds }, limit })
    }

    /// Factors that are given are of use to at least one of the inputs.
    fn check_use(&self, paths: &[PathBuf]) -> Result<()> {
        let any = |extensions: &[&str]| paths.iter().any(|path| has_extension(path, extensions));
        let file_is_used = self.file.is_none() || any(&["npy"]);
        let names_are_used = self.roles.factors.is_none() || any(&COLUMNS);
        let Some(path) = paths.first().filter(|_| !file_is_used || !names_are_used) else { return Ok(()) };
        if path.is_dir() {
            Err(Error::new("a run has the factors of its dataset").at(path.display()).help("leave out `--factors`"))
        } else if has_extension(path, &["npz"]) {
            Err(Error::new("a .npz file holds its factors").at(path.display()).help("leave out `--factors`"))
        } else if has_extension(path, &COLUMNS) {
            Err(Error::new("the factors are columns of the same file")
                .at(path.display())
                .help("name the columns: `--factors shape,scale`"))
        } else if has_extension(path, &["npy"]) {
            Err(without_factors(path))
        } else {
            Ok(())
        }
    }
}

fn without_factors(path: &Path) -> Error {
    Error::new(format!("{} holds codes without factors", path.display()))
        .help("name the file of the factors: `--factors FACTORS.npy`")
}

/// What files of named columns are called.
const COLUMNS: [&str; 4] = ["csv", "tsv", "parquet", "pq"];

/// Whether the path ends in one of these, in small letters or capitals.
pub fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    extension.is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

/// Refuses to write an archive under the name of another format, which would then not be read.
pub fn check_npz_name(path: &Path) -> Result<()> {
    if has_extension(path, &["csv", "tsv", "parquet", "npy", "json"]) {
        return Err(Error::new(format!("{} is written as .npz, and is not called so", path.display()))
            .help(format!("name it {}", path.with_extension("npz").display())));
    }
    Ok(())
}

fn read_input(path: &Path, said: &Said) -> Result<Input> {
    if path.is_dir() {
        return read_run(path, said);
    }
    if !path.exists() {
        return Err(Error::new(format!("there is no file {}", path.display())).help("check the path"));
    }
    let (kinds, limit) = (&said.roles.kinds, said.limit);
    let data = if has_extension(path, &["npz"]) {
        npz::read_labelled_codes_as(path, kinds, limit)?
    } else if has_extension(path, &["npy"]) {
        let factors = said.file.as_ref().ok_or_else(|| without_factors(path))?;
        npy_pair::read_labelled_codes(path, factors, kinds, limit)?
    } else if has_extension(path, &["csv", "tsv"]) {
        told(path, csv::read_labelled_codes(path, &said.roles, limit)?)
    } else if has_extension(path, &["parquet", "pq"]) {
        told(path, parquet::read_labelled_codes(path, &said.roles, limit)?)
    } else {
        return Err(Error::new(format!("{} is of no kind that is read", path.display())).help(
            "wanted the folder of a run, .npz, .npy, .csv, .tsv or .parquet; `unbraid evaluate --help` tells more",
        ));
    };
    tell_of_identifiers(path, &data);
    Ok(Input { name: name_of(path), path: path.to_path_buf(), data, metrics: all_metrics(), seed: 1 })
}

/// A factor with almost as many values as there are rows is hardly one; predictors would take each value for a class.
fn tell_of_identifiers(path: &Path, data: &LabelledCodes) {
    for (column, factor) in data.space().factors().iter().enumerate().filter(|(_, factor)| factor.size.is_some()) {
        let values: BTreeSet<u64> = data.factors().column(column).iter().map(|value| value.to_bits()).collect();
        if values.len() > MOST_LIKELY_VALUES && 2 * values.len() > data.n_rows() {
            tell(on_one_line(&format!(
                "note: {}: factor \"{name}\" has {} values in {} rows, each of them a class; if it is a number use \
                 `--continuous {name}`, if it only names rows leave it out",
                path.display(),
                values.len(),
                data.n_rows(),
                name = factor.name
            )));
        }
    }
}

fn read_run(path: &Path, said: &Said) -> Result<Input> {
    let folder = RunFolder::open(path)?;
    let config = read_config(&folder)?;
    let dataset = datasets::build(&config.dataset.name, &config.dataset.settings)?;
    let mut data = read_codes(&folder, &config, dataset.as_ref())?;
    if said.roles.kinds != FactorKinds::default() {
        data = data.with_kinds(&said.roles.kinds).map_err(|error| error.at(path.display()))?;
    }
    Ok(Input { name: name_of(path), path: path.to_path_buf(), data, metrics: config.metrics, seed: config.seed })
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
        Some(size) => format!("{} ({})", factor.name, counted(size, "value")),
        None => format!("{} (continuous)", factor.name),
    });
    let factors: Vec<String> = factors.collect();
    let left_out: Vec<&str> =
        left_out.iter().map(|name| if name.is_empty() { "a column without a name" } else { name }).collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!("; left out {}", left_out.join(", ")) };
    tell(on_one_line(&format!("{}: {latents}; factors {}{left_out}", path.display(), factors.join(", "))));
    data
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn names_that_would_be_shown_alike_differ() {
        let name = |bytes: &[u8]| name_of(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name(b"runs/gr\xc3\xb6\xc3\x9fe.npz"), "runs/größe.npz");
        assert_eq!([name(b"a\xff.npz"), name(b"a\xfe.npz")], ["a\\xff.npz", "a\\xfe.npz"]);
    }
}
