//! Scores as JSON and CSV: `scores.json` and `scores.csv` for the numbers, `matrices.json` for the matrices behind them.

use ndarray::Array2;
use serde_json::{Map, Value, json};
use unbraid_data::{Error, Result};
use unbraid_metrics::{Matrix, Score, ScoreOf, Scores, Undefined};

/// `{"scores": {name: number}, "undefined": {name: reason}, "notes": [{"of": metric, "note": sentence}], "of": {name: what}}`,
/// in the order of `scores`. `of` has the scores that are not simply the one of their name of the whole input:
/// `"mig.shape": {"score": "mig", "factor": "shape"}`, `"kl.z0": {"score": "kl", "latent": 0}`; it is left out where none is.
pub fn scores_json(scores: &Scores) -> Value {
    let numbers: Map<String, Value> =
        scores.values.iter().map(|score| (score.name.clone(), json!(score.value))).collect();
    let reasons: Map<String, Value> =
        scores.undefined.iter().map(|score| (score.name.clone(), json!(score.reason))).collect();
    let notes: Vec<Value> = scores.notes.iter().map(|(of, note)| json!({ "of": of, "note": note })).collect();
    let mut object = json!({ "scores": numbers, "undefined": reasons, "notes": notes });
    let defined = scores.values.iter().map(|score| (&score.name, &score.kind, &score.of));
    let undefined = scores.undefined.iter().map(|score| (&score.name, &score.kind, &score.of));
    let of: Map<String, Value> = defined
        .chain(undefined)
        .filter(|(name, kind, of)| name != kind || **of != ScoreOf::Whole)
        .map(|(name, kind, of)| (name.clone(), of_json(kind, of)))
        .collect();
    if !of.is_empty() {
        object["of"] = Value::Object(of);
    }
    object
}

fn of_json(kind: &str, of: &ScoreOf) -> Value {
    match of {
        ScoreOf::Whole => json!({ "score": kind }),
        ScoreOf::Factor(factor) => json!({ "score": kind, "factor": factor }),
        ScoreOf::Latent(latent) => json!({ "score": kind, "latent": latent }),
    }
}

/// `{name: {"rows": [names], "columns": [names], "values": [[numbers]]}}`; a cell that is not finite is `null`.
pub fn matrices_json(matrices: &[Matrix]) -> Value {
    let entries = matrices.iter().map(|matrix| {
        let values: Vec<Vec<f64>> = matrix.values.rows().into_iter().map(|row| row.to_vec()).collect();
        (matrix.name.clone(), json!({ "rows": matrix.rows, "columns": matrix.columns, "values": values }))
    });
    Value::Object(entries.collect())
}

/// The scores of several inputs as CSV, a line for each score: `input,score,value,why_undefined`.
pub fn scores_csv(inputs: &[(&str, &Scores)]) -> String {
    let mut text = "input,score,value,why_undefined\n".to_string();
    for (input, scores) in inputs {
        let input = csv_cell(input);
        for Score { name, value, .. } in &scores.values {
            text += &format!("{input},{},{value},\n", csv_cell(name));
        }
        for Undefined { name, reason, .. } in &scores.undefined {
            text += &format!("{input},{},,{}\n", csv_cell(name), csv_cell(reason));
        }
    }
    text
}

/// The text as a cell: in quotes where it holds what would end one.
pub fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

/// The numbers, reasons and notes that `scores_json` wrote; there are no matrices among them. Earlier versions wrote no notes,
/// and did not say what scores are of: these then count as of the whole.
pub fn parse_scores(value: &Value) -> Result<Scores> {
    let mut scores = Scores::new();
    let table = value.get("of");
    for (name, value) in entries(value, "scores")? {
        let number = value.as_f64().ok_or_else(|| Error::new(format!("score \"{name}\" is {value}, not a number")))?;
        let (kind, of) = parse_of(table, name)?;
        scores.values.push(Score { name: name.clone(), kind, of, value: number });
    }
    for (name, value) in entries(value, "undefined")? {
        let reason = value.as_str().ok_or_else(|| Error::new(format!("the reason of \"{name}\" is not a text")))?;
        let (kind, of) = parse_of(table, name)?;
        scores.undefined.push(Undefined { name: name.clone(), kind, of, reason: reason.to_string() });
    }
    for entry in value.get("notes").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_string);
        let note = text("of").zip(text("note")).ok_or_else(|| Error::new(format!("a note is {entry}")))?;
        scores.notes.push(note);
    }
    Ok(scores)
}

/// The kind of the score called `name`, and what it is of.
fn parse_of(table: Option<&Value>, name: &str) -> Result<(String, ScoreOf)> {
    let Some(entry) = table.and_then(|table| table.get(name)) else {
        return Ok((name.to_string(), ScoreOf::Whole));
    };
    let of = match (entry.get("factor"), entry.get("latent")) {
        (None, None) => Some(ScoreOf::Whole),
        (Some(factor), None) => factor.as_str().map(|factor| ScoreOf::Factor(factor.to_string())),
        (None, Some(latent)) => latent.as_u64().map(|latent| ScoreOf::Latent(latent as usize)),
        (Some(_), Some(_)) => None,
    };
    let kind = entry.get("score").and_then(Value::as_str).map(str::to_string);
    let wanted = "wanted a score, and at most one of factor and latent";
    kind.zip(of).ok_or_else(|| Error::new(format!("score \"{name}\" is said to be of {entry}")).help(wanted))
}

/// The matrices that `matrices_json` wrote; `null` comes back as NaN.
pub fn parse_matrices(value: &Value) -> Result<Vec<Matrix>> {
    let matrices = value.as_object().ok_or_else(|| Error::new("wanted a table of matrices"))?;
    matrices.iter().map(|(name, value)| parse_matrix(name, value)).collect()
}

fn parse_matrix(name: &str, value: &Value) -> Result<Matrix> {
    let malformed = || Error::new(format!("matrix \"{name}\" lacks rows, columns or values that fit them"));
    let names = |key: &str| -> Option<Vec<String>> {
        value.get(key)?.as_array()?.iter().map(|name| name.as_str().map(str::to_string)).collect()
    };
    let rows = names("rows").ok_or_else(malformed)?;
    let columns = names("columns").ok_or_else(malformed)?;
    let lines = value.get("values").and_then(Value::as_array).ok_or_else(malformed)?;
    let cells: Vec<f64> =
        lines.iter().filter_map(Value::as_array).flatten().map(|cell| cell.as_f64().unwrap_or(f64::NAN)).collect();
    let values = Array2::from_shape_vec((rows.len(), columns.len()), cells).map_err(|_| malformed())?;
    Ok(Matrix { name: name.to_string(), rows, columns, values })
}

fn entries<'a>(value: &'a Value, key: &str) -> Result<&'a Map<String, Value>> {
    value.get(key).and_then(Value::as_object).ok_or_else(|| Error::new(format!("there is no table \"{key}\"")))
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn example() -> Scores {
        Scores::new()
            .with("mig", 0.25)
            .with("dci.completeness", 1.0)
            .without("cbd", "needs two latents")
            .with_note("mig", "few rows")
            .with_matrix(Matrix {
                name: "dci.importance".to_string(),
                rows: vec!["z0".to_string()],
                columns: vec!["shape".to_string(), "scale".to_string()],
                values: array![[0.5, 0.125]],
            })
    }

    #[test]
    fn scores_keep_their_order_and_their_reasons() {
        let text = scores_json(&example()).to_string();
        let expected = r#"{"scores":{"mig":0.25,"dci.completeness":1.0},"undefined":{"cbd":"needs two latents"},"notes":[{"of":"mig","note":"few rows"}]}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn a_line_of_csv_has_a_number_or_a_reason() {
        let scores = Scores::new().with("mig.a,b", 0.25).without("cbd", "needs \"two\" latents");
        let expected = "input,score,value,why_undefined\n\
                        x.npz,\"mig.a,b\",0.25,\n\
                        x.npz,cbd,,\"needs \"\"two\"\" latents\"\n";
        assert_eq!(scores_csv(&[("x.npz", &scores)]), expected);
    }

    #[test]
    fn scores_and_matrices_come_back() {
        let scores = example();
        let mut read = parse_scores(&scores_json(&scores)).unwrap();
        read.matrices = parse_matrices(&matrices_json(&scores.matrices)).unwrap();
        assert_eq!(read, scores);
    }

    #[test]
    fn what_a_score_is_of_comes_back_whatever_factors_are_called() {
        let mut scores = Scores::new().with("mig", 0.5).with("mig.shape", 0.25);
        for (number, factor) in ["shape", "z0", "mean", "a.b", "", "mig", "\n\"", "of"].into_iter().enumerate() {
            scores = scores.with_factor("mig", factor, Ok::<f64, String>(number as f64));
            scores = scores.with_factor("ds", factor, Err("none"));
        }
        let scores = scores.with_latent("mig", 0, Ok::<f64, String>(0.75)).with_score(
            "downstream.boosted_trees.100",
            "downstream.boosted_trees",
            ScoreOf::Whole,
            Ok::<f64, String>(0.5),
        );
        let value = scores_json(&scores);
        assert_eq!(value["of"]["mig.shape.2"], json!({ "score": "mig", "factor": "shape" }));
        assert_eq!(value["of"]["mig.z0.2"], json!({ "score": "mig", "latent": 0 }));
        assert_eq!(value["of"]["downstream.boosted_trees.100"], json!({ "score": "downstream.boosted_trees" }));
        assert_eq!(value["of"].get("mig.shape"), None);
        let text = value.to_string();
        assert_eq!(parse_scores(&text.parse().unwrap()).unwrap(), scores);
    }

    #[test]
    fn scores_of_earlier_versions_count_as_of_the_whole() {
        let read = parse_scores(&json!({ "scores": { "mig.shape": 0.5 }, "undefined": { "kl.z0": "none" } })).unwrap();
        assert_eq!(read, Scores::new().with("mig.shape", 0.5).without("kl.z0", "none"));
    }

    #[test]
    fn damaged_files_are_refused() {
        for of in [json!(1), json!({ "factor": "a" }), json!({ "score": "m", "latent": -1 }), json!({ "score": 1 })] {
            let value = json!({ "scores": { "m.a": 1 }, "undefined": {}, "of": { "m.a": of } });
            let message = parse_scores(&value).unwrap_err().to_string();
            assert!(message.starts_with("score \"m.a\" is said to be of "), "{message}");
        }
        assert_eq!(parse_scores(&json!({})).unwrap_err().to_string(), "there is no table \"scores\"");
        let matrix = json!({ "m": { "rows": ["a"], "columns": ["b"], "values": [[1, 2]] } });
        assert!(parse_matrices(&matrix).unwrap_err().to_string().starts_with("matrix \"m\" lacks rows"));
    }
}
