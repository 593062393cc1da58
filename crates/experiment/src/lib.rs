//! A config in, the stages in order, a record out.

pub mod config;
pub mod config_settings;
pub mod dataset_record;
pub mod demo;
pub mod evaluation;
pub mod jacobians;
pub mod measure;
pub mod new_images;
pub mod origin;
pub mod page;
pub mod pictures;
pub mod prepare;
pub mod run;
pub mod selection;
pub mod status;
pub mod train;
pub mod trained_run;
pub mod watch;

pub use config::{Config, Named};
pub use train::Ending;
pub use trained_run::TrainedRun;
pub use watch::Watch;
