//! Lines for whoever waits: what takes long, and what is done without being asked for.
//!
//! The crates below the command know no terminal; the command says here who hears of it.

use std::sync::OnceLock;

/// Who hears; nobody, unless [`tell_through`] was called.
static TELL: OnceLock<fn(&str)> = OnceLock::new();

/// Has `tell` called with each line. The first call decides.
pub fn tell_through(tell: fn(&str)) {
    // A second call changes nothing.
    let _ = TELL.set(tell);
}

/// Tells a line to whoever hears.
pub fn tell(line: &str) {
    if let Some(tell) = TELL.get() {
        tell(line);
    }
}
