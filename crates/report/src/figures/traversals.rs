//! Latent traversals: what the decoder draws while one latent moves and the others stay.

use unbraid_data::Result;

use super::picture_grid::{PictureGrid, PictureRow, draw_framed, magnification, picture_grid};
use super::{LABEL, MARGIN, NOTE, TITLE, draw_title, title_height, widest};
use crate::animation::to_gif;
use crate::canvas::{Area, Canvas};
use crate::colour::{GRID, series_colour};
use crate::picture::Picture;
use crate::text::Anchor;

const FRAME_SECS: f64 = 0.12;
const TILE_GAP: usize = 24;
const LABEL_HEIGHT: usize = 34;
const SLIDER_HEIGHT: usize = 24;
const MOST_TILES_ACROSS: usize = 5;

/// A traversal of each of several latents.
#[derive(Debug, Clone, PartialEq)]
pub struct Traversals {
    /// Above the figure; may be empty.
    pub title: String,
    /// The value of the latent in each column, ready to be shown; see [`value_headers`].
    pub headers: Vec<String>,
    /// In the order in which they are shown.
    pub rows: Vec<TraversalRow>,
}

/// The traversal of one latent.
#[derive(Debug, Clone, PartialEq)]
pub struct TraversalRow {
    /// For instance `z0`.
    pub label: String,
    /// For instance `KL 2.31`; may be empty.
    pub note: String,
    /// One picture per value.
    pub pictures: Vec<Picture>,
}

/// Values as headers: `−1.5`, with as many digits as the finest of them needs, two at most.
pub fn value_headers(values: &[f64]) -> Vec<String> {
    let is_whole = |value: f64| (value - value.round()).abs() < 1e-4;
    let is_enough = |n_digits: i32| values.iter().all(|value| is_whole(value * 10_f64.powi(n_digits)));
    let n_digits = (0..2).find(|n_digits| is_enough(*n_digits)).unwrap_or(2) as usize;
    values.iter().map(|value| format!("{value:.n_digits$}").replace('-', "−")).collect()
}

/// One row per latent, one column per value.
pub fn traversals(input: &Traversals) -> Canvas {
    let rows = input.rows.iter().map(|row| PictureRow {
        label: row.label.clone(),
        note: row.note.clone(),
        pictures: row.pictures.clone(),
        ..PictureRow::default()
    });
    picture_grid(&PictureGrid { title: input.title.clone(), headers: input.headers.clone(), rows: rows.collect() })
}

/// All latents side by side, each moving there and back; a GIF file.
pub fn traversals_gif(input: &Traversals) -> Result<Vec<u8>> {
    let n_values = input.rows.iter().map(|row| row.pictures.len()).max().unwrap_or(0);
    let there = 0..n_values.max(1);
    let back = (1..n_values.saturating_sub(1)).rev();
    let frames: Vec<Canvas> = there.chain(back).map(|index| frame(input, index, n_values)).collect();
    to_gif(&frames, FRAME_SECS)
}

/// The frame in which every latent has the value with this number.
fn frame(input: &Traversals, value_index: usize, n_values: usize) -> Canvas {
    let tiles = Tiles::new(input);
    let top = title_height(&input.title);
    let title_width = widest(TITLE, [input.title.as_str()]);
    let n_lines = input.rows.len().div_ceil(tiles.n_across);
    let width = (tiles.n_across * tiles.width - TILE_GAP).max(title_width) + 2 * MARGIN;
    let mut canvas = Canvas::new(width, top + n_lines * tiles.height - TILE_GAP.min(n_lines * TILE_GAP) + MARGIN);
    draw_title(&mut canvas, &input.title);
    let progress = value_index as f64 / n_values.saturating_sub(1).max(1) as f64;
    for (row_index, row) in input.rows.iter().enumerate() {
        let x = MARGIN + row_index % tiles.n_across * tiles.width;
        let y = top + row_index / tiles.n_across * tiles.height;
        canvas.text(x as f32, (y + 22) as f32, &row.label, LABEL.bold());
        let note_x = x + tiles.width - TILE_GAP;
        canvas.text(note_x as f32, (y + 22) as f32, &row.note, NOTE.anchored(Anchor::End));
        if let Some(picture) = row.pictures.get(value_index) {
            draw_framed(&mut canvas, picture, x, y + LABEL_HEIGHT, tiles.scale);
        }
        draw_slider(&mut canvas, x, y + LABEL_HEIGHT + tiles.picture_height + 12, tiles.picture_width, progress);
    }
    canvas
}

/// How the latents are laid out in a frame: label, picture and slider of each in a tile.
struct Tiles {
    scale: usize,
    picture_width: usize,
    picture_height: usize,
    width: usize,
    height: usize,
    n_across: usize,
}

impl Tiles {
    fn new(input: &Traversals) -> Self {
        let pictures = || input.rows.iter().flat_map(|row| &row.pictures);
        let scale = pictures().map(magnification).max().unwrap_or(1);
        let picture_width = scale * pictures().map(|picture| picture.shape().width).max().unwrap_or(1);
        let picture_height = scale * pictures().map(|picture| picture.shape().height).max().unwrap_or(1);
        let label_width = widest(LABEL.bold(), input.rows.iter().map(|row| row.label.as_str()));
        let note_width = widest(NOTE, input.rows.iter().map(|row| row.note.as_str()));
        let width = picture_width.max(label_width + 12 + note_width) + TILE_GAP;
        let height = LABEL_HEIGHT + picture_height + SLIDER_HEIGHT + TILE_GAP;
        // Six tiles look better as three and three than as five and one.
        let n_rows = input.rows.len().max(1);
        let n_across = n_rows.div_ceil(n_rows.div_ceil(MOST_TILES_ACROSS));
        Self { scale, picture_width, picture_height, width, height, n_across }
    }
}

/// A bar with a mark that shows how far the latent has moved.
fn draw_slider(canvas: &mut Canvas, x: usize, y: usize, width: usize, progress: f64) {
    canvas.fill(Area { x, y: y + 3, width, height: 4 }, GRID);
    let mark_x = x + (width.saturating_sub(10) as f64 * progress).round() as usize;
    canvas.fill(Area { x: mark_x, y, width: 10, height: 10 }, series_colour(0));
}

#[cfg(test)]
mod tests {
    use unbraid_data::ImageShape;

    use super::*;

    fn example(n_values: usize) -> Traversals {
        let shape = ImageShape { height: 8, width: 8, channels: 1 };
        let picture = |value: usize| Picture::new(shape, vec![value as f32 / 10.0; 64]).unwrap();
        let row = |latent: usize| TraversalRow {
            label: format!("z{latent}"),
            note: "KL 2.31".to_string(),
            pictures: (0..n_values).map(picture).collect(),
        };
        Traversals { title: "Traversals".to_string(), headers: Vec::new(), rows: (0..3).map(row).collect() }
    }

    #[test]
    fn the_animation_goes_there_and_back() {
        let count = |n_values: usize| {
            let bytes = traversals_gif(&example(n_values)).unwrap();
            let mut decoder = gif::DecodeOptions::new().read_info(bytes.as_slice()).unwrap();
            let mut n_frames = 0;
            while decoder.read_next_frame().unwrap().is_some() {
                n_frames += 1;
            }
            n_frames
        };
        // Values 0 1 2 3 4 3 2 1, then again from 0.
        assert_eq!(count(5), 8);
        assert_eq!([count(0), count(1), count(2)], [1, 1, 2]);
    }

    #[test]
    fn every_latent_and_value_is_drawn() {
        let canvas = traversals(&example(4));
        let shades: std::collections::BTreeSet<[u8; 3]> =
            canvas.pixels().chunks(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        // 0.3 * 255 = 76.5
        assert!(shades.contains(&[0; 3]) && shades.contains(&[77; 3]));
        assert!(canvas.height() >= 3 * 112 && canvas.width() >= 4 * 112);
    }

    #[test]
    fn headers_have_the_digits_they_need() {
        assert_eq!(value_headers(&[-2.0, 0.0, 2.0]), ["−2", "0", "2"]);
        assert_eq!(value_headers(&[-1.5, 0.0]), ["−1.5", "0.0"]);
        // In binary, 3 * 0.4 is not quite 1.2.
        assert_eq!(value_headers(&[3.0 * 0.4]), ["1.2"]);
        assert_eq!(value_headers(&[0.3333]), ["0.33"]);
    }
}
