//! Small changes of a dataset that make VAEs entangle it (T4 sections 4.2 and 4.3).
//!
//! Of several runs on the same images the most and the least disentangled are chosen. A network learns to change every image by at most epsilon so
//! that the entangled model decodes the altered images better than the disentangled one ([`unbraid_learn::perturbation`]). The altered dataset is
//! written as `.npz`, beside one with uniform noise of the same size. What a step draws follows from the seed and the step, so that a
//! perturbation that was stopped or killed and goes on is the same to the byte as one that was not.

mod alteration;
mod bytes;
mod choice;
pub mod config;
mod folder;
mod inputs;
mod models;
mod page;
mod pictures;
pub mod retrain;
pub mod summary;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use unbraid_data::folders::remove_leftovers;
use unbraid_data::loader::{Loader, Loading};
use unbraid_data::samplers;
use unbraid_data::whole_file::{read_whole, write_whole};
use unbraid_data::{Dataset, Result, Seed, Split};
use unbraid_learn::perturbation::Perturbation;
use unbraid_report::LossLog;
use unbraid_report::figures::Panels;

use crate::pictures::shows_pictures;
use crate::run::hold_file;
use crate::train::{Ending, LOADING_THREADS};
use crate::watch::Watch;
use alteration::Alteration;
use choice::choose;
pub use config::{GivenRun, PerturbConfig, PerturbSettings, Side};
pub use folder::PerturbFolder;
use inputs::Inputs;
use models::Known;
pub use models::Models;
pub use page::{runs_table, write_page};
use pictures::{changes_picture, losses_picture, measure_change, neuron_picture};
pub use summary::Summary;

/// The columns of `losses.csv`.
const COLUMNS: [&str; 3] = ["difference", "entangled", "disentangled"];

/// Chooses among the runs, and begins a perturbation in a folder, or goes on with the one that is there.
pub fn begin(
    runs: &[PathBuf],
    settings: PerturbSettings,
    out: &Path,
    watch: &mut dyn Watch,
) -> Result<(PerturbConfig, PerturbFolder, Models)> {
    let config = choose(runs, settings, watch)?;
    let models = Models::open(&config)?;
    let folder = PerturbFolder::begin(out, &config)?;
    Ok((config, folder, models))
}

/// Learns to the last step, from the last checkpoint where there is one, and leaves both datasets in the folder.
pub fn perturb(
    config: &PerturbConfig,
    folder: &PerturbFolder,
    models: &Models,
    watch: &mut dyn Watch,
) -> Result<Ending> {
    let _held = hold_file(&folder.config_path(), folder.path())?;
    // Runs that moved are found at their new places from now on; the new file is held as well.
    let _held_too = match read_whole(&folder.config_path())? == config.to_toml().as_bytes() {
        true => None,
        false => {
            write_whole(&folder.config_path(), config.to_toml().as_bytes())?;
            Some(hold_file(&folder.config_path(), folder.path())?)
        }
    };
    remove_leftovers(folder.path())?;
    let mut perturbation = models.perturbation(config)?;
    let path = folder.checkpoint_path();
    if path.exists() {
        let restored = perturbation.restore(&read_whole(&path)?, &config.origin());
        restored.map_err(|error| error.at(path.display()))?;
    }
    let is_learned = perturbation.steps_taken() >= config.perturb.steps;
    let known = match (is_learned, &models.inputs) {
        (true, Inputs::Factors(_)) => None,
        _ => match models.encode(watch)? {
            Some(known) => Some(known),
            None => return Ok(Ending::Stopped(perturbation.steps_taken())),
        },
    };
    if let (false, Some(known)) = (is_learned, &known)
        && let Ending::Stopped(step) = learn(config, folder, models, known, &mut perturbation, watch)?
    {
        return Ok(Ending::Stopped(step));
    }
    let alteration =
        Alteration { settings: &config.perturb, models, known: known.as_ref(), perturbation: &perturbation };
    let ending = alteration.write(folder, watch)?;
    if !matches!(ending, Ending::Stopped(_)) && !folder.page_path().exists() {
        draw(config, folder, &alteration)?;
    }
    Ok(ending)
}

/// The pictures, the numbers and, last, the page.
fn draw(config: &PerturbConfig, folder: &PerturbFolder, alteration: &Alteration<'_>) -> Result<()> {
    let models = alteration.models;
    let (dataset, name) = (models.dataset.as_ref(), &models.runs[0].config.dataset.name);
    losses_picture(folder, name, Panels::Beside)?.save(&folder.picture_path("losses"))?;
    if shows_pictures(true, dataset.image_shape()) {
        changes_picture(alteration, name)?.save(&folder.picture_path("changes"))?;
    }
    let inputs = match &models.inputs {
        Inputs::Factors(_) => {
            neuron_picture(alteration, name).save(&folder.picture_path("neuron"))?;
            "factors"
        }
        Inputs::Codes(_) => "codes",
    };
    let altered = measure_change(dataset, config.perturb.seed, &|numbers, images| alteration.alter(numbers, images))?;
    let noise = measure_change(dataset, config.perturb.seed, &|numbers, images| alteration.add_noise(numbers, images))?;
    let summary = Summary::of(config, folder, name, inputs, [altered, noise])?;
    summary.write(folder)?;
    write_page(folder, &summary, &[])
}

/// Takes all steps that are left.
fn learn(
    config: &PerturbConfig,
    folder: &PerturbFolder,
    models: &Models,
    known: &Known,
    perturbation: &mut Perturbation,
    watch: &mut dyn Watch,
) -> Result<Ending> {
    let (settings, origin) = (&config.perturb, config.origin());
    let mut log = LossLog::resume(&folder.losses_path(), &COLUMNS, perturbation.steps_taken() as usize)?;
    let loading = loading(settings, models.dataset.clone())?;
    let images_of_step = (loading.batch_size * loading.n_batches) as u64;
    let mut loader = Loader::start(loading, perturbation.steps_taken(), LOADING_THREADS)?;
    watch.stage("learning", settings.steps);
    watch.progress(perturbation.steps_taken());
    while perturbation.steps_taken() < settings.steps {
        let batches = loader.next_batch()?.members.into_iter().map(|member| {
            let inputs = models.inputs_of(&member.numbers, Some(known));
            known.batch(member.pixels, inputs, &member.numbers)
        });
        let losses = perturbation.step(&batches.collect::<Vec<_>>())?;
        let values = [losses.difference, losses.entangled, losses.disentangled].map(f64::from);
        log.push(losses.step as usize, &values)?;
        watch.step(losses.step, losses.difference, images_of_step);

        let stop = watch.should_stop() && losses.step < settings.steps;
        if stop || losses.step % settings.checkpoint_every == 0 || losses.step == settings.steps {
            log.flush()?;
            write_whole(&folder.checkpoint_path(), &perturbation.checkpoint(&origin)?)?;
        }
        if stop {
            return Ok(Ending::Stopped(losses.step));
        }
    }
    Ok(Ending::Finished)
}

/// Single images, all of them alike, in as many batches as a step has.
fn loading(settings: &PerturbSettings, dataset: Arc<dyn Dataset>) -> Result<Loading> {
    let split = Arc::new(Split::all(dataset.n_images()));
    let sampler = samplers::build("single", &toml::Table::new(), dataset.factors(), &split)?.into();
    let batch_size = settings.batch_size.min(dataset.n_images());
    let n_batches = settings.decoder_batches + 1;
    Ok(Loading { dataset, sampler, split, seed: Seed(settings.seed), batch_size, n_batches })
}
