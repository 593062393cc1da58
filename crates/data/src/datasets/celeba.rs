//! `celeba`: 202,599 photographs of faces with 40 attributes, read from a folder.
//!
//! Liu et al. 2015, "Deep learning face attributes in the wild". The folder has `img_align_celeba/` with pictures of 178 x 218 pixels
//! and `list_attr_celeba.txt`: their number, the names of the attributes, and for each picture its file and -1 or 1 for each
//! attribute, which become 0 and 1. Attributes do not form a grid.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry};
use crate::error::{Error, Result};
use crate::factor_space::{Factor, FactorSpace};
use crate::file_errors::check_is_file;
use crate::files::data_root::Published;
use crate::files::grid_file::PATH;
use crate::files::pictures::{Crop, Labels, Pictures};
use crate::settings::{self, Setting, Values};
use crate::whole_file::read_text;
use crate::words::shortened;

/// The list of the pictures and their attributes.
pub(crate) const ATTRIBUTES: &str = "list_attr_celeba.txt";
/// The folder of the pictures: either of these.
pub(crate) const PICTURES: [&str; 2] = ["img_align_celeba", "img_align_celeba_png"];

/// Letters of a value that are told.
const MOST_LETTERS: usize = 40;

const PUBLISHED: Published = Published {
    names: &["celeba", "CelebA"],
    place: "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
    size: "a folder with list_attr_celeba.txt (27 MB) and img_align_celeba (1.4 GB, unpacked)",
    md5: None,
};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
    crop: Crop,
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path, crop } = settings::read(table)?;
    let folder = PUBLISHED.locate("celeba", path.as_deref())?;
    let pictures = PICTURES.iter().map(|name| folder.join(name)).find(|pictures| pictures.is_dir());
    let Some(pictures) = pictures else {
        return Err(Error::new(format!("{} has no folder {}", folder.display(), PICTURES[0]))
            .help("unpack img_align_celeba.zip there"));
    };
    let attributes = folder.join(ATTRIBUTES);
    check_is_file(&attributes)?;
    let (files, labels) =
        read_attributes(&read_text(&attributes)?, &pictures).map_err(|error| error.at(attributes.display()))?;
    Ok(Box::new(Pictures::open(files, 3, crop, labels)?))
}

/// The pictures and their attributes, by the text of the list.
fn read_attributes(text: &str, pictures: &Path) -> Result<(Vec<PathBuf>, Labels)> {
    let mut lines = text.lines();
    let announced = lines.next().and_then(|line| line.trim().parse::<usize>().ok());
    let announced = announced
        .ok_or_else(|| Error::new("the first line is not the number of pictures").help("wanted a line like 202599"))?;
    let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    if names.is_empty() {
        return Err(Error::new("the second line does not name the attributes"));
    }
    let mut seen = BTreeSet::new();
    if let Some(repeated) = names.iter().find(|name| !seen.insert(**name)) {
        return Err(Error::new(format!("the second line names the attribute {repeated} twice")));
    }
    let (mut files, mut values, mut seen_files) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (position, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = |message: String| Error::new(format!("line {}: {message}", position + 3));
        let mut cells = line.split_whitespace();
        let file = pictures.join(cells.next().unwrap_or_default());
        if !file.is_file() {
            return Err(at(format!("there is no picture {}", file.display()))
                .help("the folder is not whole: unpack img_align_celeba.zip again, or take the line out"));
        }
        if !seen_files.insert(file.clone()) {
            return Err(
                at(format!("names the picture {} a second time", file.display())).help("give each picture one line")
            );
        }
        let n_before = values.len();
        for (position, cell) in cells.enumerate() {
            let name = names.get(position).unwrap_or(&"beyond the last");
            values.push(match cell {
                "1" => 1.0,
                "-1" | "0" => 0.0,
                other => {
                    let other = shortened(other, MOST_LETTERS);
                    return Err(at(format!("attribute {name} is \"{other}\"")).help("wanted -1 or 1"));
                }
            });
        }
        let found = values.len() - n_before;
        if found != names.len() {
            return Err(at(format!("has {found} attributes, and {} are named", names.len())));
        }
        files.push(file);
    }
    if files.len() != announced {
        return Err(Error::new(format!("{announced} pictures are announced, but {} lines follow", files.len()))
            .help("the list is cut short: get it again, or mend its first line"));
    }
    if files.is_empty() {
        return Err(Error::new("names no picture").help("get the list again"));
    }
    let values = Array2::from_shape_vec((files.len(), names.len()), values).expect("as many values in every line");
    let factors = names.iter().map(|name| Factor { name: name.to_string(), size: Some(2) }).collect();
    Ok((files, Labels { space: FactorSpace::sample(factors), values, unordered: Vec::new() }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "celeba",
    about: "Photographs of faces with 40 attributes; 202,599 pictures",
    paper: "Liu et al. 2015",
    settings: &[
        PATH,
        Setting {
            name: "crop",
            values: Values::OneOf(&["square", "none"]),
            meaning: "square takes the middle 178 x 178 pixels before it resizes, none stretches the picture",
        },
    ],
    example: "path = '../../reference/datasets/celeba'",
    published: Some(&PUBLISHED),
    build,
    complete: settings::complete::<Settings>,
};
