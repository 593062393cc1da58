//! Figures: each file draws one kind, from plain values, on a canvas that is saved as PNG or GIF.

pub mod axis;
pub mod bars;
pub mod contact_sheet;
pub mod cumulative;
pub mod curves;
pub mod distance_matrices;
pub mod examples;
pub mod explained;
pub mod factor_rows;
pub mod heatmap;
pub mod kernel;
mod legend;
pub mod picture_grid;
pub mod points;
pub mod reconstructions;
pub mod scatter_grid;
pub mod signed_pictures;
pub mod traversals;
pub mod violins;

use crate::colour::{series_colour, series_dash};
use crate::stroke::Stroke;
use crate::text::TextStyle;

pub use bars::{Bar, share_bars};
pub use contact_sheet::contact_sheet;
pub use cumulative::{CumulativeLine, cumulative_curves, cumulative_curves_narrow};
pub use curves::{Panels, Scale, compare_losses, loss_curves};
pub use distance_matrices::{MatrixCell, MatrixRow, distance_matrices, distance_matrices_narrow};
pub use examples::{ExampleImage, examples};
pub use explained::{explained_variance, explained_variance_narrow};
pub use factor_rows::{FactorRow, evenly_spread, factor_rows};
pub use heatmap::{heatmap, heatmap_over};
pub use kernel::kernel_picture;
pub use points::{Join, PointPanel, PointSeries, XAxis, point_panels};
pub use reconstructions::reconstructions;
pub use scatter_grid::{ScatterAxis, ScatterGrid, scatter_grid};
pub use signed_pictures::{signed_grid, signed_picture};
pub use traversals::{TraversalRow, Traversals, traversals, traversals_gif};
pub use violins::{LEAST_OF_A_VIOLIN, ViolinGroup, ViolinPanel, violins};

// Figures are drawn at twice the size at which a page shows them, so that they stay sharp on fine screens and in print.
const MARGIN: usize = 40;
const TITLE: TextStyle = TextStyle::new(28.0).bold();
const LABEL: TextStyle = TextStyle::new(21.0);
const NOTE: TextStyle = TextStyle::new(18.0).coloured(crate::colour::FAINT_INK);

/// Pixels that a title takes at the top, margin included.
fn title_height(title: &str) -> usize {
    if title.is_empty() { MARGIN } else { MARGIN + 56 }
}

/// The width of the longest of some texts.
fn widest<'a>(style: TextStyle, texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(|text| style.width(text)).fold(0.0, f32::max).ceil() as usize
}

/// Writes the title at its place, in smaller letters where it is too long for the canvas.
fn draw_title(canvas: &mut crate::canvas::Canvas, title: &str) {
    let room = (canvas.width() - 2 * MARGIN.min(canvas.width() / 2)) as f32;
    let style = if TITLE.width(title) <= room { TITLE } else { LABEL.bold() };
    if !title.is_empty() {
        canvas.text(MARGIN as f32, (MARGIN + 24) as f32, &style.fit(title, room), style);
    }
}

/// The line of the series with this number.
fn series_stroke(series: usize) -> Stroke {
    Stroke { width: 3.0, colour: series_colour(series), opacity: 1.0, dash: series_dash(series) }
}
