//! `unbraid distances`: how far apart images along each factor are at every level of a run, and how these distances agree.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde_json::{Map, Value, json};
use unbraid_data::{Error, Result, Seed};
use unbraid_experiment::pictures::narrow_name;
use unbraid_experiment::run_distances::{
    Agreement, Comparison, DistanceSettings, FactorDistances, Level, RunDistances, run_distances,
};
use unbraid_report::figures::{distance_matrices, distance_matrices_narrow};
use unbraid_report::tables::{numbers_table, score_text};
use unbraid_report::{RunFolder, write_whole};

use super::table_width;
use crate::Outcome;
use crate::commands::report::open_encoded;
use crate::output::{print, tell};
use crate::progress::Progress;

const FIGURE: &str = "distances.png";

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    run: PathBuf,

    /// How many traversals of each factor are taken; all where there are fewer
    #[arg(long, value_name = "N", default_value_t = 64)]
    traversals: usize,

    /// What they are drawn by
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Print JSON: all correlations by name, the reasons why others are undefined, and the matrices
    #[arg(long)]
    json: bool,

    /// Where distances.png is written; into the figures of the run where left out
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let (run, _) = open_encoded(&arguments.run)?;
    let mut progress = Progress::new();
    let settings = DistanceSettings { traversals: arguments.traversals, seed: Seed(arguments.seed) };
    let distances = run_distances(&run, &settings, &mut progress)?;
    progress.clear();
    let figure = write_figures(&distances, arguments.out.as_deref(), &run.folder)?;
    if arguments.json {
        tell(figure.display());
        print(format!("{:#}", as_json(&distances, arguments)))?;
    } else {
        print(as_text(&distances).trim_end())?;
        print(figure.display())?;
    }
    Ok(Outcome::Done)
}

/// Draws the matrices, once more for narrow screens; gives the path of the first.
fn write_figures(distances: &RunDistances, out: Option<&Path>, folder: &RunFolder) -> Result<PathBuf> {
    let (title, rows) = ("Distances along each factor", distances.rows());
    let drawn = [
        (FIGURE.to_string(), distance_matrices(title, &rows)),
        (narrow_name(FIGURE), distance_matrices_narrow(title, &rows)),
    ];
    for (name, canvas) in drawn {
        match out {
            None => folder.write_figure(&name, &canvas.to_png()?)?,
            Some(out) => {
                std::fs::create_dir_all(out).map_err(|error| {
                    Error::new(format!("{}: the folder cannot be made: {error}", out.display())).help("name another")
                })?;
                write_whole(&out.join(&name), &canvas.to_png()?)?;
            }
        }
    }
    Ok(out.map_or_else(|| folder.figure_path(FIGURE), |out| out.join(FIGURE)))
}

fn as_text(distances: &RunDistances) -> String {
    let mut header = vec!["factor", "values", "traversals"];
    let names =
        Comparison::ALL.map(|comparison| ["pearson", "spearman"].map(|of| format!("{} {of}", comparison.name())));
    header.extend(names.iter().flatten().map(String::as_str));
    let numbers = |agreements: &[Agreement; 3]| -> Vec<String> {
        let each = agreements.iter().flat_map(|agreement| [&agreement.pearson, &agreement.spearman]);
        each.map(|value| value.as_ref().map_or("–".to_string(), |value| score_text(*value))).collect()
    };
    let row = |factor: &FactorDistances| {
        let FactorDistances { n_traversals, n_all_traversals, .. } = factor;
        let traversals = if n_traversals == n_all_traversals {
            format!("all {n_all_traversals}")
        } else {
            format!("{n_traversals} of {n_all_traversals}")
        };
        let mut row = vec![factor.name.clone(), factor.n_values.to_string(), traversals];
        row.extend(numbers(&factor.agreements));
        row
    };
    let mut rows: Vec<Vec<String>> = distances.factors.iter().map(row).collect();
    let mut combined = vec!["geometric mean".to_string(), String::new(), String::new()];
    combined.extend(numbers(&distances.agreements));
    rows.push(combined);
    let mut text = numbers_table(&header, &rows, table_width());
    text += &format!(
        "\nimages and reconstructions are compared by {}, codes by L1 in correlations and by L2 in the picture; posteriors by the KL divergence of the row's from the column's\n",
        distances.loss
    );
    let left_out = distances.left_out.iter().map(|(what, why)| format!("{what} left out: {why}\n"));
    let undefined = undefined(distances).into_iter().map(|(name, why)| format!("{name} is not defined: {why}\n"));
    let notes = distances.notes.iter().map(|note| format!("note: {note}\n"));
    text + &left_out.chain(undefined).chain(notes).collect::<String>()
}

/// Every number of the run with its name: those of each factor, and those of all together.
fn named(distances: &RunDistances) -> Vec<(String, &std::result::Result<f64, String>)> {
    let all = distances.factors.iter().map(|factor| (format!("factors.{}.", factor.name), &factor.agreements));
    let mut named = Vec::new();
    for (prefix, agreements) in all.chain([(String::new(), &distances.agreements)]) {
        for (comparison, Agreement { pearson, spearman }) in Comparison::ALL.into_iter().zip(agreements) {
            named.push((format!("{prefix}{}.pearson", comparison.name()), pearson));
            named.push((format!("{prefix}{}.spearman", comparison.name()), spearman));
        }
    }
    named
}

/// The numbers that are not defined, and why.
fn undefined(distances: &RunDistances) -> Vec<(String, String)> {
    let reason =
        |(name, value): (String, &std::result::Result<f64, String>)| Some((name, value.as_ref().err()?.clone()));
    named(distances).into_iter().filter_map(reason).collect()
}

fn as_json(distances: &RunDistances, arguments: &Arguments) -> Value {
    let texts = |pairs: &[(String, String)]| -> Map<String, Value> {
        pairs.iter().map(|(name, text)| (name.clone(), json!(text))).collect()
    };
    let number = |value: &std::result::Result<f64, String>| json!(value.as_ref().ok());
    let with_agreements = |mut object: Map<String, Value>, agreements: &[Agreement; 3]| {
        for (comparison, agreement) in Comparison::ALL.into_iter().zip(agreements) {
            let value = json!({ "pearson": number(&agreement.pearson), "spearman": number(&agreement.spearman) });
            object.insert(comparison.name().to_string(), value);
        }
        Value::Object(object)
    };
    let factor = |factor: &FactorDistances| {
        let counts = [
            ("values", factor.n_values),
            ("traversals", factor.n_traversals),
            ("all_traversals", factor.n_all_traversals),
        ];
        let counts = counts.into_iter().map(|(name, count)| (name.to_string(), json!(count))).collect();
        (factor.name.clone(), with_agreements(counts, &factor.agreements))
    };
    let matrices = |factor: &FactorDistances| {
        let each = Level::ALL.into_iter().zip(&factor.matrices);
        let defined = each.filter_map(|(level, matrix)| Some((level.name().to_string(), rows(matrix.as_ref()?))));
        (factor.name.clone(), Value::Object(defined.collect()))
    };
    let whole = Map::from_iter([
        ("run".to_string(), json!(arguments.run.display().to_string())),
        ("loss".to_string(), json!(distances.loss)),
        ("seed".to_string(), json!(arguments.seed)),
        ("factors".to_string(), Value::Object(distances.factors.iter().map(factor).collect())),
        ("undefined".to_string(), Value::Object(texts(&undefined(distances)))),
        ("left_out".to_string(), Value::Object(texts(&distances.left_out))),
        ("notes".to_string(), json!(distances.notes)),
        ("matrices".to_string(), Value::Object(distances.factors.iter().map(matrices).collect())),
    ]);
    with_agreements(whole, &distances.agreements)
}

fn rows(matrix: &Array2<f64>) -> Value {
    json!(matrix.rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>())
}
