//! Plain statistics that several metrics share: columns in, numbers out.

pub mod classes;
pub mod deviations;
pub mod entropy;
pub mod gap;
pub mod geometric_mean;
pub mod largest_eigenvalue;
pub mod mutual_information;
pub mod pearson;
