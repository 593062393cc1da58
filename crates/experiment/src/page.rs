//! The page of a run, made from what the run left in its folder.

use std::path::Path;
use std::sync::Arc;

use toml::Value;
use unbraid_data::fingerprint::DatasetRecord;
use unbraid_data::words::{counted, listed, quoted};
use unbraid_data::{Error, Result, Split, samplers};
use unbraid_learn::checkpoint;
use unbraid_report::RunFolder;
use unbraid_report::page::{PageFigure, RunPage, run_page};

use crate::config::Config;
use crate::dataset_record::dataset_record;
use crate::pictures::{names, narrow_name};
use crate::prepare::rows_to_encode;
use crate::selection::final_model;

/// The figures in the order of the page, with what there is to see in each.
const FIGURES: &[(&str, &str, &str)] = &[
    (
        "traversals",
        names::TRAVERSALS,
        "Each row moves one latent over the values above and leaves the others as they are. A disentangled latent changes one factor, a passive one nothing. Rows are sorted by how much they carry.",
    ),
    ("moving traversals", names::TRAVERSALS_GIF, "The same, moving."),
    (
        "latents and factors",
        names::CORRELATION,
        "Absolute correlation of each latent with each factor. One bright cell in each column, and no more than one in each row, is what disentangling aims at.",
    ),
    ("reconstructions", names::RECONSTRUCTIONS, "Images above what the decoder makes of their codes."),
    (
        "validation",
        names::SELECTION,
        "The score of validation images against the training step, by which the best checkpoint was found.",
    ),
    ("losses", names::LOSSES, "The loss and its parts, before weighting, against the training step."),
];

/// Writes `report.html` from the files of the run.
pub fn write_page(folder: &RunFolder, config: &Config) -> Result<()> {
    folder.write_page(&run_page(&describe(folder, config)?))
}

/// What a page shows of a run.
pub fn describe(folder: &RunFolder, config: &Config) -> Result<RunPage> {
    let mut figures = Vec::new();
    for (name, file, caption) in FIGURES {
        if let Some(bytes) = read_figure(&folder.figure_path(file))? {
            let narrow = read_figure(&folder.figure_path(&narrow_name(file)))?;
            figures.push(PageFigure { name: name.to_string(), caption: caption.to_string(), bytes, narrow });
        }
    }
    let record = dataset_record(folder, config)?;
    let n_steps = checkpoint::steps_taken(&folder.read_model()?)?;
    let mut commands = commands(folder.path(), n_steps);
    if folder.figure_path(names::TRAVERSALS).exists() {
        let traverse = format!("unbraid traverse {} --range std", quoted(folder.path()));
        commands.push(("Traverse other values".to_string(), traverse));
    }
    Ok(RunPage {
        title: folder.name(),
        sentence: sentence(config, &record, n_steps)? + &of_what(folder, config, &record)?,
        scores: folder.read_scores()?,
        figures,
        config: config.to_toml(),
        commands,
    })
}

/// The bytes of a figure, where there is one.
fn read_figure(path: &Path) -> Result<Option<Vec<u8>>> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = std::fs::read(path);
    bytes.map(Some).map_err(|error| Error::new(format!("{} cannot be read: {error}", path.display())))
}

/// More factors than this are counted and not named.
const MOST_NAMED: usize = 12;

/// `beta_vae, trained for 1,500 steps of 32 images on dsprites (shape 0): 245,760 images that differ in scale and x. The
/// network is conv64 with 6 latents; seed 1.`
fn sentence(config: &Config, record: &DatasetRecord, n_steps: u64) -> Result<String> {
    let (space, split) = (record.factor_space()?, Arc::new(Split::all(record.n_images)));
    let sampler = samplers::build(&config.sampler.name, &config.sampler.settings, &space, &split)?;
    let examples = match sampler.arity() {
        1 => "images".to_string(),
        2 => "pairs".to_string(),
        arity => format!("examples of {arity} images"),
    };
    let fixed: Vec<String> = match config.dataset.settings.get("fix") {
        Some(Value::Table(fix)) => fix.iter().map(|(name, value)| format!("{name} {value}")).collect(),
        _ => Vec::new(),
    };
    let fixed = if fixed.is_empty() { String::new() } else { format!(" ({})", fixed.join(", ")) };
    let latents = match config.model.settings.get("latents") {
        Some(Value::Integer(latents)) => format!(" with {}", counted(*latents as usize, "latent")),
        _ => String::new(),
    };
    let names: Vec<&str> = space.names().collect();
    let differences = match names.len() {
        0 => "without factors".to_string(),
        1..=MOST_NAMED => format!("that differ in {}", listed(&names)),
        more => format!("that differ in {more} factors"),
    };
    Ok(format!(
        "{}, trained for {} {} of {} {examples} on {}{fixed}: {} images {differences}. The network is {}{latents}; \
         seed {}.",
        config.framework.name,
        with_separators(n_steps),
        if n_steps == 1 { "step" } else { "steps" },
        config.training.batch_size,
        config.dataset.name,
        with_separators(record.n_images as u64),
        config.model.name,
        config.seed,
    ))
}

/// Which checkpoint and which images the scores are of, where they are not the last one and all.
fn of_what(folder: &RunFolder, config: &Config, record: &DatasetRecord) -> Result<String> {
    let (_, best_step) = final_model(folder, config)?;
    let checkpoint = best_step.map_or(String::new(), |step| {
        let step = with_separators(step);
        format!(" Scores and pictures are of the checkpoint after step {step}, whose validation images scored best.")
    });
    let n_rows = rows_to_encode(config, record.n_images)?.len() as u64;
    let images = match config.split.test > 0.0 {
        true => format!(" Scores are of {} test images, which were not learned from.", with_separators(n_rows)),
        false => String::new(),
    };
    Ok(checkpoint + &images)
}

/// What can be done with the run.
fn commands(path: &Path, n_steps: u64) -> Vec<(String, String)> {
    let run = quoted(path);
    let commands = [
        ("Train on", format!("unbraid resume {run} --set training.steps={}", n_steps.saturating_mul(2))),
        ("Score again, with other settings", format!("unbraid evaluate {run} --metrics mig --set mig.bins=10")),
        ("Make this page again", format!("unbraid report {run}")),
    ];
    commands.into_iter().map(|(what_for, command)| (what_for.to_string(), command)).collect()
}

/// `10000` as `10,000`.
fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut separated = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            separated.push(',');
        }
        separated.push(digit);
    }
    separated
}

#[cfg(test)]
mod tests {
    use unbraid_data::datasets;

    use super::*;

    #[test]
    fn one_sentence_tells_what_was_trained() {
        let text = "[dataset]\nname = 'dsprites'\nfix = { shape = 0, orientation = 0 }\n\
                    [framework]\nname = 'ada_gvae'\n[model]\nname = 'conv64'\nlatents = 6\n[training]\nbatch_size = 32";
        let config = Config::parse(text, &[]).unwrap();
        let dataset = datasets::build(&config.dataset.name, &config.dataset.settings).unwrap();
        let record = DatasetRecord::of("dsprites", dataset.as_ref()).unwrap();
        assert_eq!(
            sentence(&config, &record, 1500).unwrap(),
            "ada_gvae, trained for 1,500 steps of 32 pairs on dsprites (orientation 0, shape 0): 6,144 images that differ \
             in scale, pos_x and pos_y. The network is conv64 with 6 latents; seed 1."
        );
    }

    #[test]
    fn commands_go_on_with_the_run() {
        let commands = commands(Path::new("runs/a b"), 40);
        assert_eq!(commands[0].1, "unbraid resume 'runs/a b' --set training.steps=80");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([7, 999, 1000, 1_234_567].map(with_separators), ["7", "999", "1,000", "1,234,567"]);
    }
}
