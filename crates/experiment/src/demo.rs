//! The demo: a weakly supervised and an unsupervised framework on the same small dataset, side by side.

use std::path::{Path, PathBuf};

use unbraid_data::{Error, Result};
use unbraid_metrics::Scores;
use unbraid_report::figures::curves::{Panels, Scale, compare_losses};
use unbraid_report::page::{Comparison, PageFigure, comparison_page};
use unbraid_report::{LossTable, RunFolder, write_whole};

use crate::config::Config;
use crate::page::describe;
use crate::prepare::prepare;
use crate::run::{read_config, resume, start};
use crate::train::Ending;
use crate::watch::Watch;

/// The runs of the demo: their names and configs.
const RUNS: &[(&str, &str)] = &[
    ("ada_gvae", include_str!("../../../configs/demo_ada_gvae.toml")),
    ("beta_vae", include_str!("../../../configs/demo_beta_vae.toml")),
];

const TEXT: &str = "\
Both saw dSprites squares that differ in scale, x and y: ada_gvae pairs that differ in one of them, beta_vae single \
images. With pairs one latent moves the square along x, one along y, one scales it; without, each latent mixes all three.";

/// How the demo ended.
pub struct Demo {
    /// Finished, or stopped in one of the runs.
    pub ending: Ending,
    /// The name and the scores of each finished run.
    pub scores: Vec<(String, Scores)>,
    /// The page that sets the runs side by side.
    pub page: PathBuf,
}

/// Carries out both runs below `path`, going on with what an earlier demo began there, and writes the comparison.
pub fn demo(path: &Path, watch: &mut dyn Watch) -> Result<Demo> {
    let page = path.join("report.html");
    let (mut pages, mut scores, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for (name, text) in RUNS {
        let config = Config::parse(text, &[])?;
        let run_path = path.join(name);
        watch.note(&format!("{name} on {} in {}", config.dataset.name, run_path.display()));
        if let Ending::Stopped(step) = start_or_go_on(&config, &run_path, watch)? {
            return Ok(Demo { ending: Ending::Stopped(step), scores: Vec::new(), page });
        }
        let folder = RunFolder::open(&run_path)?;
        losses.push((name.to_string(), folder.read_losses()?));
        let page = describe(&folder, &config)?;
        scores.push((page.title.clone(), page.scores.clone()));
        pages.push(page);
    }
    let comparison = Comparison {
        title: "Weak supervision disentangles, an unsupervised VAE does not".to_string(),
        text: TEXT.to_string(),
        figures: vec![draw_losses(&losses)?],
        runs: pages,
    };
    write_whole(&page, comparison_page(&comparison).as_bytes())?;
    Ok(Demo { ending: Ending::Finished, scores, page })
}

fn start_or_go_on(config: &Config, path: &Path, watch: &mut dyn Watch) -> Result<Ending> {
    match RunFolder::open(path) {
        Err(_) => start(config, prepare(config)?, path, watch),
        Ok(folder) if read_config(&folder)? == *config => resume(path, &[], watch),
        Ok(_) => Err(Error::new(format!("{} holds a run with another config than the demo's", path.display()))
            .help("choose another folder with --out")),
    }
}

/// Both runs' losses over one another; on the page this takes the place of each run's own.
fn draw_losses(runs: &[(String, LossTable)]) -> Result<PageFigure> {
    let runs: Vec<(String, &LossTable)> = runs.iter().map(|(name, table)| (name.clone(), table)).collect();
    let draw = |set: Panels| compare_losses("", &runs, "", Scale::Fitting, set).to_png();
    let caption = "The losses of both runs and their parts, before weighting, against the training step.".to_string();
    Ok(PageFigure {
        name: "losses".to_string(),
        caption,
        bytes: draw(Panels::Beside)?,
        narrow: Some(draw(Panels::Stacked)?),
    })
}
