//! Statistics over runs, one in each file: columns in, numbers out, or a sentence that says what is missing.

pub mod agreement;
pub mod correlations;
pub mod paired;
pub mod random_good;
pub mod selection;
pub mod special;
pub mod summary;
pub mod transfer;
pub mod variance_explained;
pub mod wilcoxon;
