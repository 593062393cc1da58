//! The matrices of SmallNORB, and folders of them.

use std::path::Path;

use super::reads::{dataset_with, file_name, folder_of};
use super::{Recognised, check_is_file};
use crate::datasets::smallnorb::file_of;
use crate::error::{Error, Result};
use crate::files::small_norb::{Element, open_matrix};
use crate::words::counted;

/// The word in the names of files, and the setting.
const PARTS: [(&str, &str); 2] = [("training", "train"), ("testing", "test")];
const KINDS: [&str; 3] = ["dat", "cat", "info"];

pub(super) fn recognise_file(path: &Path) -> Recognised {
    let mut recognised = Recognised::new("a matrix of SmallNORB");
    match pass_over(path) {
        Ok((element, shape)) => recognised.detail(format!("{} {shape:?}", element.name())),
        Err(error) => recognised.broken(error),
    }
    let (folder, name) = (folder_of(path), file_name(path));
    let is_there = |word: &str| KINDS.iter().all(|kind| file_of(&folder, &part_of_name(word, kind)).is_ok());
    match PARTS.iter().find(|(word, _)| name.contains(&format!("-{word}-"))) {
        Some((word, part)) if is_there(word) => {
            recognised.detail("read with the other files of its folder");
            recognised.reads_it.extend(lines(&folder, part));
        }
        _ => recognised
            .detail("read where files called *-training-dat.mat.gz, -cat and -info lie in a folder, or -testing-"),
    }
    recognised
}

/// A folder that has the photographs of at least one part.
pub(super) fn recognise_folder(folder: &Path) -> Option<Recognised> {
    let has_images =
        |(word, _): &&(&str, &str)| file_of(folder, &part_of_name(word, "dat")).is_ok_and(|path| path.is_file());
    let parts: Vec<_> = PARTS.iter().filter(has_images).collect();
    let mut recognised = Recognised::new("the files of SmallNORB").read_by(lines(folder, parts.first()?.1));
    for (word, part) in parts {
        match check_part(folder, word) {
            Ok(line) => recognised.detail(format!("{part}: {line}")),
            Err(error) => {
                recognised.detail(format!("{part}: broken"));
                recognised.broken(error);
            }
        }
    }
    Some(recognised)
}

fn check_part(folder: &Path, word: &str) -> Result<String> {
    let mut shapes = Vec::new();
    let wanted = [Element::U8, Element::I32, Element::I32];
    for (kind, wanted) in KINDS.iter().zip(wanted) {
        let path = file_of(folder, &part_of_name(word, kind))?;
        let (element, shape) = pass_over(&path)?;
        if element != wanted {
            return Err(Error::new(format!("wanted a matrix of {}, found {}", wanted.name(), element.name()))
                .at(path.display())
                .help("it is another file: get it again"));
        }
        shapes.push(shape);
    }
    match [&shapes[0][..], &shapes[1][..], &shapes[2][..]] {
        [&[n, 2, height, width], &[n_categories], &[n_infos, 4]] if n == n_categories && n == n_infos => {
            Ok(format!("{} of photographs, {width} x {height}", counted(n, "pair")))
        }
        _ => {
            let found = format!("{}: the {word} files have shapes {shapes:?}", folder.display());
            Err(Error::new(found).help("wanted [n, 2, height, width], [n] and [n, 4]: get the three again"))
        }
    }
}

fn pass_over(path: &Path) -> Result<(Element, Vec<usize>)> {
    check_is_file(path)?;
    let matrix = open_matrix(path)?;
    let found = (matrix.element(), matrix.shape().to_vec());
    matrix.pass_over().map_err(|error| error.at(path.display()))?;
    Ok(found)
}

fn part_of_name(word: &str, kind: &str) -> String {
    format!("-{word}-{kind}.mat")
}

fn lines(folder: &Path, part: &str) -> Option<String> {
    let others: &[(&str, String)] = if part == "test" { &[("part", "\"test\"".to_string())] } else { &[] };
    dataset_with("smallnorb", folder, others)
}
