//! `unbraid data`: the images of a dataset, their statistics, examples that a sampler draws, an export for numpy, and what a
//! file is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use toml::{Table, Value};
use unbraid_data::examples::Examples;
use unbraid_data::npy::read_indices;
use unbraid_data::{Dataset, Error, Result, Sampler, Seed, Split, datasets, samplers, stats};
use unbraid_experiment::config::{apply_override, in_place};
use unbraid_formats::export;

use super::inputs::{check_npy_name, check_npz_name};
use super::list::datasets_table;
use crate::Outcome;
use crate::output::{print, tell};

mod check;
mod show;

/// More examples than anyone keeps: their file would have tens of gigabytes.
const MOST_EXAMPLES: u64 = 1_000_000_000;
/// The seed of examples, unless another is asked for.
const SEED: u64 = 1;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the names of all datasets
    List,
    /// Write a contact sheet and one traversal row per factor as PNG, and examples of a sampler
    Show {
        #[command(flatten)]
        dataset: Chosen,
        /// Also draw examples of this sampler, the first ones of `data sample`; `--set sampler.distance=l1` sets one of its
        /// settings
        #[arg(long, value_name = "NAME")]
        sampler: Option<String>,
        /// Images on the contact sheet
        #[arg(long, value_name = "N", default_value_t = 48, value_parser = clap::value_parser!(u64).range(1..=1024))]
        images: u64,
        /// Where the pictures go
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        out: PathBuf,
    },
    /// Say what a file or folder is, whether it is whole, and what reads it; it is read to its end
    Check {
        /// The file or folder
        path: PathBuf,
        /// Print JSON: what, details, whole, reason, read_by
        #[arg(long)]
        json: bool,
    },
    /// Print mean, standard deviation and mean standard deviation per image, for each channel
    Stats {
        #[command(flatten)]
        dataset: Chosen,
    },
    /// Write the numbers of images that a sampler draws together, [count, images of an example] as int64
    Sample {
        #[command(flatten)]
        dataset: Chosen,
        /// The sampler; `--set sampler.distance=l1` sets one of its settings
        #[arg(long, value_name = "NAME")]
        sampler: String,
        /// How many examples; a file of fewer with the same seed is the beginning of it
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_EXAMPLES))]
        count: u64,
        /// Decides what is drawn, on any number of threads
        #[arg(long, value_name = "N", default_value_t = SEED)]
        seed: u64,
        /// The file to write
        #[arg(long, value_name = "FILE.npy")]
        out: PathBuf,
        /// Also write which factor the images of each example share, by its position, where the sampler tells it
        #[arg(long, value_name = "FILE.npy")]
        shared: Option<PathBuf>,
    },
    /// Write images and factors so that numpy reads them
    Export {
        #[command(flatten)]
        dataset: Chosen,
        /// The file to write
        file: PathBuf,
        /// An .npy file of image numbers: only these, in this order
        #[arg(long, value_name = "FILE.npy")]
        indices: Option<PathBuf>,
    },
}

/// A dataset and its settings.
#[derive(clap::Args)]
pub(super) struct Chosen {
    /// The name of the dataset; or your own images: an .npz file, or a folder of pictures
    pub(super) name: String,
    /// A setting of the dataset: spacing=4, fix='{ shape = 0 }'
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
}

impl Chosen {
    fn open(&self) -> Result<Box<dyn Dataset>> {
        self.build(&self.settings()?)
    }

    /// The dataset, and the sampler called `name` of all its images. Settings that begin with `sampler.` are the sampler's, as
    /// in a config.
    fn open_with_sampler(&self, name: &str) -> Result<(Box<dyn Dataset>, Sampling)> {
        let mut settings = self.settings()?;
        let of_sampler = match settings.remove("sampler") {
            Some(Value::Table(of_sampler)) => of_sampler,
            // Back to the dataset, which refuses it as any other setting that it does not have.
            Some(other) => {
                settings.insert("sampler".to_string(), other);
                Table::new()
            }
            None => Table::new(),
        };
        let entry = samplers::find(name)?;
        let is_of_sampler = |key: &&String| entry.settings.iter().any(|setting| setting.name == key.as_str());
        let dataset = self.build(&settings).map_err(|error| match settings.keys().find(is_of_sampler) {
            Some(key) => error.more_help(format!("the sampler's is set by --set sampler.{key}=...")),
            None => error,
        })?;
        let split = Arc::new(Split::all(dataset.n_images()));
        let place = format!("sampler \"{name}\"");
        let sampler = (entry.build)(&of_sampler, dataset.factors(), &split).map_err(|error| in_place(error, &place))?;
        Ok((dataset, Sampling { entry, sampler, split }))
    }

    /// The dataset, and its settings as they were given.
    pub(super) fn open_with_settings(&self) -> Result<(Box<dyn Dataset>, Table)> {
        let settings = self.settings()?;
        Ok((self.build(&settings)?, settings))
    }

    /// What it was called: a name, or the path of a file.
    pub(super) fn label(&self) -> String {
        self.name.clone()
    }

    /// The name in the list of datasets: that of one's own images where a path was given.
    pub(super) fn listed_name(&self) -> &str {
        let path = Path::new(&self.name);
        match datasets::find(&self.name).is_err() {
            true if path.extension().is_some_and(|ending| ending == "npz") => "npz",
            true if path.is_dir() => "folder",
            _ => &self.name,
        }
    }

    /// The settings as they were given, with the path of one's own images.
    pub(super) fn settings(&self) -> Result<Table> {
        let mut settings = Table::new();
        if self.listed_name() != self.name {
            settings.insert("path".to_string(), Value::String(self.name.clone()));
        }
        self.set.iter().try_for_each(|change| apply_override(&mut settings, change))?;
        Ok(settings)
    }

    fn build(&self, settings: &Table) -> Result<Box<dyn Dataset>> {
        if self.listed_name() == "folder" && Path::new(&self.name).join("model.safetensors").exists() {
            return Err(Error::new(format!("{} is the folder of a run, and not one of pictures", self.name))
                .help("name the dataset of the run, which stands in its config.toml"));
        }
        let place = format!("dataset \"{}\"", self.name);
        datasets::build(self.listed_name(), settings).map_err(|error| in_place(error, &place))
    }
}

/// A sampler, and the images that it draws.
struct Sampling {
    entry: &'static samplers::Entry,
    sampler: Box<dyn Sampler>,
    split: Arc<Split>,
}

impl Sampling {
    fn examples(&self, seed: u64) -> Examples<'_> {
        Examples { sampler: &*self.sampler, split: &self.split, seed: Seed(seed) }
    }
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    match &arguments.command {
        Command::List => print(datasets_table().trim_end())?,
        Command::Show { dataset, sampler: None, images, out } => {
            show::show(&dataset.name, &*dataset.open()?, None, *images as usize, out)?;
        }
        Command::Show { dataset: chosen, sampler: Some(sampler), images, out } => {
            let (dataset, sampling) = chosen.open_with_sampler(sampler)?;
            show::show(&chosen.name, &*dataset, Some(&sampling), *images as usize, out)?;
        }
        Command::Sample { dataset, sampler, count, seed, out, shared } => {
            let files = [Some(out), shared.as_ref()].into_iter().flatten();
            files.clone().try_for_each(|file| check_npy_name(file))?;
            let (_, sampling) = dataset.open_with_sampler(sampler)?;
            let examples = sampling.examples(*seed);
            if let Some(shared) = shared {
                if !sampling.entry.tells_shared {
                    let message = format!("sampler \"{sampler}\" does not tell what images share");
                    return Err(Error::new(message).help("leave --shared out; \"shared_pair\" tells it"));
                }
                examples.write_shared(shared, *count)?;
            }
            examples.write(out, *count)?;
            files.into_iter().try_for_each(|file| print(file.display()))?;
        }
        Command::Check { path, json: false } => return check::check(path, check::as_text),
        Command::Check { path, json: true } => return check::check(path, check::as_json),
        Command::Stats { dataset } => print_stats(dataset.open()?.as_ref())?,
        Command::Export { dataset, file, indices } => {
            check_npz_name(file)?;
            let indices = indices.as_deref().map(read_indices).transpose()?;
            let dataset = dataset.open()?;
            if dataset.as_standardised().is_some() {
                tell("note: pixels are exported as they are before they are standardised");
            }
            export::export_npz(dataset.as_ref(), indices.as_deref(), file)?;
            print(file.display())?;
        }
    }
    Ok(Outcome::Done)
}

fn print_stats(dataset: &dyn Dataset) -> Result<()> {
    let what = match (dataset.as_standardised(), dataset.has_unit_pixels()) {
        (Some(_), _) => "images, standardised",
        (None, true) => "images, each pixel in [0, 1]",
        (None, false) => "points in space",
    };
    print(format!("{} {what}", dataset.n_images()))?;
    print("channel  mean               std (global)       std (mean over images of each image's own)")?;
    for (channel, stats) in stats::channel_stats(dataset, None)?.iter().enumerate() {
        print(format!("{channel:<7}  {:<17.15}  {:<17.15}  {:.15}", stats.mean, stats.std, stats.mean_image_std))?;
    }
    Ok(())
}
