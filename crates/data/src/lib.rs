//! Factor spaces, datasets, samplers and labelled codes. Knows no tensors.
//!
//! Everything that the other crates share also starts here: the error type, named random streams, the way in which
//! settings are read from a table, arrays of numpy, and files that appear whole.

pub mod datasets;
pub mod error;
pub mod examples;
pub mod factor_array;
pub mod factor_kinds;
pub mod factor_space;
pub mod file_errors;
pub mod files;
pub mod fingerprint;
pub mod folders;
pub mod kernel_file;
pub mod labelled_codes;
pub mod loader;
pub mod noisy;
pub mod notice;
pub mod npy;
mod procedural;
mod ray_cast;
pub mod resized;
pub mod samplers;
pub mod seed;
pub mod settings;
pub mod shared_settings;
pub mod split;
pub mod standardised;
pub mod stats;
pub mod sub_grid;
pub mod subset;
pub mod told_factors;
pub mod whole_file;
pub mod words;

pub use datasets::{Dataset, ImageShape};
pub use error::{Error, Result};
pub use factor_kinds::FactorKinds;
pub use factor_space::{Factor, FactorSpace};
pub use fingerprint::DatasetRecord;
pub use labelled_codes::LabelledCodes;
pub use loader::{LoadedBatch, Loader, Loading, Member};
pub use samplers::Sampler;
pub use seed::{Rng, Seed};
pub use split::Split;
