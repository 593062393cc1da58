//! Images above what the model makes of them.

use super::picture_grid::{PictureGrid, PictureRow, picture_grid};
use crate::canvas::Canvas;
use crate::picture::Picture;

const MOST_ACROSS: usize = 8;

/// Originals and reconstructions in pairs of rows, eight across. What has no partner is left out.
pub fn reconstructions(title: &str, originals: &[Picture], reconstructed: &[Picture]) -> Canvas {
    let n_pairs = originals.len().min(reconstructed.len());
    let pairs = originals[..n_pairs].chunks(MOST_ACROSS).zip(reconstructed[..n_pairs].chunks(MOST_ACROSS));
    let rows = pairs.flat_map(|(originals, reconstructed)| {
        [
            PictureRow { label: "original".to_string(), pictures: originals.to_vec(), ..PictureRow::default() },
            PictureRow {
                label: "reconstruction".to_string(),
                pictures: reconstructed.to_vec(),
                space_below: 24,
                ..PictureRow::default()
            },
        ]
    });
    picture_grid(&PictureGrid { title: title.to_string(), headers: Vec::new(), rows: rows.collect() })
}

#[cfg(test)]
mod tests {
    use unbraid_data::ImageShape;

    use super::*;

    #[test]
    fn pairs_wrap_after_eight() {
        let shape = ImageShape { height: 64, width: 64, channels: 1 };
        let pictures = vec![Picture::new(shape, vec![0.0; 64 * 64]).unwrap(); 11];
        let one_line = reconstructions("", &pictures[..8], &pictures[..8]);
        let two_lines = reconstructions("", &pictures, &pictures);
        assert_eq!(one_line.width(), two_lines.width());
        // Two more rows of 128 with gaps of 8, and a space of 24 between the pairs.
        assert_eq!(two_lines.height() - one_line.height(), 2 * 136 + 24);
    }
}
