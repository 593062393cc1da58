//! Examples of a sampler: one row for each, its images beside what is said of them.

use super::picture_grid::{draw_framed, magnification};
use super::{LABEL, MARGIN, NOTE, TITLE, draw_title, title_height, widest};
use crate::canvas::Canvas;
use crate::picture::Picture;

/// Between a picture and its words.
const GAP: usize = 14;
/// Between one image's words and the next picture.
const COLUMN_GAP: usize = 40;
const ROW_GAP: usize = 28;
const LINE_HEIGHT: usize = 24;

/// An image of an example.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleImage {
    /// What it is in the example, for instance `anchor`.
    pub name: String,
    /// Below the name, one beneath the other.
    pub lines: Vec<String>,
    /// How it looks.
    pub picture: Picture,
}

/// Draws one row for each example; all have as many images.
pub fn examples(title: &str, rows: &[Vec<ExampleImage>]) -> Canvas {
    let images = || rows.iter().flatten();
    let scale = images().map(|image| magnification(&image.picture)).max().unwrap_or(1);
    let side = |side: fn(&Picture) -> usize| images().map(|image| scale * side(&image.picture)).max().unwrap_or(0);
    let picture_width = side(|picture| picture.shape().width);
    let n_lines = images().map(|image| 1 + image.lines.len()).max().unwrap_or(0);
    let row_height = side(|picture| picture.shape().height).max(n_lines * LINE_HEIGHT);
    let mut columns = vec![MARGIN]; // where each picture begins, and where all end
    for column in 0..rows.first().map_or(0, Vec::len) {
        let words = rows.iter().map(|row| words_width(&row[column])).max().unwrap_or(0);
        columns.push(columns[column] + picture_width + GAP + words + COLUMN_GAP);
    }
    let title_width = MARGIN + widest(TITLE, [title]);
    let last_gap = |gap: usize| if rows.is_empty() { 0 } else { gap };
    let width = (columns[columns.len() - 1] - last_gap(COLUMN_GAP)).max(title_width) + MARGIN;
    let height = title_height(title) + rows.len() * (row_height + ROW_GAP) - last_gap(ROW_GAP) + MARGIN;
    let mut canvas = Canvas::new(width, height);
    draw_title(&mut canvas, title);
    for (row_index, row) in rows.iter().enumerate() {
        let y = title_height(title) + row_index * (row_height + ROW_GAP);
        for (image, &x) in row.iter().zip(&columns) {
            draw_framed(&mut canvas, &image.picture, x, y, scale);
            draw_words(&mut canvas, image, x + picture_width + GAP, y);
        }
    }
    canvas
}

fn words_width(image: &ExampleImage) -> usize {
    widest(LABEL.bold(), [image.name.as_str()]).max(widest(NOTE, image.lines.iter().map(String::as_str)))
}

fn draw_words(canvas: &mut Canvas, image: &ExampleImage, x: usize, y: usize) {
    let baseline = |line: usize| (y + line * LINE_HEIGHT + 17) as f32;
    canvas.text(x as f32, baseline(0), &image.name, LABEL.bold());
    for (line, text) in image.lines.iter().enumerate() {
        canvas.text(x as f32, baseline(line + 1), text, NOTE);
    }
}

#[cfg(test)]
mod tests {
    use unbraid_data::ImageShape;

    use super::*;

    fn image(n_lines: usize) -> ExampleImage {
        let shape = ImageShape { height: 64, width: 64, channels: 1 };
        let picture = Picture::new(shape, vec![0.5; 64 * 64]).unwrap();
        ExampleImage { name: "anchor".to_string(), lines: vec!["x 3".to_string(); n_lines], picture }
    }

    #[test]
    fn rows_are_as_high_as_their_pictures_or_their_words() {
        // Margins of 40, a picture of 128; 9 lines and the name are higher than it.
        assert_eq!(examples("", &[vec![image(2)]]).height(), 80 + 128);
        assert_eq!(examples("", &[vec![image(2)], vec![image(9)]]).height(), 80 + 2 * 240 + ROW_GAP);
    }

    #[test]
    fn each_image_has_room_for_its_words() {
        let [one, two] = [1, 2].map(|n_images| examples("", &[vec![image(1); n_images]]));
        assert_eq!(two.width() - one.width(), 128 + GAP + words_width(&image(1)) + COLUMN_GAP);
        assert_eq!(two.colour(41, 41), [128; 3]);
        assert_eq!(two.colour(41 + two.width() - one.width(), 41), [128; 3]);
    }

    #[test]
    fn no_example_is_an_empty_sheet() {
        assert_eq!((examples("", &[]).width(), examples("", &[]).height()), (80, 80));
    }
}
