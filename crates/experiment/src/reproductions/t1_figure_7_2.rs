//! T1 figure 7.2: the same images with two choices of factors. Where colour and shade are one factor, distances of images follow it worse than
//! where they are two.

use unbraid_data::Result;
use unbraid_distances::examine::Findings;
use unbraid_report::figures::distance_matrices;

use super::{Entry, Outcome, Row, Run, along, examined, look, losses, value};
use crate::doctor::matrix_rows;
use crate::watch::Watch;

fn run(watch: &mut dyn Watch) -> Result<Outcome> {
    let losses = losses(&["mse"])?;
    let (mixed, of_mixed) = look("xy_object", "", &losses, watch)?;
    let (shaded, of_shaded) = look("xy_object_shaded", "", &losses, watch)?;
    let rank = |findings: &Findings, factor: &str| value(&along(findings, factor).under[0].correlations.spearman);
    let (color, intensity, hue) = (rank(&of_mixed, "color"), rank(&of_shaded, "intensity"), rank(&of_shaded, "color"));
    let both = (intensity * hue).sqrt();
    let rows = vec![
        Row::ours("xy_object, color, rank", color),
        Row::ours("xy_object_shaded, intensity, rank", intensity),
        Row::ours("xy_object_shaded, color, rank", hue),
        Row::claim(
            "factors of their own for colour and shade correlate better with distances",
            format!("{both:.2} (geometric mean of intensity and color) against {color:.2}"),
            both > color,
        ),
    ];
    let mut figures = Vec::new();
    for (name, dataset, findings) in [("xy_object", mixed, of_mixed), ("xy_object_shaded", shaded, of_shaded)] {
        let rows = matrix_rows(&examined(name, &*dataset, findings));
        figures
            .push((format!("{name}.png"), distance_matrices(&format!("{name}: distances along each factor"), &rows)));
    }
    Ok(Outcome { rows, notes: Vec::new(), figures })
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-7.2",
    about: "The same images with two choices of factors: xy_object and xy_object_shaded",
    paper: "Michlo 2022, figure 7.2",
    run: Run::Untrained(run),
};
