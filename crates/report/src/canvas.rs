//! A sheet of pixels to draw on: boxes and pictures here, letters in `text`, lines in `stroke`.

use std::path::Path;

use unbraid_data::whole_file::write_whole;
use unbraid_data::{Error, Result};

use crate::colour::{Colour, PAPER, mix};
use crate::picture::Picture;

/// Colour pixels, `[height, width, 3]`. What is drawn outside is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// A rectangle of whole pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Left edge.
    pub x: usize,
    /// Upper edge.
    pub y: usize,
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
}

impl Canvas {
    /// An empty sheet; at least one pixel each way.
    pub fn new(width: usize, height: usize) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self { width, height, pixels: PAPER.repeat(width * height) }
    }

    /// The same with so many empty rows of pixels below.
    pub fn with_room_below(mut self, n_rows: usize) -> Self {
        self.height += n_rows;
        self.pixels.extend(PAPER.repeat(self.width * n_rows));
        self
    }

    /// Pixels across.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, `[height, width, 3]`.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The colour at a place on the sheet.
    pub fn colour(&self, x: usize, y: usize) -> Colour {
        let start = (y * self.width + x) * 3;
        std::array::from_fn(|channel| self.pixels[start + channel])
    }

    /// Mixes a share of `colour` into a pixel: 0 leaves it, 1 replaces it.
    pub fn blend(&mut self, x: i64, y: i64, colour: Colour, share: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x < self.width && y < self.height {
            let mixed = mix(self.colour(x, y), colour, share);
            let start = (y * self.width + x) * 3;
            self.pixels[start..start + 3].copy_from_slice(&mixed);
        }
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, area: Area, colour: Colour) {
        let right = (area.x + area.width).min(self.width);
        for y in area.y..(area.y + area.height).min(self.height) {
            for x in area.x..right {
                let start = (y * self.width + x) * 3;
                self.pixels[start..start + 3].copy_from_slice(&colour);
            }
        }
    }

    /// Draws a line of one pixel just within the edges of a rectangle.
    pub fn outline(&mut self, area: Area, colour: Colour) {
        let Area { x, y, width, height } = area;
        let (right, bottom) = (x + width.saturating_sub(1), y + height.saturating_sub(1));
        self.fill(Area { height: 1, ..area }, colour);
        self.fill(Area { y: bottom, height: 1, ..area }, colour);
        self.fill(Area { x, y, width: 1, height }, colour);
        self.fill(Area { x: right, y, width: 1, height }, colour);
    }

    /// Puts a picture with its upper left corner at `(x, y)`, each of its pixels as a square of `scale`.
    pub fn paste(&mut self, picture: &Picture, x: usize, y: usize, scale: usize) {
        let shape = picture.shape();
        for row in 0..shape.height {
            for column in 0..shape.width {
                let square = Area { x: x + column * scale, y: y + row * scale, width: scale, height: scale };
                self.fill(square, picture.colour(row, column));
            }
        }
    }

    /// The sheet as a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let failure = |error: png::EncodingError| Error::failure(format!("cannot make a PNG: {error}"));
        let side = |length: usize| {
            u32::try_from(length).map_err(|_| Error::failure(format!("a PNG cannot be {length} pixels long")))
        };
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, side(self.width)?, side(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(failure)?;
        writer.write_image_data(&self.pixels).map_err(failure)?;
        writer.finish().map_err(failure)?;
        Ok(bytes)
    }

    /// Writes the sheet as a PNG file.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_whole(path, &self.to_png()?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use unbraid_data::ImageShape;

    use super::*;

    #[test]
    fn a_png_holds_the_pixels_that_were_drawn() {
        let mut canvas = Canvas::new(6, 4);
        let shape = ImageShape { height: 1, width: 2, channels: 3 };
        let picture = Picture::new(shape, vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        canvas.paste(&picture, 1, 1, 2);
        let mut reader = png::Decoder::new(Cursor::new(canvas.to_png().unwrap())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (6, 4));
        assert_eq!(pixels, canvas.pixels());
        assert_eq!(canvas.colour(2, 2), [255, 0, 0]);
        assert_eq!(canvas.colour(3, 1), [0, 0, 255]);
        assert_eq!(canvas.colour(5, 1), PAPER);
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut canvas = Canvas::new(2, 2);
        canvas.blend(-1, 0, [0; 3], 1.0);
        canvas.blend(0, 9, [0; 3], 1.0);
        canvas.fill(Area { x: 5, y: 5, width: 3, height: 3 }, [0; 3]);
        assert_eq!(canvas, Canvas::new(2, 2));
        canvas.fill(Area { x: 1, y: 0, width: 9, height: 9 }, [0; 3]);
        assert_eq!([canvas.colour(0, 1), canvas.colour(1, 1)], [PAPER, [0; 3]]);
    }
}
