//! The folder of a run, as `unbraid train` leaves it.

use std::path::Path;

use toml::Table;

use super::Recognised;
use super::array;
use super::reads::command;
use crate::error::{Error, Result};
use crate::whole_file::read_text;

/// Arrays of a run, each of which may be there.
const ARRAYS: [&str; 2] = ["codes.npy", "factors.npy"];

/// A folder that has a config and a status.
pub(super) fn recognise(folder: &Path) -> Option<Recognised> {
    let (config, status) = (folder.join("config.toml"), folder.join("status.json"));
    if !config.is_file() || !status.is_file() {
        return None;
    }
    let mut recognised = Recognised::new("a run of unbraid");
    match read_config(&config) {
        Ok(lines) => recognised.details.extend(lines),
        Err(error) => recognised.broken(error),
    }
    let state = read_state(&status, &mut recognised);
    for name in ARRAYS {
        let path = folder.join(name);
        if path.is_file() {
            let array = array::recognise(&path);
            recognised.detail(format!("{name}: {}", array.details.first().map_or("broken", String::as_str)));
            recognised = recognised.checked(array.is_whole);
        }
    }
    let commands: &[&str] = match state.as_deref() {
        Some("finished") => &["unbraid report {}", "unbraid evaluate {}"],
        _ => &["unbraid resume {}", "unbraid report {}"],
    };
    Some(recognised.read_by(commands.iter().map(|words| command(words, folder))))
}

/// What the config names.
fn read_config(path: &Path) -> Result<Vec<String>> {
    let config: Table = read_text(path)?.parse().map_err(|error: toml::de::Error| {
        Error::new(format!("is not TOML: {}", error.message()))
            .at(path.display())
            .help("the run is damaged: train it again")
    })?;
    let named = |section: &&str| Some(format!("{section} \"{}\"", config.get(*section)?.get("name")?.as_str()?));
    Ok(["dataset", "framework", "model"].iter().filter_map(named).collect())
}

/// Adds how far the run came, and gives its state.
fn read_state(path: &Path, recognised: &mut Recognised) -> Option<String> {
    let read = read_text(path).and_then(|text| {
        serde_json::from_str::<serde_json::Value>(&text).map_err(|error| {
            Error::new(format!("is not JSON: {error}")).at(path.display()).help("`unbraid resume` writes it again")
        })
    });
    let status = match read {
        Ok(status) => status,
        Err(error) => {
            recognised.broken(error);
            return None;
        }
    };
    let state = status.get("state")?.as_str()?.to_string();
    let [step, steps] = ["step", "steps"].map(|key| status.get(key).and_then(serde_json::Value::as_u64));
    recognised.detail(match (step, steps) {
        (Some(step), Some(steps)) => format!("{state} at step {step} of {steps}"),
        _ => state.clone(),
    });
    Some(state)
}
