//! What a run leaves on disk, and every view of it: plain files, terminal tables, figures and a page.
//!
//! Everything here takes plain values: scores, arrays, pictures and names. It knows neither models nor training.

pub mod animation;
pub mod canvas;
pub mod colour;
pub mod evaluation;
pub mod figures;
pub mod headlines;
pub mod key_scores;
pub mod loss_log;
pub mod page;
pub mod picture;
pub mod posterior_log;
mod protobuf;
mod reasons;
pub mod run_folder;
pub mod scores_file;
pub mod selection_log;
pub mod status;
mod stroke;
pub mod tables;
pub mod tensorboard;
pub mod text;
pub mod wandb;

pub use canvas::Canvas;
pub use loss_log::{LossLog, LossTable, read_losses};
pub use picture::Picture;
pub use posterior_log::PosteriorRow;
pub use run_folder::RunFolder;
pub use scores_file::scores_json;
pub use selection_log::SelectionRow;
pub use unbraid_data::whole_file::{self, write_whole, write_whole_with};
