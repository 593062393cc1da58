//! Labelled rows of small pictures: the layout that traversals, reconstructions and datasets share.

use super::{LABEL, MARGIN, NOTE, draw_title, title_height, widest};
use crate::canvas::{Area, Canvas};
use crate::colour::FRAME;
use crate::picture::Picture;
use crate::text::{Anchor, TextStyle};

const GAP: usize = 8;
const CAPTION_HEIGHT: usize = 26;
const HEADER_HEIGHT: usize = 34;
const SMALLEST_SIDE: usize = 112;

/// Rows of pictures under a title.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PictureGrid {
    /// Above everything; may be empty.
    pub title: String,
    /// Above each column; may be fewer than the columns.
    pub headers: Vec<String>,
    /// From above to below.
    pub rows: Vec<PictureRow>,
}

/// A row of pictures with its label.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PictureRow {
    /// In front of the row.
    pub label: String,
    /// In smaller letters under the label; may be empty.
    pub note: String,
    /// From left to right.
    pub pictures: Vec<Picture>,
    /// Under each picture; may be fewer than the pictures.
    pub captions: Vec<String>,
    /// Empty pixels below the row, beside the usual gap.
    pub space_below: usize,
}

/// How many times a small picture is magnified so that it can be seen: a whole number, so that pixels stay square.
pub fn magnification(picture: &Picture) -> usize {
    let shape = picture.shape();
    SMALLEST_SIDE.div_ceil(shape.height.max(shape.width).max(1))
}

/// Draws the grid.
pub fn picture_grid(grid: &PictureGrid) -> Canvas {
    let layout = Layout::new(grid);
    let mut canvas = Canvas::new(layout.width, layout.height);
    draw_title(&mut canvas, &grid.title);
    for (column, header) in grid.headers.iter().enumerate() {
        let middle = layout.column_x(column) + layout.cell_width / 2;
        let baseline = title_height(&grid.title) + HEADER_HEIGHT - 14;
        let header = NOTE.fit(header, (layout.cell_width + GAP) as f32);
        canvas.text(middle as f32, baseline as f32, &header, NOTE.anchored(Anchor::Middle));
    }
    for (row, &y) in grid.rows.iter().zip(&layout.row_tops) {
        draw_row(&mut canvas, &layout, row, y);
    }
    canvas
}

struct Layout {
    scale: usize,
    cell_width: usize,
    cell_height: usize,
    pictures_x: usize,
    row_tops: Vec<usize>,
    width: usize,
    height: usize,
}

impl Layout {
    fn new(grid: &PictureGrid) -> Self {
        let pictures = || grid.rows.iter().flat_map(|row| &row.pictures);
        let scale = pictures().map(magnification).max().unwrap_or(1);
        let cell_width = pictures().map(|picture| picture.shape().width * scale).max().unwrap_or(0);
        let cell_height = pictures().map(|picture| picture.shape().height * scale).max().unwrap_or(0);
        let label_width = widest(label_style(), grid.rows.iter().map(|row| row.label.as_str()))
            .max(widest(NOTE, grid.rows.iter().map(|row| row.note.as_str())));
        let pictures_x = MARGIN + if label_width > 0 { label_width + 24 } else { 0 };
        let mut y = title_height(&grid.title) + if grid.headers.is_empty() { 0 } else { HEADER_HEIGHT };
        let mut row_tops = Vec::new();
        for row in &grid.rows {
            row_tops.push(y);
            let caption_height = if row.captions.is_empty() { 0 } else { CAPTION_HEIGHT };
            y += cell_height + caption_height + GAP + row.space_below;
        }
        let last_space = grid.rows.last().map_or(0, |row| row.space_below + GAP);
        let n_columns = grid.rows.iter().map(|row| row.pictures.len()).max().unwrap_or(0);
        let title_width = widest(super::TITLE, [grid.title.as_str()]);
        let width = (pictures_x + n_columns * (cell_width + GAP)).max(MARGIN + title_width) + MARGIN;
        Self { scale, cell_width, cell_height, pictures_x, row_tops, width, height: y - last_space + MARGIN }
    }

    fn column_x(&self, column: usize) -> usize {
        self.pictures_x + column * (self.cell_width + GAP)
    }
}

fn label_style() -> TextStyle {
    LABEL.bold()
}

fn draw_row(canvas: &mut Canvas, layout: &Layout, row: &PictureRow, y: usize) {
    let middle = (y + layout.cell_height / 2) as f32;
    let label_x = MARGIN as f32;
    if row.note.is_empty() {
        canvas.text(label_x, middle + LABEL.half_height(), &row.label, label_style());
    } else {
        canvas.text(label_x, middle - 4.0, &row.label, label_style());
        canvas.text(label_x, middle + 22.0, &row.note, NOTE);
    }
    for (column, picture) in row.pictures.iter().enumerate() {
        draw_framed(canvas, picture, layout.column_x(column), y, layout.scale);
    }
    for (column, caption) in row.captions.iter().enumerate().take(row.pictures.len()) {
        let x = layout.column_x(column) + layout.cell_width / 2;
        let baseline = y + layout.cell_height + CAPTION_HEIGHT - 6;
        let caption = NOTE.fit(caption, (layout.cell_width + GAP) as f32);
        canvas.text(x as f32, baseline as f32, &caption, NOTE.anchored(Anchor::Middle));
    }
}

/// A picture with a thin frame around it, which keeps its edge visible where it is as light as the paper.
pub(super) fn draw_framed(canvas: &mut Canvas, picture: &Picture, x: usize, y: usize, scale: usize) {
    let shape = picture.shape();
    let frame = Area { x: x - 1, y: y - 1, width: shape.width * scale + 2, height: shape.height * scale + 2 };
    canvas.outline(frame, FRAME);
    canvas.paste(picture, x, y, scale);
}

#[cfg(test)]
mod tests {
    use unbraid_data::ImageShape;

    use super::*;

    fn grey(side: usize) -> Picture {
        Picture::new(ImageShape { height: side, width: side, channels: 1 }, vec![0.5; side * side]).unwrap()
    }

    #[test]
    fn small_pictures_are_magnified_by_whole_numbers() {
        // 112 / 64 = 1.75, 112 / 28 = 4, and large pictures are left as they are.
        assert_eq!([64, 28, 300].map(|side| magnification(&grey(side))), [2, 4, 1]);
    }

    #[test]
    fn the_sheet_has_room_for_every_row_and_column() {
        let rows = vec![PictureRow { pictures: vec![grey(64); 3], ..PictureRow::default() }; 2];
        let canvas = picture_grid(&PictureGrid { rows, ..PictureGrid::default() });
        // Margins of 40, three pictures of 128 with a gap of 8 after each; two rows with a gap of 8 between.
        assert_eq!((canvas.width(), canvas.height()), (80 + 3 * 136, 80 + 2 * 128 + 8));
        assert_eq!(canvas.colour(41, 41), [128; 3]);
    }

    #[test]
    fn an_empty_grid_is_an_empty_sheet() {
        let canvas = picture_grid(&PictureGrid::default());
        assert_eq!((canvas.width(), canvas.height()), (80, 80));
    }
}
