//! `mnist`: handwritten digits, read from idx files.
//!
//! LeCun et al. 1998, "Gradient-based learning applied to document recognition".

use super::Entry;
use crate::files::data_root::Published;
use crate::files::mnist::{Variant, build, entry};

static VARIANT: Variant = Variant {
    name: "mnist",
    about: "Handwritten digits; 70,000 images of 28 x 28",
    paper: "LeCun et al. 1998",
    factor: "digit",
    published: Published {
        names: &["mnist", "MNIST/raw", "MNIST"],
        place: "https://storage.googleapis.com/cvdf-datasets/mnist/",
        size: "a folder with train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz and the t10k files, 11 MB",
        md5: None,
    },
    build: |table| build(&VARIANT, table),
};

/// The row in the list of datasets.
pub const ENTRY: Entry = entry(&VARIANT);
