//! Distances between images as a reconstruction loss sees them, and whether they follow the factors.
//!
//! Michlo 2022 (T1) calls them perceived distances: a VAE learns the distances that its reconstruction loss sees, so whether a dataset can
//! be disentangled is decided before training.

pub mod estimate;
pub mod examine;
pub mod groups;
pub mod isotonic;
pub mod losses;
pub mod pair_squares;
pub mod pool;
pub mod rank_correlation;
pub mod soft_ranks;
pub mod verdict;
pub mod views;

pub use unbraid_data::kernel_file::{self, Kernel, read_kernel};
