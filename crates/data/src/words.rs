//! Numbers and foreign names as messages show them.

use std::borrow::Cow;

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
    fn control_characters_are_shown() {
        assert_eq!(on_one_line("größe\u{1b}[31m\n\u{9b}\u{7f}"), "größe\\u001b[31m\\u000a\\u009b\\u007f");
        assert_eq!(on_several_lines("a\nb\r"), "a\nb\\u000d");
    }
}
