//! What `unbraid evaluate` hands out: the scores of one input or of several as JSON, and all of it as a folder of files.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_data::{Error, Result};
use unbraid_metrics::{Matrix, Scores};

use crate::figures::heatmap;
use crate::scores_file::{matrices_json, scores_csv, scores_json};

/// Each input's name and scores.
pub type Evaluated<'a> = [(&'a str, &'a Scores)];

/// What JSON tells of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Scores, and the reasons why others are undefined.
    Scores,
    /// The matrices behind them.
    Matrices,
    /// Both.
    Everything,
}

/// One input's content as it is; that of several as `{"inputs": {name: content}}`.
pub fn evaluation_json(inputs: &Evaluated, content: Content) -> Value {
    let of_input = |scores: &Scores| match content {
        Content::Scores => scores_json(scores),
        Content::Matrices => matrices_json(&scores.matrices),
        Content::Everything => {
            let mut value = scores_json(scores);
            value["matrices"] = matrices_json(&scores.matrices);
            value
        }
    };
    match inputs {
        [(_, scores)] => of_input(scores),
        several => {
            let named: Map<String, Value> =
                several.iter().map(|(name, scores)| (name.to_string(), of_input(scores))).collect();
            json!({ "inputs": named })
        }
    }
}

/// Writes `scores.json`, `scores.csv`, `matrices.json`, and a PNG for each matrix into `heatmaps/`, there into a folder for
/// each input where there are several. Gives the paths of the PNGs. A folder that holds a run is refused.
pub fn write_evaluation(folder: &Path, inputs: &Evaluated) -> Result<Vec<PathBuf>> {
    if folder.join("config.toml").exists() {
        return Err(Error::new(format!("{} holds a run, whose scores would be lost", folder.display()))
            .help("choose another folder with `--out`"));
    }
    create_folder(folder)?;
    let write = |name: &str, text: String| write_whole(&folder.join(name), text.as_bytes());
    write("scores.json", format!("{:#}\n", evaluation_json(inputs, Content::Scores)))?;
    write("scores.csv", scores_csv(inputs))?;
    write("matrices.json", format!("{}\n", evaluation_json(inputs, Content::Matrices)))?;
    let heatmaps = folder.join("heatmaps");
    if let [(_, scores)] = inputs {
        return draw_matrices(&heatmaps, &scores.matrices, |matrix| matrix.to_string());
    }
    let names = short_names(&inputs.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let mut paths = Vec::new();
    for (((_, scores), name), folder) in inputs.iter().zip(&names).zip(file_names(names.iter().copied())) {
        let title = |matrix: &str| format!("{matrix}, {name}");
        paths.extend(draw_matrices(&heatmaps.join(folder), &scores.matrices, title)?);
    }
    Ok(paths)
}

/// Paths without the folders that all of them begin with, for headings.
pub fn short_names<'a>(paths: &[&'a str]) -> Vec<&'a str> {
    let folder = |path: &'a str| path.rfind('/').map_or("", |end| &path[..=end]);
    let Some(first) = paths.first() else { return Vec::new() };
    let ends = folder(first).match_indices('/').map(|(end, _)| end + 1);
    let is_shared = |end: &usize| paths.iter().all(|path| folder(path).starts_with(&first[..*end]));
    let n_shared = ends.take_while(is_shared).last().unwrap_or(0);
    paths.iter().map(|path| &path[n_shared..]).collect()
}

fn draw_matrices(folder: &Path, matrices: &[Matrix], title: impl Fn(&str) -> String) -> Result<Vec<PathBuf>> {
    if matrices.is_empty() {
        return Ok(Vec::new());
    }
    create_folder(folder)?;
    let names = file_names(matrices.iter().map(|matrix| matrix.name.as_str()));
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(format!("{name}.png"))).collect();
    for (path, matrix) in paths.iter().zip(matrices) {
        heatmap(&title(&matrix.name), matrix).save(path)?;
    }
    Ok(paths)
}

/// A file name for each of some names: letters, digits, points, `-` and `_`, and no name twice.
fn file_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let plain = |letter: char| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
        let letters: String = name.trim_start_matches(['.', '/']).chars().map(plain).take(100).collect();
        let letters = if letters.is_empty() { "unnamed".to_string() } else { letters };
        let numbered = (2..).map(|number| format!("{letters}-{number}"));
        // Some file systems hold `A` and `a` for the same.
        let is_free = |name: &String| !taken.iter().any(|other| other.to_lowercase() == name.to_lowercase());
        taken.push(std::iter::once(letters.clone()).chain(numbered).find(is_free).expect("numbers do not end"));
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ndarray::array;

    use super::*;

    fn example(value: f64) -> Scores {
        let matrix = Matrix {
            name: "cbd.correlation".to_string(),
            rows: vec!["z0".to_string()],
            columns: vec!["shape".to_string()],
            values: array![[value]],
        };
        Scores::new().with("cbd", value).without("kl", "no").with_matrix(matrix)
    }

    #[test]
    fn one_input_is_told_as_it_is_and_several_by_name() {
        let (first, second) = (example(0.5), example(0.25));
        let one = evaluation_json(&[("a", &first)], Content::Everything);
        assert_eq!(
            (&one["scores"]["cbd"], &one["matrices"]["cbd.correlation"]["values"][0][0]),
            (&json!(0.5), &json!(0.5))
        );
        let two = evaluation_json(&[("a", &first), ("b", &second)], Content::Scores);
        let expected = json!({ "scores": { "cbd": 0.25 }, "undefined": { "kl": "no" }, "notes": [] });
        assert_eq!(two["inputs"]["b"], expected);
    }

    #[test]
    fn a_folder_takes_all_files() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new/one");
        let (first, second) = (example(0.5), example(0.25));
        let paths = write_evaluation(&folder, &[("a.npz", &first)]).unwrap();
        assert_eq!(paths, [folder.join("heatmaps/cbd.correlation.png")]);
        for name in ["scores.json", "scores.csv", "matrices.json", "heatmaps/cbd.correlation.png"] {
            assert!(fs::metadata(folder.join(name)).unwrap().len() > 0, "{name}");
        }
        let paths = write_evaluation(&folder, &[("../a/b.npz", &first), ("a b.npz", &second)]).unwrap();
        assert_eq!(paths[0], folder.join("heatmaps/a_b.npz/cbd.correlation.png"));
        assert_eq!(paths[1], folder.join("heatmaps/a_b.npz-2/cbd.correlation.png"));
    }

    #[test]
    fn shared_folders_are_left_out_of_headings() {
        assert_eq!(short_names(&["runs/a/x.npz", "runs/a/y.npz", "runs/b"]), ["a/x.npz", "a/y.npz", "b"]);
        assert_eq!(short_names(&["/data/a.npz", "/data/ab.npz"]), ["a.npz", "ab.npz"]);
        assert_eq!(short_names(&["runs/a", "runs/a/b", "runs/abc"]), ["a", "a/b", "abc"]);
        assert_eq!(short_names(&["a.npz", "x/a.npz"]), ["a.npz", "x/a.npz"]);
    }

    #[test]
    fn the_scores_of_a_run_are_not_replaced() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("config.toml"), "").unwrap();
        let message = write_evaluation(parent.path(), &[("a", &example(0.5))]).unwrap_err().to_string();
        assert!(message.contains("holds a run, whose scores would be lost"), "{message}");
    }
}
