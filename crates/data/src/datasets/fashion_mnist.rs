//! `fashion_mnist`: clothes and shoes, read from idx files.
//!
//! Xiao et al. 2017, "Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms".

use super::Entry;
use crate::files::data_root::Published;
use crate::files::mnist::{Variant, build, entry};

static VARIANT: Variant = Variant {
    name: "fashion_mnist",
    about: "Clothes and shoes; 70,000 images of 28 x 28",
    paper: "Xiao et al. 2017",
    factor: "class",
    published: Published {
        names: &["fashion_mnist", "fashion-mnist", "FashionMNIST/raw"],
        place: "https://github.com/zalandoresearch/fashion-mnist (in Debian: package dataset-fashion-mnist)",
        size: "a folder with train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz and the t10k files, 30 MB",
        md5: None,
    },
    build: |table| build(&VARIANT, table),
};

/// The row in the list of datasets.
pub const ENTRY: Entry = entry(&VARIANT);
