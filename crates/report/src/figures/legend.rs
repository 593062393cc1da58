//! Which line is which: names behind short pieces of their lines, in as many rows as they need.

use super::LABEL;
use crate::canvas::Canvas;
use crate::stroke::Stroke;

const ROW_HEIGHT: usize = 40;
const PIECE_WIDTH: usize = 60;
const NAME_INDENT: usize = PIECE_WIDTH + 14;
const SPACE_BETWEEN: usize = 40;

/// The rows of a legend, each entry at its place.
pub(super) struct Legend {
    rows: Vec<Vec<Entry>>,
}

struct Entry {
    x: usize,
    name: String,
    stroke: Stroke,
}

impl Legend {
    /// Lines with a name, set from `left` into rows of at most `width`; a name that is longer than a row is cut.
    pub(super) fn new<'a>(lines: impl IntoIterator<Item = (&'a str, Stroke)>, left: usize, width: usize) -> Self {
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut x = usize::MAX;
        for (name, stroke) in lines.into_iter().filter(|(name, _)| !name.is_empty()) {
            let name = LABEL.fit(name, width.saturating_sub(NAME_INDENT) as f32);
            let entry_width = NAME_INDENT + LABEL.width(&name).ceil() as usize;
            if x == usize::MAX || x + entry_width > left + width {
                rows.push(Vec::new());
                x = left;
            }
            if let Some(row) = rows.last_mut() {
                row.push(Entry { x, name, stroke });
            }
            x += entry_width + SPACE_BETWEEN;
        }
        Self { rows }
    }

    /// Pixels from the top of the legend to what comes below it.
    pub(super) fn height(&self) -> usize {
        self.rows.len() * ROW_HEIGHT
    }

    /// The middle of the piece of each entry that has a name, in order, where the legend is drawn below `top`.
    pub(super) fn places(&self, top: usize) -> Vec<(f32, f32)> {
        let of_row = |(row_index, row): (usize, &Vec<Entry>)| {
            let y = (top + row_index * ROW_HEIGHT + 10) as f32;
            row.iter().map(move |entry| ((entry.x + PIECE_WIDTH / 2) as f32, y)).collect::<Vec<_>>()
        };
        self.rows.iter().enumerate().flat_map(of_row).collect()
    }

    /// Draws it below `top`.
    pub(super) fn draw(&self, canvas: &mut Canvas, top: usize) {
        for (row_index, row) in self.rows.iter().enumerate() {
            let y = (top + row_index * ROW_HEIGHT + 10) as f32;
            for entry in row {
                let x = entry.x as f32;
                canvas.polyline(&[(x, y), (x + PIECE_WIDTH as f32, y)], entry.stroke);
                canvas.text(x + NAME_INDENT as f32, y + LABEL.half_height(), &entry.name, LABEL);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Stroke = Stroke { width: 3.0, colour: [0; 3], opacity: 1.0, dash: &[] };

    #[test]
    fn entries_that_do_not_fit_go_to_the_next_row() {
        let rows = |width: usize| Legend::new([("one", LINE), ("two", LINE), ("", LINE)], 40, width).rows;
        let lengths = |width: usize| rows(width).iter().map(Vec::len).collect::<Vec<usize>>();
        assert_eq!(lengths(500), [2]);
        assert_eq!(lengths(200), [1, 1]);
        assert_eq!(Legend::new([("", LINE)], 40, 500).height(), 0);
    }

    #[test]
    fn a_name_that_is_longer_than_a_row_is_cut() {
        let legend = Legend::new([("a name that goes on and on and on", LINE)], 0, 200);
        assert!(legend.rows[0][0].name.ends_with('…'));
    }
}
