//! The one error type: what was wanted and found, and what to do about it.

use std::fmt;

use crate::words::{on_one_line, on_several_lines, shortened};

/// What a file says of itself is told, and may be of any length: the rest of a longer message would fill the terminal.
const MOST_LETTERS: usize = 4000;

/// A result whose error is ready to be shown to a user.
pub type Result<T> = std::result::Result<T, Error>;

/// A message for the user, with an optional second line that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
    help: Option<String>,
    kind: Kind,
    about_a_name: bool,
    about_a_full_disk: bool,
}

/// Who can mend it; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The user, by changing what was typed or given (exit code 2).
    Input,
    /// Something went wrong on the way, for instance a loss that is no longer finite (exit code 1).
    Failure,
}

impl Error {
    /// An error that the user can mend by changing the input.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, kind: Kind::Input, about_a_name: false, about_a_full_disk: false }
    }

    /// An error that appeared while working on good input.
    pub fn failure(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failure, ..Self::new(message) }
    }

    /// The same error as one that appeared while working on good input.
    pub fn on_the_way(mut self) -> Self {
        self.kind = Kind::Failure;
        self
    }

    /// Adds the line that says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds to the line that says what to do.
    pub fn more_help(mut self, more: impl fmt::Display) -> Self {
        self.help = Some(self.help.map_or_else(|| more.to_string(), |help| format!("{help}; {more}")));
        self
    }

    /// Puts the place (a file, a section of a config) before the message.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Puts what the message goes on from before it, with no colon: `[training]`, `metric "mig"`.
    pub fn of(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place} {}", self.message);
        self
    }

    /// Says that a name is in no list.
    pub fn about_a_name(mut self) -> Self {
        self.about_a_name = true;
        self
    }

    /// Whether it says that a name is in no list, which needs no place before it.
    pub fn is_about_a_name(&self) -> bool {
        self.about_a_name
    }

    /// Says that a disk is full, or as much of it as the user may take.
    pub fn about_a_full_disk(mut self) -> Self {
        self.about_a_full_disk = true;
        self
    }

    /// Whether it says that a disk is full: the same work can be done once there is space.
    pub fn is_about_a_full_disk(&self) -> bool {
        self.about_a_full_disk
    }

    /// Who can mend it.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names in it come from files and command lines, and must not reach a terminal as they are.
        write!(formatter, "{}", on_one_line(&shortened(&self.message, MOST_LETTERS)))?;
        match &self.help {
            // Seven spaces put the help under the message that follows "error: ".
            Some(help) => write!(formatter, "\n       {}", on_several_lines(&shortened(help, MOST_LETTERS))),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// `; did you mean "x"?` where one of `choices` is close to `name`, else nothing.
pub fn did_you_mean<'a>(name: &str, choices: impl IntoIterator<Item = &'a str>) -> String {
    choices
        .into_iter()
        .map(|choice| (strsim::damerau_levenshtein(name, choice), choice))
        .filter(|(distance, choice)| *distance <= 1 + choice.len().max(name.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, choice)| format!("; did you mean \"{choice}\"?"))
        .unwrap_or_default()
}

/// The error for a name that is in no list: `no metric is called "migg"; did you mean "mig"?`.
pub fn unknown_name<'a>(kind: &str, name: &str, choices: impl IntoIterator<Item = &'a str>) -> Error {
    Error::new(format!("no {kind} is called \"{name}\"{}", did_you_mean(name, choices)))
        .about_a_name()
        .help(format!("`unbraid list {kind}s` prints them all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_name_is_offered() {
        let error = unknown_name("metric", "migg", ["cbd", "mig"]);
        let expected =
            "no metric is called \"migg\"; did you mean \"mig\"?\n       `unbraid list metrics` prints them all";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn names_in_a_message_cannot_steer_the_terminal() {
        let error = Error::new("there is no file \u{1b}[2J\nfake.npz").help("the factors are \u{7}, y");
        let shown = "there is no file \\u001b[2J\\u000afake.npz\n       the factors are \\u0007, y";
        assert_eq!(error.to_string(), shown);
    }

    #[test]
    fn a_message_is_no_longer_than_a_page() {
        let shown = Error::new("é".repeat(5000)).help("b".repeat(5000)).to_string();
        assert_eq!(shown, format!("{}…\n       {}…", "é".repeat(4000), "b".repeat(4000)));
    }

    #[test]
    fn nothing_is_offered_for_a_far_name() {
        assert_eq!(did_you_mean("sharpness", ["cbd", "mig"]), "");
    }
}
