//! The pictures of a folder, each cut to 64 x 64 pixels in three channels. They are read when first asked for, and as
//! many as fit 256 MB stay in memory.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::picture::{list_pictures, middle_square, read_picture};
use super::resize::resized;
use super::watched_file::FileState;
use crate::error::Result;

/// Height and width of the pictures once they are cut.
const SIZE: usize = 64;
const MOST_BYTES: usize = 256 << 20;

/// The pictures of a folder and of the folders in it, in the order of their paths.
pub struct PictureFolder {
    files: Vec<(PathBuf, FileState)>,
    /// The first pictures, once they were asked for. Later ones are read each time.
    kept: Vec<OnceLock<Vec<u8>>>,
}

impl PictureFolder {
    /// Looks for the pictures; at least one must be there.
    pub fn open(folder: &Path) -> Result<Self> {
        let paths = list_pictures(folder)?;
        let state = |path: PathBuf| FileState::at(&path).map(|state| (path, state));
        let files: Vec<_> = paths.into_iter().map(state).collect::<Result<_>>()?;
        let n_kept = files.len().min(MOST_BYTES / (SIZE * SIZE * 3));
        Ok(Self { files, kept: (0..n_kept).map(|_| OnceLock::new()).collect() })
    }

    /// How many there are.
    pub fn n_pictures(&self) -> usize {
        self.files.len()
    }

    /// Picture `number`, `[64, 64, 3]`.
    pub fn picture(&self, number: usize) -> Result<Cow<'_, [u8]>> {
        let Some(kept) = self.kept.get(number) else { return Ok(Cow::Owned(self.read(number)?)) };
        if let Some(bytes) = kept.get() {
            return Ok(Cow::Borrowed(bytes));
        }
        let bytes = self.read(number)?;
        // Two threads may have read it, and both have read the same.
        Ok(Cow::Borrowed(kept.get_or_init(|| bytes)))
    }

    fn read(&self, number: usize) -> Result<Vec<u8>> {
        let (path, state) = &self.files[number];
        let picture = read_picture(path, 3)?;
        state.check(path)?;
        Ok(resized(&middle_square(&picture), SIZE, SIZE).bytes)
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};
    use tempfile::tempdir;

    use super::*;

    #[test]
    fn the_middle_of_a_picture_is_resized_and_a_changed_one_is_an_error() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("wide.png");
        // Red on both sides of a green square.
        let pixel = |x: u32| if (100..200).contains(&x) { Rgb([0, 255, 0]) } else { Rgb([255, 0, 0]) };
        RgbImage::from_fn(300, 100, |x, _| pixel(x)).save(&path).unwrap();
        let pictures = PictureFolder::open(folder.path()).unwrap();
        assert_eq!(pictures.n_pictures(), 1);
        let fresh = PictureFolder::open(folder.path()).unwrap();
        assert!(pictures.picture(0).unwrap().chunks_exact(3).all(|pixel| pixel == [0, 255, 0]));
        RgbImage::new(64, 64).save(&path).unwrap();
        assert!(fresh.picture(0).unwrap_err().to_string().contains("was changed while it was read"));
    }
}
