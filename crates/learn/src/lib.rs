//! Networks, losses, frameworks and training. The only crate that names the tensor library.

pub mod adaptive;
pub mod adaptive_triplet;
pub mod checkpoint;
pub mod device;
pub mod frameworks;
pub mod frozen_encoder;
mod hausdorff;
mod jacobians;
pub mod learner;
pub mod losses;
pub mod members;
pub mod model;
pub mod networks;
pub mod ops;
pub mod optimisers;
pub mod parameters;
pub mod perturbation;
pub mod posteriors;
pub mod reconstruction;
pub mod schedule;
mod spectral;
pub mod state;
pub mod tensors;
pub mod trained_model;
pub mod triplet;

pub use device::Device;
pub use frameworks::{Batch, Framework, Member};
pub use learner::{Learner, StepLosses};
pub use model::Model;
pub use trained_model::TrainedModel;
