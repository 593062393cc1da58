//! Event files of TensorBoard: what a run folder tells, for `tensorboard --logdir runs`.
//!
//! The file follows from the run folder alone: the config, the losses up to a checkpoint, the scores of validation images,
//! and once there are final scores these and the figures. So it is the same for a run that was killed and resumed as for one that
//! was not, and a file that was lost or damaged is made again.
//!
//! It grows in place, which no other file but `losses.csv` does: TensorBoard (2.21) keeps a file open that it has begun to read, and
//! would never see one that took its name. Each state of the file begins with the one before, so that whatever is missing is
//! appended, also after a kill in the middle of an event, which TensorBoard waits for the rest of. For that reason losses are
//! thinned in a way that does not depend on how many steps there will be, and the time of an event is its step, in seconds
//! since 1970: the folder does not know the real one, and TensorBoard's relative time then counts steps.
//!
//! Where a file does not begin like the new one, as after a change of the config, a file of a later name takes its place. TensorBoard
//! finds it, and puts its values in the place of the old ones; its slow reader (`--load_fast=false`) has to be started again.

mod events;
mod records;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use unbraid_data::Result;
use unbraid_data::file_errors::cannot_write;
use unbraid_data::folders::{paths_in, remove_file};
use unbraid_data::whole_file::read_whole;
use unbraid_metrics::{Score, ScoreOf};

use crate::loss_log::LossTable;
use crate::protobuf::Message;
use crate::run_folder::RunFolder;

use records::push_record;

/// Brings the event file of a run up to date, or makes it; gives its path. To be called after a checkpoint, when `losses.csv` holds
/// the steps up to it, and when the figures are drawn; by the one process that works on the run.
pub fn write_events(folder: &RunFolder) -> Result<PathBuf> {
    let wanted = event_file(folder)?;
    let files = files_of(folder.path())?;
    let found = files.last().map(|(_, path)| read_whole(path)).transpose()?;
    let n_kept = found.filter(|found| wanted.starts_with(found)).map(|found| found.len());
    let current = match (files.last(), n_kept) {
        (Some((_, path)), Some(_)) => path.clone(),
        (last, _) => folder.path().join(file_name(last.map_or(1, |(number, _)| number + 1))),
    };
    append(&current, &wanted[n_kept.unwrap_or(0)..]).map_err(|error| cannot_write(&current, &error))?;
    files.iter().filter(|(_, path)| *path != current).try_for_each(|(_, path)| remove_file(path))?;
    Ok(current)
}

/// Whether a step's losses are in the file: all of the first 500, and fewer and fewer of the later ones, so that 30,000 steps have
/// about 2,000 points and ten million 4,300. The steps that are left are multiples of 2, 5, 10, 20, 50 and so on.
pub fn is_shown(step: usize) -> bool {
    let most = (step / 250).max(1);
    let power = 10_usize.pow(most.ilog10());
    let distance = power * [1, 2, 2, 2, 5, 5, 5, 5, 5][most / power - 1];
    step.is_multiple_of(distance)
}

/// The whole file.
fn event_file(folder: &RunFolder) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    push_record(&mut file, &events::version());
    // Indented, so that the Markdown shows it as it is.
    let config: String = folder.read_config()?.lines().map(|line| format!("    {line}\n")).collect();
    push_record(&mut file, &events::summary(0, &[events::text("config", &config)]));
    let losses = folder.read_some_losses(is_shown)?;
    for (step, values) in values_while_training(folder, &losses)? {
        push_record(&mut file, &events::summary(step, &values));
    }
    if folder.scores_path().exists() {
        push_results(&mut file, folder, &losses)?;
    }
    Ok(file)
}

/// The losses that are shown and the scores of validation images, by the steps that they are of.
fn values_while_training(folder: &RunFolder, losses: &LossTable) -> Result<BTreeMap<u64, Vec<Message>>> {
    let mut values: BTreeMap<u64, Vec<Message>> = BTreeMap::new();
    for (row, step) in losses.steps.iter().enumerate().filter(|(_, step)| is_shown(**step)) {
        values.insert(*step as u64, losses_of_row(losses, row));
    }
    for row in folder.read_selection()? {
        let score = row.value.map(|value| events::scalar(&format!("validation/{}", row.score), value));
        values.entry(row.step).or_default().extend(score);
    }
    Ok(values)
}

fn losses_of_row(losses: &LossTable, row: usize) -> Vec<Message> {
    let scalar = |name: &str, value| events::scalar(&format!("losses/{name}"), value);
    losses.columns.iter().map(|column| scalar(&column.name, column.values[row])).collect()
}

/// What there is after the last step: its losses, where they are not shown already, the scores and the figures.
fn push_results(file: &mut Vec<u8>, folder: &RunFolder, losses: &LossTable) -> Result<()> {
    let last = losses.steps.last().copied().unwrap_or(0);
    if !losses.steps.is_empty() && !is_shown(last) {
        push_record(file, &events::summary(last as u64, &losses_of_row(losses, losses.steps.len() - 1)));
    }
    let scores = folder.read_scores()?;
    let scalar = |score: &Score| events::scalar(&format!("{}/{}", group(&score.of), score.name), score.value);
    let values: Vec<Message> = scores.values.iter().map(scalar).collect();
    push_record(file, &events::summary(last as u64, &values));
    for path in paths_in(&folder.figure_path(""))? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        // What is drawn for narrow screens shows the same once more.
        if path.extension().is_some_and(|extension| extension == "png") && !name.ends_with("-narrow") {
            let image = events::image(&format!("figures/{name}"), &read_whole(&path)?);
            push_record(file, &events::summary(last as u64, &[image.map_err(|error| error.at(path.display()))?]));
        }
    }
    Ok(())
}

/// The heading that scores stand under; hundreds of factors and latents would hide those of the whole.
fn group(of: &ScoreOf) -> &'static str {
    match of {
        ScoreOf::Whole => "scores",
        ScoreOf::Factor(_) => "scores_of_factors",
        ScoreOf::Latent(_) => "scores_of_latents",
    }
}

/// A name that TensorBoard looks for, and that tells our files from those of other programs.
fn file_name(number: u64) -> String {
    format!("events.out.tfevents.{number:04}.unbraid")
}

/// The event files in a folder, in the order of their numbers. There is one, unless a kill came while another took its place.
fn files_of(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let number = |path: &Path| -> Option<u64> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix("events.out.tfevents.")?.strip_suffix(".unbraid")?.parse().ok()
    };
    let mut files: Vec<_> = paths_in(folder)?.into_iter().filter_map(|path| Some((number(&path)?, path))).collect();
    files.sort();
    Ok(files)
}

fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() && path.exists() {
        return Ok(());
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use unbraid_metrics::Scores;

    use crate::{Canvas, LossLog};

    use super::*;

    fn run_of_steps(parent: &Path, steps: usize) -> RunFolder {
        let folder = RunFolder::create(parent, "seed = 1\n").unwrap();
        log_steps(&folder, 0, steps);
        folder
    }

    fn log_steps(folder: &RunFolder, from: usize, to: usize) {
        let mut log = LossLog::resume(&folder.losses_path(), &["loss", "kl"], from).unwrap();
        (from + 1..=to).for_each(|step| log.push(step, &[1.0 / step as f64, step as f64]).unwrap());
        log.flush().unwrap();
    }

    fn finish(folder: &RunFolder) {
        folder.write_scores(&Scores::new().with("mig", 0.5)).unwrap();
        folder.write_figure("traversals.png", &Canvas::new(4, 3).to_png().unwrap()).unwrap();
        folder.write_figure("traversals-narrow.png", b"not read").unwrap();
        folder.write_figure("traversals.gif", b"not read").unwrap();
    }

    fn names(folder: &RunFolder) -> Vec<String> {
        let files = files_of(folder.path()).unwrap();
        files.iter().map(|(_, path)| path.file_name().unwrap().to_string_lossy().to_string()).collect()
    }

    #[test]
    fn steps_are_thinned_to_round_numbers() {
        let shown = |steps: std::ops::RangeInclusive<usize>| steps.filter(|step| is_shown(*step)).count();
        assert_eq!(shown(1..=500), 500);
        // 750 by twos up to 1,248, 2,500 by fives from 1,250 on, and so on.
        assert_eq!((shown(500..=1249), shown(1250..=2499), shown(2500..=4999)), (375, 250, 250));
        assert!((1900..2200).contains(&shown(1..=30_000)), "{}", shown(1..=30_000));
        assert!((4200..4400).contains(&shown(1..=10_000_000)), "{}", shown(1..=10_000_000));
        assert!([1000, 2000, 10_000, 30_000, 50_000, 1_000_000].into_iter().all(is_shown));
    }

    #[test]
    fn a_file_that_grew_is_the_one_that_is_written_at_once() {
        let parents = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [grown, at_once] = parents.each_ref().map(|parent| run_of_steps(parent.path(), 20));
        write_events(&grown).unwrap();
        let length = fs::metadata(write_events(&grown).unwrap()).unwrap().len();
        log_steps(&grown, 20, 1001);
        let path = write_events(&grown).unwrap();
        assert!(fs::metadata(&path).unwrap().len() > length);
        finish(&grown);
        assert_eq!(write_events(&grown).unwrap(), path);
        log_steps(&at_once, 20, 1001);
        finish(&at_once);
        assert!(fs::read(write_events(&at_once).unwrap()).unwrap() == fs::read(path).unwrap());
        assert_eq!(names(&grown), ["events.out.tfevents.0001.unbraid"]);
    }

    #[test]
    fn killed_at_any_byte_the_file_is_made_whole() {
        let parent = tempfile::tempdir().unwrap();
        let folder = run_of_steps(parent.path(), 30);
        finish(&folder);
        let path = write_events(&folder).unwrap();
        let whole = fs::read(&path).unwrap();
        for n_bytes in (0..whole.len()).step_by(13) {
            fs::write(&path, &whole[..n_bytes]).unwrap();
            assert_eq!(write_events(&folder).unwrap(), path);
            assert!(fs::read(&path).unwrap() == whole, "killed after {n_bytes} bytes");
        }
        assert_eq!(names(&folder).len(), 1);
    }

    #[test]
    fn other_values_come_in_a_file_of_a_later_name() {
        let parent = tempfile::tempdir().unwrap();
        let folder = run_of_steps(parent.path(), 30);
        finish(&folder);
        fs::write(parent.path().join("events.out.tfevents.0007.host"), b"of another program").unwrap();
        let first = fs::read(write_events(&folder).unwrap()).unwrap();
        // The run goes on for longer: its scores are no longer the last.
        folder.remove_results().unwrap();
        log_steps(&folder, 30, 40);
        let path = write_events(&folder).unwrap();
        assert_eq!(names(&folder), ["events.out.tfevents.0002.unbraid"]);
        let second = fs::read(&path).unwrap();
        // A kill came before the old file was removed, or while the new one was written.
        fs::write(parent.path().join(file_name(1)), &first).unwrap();
        fs::write(&path, &second[..second.len() / 2]).unwrap();
        assert_eq!(write_events(&folder).unwrap(), path);
        assert!(fs::read(&path).unwrap() == second);
        assert_eq!(names(&folder), ["events.out.tfevents.0002.unbraid"]);
        assert!(parent.path().join("events.out.tfevents.0007.host").exists());
    }

    #[test]
    fn damage_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let folder = run_of_steps(parent.path(), 3);
        folder.write_scores(&Scores::new()).unwrap();
        folder.write_figure("a.png", b"GIF89a").unwrap();
        let error = write_events(&folder).unwrap_err().to_string();
        assert!(error.starts_with(&folder.figure_path("a.png").display().to_string()), "{error}");
        assert!(error.contains("it is no PNG: "), "{error}");
        fs::remove_file(folder.losses_path()).unwrap();
        assert!(write_events(&folder).unwrap_err().to_string().contains("losses.csv"));
    }
}
