//! `folder`: one's own pictures in a folder, with or without factors.
//!
//! Every picture of the folder and of its sub-folders is an image; they are numbered in the order of their paths. Where pictures
//! lie in sub-folders, the first of these is the factor `folder`. A CSV file whose column `file` names pictures by their path from
//! the folder gives further factors, one a column. Pictures of several sizes are brought to 64 x 64, unless `size` says otherwise;
//! by default the largest square in the middle of a picture is taken, so that nothing is stretched.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::npz::check_values;
use super::{Dataset, Entry};
use crate::error::{Error, Result};
use crate::factor_kinds::{FactorKinds, Stated, StatedFactor, factor_space, number_texts};
use crate::files::factor_table::read_factor_table;
use crate::files::picture::list_pictures;
use crate::files::pictures::{Crop, Labels, Pictures};
use crate::settings::{self, Setting, Values};

#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
    channels: usize,
    crop: Crop,
    csv: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { path: None, channels: 3, crop: Crop::Square, csv: None }
    }
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path, channels, crop, csv } = settings::read(table)?;
    let Some(path) = path else {
        return Err(Error::new("has no path").help("say where the pictures are: path = \"folder\""));
    };
    if ![1, 3].contains(&channels) {
        return Err(Error::new(format!("setting \"channels\" is {channels}")).help("wanted 1 (grey) or 3 (colour)"));
    }
    let files = list_pictures(&path)?;
    let names = names_from(&path, &files);
    let labels = labels(&names, csv.as_deref())?;
    Ok(Box::new(Pictures::open(files, channels, crop, labels)?))
}

/// The pictures' paths from the folder, with `/` between folders on every system.
pub(crate) fn names_from(folder: &Path, files: &[PathBuf]) -> Vec<String> {
    let name = |file: &PathBuf| {
        let parts = file.strip_prefix(folder).unwrap_or(file).components();
        parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
    };
    files.iter().map(name).collect()
}

fn labels(names: &[String], csv: Option<&Path>) -> Result<Labels> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let (mut stated, mut unordered): (Vec<StatedFactor>, Vec<usize>) = Default::default();
    let folders: Vec<&str> = names.iter().map(|name| name.split_once('/').map_or("", |(folder, _)| folder)).collect();
    if folders.iter().any(|folder| *folder != folders[0]) {
        let (numbers, size) = number_texts(&folders);
        stated.push(("folder".to_string(), Stated::Size(size)));
        unordered.push(0);
        columns.push(numbers);
    }
    if let Some(csv) = csv {
        for factor in read_factor_table(csv, names)? {
            if stated.iter().any(|(name, _)| *name == factor.name) {
                return Err(Error::new(format!("two factors are called \"{}\"", factor.name))
                    .at(csv.display())
                    .help("give the column another name; \"folder\" is that of the sub-folders"));
            }
            if factor.is_text {
                unordered.push(columns.len());
            }
            stated.push((factor.name, factor.stated));
            columns.push(factor.values);
        }
    }
    let mut values = Array2::zeros((names.len(), columns.len()));
    for (position, column) in columns.iter().enumerate() {
        values.column_mut(position).assign(&ndarray::aview1(column));
    }
    let at_csv = |error: Error| csv.map_or(error.clone(), |csv| error.at(csv.display()));
    let space = factor_space(&mut values, stated, &FactorKinds::default()).map_err(at_csv)?;
    check_values(&values, &space).map_err(at_csv)?;
    Ok(Labels { space, values, unordered })
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "folder",
    about: "Your own pictures in a folder; sub-folders are a factor, and a CSV file may give others",
    paper: "your own",
    settings: &[
        Setting {
            name: "path",
            values: Values::Words("the path of a folder"),
            meaning: "the folder: every picture in it and in its sub-folders is an image",
        },
        Setting {
            name: "channels",
            values: Values::Words("1 or 3"),
            meaning: "1 for grey and 3 for colour, whatever the pictures are",
        },
        Setting {
            name: "crop",
            values: Values::OneOf(&["square", "none"]),
            meaning: "square takes the middle of a picture that is no square, none stretches it",
        },
        Setting {
            name: "csv",
            values: Values::Words("the path of a CSV file"),
            meaning: "factors of the pictures, which its column \"file\" names by their path from the folder",
        },
    ],
    example: "path = '../../reference/datasets/folder'\ncsv = '../../reference/datasets/folder/factors.csv'",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};
