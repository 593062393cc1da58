//! A ray caster for one solid in a lit room: which part of each colour reaches each pixel.

mod ray;
mod scene;
mod solid;

#[cfg(test)]
pub(crate) use scene::{CAMERA_DISTANCE, CAMERA_HEIGHT, FOCAL_LENGTH};
pub(crate) use scene::{SIZE, SKY, UNIT, Weights, weights};
pub(crate) use solid::Solid;
