//! `unbraid data check`: what a file or folder is, whether it is whole, and what reads it.

use std::path::Path;

use serde_json::json;
use unbraid_data::Result;
use unbraid_data::files::recognise::{Recognised, recognise};
use unbraid_data::words::on_one_line;

use crate::Outcome;
use crate::output::print;

/// Prints what the file or folder at `path` is, in the form of [`as_text`] or [`as_json`].
pub(super) fn check(path: &Path, form: fn(&Path, &Recognised) -> String) -> Result<Outcome> {
    let recognised = recognise(path)?;
    print(form(path, &recognised))?;
    Ok(if recognised.is_whole.is_ok() { Outcome::Done } else { Outcome::NotWhole })
}

/// Lines for whoever reads them.
pub(super) fn as_text(path: &Path, recognised: &Recognised) -> String {
    let mut lines = vec![format!("{}: {}", on_one_line(&path.display().to_string()), recognised.what)];
    lines.extend(recognised.details.iter().map(|detail| format!("  {}", on_one_line(detail))));
    match &recognised.is_whole {
        Ok(()) => lines.push("whole: yes".to_string()),
        Err(error) => lines.push(format!("not whole: {error}")),
    }
    match recognised.reads_it.is_empty() {
        true => lines.push("read by: nothing".to_string()),
        false => lines.push("read by:".to_string()),
    }
    // A line between two, so that each can be copied on its own.
    let ways = recognised.reads_it.iter().map(|way| way.lines().map(|line| format!("  {line}\n")).collect::<String>());
    lines.push(ways.collect::<Vec<_>>().join("\n"));
    lines.join("\n").trim_end().to_string()
}

/// The same for programs.
pub(super) fn as_json(path: &Path, recognised: &Recognised) -> String {
    let value = json!({
        "path": path.display().to_string(),
        "what": recognised.what,
        "details": recognised.details,
        "whole": recognised.is_whole.is_ok(),
        "reason": recognised.is_whole.as_ref().err().map(ToString::to_string),
        "read_by": recognised.reads_it,
    });
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use unbraid_data::Error;

    use super::*;

    #[test]
    fn text_and_json_tell_the_same() {
        let broken = Error::new("a.npz: is cut short").help("copy it again");
        let recognised = Recognised {
            what: "an archive".to_string(),
            details: vec!["images: uint8 [2, 3]".to_string()],
            is_whole: Err(broken),
            reads_it: vec!["[dataset]\nname = \"npz\"".to_string(), "unbraid evaluate a.npz".to_string()],
        };
        let text = "a.npz: an archive\n  images: uint8 [2, 3]\nnot whole: a.npz: is cut short\n       copy it again\nread by:\n  \
                    [dataset]\n  name = \"npz\"\n\n  unbraid evaluate a.npz";
        assert_eq!(as_text(Path::new("a.npz"), &recognised), text);
        let json = |recognised: &Recognised| -> Value {
            serde_json::from_str(&as_json(Path::new("a.npz"), recognised)).unwrap()
        };
        let of_broken = json(&recognised);
        assert_eq!((&of_broken["whole"], &of_broken["details"][0]), (&json!(false), &json!("images: uint8 [2, 3]")));
        assert_eq!(of_broken["reason"], json!("a.npz: is cut short\n       copy it again"));
        let whole = Recognised { is_whole: Ok(()), reads_it: Vec::new(), ..recognised };
        assert!(as_text(Path::new("a.npz"), &whole).ends_with("\nwhole: yes\nread by: nothing"));
        assert_eq!(json(&whole)["reason"], Value::Null);
    }
}
