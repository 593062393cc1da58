//! Runs for Weights & Biases: the folder that its Python package leaves where it is offline, and that `wandb sync` uploads.
//!
//! `offline-run-YYYYMMDD_HHMMSS-ID/run-ID.wandb` has the config, a row for each step of `losses.csv` with the scores of validation
//! images, and a summary: the last losses and the final scores. Pictures are not in it. Neither are times of single steps, which a
//! run folder does not know. The format is that of the package's `wandb_internal.proto`, checked with version 0.31.

mod log_blocks;
mod records;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};
use unbraid_data::folders::remove_file;
use unbraid_data::whole_file::{create_folder, write_whole_with};
use unbraid_data::{Error, Result};

use crate::loss_log::LossTable;
use crate::run_folder::RunFolder;
use crate::selection_log::SelectionRow;
use crate::status::State;

use log_blocks::LogBlocks;
use records::{RunStart, exit, header, history, run, summary};

/// Writes a run into a folder of runs for `wandb sync`, by custom called `wandb`; gives the path of what is to be synchronised. A
/// run that is exported once more takes the place of the one before, and of its mark of being synchronised.
pub fn export(folder: &RunFolder, into: &Path, project: &str) -> Result<PathBuf> {
    let (losses, config) = (folder.read_losses()?, read_config(folder)?);
    let validation = folder.read_selection()?;
    let (status, started_secs) = (folder.read_status()?, started_secs(folder)?);
    let start = RunStart {
        id: run_id(folder, &losses)?,
        project: project.to_string(),
        name: folder.name(),
        host: status.as_ref().map(|status| status.host.clone()),
        started_secs,
        config,
    };
    let summarised = final_values(folder, &losses)?;
    let is_finished = status.map_or(folder.page_path().exists(), |status| status.state == State::Finished);
    let place = into.join(format!("offline-run-{}-{}", date_and_time(started_secs), start.id));
    create_folder(&place)?;
    let file = place.join(format!("run-{}.wandb", start.id));
    write_whole_with(&file, |writer| {
        let mut log = LogBlocks::begin(writer)?;
        log.push(&header())?;
        log.push(&run(&start))?;
        push_history(&mut log, &losses, &validation)?;
        log.push(&summary(&summarised))?;
        log.push(&exit(u64::from(!is_finished)))
    })?;
    remove_file(&file.with_extension("wandb.synced"))?;
    Ok(place)
}

/// A row for each step. Scores of validation images are taken after steps that have losses.
fn push_history(log: &mut LogBlocks<impl Write>, losses: &LossTable, validation: &[SelectionRow]) -> io::Result<()> {
    let mut scores: BTreeMap<u64, Vec<(String, Value)>> = BTreeMap::new();
    for row in validation {
        let score = row.value.map(|value| (format!("validation/{}", row.score), json!(value)));
        scores.entry(row.step).or_default().extend(score);
    }
    for (row, step) in losses.steps.iter().enumerate() {
        let step = *step as u64;
        let mut values = losses_of_row(losses, row);
        values.extend(scores.remove(&step).into_iter().flatten());
        log.push(&history(step, &values))?;
    }
    Ok(())
}

fn losses_of_row(losses: &LossTable, row: usize) -> Map<String, Value> {
    losses.columns.iter().map(|column| (format!("losses/{}", column.name), json!(column.values[row]))).collect()
}

/// The last losses, and the final scores where there are any.
fn final_values(folder: &RunFolder, losses: &LossTable) -> Result<Map<String, Value>> {
    let mut values = losses.steps.len().checked_sub(1).map_or_else(Map::new, |row| losses_of_row(losses, row));
    if let Some(step) = losses.steps.last() {
        values.insert("_step".to_string(), json!(step));
    }
    if folder.scores_path().exists() {
        let scores = folder.read_scores()?.values;
        values.extend(scores.into_iter().map(|score| (format!("scores/{}", score.name), json!(score.value))));
    }
    Ok(values)
}

/// The config as JSON, which W&B keeps it in.
fn read_config(folder: &RunFolder) -> Result<Map<String, Value>> {
    let path = folder.config_path();
    let malformed = |error: &dyn std::fmt::Display| Error::new(format!("{} is no TOML: {error}", path.display()));
    let table: toml::Table = folder.read_config()?.parse().map_err(|error: toml::de::Error| malformed(&error))?;
    let json = serde_json::to_value(table).map_err(|error| malformed(&error))?;
    Ok(json.as_object().cloned().unwrap_or_default())
}

/// Eight letters and digits, as W&B's own. The same run has the same, so that it is uploaded once; one that went on for longer has
/// another.
fn run_id(folder: &RunFolder, losses: &LossTable) -> Result<String> {
    let last = losses.steps.last().copied().unwrap_or(0);
    let told = format!("{}\n{}\n{last}", folder.name(), folder.read_config()?);
    // FNV-1a, which will be the same in years.
    let mut hash = told
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let digit = |_| {
        let digit = char::from_digit((hash % 36) as u32, 36).expect("a digit below 36");
        hash /= 36;
        digit
    };
    Ok((0..8).map(digit).collect())
}

/// When the run was begun, or last gone on with; for runs of earlier versions, when its config was written.
fn started_secs(folder: &RunFolder) -> Result<u64> {
    if let Some(status) = folder.read_status()? {
        return Ok(status.started_secs);
    }
    let written = fs::metadata(folder.config_path()).and_then(|found| found.modified()).ok();
    Ok(written.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_secs()))
}

/// `YYYYMMDD_HHMMSS`, in universal time.
fn date_and_time(secs: u64) -> String {
    let (days, second) = (secs / 86_400, secs % 86_400);
    // Years that begin in March have their leap day at the end (H. Hinnant, "chrono-compatible low-level date algorithms").
    let day = days + 719_468;
    let (era, day_of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day_of_month:02}_{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // By `date -u -d @SECONDS +%Y%m%d_%H%M%S`.
        for (secs, expected) in [
            (0, "19700101_000000"),
            (951_782_399, "20000228_235959"),
            (951_782_400, "20000229_000000"),
            (1_735_689_599, "20241231_235959"),
            (4_107_542_400, "21000301_000000"),
        ] {
            assert_eq!(date_and_time(secs), expected);
        }
    }
}
