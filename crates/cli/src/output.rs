//! What the command prints: a reader that has gone away ends it quietly, and a full disk is an error like any other.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};

use unbraid_data::words::on_several_lines;
use unbraid_data::{Error, Result};

/// Prints a line, or several. Control characters, which names from files may hold, are shown as JSON writes them.
pub fn print(text: impl Display) -> Result<()> {
    let mut out = stdout().lock();
    match writeln!(out, "{}", on_several_lines(&text.to_string())).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        // As in `unbraid list | head`: there is nobody left to tell.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Error::failure(format!("the output cannot be written: {error}"))),
    }
}

/// Prints a line about how it goes on; where it cannot be printed, the work is worth more than the line.
pub fn tell(text: impl Display) {
    let _ = writeln!(stderr(), "{}", on_several_lines(&text.to_string()));
}
