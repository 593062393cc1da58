//! Networks, losses, frameworks and training. The only crate that names the tensor library.

pub mod checkpoint;
pub mod encode;
pub mod frameworks;
pub mod learner;
pub mod losses;
pub mod model;
pub mod nets;
pub mod ops;
pub mod optimisers;
pub mod parameters;
pub mod posterior;
pub mod reconstruction;
pub mod schedule;
pub mod tensors;

pub use frameworks::{Batch, Framework};
pub use learner::{Learner, StepLosses};
pub use model::Model;
