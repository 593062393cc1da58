//! Losses against training steps: one small panel per part, a smooth line over the faint values as logged. A number that is logged for
//! each latent, in columns such as `sigma_z0`, is one panel with a line for each.

use super::axis::{Axis, Spread, linear_ticks};
use super::legend::Legend;
use super::{LABEL, MARGIN, NOTE, TITLE, draw_title, series_stroke, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{FAINT_INK, FRAME, GRID, series_colour};
use crate::loss_log::LossTable;
use crate::stroke::Stroke;
use crate::text::Anchor;

const PLOT_WIDTH: usize = 440;
const SINGLE_PLOT_WIDTH: usize = 860;
const PLOT_HEIGHT: usize = 280;
const PANEL_LEFT: usize = 84;
const PANEL_TOP: usize = 44;
const PANEL_BOTTOM: usize = 70;
const PANEL_GAP: usize = 36;
const MOST_POINTS: usize = 1000;
/// Room to the right of lines that are named there, and the least distance of two names.
const NAMES_WIDTH: usize = 44;
const NAMES_APART: f32 = 21.0;

/// How the losses are spread along the upright axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences take equal space.
    Linear,
    /// Equal ratios take equal space, in panels where all values are positive.
    Logarithmic,
    /// Logarithmic in panels where most values would crowd at the bottom of a linear one.
    Fitting,
}

/// How the panels are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panels {
    /// Up to three side by side.
    Beside,
    /// One under the other, for where there is little room.
    Stacked,
}

/// The loss and its parts of one run, a panel for each; `unit` names what the numbers are, for instance `nats`.
pub fn loss_curves(title: &str, table: &LossTable, unit: &str, scale: Scale, set: Panels) -> Canvas {
    compare_losses(title, &[(String::new(), table)], unit, scale, set)
}

/// The losses of several runs over one another, a panel for each part that any of them has.
pub fn compare_losses(title: &str, runs: &[(String, &LossTable)], unit: &str, scale: Scale, set: Panels) -> Canvas {
    let panels = panels(runs);
    let (n_across, plot_width) = match (set, panels.len()) {
        (Panels::Stacked, _) => (1, PLOT_WIDTH),
        (Panels::Beside, 0 | 1) => (1, SINGLE_PLOT_WIDTH),
        (Panels::Beside, 2 | 4) => (2, PLOT_WIDTH),
        (Panels::Beside, _) => (3, PLOT_WIDTH),
    };
    let (panel_width, panel_height) = (PANEL_LEFT + plot_width, PANEL_TOP + PLOT_HEIGHT + PANEL_BOTTOM);
    let body_width = n_across * (panel_width + PANEL_GAP) - PANEL_GAP;
    let named = runs.iter().enumerate().map(|(series, (name, _))| (name.as_str(), series_stroke(series)));
    let legend = Legend::new(named, MARGIN, body_width);
    let top = title_height(title) + legend.height();
    let width = body_width.max(widest(TITLE, [title])) + 2 * MARGIN;
    let n_down = panels.len().div_ceil(n_across);
    let mut canvas = Canvas::new(width, top + n_down * (panel_height + 12) + MARGIN / 2);
    draw_title(&mut canvas, title);
    legend.draw(&mut canvas, title_height(title));
    for (index, panel) in panels.iter().enumerate() {
        let x = MARGIN + index % n_across * (panel_width + PANEL_GAP);
        let y = top + index / n_across * (panel_height + 12);
        let plot = Area { x: x + PANEL_LEFT, y: y + PANEL_TOP, width: plot_width, height: PLOT_HEIGHT };
        draw_panel(&mut canvas, panel, plot, unit, scale);
    }
    canvas
}

struct Panel {
    title: String,
    lines: Vec<Line>,
}

struct Line {
    series: usize,
    /// The latent that it belongs to, where there is a line for each.
    latent: Option<String>,
    /// Steps and values, without those that are not finite.
    raw: Vec<(f64, f64)>,
    smooth: Vec<(f64, f64)>,
}

/// One panel per column name, in the order in which the runs bring them up, and one for all latents of a number.
fn panels(runs: &[(String, &LossTable)]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for (series, (_, table)) in runs.iter().enumerate() {
        for column in &table.columns {
            let points = table.steps.iter().zip(&column.values);
            let raw: Vec<(f64, f64)> =
                points.map(|(step, value)| (*step as f64, *value)).filter(|(_, value)| value.is_finite()).collect();
            let (title, latent) = match latent_of(&column.name) {
                Some((title, latent)) => (title, Some(latent)),
                None => (column.name.as_str(), None),
            };
            // In one run colours tell latents apart, in several the runs.
            let series = latent.filter(|_| runs.len() == 1).unwrap_or(series);
            let latent = latent.map(|latent| format!("z{latent}"));
            let line = Line { series, latent, smooth: smoothed(&raw), raw };
            match panels.iter_mut().find(|panel| panel.title == title) {
                Some(panel) => panel.lines.push(line),
                None => panels.push(Panel { title: title.to_string(), lines: vec![line] }),
            }
        }
    }
    panels
}

/// `sigma_z3` as `sigma` and 3.
fn latent_of(column: &str) -> Option<(&str, usize)> {
    let (name, latent) = column.rsplit_once("_z")?;
    Some((name, latent.parse().ok()?))
}

/// The mean over a window around each point. Losses start steeply, so the window narrows towards the start; at the end
/// it only loses the part that lies outside, so that one last value does not bend the line.
fn smoothed(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let half_window = if is_noisy(points) { points.len() / 60 } else { 0 };
    let mut sums = vec![0.0];
    for (index, (_, value)) in points.iter().enumerate() {
        sums.push(sums[index] + value);
    }
    let mean_around = |index: usize| {
        let n_before = half_window.min(index);
        let n_after = n_before.min(points.len() - 1 - index);
        (sums[index + n_after + 1] - sums[index - n_before]) / (n_before + n_after + 1) as f64
    };
    let stride = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = (0..points.len()).filter(|index| index % stride == 0 || *index == last);
    kept.map(|index| (points[index].0, mean_around(index))).collect()
}

/// Whether values jump up and down from step to step, as losses of batches do and learned numbers, schedules and controlled ones do not.
/// Of noise the changes of changes are 1.7 times as large as the changes; of a line they are 0, of a saw as large as these.
fn is_noisy(points: &[(f64, f64)]) -> bool {
    let changes: Vec<f64> = points.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    let size: f64 = changes.iter().map(|change| change.abs()).sum();
    let size_of_changes: f64 = changes.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    size_of_changes > 1.4 * size
}

fn draw_panel(canvas: &mut Canvas, panel: &Panel, plot: Area, unit: &str, scale: Scale) {
    let names_width = if panel.lines.iter().any(|line| line.latent.is_some()) { NAMES_WIDTH } else { 0 };
    let plot = Area { width: plot.width - names_width, ..plot };
    let (steps, values) = axes(panel, plot, scale);
    let (x, y) = (plot.x as f32, plot.y as f32);
    let (right, bottom) = (plot.x + plot.width, plot.y + plot.height);
    canvas.text(x, y - 16.0, &panel.title, LABEL.bold());
    let unit = match values.spread {
        Spread::Linear => unit.to_string(),
        Spread::Logarithmic => format!("{unit}, log scale").trim_start_matches(", ").to_string(),
    };
    canvas.text(right as f32, y - 16.0, &unit, NOTE.anchored(Anchor::End));
    for (value, text) in values.ticks(5) {
        let height = values.position(value);
        canvas.fill(Area { x: plot.x, y: height as usize, width: plot.width, height: 1 }, GRID);
        canvas.text(x - 12.0, height + NOTE.half_height(), &text, NOTE.anchored(Anchor::End));
    }
    for (value, text) in steps.ticks(5) {
        let place = steps.position(value);
        canvas.fill(Area { x: place as usize, y: bottom, width: 1, height: 7 }, FAINT_INK);
        canvas.text(place, bottom as f32 + 28.0, &text, NOTE.anchored(Anchor::Middle));
    }
    canvas.text(x + plot.width as f32 / 2.0, bottom as f32 + 56.0, "step", NOTE.anchored(Anchor::Middle));
    canvas.fill(Area { x: plot.x, y: plot.y, width: 1, height: plot.height }, FRAME);
    canvas.fill(Area { x: plot.x, y: bottom, width: plot.width + 1, height: 1 }, FAINT_INK);
    draw_lines(canvas, panel, &steps, &values);
    for (height, line) in names(panel, plot, &values) {
        let style = NOTE.coloured(series_colour(line.series));
        canvas.text(
            right as f32 + 10.0,
            height + NOTE.half_height(),
            line.latent.as_deref().unwrap_or_default(),
            style,
        );
    }
}

/// Where the lines of latents are named: at their ends, moved apart where these are close. Where there are too many for the panel,
/// the lowest go without.
fn names<'a>(panel: &'a Panel, plot: Area, values: &Axis) -> Vec<(f32, &'a Line)> {
    let named = panel.lines.iter().filter(|line| line.latent.is_some());
    let ends = named.filter_map(|line| Some((values.position(line.smooth.last()?.1), line)));
    let mut ends: Vec<(f32, &Line)> = ends.collect();
    ends.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (top, bottom) = (plot.y as f32, (plot.y + plot.height) as f32);
    ends.truncate((plot.height as f32 / NAMES_APART) as usize + 1);
    let mut least = top;
    for (height, _) in &mut ends {
        *height = height.max(least);
        least = *height + NAMES_APART;
    }
    let mut most = bottom;
    for (height, _) in ends.iter_mut().rev() {
        *height = height.min(most);
        most = *height - NAMES_APART;
    }
    ends
}

fn draw_lines(canvas: &mut Canvas, panel: &Panel, steps: &Axis, values: &Axis) {
    let place = |points: &[(f64, f64)]| -> Vec<(f32, f32)> {
        points.iter().map(|(step, value)| (steps.position(*step), values.position(*value))).collect()
    };
    for line in &panel.lines {
        let faint = Stroke { width: 1.5, colour: series_colour(line.series), opacity: 0.22, dash: &[] };
        canvas.polyline(&place(&extremes(&line.raw)), faint);
    }
    for line in &panel.lines {
        canvas.polyline(&place(&line.smooth), series_stroke(line.series));
    }
}

/// The least and the greatest of every few points, which draw the same as all of them where these are many.
fn extremes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let size = points.len().div_ceil(MOST_POINTS / 2).max(1);
    if size <= 2 {
        return points.to_vec();
    }
    let by_value = |left: &&(f64, f64), right: &&(f64, f64)| left.1.total_cmp(&right.1);
    let mut kept = Vec::new();
    for chunk in points.chunks(size) {
        let mut pair: Vec<(f64, f64)> =
            chunk.iter().min_by(by_value).into_iter().chain(chunk.iter().max_by(by_value)).copied().collect();
        pair.sort_by(|left, right| left.0.total_cmp(&right.0));
        kept.extend(pair);
    }
    kept
}

fn axes(panel: &Panel, plot: Area, scale: Scale) -> (Axis, Axis) {
    let steps = || panel.lines.iter().flat_map(|line| &line.raw).map(|(step, _)| *step);
    let last_step = steps().fold(1.0, f64::max);
    let first_step = steps().fold(last_step, f64::min);
    // Training starts at step 0 or 1; a table that starts much later shows its own range.
    let first_step = if first_step < 0.2 * last_step { 0.0 } else { first_step };
    let (start, end) = (plot.x as f32, (plot.x + plot.width) as f32);
    let last_step = if last_step > first_step { last_step } else { first_step + 1.0 };
    let steps = Axis { low: first_step, high: last_step, start, end, spread: Spread::Linear };

    let (low, high) = value_range(panel);
    let spread = match scale {
        Scale::Logarithmic if low > 0.0 => Spread::Logarithmic,
        Scale::Fitting if low > 0.0 && high > 8.0 * median(panel) => Spread::Logarithmic,
        _ => Spread::Linear,
    };
    let (low, high) = match spread {
        Spread::Linear => round_range(low, high),
        Spread::Logarithmic => (low / 1.15, high * 1.15),
    };
    let (start, end) = ((plot.y + plot.height) as f32, plot.y as f32);
    (steps, Axis { low, high, start, end, spread })
}

fn median(panel: &Panel) -> f64 {
    let mut values: Vec<f64> = panel.lines.iter().flat_map(|line| &line.raw).map(|(_, value)| *value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// What the smooth lines span, and nearly all of the values as logged: a few far ones would flatten the rest.
fn value_range(panel: &Panel) -> (f64, f64) {
    let mut raw: Vec<f64> = panel.lines.iter().flat_map(|line| &line.raw).map(|(_, value)| *value).collect();
    raw.sort_by(f64::total_cmp);
    let n_cut = raw.len() / 200;
    let kept = raw[n_cut..raw.len() - n_cut].iter().copied();
    let smooth = panel.lines.iter().flat_map(|line| &line.smooth).map(|(_, value)| *value);
    let all: Vec<f64> = kept.chain(smooth).collect();
    if all.is_empty() {
        return (0.0, 1.0);
    }
    (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The range widened a little, and to zero where that is near.
fn round_range(low: f64, high: f64) -> (f64, f64) {
    let span = if high > low { high - low } else { high.abs().max(1.0) * 0.1 };
    let low = if low >= 0.0 && low < 0.4 * span { 0.0 } else { low - 0.05 * span };
    let high = high + 0.05 * span;
    let step = linear_ticks(low, high, 5).windows(2).next().map_or(span, |pair| pair[1] - pair[0]);
    // Ending on a marked number looks tidy, where it costs little space.
    let tidy = (high / step).ceil() * step;
    (low, if tidy - high < 0.1 * span { tidy } else { high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss_log::LossColumn;

    fn table(values: &[f64]) -> LossTable {
        let column = LossColumn { name: "loss".to_string(), values: values.to_vec() };
        LossTable { steps: (1..=values.len()).collect(), columns: vec![column] }
    }

    #[test]
    fn smoothing_keeps_straight_lines_and_evens_out_the_end() {
        let line: Vec<(f64, f64)> = (0..400).map(|step| (f64::from(step), 3.0 * f64::from(step) + 1.0)).collect();
        // 400 / 60 = 6 points lie on either side, of which the last six points lack some.
        for ((_, smooth), (_, raw)) in smoothed(&line).iter().zip(&line).take(394) {
            assert!((smooth - raw).abs() < 1e-6);
        }
        // Ones and nines by turns, and an eight at the end: of the last seven points, three ones, three nines and the eight, 38 / 7.
        let turns = |step: u32| if step.is_multiple_of(2) { 9.0 } else { 1.0 };
        let mut noise: Vec<(f64, f64)> = (0..400).map(|step| (f64::from(step), turns(step))).collect();
        noise[399].1 = 8.0;
        assert_eq!(smoothed(&noise)[399].1, 38.0 / 7.0);
    }

    #[test]
    fn numbers_without_noise_are_drawn_as_they_are() {
        let saw: Vec<(f64, f64)> = (0..400).map(|step| (f64::from(step), f64::from(step % 50))).collect();
        assert_eq!(smoothed(&saw), saw);
        let parabola: Vec<(f64, f64)> = (0..400).map(|step| (f64::from(step), f64::from(step * step))).collect();
        assert_eq!(smoothed(&parabola), parabola);
    }

    #[test]
    fn many_points_keep_their_extremes() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|step| (f64::from(step), 1.0)).collect();
        points[77_777].1 = 9.0;
        let kept = extremes(&points);
        assert!(kept.len() <= MOST_POINTS && kept.contains(&(77_777.0, 9.0)));
    }

    #[test]
    fn curves_are_drawn_in_their_colours() {
        let (falling, rising) = (table(&[9.0, 5.0, 2.0, 1.0]), table(&[1.0, 2.0, 4.0]));
        let canvas = compare_losses(
            "",
            &[("a".to_string(), &falling), ("b".to_string(), &rising)],
            "",
            Scale::Linear,
            Panels::Beside,
        );
        for series in 0..2 {
            assert!(canvas.pixels().chunks(3).filter(|pixel| **pixel == series_colour(series)).count() > 200);
        }
    }

    #[test]
    fn the_latents_of_a_number_share_a_panel_and_their_names_do_not_overlap() {
        let column = |name: String, end: f64| LossColumn { name, values: vec![1.0, end] };
        let mut columns: Vec<_> =
            (0..20).map(|latent| column(format!("sigma_z{latent}"), 1.0 + 0.001 * latent as f64)).collect();
        columns.extend(["sigma_r", "step_z", "z_total"].map(|name| column(name.to_string(), 2.0)));
        let table = LossTable { steps: vec![1, 2], columns };
        let panels = panels(&[(String::new(), &table)]);
        let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["sigma", "sigma_r", "step_z", "z_total"]);
        assert_eq!(panels[0].lines[7].latent.as_deref(), Some("z7"));
        let plot = Area { x: 0, y: 100, width: 300, height: 200 };
        let (_, values) = axes(&panels[0], plot, Scale::Linear);
        let places = names(&panels[0], plot, &values);
        // 200 / 21 leaves room for ten.
        assert_eq!(places.len(), 10);
        assert!(places.windows(2).all(|pair| pair[1].0 - pair[0].0 >= NAMES_APART - 0.01));
        assert!(places.iter().all(|(height, _)| (100.0..=300.0).contains(height)));
        assert!(loss_curves("", &table, "", Scale::Fitting, Panels::Beside).width() > 100);
    }

    #[test]
    fn odd_tables_are_drawn() {
        for values in [&[][..], &[1.0], &[f64::NAN, f64::INFINITY], &[-1.0, 0.0, 2.0], &[5.0, 5.0], &[1e-9, 1e9]] {
            for scale in [Scale::Linear, Scale::Logarithmic, Scale::Fitting] {
                assert!(loss_curves("Losses", &table(values), "nats", scale, Panels::Beside).width() > 100);
            }
        }
    }
}
