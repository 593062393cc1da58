//! `unbraid list`: what can be named in a config.

use serde_json::json;
use unbraid_data::error::did_you_mean;
use unbraid_data::{Error, Result, datasets, samplers};
use unbraid_learn::{frameworks, nets, optimisers, reconstruction};
use unbraid_report::tables::{ListRow, list_table};

use super::table_width;
use crate::Outcome;
use crate::output::print;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// What to list: datasets, samplers, models, frameworks, reconstructions, optimisers or metrics; all where left out
    kind: Option<String>,

    /// Print JSON: an array of objects with name, about and paper
    #[arg(long)]
    json: bool,
}

/// The rows of a list, whatever it lists.
macro_rules! rows {
    ($list:expr) => {
        $list.iter().map(|entry| ListRow { name: entry.name, about: entry.about, paper: entry.paper }).collect()
    };
}

/// Every list with its rows.
pub fn lists() -> Vec<(&'static str, Vec<ListRow<'static>>)> {
    vec![
        ("datasets", rows!(datasets::DATASETS)),
        ("samplers", rows!(samplers::SAMPLERS)),
        ("models", rows!(nets::NETS)),
        ("frameworks", rows!(frameworks::FRAMEWORKS)),
        ("reconstructions", rows!(reconstruction::RECONSTRUCTIONS)),
        ("optimisers", rows!(optimisers::OPTIMISERS)),
        ("metrics", rows!(unbraid_metrics::METRICS)),
    ]
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let lists = lists();
    let chosen: Vec<_> = match &arguments.kind {
        None => lists.iter().collect(),
        Some(kind) => vec![lists.iter().find(|(name, _)| name == kind).ok_or_else(|| unknown_kind(kind, &lists))?],
    };
    if arguments.json {
        let rows = chosen.iter().flat_map(|(kind, rows)| rows.iter().map(move |row| (kind, row)));
        let objects: Vec<_> = rows
            .map(|(kind, row)| json!({ "name": row.name, "about": row.about, "paper": row.paper, "kind": kind }))
            .collect();
        print(format!("{:#}", serde_json::Value::from(objects)))?;
        return Ok(Outcome::Done);
    }
    for (kind, rows) in chosen {
        print(format!("{kind}\n{}", list_table(rows, table_width())))?;
    }
    Ok(Outcome::Done)
}

fn unknown_kind(kind: &str, lists: &[(&str, Vec<ListRow>)]) -> Error {
    let names: Vec<&str> = lists.iter().map(|(name, _)| *name).collect();
    let close = did_you_mean(kind, names.iter().copied());
    Error::new(format!("there is no list of \"{kind}\"{close}")).help(format!("there are {}", names.join(", ")))
}
