//! `unbraid demo`: two runs side by side, from nothing.

use std::path::PathBuf;

use unbraid_data::Result;
use unbraid_data::words::quoted;
use unbraid_experiment::Ending;
use unbraid_experiment::demo::demo;
use unbraid_report::tables::key_scores_table;

use super::table_width;
use crate::Outcome;
use crate::output::print;
use crate::watching::Watcher;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Where the runs and the page go
    #[arg(long, value_name = "FOLDER", default_value = "runs/demo")]
    out: PathBuf,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut watcher = Watcher::new()?;
    let outcome = demo(&arguments.out, &mut watcher)?;
    watcher.finish();
    if let Ending::Stopped(step) = outcome.ending {
        print(format!("stopped and saved after step {step}; the same command goes on from there"))?;
        return Ok(Outcome::Stopped);
    }
    let runs: Vec<_> = outcome.scores.iter().map(|(name, scores)| (name.as_str(), scores)).collect();
    print(key_scores_table(&runs, table_width()))?;
    print(format!("what each latent does: {}", outcome.page.display()))?;
    let paths: Vec<String> = runs.iter().map(|(name, _)| quoted(&arguments.out.join(name))).collect();
    print(format!("all scores: `unbraid evaluate {}`", paths.join(" ")))?;
    Ok(Outcome::Done)
}
