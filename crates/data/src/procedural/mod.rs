//! Pictures that are made rather than read, where no file is given: a painting and a set of textures.
//!
//! They are made of sums, products, quotients, square roots and roundings alone, which give the same bits on every
//! machine, as sines and powers would not.

mod noise;
pub mod painting;
mod palette;
mod shapes;
mod surfaces;
pub mod textures;
