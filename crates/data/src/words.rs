//! Numbers and foreign names as messages show them.

use std::borrow::Cow;
use std::path::Path;

/// `1 row`, `2 rows`.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// `a`, `a and b`, `a, b and c`; `nothing` for no name.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_string(),
        [name] => name.to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The path as a shell takes it: in quotes where that needs them.
pub fn quoted(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// The text as one word of a command.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+=:,@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text as the name of a folder: in letters, digits, `-` and `_`.
pub fn as_folder_name(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-');
    words.filter(|word| !word.is_empty()).collect::<Vec<&str>>().join("_")
}

/// The first `most` letters of a text that comes from outside, and `…` where there are more.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The text on one line: control characters, which could move the cursor or colour the terminal, are shown as JSON writes
/// them, `\u001b`.
pub fn on_one_line(text: &str) -> String {
    escaped(text, char::is_control)
}

/// The text with its lines kept, and all other control characters shown as JSON writes them.
pub fn on_several_lines(text: &str) -> String {
    escaped(text, |letter| letter.is_control() && letter != '\n')
}

fn escaped(text: &str, is_shown: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_shown(letter) {
            shown += &format!("\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_thing_is_no_plural() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "value")), ["0 values", "1 value", "2 values"]);
    }

    #[test]
    fn the_last_of_several_names_follows_an_and() {
        assert_eq!([listed(&[]), listed(&["a"]), listed(&["a", "b", "c"])], ["nothing", "a", "a, b and c"]);
    }

    #[test]
    fn names_of_folders_and_paths_for_shells() {
        assert_eq!(as_folder_name("xy_squares: 3, / grey-ish"), "xy_squares_3_grey-ish");
        assert_eq!([quoted(Path::new("a b")), quoted(Path::new("ä/b_1.5"))], ["'a b'", "ä/b_1.5"]);
        assert_eq!([shell_word("a&b"), shell_word("it's"), shell_word("")], ["'a&b'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(on_one_line("größe\u{1b}[31m\n\u{9b}\u{7f}"), "größe\\u001b[31m\\u000a\\u009b\\u007f");
        assert_eq!(on_several_lines("a\nb\r"), "a\nb\\u000d");
    }
}
