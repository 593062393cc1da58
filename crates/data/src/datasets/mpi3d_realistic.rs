//! `mpi3d_realistic`: a robot arm that carries an object, rendered like photographs, read from its file.
//!
//! Gondal et al. 2019, "On the transfer of inductive bias from simulation to the real world: a new disentanglement dataset".

use super::Entry;
use crate::files::data_root::Published;
use crate::files::mpi3d::{PLACE, SIZES, Variant, build, entry};

static VARIANT: Variant = Variant {
    name: "mpi3d_realistic",
    about: "A robot arm with an object, rendered like photographs; 1,036,800 images",
    sizes: SIZES,
    published: Published { names: &["mpi3d_realistic.npz"], place: PLACE, size: "12.7 GB unpacked", md5: None },
    build: |table| build(&VARIANT, table),
};

/// The row in the list of datasets.
pub const ENTRY: Entry = entry(&VARIANT);
