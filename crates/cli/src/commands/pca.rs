//! `unbraid pca`: the principal components of a dataset, and how the latents of a run lie among them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use unbraid_data::words::as_folder_name;
use unbraid_data::{Error, Result, Seed, datasets};
use unbraid_experiment::TrainedRun;
use unbraid_experiment::pca::{
    Analysed, HowMany, PcaSettings, Source, analyse, analyse_run, component_rows, entry_rows, findings_json,
    latent_rows, write_page,
};
use unbraid_report::tables::numbers_table;

use super::data::Chosen;
use super::doctor::title;
use super::{page_folder, table_width, tell_page};
use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

const MORE: &str = "\
A linear VAE finds the principal components (Zietlow 2022, theorem 2). `unbraid pca dsprites` shows those of a dataset, `unbraid pca mine.npz`
those of your own images; `unbraid pca RUN` sets beside them the direction in which each latent of the run moves the picture, with the
angle to the component in order and to the one that matches best.

Images of up to 4,096 numbers go by their covariance, in one pass; larger ones by passes from a random start. Either reads them a few at a time.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// The name of a dataset; your own images, an .npz file or a folder of pictures; or the folder of a run
    #[arg(value_name = "DATASET|FILE|RUN")]
    what: String,

    /// A setting of the dataset: spacing=4, fix='{ shape = 0 }'
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Components, 1 to 256; of a run at least as many as it has active latents
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=256), allow_negative_numbers = true)]
    components: u64,

    /// Images to take, drawn where there are more: a number, or all [default: 50000, or a gigabyte of pixels]
    #[arg(long, value_name = "N|all")]
    images: Option<Count>,

    /// Decides which images are drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print JSON: components with variance, share and cumulative; of a run directions.latents and the verdict
    #[arg(long)]
    json: bool,

    /// Where the page, its pictures and arrays go [default: pca/NAME, or RUN/pca]; with --json none are written unless this is given
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// A number of images, or all of them.
#[derive(Debug, Clone, Copy)]
struct Count(HowMany);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "all" {
            return Ok(Self(HowMany::All));
        }
        match text.replace('_', "").parse::<usize>() {
            Ok(images) if images >= 2 => Ok(Self(HowMany::UpTo(images))),
            _ => Err("wanted `all`, or a number from 2 on".to_string()),
        }
    }
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut progress = Progress::new();
    let analysed = arguments.analyse(&mut progress)?;
    progress.clear();
    let json = arguments.json;
    let folder = page_folder(arguments.out.as_deref(), json, || arguments.usual_folder(&analysed));
    let written = folder.map(|folder| write_page(&analysed, &folder)).transpose()?;
    match json {
        true => print(format!("{:#}", findings_json(&analysed)))?,
        false => print_findings(&analysed)?,
    }
    tell_page(written.as_deref(), json)?;
    Ok(Outcome::Done)
}

impl Arguments {
    /// Whether the folder of a run is meant.
    fn is_run(&self) -> bool {
        datasets::find(&self.what).is_err() && Path::new(&self.what).join("config.toml").exists()
    }

    /// The folder that a page goes to unless told.
    fn usual_folder(&self, analysed: &Analysed) -> PathBuf {
        match self.is_run() {
            true => Path::new(&self.what).join("pca"),
            false => Path::new("pca").join(as_folder_name(&analysed.source.title)),
        }
    }

    fn analyse(&self, progress: &mut Progress) -> Result<Analysed> {
        let settings = PcaSettings {
            n_components: self.components as usize,
            images: self.images.map_or(HowMany::Usual, |count| count.0),
            seed: Seed(self.seed),
        };
        let path = Path::new(&self.what);
        if self.is_run() {
            if let Some(set) = self.set.first() {
                return Err(Error::new(format!("--set {set}: {} is a run, which has its dataset", path.display()))
                    .help("leave it out, or name the dataset"));
            }
            return analyse_run(&TrainedRun::open(path)?, settings, progress);
        }
        let chosen = Chosen { name: self.what.clone(), set: self.set.clone() };
        let (dataset, given) = chosen.open_with_settings().map_err(|error| match error.is_about_a_name() {
            true if path.is_file() => {
                error.more_help("there is a file called so, but none of images: wanted an .npz file")
            }
            true => error.more_help("nor is there a file or the folder of a run called so"),
            false => error,
        })?;
        let source = Source { title: title(&self.what, &given), name: self.what.clone(), settings: given };
        analyse(dataset.as_ref(), source, settings, progress)
            .map_err(|error| error.at(format!("dataset \"{}\"", self.what)))
    }
}

fn print_findings(analysed: &Analysed) -> Result<()> {
    let table = |(header, rows): (Vec<String>, Vec<Vec<String>>)| {
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        numbers_table(&header, &rows, table_width()).trim_end().to_string()
    };
    print(analysed.summary())?;
    print(format!("\n{}", table(component_rows(analysed))))?;
    if let Some(rows) = entry_rows(analysed) {
        print(format!("\n{}", table(rows)))?;
    }
    if let Some(rows) = latent_rows(analysed) {
        print(format!("\n{}", table(rows)))?;
    }
    if let Some(latents) = &analysed.latents {
        print(format!("\n{}", latents.verdict))?;
    }
    analysed.notes.iter().try_for_each(|note| print(format!("note: {note}")))
}
