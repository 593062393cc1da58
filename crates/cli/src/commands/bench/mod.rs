//! `unbraid bench`: how fast this machine is at it.

use clap::Subcommand;
use unbraid_data::Result;

use crate::Outcome;

mod data;
mod frameworks;
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
        Command::Metrics(arguments) => metrics::run(arguments),
        Command::Samplers(arguments) => samplers::run(arguments),
        Command::Train(arguments) => train::run(arguments),
    }
}
