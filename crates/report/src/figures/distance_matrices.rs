//! How far apart the values of factors are, as small square matrices side by side: by the ground truth, by a loss between images, or at
//! the levels of a trained model (T1 figures 3.4, 3.5, 3.9 and 3.11).
//!
//! Each matrix has colours of its own, dark for zero and light for its greatest value, because distances of different kinds have
//! nothing but their order in common.

use std::ops::Range;

use ndarray::{Array2, ArrayView2, s};

use super::{LABEL, MARGIN, NOTE, TITLE, draw_title, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::{FAINT_INK, FRAME, GRID, viridis};
use crate::text::{Anchor, TextStyle};

const LARGEST_SIDE: usize = 220;
const SMALLEST_SIDE: usize = 150;
const LARGEST_WIDTH: usize = 2000;
const NARROW_ACROSS: usize = 3;
const NARROW_SIDE: usize = 200;
const GAP: usize = 28;
const NAME_HEIGHT: usize = 34;
/// Two lines of small type below each matrix: its first and last value, and its greatest distance.
const NOTES_HEIGHT: usize = 56;
const ROW_GAP: usize = 16;
const LONGEST_ROW_NAME: usize = 300;
const BAR_WIDTH: usize = 160;
const LEGEND_HEIGHT: usize = 66;
const LEGEND: &str = "across and down: the value of the factor";

/// Matrices side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MatrixRow {
    /// A short text, for instance a loss or a factor.
    pub name: String,
    /// From left to right.
    pub cells: Vec<MatrixCell>,
}

/// One matrix of distances.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MatrixCell {
    /// Written above, once where the rows have the same names.
    pub name: String,
    /// What the distances are counted in, for instance `nats`; may be empty.
    pub unit: String,
    /// From each value of a factor to each, `[values, values]`, none below zero. A matrix without values is drawn as a blank.
    pub values: Array2<f64>,
}

/// The rows under one another, their names at the left. What does not fit across goes on below.
pub fn distance_matrices(title: &str, rows: &[MatrixRow]) -> Canvas {
    draw(title, rows, &Layout::beside(title, rows))
}

/// The same for where there is little room: three matrices across, the names of rows above them.
pub fn distance_matrices_narrow(title: &str, rows: &[MatrixRow]) -> Canvas {
    draw(title, rows, &Layout::narrow(title, rows))
}

fn draw(title: &str, rows: &[MatrixRow], layout: &Layout) -> Canvas {
    let mut canvas = Canvas::new(layout.width, layout.height);
    draw_title(&mut canvas, title);
    for line in &layout.lines {
        let row = &rows[line.row];
        draw_row_name(&mut canvas, layout, line, &row.name);
        for (column, cell) in row.cells[line.columns.clone()].iter().enumerate() {
            let x = layout.left + column * (layout.side + GAP);
            if let Some(y) = line.names_y {
                draw_centred(&mut canvas, x, y + 22, layout.side, &[&cell.name], LABEL);
            }
            draw_matrix(&mut canvas, Area { x, y: line.matrices_y, width: layout.side, height: layout.side }, cell);
        }
    }
    draw_legend(&mut canvas, layout);
    canvas
}

/// Some columns of a row, and where they are drawn.
struct Line {
    row: usize,
    columns: Range<usize>,
    /// The top of the names of the matrices, where these are written.
    names_y: Option<usize>,
    matrices_y: usize,
}

struct Layout {
    side: usize,
    left: usize,
    row_names: RowNames,
    lines: Vec<Line>,
    legend_y: usize,
    width: usize,
    height: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RowNames {
    AtTheLeft,
    Above,
}

impl Layout {
    fn beside(title: &str, rows: &[MatrixRow]) -> Self {
        let names_width = widest(row_name_style(), rows.iter().map(|row| row.name.as_str())).min(LONGEST_ROW_NAME);
        let left = MARGIN + if names_width > 0 { names_width + 24 } else { 0 };
        let room = LARGEST_WIDTH - left - MARGIN;
        let n_columns = n_columns(rows).max(1);
        let most_across = (room + GAP) / (SMALLEST_SIDE + GAP);
        // As many in each block, so that the last is not left with one column.
        let n_across = n_columns.div_ceil(n_columns.div_ceil(most_across));
        let side = ((room + GAP) / n_across - GAP).min(LARGEST_SIDE);
        Self::new(title, rows, RowNames::AtTheLeft, left, n_across, side)
    }

    fn narrow(title: &str, rows: &[MatrixRow]) -> Self {
        let n_columns = n_columns(rows).max(1);
        let n_across = n_columns.div_ceil(n_columns.div_ceil(NARROW_ACROSS));
        Self::new(title, rows, RowNames::Above, MARGIN, n_across, NARROW_SIDE)
    }

    fn new(title: &str, rows: &[MatrixRow], row_names: RowNames, left: usize, n_across: usize, side: usize) -> Self {
        let mut y = title_height(title);
        let mut lines = Vec::new();
        for start in (0..n_columns(rows)).step_by(n_across) {
            let mut names_above: Vec<&str> = Vec::new();
            for (row_index, row) in rows.iter().enumerate() {
                let columns = start.min(row.cells.len())..(start + n_across).min(row.cells.len());
                let names: Vec<&str> = row.cells[columns.clone()].iter().map(|cell| cell.name.as_str()).collect();
                if names.is_empty() {
                    continue;
                }
                if row_names == RowNames::Above && !row.name.is_empty() {
                    y += NAME_HEIGHT;
                }
                let names_y = (names != names_above).then_some(y);
                y += if names_y.is_some() { NAME_HEIGHT } else { 0 };
                lines.push(Line { row: row_index, columns, names_y, matrices_y: y });
                names_above = names;
                y += side + NOTES_HEIGHT + ROW_GAP;
            }
        }
        let body_width = n_across * (side + GAP) - GAP;
        let legend_width = legend_bar_x(0) + BAR_WIDTH + 12 + widest(NOTE, ["greatest of its matrix"]);
        let body_width = body_width.max(legend_width).max(widest(NOTE, [LEGEND]));
        // A title may reach over the margin at the left, but does not make a narrow figure wide.
        let title_width = match row_names {
            RowNames::AtTheLeft => MARGIN + widest(TITLE, [title]),
            RowNames::Above => 0,
        };
        let width = (left + body_width).max(title_width) + MARGIN;
        let height = y + LEGEND_HEIGHT + MARGIN / 2;
        Self { side, left, row_names, lines, legend_y: y, width, height }
    }
}

fn n_columns(rows: &[MatrixRow]) -> usize {
    rows.iter().map(|row| row.cells.len()).max().unwrap_or(0)
}

fn row_name_style() -> TextStyle {
    LABEL.bold()
}

fn draw_row_name(canvas: &mut Canvas, layout: &Layout, line: &Line, name: &str) {
    let style = row_name_style();
    let (x, y, room) = match layout.row_names {
        RowNames::AtTheLeft => {
            let middle = (line.matrices_y + layout.side / 2) as f32;
            (MARGIN, middle + style.half_height(), layout.left - MARGIN)
        }
        RowNames::Above => {
            let top = line.names_y.unwrap_or(line.matrices_y) - if name.is_empty() { 0 } else { NAME_HEIGHT };
            (MARGIN, (top + 22) as f32, layout.width - 2 * MARGIN)
        }
    };
    canvas.text(x as f32, y, &style.fit(name, room as f32), style);
}

/// Writes the first of some texts that fits above or below a matrix, and the beginning of the last where none does.
fn draw_centred(canvas: &mut Canvas, x: usize, baseline: usize, side: usize, texts: &[&str], style: TextStyle) {
    let room = (side + GAP - 8) as f32;
    let small = TextStyle { size: NOTE.size.min(style.size), ..style };
    let choices = texts.iter().flat_map(|text| [(text, style), (text, small)]);
    let fitting = choices.clone().find(|(text, style)| style.width(text) <= room).or(choices.last());
    if let Some((text, style)) = fitting {
        let middle = x as f32 + side as f32 / 2.0;
        canvas.text(middle, baseline as f32, &style.fit(text, room), style.anchored(Anchor::Middle));
    }
}

fn draw_matrix(canvas: &mut Canvas, area: Area, cell: &MatrixCell) {
    let Area { x, y, width: side, .. } = area;
    let n_values = cell.values.nrows().min(cell.values.ncols());
    canvas.outline(Area { x: x - 1, y: y - 1, width: side + 2, height: side + 2 }, FRAME);
    let finite = || cell.values.iter().copied().filter(|value| value.is_finite());
    if finite().next().is_none() {
        canvas.fill(area, GRID);
        draw_centred(canvas, x, y + side / 2 + 8, side, &["not defined"], NOTE);
        return;
    }
    let greatest = finite().fold(0.0, f64::max);
    for row in 0..side {
        for column in 0..side {
            let block = cell.values.slice(s![covered(row, side, n_values), covered(column, side, n_values)]);
            let colour = mean(&block)
                .map_or(GRID, |value| if greatest > 0.0 { viridis(value / greatest) } else { viridis(0.0) });
            canvas.fill(Area { x: x + column, y: y + row, width: 1, height: 1 }, colour);
        }
    }
    let (left, right, baseline) = (x as f32, (x + side) as f32, (y + side + 22) as f32);
    canvas.text(left, baseline, "0", NOTE);
    canvas.text(right, baseline, &(n_values - 1).to_string(), NOTE.anchored(Anchor::End));
    let number = three_digits(greatest);
    let short = format!("{number} {}", cell.unit).trim_end().to_string();
    let long = format!("greatest {short}");
    draw_centred(canvas, x, y + side + 46, side, &[&long, &short], NOTE);
}

/// The values that lie under a pixel: one where a value takes several pixels, all of them where a pixel takes several values.
fn covered(pixel: usize, n_pixels: usize, n_values: usize) -> Range<usize> {
    let first = pixel * n_values / n_pixels;
    first..((pixel + 1) * n_values / n_pixels).max(first + 1).min(first + n_values.div_ceil(n_pixels))
}

/// The mean of the values that are finite.
fn mean(values: &ArrayView2<f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for value in values.iter().filter(|value| value.is_finite()) {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// A number that is not negative with three digits that count: `31`, `0.0213`, `1230`, `2.1e-6`.
fn three_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let exponent = value.log10().floor() as i32;
    if !(-4..6).contains(&exponent) {
        return format!("{value:.1e}").replace('-', "−");
    }
    let n_digits = usize::try_from(2 - exponent).unwrap_or(0);
    let text = format!("{value:.n_digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn legend_bar_x(left: usize) -> usize {
    left + NOTE.width("0").ceil() as usize + 12
}

fn draw_legend(canvas: &mut Canvas, layout: &Layout) {
    let (left, y) = (layout.left, layout.legend_y + 8);
    let bar = Area { x: legend_bar_x(left), y, width: BAR_WIDTH, height: 18 };
    for column in 0..BAR_WIDTH {
        let colour = viridis(column as f64 / (BAR_WIDTH - 1) as f64);
        canvas.fill(Area { x: bar.x + column, width: 1, ..bar }, colour);
    }
    canvas.outline(bar, FRAME);
    let style = NOTE.coloured(FAINT_INK);
    canvas.text(left as f32, (y + 15) as f32, "0", style);
    canvas.text((bar.x + BAR_WIDTH + 12) as f32, (y + 15) as f32, "greatest of its matrix", style);
    canvas.text(left as f32, (y + 47) as f32, LEGEND, style);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(n_values: usize) -> Array2<f64> {
        Array2::from_shape_fn((n_values, n_values), |(row, column)| row.abs_diff(column) as f64)
    }

    fn row(name: &str, sizes: &[usize]) -> MatrixRow {
        let cell =
            |size: &usize| MatrixCell { name: format!("factor_{size}"), values: steps(*size), ..MatrixCell::default() };
        MatrixRow { name: name.to_string(), cells: sizes.iter().map(cell).collect() }
    }

    #[test]
    fn each_matrix_reaches_from_dark_to_light_whatever_its_size() {
        for size in [2, 3, 32, 180, 500] {
            let rows = [row("ground truth", &[size])];
            let layout = Layout::beside("", &rows);
            let canvas = distance_matrices("", &rows);
            let at = |x: usize, y: usize| canvas.colour(layout.left + x, layout.lines[0].matrices_y + y);
            let last = layout.side - 1;
            // Where a pixel stands for several values, the corners are a little off the ends.
            let is_near = |found: [u8; 3], wanted: [u8; 3]| found.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 4);
            assert!(is_near(at(0, 0), viridis(0.0)) && is_near(at(last, last), viridis(0.0)), "{size}");
            assert!(is_near(at(last, 0), viridis(1.0)) && is_near(at(0, last), viridis(1.0)), "{size}");
        }
    }

    #[test]
    fn pixels_take_the_mean_of_the_values_under_them() {
        assert_eq!([0, 1, 2, 3].map(|pixel| covered(pixel, 4, 2)), [0..1, 0..1, 1..2, 1..2]);
        assert_eq!([0, 1].map(|pixel| covered(pixel, 2, 4)), [0..2, 2..4]);
        assert_eq!([0, 1, 2].map(|pixel| covered(pixel, 3, 4)), [0..1, 1..2, 2..4]);
        assert_eq!(mean(&steps(2).view()), Some(0.5));
        assert_eq!(mean(&Array2::from_elem((1, 1), f64::NAN).view()), None);
    }

    #[test]
    fn names_are_written_once_where_they_stay_the_same() {
        let rows = [row("ground truth", &[4, 5]), row("mse", &[4, 5]), row("other", &[6, 7])];
        let layout = Layout::beside("", &rows);
        let named: Vec<bool> = layout.lines.iter().map(|line| line.names_y.is_some()).collect();
        assert_eq!(named, [true, false, true]);
    }

    #[test]
    fn many_columns_go_on_below_and_narrow_figures_stay_narrow() {
        let rows = [row("ground truth", &[2; 25]), row("mse", &[2; 25])];
        // 25 columns as 9, 9 and 7.
        let columns: Vec<usize> = Layout::beside("", &rows).lines.iter().map(|line| line.columns.len()).collect();
        assert_eq!(columns, [9, 9, 9, 9, 7, 7]);
        assert!(distance_matrices("", &rows).width() <= LARGEST_WIDTH);
        assert!(
            distance_matrices_narrow("A title that is far too long for the narrow figure, whatever is done", &rows)
                .width()
                <= 760
        );
    }

    #[test]
    fn odd_matrices_are_drawn() {
        let cell = |values: Array2<f64>| MatrixCell {
            name: "a factor with a very long name".to_string(),
            values,
            unit: "nats".to_string(),
        };
        let cells =
            vec![cell(Array2::zeros((0, 0))), cell(Array2::zeros((3, 3))), cell(Array2::from_elem((2, 2), f64::NAN))];
        for rows in [vec![], vec![MatrixRow::default()], vec![MatrixRow { name: String::new(), cells }]] {
            assert!(distance_matrices("A title", &rows).width() > 100);
            assert!(distance_matrices_narrow("A title", &rows).width() > 100);
        }
    }

    #[test]
    fn greatest_values_have_three_digits() {
        let texts = [0.0, 31.0, 0.021_34, 0.5, 1234.5, 2.13e-6, 99.96, 3e7].map(three_digits);
        assert_eq!(texts, ["0", "31", "0.0213", "0.5", "1234", "2.1e−6", "100", "3.0e7"].map(String::from));
    }
}
