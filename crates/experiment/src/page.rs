//! The page of a run, made from what the run left in its folder.

use unbraid_data::{Error, Result, datasets};
use unbraid_learn::checkpoint;
use unbraid_report::RunFolder;
use unbraid_report::headlines::headlines;
use unbraid_report::page::{PageFigure, RunPage, run_page};

use crate::config::Config;
use crate::pictures::names;

/// The figures in the order of the page, with what there is to see in each.
const FIGURES: &[(&str, &str, &str)] = &[
    (
        "traversals",
        names::TRAVERSALS,
        "Each row moves one latent from -2 to 2 and leaves the others as they are. A disentangled latent changes one factor, a passive one nothing. Rows are sorted by how much they carry.",
    ),
    ("moving traversals", names::TRAVERSALS_GIF, "The same, moving."),
    (
        "correlation",
        names::CORRELATION,
        "Absolute correlation of each latent with each factor. One bright cell in each column, and no more than one in each row, is what disentangling aims at.",
    ),
    ("reconstructions", names::RECONSTRUCTIONS, "Images above what the decoder makes of their codes."),
    ("losses", names::LOSSES, "The loss and its parts, before weighting, against the training step."),
];

/// Writes `report.html` from the files of the run.
pub fn write_page(folder: &RunFolder, config: &Config) -> Result<()> {
    folder.write_page(&run_page(&describe(folder, config)?))
}

/// What a page shows of a run.
pub fn describe(folder: &RunFolder, config: &Config) -> Result<RunPage> {
    let path = folder.path().canonicalize().unwrap_or_else(|_| folder.path().to_path_buf());
    let title = path.file_name().map_or_else(|| "run".to_string(), |name| name.to_string_lossy().to_string());
    let mut figures = Vec::new();
    for (name, file, caption) in FIGURES {
        let path = folder.figure_path(file);
        if path.exists() {
            let bytes = std::fs::read(&path)
                .map_err(|error| Error::new(format!("{} cannot be read: {error}", path.display())))?;
            figures.push(PageFigure { name: name.to_string(), caption: caption.to_string(), bytes });
        }
    }
    let dataset = datasets::open(&config.dataset.name, &config.dataset.settings)?;
    Ok(RunPage {
        title,
        dataset: config.dataset.name.clone(),
        framework: config.framework.name.clone(),
        n_steps: checkpoint::steps_taken(&folder.read_model()?)? as usize,
        seed: config.seed,
        // Hundreds of single factors' and latents' scores are for `scores.json`.
        scores: headlines(&folder.read_scores()?, dataset.factors().names()).0,
        figures,
        config: config.to_toml(),
    })
}
