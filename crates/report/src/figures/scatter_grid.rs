//! Every row against every column as a small scatter plot; plots of a row share their y, plots of a column their x.

use super::axis::{Axis, Spread};
use super::legend::Legend;
use super::points::draw_marker;
use super::{LABEL, MARGIN, NOTE, draw_title, series_stroke, title_height, title_room};
use crate::canvas::{Area, Canvas};
use crate::colour::{FRAME, GRID, INK};
use crate::stroke::Stroke;
use crate::text::{Anchor, TextStyle};

const CELL_WIDTH: usize = 270;
const CELL_HEIGHT: usize = 210;
const GAP: usize = 22;
const INDENT: usize = 128;
const BELOW: usize = 84;
const NOTE_ROOM: usize = 28;

/// A quantity along the rows or columns.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterAxis {
    /// What it is.
    pub name: String,
    /// A number for each point, or none. `[points]`
    pub values: Vec<Option<f64>>,
}

/// The grid: a plot for each row and column, with a point wherever both have a number.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterGrid {
    /// Along y, from above.
    pub rows: Vec<ScatterAxis>,
    /// Along x, from the left.
    pub columns: Vec<ScatterAxis>,
    /// The series of each point. `[points]`
    pub series_of: Vec<usize>,
    /// What the series are called.
    pub series: Vec<String>,
    /// What stands above each plot, by row and column.
    pub notes: Vec<Vec<String>>,
}

/// The grid with its legend.
pub fn scatter_grid(title: &str, grid: &ScatterGrid) -> Canvas {
    let body_width = (INDENT + grid.columns.len() * (CELL_WIDTH + GAP)).max(700).max(title_room(title));
    let names = grid.series.iter().enumerate();
    let entries = names.map(|(series, name)| (name.as_str(), Stroke { opacity: 0.0, ..series_stroke(series) }));
    let legend = Legend::new(entries, MARGIN, body_width);
    let top = title_height(title) + legend.height() + 10;
    let row_height = NOTE_ROOM + CELL_HEIGHT + GAP;
    let mut canvas = Canvas::new(body_width + 2 * MARGIN, top + grid.rows.len() * row_height + BELOW);
    draw_title(&mut canvas, title);
    legend.draw(&mut canvas, title_height(title));
    for (series, place) in legend.places(title_height(title)).into_iter().enumerate() {
        draw_marker(&mut canvas, place, series, 7.0);
    }
    let marker = if grid.series_of.len() > 150 { 4.0 } else { 5.5 };
    for (row, up) in grid.rows.iter().enumerate() {
        for (column, across) in grid.columns.iter().enumerate() {
            let x = MARGIN + INDENT + column * (CELL_WIDTH + GAP);
            let y = top + row * row_height + NOTE_ROOM;
            let plot = Area { x, y, width: CELL_WIDTH, height: CELL_HEIGHT };
            let note = grid.notes.get(row).and_then(|notes| notes.get(column));
            canvas.text(x as f32, y as f32 - 8.0, note.map_or("", String::as_str), NOTE);
            draw_plot(&mut canvas, (across, up), plot, &grid.series_of, marker);
        }
        let plot = Area { x: MARGIN + INDENT, y: top + row * row_height + NOTE_ROOM, width: 0, height: CELL_HEIGHT };
        draw_row_names(&mut canvas, up, plot);
    }
    let bottom = (top + grid.rows.len() * row_height).saturating_sub(GAP);
    for (column, across) in grid.columns.iter().enumerate() {
        draw_column_names(&mut canvas, across, MARGIN + INDENT + column * (CELL_WIDTH + GAP), bottom);
    }
    canvas
}

fn draw_plot(
    canvas: &mut Canvas,
    (across, up): (&ScatterAxis, &ScatterAxis),
    plot: Area,
    series_of: &[usize],
    marker: f32,
) {
    let (x, y) = axes(across, up, plot);
    for (value, _) in y.ticks(3) {
        canvas.fill(Area { x: plot.x, y: y.position(value) as usize, width: plot.width, height: 1 }, GRID);
    }
    for (value, _) in x.ticks(3) {
        canvas.fill(Area { x: x.position(value) as usize, y: plot.y, width: 1, height: plot.height }, GRID);
    }
    canvas.outline(plot, FRAME);
    for ((across, up), series) in across.values.iter().zip(&up.values).zip(series_of) {
        if let (Some(across), Some(up)) = (across, up) {
            draw_marker(canvas, (x.position(*across), y.position(*up)), *series, marker);
        }
    }
}

fn axes(across: &ScatterAxis, up: &ScatterAxis, plot: Area) -> (Axis, Axis) {
    let (low, high) = range(across);
    let x = Axis { low, high, start: plot.x as f32, end: (plot.x + plot.width) as f32, spread: Spread::Linear };
    let (low, high) = range(up);
    let y = Axis { low, high, start: (plot.y + plot.height) as f32, end: plot.y as f32, spread: Spread::Linear };
    (x, y)
}

/// A little more than from the least to the greatest.
fn range(axis: &ScatterAxis) -> (f64, f64) {
    let values = || axis.values.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let room = if high > low { (high - low) * 0.08 } else { low.abs().max(1.0) * 0.1 };
    (low - room, high + room)
}

fn draw_row_names(canvas: &mut Canvas, up: &ScatterAxis, plot: Area) {
    let (_, y) = axes(up, up, plot);
    for (value, text) in y.ticks(3) {
        let baseline = y.position(value) + NOTE.half_height();
        canvas.text(plot.x as f32 - 10.0, baseline, &text, NOTE.anchored(Anchor::End));
    }
    let style = LABEL.bold().anchored(Anchor::Middle);
    let name = style.fit(&up.name, (CELL_HEIGHT + NOTE_ROOM) as f32);
    canvas.text_upwards((MARGIN + 16) as f32, (plot.y + plot.height / 2) as f32, &name, style);
}

fn draw_column_names(canvas: &mut Canvas, across: &ScatterAxis, left: usize, bottom: usize) {
    let plot = Area { x: left, y: bottom, width: CELL_WIDTH, height: 1 };
    let (x, _) = axes(across, across, plot);
    for (value, text) in x.ticks(3) {
        canvas.text(x.position(value), (bottom + 26) as f32, &text, NOTE.anchored(Anchor::Middle));
    }
    let room = (CELL_WIDTH + GAP - 6) as f32;
    let style = NOTE.bold().coloured(INK).anchored(Anchor::Middle);
    // What stands last in a dotted name tells more than what stands first.
    let name =
        if style.width(&across.name) > room { across.name.rsplit('.').next().unwrap_or("") } else { &across.name };
    let style = if style.width(name) > room { TextStyle { size: 15.0, ..style } } else { style };
    canvas.text((left + CELL_WIDTH / 2) as f32, (bottom + 60) as f32, &style.fit(name, room), style);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_grid_is_drawn() {
        let axis = |values: &[Option<f64>]| ScatterAxis { name: "a.long.name".repeat(9), values: values.to_vec() };
        let values = [Some(0.5), None, Some(f64::MAX), Some(-3.0)];
        let grid = ScatterGrid {
            rows: vec![axis(&values), axis(&[None; 4])],
            columns: vec![axis(&values); 3],
            series_of: vec![0, 1, 9, 2],
            series: (0..10).map(|series| format!("series {series}")).collect(),
            notes: vec![vec!["0.5".to_string()]],
        };
        let canvas = scatter_grid("A title", &grid);
        assert_eq!(canvas.width(), INDENT + 3 * (CELL_WIDTH + GAP) + 2 * MARGIN);
        let empty = ScatterGrid { rows: vec![], columns: vec![], series_of: vec![], series: vec![], notes: vec![] };
        assert!(scatter_grid("", &empty).width() > 100);
    }
}
