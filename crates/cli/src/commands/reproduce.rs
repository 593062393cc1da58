//! `unbraid reproduce`: published tables and figures made again, ours beside the published numbers.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use unbraid_data::Result;
use unbraid_data::whole_file::create_folder;
use unbraid_experiment::reproductions::{self, Entry, Outcome as Found, Row, Value};
use unbraid_report::tables::numbers_table;

use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

/// Arguments of the command.
#[derive(clap::Args)]
#[command(
    after_help = "`unbraid list reproductions` prints the names. Exits with 1 where a number is off by more than its row allows."
)]
pub struct Arguments {
    /// The table or figure, like t1-table-4.2
    name: String,

    /// Print JSON: rows with what, published, ours, difference, allowed and agrees
    #[arg(long)]
    json: bool,

    /// Where pictures go, for those that have some
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let entry = reproductions::find(&arguments.name)?;
    let found = {
        let mut progress = Progress::new();
        let found = (entry.run)(&mut progress)?;
        progress.clear();
        found
    };
    let figures = save(entry, &found, arguments)?;
    if arguments.json {
        print(format!("{:#}", as_json(entry, &found, &figures)))?;
    } else {
        print_found(entry, &found, &figures)?;
    }
    Ok(if found.agrees() { Outcome::Done } else { Outcome::Differs })
}

/// Pictures are written beside a table, and with JSON where a folder is given.
fn save(entry: &Entry, found: &Found, arguments: &Arguments) -> Result<Vec<PathBuf>> {
    let folder = match (&arguments.out, arguments.json) {
        (Some(folder), _) => folder.clone(),
        (None, true) => return Ok(Vec::new()),
        (None, false) => Path::new("reproductions").join(entry.name),
    };
    if found.figures.is_empty() {
        return Ok(Vec::new());
    }
    create_folder(&folder)?;
    found.save_figures(&folder)
}

fn print_found(entry: &Entry, found: &Found, figures: &[PathBuf]) -> Result<()> {
    print(format!("{}: {} ({})\n", entry.name, entry.about, entry.paper))?;
    let header = ["", "published", "ours", "difference", "allowed", "agrees"];
    let rows: Vec<Vec<String>> = found.rows.iter().map(cells).collect();
    print(numbers_table(&header, &rows, None).trim_end())?;
    for note in &found.notes {
        print(format!("\nnote: {note}"))?;
    }
    let (n_agreeing, n_published) = counts(found);
    print(format!("\n{n_agreeing} of {n_published} published numbers and claims agree"))?;
    figures.iter().try_for_each(|path| print(path.display()))
}

fn counts(found: &Found) -> (usize, usize) {
    let outcomes: Vec<bool> = found.rows.iter().filter_map(Row::agrees).collect();
    (outcomes.iter().filter(|agrees| **agrees).count(), outcomes.len())
}

fn cells(row: &Row) -> Vec<String> {
    let agrees = match row.agrees() {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "",
    };
    let digits = |value: f64| if value.is_finite() { format!("{value:.4}") } else { "undefined".to_string() };
    let [published, ours, difference, allowed] = match &row.value {
        Value::Number { ours, published: Some((published, allowed)) } => {
            let difference = if ours.is_finite() { format!("{:+.4}", ours - published) } else { String::new() };
            [published.to_string(), digits(*ours), difference, allowed.to_string()]
        }
        Value::Number { ours, published: None } => [String::new(), digits(*ours), String::new(), String::new()],
        Value::Claim { ours, .. } => ["claim".to_string(), ours.clone(), String::new(), String::new()],
    };
    vec![row.what.clone(), published, ours, difference, allowed, agrees.to_string()]
}

fn as_json(entry: &Entry, found: &Found, figures: &[PathBuf]) -> Json {
    let row = |row: &Row| match &row.value {
        Value::Number { ours, published } => json!({
            "what": row.what,
            "published": published.map(|(published, _)| published),
            "ours": ours,
            "difference": published.map(|(published, _)| ours - published),
            "allowed": published.map(|(_, allowed)| allowed),
            "agrees": row.agrees(),
        }),
        Value::Claim { ours, holds } => json!({ "what": row.what, "ours": ours, "agrees": holds }),
    };
    json!({
        "name": entry.name,
        "about": entry.about,
        "paper": entry.paper,
        "agrees": found.agrees(),
        "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        "notes": found.notes,
        "figures": figures,
    })
}
