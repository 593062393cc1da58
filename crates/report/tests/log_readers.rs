//! What is written for TensorBoard and for Weights & Biases, read by their own programs.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "../../data/tests/outside/mod.rs"]
mod outside;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::{Value, json};
use unbraid_metrics::Scores;
use unbraid_report::status::{State, Status};
use unbraid_report::tensorboard::{is_shown, write_events};
use unbraid_report::{Canvas, LossLog, RunFolder, SelectionRow, wandb};

const CONFIG: &str = "seed = 7\n\n[framework]\nname = \"beta_vae\"\nbeta = 4.5\n";

/// One of the programs in `tests/readers`, which answers each line with a line of JSON.
struct Reader {
    process: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<std::process::ChildStdout>,
}

impl Reader {
    fn start(python: &OsStr, script: &str, arguments: &[&Path]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers").join(script);
        let mut command = Command::new(python);
        command.arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (questions, answers) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, questions, answers }
    }

    fn ask(&mut self, question: &str) -> Value {
        writeln!(self.questions.as_mut().unwrap(), "{question}").unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect("the reader failed, and said above why")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It ends with its input.
        self.questions = None;
        let _ = self.process.wait();
    }
}

/// Loss and KL of a step, which a few digits tell.
fn losses(step: usize) -> [f64; 2] {
    [step as f64 / 8.0, 100.0 + step as f64]
}

fn log_steps(folder: &RunFolder, from: usize, to: usize) {
    let mut log = LossLog::resume(&folder.losses_path(), &["loss", "kl"], from).unwrap();
    (from + 1..=to).for_each(|step| log.push(step, &losses(step)).unwrap());
    log.flush().unwrap();
    let validation = (100..=to).step_by(100).map(|step| SelectionRow {
        step: step as u64,
        score: "mig".to_string(),
        value: (step != 200).then_some(0.25),
    });
    folder.write_selection(&validation.collect::<Vec<_>>()).unwrap();
}

fn finish(folder: &RunFolder) -> Vec<u8> {
    let scores = Scores::new().with("mig", 0.5).with("kl", 12.5).without("dci", "one factor only");
    folder.write_scores(&scores.with_factor("mig", "shape", Ok::<f64, &str>(0.75))).unwrap();
    let png = Canvas::new(40, 30).to_png().unwrap();
    folder.write_figure("traversals.png", &png).unwrap();
    folder.write_figure("traversals-narrow.png", &png).unwrap();
    png
}

/// What TensorBoard should show of a run of so many steps.
fn points(column: usize, n_steps: usize) -> Vec<Value> {
    let shown = (1..=n_steps).filter(|step| is_shown(*step) || *step == n_steps);
    shown.map(|step| json!([step, losses(step)[column], step as f64])).collect()
}

#[test]
fn the_reader_of_tensorboard_finds_losses_scores_pictures_and_config() {
    let Some(python) = outside::python_with("tensorboard") else { return };
    let parent = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&parent.path().join("run"), CONFIG).unwrap();
    log_steps(&folder, 0, 300);
    write_events(&folder).unwrap();
    let mut reader = Reader::start(&python, "events.py", &[folder.path()]);
    let before = reader.ask("");
    assert_eq!(before["scalars"]["losses/kl"], json!(points(1, 300)));
    assert_eq!(before["scalars"]["validation/mig"], json!([[100, 0.25, 100.0], [300, 0.25, 300.0]]));
    assert_eq!(before["scalars"].as_object().unwrap().len(), 3);
    // The same reader sees what came since, once.
    log_steps(&folder, 300, 3001);
    let png = finish(&folder);
    write_events(&folder).unwrap();
    let after = reader.ask("");
    assert_eq!(after["scalars"]["losses/loss"], json!(points(0, 3001)));
    assert_eq!(after["scalars"]["losses/kl"], json!(points(1, 3001)));
    assert_eq!(after["scalars"]["scores/mig"], json!([[3001, 0.5, 3001.0]]));
    assert_eq!(after["scalars"]["scores/kl"], json!([[3001, 12.5, 3001.0]]));
    assert_eq!(after["scalars"]["scores_of_factors/mig.shape"], json!([[3001, 0.75, 3001.0]]));
    assert_eq!(after["scalars"].as_object().unwrap().len(), 6);
    let hex: String = png.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(after["images"], json!({ "figures/traversals": [[3001, 40, 30, hex]] }));
    let indented: String = CONFIG.lines().map(|line| format!("    {line}\n")).collect();
    assert_eq!(after["texts"], json!({ "config": [[0, indented]] }));
}

#[test]
fn tensorboard_follows_a_run_while_it_trains() {
    let Some(python) = outside::python_with("tensorboard") else { return };
    for fast in ["true", "false"] {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(&parent.path().join("run"), CONFIG).unwrap();
        log_steps(&folder, 0, 10);
        let path = write_events(&folder).unwrap();
        let mut page = Reader::start(&python, "page.py", &[parent.path(), Path::new("run"), Path::new(fast)]);
        let steps = |answer: &Value| answer["points"].as_array().unwrap().len();
        assert_eq!(steps(&page.ask("losses/kl 10")), 10, "fast: {fast}");
        // A kill came in the middle of an event; then the run went on.
        log_steps(&folder, 10, 20);
        let whole = fs::read(write_events(&folder).unwrap()).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(whole.len() as u64 - 30).unwrap();
        assert!(steps(&page.ask("losses/kl 19")) >= 19, "fast: {fast}");
        log_steps(&folder, 20, 30);
        finish(&folder);
        assert_eq!(write_events(&folder).unwrap(), path);
        let answer = page.ask("losses/kl 30");
        let expected: Vec<Value> = (1..=30).map(|step| json!([step, losses(step)[1]])).collect();
        assert_eq!(answer["points"], json!(expected), "fast: {fast}");
        assert_eq!(page.ask("scores/mig 1")["points"], json!([[30, 0.5]]), "fast: {fast}");
        assert_eq!(answer["images"], json!(["figures/traversals"]), "fast: {fast}");
        // As it is written, not as Markdown.
        let text = answer["text"][0][0]["text"].as_str().unwrap();
        assert!(
            text.contains("<pre><code>seed = 7\n\n[framework]\nname = \"beta_vae\"\nbeta = 4.5\n</code></pre>"),
            "{text}"
        );
    }
}

#[test]
fn tensorboard_shows_the_values_of_a_file_that_took_the_place_of_another() {
    let Some(python) = outside::python_with("tensorboard") else { return };
    let parent = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&parent.path().join("run"), CONFIG).unwrap();
    log_steps(&folder, 0, 10);
    finish(&folder);
    write_events(&folder).unwrap();
    let mut page = Reader::start(&python, "page.py", &[parent.path(), Path::new("run"), Path::new("true")]);
    assert_eq!(page.ask("losses/kl 10")["points"].as_array().unwrap().len(), 10);
    folder.write_config(&CONFIG.replace('7', "8")).unwrap();
    folder.remove_results().unwrap();
    log_steps(&folder, 10, 20);
    write_events(&folder).unwrap();
    let answer = page.ask("losses/kl 20");
    let expected: Vec<Value> = (1..=20).map(|step| json!([step, losses(step)[1]])).collect();
    assert_eq!(answer["points"], json!(expected));
    assert!(answer["text"][0][0]["text"].as_str().unwrap().contains("seed = 8"), "{answer}");
}

/// A finished run and what was exported of it.
fn exported(parent: &Path, n_steps: usize) -> std::path::PathBuf {
    let folder = RunFolder::create(&parent.join("run"), CONFIG).unwrap();
    log_steps(&folder, 0, n_steps);
    finish(&folder);
    let status = Status {
        state: State::Finished,
        stage: "drawing".to_string(),
        step: n_steps as u64,
        steps: n_steps as u64,
        host: "machine".to_string(),
        process: 1,
        started_secs: 1_735_689_599,
        updated_secs: 1_735_689_699,
        error: None,
    };
    folder.write_status(&status).unwrap();
    wandb::export(&folder, &parent.join("wandb"), "project").unwrap()
}

/// The row of a step as W&B has it.
fn row(step: usize) -> Value {
    let mut row = json!({ "_step": step, "losses/loss": losses(step)[0], "losses/kl": losses(step)[1] });
    if step.is_multiple_of(100) && step != 200 {
        row["validation/mig"] = json!(0.25);
    }
    row
}

fn summary(n_steps: usize) -> Value {
    let [loss, kl] = losses(n_steps);
    json!({
        "losses/loss": loss, "losses/kl": kl, "_step": n_steps,
        "scores/mig": 0.5, "scores/kl": 12.5, "scores/mig.shape": 0.75,
    })
}

#[test]
fn the_messages_of_wandb_hold_config_rows_and_summary() {
    let Some(python) = outside::python_with("wandb") else { return };
    let parent = tempfile::tempdir().unwrap();
    // More than one block of 32 KiB.
    let place = exported(parent.path(), 1200);
    let id = place.file_name().unwrap().to_str().unwrap().strip_prefix("offline-run-20241231_235959-").unwrap();
    let read = Reader::start(&python, "offline_run.py", &[&place.join(format!("run-{id}.wandb"))]).answer();
    assert_eq!(read["kinds"], json!(["header", "run", "history", "summary", "exit"]));
    assert_eq!(read["run"], json!([id, "project", "run", "machine", 1_735_689_599]));
    assert_eq!(read["config"], json!({ "seed": 7, "framework": { "name": "beta_vae", "beta": 4.5 } }));
    let expected: Vec<Value> = (1..=1200).map(|step| json!([step, row(step)])).collect();
    assert!(read["rows"] == json!(expected), "other rows");
    assert_eq!(read["summary"], summary(1200));
    assert_eq!(read["exit"], 0);
}

#[test]
fn wandb_sync_uploads_config_rows_and_summary() {
    let Some(python) = outside::python_with("wandb") else { return };
    let parent = tempfile::tempdir().unwrap();
    let place = exported(parent.path(), 1200);
    let told = Reader::start(&python, "sync.py", &[&place]).answer();
    let id = place.file_name().unwrap().to_str().unwrap().rsplit_once('-').unwrap().1;
    assert_eq!(told["run"], json!([id, "project", "run"]));
    assert_eq!(told["config"]["framework"]["value"], json!({ "name": "beta_vae", "beta": 4.5 }));
    assert_eq!(told["config"]["seed"]["value"], 7);
    // It writes whole numbers without their point.
    let numbers = |row: &Value| -> Vec<(String, f64)> {
        let mut cells: Vec<_> = row.as_object().unwrap().iter().collect();
        cells.sort_by_key(|(key, _)| *key);
        cells.into_iter().map(|(key, value)| (key.clone(), value.as_f64().unwrap())).collect()
    };
    let rows = told["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1200);
    rows.iter().zip(1..).for_each(|(found, step)| assert_eq!(numbers(found), numbers(&row(step))));
    assert_eq!(numbers(&told["summary"]), numbers(&summary(1200)));
    assert_eq!(told["exit"], 0);
    // Exported once more, it can be uploaded once more.
    let mark = place.join(format!("run-{id}.wandb.synced"));
    assert!(mark.exists());
    wandb::export(&RunFolder::open(&parent.path().join("run")).unwrap(), &parent.path().join("wandb"), "project")
        .unwrap();
    assert!(!mark.exists());
}
