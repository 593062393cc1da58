//! `mpi3d_complex`: photographs of a robot arm that carries everyday objects, read from its file.
//!
//! Gondal et al. 2019, "On the transfer of inductive bias from simulation to the real world: a new disentanglement dataset".

use super::Entry;
use crate::files::data_root::Published;
use crate::files::mpi3d::{PLACE, Variant, build, entry};

static VARIANT: Variant = Variant {
    name: "mpi3d_complex",
    about: "Photographs of a robot arm with everyday objects; 460,800 images",
    sizes: [4, 4, 2, 3, 3, 40, 40],
    published: Published {
        names: &["real3d_complicated_shapes_ordered.npz", "mpi3d_complex.npz"],
        place: PLACE,
        size: "5.7 GB unpacked",
        md5: None,
    },
    build: |table| build(&VARIANT, table),
};

/// The row in the list of datasets.
pub const ENTRY: Entry = entry(&VARIANT);
