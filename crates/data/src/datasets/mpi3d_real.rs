//! `mpi3d_real`: photographs of a robot arm that carries an object, read from its file.
//!
//! Gondal et al. 2019, "On the transfer of inductive bias from simulation to the real world: a new disentanglement dataset".

use super::Entry;
use crate::files::data_root::Published;
use crate::files::mpi3d::{PLACE, SIZES, Variant, build, entry};

static VARIANT: Variant = Variant {
    name: "mpi3d_real",
    about: "Photographs of a robot arm with an object; 1,036,800 images",
    sizes: SIZES,
    published: Published {
        names: &["mpi3d_real.npz"],
        place: PLACE,
        size: "12.7 GB unpacked",
        md5: Some("0f33f609918fb5c97996692f91129802"),
    },
    build: |table| build(&VARIANT, table),
};

/// The row in the list of datasets.
pub const ENTRY: Entry = entry(&VARIANT);
