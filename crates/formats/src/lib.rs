//! Files of other programs: labelled codes from `.npz`, pairs of `.npy`, CSV and Parquet, and datasets written as `.npz`.
//!
//! It stands above `unbraid_data`, so that a crate which reads no such files does not compile what decodes them. Arrays of numpy
//! themselves are read and written by [`unbraid_data::npy`].

mod archive;
pub mod columns;
pub mod csv;
pub mod export;
pub mod memory_limit;
pub mod npy_pair;
pub mod npz;
pub mod npz_writer;
pub mod parquet;

pub use memory_limit::MemoryLimit;
