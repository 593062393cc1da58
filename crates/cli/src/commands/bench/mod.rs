//! `unbraid bench`: how fast this machine is at it.

use std::time::Duration;

use clap::Subcommand;
use unbraid_data::{Error, Result};

use crate::Outcome;

mod contender;
mod data;
mod frameworks;
mod losses;
mod metrics;
mod samplers;
mod train;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Images per second that each dataset gives
    Data(data::Arguments),
    /// What a training step of each framework costs beside one of beta_vae
    Frameworks(frameworks::Arguments),
    /// Pairs of images that each loss compares, and what a training step with it costs beside one with mse
    Losses(losses::Arguments),
    /// Seconds that each metric takes
    Metrics(metrics::Arguments),
    /// Examples per second that each sampler draws
    Samplers(samplers::Arguments),
    /// Images per second that training and encoding take
    Train(train::Arguments),
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    match &arguments.command {
        Command::Data(arguments) => data::run(arguments),
        Command::Frameworks(arguments) => frameworks::run(arguments),
        Command::Losses(arguments) => losses::run(arguments),
        Command::Metrics(arguments) => metrics::run(arguments),
        Command::Samplers(arguments) => samplers::run(arguments),
        Command::Train(arguments) => train::run(arguments),
    }
}

/// How long each case is measured, from `--seconds`.
fn time_of_each(seconds: f64) -> Result<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| time.as_secs() <= 3600);
    time.ok_or_else(|| Error::new(format!("--seconds is {seconds}")).help("wanted 0 to 3600"))
}
