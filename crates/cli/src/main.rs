//! The `unbraid` command.

fn main() {}
