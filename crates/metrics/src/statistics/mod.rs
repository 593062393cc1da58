//! Plain statistics that several metrics share: columns in, numbers out.

pub mod assignment;
pub mod classes;
pub mod covariance;
pub mod deviations;
pub mod entropy;
pub mod few_values;
pub mod first_largest;
pub mod gap;
pub mod geometric_mean;
pub mod information;
pub mod known_values;
pub mod kolmogorov_smirnov;
pub mod largest_eigenvalue;
pub mod mean;
pub mod mutual_information;
pub mod neighbour_information;
pub mod normal;
pub mod pearson;
pub mod quantised_normal;
pub mod r_squared;
pub mod random_rotation;
pub mod ranks;
pub mod roc_auc;
pub mod spearman;
pub mod standardise;
