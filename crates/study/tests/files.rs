//! The table as CSV and Parquet is what it was when it is read back: by the libraries themselves, by our own readers, and by pandas where Python
//! has it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::fs::File;
use std::path::Path;
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use tempfile::TempDir;
use unbraid_formats::MemoryLimit;
use unbraid_formats::columns::Roles;
use unbraid_metrics::Scores;
use unbraid_study::table_files::{csv_text, write_csv, write_parquet};
use unbraid_study::{Run, StudyTable};

fn run(name: &str, config: &str, scores: Scores) -> Run {
    Run { name: name.to_string(), config: config.parse().unwrap(), scores }
}

/// Every kind of setting, names that need quotes, and scores that are undefined.
fn table() -> StudyTable {
    let first = "seed = 1\ndataset.name = 'a, \"b\"'\nframework = { name = 'beta_vae', beta = 0.1 }\nmodel = { latents = 10, tied = true }\n\
                 kl = 'a setting that is called like a score'";
    let second = "seed = 2\ndataset.name = 'a, \"b\"'\nframework = { name = 'beta_vae', beta = { from = 0.0, to = 4.0 } }\n\
                  model = { latents = 5, tied = false }\ntraining.learning_rate = 1e-300";
    StudyTable::new(&[
        run("runs/α", first, Scores::new().with("mig", 1.0 / 3.0).without("kl", "it, \"never\" was")),
        run("runs/b", second, Scores::new().with("mig", -2.5e-17).with("kl", 12.0)),
    ])
    .unwrap()
}

const COLUMNS: [&str; 13] = [
    "run",
    "dataset.name",
    "framework.beta",
    "framework.beta.from",
    "framework.beta.to",
    "framework.name",
    "config.kl",
    "model.latents",
    "model.tied",
    "seed",
    "training.learning_rate",
    "mig",
    "kl",
];

#[test]
fn csv_holds_every_digit_and_empty_cells() {
    let text = csv_text(&table()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    assert_eq!(header[..13], COLUMNS);
    assert_eq!(header[13], "why_undefined");
    let rows: Vec<Vec<String>> = reader.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect();
    assert_eq!(rows[0][..6], ["runs/α", "a, \"b\"", "0.1", "", "", "beta_vae"]);
    assert_eq!(rows[1][2..5], ["", "0.0", "4.0"]);
    assert_eq!(rows[0][7..11], ["10", "true", "1", ""]);
    assert_eq!(rows[0][11].parse::<f64>().unwrap().to_bits(), (1.0_f64 / 3.0).to_bits());
    assert_eq!(rows[1][11].parse::<f64>().unwrap().to_bits(), (-2.5e-17_f64).to_bits());
    assert_eq!(rows[1][10].parse::<f64>().unwrap(), 1e-300);
    assert_eq!((rows[0][12].as_str(), rows[1][12].as_str()), ("", "12.0"));
    assert_eq!(rows[0][13], r#"{"kl":"it, \"never\" was"}"#);
    assert_eq!(rows[1][13], "{}");
}

#[test]
fn parquet_holds_kinds_and_missing_values() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("study.parquet");
    write_parquet(&table(), &path).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let rows: Vec<Vec<(String, Field)>> =
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns().into_iter().collect()).collect();
    let names: Vec<&str> = rows[0].iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..13], COLUMNS);
    let field = |row: usize, column: usize| &rows[row][column].1;
    assert_eq!(*field(0, 0), Field::Str("runs/α".to_string()));
    assert_eq!([field(0, 7), field(1, 7)], [&Field::Long(10), &Field::Long(5)]);
    assert_eq!(*field(1, 8), Field::Bool(false));
    assert_eq!([field(0, 10), field(1, 10)], [&Field::Null, &Field::Double(1e-300)]);
    assert_eq!([field(0, 11), field(0, 12)], [&Field::Double(1.0 / 3.0), &Field::Null]);
}

#[test]
fn our_own_readers_take_both() {
    let config = |seed: i64| format!("seed = {seed}\ndataset.name = 'a'\nframework.name = 'vae'");
    let runs: Vec<Run> = (1..=4)
        .map(|seed| {
            let scores = Scores::new().with("mig", 1.0 / seed as f64).with("dci", seed as f64 / 7.0);
            run(&format!("runs/{seed}"), &config(seed), scores)
        })
        .collect();
    let table = StudyTable::new(&runs).unwrap();
    let folder = TempDir::new().unwrap();
    let [csv, parquet] = ["study.csv", "study.parquet"].map(|name| folder.path().join(name));
    write_csv(&table, &csv).unwrap();
    write_parquet(&table, &parquet).unwrap();
    let factors = ["run", "dataset.name", "framework.name", "seed", "why_undefined"].map(String::from).to_vec();
    let roles = Roles { factors: Some(factors), ..Roles::default() };
    let limit = MemoryLimit::default();
    for found in [
        unbraid_formats::csv::read_labelled_codes(&csv, &roles, limit).unwrap(),
        unbraid_formats::parquet::read_labelled_codes(&parquet, &roles, limit).unwrap(),
    ] {
        assert_eq!(found.latents, ["dci", "mig"]);
        assert_eq!(found.data.codes().column(1).to_vec(), [1.0, 0.5, 1.0 / 3.0, 0.25]);
    }
}

#[test]
fn pandas_reads_both_alike() {
    let has_pandas = Command::new("python3").args(["-c", "import pandas, pyarrow"]).output();
    if !has_pandas.is_ok_and(|output| output.status.success()) {
        println!("skipped: python3 has no pandas and pyarrow");
        return;
    }
    let folder = TempDir::new().unwrap();
    write_csv(&table(), &folder.path().join("study.csv")).unwrap();
    write_parquet(&table(), &folder.path().join("study.parquet")).unwrap();
    let program = "import json, sys, pandas\n\
                   a = pandas.read_csv(sys.argv[1] + '/study.csv', float_precision='round_trip')\n\
                   b = pandas.read_parquet(sys.argv[1] + '/study.parquet')\n\
                   assert list(a.columns) == list(b.columns), (a.columns, b.columns)\n\
                   assert b['mig'].tolist() == a['mig'].tolist() == [1 / 3, -2.5e-17]\n\
                   assert b['kl'].isna().tolist() == a['kl'].isna().tolist() == [True, False]\n\
                   assert str(b['model.latents'].dtype) == str(a['model.latents'].dtype) == 'int64'\n\
                   assert json.loads(b['why_undefined'][0]) == json.loads(a['why_undefined'][0])\n\
                   assert b['run'].tolist() == a['run'].tolist()\n";
    let output = Command::new("python3").args(["-c", program]).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_file_that_cannot_be_written_is_one_error() {
    let error = write_csv(&table(), Path::new("/nowhere/at/all/study.csv")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all/study.csv"), "{error}");
    assert!(write_parquet(&table(), Path::new("/nowhere/at/all/study.parquet")).is_err());
}
