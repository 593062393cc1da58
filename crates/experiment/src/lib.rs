//! A config in, the stages in order, a record out.

mod begun_folder;
pub mod beta_search;
pub mod config;
pub mod config_settings;
pub mod dataset_pictures;
pub mod dataset_record;
pub mod demo;
pub mod doctor;
pub mod evaluation;
pub mod inspect;
pub mod jacobians;
pub mod kernel_learning;
pub mod log;
pub mod measure;
pub mod new_images;
pub mod origin;
pub mod page;
pub mod pca;
pub mod perturb;
pub mod pictures;
mod posterior_watch;
pub mod prepare;
pub mod reproductions;
pub mod run;
pub mod run_distances;
pub mod run_once;
pub mod selection;
pub mod status;
pub mod step_time;
pub mod train;
pub mod trained_run;
pub mod watch;

pub use config::{Config, Named};
pub use train::Ending;
pub use trained_run::TrainedRun;
pub use watch::Watch;
