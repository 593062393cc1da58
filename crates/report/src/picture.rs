//! An image that can be shown: grey or colour, of known shape.

use unbraid_data::{Error, ImageShape, Result};

/// An image of 1 or 3 channels, `[height, width, channels]`, with 0 for black and 1 for full brightness.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    shape: ImageShape,
    pixels: Vec<f32>,
}

impl Picture {
    /// Checks that the pixels fill the shape and that it can be shown.
    pub fn new(shape: ImageShape, pixels: Vec<f32>) -> Result<Self> {
        if shape.channels != 1 && shape.channels != 3 {
            return Err(Error::new(format!("an image of {} channels cannot be shown", shape.channels))
                .help("a picture has 1 channel (grey) or 3 (colour)"));
        }
        if pixels.len() != shape.n_pixels() || pixels.is_empty() {
            let ImageShape { height, width, channels } = shape;
            return Err(Error::new(format!(
                "an image of {height} x {width} x {channels} cannot have {} pixels",
                pixels.len()
            )));
        }
        Ok(Self { shape, pixels })
    }

    /// Cuts a batch of images, `[images, height, width, channels]`, into pictures.
    pub fn batch(shape: ImageShape, pixels: &[f32]) -> Result<Vec<Self>> {
        pixels.chunks(shape.n_pixels().max(1)).map(|image| Self::new(shape, image.to_vec())).collect()
    }

    /// Height, width and channels.
    pub fn shape(&self) -> ImageShape {
        self.shape
    }

    /// The colour at a place within the picture; values outside [0, 1] are clipped.
    pub fn colour(&self, row: usize, column: usize) -> [u8; 3] {
        let start = (row * self.shape.width + column) * self.shape.channels;
        std::array::from_fn(|channel| {
            let value = self.pixels[start + channel.min(self.shape.channels - 1)];
            (value.clamp(0.0, 1.0) * 255.0).round() as u8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_is_spread_over_the_channels_and_clipped() {
        let shape = ImageShape { height: 1, width: 3, channels: 1 };
        let picture = Picture::new(shape, vec![0.2, 7.0, f32::NAN]).unwrap();
        // 0.2 * 255 = 51
        assert_eq!([0, 1, 2].map(|column| picture.colour(0, column)), [[51; 3], [255; 3], [0; 3]]);
    }

    #[test]
    fn what_cannot_be_shown_is_refused() {
        let shape = |channels| ImageShape { height: 1, width: 1, channels };
        let error = Picture::new(shape(5), vec![0.0; 5]).unwrap_err().to_string();
        assert!(error.starts_with("an image of 5 channels cannot be shown"));
        let error = Picture::new(shape(3), vec![0.0; 2]).unwrap_err().to_string();
        assert_eq!(error, "an image of 1 x 1 x 3 cannot have 2 pixels");
        assert_eq!(Picture::batch(shape(1), &[0.0, 1.0]).unwrap().len(), 2);
    }
}
