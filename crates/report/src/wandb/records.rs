//! The records of a run: which fields W&B's `wandb_internal.proto` numbers how.

use serde_json::{Map, Value};

use crate::protobuf::Message;

/// What is told of a run before its first row.
#[derive(Debug)]
pub(super) struct RunStart {
    /// What it is known by within its project.
    pub id: String,
    /// The project.
    pub project: String,
    /// The name that is shown.
    pub name: String,
    /// The machine.
    pub host: Option<String>,
    /// Seconds since 1970.
    pub started_secs: u64,
    /// The config.
    pub config: Map<String, Value>,
}

/// The first record, which names the program that wrote the file.
pub(super) fn header() -> Vec<u8> {
    let version = Message::new().bytes(1, concat!("unbraid-", env!("CARGO_PKG_VERSION")));
    Message::new().message(21, &Message::new().message(1, &version)).into_bytes()
}

/// The record that makes the run.
pub(super) fn run(start: &RunStart) -> Vec<u8> {
    let config = Message::new().messages(1, &items(&start.config));
    let run = Message::new().bytes(1, &start.id).bytes(3, &start.project).message(4, &config).bytes(8, &start.name);
    let run = start.host.iter().fold(run, |run, host| run.bytes(13, host));
    let run = run.message(17, &Message::new().number(1, start.started_secs));
    Message::new().message(17, &run).into_bytes()
}

/// The values of one step.
pub(super) fn history(step: u64, values: &Map<String, Value>) -> Vec<u8> {
    let row = Message::new().messages(1, &items(values)).message(1, &item("_step", &step.into()));
    Message::new().message(2, &row.message(2, &Message::new().number(1, step))).into_bytes()
}

/// The values that stand for the whole run.
pub(super) fn summary(values: &Map<String, Value>) -> Vec<u8> {
    Message::new().message(3, &Message::new().messages(1, &items(values))).into_bytes()
}

/// The last record; 0 where all went well.
pub(super) fn exit(code: u64) -> Vec<u8> {
    Message::new().message(18, &Message::new().number(1, code)).into_bytes()
}

fn items(values: &Map<String, Value>) -> Vec<Message> {
    values.iter().map(|(key, value)| item(key, value)).collect()
}

/// A key and its value as JSON, which are the same fields in a config, a row and a summary.
fn item(key: &str, value: &Value) -> Message {
    Message::new().bytes(1, key).bytes(16, value.to_string())
}
