//! Folders of data and programs that the repository does not hold. Tests that need one are skipped where it is not named, and fail
//! instead where `UNBRAID_REQUIRED` is set: `.ci/run` sets it and runs every test file that has this module.

#![allow(dead_code, reason = "not every test file asks for all of it")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The folder that an environment variable names.
pub fn folder(variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    if named.is_none() {
        skip(&format!("{variable} names no folder"));
    }
    named
}

/// A Python that has a package: the one that `UNBRAID_PYTHON` names, or else `python3`.
pub fn python_with(package: &str) -> Option<OsString> {
    let python = std::env::var_os("UNBRAID_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", &format!("import {package}")]).output();
    let has_package = found.is_ok_and(|run| run.status.success());
    if !has_package {
        skip(&format!("{} has no package \"{package}\"", python.display()));
    }
    has_package.then_some(python)
}

/// Says that something is skipped, and why; fails where nothing may be.
pub fn skip(reason: &str) {
    assert!(std::env::var_os("UNBRAID_REQUIRED").is_none(), "nothing may be skipped, but {reason}");
    println!("{reason}: what needs it is skipped");
}
