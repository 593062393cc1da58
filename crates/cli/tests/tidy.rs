//! The repository keeps its own rules: every file says what it is, every file of a list has its row, names agree, and
//! the README's tables are current.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::Place;

/// Folders whose every file is a row of the list of that kind.
const LIST_FOLDERS: &[(&str, &str, &[&str])] = &[
    ("crates/data/src/datasets", "datasets", &[]),
    ("crates/data/src/samplers", "samplers", &[]),
    ("crates/learn/src/networks", "models", &["layers"]),
    ("crates/learn/src/posteriors", "posteriors", &["noise"]),
    ("crates/learn/src/frameworks", "frameworks", &[]),
    ("crates/learn/src/reconstruction", "reconstructions", &["blurred", "filtered"]),
    ("crates/learn/src/optimisers", "optimisers", &[]),
    ("crates/metrics/src/metrics", "metrics", &[]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rows(kind: &str) -> Vec<Value> {
    let text = Place::new().output(&["list", kind, "--json"]);
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_opens_with_what_it_is() {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    assert!(files.len() > 50);
    for file in files {
        assert!(fs::read_to_string(&file).unwrap().starts_with("//! "), "{} does not", file.display());
    }
}

#[test]
fn what_may_be_skipped_is_skipped_in_one_way() {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    // Put together here, so that this file does not hold it.
    let reads_a_variable = ["var_os(\"UNBRAID", "var(\"UNBRAID"].map(|start| format!("{start}_"));
    for file in files.iter().filter(|file| !file.ends_with("tests/outside/mod.rs")) {
        let text = fs::read_to_string(file).unwrap();
        let found = reads_a_variable.iter().find(|call| text.contains(*call));
        assert!(found.is_none(), "{} names outside data by itself: call outside::folder", file.display());
    }
}

#[test]
fn every_file_of_a_list_folder_has_its_row_under_its_own_name() {
    for (folder, kind, helpers) in LIST_FOLDERS {
        let mut files = Vec::new();
        rust_files(&root().join(folder), &mut files);
        let mut files: Vec<String> =
            files.iter().map(|file| file.file_stem().unwrap().to_string_lossy().to_string()).collect();
        files.retain(|name| name != "mod" && !helpers.contains(&name.as_str()));
        files.sort();
        let mut names: Vec<String> = rows(kind).iter().map(|row| row["name"].as_str().unwrap().to_string()).collect();
        names.sort();
        assert_eq!(files, names, "{folder}");
    }
}

#[test]
fn names_are_lower_case_words_and_abouts_are_one_line() {
    for (_, kind, _) in LIST_FOLDERS {
        for row in rows(kind) {
            let (name, about) = (row["name"].as_str().unwrap(), row["about"].as_str().unwrap());
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
            assert!(!about.contains('\n') && about.len() < 120, "{name}: {about}");
        }
    }
}

#[test]
fn readme_tables_are_current() {
    let path = root().join("README.md");
    let found = fs::read_to_string(&path).unwrap();
    let mut wanted = found.clone();
    for kind in LIST_FOLDERS.iter().map(|(_, kind, _)| *kind).chain(["reproductions"]) {
        let (start, end) = (format!("<!-- {kind} -->\n"), format!("<!-- end of {kind} -->"));
        wanted = with_part(&wanted, &start, &end, &markdown(&rows(kind)));
    }
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, wanted).unwrap();
    } else {
        assert!(found == wanted, "run UPDATE_README=1 cargo test --release --workspace readme");
    }
}

#[test]
fn every_dataset_is_told_of_and_the_readme_of_files_is_current() {
    let path = root().join("docs/datasets.md");
    let found = fs::read_to_string(&path).unwrap();
    let mut table = "| name | file or folder | size | published at |\n|---|---|---|---|\n".to_string();
    for row in rows("datasets") {
        let name = row["name"].as_str().unwrap();
        let Some(published) = row["published"].as_object() else { continue };
        let [file, size, place] =
            [&published["names"][0], &published["size"], &published["place"]].map(|cell| cell.as_str().unwrap());
        table += &format!("| `{name}` | `{file}` | {size} | {place} |\n");
    }
    let wanted = with_part(&found, "<!-- files -->\n", "<!-- end of files -->", &table);
    for row in rows("datasets") {
        let name = row["name"].as_str().unwrap();
        let is_told = [format!("`{name}`"), format!("name = \"{name}\"")].iter().any(|text| wanted.contains(text));
        assert!(is_told, "docs/datasets.md does not tell of {name}");
    }
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, wanted).unwrap();
    } else {
        assert!(found == wanted, "run UPDATE_README=1 cargo test --release --workspace readme");
    }
}

/// The text between two lines of a document, replaced.
fn with_part(document: &str, start: &str, end: &str, part: &str) -> String {
    let from = document.find(start).unwrap_or_else(|| panic!("there is no {start}")) + start.len();
    let to = from + document[from..].find(end).unwrap_or_else(|| panic!("there is no {end}"));
    format!("{}{part}{}", &document[..from], &document[to..])
}

#[test]
fn every_framework_has_a_section_and_a_config() {
    let docs = fs::read_to_string(root().join("docs/frameworks.md")).unwrap();
    let headings: Vec<&str> = docs.lines().filter(|line| line.starts_with("### ")).collect();
    for row in rows("frameworks") {
        let name = row["name"].as_str().unwrap();
        let is_told = headings.iter().any(|heading| heading.contains(&format!("`{name}`")));
        assert!(is_told, "docs/frameworks.md has no section on {name}");
        assert!(root().join(format!("configs/frameworks/{name}.toml")).exists(), "{name} has no config");
    }
}

#[test]
fn the_readme_of_metrics_has_all_of_them_and_their_current_scores_of_known_codes() {
    let path = root().join("docs/metrics.md");
    let found = fs::read_to_string(&path).unwrap();
    let headings: Vec<&str> = found.lines().filter(|line| line.starts_with("### ")).collect();
    for row in rows("metrics") {
        let name = format!("`{}`", row["name"].as_str().unwrap());
        assert!(headings.iter().any(|heading| heading.contains(&name)), "docs/metrics.md has no section on {name}");
    }
    let (start, end) = ("<!-- known codes: `unbraid known-codes --markdown` -->\n", "<!-- end of known codes -->");
    let table = Place::new().output(&["known-codes", "--markdown"]);
    let wanted = with_part(&found, start, end, &table);
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, wanted).unwrap();
    } else {
        assert!(found == wanted, "run UPDATE_README=1 cargo test --release --workspace readme");
    }
}

fn markdown(rows: &[Value]) -> String {
    let mut table = "| name | what | paper |\n|---|---|---|\n".to_string();
    for row in rows {
        let cell = |key: &str| row[key].as_str().unwrap().replace('|', "\\|");
        table += &format!("| `{}` | {} | {} |\n", cell("name"), cell("about"), cell("paper"));
    }
    table
}
