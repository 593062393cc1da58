//! The page of what was found: the verdict, numbers, distance matrices, cumulative curves, traversals.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use unbraid_data::standardised::as_shown;
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_data::{Dataset, Result};
use unbraid_report::Canvas;
use unbraid_report::figures::{
    CumulativeLine, MatrixCell, MatrixRow, cumulative_curves, cumulative_curves_narrow, distance_matrices,
    distance_matrices_narrow, factor_rows,
};
use unbraid_report::page::{DoctorPage, PageFigure, PageTable, doctor_page};

use super::{Examined, by_importance, findings_rows, how_many};
use crate::dataset_pictures::rows_by_factor;
use crate::pictures::shows_pictures;

const MATRICES: &str = "Mean distance of each two values of a factor, each matrix from 0 to its own greatest. Above, how far apart the values are; below, how far apart their images look. Where a loss shows the same pattern a VAE can learn the order, where all but the diagonal is one colour there is none to be seen (T1 figures 3.4 and 3.9).";
const CUMULATIVE: &str = "The share of pairs that are at most so far apart. Factors whose lines lie farther to the right change images more and are learned first; a line that rises in one step has the same distance everywhere (T1 figure 3.13).";
const TRAVERSALS: &str = "Images along which one factor alone changes.";

/// Writes `doctor.html` and its pictures into a folder, and tells their paths.
pub fn write_page(examined: &Examined, dataset: &dyn Dataset, folder: &Path) -> Result<Vec<PathBuf>> {
    create_folder(folder)?;
    let mut written = Vec::new();
    let mut figures = Vec::new();
    let mut add = |name: &str, file: &str, caption: &str, canvas: &Canvas, narrow: Option<Canvas>| -> Result<()> {
        let path = folder.join(file);
        canvas.save(&path)?;
        written.push(path);
        let narrow = narrow.map(|canvas| canvas.to_png()).transpose()?;
        let (name, caption) = (name.to_string(), caption.to_string());
        figures.push(PageFigure { name, caption, bytes: canvas.to_png()?, narrow });
        Ok(())
    };
    let rows = matrix_rows(examined);
    if rows.iter().any(|row| !row.cells.is_empty()) {
        let title = format!("{}: distances along each factor", examined.title);
        let narrow = distance_matrices_narrow(&title, &rows);
        add("distances along each factor", "distances.png", MATRICES, &distance_matrices(&title, &rows), Some(narrow))?;
    }
    let lines = cumulative_lines(examined);
    let (title, label) =
        (format!("{}: cumulative distances", examined.title), examined.findings.losses[0].name.clone());
    let canvas = cumulative_curves(&title, &label, &lines);
    let narrow = cumulative_curves_narrow(&title, &label, &lines);
    add("cumulative distances", "cumulative.png", CUMULATIVE, &canvas, Some(narrow))?;
    let shown = as_shown(dataset);
    if shows_pictures(shown.has_unit_pixels(), shown.image_shape()) {
        let rows = rows_by_factor(shown)?;
        if !rows.is_empty() {
            let title = format!("{}, factor by factor", examined.title);
            add("traversals", "traversals.png", TRAVERSALS, &factor_rows(&title, &rows), None)?;
        }
    }
    let page = folder.join("doctor.html");
    write_whole(&page, doctor_page(&describe(examined, figures)).as_bytes())?;
    written.insert(0, page);
    Ok(written)
}

/// Ground truth above, each loss below; a column for each factor.
pub(crate) fn matrix_rows(examined: &Examined) -> Vec<MatrixRow> {
    let factors: Vec<_> = by_importance(&examined.findings)
        .into_iter()
        .filter(|(_, pairs)| pairs.matrices.len() == pairs.under.len())
        .collect();
    let truth = |size: usize| Array2::from_shape_fn((size, size), |(i, j)| i.abs_diff(j) as f64);
    let row = |name: &str, values: &dyn Fn(usize) -> Array2<f64>| {
        let cells = factors.iter().enumerate().map(|(index, (factor, _))| MatrixCell {
            name: factor.name.clone(),
            unit: String::new(),
            values: values(index),
        });
        MatrixRow { name: name.to_string(), cells: cells.collect() }
    };
    let mut rows = vec![row("ground truth", &|index| truth(factors[index].1.matrices[0].nrows()))];
    for (position, loss) in examined.findings.losses.iter().enumerate() {
        rows.push(row(&loss.name, &|index| factors[index].1.matrices[position].clone()));
    }
    rows
}

pub(crate) fn cumulative_lines(examined: &Examined) -> Vec<CumulativeLine> {
    let random =
        CumulativeLine { name: "random".to_string(), points: examined.findings.random.under[0].cumulative.clone() };
    let of_factors = by_importance(&examined.findings)
        .into_iter()
        .map(|(factor, pairs)| CumulativeLine { name: factor.name.clone(), points: pairs.under[0].cumulative.clone() });
    std::iter::once(random).chain(of_factors).collect()
}

fn describe(examined: &Examined, figures: Vec<PageFigure>) -> DoctorPage {
    let (header, rows) = findings_rows(&examined.findings);
    let table = PageTable {
        name: "distances and factors".to_string(),
        caption: format!(
            "Mean distance under {}; for each loss the correlation of images' distances with the factors' (linear: Pearson, rank: Spearman), with half its 95 % interval where pairs were drawn, and whether the order of the values can be seen.",
            examined.findings.losses[0].name
        ),
        header,
        rows,
    };
    DoctorPage {
        title: examined.title.clone(),
        lead: examined.verdict.summary.clone(),
        verdicts: examined.verdict.parts.clone(),
        tables: vec![table],
        figures,
        notes: notes(examined),
        commands: commands(examined),
    }
}

/// What one may do next.
fn commands(examined: &Examined) -> Vec<(String, String)> {
    let Examined { findings, verdict, .. } = examined;
    let loss = &findings.losses[verdict.better_loss.unwrap_or(0)];
    let train = format!("unbraid train config.toml --set 'framework.reconstruction={}'", loss.as_setting());
    vec![
        (format!("train with {}", loss.name), train),
        ("see the distances that the model learned".to_string(), "unbraid distances RUN".to_string()),
    ]
}

/// How the numbers were made.
fn notes(examined: &Examined) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for (factor, pairs) in by_importance(&examined.findings) {
        notes.push(format!("{}: {}.", factor.name, how_many(pairs)));
    }
    notes.push(format!("random: {}.", how_many(&examined.findings.random)));
    notes.push(
        "Distances are means over the numbers of an image. Those of factors are L1 distances: of the numbers of their values, or of continuous factors the values themselves, in their own unit."
            .to_string(),
    );
    notes.push("Along a factor each image is also paired with itself, as in T1, which raises both correlations. \"order\" is the rank correlation of different images within each traversal, on average over traversals: bright and dark objects may lie at other distances.".to_string());
    notes.push("random: two different images. random32: as T1 draws them, from groups of 32 images with replacement, so that one pair in 32 is an image with itself, which counts in its correlations; its mean distance is that of different images.".to_string());
    notes
}
