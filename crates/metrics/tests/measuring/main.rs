//! What every metric must keep to, and values from elsewhere. One program, which is compiled once: to run one file,
//! `cargo test --release --workspace --test measuring known_codes`. Values that lie outside of the repository have `reference.rs` beside this folder.

mod extreme_codes;
mod grids;
mod impossibility;
mod invariances;
mod known_codes;
mod pairs_of_rows;
mod published_code;
mod random_codes;
mod tables;
