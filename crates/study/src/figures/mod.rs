//! The figures of a study. Each says how many runs it rests on, and where these are too few there is a sentence in its place.

pub mod agreement;
pub mod explained;
pub mod random_good;
pub mod transfer;
pub mod violins;

use unbraid_data::Result;
use unbraid_data::words::listed;
use unbraid_metrics::Better;
use unbraid_report::Canvas;
use unbraid_report::page::PageFigure;

use crate::chosen_scores::better;
use crate::statistics::correlations::Correlations;
use crate::table::StudyTable;

/// A picture of the study.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it is, for file names: `rank_correlations`.
    pub name: String,
    /// What there is to see, and of how many runs.
    pub caption: String,
    /// The picture.
    pub canvas: Canvas,
}

/// A picture, or a sentence that says what is missing for it.
pub type Drawn = std::result::Result<Figure, String>;

impl Figure {
    /// For a page.
    pub fn on_page(&self) -> Result<PageFigure> {
        Ok(PageFigure {
            name: self.name.clone(),
            caption: self.caption.clone(),
            bytes: self.canvas.to_png()?,
            narrow: None,
        })
    }
}

/// ` Lower is better of fairness.`, with the space before it; nothing where that is so of none.
fn lower_is_better(table: &StudyTable, scores: &[String]) -> String {
    let is_low = |name: &&String| table.score(name).is_some_and(|score| better(score) == Better::Low);
    let low: Vec<&str> = scores.iter().filter(is_low).map(String::as_str).collect();
    if low.is_empty() { String::new() } else { format!(" Lower is better of {}.", listed(&low)) }
}

/// `75 runs`, or `60 to 75 runs` where pairs differ in how many have both.
fn counts_text(correlations: &Correlations, thing: &str) -> String {
    let counts = || {
        correlations
            .values
            .iter()
            .zip(&correlations.counts)
            .filter(|(value, _)| value.is_some())
            .map(|(_, count)| *count)
    };
    match (counts().min(), counts().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} {thing}s"),
        (_, most) => unbraid_data::words::counted(most.unwrap_or(0), thing),
    }
}
