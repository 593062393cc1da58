//! What learns, held against numbers from elsewhere. One program, as each would be compiled with burn's operations anew: to run one file,
//! `cargo test --release --workspace --test learning every_framework`.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod checkpoints;
mod devices;
mod estimators;
mod estimators_of_members;
mod every_framework;
mod every_posterior;
mod every_triplet_loss;
mod features;
mod filtered_losses;
mod linear_vae_is_pca;
mod loss_parts;
mod loss_parts_of_members;
mod objectives;
mod ops;
mod reductions;
mod side_by_side;
mod support;
