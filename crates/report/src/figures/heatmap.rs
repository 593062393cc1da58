//! A matrix as coloured cells with their numbers, for instance the correlation of latents and factors.

use unbraid_metrics::Matrix;

use super::axis::{Axis, Spread};
use super::{LABEL, MARGIN, NOTE, TITLE, draw_title, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{Colour, FAINT_INK, FRAME, GRID, INK, PAPER, diverging, lightness, viridis};
use crate::text::{Anchor, TextStyle};

const LARGEST_CELL: usize = 84;
const SMALLEST_CELL: usize = 14;
const LONGEST_SIDE: usize = 1400;
pub(super) const BAR_WIDTH: usize = 24;

/// The matrix with colours from 0 to 1 where all cells lie there, else from −1 to 1, else from least to greatest.
pub fn heatmap(title: &str, matrix: &Matrix) -> Canvas {
    let finite = || matrix.values.iter().copied().filter(|value| value.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let greatest = finite().fold(f64::NEG_INFINITY, f64::max);
    // Rounding may put a correlation a hair outside of its range.
    let within = |low: f64, high: f64| least >= low - 1e-6 && greatest <= high + 1e-6;
    if within(0.0, 1.0) || least > greatest {
        heatmap_over(title, matrix, 0.0, 1.0)
    } else if within(-1.0, 1.0) {
        heatmap_over(title, matrix, -1.0, 1.0)
    } else {
        heatmap_over(title, matrix, least, greatest)
    }
}

/// The matrix with colours from `low` to `high`; where these are as far below 0 as above, 0 is grey, and signs are told apart by the hue.
pub fn heatmap_over(title: &str, matrix: &Matrix, low: f64, high: f64) -> Canvas {
    let high = if high > low { high } else { low + 1.0 };
    let colours = if low == -high { |share: f64| diverging(2.0 * share - 1.0) } else { viridis };
    let layout = Layout::new(title, matrix);
    let mut canvas = Canvas::new(layout.width, layout.height);
    draw_title(&mut canvas, title);
    draw_names(&mut canvas, matrix, &layout);
    for ((row, column), &value) in matrix.values.indexed_iter() {
        let (x, y) = (layout.left + column * layout.cell_width, layout.top + row * layout.cell_height);
        let cell = Area { x, y, width: layout.cell_width - 1, height: layout.cell_height - 1 };
        draw_cell(&mut canvas, cell, value, colours((value - low) / (high - low)));
    }
    let (x, height) = (layout.left + layout.matrix_width + 32, layout.matrix_height.max(120));
    draw_colour_bar(&mut canvas, Area { x, y: layout.top, width: BAR_WIDTH, height }, [low, high], colours);
    canvas
}

struct Layout {
    cell_width: usize,
    cell_height: usize,
    left: usize,
    top: usize,
    matrix_width: usize,
    matrix_height: usize,
    name_style: TextStyle,
    names_are_upright: bool,
    width: usize,
    height: usize,
}

impl Layout {
    fn new(title: &str, matrix: &Matrix) -> Self {
        let (n_rows, n_columns) = matrix.values.dim();
        let cell_width = cell_side(n_columns, LARGEST_CELL);
        let cell_height = cell_side(n_rows, LARGEST_CELL * 2 / 3);
        let name_size = ((cell_height as f32 - 4.0).min(cell_width as f32 - 4.0)).clamp(11.0, LABEL.size);
        let name_style = TextStyle::new(name_size);
        let longest_column_name = widest(name_style, matrix.columns.iter().map(String::as_str));
        let names_are_upright = longest_column_name + 8 > cell_width;
        let names_height = if names_are_upright { longest_column_name + 14 } else { 36 };
        let left = MARGIN + widest(name_style, matrix.rows.iter().map(String::as_str)) + 16;
        let top = title_height(title) + names_height;
        let (matrix_width, matrix_height) = (n_columns * cell_width, n_rows * cell_height);
        let right = left + matrix_width + 32 + BAR_WIDTH + 56;
        let width = right.max(MARGIN + widest(TITLE, [title])) + MARGIN;
        let height = top + matrix_height.max(120) + MARGIN;
        let (matrix_width, matrix_height) = (matrix_width.max(1), matrix_height.max(1));
        Self {
            cell_width,
            cell_height,
            left,
            top,
            matrix_width,
            matrix_height,
            name_style,
            names_are_upright,
            width,
            height,
        }
    }
}

fn cell_side(n_cells: usize, largest: usize) -> usize {
    (LONGEST_SIDE / n_cells.max(1)).clamp(SMALLEST_CELL, largest)
}

fn draw_names(canvas: &mut Canvas, matrix: &Matrix, layout: &Layout) {
    let style = layout.name_style;
    for (row, name) in matrix.rows.iter().enumerate() {
        let y = (layout.top + row * layout.cell_height + layout.cell_height / 2) as f32 + style.half_height();
        canvas.text((layout.left - 12) as f32, y, name, style.anchored(Anchor::End));
    }
    for (column, name) in matrix.columns.iter().enumerate() {
        let x = (layout.left + column * layout.cell_width + layout.cell_width / 2) as f32;
        let y = (layout.top - 10) as f32;
        if layout.names_are_upright {
            canvas.text_upwards(x + style.half_height(), y, name, style);
        } else {
            canvas.text(x, y - 2.0, name, style.anchored(Anchor::Middle));
        }
    }
}

fn draw_cell(canvas: &mut Canvas, cell: Area, value: f64, colour: Colour) {
    let style = NOTE.anchored(Anchor::Middle);
    let x = cell.x as f32 + cell.width as f32 / 2.0;
    let y = cell.y as f32 + cell.height as f32 / 2.0 + style.half_height();
    if !value.is_finite() {
        canvas.fill(cell, GRID);
        canvas.text(x, y, "–", style.coloured(FAINT_INK));
        return;
    }
    canvas.fill(cell, colour);
    let ink = if lightness(colour) > 0.5 { INK } else { PAPER };
    if let Some((text, style)) = fitting_text(value, cell) {
        canvas.text(x, y, &text, style.anchored(Anchor::Middle).coloured(ink));
    }
}

/// The number as it fits into the cell: without the 0 before the point, and in smaller letters, where there is little room; none where there is
/// still less.
fn fitting_text(value: f64, cell: Area) -> Option<(String, TextStyle)> {
    let text = cell_text(value);
    let short = if value.abs() < 1.0 { text.replacen("0.", ".", 1) } else { text.clone() };
    let small = TextStyle::new(15.0);
    let fits = |(text, style): &(String, TextStyle)| {
        style.width(text) + 6.0 <= cell.width as f32 && style.size + 4.0 <= cell.height as f32
    };
    [(text, NOTE), (short.clone(), NOTE), (short, small)].into_iter().find(fits)
}

/// Two digits after the point below 10, fewer above.
fn cell_text(value: f64) -> String {
    let text = match value.abs() {
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        size if size < 100_000.0 => format!("{value:.0}"),
        _ => format!("{value:.0e}"),
    };
    let text = if text == "-0.00" { "0.00".to_string() } else { text };
    text.replace('-', "−")
}

/// The colours of shares from 0 to 1, which stand for `low` to `high`, in this area, upwards, with numbers to the right of it.
pub(super) fn draw_colour_bar(canvas: &mut Canvas, bar: Area, [low, high]: [f64; 2], colours: fn(f64) -> Colour) {
    let Area { x, y: top, height, .. } = bar;
    for row in 0..height {
        let colour = colours(1.0 - row as f64 / (height - 1) as f64);
        canvas.fill(Area { y: top + row, height: 1, ..bar }, colour);
    }
    canvas.outline(bar, FRAME);
    let (start, end) = ((top + height) as f32, top as f32);
    let axis = Axis { low, high, start, end, spread: Spread::Linear };
    for (value, text) in axis.ticks(5) {
        let y = axis.position(value);
        let mark = Area { x: x + BAR_WIDTH, y: y.min(start - 1.0) as usize, width: 6, height: 1 };
        canvas.fill(mark, FAINT_INK);
        canvas.text((x + BAR_WIDTH + 12) as f32, y + NOTE.half_height(), &text, NOTE);
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    fn matrix(values: Array2<f64>) -> Matrix {
        let names = |count: usize, kind: &str| (0..count).map(|index| format!("{kind}{index}")).collect();
        Matrix {
            name: "test".to_string(),
            rows: names(values.nrows(), "z"),
            columns: names(values.ncols(), "f"),
            values,
        }
    }

    #[test]
    fn cells_have_the_colour_of_their_value() {
        let matrix = matrix(array![[0.0, 1.0]]);
        let canvas = heatmap("", &matrix);
        let layout = Layout::new("", &matrix);
        assert_eq!(canvas.colour(layout.left + 2, layout.top + 2), viridis(0.0));
        assert_eq!(canvas.colour(layout.left + layout.cell_width + 2, layout.top + 2), viridis(1.0));
    }

    #[test]
    fn signed_cells_are_grey_at_nothing() {
        let matrix = matrix(array![[-1.0, 0.0, 0.5]]);
        let (canvas, layout) = (heatmap("", &matrix), Layout::new("", &matrix));
        let colours =
            [0, 1, 2].map(|column| canvas.colour(layout.left + column * layout.cell_width + 2, layout.top + 2));
        assert_eq!(colours, [-1.0, 0.0, 0.5].map(diverging));
    }

    #[test]
    fn odd_matrices_are_drawn() {
        for values in [
            array![[f64::NAN]],
            array![[3.0, 3.0]],
            array![[-2e9, 1e-9]],
            Array2::zeros((0, 3)),
            Array2::zeros((200, 90)),
        ] {
            assert!(heatmap("A title", &matrix(values)).width() > 100);
        }
    }

    #[test]
    fn numbers_in_cells_are_short() {
        let texts = [0.123, -0.001, -0.5, 12.34, 1234.5, 2.5e7].map(cell_text);
        assert_eq!(texts, ["0.12", "0.00", "−0.50", "12.3", "1234", "2e7"].map(String::from));
    }
}
