//! Points of several series, for instance one for each run: over a number (scatter plots, line searches) or over groups with a name. Series differ in
//! colour and in the shape of their markers, so that they are told apart in grey.

use super::axis::{Axis, Spread};
use super::legend::Legend;
use super::{LABEL, MARGIN, NOTE, draw_title, in_rows, series_stroke, title_height, title_room};
use crate::canvas::{Area, Canvas};
use crate::colour::{FAINT_INK, FRAME, GRID, INK};
use crate::stroke::Stroke;
use crate::text::Anchor;

const PLOT_HEIGHT: usize = 420;
const PLOT_WIDTH: usize = 620;
/// Panels of groups are as wide as their groups need.
const GROUP_WIDTH: usize = 150;
const PLOT_INDENT: usize = 84;
const PLOT_TOP: usize = 76;
const PLOT_BOTTOM: usize = 92;
const PANEL_GAP: usize = 40;
const ROW_HEIGHT: usize = PLOT_TOP + PLOT_HEIGHT + PLOT_BOTTOM;
/// Panels that would go farther to the right begin a row of their own.
const MOST_WIDTH: usize = 2400;
/// The share of a group's width that its series take.
const GROUP_SHARE: f64 = 0.8;
/// Half the width of a marker, in pixels.
const MARKER: f32 = 7.0;
const MARK_DASH: &[f32] = &[6.0, 6.0];

/// What points lie over.
#[derive(Debug, Clone, PartialEq)]
pub enum XAxis {
    /// Numbers, equal differences taking equal space.
    Linear,
    /// Numbers in the unit of y, so that angles are seen as they are.
    SameUnit,
    /// Positive numbers, equal ratios taking equal space.
    Logarithmic,
    /// Groups with these names: the x of a point is the number of its group.
    Groups(Vec<String>),
}

/// Whether the means of a series are shown beside its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Points alone.
    Nothing,
    /// A line through the mean at each x; for groups a bar at the mean of each.
    Means,
}

/// Points with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSeries {
    /// What the legend calls it; one without a name is not in the legend.
    pub name: String,
    /// Each with its x and its y, of which only finite ones are drawn.
    pub points: Vec<(f64, f64)>,
    /// What is shown beside them.
    pub join: Join,
}

/// One plot of the figure. All panels share the legend: a series has the same look in each, by its position.
#[derive(Debug, Clone, PartialEq)]
pub struct PointPanel {
    /// What stands above it.
    pub title: String,
    /// What x is.
    pub x_label: String,
    /// What y is.
    pub y_label: String,
    /// What points lie over.
    pub x: XAxis,
    /// The least and the greatest y that the axis has to show, where the points do not go further.
    pub y_range: Option<(f64, f64)>,
    /// The points.
    pub series: Vec<PointSeries>,
    /// Values of x that are marked by a dashed line with a word beside it.
    pub marks: Vec<(f64, String)>,
}

/// The panels beside and below each other.
pub fn point_panels(title: &str, panels: &[PointPanel]) -> Canvas {
    let widths: Vec<usize> = panels.iter().map(|panel| PLOT_INDENT + plot_width(panel) + PANEL_GAP).collect();
    let rows = in_rows(&widths, MOST_WIDTH);
    let row_width = |row: &Vec<usize>| row.iter().map(|&panel| widths[panel]).sum::<usize>();
    let body_width = rows.iter().map(row_width).max().unwrap_or(0).max(600).max(title_room(title));
    let named = legend_series(panels);
    let entries = named.iter().map(|(index, series)| (series.name.as_str(), legend_stroke(*index, series.join)));
    let legend = Legend::new(entries, MARGIN, body_width);
    let top = title_height(title) + legend.height();
    let height = top + rows.len().max(1) * ROW_HEIGHT + MARGIN / 2;
    let mut canvas = Canvas::new(body_width + 2 * MARGIN, height);
    draw_title(&mut canvas, title);
    legend.draw(&mut canvas, title_height(title));
    for ((index, _), place) in named.iter().zip(legend.places(title_height(title))) {
        draw_marker(&mut canvas, place, *index, MARKER);
    }
    for (number, row) in rows.iter().enumerate() {
        let mut left = MARGIN + PLOT_INDENT;
        for &panel in row {
            let (y, width) = (top + number * ROW_HEIGHT + PLOT_TOP, plot_width(&panels[panel]));
            draw_panel(&mut canvas, &panels[panel], Area { x: left, y, width, height: PLOT_HEIGHT });
            left += widths[panel];
        }
    }
    canvas
}

/// Each series that some panel has by name, with its position.
fn legend_series(panels: &[PointPanel]) -> Vec<(usize, &PointSeries)> {
    let n_series = panels.iter().map(|panel| panel.series.len()).max().unwrap_or(0);
    let first =
        |index: usize| panels.iter().filter_map(|panel| panel.series.get(index)).find(|one| !one.name.is_empty());
    (0..n_series).filter_map(|index| Some((index, first(index)?))).collect()
}

fn plot_width(panel: &PointPanel) -> usize {
    match &panel.x {
        XAxis::Groups(names) => (GROUP_WIDTH * names.len()).max(PLOT_WIDTH / 2),
        _ => PLOT_WIDTH,
    }
}

fn legend_stroke(series: usize, join: Join) -> Stroke {
    let opacity = if join == Join::Means { 1.0 } else { 0.0 };
    Stroke { opacity, ..series_stroke(series) }
}

fn draw_panel(canvas: &mut Canvas, panel: &PointPanel, plot: Area) {
    let (across, up) = axes(panel, plot);
    draw_frame(canvas, panel, plot, &across, &up);
    for (value, text) in &panel.marks {
        let x = across.position(*value);
        let stroke = Stroke { width: 2.0, colour: FAINT_INK, opacity: 1.0, dash: MARK_DASH };
        canvas.polyline(&[(x, plot.y as f32), (x, (plot.y + plot.height) as f32)], stroke);
        canvas.text(x, plot.y as f32 - 8.0, text, NOTE.anchored(Anchor::Middle));
    }
    for (index, series) in panel.series.iter().enumerate() {
        let shown = places_of(panel, index);
        if series.join == Join::Means {
            draw_means(canvas, panel, index, &shown, &across, &up);
        }
        for (x, y) in shown {
            draw_marker(canvas, (across.position(x), up.position(y)), index, MARKER);
        }
    }
}

/// Where the points of a series lie: those of groups beside those of the other series, spread a little so that equal ones are seen.
fn places_of(panel: &PointPanel, index: usize) -> Vec<(f64, f64)> {
    let finite = panel.series[index].points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite());
    match &panel.x {
        XAxis::Groups(_) => {
            let slot = GROUP_SHARE / panel.series.len() as f64;
            // The fractional parts of multiples of the golden ratio spread any number of points evenly.
            let spread = |position: usize| ((position as f64 * 0.618_034).fract() - 0.5) * slot * 0.4;
            finite.enumerate().map(|(position, (x, y))| (slot_middle(panel, x, index) + spread(position), y)).collect()
        }
        _ => finite.collect(),
    }
}

/// The middle of what a series takes of a group.
fn slot_middle(panel: &PointPanel, group: f64, index: usize) -> f64 {
    let n_series = panel.series.len() as f64;
    group + (index as f64 - (n_series - 1.0) / 2.0) * GROUP_SHARE / n_series
}

fn draw_means(canvas: &mut Canvas, panel: &PointPanel, index: usize, shown: &[(f64, f64)], across: &Axis, up: &Axis) {
    let is_grouped = matches!(panel.x, XAxis::Groups(_));
    let points = if is_grouped { &panel.series[index].points } else { shown };
    let means = means(points);
    if !is_grouped {
        let line: Vec<(f32, f32)> = means.iter().map(|(x, y)| (across.position(*x), up.position(*y))).collect();
        return canvas.polyline(&line, series_stroke(index));
    }
    let half = GROUP_SHARE / panel.series.len() as f64 * 0.42;
    for (group, mean) in means {
        let middle = slot_middle(panel, group, index);
        let ends = [middle - half, middle + half].map(|x| (across.position(x), up.position(mean)));
        canvas.polyline(&ends, Stroke { width: 5.0, dash: &[], ..series_stroke(index) });
    }
}

/// The mean of y at each x, in rising order of x.
fn means(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let of_equal = |equal: &[(f64, f64)]| (equal[0].0, equal.iter().map(|(_, y)| y).sum::<f64>() / equal.len() as f64);
    sorted.chunk_by(|a, b| a.0 == b.0).map(of_equal).collect()
}

fn axes(panel: &PointPanel, plot: Area) -> (Axis, Axis) {
    let points =
        || panel.series.iter().flat_map(|series| &series.points).filter(|(x, y)| x.is_finite() && y.is_finite());
    let marks = panel.marks.iter().map(|(value, _)| *value);
    let (left, right) = (plot.x as f32, (plot.x + plot.width) as f32);
    let (bottom, top) = ((plot.y + plot.height) as f32, plot.y as f32);
    let (low, high, spread) = match &panel.x {
        XAxis::Groups(names) => (-0.5, names.len() as f64 - 0.5, Spread::Linear),
        XAxis::Linear | XAxis::SameUnit => {
            let (low, high) = padded(ends(points().map(|(x, _)| *x).chain(marks)));
            (low, high, Spread::Linear)
        }
        XAxis::Logarithmic => {
            let (low, high) = padded(ends(points().map(|(x, _)| *x).chain(marks).map(f64::ln)));
            (low.exp(), high.exp(), Spread::Logarithmic)
        }
    };
    let across = Axis { low, high, start: left, end: right, spread };
    let (low, high) = range_of(points().map(|(_, y)| *y), panel.y_range);
    let up = Axis { low, high, start: bottom, end: top, spread: Spread::Linear };
    if panel.x == XAxis::SameUnit { in_same_unit(across, up) } else { (across, up) }
}

/// Both axes with as many pixels to a unit as the one that has fewer, around their middles.
fn in_same_unit(across: Axis, up: Axis) -> (Axis, Axis) {
    let unit = |axis: &Axis| (axis.high - axis.low) / f64::from((axis.end - axis.start).abs());
    let unit = unit(&across).max(unit(&up));
    let widened = |axis: Axis| {
        let (middle, half) = ((axis.low + axis.high) / 2.0, unit * f64::from((axis.end - axis.start).abs()) / 2.0);
        Axis { low: middle - half, high: middle + half, ..axis }
    };
    (widened(across), widened(up))
}

/// What an axis shows of values: to each side as far as asked, or where they go further a little beyond them.
fn range_of(values: impl Iterator<Item = f64>, asked: Option<(f64, f64)>) -> (f64, f64) {
    let Some((least, greatest)) = asked else { return padded(ends(values)) };
    let (low, high) = ends(values.chain([least, greatest]));
    let (below, above) = padded((low, high));
    (if low < least { below } else { least }, if high > greatest { above } else { greatest })
}

/// The least and the greatest of finite values; 0 and 1 where there is none.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high { (0.0, 1.0) } else { (low, high) }
}

/// A little more on both sides, so that no marker lies on the frame.
fn padded((low, high): (f64, f64)) -> (f64, f64) {
    let room = if high > low { (high - low) * 0.06 } else { low.abs().max(1.0) * 0.1 };
    (low - room, high + room)
}

/// The numbers that are marked below: none between whole ones where no point lies between them.
fn number_marks(panel: &PointPanel, across: &Axis) -> Vec<(f64, String)> {
    let is_whole = panel.series.iter().flat_map(|series| &series.points).all(|(x, _)| x.fract() == 0.0);
    let ticks = across.ticks(6);
    match is_whole && ticks.iter().any(|(value, _)| value.fract() != 0.0) {
        true => ticks.into_iter().filter(|(x, _)| x.fract() == 0.0).map(|(x, _)| (x, format!("{x:.0}"))).collect(),
        false => ticks,
    }
}

fn draw_frame(canvas: &mut Canvas, panel: &PointPanel, plot: Area, across: &Axis, up: &Axis) {
    let (x, y, bottom) = (plot.x as f32, plot.y as f32, plot.y + plot.height);
    let title = LABEL.bold().fit(&panel.title, plot.width as f32);
    canvas.text(x, y - 50.0, &title, LABEL.bold());
    canvas.text(x, y - 28.0, &panel.y_label, NOTE);
    for (value, text) in up.ticks(5) {
        let height = up.position(value);
        canvas.fill(Area { x: plot.x, y: height as usize, width: plot.width, height: 1 }, GRID);
        canvas.text(x - 12.0, height + NOTE.half_height(), &text, NOTE.anchored(Anchor::End));
    }
    let marks: Vec<(f64, String)> = match &panel.x {
        XAxis::Groups(names) => names.iter().enumerate().map(|(group, name)| (group as f64, name.clone())).collect(),
        _ => number_marks(panel, across),
    };
    for (value, text) in marks {
        let place = across.position(value);
        canvas.fill(Area { x: place as usize, y: bottom, width: 1, height: 7 }, FAINT_INK);
        let room = if matches!(panel.x, XAxis::Groups(_)) { GROUP_WIDTH as f32 - 8.0 } else { f32::INFINITY };
        canvas.text(place, bottom as f32 + 28.0, &NOTE.fit(&text, room), NOTE.anchored(Anchor::Middle));
    }
    let middle = x + plot.width as f32 / 2.0;
    let label = NOTE.fit(&panel.x_label, plot.width as f32);
    canvas.text(middle, bottom as f32 + 62.0, &label, NOTE.coloured(INK).anchored(Anchor::Middle));
    canvas.fill(Area { x: plot.x, y: plot.y, width: 1, height: plot.height }, FRAME);
    canvas.fill(Area { x: plot.x, y: bottom, width: plot.width + 1, height: 1 }, FAINT_INK);
}

/// The marker of the series with this number, with half its width in pixels: disc, square, triangle, cross, diamond, plus.
pub(super) fn draw_marker(canvas: &mut Canvas, (x, y): (f32, f32), series: usize, half_width: f32) {
    let at = |points: &[(f32, f32)]| -> Vec<(f32, f32)> {
        points.iter().map(|(dx, dy)| (x + dx * half_width, y + dy * half_width)).collect()
    };
    let stroke = Stroke { width: half_width / 2.0, dash: &[], ..series_stroke(series) };
    let lines: &[&[(f32, f32)]] = match series % 6 {
        0 => {
            let disc = Stroke { width: 1.8 * half_width, ..stroke };
            return canvas.polyline(&[(x - 0.1, y), (x + 0.1, y)], disc);
        }
        1 => &[&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (-0.9, -0.9)]],
        2 => &[&[(0.0, -1.1), (1.0, 0.8), (-1.0, 0.8), (0.0, -1.1)]],
        3 => &[&[(-0.9, -0.9), (0.9, 0.9)], &[(-0.9, 0.9), (0.9, -0.9)]],
        4 => &[&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0), (0.0, -1.2)]],
        _ => &[&[(-1.1, 0.0), (1.1, 0.0)], &[(0.0, -1.1), (0.0, 1.1)]],
    };
    for line in lines {
        canvas.polyline(&at(line), stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::series_colour;

    fn panel(x: XAxis, points: &[(f64, f64)], join: Join) -> PointPanel {
        let series = PointSeries { name: "beta_vae".to_string(), points: points.to_vec(), join };
        PointPanel {
            title: String::new(),
            x_label: "beta".to_string(),
            y_label: "score".to_string(),
            x,
            y_range: Some((0.0, 1.0)),
            series: vec![series],
            marks: Vec::new(),
        }
    }

    #[test]
    fn means_are_taken_at_each_x() {
        // At 1: (0.2 + 0.4) / 2; what is not finite takes no part.
        let points = [(2.0, 0.5), (1.0, 0.2), (1.0, 0.4), (1.0, f64::NAN)];
        let found = means(&points);
        assert_eq!(found.len(), 2);
        assert!((found[0].1 - 0.3).abs() < 1e-12 && found[1] == (2.0, 0.5), "{found:?}");
    }

    #[test]
    fn many_panels_take_several_rows() {
        let six = vec![panel(XAxis::Linear, &[(0.0, 0.5)], Join::Nothing); 6];
        let (three, six) = (point_panels("", &six[..3]), point_panels("", &six));
        assert_eq!((three.width(), three.height() + ROW_HEIGHT), (six.width(), six.height()));
    }

    #[test]
    fn nothing_is_marked_between_whole_numbers() {
        let axis = Axis { low: 0.9, high: 3.1, start: 0.0, end: 600.0, spread: Spread::Linear };
        let texts = |points: &[(f64, f64)]| -> Vec<String> {
            let marks = number_marks(&panel(XAxis::Linear, points, Join::Means), &axis);
            marks.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(&[(1.0, 0.2), (2.0, 0.3), (3.0, 0.1)]), ["1", "2", "3"]);
        assert_eq!(texts(&[(1.0, 0.2), (2.5, 0.3)]), ["1.0", "1.5", "2.0", "2.5", "3.0"]);
    }

    #[test]
    fn a_point_is_drawn_at_its_place() {
        let one = panel(XAxis::Linear, &[(0.0, 0.0), (1.0, 1.0), (0.5, 0.25)], Join::Nothing);
        let canvas = point_panels("", std::slice::from_ref(&one));
        let legend_row = 40;
        let plot = Area {
            x: MARGIN + PLOT_INDENT,
            y: title_height("") + legend_row + PLOT_TOP,
            width: PLOT_WIDTH,
            height: PLOT_HEIGHT,
        };
        let (across, up) = axes(&one, plot);
        let place = |x: f64, y: f64| canvas.colour(across.position(x) as usize, up.position(y) as usize);
        assert_eq!(place(0.5, 0.25), series_colour(0));
        assert_ne!(place(0.5, 0.75), series_colour(0));
    }

    #[test]
    fn an_axis_goes_beyond_what_is_asked_where_points_do() {
        assert_eq!(range_of([0.2, 0.7].into_iter(), Some((0.0, 1.0))), (0.0, 1.0));
        let (low, high) = range_of([0.2, 1.6].into_iter(), Some((0.0, 1.0)));
        assert!(low == 0.0 && high > 1.6, "{low} {high}");
        let (low, high) = range_of([-0.2, 0.7].into_iter(), Some((0.0, 1.0)));
        assert!(low < -0.2 && high == 1.0, "{low} {high}");
    }

    #[test]
    fn groups_set_series_beside_each_other() {
        let mut grouped = panel(XAxis::Groups(vec!["x".into(), "y".into()]), &[(0.0, 0.5), (1.0, 0.5)], Join::Means);
        grouped.series.push(PointSeries { name: "altered".into(), ..grouped.series[0].clone() });
        let (first, second) = (places_of(&grouped, 0), places_of(&grouped, 1));
        assert!(first[0].0 < 0.0 && second[0].0 > 0.0 && first[1].0 > 0.5, "{first:?} {second:?}");
        assert!(point_panels("Scores", &[grouped]).width() > 600);
    }

    #[test]
    fn nothing_at_all_is_drawn_as_empty_axes() {
        let empty = panel(XAxis::Logarithmic, &[(f64::NAN, 1.0)], Join::Means);
        assert!(point_panels("Empty", &[empty]).height() > PLOT_HEIGHT);
    }
}
