//! The page of a perturbation: what came of it in words, its MIG and pictures; other scores and the runs are folded away.

use std::path::Path;

use unbraid_data::Result;
use unbraid_data::whole_file::{read_whole, write_whole};
use unbraid_data::words::{quoted, shell_word};
use unbraid_report::figures::Panels;
use unbraid_report::page::{Folded, InspectPage, PageFigure, PageTable, inspect_page};

use super::PerturbFolder;
use super::config::{GivenRun, Side};
use super::pictures::losses_picture;
use super::retrain::{RunResult, line_search_table, score_tables, words};
use super::summary::Summary;

const CHANGES: &str = "Images as they were, what was added to them (grey: nothing; white: epsilon more; black: epsilon less), and as they are now; beside them the control, \
    uniform noise of the same size. A change that follows the factors has a pattern; noise has none (T4 figure 4.3).";
const NEURON: &str = "The one number that the whole change of an image is drawn from, over each factor, for some images; lines are means. \
    A factor along which it moves is one that the change depends on (T4 4.3.1).";
const LOSSES: &str = "Losses of the decoders on the altered images, at each batch of the manipulation network. It lowers the first: the loss of the entangled models less that of the \
    disentangled ones. Below 0 the entangled models draw the altered images better, which is what T4 4.2.4 wants. Both losses may rise or fall, with the contrast of the altered images, and what was gained \
    may shrink again while the decoders learn what was added. Pale lines are single steps, dark ones means over some.";
const MIG: &str = "MIG of every run, a bar at the mean over seeds. Where the altered images lie below both others the change, and not its size, entangles the framework (T4 table 4.2).";
const FACTORS: &str = "MIG of each factor (T4 figure 4.9, which finds that it falls for all of them).";
const LINE_SEARCH: &str = "MIG on the altered images with the main setting multiplied. Runs with fewer active latents than factors are left out (T4 figure 4.4).";

/// The pictures of the page, as they lie in the folder: name, heading and caption.
const PICTURES: [(&str, &str, &str); 5] = [
    ("retrain", "MIG of frameworks that were trained again", MIG),
    ("factors", "MIG of each factor", FACTORS),
    ("line_search", "Line search of the main setting", LINE_SEARCH),
    ("changes", "Original, change, altered", CHANGES),
    ("neuron", "What the change depends on", NEURON),
];

/// Writes `perturb.html` of what lies in the folder, with the scores of runs that were trained again where there are any.
pub fn write_page(folder: &PerturbFolder, summary: &Summary, results: &[RunResult]) -> Result<()> {
    let mut figures = Vec::new();
    for (name, heading, caption) in PICTURES {
        let path = folder.picture_path(name);
        let is_of_results = ["retrain", "factors", "line_search"].contains(&name);
        if path.exists() && !(is_of_results && results.is_empty()) {
            let (name, caption) = (heading.to_string(), caption.to_string());
            figures.push(PageFigure { name, caption, bytes: read_whole(&path)?, narrow: None });
        }
    }
    let narrow = Some(losses_picture(folder, &summary.dataset, Panels::Stacked)?.to_png()?);
    let bytes = read_whole(&folder.picture_path("losses"))?;
    figures.push(PageFigure { name: "Losses".to_string(), caption: LOSSES.to_string(), bytes, narrow });
    let mut tables = score_tables(results, summary);
    let others = tables.split_off(tables.len().min(1));
    let folded =
        |summary: &str, tables: Vec<PageTable>| Folded { summary: summary.to_string(), tables, figures: Vec::new() };
    tables.extend(line_search_table(results));
    let mut folds = vec![folded("The runs it was learned from", vec![runs_table(&summary.chosen_by, &summary.runs)])];
    if !others.is_empty() {
        folds.insert(0, folded("Other scores, and each factor", others));
    }
    let page = InspectPage {
        title: format!("{}, perturbed", summary.dataset),
        lead: summary.in_words(),
        verdicts: words(results),
        tables,
        figures,
        folded: folds,
        notes: notes(summary, results),
        commands: commands(folder, summary),
    };
    write_whole(&folder.page_path(), inspect_page(&page).as_bytes())
}

/// All runs, the most disentangled first, and what each is taken for.
pub fn runs_table(chosen_by: &str, runs: &[GivenRun]) -> PageTable {
    let mut runs: Vec<_> = runs.iter().collect();
    runs.sort_by(|a, b| b.score.total_cmp(&a.score));
    let here = std::env::current_dir().unwrap_or_default();
    let row = |run: &GivenRun| {
        let path = run.path.strip_prefix(&here).unwrap_or(&run.path);
        vec![path.display().to_string(), format!("{:.4}", run.score), side_text(run.side).to_string()]
    };
    let title = chosen_by.to_uppercase();
    PageTable {
        name: "The runs".to_string(),
        caption: format!("All runs by {title}, and what their models were taken for."),
        header: ["run", &title, "taken as"].map(String::from).to_vec(),
        rows: runs.into_iter().map(row).collect(),
    }
}

/// What a run is taken for, in a word.
fn side_text(side: Side) -> &'static str {
    match side {
        Side::Entangled => "entangled",
        Side::Disentangled => "disentangled",
        Side::Between => "",
    }
}

fn notes(summary: &Summary, results: &[RunResult]) -> Vec<String> {
    let mut notes = vec![format!(
        "Mean changes are those of {} images, drawn at random: {:.4} of altered images, {:.4} with noise. That no pixel of any image changes by more than epsilon holds by construction, \
         in whole bytes.",
        summary.measured_images, summary.mean_change, summary.mean_noise
    )];
    notes.push(format!(
        "Losses before and after are means of the first and the last {} steps, each of one batch.",
        summary.first.n_steps
    ));
    if summary.inputs == "codes" {
        notes.push(
            "The images have no factors: the manipulation network is given the code of the most entangled model."
                .to_string(),
        );
    }
    if !results.is_empty() {
        notes.push("Means and standard deviations are over seeds. In words, a fall counts as larger than with noise where the means differ by more than the root of the sum of both squared deviations, and there are two seeds or more.".to_string());
    }
    notes
}

/// A path as text of a config.
fn as_toml(path: &Path) -> String {
    toml::Value::String(path.display().to_string()).to_string()
}

fn commands(folder: &PerturbFolder, summary: &Summary) -> Vec<(String, String)> {
    let path = quoted(folder.path());
    let mut commands = vec![
        (
            "train other frameworks on original, noisy and altered images".to_string(),
            format!("unbraid perturb --out {path} --retrain"),
        ),
        (
            "train on the altered images".to_string(),
            format!(
                "unbraid train CONFIG --set {}",
                shell_word(&format!("dataset={{ name = \"npz\", path = {} }}", as_toml(&folder.perturbed_path())))
            ),
        ),
        ("look at them".to_string(), format!("unbraid data show {}", quoted(&folder.perturbed_path()))),
    ];
    // Without factors there is nothing to score other frameworks by.
    if summary.chosen_by != "mig" {
        commands.remove(0);
    }
    commands
}
