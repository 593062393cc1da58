//! The chosen models, opened: whether they can be used, what they say of every image, and their decoders.

use std::ops::ControlFlow;
use std::sync::Arc;

use toml::Value;
use unbraid_data::datasets::read_factors;
use unbraid_data::words::quoted;
use unbraid_data::{Dataset, Error, Result, Seed};
use unbraid_learn::perturbation::{Images, Manipulation, Perturbation, Posteriors, Rival, Settings};
use unbraid_learn::{Device, networks};

use super::config::{PerturbConfig, Side};
use super::inputs::Inputs;
use crate::config::Named;
use crate::trained_run::TrainedRun;
use crate::watch::Watch;

/// Posteriors that would take more than this are not kept in memory.
const MOST_BYTES: usize = 1 << 33;

/// The chosen models and the images that they were trained on.
pub struct Models {
    /// The images as they are.
    pub dataset: Arc<dyn Dataset>,
    /// What the manipulation network is given of an image.
    pub inputs: Inputs,
    /// The entangled ones, the most entangled first, then the disentangled ones.
    pub runs: Vec<TrainedRun>,
}

/// What the models say of every image.
pub struct Known {
    latents: Vec<usize>,
    /// Of each model, all images after each other.
    of_models: Vec<Posteriors>,
}

impl Models {
    /// Opens the runs that a config chose.
    pub fn open(config: &PerturbConfig) -> Result<Self> {
        let sides = [Side::Entangled, Side::Disentangled];
        let chosen = sides.iter().flat_map(|&side| config.of_side(side));
        let runs = chosen.map(|run| TrainedRun::open(&run.path)).collect::<Result<Vec<_>>>()?;
        let dataset = runs[0].dataset.clone();
        check_pixels(&runs[0], dataset.as_ref())?;
        runs.iter().try_for_each(|run| check_model(run, &runs[0]))?;
        let inputs = Inputs::of(dataset.as_ref(), runs[0].model.latents())?;
        Ok(Self { dataset, inputs, runs })
    }

    /// The perturbation before its first step.
    pub fn perturbation(&self, config: &PerturbConfig) -> Result<Perturbation> {
        let settings = &config.perturb;
        let seed = Seed(settings.seed);
        let Named { name, settings: model } = &self.runs.last().expect("there is a pair").config.model;
        let mut model = model.clone();
        model.insert("latents".to_string(), Value::Integer(1));
        let network = networks::build(name, &model, self.dataset.image_shape())?;
        let manipulation = Manipulation::new(network, self.inputs.n_inputs(), settings.epsilon, seed, Device::cpu());
        let rivals = self.runs.iter().map(|run| Rival::of(&run.model).expect("the models have decoders"));
        let mut entangled: Vec<Rival> = rivals.collect();
        let disentangled = entangled.split_off(settings.pairs);
        let learning = Settings { samples: settings.samples, learning_rate: settings.learning_rate, seed };
        Ok(Perturbation::new(manipulation, entangled, disentangled, learning))
    }

    /// Encodes all images with all models; nothing where the user asks to stop.
    pub fn encode(&self, watch: &mut dyn Watch) -> Result<Option<Known>> {
        self.check_memory()?;
        let n_images = self.dataset.n_images();
        let rows: Vec<usize> = (0..n_images).collect();
        watch.stage("encoding", (n_images * self.runs.len()) as u64);
        let mut of_models = Vec::new();
        for (position, run) in self.runs.iter().enumerate() {
            let progress = |done: usize| {
                watch.progress((position * n_images + done) as u64);
                if watch.should_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let Some(posteriors) = run.model.posteriors(self.dataset.as_ref(), &rows, progress)? else {
                return Ok(None);
            };
            of_models.push(posteriors);
        }
        Ok(Some(Known { latents: self.runs.iter().map(|run| run.model.latents()).collect(), of_models }))
    }

    /// What the manipulation network is given of these images, `[images, inputs]`. Codes are looked up where there are no factors.
    pub fn inputs_of(&self, numbers: &[usize], known: Option<&Known>) -> Vec<f32> {
        let codes = match (&self.inputs, known) {
            (Inputs::Codes(_), Some(known)) => known.of(0, numbers).means,
            (Inputs::Codes(_), None) => unreachable!("images without factors are encoded first"),
            (Inputs::Factors(_), _) => Vec::new(),
        };
        self.inputs.rows(&read_factors(self.dataset.as_ref(), numbers), &codes)
    }

    fn check_memory(&self) -> Result<()> {
        let n_images = self.dataset.n_images();
        let n_latents: usize = self.runs.iter().map(|run| run.model.latents()).sum();
        let n_bytes = n_images.saturating_mul(n_latents).saturating_mul(2 * size_of::<f32>());
        if n_bytes <= MOST_BYTES {
            return Ok(());
        }
        Err(Error::new(format!(
            "the posteriors of {n_images} images in {} models would take {n_bytes} bytes of memory",
            self.runs.len()
        ))
        .help(format!("wanted {MOST_BYTES} or fewer: train on a \"subset\" of the images, or take fewer pairs")))
    }
}

impl Known {
    /// The posteriors of these images in one of the models.
    fn of(&self, model: usize, numbers: &[usize]) -> Posteriors {
        let (latents, all) = (self.latents[model], &self.of_models[model]);
        let rows = |values: &[f32]| -> Vec<f32> {
            numbers.iter().flat_map(|number| &values[number * latents..(number + 1) * latents]).copied().collect()
        };
        Posteriors { means: rows(&all.means), log_variances: rows(&all.log_variances) }
    }

    /// A batch of images, whose pixels are given, with all that is known of them.
    pub fn batch(&self, pixels: Vec<f32>, inputs: Vec<f32>, numbers: &[usize]) -> Images {
        let posteriors = (0..self.latents.len()).map(|model| self.of(model, numbers)).collect();
        Images { pixels, inputs, posteriors }
    }
}

/// Refuses images whose pixels are not bytes.
fn check_pixels(run: &TrainedRun, dataset: &dyn Dataset) -> Result<()> {
    if dataset.holds_bytes() {
        return Ok(());
    }
    let found = match (dataset.as_standardised().is_some(), dataset.has_unit_pixels()) {
        (true, _) => "are standardised",
        (_, true) => "are fractions that no byte holds",
        (_, false) => "are points in space",
    };
    Err(Error::new(format!("the pixels of dataset \"{}\" {found}", run.config.dataset.name))
        .help("wanted pictures, whose pixels are bytes, as they are before standardisation and without \"noise\""))
}

/// Refuses a model that cannot take part.
fn check_model(run: &TrainedRun, first: &TrainedRun) -> Result<()> {
    let (place, framework) = (quoted(run.folder.path()), &run.config.framework.name);
    if !run.model.has_decoder() {
        return Err(Error::new(format!("{place} has no decoder: framework \"{framework}\" trains none"))
            .help("give runs of a VAE"));
    }
    if !run.model.has_diagonal_posterior() {
        return Err(Error::new(format!(
            "{place} has another posterior than a Gaussian of independent latents: framework \"{framework}\""
        ))
        .help("give runs of a VAE, such as beta_vae: the change is learned from how it spreads its noise"));
    }
    let loss = |run: &TrainedRun| run.model.reconstruction().map(|loss| Value::from(loss.clone()).to_string());
    let [own, wanted] = [run, first].map(|run| loss(run).unwrap_or_default());
    if own != wanted {
        return Err(Error::new(format!(
            "{place} was trained with the reconstruction loss {own}, but others with {wanted}"
        ))
        .help("losses of two kinds cannot be compared; give runs of one loss"));
    }
    Ok(())
}
