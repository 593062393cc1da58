//! Shares as bars from left to right, each with its number, and marks of what they are to be held against.

use super::axis::{Axis, Spread};
use super::{LABEL, MARGIN, NOTE, draw_title, title_height, title_room, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{GRID, INK, PAPER, series_colour};
use crate::stroke::Stroke;
use crate::text::Anchor;

const BAR_HEIGHT: usize = 34;
const ROW_HEIGHT: usize = 58;
const PLOT_WIDTH: usize = 900;
const NUMBER_ROOM: usize = 330;
const CHANCE_DASH: &[f32] = &[6.0, 6.0];

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What stands before it.
    pub name: String,
    /// Its length, in [0, 1]; where there is none, what is missing.
    pub share: Result<f64, String>,
    /// A share that it is to be held against, marked on it.
    pub mark: Option<f64>,
}

/// The bars below each other, with a dashed line at `chance`. `mark_words` says what marks are.
pub fn share_bars(title: &str, bars: &[Bar], chance: f64, mark_words: &str) -> Canvas {
    let names = widest(LABEL, bars.iter().map(|bar| bar.name.as_str()));
    let left = MARGIN + names + 20;
    let top = title_height(title) + 46;
    let bottom = top + bars.len() * ROW_HEIGHT;
    let width = (left + PLOT_WIDTH + NUMBER_ROOM).max(title_room(title) + 2 * MARGIN);
    let has_marks = bars.iter().any(|bar| bar.mark.is_some());
    let mut canvas = Canvas::new(width, bottom + if has_marks { 120 } else { 60 });
    draw_title(&mut canvas, title);
    let axis =
        Axis { low: 0.0, high: 1.0, start: left as f32, end: (left + PLOT_WIDTH) as f32, spread: Spread::Linear };
    for (value, _) in axis.ticks(5) {
        let x = axis.position(value);
        canvas.fill(Area { x: x as usize, y: top, width: 1, height: bottom - top }, GRID);
        let percent = format!("{:.0} %", 100.0 * value);
        canvas.text(x, (bottom + 26) as f32, &percent, NOTE.anchored(Anchor::Middle));
    }
    for (position, bar) in bars.iter().enumerate() {
        draw_bar(&mut canvas, bar, &axis, top + position * ROW_HEIGHT, left);
    }
    let x = axis.position(chance);
    let stroke = Stroke { width: 2.5, colour: INK, opacity: 1.0, dash: CHANCE_DASH };
    canvas.polyline(&[(x, top as f32 - 4.0), (x, bottom as f32)], stroke);
    canvas.text(x, top as f32 - 12.0, "chance", NOTE.coloured(INK).anchored(Anchor::Middle));
    for (position, bar) in bars.iter().enumerate() {
        draw_missing(&mut canvas, bar, top + position * ROW_HEIGHT + ROW_HEIGHT / 2, left);
    }
    if has_marks {
        draw_mark(&mut canvas, left as f32 + 8.0, bottom + 52);
        canvas.text(left as f32 + 24.0, (bottom + 80) as f32, mark_words, NOTE);
    }
    canvas
}

fn draw_bar(canvas: &mut Canvas, bar: &Bar, axis: &Axis, y: usize, left: usize) {
    let top = y + (ROW_HEIGHT - BAR_HEIGHT) / 2;
    let baseline = (top + BAR_HEIGHT / 2) as f32;
    canvas.text((left - 14) as f32, baseline + LABEL.half_height(), &bar.name, LABEL.anchored(Anchor::End));
    let Ok(share) = bar.share else { return };
    let end = axis.position(share);
    let width = (end as usize).saturating_sub(left);
    canvas.fill(Area { x: left, y: top, width, height: BAR_HEIGHT }, series_colour(0));
    let text = format!("{:.1} %", 100.0 * share);
    // The number stands behind the bar, and behind the mark where that is in its way.
    let is_in_the_way = |mark: &f32| *mark > end - 10.0 && *mark < end + LABEL.width(&text) + 30.0;
    let behind = bar.mark.map(|mark| axis.position(mark)).filter(is_in_the_way).map_or(end, |mark| mark.max(end));
    canvas.text(behind + 14.0, baseline + LABEL.half_height(), &text, LABEL);
    if let Some(mark) = bar.mark {
        draw_mark(canvas, axis.position(mark), top - 5);
    }
}

/// What is missing for a bar, in its place and over the lines behind it.
fn draw_missing(canvas: &mut Canvas, bar: &Bar, middle: usize, left: usize) {
    let Err(missing) = &bar.share else { return };
    let text = NOTE.fit(missing, (PLOT_WIDTH + NUMBER_ROOM - 40) as f32);
    let width = NOTE.width(&text).ceil() as usize + 12;
    canvas.fill(Area { x: left + 6, y: middle - 14, width, height: 28 }, PAPER);
    canvas.text((left + 10) as f32, middle as f32 + NOTE.half_height(), &text, NOTE);
}

/// A light stroke with dark edges, seen on a bar and beside it.
fn draw_mark(canvas: &mut Canvas, x: f32, y: usize) {
    let (from, to) = ((x, y as f32), (x, (y + BAR_HEIGHT + 10) as f32));
    canvas.polyline(&[from, to], Stroke { width: 9.0, colour: INK, opacity: 1.0, dash: &[] });
    canvas.polyline(&[from, to], Stroke { width: 4.0, colour: series_colour(1), opacity: 1.0, dash: &[] });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let bar = Bar { name: String::new(), share: Ok(0.75), mark: None };
        let canvas = share_bars("", &[bar], 0.5, "");
        let (left, y) = (MARGIN + 20, title_height("") + 46 + ROW_HEIGHT / 2);
        assert_eq!(canvas.colour(left + PLOT_WIDTH * 74 / 100, y), series_colour(0));
        assert_ne!(canvas.colour(left + PLOT_WIDTH * 76 / 100, y), series_colour(0));
    }

    #[test]
    fn what_is_missing_is_written_in_its_place() {
        let bars = [
            Bar { name: "a".to_string(), share: Err("needs two datasets".to_string()), mark: Some(0.5) },
            Bar { name: "b".to_string(), share: Ok(2.0), mark: Some(0.9) },
        ];
        assert!(share_bars("A title", &bars, 0.5, "published").height() > 200);
        assert!(share_bars("", &[], 0.5, "").width() > 100);
    }
}
