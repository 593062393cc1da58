//! `falcor3d`: a rendered living room under seven factors of light and camera, read from a folder of numbered pictures.
//!
//! Nie et al. 2020, "Semi-supervised StyleGAN for disentanglement learning".

use super::Entry;
use crate::files::data_root::Published;
use crate::files::numbered::{Folder, PLACE, build, entry};

static FOLDER: Folder = Folder {
    name: "falcor3d",
    about: "A living room under seven factors of light and camera; 233,280 pictures",
    factors: &["lighting_intensity", "lighting_x", "lighting_y", "lighting_z", "camera_x", "camera_y", "camera_z"],
    sizes: &[5, 6, 6, 6, 6, 6, 6],
    unordered: &[],
    published: Published {
        names: &["Falcor3D_down128", "Falcor3D", "falcor3d"],
        place: PLACE,
        size: "233,280 pictures; 4 GB at 128 x 128, 98 GB at 1024 x 1024",
        md5: None,
    },
    example: "path = '../../reference/datasets/falcor3d'\nfactor_sizes = [2, 2, 2, 1, 1, 2, 1]",
    build: |table| build(&FOLDER, table),
};

/// The row in the list of datasets.
pub const ENTRY: Entry = entry(&FOLDER);
