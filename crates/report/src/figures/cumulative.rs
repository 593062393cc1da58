//! Which share of pairs of images is at most so far apart, a line for each factor and one for pairs at random (T1 figure 3.13). Lines
//! further to the right are of factors that images differ more by; a line that jumps is of distances that are all alike, and order nothing.

use super::axis::{Axis, Spread};
use super::legend::Legend;
use super::{MARGIN, NOTE, TITLE, draw_title, series_stroke, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{FAINT_INK, FRAME, GRID, INK, mix};
use crate::stroke::Stroke;
use crate::text::Anchor;

const PLOT_HEIGHT: usize = 440;
const PLOT_WIDTH: usize = 960;
const NARROW_PLOT_WIDTH: usize = 560;
const PLOT_INDENT: usize = 84;
const PLOT_TOP: usize = 40;
const PLOT_BOTTOM: usize = 70;
const RANDOM: &str = "random";
const RANDOM_DASHES: [&[f32]; 2] = [&[], &[22.0, 10.0]];
const MOST_POINTS: usize = 2000;

/// One line of the figure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CumulativeLine {
    /// A factor, or a name that begins with `random`, whose line is thick.
    pub name: String,
    /// Distances in rising order, each with the share of pairs, in [0, 1], that are at most that far apart.
    pub points: Vec<(f64, f64)>,
}

/// The lines over one another; `x_label` says what the distances are, for instance `mean squared error`.
pub fn cumulative_curves(title: &str, x_label: &str, lines: &[CumulativeLine]) -> Canvas {
    draw(title, x_label, lines, PLOT_WIDTH)
}

/// The same for where there is little room.
pub fn cumulative_curves_narrow(title: &str, x_label: &str, lines: &[CumulativeLine]) -> Canvas {
    draw(title, x_label, lines, NARROW_PLOT_WIDTH)
}

fn draw(title: &str, x_label: &str, lines: &[CumulativeLine], plot_width: usize) -> Canvas {
    let strokes = strokes(lines);
    let body_width = PLOT_INDENT + plot_width;
    let named = lines.iter().zip(&strokes).map(|(line, stroke)| (line.name.as_str(), *stroke));
    let legend = Legend::new(named, MARGIN, body_width);
    let title_width = if plot_width == PLOT_WIDTH { widest(TITLE, [title]) } else { 0 };
    let top = title_height(title) + legend.height() + PLOT_TOP;
    let plot = Area { x: MARGIN + PLOT_INDENT, y: top, width: plot_width, height: PLOT_HEIGHT };
    let height = top + PLOT_HEIGHT + PLOT_BOTTOM + MARGIN / 2;
    let mut canvas = Canvas::new(body_width.max(title_width) + 2 * MARGIN, height);
    draw_title(&mut canvas, title);
    legend.draw(&mut canvas, title_height(title));
    let (distances, shares) = axes(lines, plot);
    draw_frame(&mut canvas, plot, &distances, &shares, x_label);
    // The thick lines lie below the others, which stay visible where they go the same way.
    let (thick, thin): (Vec<usize>, Vec<usize>) = (0..lines.len()).partition(|&index| is_random(&lines[index]));
    for index in thick.into_iter().chain(thin) {
        let points = steps(&lines[index].points);
        let places: Vec<(f32, f32)> =
            points.iter().map(|(distance, share)| (distances.position(*distance), shares.position(*share))).collect();
        canvas.polyline(&places, strokes[index]);
    }
    canvas
}

fn is_random(line: &CumulativeLine) -> bool {
    line.name.starts_with(RANDOM)
}

/// How each line looks; colours and dashes are counted without the thick lines.
fn strokes(lines: &[CumulativeLine]) -> Vec<Stroke> {
    let (mut n_thick, mut n_thin) = (0, 0);
    let stroke = |line: &CumulativeLine| {
        if is_random(line) {
            n_thick += 1;
            let dash = RANDOM_DASHES[(n_thick - 1) % RANDOM_DASHES.len()];
            Stroke { width: 8.0, colour: mix(FAINT_INK, FRAME, 0.5), opacity: 1.0, dash }
        } else {
            n_thin += 1;
            series_stroke(n_thin - 1)
        }
    };
    lines.iter().map(stroke).collect()
}

fn axes(lines: &[CumulativeLine], plot: Area) -> (Axis, Axis) {
    let finite = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|(distance, _)| *distance)
        .filter(|distance| distance.is_finite());
    let greatest = finite.fold(0.0, f64::max);
    let high = if greatest > 0.0 { greatest * 1.03 } else { 1.0 };
    let (left, right) = (plot.x as f32, (plot.x + plot.width) as f32);
    let (bottom, top) = ((plot.y + plot.height) as f32, plot.y as f32);
    (
        Axis { low: 0.0, high, start: left, end: right, spread: Spread::Linear },
        Axis { low: 0.0, high: 1.0, start: bottom, end: top, spread: Spread::Linear },
    )
}

/// The corners of the steps: from no pairs just below the first distance, flat up to each further one, and there up to its share.
fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let finite = points.iter().copied().filter(|(distance, share)| distance.is_finite() && share.is_finite());
    let finite: Vec<(f64, f64)> = finite.collect();
    let stride = finite.len().div_ceil(MOST_POINTS).max(1);
    let last = finite.len().saturating_sub(1);
    let mut corners = Vec::new();
    let mut before = 0.0;
    for (index, (distance, share)) in finite.into_iter().enumerate() {
        if index % stride == 0 || index == last {
            corners.extend([(distance, before), (distance, share)]);
            before = share;
        }
    }
    corners
}

fn draw_frame(canvas: &mut Canvas, plot: Area, distances: &Axis, shares: &Axis, x_label: &str) {
    let (x, y, bottom) = (plot.x as f32, plot.y as f32, plot.y + plot.height);
    canvas.text(x, y - 16.0, "share of pairs at most so far apart", NOTE);
    for (value, text) in shares.ticks(5) {
        let height = shares.position(value);
        canvas.fill(Area { x: plot.x, y: height as usize, width: plot.width, height: 1 }, GRID);
        canvas.text(x - 12.0, height + NOTE.half_height(), &text, NOTE.anchored(Anchor::End));
    }
    for (value, text) in distances.ticks(6) {
        let place = distances.position(value);
        canvas.fill(Area { x: place as usize, y: bottom, width: 1, height: 7 }, FAINT_INK);
        canvas.text(place, bottom as f32 + 28.0, &text, NOTE.anchored(Anchor::Middle));
    }
    let middle = x + plot.width as f32 / 2.0;
    let label = NOTE.fit(x_label, plot.width as f32);
    canvas.text(middle, bottom as f32 + 58.0, &label, NOTE.coloured(INK).anchored(Anchor::Middle));
    canvas.fill(Area { x: plot.x, y: plot.y, width: 1, height: plot.height }, FRAME);
    canvas.fill(Area { x: plot.x, y: bottom, width: plot.width + 1, height: 1 }, FAINT_INK);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::series_colour;

    fn line(name: &str, points: &[(f64, f64)]) -> CumulativeLine {
        CumulativeLine { name: name.to_string(), points: points.to_vec() }
    }

    #[test]
    fn shares_rise_where_their_distance_is_reached() {
        let corners = steps(&[(2.0, 0.25), (3.0, 1.0)]);
        assert_eq!(corners, [(2.0, 0.0), (2.0, 0.25), (3.0, 0.25), (3.0, 1.0)]);
        assert_eq!(steps(&[]), []);
    }

    #[test]
    fn many_points_end_at_the_last() {
        let points: Vec<(f64, f64)> =
            (1..=100_001).map(|rank| (f64::from(rank), f64::from(rank) / 100_001.0)).collect();
        let corners = steps(&points);
        assert!(corners.len() <= 2 * MOST_POINTS + 4);
        assert_eq!(corners[corners.len() - 1], (100_001.0, 1.0));
    }

    #[test]
    fn random_pairs_are_thick_and_take_no_colour_from_the_factors() {
        let lines = [line("random", &[(1.0, 1.0)]), line("x", &[(0.5, 1.0)]), line("random32", &[]), line("y", &[])];
        let strokes = strokes(&lines);
        assert!(strokes[0].width > 2.0 * strokes[1].width && strokes[0].dash != strokes[2].dash);
        assert_eq!([strokes[1].colour, strokes[3].colour], [series_colour(0), series_colour(1)]);
        let canvas = cumulative_curves("", "", &lines);
        assert!(canvas.pixels().chunks(3).filter(|pixel| **pixel == series_colour(0)).count() > 400);
    }

    #[test]
    fn odd_lines_are_drawn() {
        for points in [&[][..], &[(0.0, 1.0)], &[(f64::NAN, 0.5), (f64::INFINITY, 1.0)], &[(1e-9, 0.5), (1e9, 1.0)]] {
            let lines = [line("a factor with a name that is longer than any row of a narrow figure", points)];
            assert!(cumulative_curves("A title", "mse", &lines).width() > 900);
            assert!(cumulative_curves_narrow("A title", "mse", &lines).width() <= 760);
        }
    }
}
