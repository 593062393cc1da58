//! How much of the variance each principal component explains, as bars, and all up to it, as a line.

use super::axis::{Axis, Spread};
use super::{MARGIN, NOTE, TITLE, draw_title, series_stroke, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{FAINT_INK, FRAME, GRID, INK, series_colour};
use crate::text::Anchor;

const PLOT_WIDTH: usize = 960;
const NARROW_PLOT_WIDTH: usize = 560;
const PLOT_HEIGHT: usize = 400;
const INDENT: usize = 84;
const TOP: usize = 44;
const BOTTOM: usize = 76;
const WIDEST_BAR: usize = 72;
const SERIES: usize = 1;

/// Bars of `shares`, in [0, 1], one for each component in order, and the line of their sums.
pub fn explained_variance(title: &str, shares: &[f64]) -> Canvas {
    draw(title, shares, PLOT_WIDTH)
}

/// The same for where there is little room.
pub fn explained_variance_narrow(title: &str, shares: &[f64]) -> Canvas {
    draw(title, shares, NARROW_PLOT_WIDTH)
}

fn draw(title: &str, shares: &[f64], plot_width: usize) -> Canvas {
    let title_width = if plot_width == PLOT_WIDTH { widest(TITLE, [title]) } else { 0 };
    let plot = Area { x: MARGIN + INDENT, y: title_height(title) + TOP, width: plot_width, height: PLOT_HEIGHT };
    let width = (INDENT + plot_width).max(title_width) + 2 * MARGIN;
    let mut canvas = Canvas::new(width, plot.y + PLOT_HEIGHT + BOTTOM + MARGIN / 2);
    draw_title(&mut canvas, title);
    let (bottom, top) = ((plot.y + plot.height) as f32, plot.y as f32);
    // Where little is explained, what there is should still be seen.
    let high = (1.15 * shares.iter().sum::<f64>()).clamp(1e-3, 1.0);
    let axis = Axis { low: 0.0, high, start: bottom, end: top, spread: Spread::Linear };
    draw_frame(&mut canvas, plot, &axis);
    let step = plot.width as f32 / shares.len().max(1) as f32;
    let bar_width = ((step * 0.7) as usize).clamp(1, WIDEST_BAR);
    let mut sum = 0.0;
    let mut line = Vec::new();
    for (position, share) in shares.iter().enumerate() {
        let middle = plot.x as f32 + step * (position as f32 + 0.5);
        let height = axis.position(*share);
        let bar = Area {
            x: middle as usize - bar_width / 2,
            y: height as usize,
            width: bar_width,
            height: (bottom - height).ceil() as usize,
        };
        canvas.fill(bar, series_colour(0));
        sum += share;
        line.push((middle, axis.position(sum)));
    }
    canvas.polyline(&line, series_stroke(SERIES));
    for &(x, y) in &line {
        let dot = Area { x: x as usize - 4, y: y as usize - 4, width: 9, height: 9 };
        canvas.fill(dot, series_colour(SERIES));
    }
    draw_numbers(&mut canvas, plot, shares.len(), step);
    canvas
}

fn draw_frame(canvas: &mut Canvas, plot: Area, axis: &Axis) {
    let (x, bottom) = (plot.x as f32, plot.y + plot.height);
    let what = "share of the variance: of each component (bars), of all up to it (dashed line with marks)";
    canvas.text(MARGIN as f32, plot.y as f32 - 18.0, &NOTE.fit(what, (INDENT + plot.width) as f32), NOTE);
    for (value, text) in axis.ticks(5) {
        let height = axis.position(value);
        canvas.fill(Area { x: plot.x, y: height as usize, width: plot.width, height: 1 }, GRID);
        canvas.text(x - 12.0, height + NOTE.half_height(), &text, NOTE.anchored(Anchor::End));
    }
    canvas.fill(Area { x: plot.x, y: plot.y, width: 1, height: plot.height }, FRAME);
    canvas.fill(Area { x: plot.x, y: bottom, width: plot.width + 1, height: 1 }, FAINT_INK);
    let middle = x + plot.width as f32 / 2.0;
    let label = NOTE.coloured(INK).anchored(Anchor::Middle);
    canvas.text(middle, bottom as f32 + 62.0, "component", label);
}

/// The numbers of the components, as many as there is room for.
fn draw_numbers(canvas: &mut Canvas, plot: Area, n_components: usize, step: f32) {
    let room = NOTE.width(&n_components.to_string()) + 12.0;
    let every = ((room / step).ceil() as usize).max(1);
    for position in (0..n_components).filter(|position| (position + 1) % every == 0 || *position == 0) {
        let middle = plot.x as f32 + step * (position as f32 + 0.5);
        let baseline = (plot.y + plot.height + 28) as f32;
        canvas.text(middle, baseline, &(position + 1).to_string(), NOTE.anchored(Anchor::Middle));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_share() {
        let canvas = explained_variance("", &[0.5, 0.25]);
        let top = title_height("") + TOP;
        // The first bar stands a quarter of the way along; it is 0.5 of an axis to 1.15 * 0.75, 58 %.
        let x = MARGIN + INDENT + PLOT_WIDTH / 4 - 20;
        assert_eq!(canvas.colour(x, top + PLOT_HEIGHT - 3), series_colour(0));
        assert_eq!(canvas.colour(x, top + PLOT_HEIGHT * 44 / 100), series_colour(0));
        assert_ne!(canvas.colour(x, top + PLOT_HEIGHT * 38 / 100), series_colour(0));
    }

    #[test]
    fn any_number_of_components_is_drawn() {
        for n in [0, 1, 10, 256] {
            assert!(explained_variance("A title", &vec![0.9 / 256.0; n]).width() > 900);
            assert!(explained_variance_narrow("A title", &vec![0.9 / 256.0; n]).width() <= 760);
        }
    }
}
