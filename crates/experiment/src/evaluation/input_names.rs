//! What inputs are called: names that are text, and no name twice.

use std::path::Path;

/// The names, those that another one before has with a number, so that the scores of neither take the other's place.
pub(super) fn distinct_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut candidates = std::iter::once(name.to_string()).chain(numbered);
        taken.push(candidates.find(|name| !taken.contains(name)).expect("numbers do not end"));
    }
    taken
}

/// The path as text: bytes that are no text are shown, `\xff`, since a sign that stands for all of them would make names
/// alike.
pub(super) fn name_of(path: &Path) -> String {
    let chunks = path.as_os_str().as_encoded_bytes().utf8_chunks();
    chunks.fold(String::new(), |name, chunk| {
        let others: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        name + chunk.valid() + &others
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn names_that_would_be_shown_alike_differ() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &[u8]| name_of(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name(b"runs/gr\xc3\xb6\xc3\x9fe.npz"), "runs/größe.npz");
        assert_eq!([name(b"a\xff.npz"), name(b"a\xfe.npz")], ["a\\xff.npz", "a\\xfe.npz"]);
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        assert_eq!(distinct_names(["a", "b", "a", "a (2)", "a"]), ["a", "b", "a (2)", "a (2) (2)", "a (3)"]);
    }
}
