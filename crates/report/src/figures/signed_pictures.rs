//! Pictures of what has a sign, as principal components have: how each pixel rises or falls.

use unbraid_data::{ImageShape, Result};

use super::picture_grid::{PictureGrid, picture_grid};
use super::{MARGIN, NOTE};
use crate::canvas::{Area, Canvas};
use crate::colour::{FRAME, diverging};
use crate::picture::Picture;
use crate::text::Anchor;

const LEGEND_HEIGHT: usize = 56;
const BAR_WIDTH: usize = 260;
const BAR_HEIGHT: usize = 18;

/// The values of an image, `[height, width, channels]`, in units of the largest without its sign. Of one channel: blue and dark below 0, grey
/// at 0, yellow and light above; of three: each channel from grey at 0 to darker or brighter.
pub fn signed_picture(shape: ImageShape, values: &[f64]) -> Result<Picture> {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    if shape.channels == 1 {
        let colours = values.iter().flat_map(|value| diverging(value / unit));
        let shape = ImageShape { channels: 3, ..shape };
        return Picture::new(shape, colours.map(|part| f32::from(part) / 255.0).collect());
    }
    Picture::new(shape, values.iter().map(|value| (0.5 + value / unit / 2.0) as f32).collect())
}

/// A grid of such pictures of images with so many channels, with what their colours mean below.
pub fn signed_grid(grid: &PictureGrid, n_channels: usize) -> Canvas {
    let canvas = picture_grid(grid);
    let top = canvas.height() - MARGIN / 2;
    let mut canvas = canvas.with_room_below(LEGEND_HEIGHT);
    let (low, high) = ("least", "greatest");
    let left = MARGIN + NOTE.width(low).ceil() as usize + 12;
    for column in 0..BAR_WIDTH {
        let value = 2.0 * column as f64 / (BAR_WIDTH - 1) as f64 - 1.0;
        let grey = (127.5 + 127.5 * value).round() as u8;
        let colour = if n_channels == 1 { diverging(value) } else { [grey; 3] };
        canvas.fill(Area { x: left + column, y: top, width: 1, height: BAR_HEIGHT }, colour);
    }
    canvas.outline(Area { x: left, y: top, width: BAR_WIDTH, height: BAR_HEIGHT }, FRAME);
    let middle = (top + BAR_HEIGHT / 2) as f32 + NOTE.half_height();
    canvas.text(MARGIN as f32, middle, low, NOTE);
    canvas.text((left + BAR_WIDTH + 12) as f32, middle, high, NOTE);
    let zero = (left + BAR_WIDTH / 2) as f32;
    canvas.text(zero, (top + BAR_HEIGHT + 22) as f32, "0", NOTE.anchored(Anchor::Middle));
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::picture_grid::PictureRow;

    fn shape(channels: usize) -> ImageShape {
        ImageShape { height: 1, width: 3, channels }
    }

    #[test]
    fn zero_is_grey_whatever_the_unit() {
        let picture = signed_picture(shape(1), &[-0.02, 0.0, 0.01]).unwrap();
        let colours = [0, 1, 2].map(|column| picture.colour(0, column));
        assert_eq!(colours, [diverging(-1.0), diverging(0.0), diverging(0.5)]);
        // Red at its greatest, all at 0, and green at its least: half of grey more or less.
        let values = [4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -4.0, 0.0];
        let picture = signed_picture(shape(3), &values).unwrap();
        assert_eq!([0, 1, 2].map(|column| picture.colour(0, column)), [[255, 128, 128], [128; 3], [128, 0, 128]]);
    }

    #[test]
    fn nothing_is_grey_everywhere() {
        let picture = signed_picture(shape(1), &[0.0; 3]).unwrap();
        assert_eq!(picture.colour(0, 2), diverging(0.0));
    }

    #[test]
    fn what_the_colours_mean_stands_below() {
        for channels in [1, 3] {
            let pictures = vec![signed_picture(shape(channels), &vec![1.0; 3 * channels]).unwrap()];
            let grid =
                PictureGrid { rows: vec![PictureRow { pictures, ..PictureRow::default() }], ..PictureGrid::default() };
            let canvas = signed_grid(&grid, channels);
            assert_eq!(canvas.height(), picture_grid(&grid).height() + LEGEND_HEIGHT);
        }
    }
}
