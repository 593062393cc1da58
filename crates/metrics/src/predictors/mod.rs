//! What metrics fit to codes to predict factors, each exact to the procedure that published scores rest on.
//!
//! Every predictor is deterministic: the same table (and the same random stream, where it draws) gives the same bits on
//! any number of threads.

pub mod boosted_trees;
mod decision_tree;
mod gradients;
pub mod kernel_ridge;
pub mod lasso;
pub mod lbfgs;
pub mod least_squares;
mod line_search;
pub mod linear_svm;
pub mod logistic_regression;
pub mod nearest_neighbours;
mod partition;
pub mod random_forest;
pub mod ranked_columns;
mod regression_tree;
mod softmax_blocks;
mod split_search;
