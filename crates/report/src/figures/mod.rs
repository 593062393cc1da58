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

/// The numbers of the panels that each row holds: as few rows as there have to be, with as many panels in each where they fit so.
fn in_rows(widths: &[usize], most: usize) -> Vec<Vec<usize>> {
    let panels: Vec<usize> = (0..widths.len()).collect();
    let width = |row: &[usize]| row.iter().map(|&panel| widths[panel]).sum::<usize>();
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for &panel in &panels {
        match rows.last_mut() {
            Some(row) if width(row) + widths[panel] <= most => row.push(panel),
            _ => rows.push(vec![panel]),
        }
    }
    let even: Vec<Vec<usize>> =
        panels.chunks(widths.len().div_ceil(rows.len().max(1)).max(1)).map(<[usize]>::to_vec).collect();
    if even.iter().all(|row| width(row) <= most) { even } else { rows }
}

/// The width at which a title need not be cut.
fn title_room(title: &str) -> usize {
    widest(LABEL.bold(), [title])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_take_as_few_rows_as_they_can() {
        let lengths = |widths: &[usize]| in_rows(widths, 2400).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!([lengths(&[744; 3]), lengths(&[744; 4]), lengths(&[744; 6])], [vec![3], vec![2, 2], vec![3, 3]]);
        // Two and two would be too wide.
        assert_eq!(lengths(&[500, 500, 1300, 1300]), [3, 1]);
        assert_eq!(lengths(&[3000, 100]), [1, 1]);
        assert!(in_rows(&[], 2400).is_empty());
    }
}
