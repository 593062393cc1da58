//! Smooth lines on a canvas, whole or dashed.

use crate::canvas::Canvas;
use crate::colour::Colour;

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    /// Pixels across.
    pub(crate) width: f32,
    /// What colour.
    pub(crate) colour: Colour,
    /// From 0 for nothing to 1 for full ink.
    pub(crate) opacity: f32,
    /// Lengths of strokes and gaps in turn, in pixels; none for a whole line.
    pub(crate) dash: &'static [f32],
}

type Point = (f32, f32);

impl Canvas {
    /// Draws a line from point to point. Where it crosses itself it is no darker.
    pub(crate) fn polyline(&mut self, points: &[Point], stroke: Stroke) {
        let pieces = dashed(points, stroke.dash);
        let Some(mut shares) = Shares::around(&pieces, stroke.width, self) else { return };
        for piece in &pieces {
            for pair in piece.windows(2) {
                shares.cover(pair[0], pair[1], stroke.width / 2.0);
            }
        }
        for (index, share) in shares.cells.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let (x, y) = (shares.left + (index % shares.width) as i64, shares.top + (index / shares.width) as i64);
            self.blend(x, y, stroke.colour, share * stroke.opacity);
        }
    }
}

/// How much of each pixel of a rectangle is covered by ink, in [0, 1].
struct Shares {
    left: i64,
    top: i64,
    width: usize,
    cells: Vec<f32>,
}

impl Shares {
    /// Nothing covered yet, in the part of the canvas that the points lie in; `None` where that is empty.
    fn around(pieces: &[Vec<Point>], stroke_width: f32, canvas: &Canvas) -> Option<Self> {
        let points = || pieces.iter().flatten();
        let margin = stroke_width / 2.0 + 1.5;
        let low = |values: &mut dyn Iterator<Item = f32>| values.fold(f32::INFINITY, f32::min) - margin;
        let high = |values: &mut dyn Iterator<Item = f32>| values.fold(f32::NEG_INFINITY, f32::max) + margin;
        let left = low(&mut points().map(|point| point.0)).max(0.0) as i64;
        let top = low(&mut points().map(|point| point.1)).max(0.0) as i64;
        let right = (high(&mut points().map(|point| point.0)) as i64).min(canvas.width() as i64);
        let bottom = (high(&mut points().map(|point| point.1)) as i64).min(canvas.height() as i64);
        let (width, height) = (usize::try_from(right - left).ok()?, usize::try_from(bottom - top).ok()?);
        Some(Self { left, top, width, cells: vec![0.0; width * height] })
    }

    fn cover(&mut self, from: Point, to: Point, half_width: f32) {
        if self.width == 0 {
            return;
        }
        let margin = half_width + 1.0;
        let height = self.cells.len() / self.width;
        let place = |value: f32, start: i64, limit: usize| ((value - start as f32).max(0.0) as usize).min(limit);
        let columns = place(from.0.min(to.0) - margin, self.left, self.width)
            ..place(from.0.max(to.0) + margin + 1.0, self.left, self.width);
        let rows = place(from.1.min(to.1) - margin, self.top, height)
            ..place(from.1.max(to.1) + margin + 1.0, self.top, height);
        for row in rows {
            for column in columns.clone() {
                let centre = (self.left as f32 + column as f32 + 0.5, self.top as f32 + row as f32 + 0.5);
                let share = (half_width + 0.5 - distance_to_segment(centre, from, to)).clamp(0.0, 1.0);
                let cell = &mut self.cells[row * self.width + column];
                *cell = cell.max(share);
            }
        }
    }
}

fn distance_to_segment(point: Point, from: Point, to: Point) -> f32 {
    let (along_x, along_y) = (to.0 - from.0, to.1 - from.1);
    let (x, y) = (point.0 - from.0, point.1 - from.1);
    let length_squared = along_x * along_x + along_y * along_y;
    let share = if length_squared > 0.0 { ((x * along_x + y * along_y) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    (x - share * along_x).hypot(y - share * along_y)
}

/// Cuts a line into the strokes of a dash pattern.
fn dashed(points: &[Point], dash: &[f32]) -> Vec<Vec<Point>> {
    if dash.iter().sum::<f32>() <= 0.0 {
        return vec![points.to_vec()];
    }
    let mut pieces = vec![points.first().copied().into_iter().collect::<Vec<Point>>()];
    let mut part = 0;
    let mut left = dash[0];
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left {
            let share = left / length;
            from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            length -= left;
            // Even parts of the pattern are strokes: one ends here, or the next begins.
            if part % 2 == 0 {
                extend_last(&mut pieces, from);
            } else {
                pieces.push(vec![from]);
            }
            part = (part + 1) % dash.len();
            left = dash[part].max(0.5);
        }
        left -= length;
        if part % 2 == 0 {
            extend_last(&mut pieces, to);
        }
    }
    pieces
}

fn extend_last(pieces: &mut [Vec<Point>], point: Point) {
    if let Some(piece) = pieces.last_mut() {
        piece.push(point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::PAPER;

    const BLACK: Stroke = Stroke { width: 2.0, colour: [0; 3], opacity: 1.0, dash: &[] };

    #[test]
    fn a_straight_line_covers_its_width() {
        let mut canvas = Canvas::new(20, 10);
        canvas.polyline(&[(2.0, 5.0), (18.0, 5.0)], BLACK);
        // A line of 2 pixels around y = 5 fills rows 4 and 5 and touches no other.
        assert_eq!([3, 4, 5, 6].map(|y| canvas.colour(10, y)), [PAPER, [0; 3], [0; 3], PAPER]);
    }

    #[test]
    fn dashes_leave_gaps_of_the_given_length() {
        let pieces = dashed(&[(0.0, 0.0), (4.0, 0.0), (10.0, 0.0)], &[3.0, 2.0]);
        let strokes: Vec<(Point, Point)> = pieces[..2].iter().map(|piece| (piece[0], piece[piece.len() - 1])).collect();
        assert_eq!(strokes, [((0.0, 0.0), (3.0, 0.0)), ((5.0, 0.0), (8.0, 0.0))]);
    }

    #[test]
    fn lines_outside_the_canvas_and_single_points_are_no_trouble() {
        let mut canvas = Canvas::new(5, 5);
        canvas.polyline(&[], BLACK);
        canvas.polyline(&[(90.0, 90.0), (99.0, 90.0)], BLACK);
        canvas.polyline(&[(-90.0, -90.0), (-99.0, -90.0)], BLACK);
        assert_eq!(canvas, Canvas::new(5, 5));
        canvas.polyline(&[(2.0, 2.0)], BLACK);
    }
}
