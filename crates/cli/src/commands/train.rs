//! `unbraid train`: what a config describes, from the first step to the report.

use std::path::{Path, PathBuf};

use unbraid_data::Result;
use unbraid_experiment::prepare::prepare;
use unbraid_experiment::{Config, run};

use super::tell_ending;
use crate::Outcome;
use crate::output::print;
use crate::watching::Watcher;

const SETTINGS: &str = "\
`unbraid list config` prints the keys of a config, and `unbraid list frameworks beta_vae` the settings of what it names.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = SETTINGS)]
pub struct Arguments {
    /// The config, a TOML file
    config: PathBuf,

    /// Change a setting of the config: framework.beta=8
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Where the run goes; runs/NAME-OF-CONFIG where left out
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Print the whole config, with every --set and every default, and train nothing
    #[arg(long)]
    print_config: bool,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let config = Config::load(&arguments.config, &arguments.set)?;
    let named = || Path::new("runs").join(arguments.config.file_stem().unwrap_or("run".as_ref()));
    let path = arguments.out.clone().unwrap_or_else(named);
    let prepared = prepare(&config).map_err(|error| error.at(arguments.config.display()))?;
    if arguments.print_config {
        print(config.to_toml().trim_end())?;
        return Ok(Outcome::Done);
    }
    let mut watcher = Watcher::new()?;
    let ending = run::start(&config, prepared, &path, &mut watcher)?;
    watcher.finish();
    tell_ending(ending, &path)
}
