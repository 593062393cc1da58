//! Scores of several runs as bars side by side.

use super::axis::{Axis, Spread, linear_ticks};
use super::{LABEL, MARGIN, NOTE, TITLE, draw_title, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{FAINT_INK, GRID, series_colour};
use crate::text::Anchor;

const BAR_HEIGHT: usize = 24;
const GROUP_GAP: usize = 22;
const PLOT_WIDTH: usize = 760;
const LEGEND_HEIGHT: usize = 40;
const AXIS_HEIGHT: usize = 44;

/// The scores to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreBars {
    /// Above the figure; may be empty.
    pub title: String,
    /// The runs' names, in the order of the bars.
    pub runs: Vec<String>,
    /// Each score's name, and its number in each run where it is defined there.
    pub scores: Vec<(String, Vec<Option<f64>>)>,
}

/// One group of horizontal bars per score, one bar per run, on one axis from 0 to 1 or as far as the scores reach.
pub fn bars(input: &ScoreBars) -> Canvas {
    let left = MARGIN + widest(LABEL, input.scores.iter().map(|(name, _)| name.as_str())) + 20;
    let group_height = input.runs.len() * BAR_HEIGHT + GROUP_GAP;
    let legend_height = if input.runs.len() > 1 { legend_lines(input, left).len() * LEGEND_HEIGHT } else { 0 };
    let top = title_height(&input.title) + legend_height;
    let plot_height = input.scores.len() * group_height;
    let width = (left + PLOT_WIDTH + 90).max(MARGIN + widest(TITLE, [input.title.as_str()])) + MARGIN;
    let mut canvas = Canvas::new(width, top + plot_height + AXIS_HEIGHT + MARGIN);
    draw_title(&mut canvas, &input.title);
    if input.runs.len() > 1 {
        draw_legend(&mut canvas, input, left);
    }
    let axis = axis(input, left);
    draw_grid(&mut canvas, &axis, top, plot_height);
    for (index, (name, values)) in input.scores.iter().enumerate() {
        let y = top + index * group_height + GROUP_GAP / 2;
        let middle = (y + input.runs.len() * BAR_HEIGHT / 2) as f32;
        canvas.text((left - 14) as f32, middle + LABEL.half_height(), name, LABEL.anchored(Anchor::End));
        for run in 0..input.runs.len() {
            let value = values.get(run).copied().flatten();
            draw_bar(&mut canvas, &axis, y + run * BAR_HEIGHT, value, run);
        }
    }
    canvas
}

fn axis(input: &ScoreBars, left: usize) -> Axis {
    let finite = || input.scores.iter().flat_map(|(_, values)| values).flatten().filter(|value| value.is_finite());
    let least = finite().fold(0.0_f64, |least, value| least.min(*value));
    let greatest = finite().fold(0.0_f64, |greatest, value| greatest.max(*value));
    let greatest = if greatest <= 1.0 { 1.0 } else { greatest };
    // The axis ends on the round numbers just outside of the scores.
    let ticks = linear_ticks(least, greatest, 5);
    let step = ticks.windows(2).next().map_or(1.0, |pair| pair[1] - pair[0]);
    let low = (least / step).floor() * step;
    let high = (greatest / step - 1e-9).ceil() * step;
    Axis { low, high, start: left as f32, end: (left + PLOT_WIDTH) as f32, spread: Spread::Linear }
}

fn draw_grid(canvas: &mut Canvas, axis: &Axis, top: usize, plot_height: usize) {
    for (value, text) in axis.ticks(5) {
        let x = axis.position(value);
        let colour = if value == 0.0 { FAINT_INK } else { GRID };
        canvas.fill(Area { x: x as usize, y: top, width: 1, height: plot_height + 6 }, colour);
        canvas.text(x, (top + plot_height + 30) as f32, &text, NOTE.anchored(Anchor::Middle));
    }
}

fn draw_bar(canvas: &mut Canvas, axis: &Axis, y: usize, value: Option<f64>, run: usize) {
    let zero = axis.position(0.0);
    let baseline = (y + BAR_HEIGHT / 2) as f32 + NOTE.half_height() - 1.0;
    let Some(value) = value.filter(|value| value.is_finite()) else {
        canvas.text(zero + 10.0, baseline, "undefined", NOTE);
        return;
    };
    let end = axis.position(value);
    let (from, to) = (zero.min(end).round() as usize, zero.max(end).round() as usize);
    // A score of zero still shows a thin bar, so that it is not taken for a missing one.
    let area = Area { x: from, y: y + 2, width: (to - from).max(2), height: BAR_HEIGHT - 4 };
    canvas.fill(area, series_colour(run));
    let is_tiny = value != 0.0 && value.abs() < 0.001;
    let text = if is_tiny { format!("{value:.0e}") } else { format!("{value:.3}") }.replace('-', "−");
    canvas.text(zero.max(end) + 10.0, baseline, &text, NOTE);
}

/// The runs of each line of the legend, and where each begins.
fn legend_lines(input: &ScoreBars, left: usize) -> Vec<Vec<(usize, usize)>> {
    let mut lines: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
    let mut x = left;
    for (run, name) in input.runs.iter().enumerate() {
        let width = 30 + LABEL.width(name).ceil() as usize + 36;
        if x > left && x + width > left + PLOT_WIDTH + 90 {
            lines.push(Vec::new());
            x = left;
        }
        if let Some(line) = lines.last_mut() {
            line.push((run, x));
        }
        x += width;
    }
    lines
}

fn draw_legend(canvas: &mut Canvas, input: &ScoreBars, left: usize) {
    for (line_index, line) in legend_lines(input, left).iter().enumerate() {
        let y = title_height(&input.title) + line_index * LEGEND_HEIGHT;
        for &(run, x) in line {
            canvas.fill(Area { x, y, width: 20, height: 20 }, series_colour(run));
            canvas.text((x + 30) as f32, (y + 17) as f32, &input.runs[run], LABEL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(canvas: &Canvas, colour: [u8; 3]) -> usize {
        canvas.pixels().chunks(3).filter(|pixel| **pixel == colour).count()
    }

    #[test]
    fn bars_are_as_long_as_their_scores() {
        let area = |score: f64| {
            let scores = vec![("mig".to_string(), vec![Some(score)])];
            count(&bars(&ScoreBars { title: String::new(), runs: vec!["a".to_string()], scores }), series_colour(0))
        };
        // Half of 760 pixels, 20 high.
        assert_eq!(area(0.5), 380 * 20);
        assert_eq!(area(1.0), 760 * 20);
        assert_eq!(area(0.0), 2 * 20);
    }

    #[test]
    fn undefined_and_negative_scores_are_drawn() {
        let scores = vec![("a".to_string(), vec![None, Some(-3.0)]), ("b".to_string(), vec![Some(f64::NAN)])];
        let runs = vec!["one".to_string(), "two".to_string()];
        let canvas = bars(&ScoreBars { title: "Scores".to_string(), runs, scores });
        assert!(count(&canvas, series_colour(1)) > 100);
        bars(&ScoreBars { title: String::new(), runs: Vec::new(), scores: Vec::new() });
    }
}
