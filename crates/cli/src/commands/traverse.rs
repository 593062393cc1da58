//! `unbraid traverse`: what each latent of a run does, as PNG and GIF.

use std::path::PathBuf;

use clap::ValueEnum;
use unbraid_data::Result;
use unbraid_experiment::pictures::{Range, TraversalSettings, draw_traversals};

use crate::Outcome;
use crate::commands::report::open_encoded;
use crate::output::print;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    run: PathBuf,

    /// Which values a latent takes
    #[arg(long, value_enum, default_value = "suited")]
    range: RangeName,

    /// How many values
    #[arg(long, value_name = "N", default_value_t = 11)]
    columns: usize,

    /// The number of the image whose code the other latents keep; one in the middle of all factors where left out
    #[arg(long, value_name = "INDEX")]
    image: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum RangeName {
    /// From -2 to 2, or as std where codes are far wider than the prior; what the page shows
    Suited,
    /// From -2 to 2
    Fixed,
    /// From the least to the greatest of the run's codes
    MinMax,
    /// Two standard deviations of the run's codes to each side
    Std,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let (run, data) = open_encoded(&arguments.run)?;
    let range = match arguments.range {
        RangeName::Suited => Range::Suited,
        RangeName::Fixed => Range::Fixed,
        RangeName::MinMax => Range::MinMax,
        RangeName::Std => Range::Std,
    };
    let settings = TraversalSettings { range, columns: arguments.columns, image: arguments.image };
    for name in draw_traversals(&run, &data, &settings)? {
        print(run.folder.figure_path(&name).display())?;
    }
    Ok(Outcome::Done)
}
