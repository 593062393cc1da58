//! What many runs tell together: a table with a row for each, statistics over it, figures, a page, and runs side by side.
//!
//! It takes configs and scores, and knows neither models nor folders. A score that is undefined in a run is an empty cell with its
//! reason, and every statistic takes the runs that have what it needs and says how many these were.

pub mod categories;
pub mod chosen_scores;
pub mod columns;
pub mod compare;
pub mod figures;
pub mod page;
mod page_tables;
pub mod statistics;
pub mod table;
pub mod table_files;
pub mod verdict;

pub use categories::Categories;
pub use compare::{Comparison, compare};
pub use page::study_page;
pub use table::{Run, ScoreColumn, StudyTable};
