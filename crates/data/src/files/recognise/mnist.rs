//! The idx files of MNIST and Fashion-MNIST, and folders of them.

use std::path::{Path, PathBuf};

use super::Recognised;
use super::published::is_called;
use super::reads::{dataset_with, file_name, folder_of};
use crate::error::{Error, Result};
use crate::files::idx::{IdxHeader, pass_over_idx};
use crate::files::mnist::find_file;
use crate::words::counted;

const DATASETS: [&str; 2] = ["mnist", "fashion_mnist"];
/// The word in the names of files, and the setting.
const PARTS: [(&str, &str); 2] = [("train", "train"), ("t10k", "test")];

pub(super) fn recognise_file(path: &Path) -> Recognised {
    let mut recognised = Recognised::new("an idx file, as MNIST and Fashion-MNIST consist of");
    match pass_over_idx(path) {
        Ok(header) => recognised.detail(format!("{} {:?}", header.element.name(), header.shape)),
        Err(error) => recognised.broken(error),
    }
    let (folder, name) = (folder_of(path), file_name(path));
    match PARTS.iter().find(|(word, _)| name.starts_with(word)) {
        Some((word, part)) if images_of(&folder, word).is_some() && labels_of(&folder, word).is_some() => {
            recognised.detail("read with the other files of its folder");
            recognised.reads_it.extend(lines(&folder, part));
        }
        _ => recognised
            .detail("read where train-images-idx3-ubyte and train-labels-idx1-ubyte lie in a folder, or t10k-..."),
    }
    recognised
}

/// A folder that has the images of at least one part.
pub(super) fn recognise_folder(folder: &Path) -> Option<Recognised> {
    let parts: Vec<_> = PARTS.iter().filter_map(|part| Some((part, images_of(folder, part.0)?))).collect();
    let (first, _) = parts.first()?;
    let ways = lines(folder, first.1);
    let mut recognised = Recognised::new("the files of MNIST or Fashion-MNIST").read_by(ways);
    if recognised.reads_it.len() > 1 {
        recognised.detail("both have the same form, and the images tell which it is");
    }
    for ((word, part), images) in &parts {
        match check_part(folder, word, images) {
            Ok(line) => recognised.detail(format!("{part}: {line}")),
            Err(error) => {
                recognised.detail(format!("{part}: broken"));
                recognised.broken(error);
            }
        }
    }
    Some(recognised)
}

fn check_part(folder: &Path, word: &str, images: &Path) -> Result<String> {
    let Some(labels) = labels_of(folder, word) else {
        return Err(Error::new(format!("{} has no {word}-labels-idx1-ubyte.gz", folder.display()))
            .help("get it from where the images are from"));
    };
    let IdxHeader { shape, .. } = pass_over_idx(images)?;
    let [n_images, height, width] = shape[..] else {
        return Err(Error::new(format!("has shape {shape:?}, wanted [images, height, width]"))
            .at(images.display())
            .help("it is another file: get it again"));
    };
    let IdxHeader { shape, .. } = pass_over_idx(&labels)?;
    if shape != [n_images] {
        return Err(Error::new(format!("has labels of shape {shape:?}, and there are {n_images} images"))
            .at(labels.display())
            .help("the two files are not of one set: get them again"));
    }
    Ok(format!("{} of {width} x {height}, with labels", counted(n_images, "image")))
}

fn images_of(folder: &Path, word: &str) -> Option<PathBuf> {
    find_file(folder, &format!("{word}-images"), "idx3-ubyte")
}

fn labels_of(folder: &Path, word: &str) -> Option<PathBuf> {
    find_file(folder, &format!("{word}-labels"), "idx1-ubyte")
}

/// The datasets that read the folder: the one that is called so, else both.
fn lines(folder: &Path, part: &str) -> Vec<String> {
    let called_so: Vec<&str> = DATASETS.into_iter().filter(|name| is_called(folder, name)).collect();
    let names = if called_so.is_empty() { DATASETS.to_vec() } else { called_so };
    let others: &[(&str, String)] = if part == "test" { &[("part", "\"test\"".to_string())] } else { &[] };
    names.into_iter().filter_map(|name| dataset_with(name, folder, others)).collect()
}
