//! What metrics fit to codes to predict factors, each exact to the procedure that published scores rest on.
//!
//! Every predictor is deterministic: the same table (and the same random stream, where it draws) gives the same bits on
//! any number of threads.

pub mod lasso;
pub mod lbfgs;
mod line_search;
pub mod linear_svm;
pub mod logistic_regression;
mod softmax_blocks;
