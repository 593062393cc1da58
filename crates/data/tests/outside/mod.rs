//! Folders of data that the repository does not hold. Tests that need one are skipped where it is not named, and fail
//! instead where `UNBRAID_REQUIRED` is set: `.ci/run` sets it and runs every test file that has this module.

use std::path::PathBuf;

/// The folder that an environment variable names.
pub fn folder(variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    if named.is_none() {
        skip(&format!("{variable} names no folder"));
    }
    named
}

/// Says that something is skipped, and why; fails where nothing may be.
pub fn skip(reason: &str) {
    assert!(std::env::var_os("UNBRAID_REQUIRED").is_none(), "nothing may be skipped, but {reason}");
    println!("{reason}: what needs it is skipped");
}
