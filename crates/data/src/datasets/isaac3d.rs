//! `isaac3d`: a rendered kitchen with a robot arm and an object, read from a folder of numbered pictures.
//!
//! Nie et al. 2020, "Semi-supervised StyleGAN for disentanglement learning". The page of the dataset lists its factors in another order
//! than the numbers of its pictures have; the order here is that of the numbers, as the multipliers on that page (245,760, 30,720,
//! 6,144, 1,536, 384), its program and its pictures of single factors have it.

use super::Entry;
use crate::files::data_root::Published;
use crate::files::numbered::{Folder, PLACE, build, entry};

static FOLDER: Folder = Folder {
    name: "isaac3d",
    about: "A kitchen with a robot arm and an object, nine factors; 737,280 pictures",
    factors: &[
        "object_shape",
        "robot_x",
        "robot_y",
        "camera_height",
        "object_scale",
        "lighting_intensity",
        "lighting_y",
        "object_color",
        "wall_color",
    ],
    sizes: &[3, 8, 5, 4, 4, 4, 6, 4, 4],
    unordered: &[0, 7, 8],
    published: Published {
        names: &["Isaac3D_down128", "Isaac3D", "isaac3d"],
        place: PLACE,
        size: "737,280 pictures; 12 GB at 128 x 128, 190 GB at 512 x 512",
        md5: None,
    },
    example: "path = '../../reference/datasets/isaac3d'\nfactor_sizes = [2, 1, 2, 2, 1, 1, 1, 1, 2]",
    build: |table| build(&FOLDER, table),
};

/// The row in the list of datasets.
pub const ENTRY: Entry = entry(&FOLDER);
