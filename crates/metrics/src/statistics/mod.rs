//! Plain statistics that several metrics share: columns in, numbers out.

pub mod classes;
pub mod deviations;
pub mod entropy;
pub mod gap;
pub mod geometric_mean;
pub mod known_values;
pub mod mean;
pub mod mutual_information;
pub mod pearson;
pub mod ranks;
pub mod roc_auc;
pub mod spearman;
pub mod standardise;
