//! Learns a kernel whose loss sees distances that rank like those of the factors (T1 section 6.1), or against them.
//!
//! Each step draws images and pairs of them, filters the images, ranks the distances of the pairs softly, and moves the kernel's weights
//! by Adam. What a step draws follows from the seed and the step, so that a kernel that was stopped or killed and goes on is the same to
//! the byte as one that was not.

pub mod checkpoint;
pub mod config;
mod folder;
pub mod objective;

use rand_distr::{Distribution, StandardNormal};
use toml::Table;
use unbraid_data::fingerprint::fingerprint;
use unbraid_data::folders::remove_leftovers;
use unbraid_data::whole_file::{read_whole, write_whole};
use unbraid_data::{Dataset, Error, Result, Seed};
use unbraid_distances::Kernel;
use unbraid_distances::kernel_file::write_kernel;
use unbraid_learn::optimisers;
use unbraid_report::LossLog;
use unbraid_report::figures::kernel_picture;

use crate::run::hold_file;
use crate::train::Ending;
use crate::watch::Watch;
use checkpoint::{Learned, Origin};
pub use config::{FactorDistance, KernelConfig, KernelSettings};
pub use folder::KernelFolder;
use objective::Objective;

/// Spread of the first weights around 1, before they are divided by their sum (T1's code).
const SPREAD: f32 = 1e-3;
const COLUMNS: [&str; 3] = ["correlation", "regulariser", "total"];

/// Learns to the last step, from the last checkpoint where there is one, and leaves the kernel in the folder. `dataset` is the one that
/// the config opens.
pub fn learn(
    config: &KernelConfig,
    dataset: &dyn Dataset,
    folder: &KernelFolder,
    watch: &mut dyn Watch,
) -> Result<Ending> {
    let _held = hold_file(&folder.config_path(), folder.path())?;
    remove_leftovers(folder.path())?;
    let settings = &config.kernel;
    let origin = Origin { config: config.to_toml(), images: fingerprint(dataset)? };
    let mut learned = load(folder, settings, &origin)?;
    let mut log = LossLog::resume(&folder.losses_path(), &COLUMNS, learned.step as usize)?;
    let adam = optimisers::build("adam", &Table::new())?;
    let mut objective = Objective::new(dataset, settings);

    watch.stage("learning", settings.steps);
    watch.progress(learned.step);
    while learned.step < settings.steps {
        let [weights, mean, square] = &mut learned.values;
        let (loss, gradient) = objective.loss(learned.step, weights).map_err(Error::on_the_way)?;
        if !loss.total.is_finite() {
            let message = format!("the loss of step {} is {}", learned.step + 1, loss.total);
            return Err(
                Error::failure(message).help("the last checkpoint is whole; a smaller \"learning_rate\" may help")
            );
        }
        let rate = settings.learning_rate.at(learned.step) as f32;
        adam.change(learned.step + 1, rate, weights, &gradient, &mut [mean, square]);
        learned.step += 1;
        log.push(learned.step as usize, &[loss.correlation, loss.regulariser, loss.total])?;
        watch.step(learned.step, loss.total as f32, settings.batch_size.min(dataset.n_images()) as u64);

        let stop = watch.should_stop() && learned.step < settings.steps;
        if stop || learned.step % settings.checkpoint_every == 0 || learned.step == settings.steps {
            log.flush()?;
            write_whole(&folder.checkpoint_path(), &checkpoint::write(&learned, &origin)?)?;
        }
        if stop {
            return Ok(Ending::Stopped(learned.step));
        }
    }
    log.flush()?;
    let kernel = kernel_of(&learned)?;
    write_kernel(&folder.kernel_path(), &kernel)?;
    let way = if settings.adversarial { "adversarial" } else { "learned" };
    let title =
        format!("{}: {way} kernel of radius {} after {} steps", config.dataset.name, settings.radius, settings.steps);
    kernel_picture(&title, kernel.taps()).save(&folder.picture_path())?;
    Ok(Ending::Finished)
}

/// The absolute values of the weights.
fn kernel_of(learned: &Learned) -> Result<Kernel> {
    Kernel::new(learned.values[0].iter().map(|weight| weight.abs()).collect()).map_err(Error::on_the_way)
}

/// The last checkpoint, or the kernel before its first step.
fn load(folder: &KernelFolder, settings: &KernelSettings, origin: &Origin) -> Result<Learned> {
    let path = folder.checkpoint_path();
    if !path.exists() {
        let weights = first_weights(settings);
        let zeros = vec![0.0; weights.len()];
        return Ok(Learned { step: 0, values: [weights, zeros.clone(), zeros] });
    }
    checkpoint::read(&read_whole(&path)?, origin).map_err(|error| error.at(path.display()))
}

/// Nearly a box, whose sum is 1.
fn first_weights(settings: &KernelSettings) -> Vec<f32> {
    let side = 2 * settings.radius + 1;
    let mut rng = Seed(settings.seed).stream("kernel");
    let mut normal = || -> f32 { StandardNormal.sample(&mut rng) };
    let weights: Vec<f32> = (0..side * side).map(|_| 1.0 + SPREAD * normal()).collect();
    let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    weights.into_iter().map(|weight| (f64::from(weight) / sum) as f32).collect()
}
