//! Networks, losses, frameworks and training.
