//! `unbraid data`: the images of a dataset, their statistics, and an export for numpy.

use std::fs;
use std::path::PathBuf;

use clap::Subcommand;
use toml::Table;
use unbraid_data::datasets::read_numbered;
use unbraid_data::factor_space::index_of;
use unbraid_data::npy::read_indices;
use unbraid_data::standardised::as_shown;
use unbraid_data::{Dataset, Error, Result, datasets, stats};
use unbraid_experiment::config::{apply_override, in_place};
use unbraid_experiment::pictures::shows_pictures;
use unbraid_formats::export;
use unbraid_report::Picture;
use unbraid_report::figures::contact_sheet::contact_sheet;
use unbraid_report::figures::factor_rows::{FactorRow, evenly_spread, factor_rows};

use super::inputs::check_npz_name;
use super::list::datasets_table;
use crate::Outcome;
use crate::output::{print, tell};

/// Images on a contact sheet, and how many stand beside each other.
const SHEET: (usize, usize) = (48, 8);
/// Values that are shown of a factor.
const SHOWN_VALUES: usize = 10;

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
    /// Write a contact sheet and one traversal row per factor as PNG
    Show {
        #[command(flatten)]
        dataset: Chosen,
        /// Where the pictures go
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        out: PathBuf,
    },
    /// Print mean, standard deviation and mean standard deviation per image, for each channel
    Stats {
        #[command(flatten)]
        dataset: Chosen,
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
struct Chosen {
    /// The name of the dataset
    name: String,
    /// A setting of the dataset: spacing=4, fix='{ shape = 0 }'
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Chosen {
    fn open(&self) -> Result<Box<dyn Dataset>> {
        let mut settings = Table::new();
        for change in &self.set {
            apply_override(&mut settings, change)?;
        }
        let place = format!("dataset \"{}\"", self.name);
        datasets::build(&self.name, &settings).map_err(|error| in_place(error, &place))
    }
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    match &arguments.command {
        Command::List => print(datasets_table().trim_end())?,
        Command::Show { dataset, out } => show(&dataset.name, dataset.open()?.as_ref(), out)?,
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

fn show(name: &str, dataset: &dyn Dataset, out: &PathBuf) -> Result<()> {
    let dataset = as_shown(dataset);
    if !shows_pictures(dataset.holds_bytes(), dataset.image_shape()) {
        return Err(Error::new(format!("the images of \"{name}\" are points in space, which cannot be drawn"))
            .help(format!("`unbraid data export {name} FILE.npz` writes them for numpy")));
    }
    fs::create_dir_all(out)
        .map_err(|error| Error::new(format!("the folder {} cannot be made: {error}", out.display())))?;
    let indices = evenly_spread(dataset.n_images(), SHEET.0);
    let pictures = indices.iter().map(|&index| picture(dataset, index)).collect::<Result<Vec<_>>>()?;
    let captions: Vec<String> = indices.iter().map(ToString::to_string).collect();
    let sheet = contact_sheet(&format!("{name}, {} images", dataset.n_images()), &pictures, &captions, SHEET.1);
    let rows = factor_rows(&format!("{name}, factor by factor"), &rows_by_factor(dataset)?);
    for (kind, canvas) in [("sheet", sheet), ("factors", rows)] {
        let path = out.join(format!("{name}-{kind}.png"));
        canvas.save(&path)?;
        print(path.display())?;
    }
    Ok(())
}

/// For each factor, images along which it alone changes; the others have the middle of their values.
fn rows_by_factor(dataset: &dyn Dataset) -> Result<Vec<FactorRow>> {
    let sizes = dataset.factors().grid_sizes()?;
    let middle: Vec<usize> = sizes.iter().map(|size| size / 2).collect();
    let mut rows = Vec::new();
    for (position, factor) in dataset.factors().factors().iter().enumerate() {
        let values = evenly_spread(sizes[position], SHOWN_VALUES);
        let along = |&value: &usize| {
            let mut combination = middle.clone();
            combination[position] = value;
            picture(dataset, index_of(&combination, &sizes))
        };
        let pictures = values.iter().map(along).collect::<Result<_>>()?;
        rows.push(FactorRow { name: factor.name.clone(), n_values: sizes[position], values, pictures });
    }
    Ok(rows)
}

fn picture(dataset: &dyn Dataset, index: usize) -> Result<Picture> {
    let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
    read_numbered(dataset, index, &mut pixels)?;
    Picture::new(dataset.image_shape(), pixels)
}

fn print_stats(dataset: &dyn Dataset) -> Result<()> {
    let what = match (dataset.as_standardised(), dataset.holds_bytes()) {
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
