//! Folders of numbered pictures: Falcor3D and Isaac3D.

use std::path::{Path, PathBuf};

use super::Recognised;
use super::published::is_called;

/// The rows that read such folders, what they show, and how many pictures are published.
const DATASETS: [(&str, &str, usize); 2] =
    [("falcor3d", "the pictures of Falcor3D", 233_280), ("isaac3d", "the pictures of Isaac3D", 737_280)];

/// The row that reads these pictures, and what they are. Of numbered pictures it is told how they are numbered.
pub(super) fn numbered_dataset(
    folder: &Path,
    pictures: &[PathBuf],
    recognised: &mut Recognised,
) -> Option<(&'static str, &'static str)> {
    // The datasets look for them here, and nowhere else.
    let images = folder.join("images");
    let place = if images.is_dir() { images } else { folder.to_path_buf() };
    let mut numbers: Vec<usize> = pictures
        .iter()
        .map(|path| path.file_stem()?.to_str()?.parse().ok().filter(|_| path.starts_with(&place)))
        .collect::<Option<_>>()?;
    numbers.sort_unstable();
    if numbers.iter().enumerate().any(|(wanted, &number)| number != wanted) {
        return None;
    }
    recognised.detail(format!("numbered 0 to {} without a gap", numbers.len() - 1));
    if let Some((name, what, _)) = DATASETS.into_iter().find(|(_, _, n_published)| *n_published == numbers.len()) {
        return Some((name, what));
    }
    let (name, _, n_published) = DATASETS.into_iter().find(|(name, ..)| is_called(folder, name))?;
    recognised.detail(format!(
        "called like dataset \"{name}\", of which {n_published} pictures are published: it reads a part of them with \
         factor_sizes = [...]"
    ));
    None
}
