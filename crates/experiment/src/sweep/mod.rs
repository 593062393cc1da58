//! Sweeps: many runs from one file, on one machine or many, each trained once.
//!
//! A sweep file ([`mod@file`]) is a base config and grids; it expands to ordinary configs ([`plan`]). A run's folder is named by what decides it
//! ([`run_name`]), so that several sweeps share the runs that they have in common. Each run is worked on by one process at a time
//! ([`work`]), which holds a claim on it ([`claim`], [`holder`]); on one machine a pool of processes does them all ([`pool`]), elsewhere a
//! scheduler does ([`slurm`]). What a run came to is read off plain files ([`state`]); there is no database.

pub mod check;
pub mod claim;
mod draws;
pub mod estimate;
pub mod file;
pub mod folder;
mod grid;
pub mod holder;
pub mod plan;
pub mod pool;
pub mod run_name;
pub mod slurm;
pub mod state;
pub mod work;
