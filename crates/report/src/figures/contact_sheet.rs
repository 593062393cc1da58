//! Many images at a glance, each with a caption such as its number.

use super::picture_grid::{PictureGrid, PictureRow, picture_grid};
use crate::canvas::Canvas;
use crate::picture::Picture;

/// Pictures in reading order, `n_across` to a row, with their captions below.
pub fn contact_sheet(title: &str, pictures: &[Picture], captions: &[String], n_across: usize) -> Canvas {
    let n_across = n_across.max(1);
    let rows = pictures.chunks(n_across).enumerate().map(|(row_index, pictures)| {
        let captions = captions.iter().skip(row_index * n_across).take(n_across).cloned().collect();
        PictureRow { pictures: pictures.to_vec(), captions, space_below: 6, ..PictureRow::default() }
    });
    picture_grid(&PictureGrid { title: title.to_string(), headers: Vec::new(), rows: rows.collect() })
}

#[cfg(test)]
mod tests {
    use unbraid_data::ImageShape;

    use super::*;

    #[test]
    fn seven_pictures_take_two_rows_of_four() {
        let shape = ImageShape { height: 64, width: 64, channels: 1 };
        let pictures = vec![Picture::new(shape, vec![0.0; 64 * 64]).unwrap(); 7];
        let canvas = contact_sheet("", &pictures, &[], 4);
        // The margins are 40; a picture takes 128 and a gap of 8; a space of 6 lies between the rows.
        assert_eq!((canvas.width(), canvas.height()), (80 + 4 * 136, 80 + 2 * 128 + 8 + 6));
        // The eighth place is empty.
        assert_eq!(canvas.colour(40 + 3 * 136 + 60, 40 + 142 + 60), crate::colour::PAPER);
    }
}
