//! How numbers of several groups are spread: a violin for each group, with its median and quartiles; points alone where there are few.

use super::axis::{Axis, Spread};
use super::{LABEL, MARGIN, NOTE, draw_title, in_rows, title_height, title_room};
use crate::canvas::{Area, Canvas};
use crate::colour::{FAINT_INK, FRAME, GRID, INK, PAPER, mix, series_colour};
use crate::stroke::Stroke;
use crate::text::{Anchor, TextStyle};

/// Groups of fewer numbers have no violin.
pub const LEAST_OF_A_VIOLIN: usize = 8;
/// Groups of more numbers have no points.
const MOST_POINTS: usize = 25;
const PLOT_HEIGHT: usize = 300;
const INDENT: usize = 84;
const HEADING: usize = 62;
const PANEL_GAP: usize = 28;
const LARGEST_SLOT: usize = 84;
const SMALLEST_SLOT: usize = 22;
const LEAST_PLOT_WIDTH: usize = 260;
/// Panels go on in the next row where a row would be wider.
const MOST_WIDTH: usize = 2100;
const MOST_NAME_HEIGHT: usize = 330;
/// Half of a violin at its widest, as a share of its slot.
const HALF_WIDTH: f32 = 0.43;

/// Numbers with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct ViolinGroup {
    /// What stands below the violin.
    pub name: String,
    /// The numbers, of which only finite ones are drawn.
    pub values: Vec<f64>,
}

/// One plot of the figure.
#[derive(Debug, Clone, PartialEq)]
pub struct ViolinPanel {
    /// What stands above it.
    pub title: String,
    /// What the numbers are.
    pub y_label: String,
    /// From left to right.
    pub groups: Vec<ViolinGroup>,
}

/// The panels beside and below each other.
pub fn violins(title: &str, panels: &[ViolinPanel]) -> Canvas {
    let shapes: Vec<Shape> = panels.iter().map(Shape::of).collect();
    let widths: Vec<usize> = shapes.iter().map(|shape| shape.width() + PANEL_GAP).collect();
    let rows = in_rows(&widths, MOST_WIDTH);
    let row_width = |row: &Vec<usize>| row.iter().map(|&panel| widths[panel]).sum::<usize>();
    let row_height = |row: &Vec<usize>| row.iter().map(|&panel| shapes[panel].height()).max().unwrap_or(0);
    let width = rows.iter().map(row_width).max().unwrap_or(0).max(700).max(title_room(title));
    let height: usize = rows.iter().map(row_height).sum();
    let mut canvas = Canvas::new(width + 2 * MARGIN, title_height(title) + height + MARGIN / 2);
    draw_title(&mut canvas, title);
    let mut top = title_height(title);
    for row in &rows {
        let mut left = MARGIN;
        for &panel in row {
            let shape = &shapes[panel];
            let plot = Area { x: left + INDENT, y: top + HEADING, width: shape.plot_width, height: PLOT_HEIGHT };
            draw_panel(&mut canvas, &panels[panel], shape, plot);
            left += shape.width() + PANEL_GAP;
        }
        top += row_height(row);
    }
    canvas
}

/// How much room a panel takes.
struct Shape {
    slot: usize,
    plot_width: usize,
    names_height: usize,
    name_style: TextStyle,
}

impl Shape {
    fn of(panel: &ViolinPanel) -> Self {
        let n_groups = panel.groups.len().max(1);
        let slot = ((MOST_WIDTH - INDENT - PANEL_GAP) / n_groups).clamp(SMALLEST_SLOT, LARGEST_SLOT);
        let slot = slot.max(LEAST_PLOT_WIDTH / n_groups);
        let name_style = TextStyle::new(NOTE.size.min(slot as f32 - 4.0));
        let longest = super::widest(name_style, panel.groups.iter().map(|group| group.name.as_str()));
        let names_height = longest.min(MOST_NAME_HEIGHT) + 44;
        Self { slot, plot_width: slot * n_groups, names_height, name_style }
    }

    fn width(&self) -> usize {
        INDENT + self.plot_width
    }

    fn height(&self) -> usize {
        HEADING + PLOT_HEIGHT + self.names_height
    }
}

fn draw_panel(canvas: &mut Canvas, panel: &ViolinPanel, shape: &Shape, plot: Area) {
    let values = || panel.groups.iter().flat_map(|group| &group.values).copied().filter(|value| value.is_finite());
    let (least, greatest) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (least, greatest) = if least <= greatest { (least, greatest) } else { (0.0, 1.0) };
    let room = if greatest > least { (greatest - least) * 0.06 } else { least.abs().max(1.0) * 0.1 };
    let (start, end) = ((plot.y + plot.height) as f32, plot.y as f32);
    let axis = Axis { low: least - room, high: greatest + room, start, end, spread: Spread::Linear };
    draw_frame(canvas, panel, plot, &axis);
    for (position, group) in panel.groups.iter().enumerate() {
        let slot = Slot {
            middle: (plot.x + position * shape.slot) as f32 + shape.slot as f32 / 2.0,
            width: shape.slot as f32,
            position,
        };
        draw_group(canvas, group, slot, &axis);
        let style = shape.name_style.anchored(Anchor::End);
        let name = style.fit(&group.name, MOST_NAME_HEIGHT as f32);
        canvas.text_upwards(slot.middle + style.half_height(), (plot.y + plot.height + 14) as f32, &name, style);
    }
}

fn draw_frame(canvas: &mut Canvas, panel: &ViolinPanel, plot: Area, axis: &Axis) {
    let (x, y, bottom) = (plot.x as f32, plot.y as f32, plot.y + plot.height);
    canvas.text(x, y - 36.0, &LABEL.bold().fit(&panel.title, plot.width as f32), LABEL.bold());
    canvas.text(x, y - 12.0, &NOTE.fit(&panel.y_label, plot.width as f32), NOTE);
    for (value, text) in axis.ticks(4) {
        let height = axis.position(value);
        canvas.fill(Area { x: plot.x, y: height as usize, width: plot.width, height: 1 }, GRID);
        canvas.text(x - 10.0, height + NOTE.half_height(), &text, NOTE.anchored(Anchor::End));
    }
    canvas.fill(Area { x: plot.x, y: plot.y, width: 1, height: plot.height }, FRAME);
    canvas.fill(Area { x: plot.x, y: bottom, width: plot.width + 1, height: 1 }, FAINT_INK);
}

/// Where a group is drawn.
#[derive(Debug, Clone, Copy)]
struct Slot {
    middle: f32,
    width: f32,
    position: usize,
}

fn draw_group(canvas: &mut Canvas, group: &ViolinGroup, slot: Slot, axis: &Axis) {
    let mut values: Vec<f64> = group.values.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let (Some(&least), Some(&greatest)) = (values.first(), values.last()) else { return };
    let has_violin = values.len() >= LEAST_OF_A_VIOLIN && axis.position(least) - axis.position(greatest) >= 3.0;
    if has_violin {
        draw_violin(canvas, &values, slot, axis);
    }
    if values.len() <= MOST_POINTS || !has_violin {
        draw_points(canvas, &values, slot, axis);
    }
    let median = axis.position(quantile(&values, 0.5));
    if has_violin {
        let (upper, lower) = (axis.position(quantile(&values, 0.75)), axis.position(quantile(&values, 0.25)));
        line(canvas, [(slot.middle, upper), (slot.middle, lower)], 5.0);
    }
    // Of one or two numbers, a median hides more than it tells.
    if values.len() > 2 {
        let half = slot.width * 0.24;
        line(canvas, [(slot.middle - half, median), (slot.middle + half, median)], 4.0);
    }
}

fn line(canvas: &mut Canvas, points: [(f32, f32); 2], width: f32) {
    canvas.polyline(&points, Stroke { width, colour: INK, opacity: 1.0, dash: &[] });
}

/// The density of the numbers on both sides of the middle, from the least to the greatest of them.
fn draw_violin(canvas: &mut Canvas, values: &[f64], slot: Slot, axis: &Axis) {
    let (top, bottom) = (axis.position(values[values.len() - 1]) as usize, axis.position(values[0]) as usize);
    let value_at =
        |y: usize| axis.low + (axis.high - axis.low) * f64::from((axis.start - y as f32) / (axis.start - axis.end));
    let densities: Vec<f64> = (top..=bottom).map(|y| density(values, value_at(y))).collect();
    let greatest = densities.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let halves: Vec<f32> =
        densities.iter().map(|density| (density / greatest) as f32 * HALF_WIDTH * slot.width).collect();
    let colour = mix(PAPER, series_colour(slot.position), 0.55);
    for (row, half) in halves.iter().enumerate() {
        let left = (slot.middle - half).round() as usize;
        canvas.fill(Area { x: left, y: top + row, width: (2.0 * half).round() as usize, height: 1 }, colour);
    }
    for side in [-1.0, 1.0] {
        let edge: Vec<(f32, f32)> = halves
            .iter()
            .enumerate()
            .map(|(row, half)| (slot.middle + side * half, (top + row) as f32 + 0.5))
            .collect();
        canvas.polyline(&edge, Stroke { width: 2.0, colour: series_colour(slot.position), opacity: 1.0, dash: &[] });
    }
}

/// A Gaussian kernel density in arbitrary units, with the bandwidth of Scott 1992: the deviation times `n^(-1/5)`.
fn density(values: &[f64], at: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let bandwidth = deviation * n.powf(-0.2);
    values.iter().map(|value| (-0.5 * ((at - value) / bandwidth).powi(2)).exp()).sum()
}

/// Between sorted values by straight lines, as numpy does by default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

fn draw_points(canvas: &mut Canvas, values: &[f64], slot: Slot, axis: &Axis) {
    let stroke =
        Stroke { width: 9.0_f32.min(slot.width * 0.4), colour: series_colour(slot.position), opacity: 0.9, dash: &[] };
    for (place, value) in values.iter().enumerate() {
        // The fractional parts of multiples of the golden ratio spread any number of points evenly.
        let aside = if values.len() == 1 { 0.0 } else { (place as f32 * 0.618_034).fract() - 0.5 };
        let x = slot.middle + aside * slot.width * 0.36;
        let y = axis.position(*value);
        canvas.polyline(&[(x - 0.1, y), (x + 0.1, y)], stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(groups: &[&[f64]]) -> ViolinPanel {
        let groups = groups.iter().enumerate();
        let groups =
            groups.map(|(place, values)| ViolinGroup { name: format!("group {place}"), values: values.to_vec() });
        ViolinPanel { title: "mig".to_string(), y_label: "score".to_string(), groups: groups.collect() }
    }

    #[test]
    fn a_density_is_greatest_where_numbers_are_close() {
        let values = [0.0, 0.4, 0.5, 0.5, 0.6, 1.0];
        assert!(density(&values, 0.5) > 2.0 * density(&values, 0.05));
        assert!((density(&values, 0.2) - density(&values, 0.8)).abs() < 1e-12);
    }

    #[test]
    fn quartiles_lie_between_numbers() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|share| quantile(&values, share)), [1.0, 1.75, 2.5, 4.0]);
    }

    #[test]
    fn few_numbers_are_points_and_many_a_violin() {
        let many: Vec<f64> = (0..60).map(f64::from).collect();
        let filled = |values: &[f64]| {
            let canvas = violins("", &[panel(&[values])]);
            let fill = mix(PAPER, series_colour(0), 0.55);
            canvas.pixels().chunks(3).filter(|pixel| **pixel == fill).count()
        };
        assert_eq!(filled(&many[..7]), 0);
        assert!(filled(&many) > 1000);
    }

    #[test]
    fn odd_numbers_are_drawn() {
        let many = vec![0.5; 300];
        let groups: Vec<&[f64]> = vec![&[], &[f64::NAN], &[1e300, -1e300], &many, &[3.0]];
        assert!(violins("A title", &[panel(&groups), panel(&[])]).width() > 100);
        let wide: Vec<&[f64]> = vec![&[1.0, 2.0]; 120];
        assert!(violins("", &[panel(&wide)]).width() > 2000);
        assert!(violins("", &[]).width() > 100);
        let rows = violins("", &vec![panel(&[&[1.0], &[2.0], &[3.0]]); 30]);
        assert!(rows.width() <= MOST_WIDTH + 2 * MARGIN && rows.height() > 1000);
    }
}
