//! Fast CPU kernels on plain slices.
