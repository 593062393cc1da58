//! Files that datasets are read from: where they are looked for, how they are decoded, and where they are unpacked. What a file
//! announces takes no memory until its bytes arrive.

mod announced;
#[cfg(test)]
mod damaged;
pub mod data_root;
pub mod dsprites;
pub mod factor_table;
pub mod grid_file;
pub mod gzip;
pub mod hdf5;
pub mod hdf5_images;
pub mod idx;
pub mod image_array;
mod inflated;
pub mod labels;
pub mod mat;
pub mod mnist;
pub mod mpi3d;
pub mod npz;
pub mod numbered;
pub mod picture;
mod picture_end;
pub mod picture_folder;
pub mod pictures;
pub mod recognise;
pub mod resize;
pub mod small_norb;
pub mod store;
pub mod stored;
pub mod watched_file;
