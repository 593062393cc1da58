//! What reads a file, ready to be pasted: the `[dataset]` of a config, or a command.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Recognised;
use crate::datasets;
use crate::error::Result;

/// The lines of a config for the dataset called `name` at `path`; none where that dataset does not take a path.
pub(super) fn dataset(name: &str, path: &Path) -> Option<String> {
    dataset_with(name, path, &[])
}

/// The same with further settings, as TOML.
pub(super) fn dataset_with(name: &str, path: &Path, others: &[(&str, String)]) -> Option<String> {
    let entry = datasets::find(name).ok()?;
    entry.settings.iter().find(|setting| setting.name == "path")?;
    let mut lines = format!("[dataset]\nname = \"{name}\"\npath = {}", quoted(path));
    for (key, value) in others {
        lines += &format!("\n{key} = {value}");
    }
    Some(lines)
}

/// Opens one's own arrays as the lines of a config say, so that what a dataset would refuse is told; other lines are let be.
pub(super) fn open_own(lines: &str) -> Result<()> {
    let Ok(table) = lines.parse::<Table>() else { return Ok(()) };
    match table.get("dataset").and_then(Value::as_table) {
        Some(dataset) if dataset.get("name").and_then(Value::as_str) == Some("npz") => {
            let mut settings = dataset.clone();
            settings.remove("name");
            datasets::build("npz", &settings).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// A path as TOML writes it.
pub(super) fn quoted(path: &Path) -> String {
    Value::String(path.display().to_string()).to_string()
}

/// A command with a path in the place of each `{}`.
pub(super) fn command(words: &str, path: &Path) -> String {
    words.replace("{}", &for_shell(path))
}

/// The command that scores a file, with what follows it; where the name of the file does not end as the command wants, which goes
/// by endings, that is told instead.
pub(super) fn add_evaluate(recognised: &mut Recognised, path: &Path, endings: &[&str], others: &str) {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if endings.iter().any(|known| ending.eq_ignore_ascii_case(known)) {
        recognised.reads_it.push(command(&format!("unbraid evaluate {{}}{others}"), path));
    } else {
        recognised.detail(format!("`unbraid evaluate` reads it where its name ends in .{}", endings[0]));
    }
}

/// A path as a shell takes it for one word, and a command for no option.
fn for_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+=:@,%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The folder that a file lies in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_they_have_to_be() {
        let evaluate = |path: &str| command("unbraid evaluate {}", Path::new(path));
        assert_eq!(evaluate("a/b.npz"), "unbraid evaluate a/b.npz");
        assert_eq!(evaluate("my own.npz"), "unbraid evaluate 'my own.npz'");
        assert_eq!(evaluate("it's.npz"), r"unbraid evaluate 'it'\''s.npz'");
        assert_eq!(evaluate("-x.npz"), "unbraid evaluate ./-x.npz");
        for path in ["mine.npz", "a \"b\".npz", r"c:\it's.npz", "x\n.npz"] {
            let table: Table = dataset("npz", Path::new(path)).unwrap().parse().unwrap();
            assert_eq!(table["dataset"]["path"].as_str().unwrap(), path);
        }
    }

    #[test]
    fn a_dataset_that_takes_no_path_reads_nothing() {
        assert_eq!(dataset("xy_squares", Path::new("a")), None);
        assert_eq!(dataset("no_such_dataset", Path::new("a")), None);
    }
}
