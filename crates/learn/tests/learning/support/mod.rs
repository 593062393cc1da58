//! Small learners and batches.

pub mod by_hand;
pub mod gradients;

use std::path::Path;

use ndarray::{Array2, array};
use toml::Table;
use unbraid_data::{ImageShape, Seed};
use unbraid_learn::losses::Losses;
use unbraid_learn::reconstruction::Entry;
use unbraid_learn::{Batch, Device, Learner, Member, checkpoint, frameworks, networks, optimisers};

/// A point in space of six numbers.
pub const POINT: ImageShape = ImageShape { height: 1, width: 1, channels: 6 };
/// A grey picture for the convolutional network.
pub const PICTURE: ImageShape = ImageShape { height: 64, width: 64, channels: 1 };

/// How many images batches are said to be drawn from.
pub const N_IMAGES: usize = 1000;

/// What a learner is made of: names, with settings as TOML.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub framework: (&'a str, &'a str),
    pub network: (&'a str, &'a str),
    pub optimiser: &'a str,
    pub shape: ImageShape,
}

impl<'a> Parts<'a> {
    /// Trained by Adam.
    pub fn new(framework: (&'a str, &'a str), network: (&'a str, &'a str), shape: ImageShape) -> Self {
        Self { framework, network, optimiser: "adam", shape }
    }

    pub fn learner(&self) -> Learner {
        self.learner_on(Device::cpu())
    }

    pub fn learner_on(&self, device: Device) -> Learner {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = self.framework.1.replace('"', "'");
        if settings.contains(FEATURES) {
            write_features(folder.path(), FEATURES_NETWORK, self.shape);
            settings = settings.replace(FEATURES, &format!("features = '{}'", folder.path().display()));
        }
        if settings.contains(KERNEL) {
            let path = folder.path().join("kernel.npy");
            let taps = array![[0.5, -0.25, 0.125], [1.0, 0.75, -0.5], [0.25, 0.0, 0.375_f32]];
            unbraid_data::npy::write_file(&path, &taps).unwrap();
            settings = settings.replace(KERNEL, &format!("path = '{}'", path.display()));
        }
        let framework = frameworks::build(self.framework.0, &table(&settings)).unwrap();
        let network = networks::build(self.network.0, &table(self.network.1), self.shape).unwrap();
        let optimiser = optimisers::build(self.optimiser, &Table::new()).unwrap();
        Learner::new(network, framework, optimiser, self.shape, Seed(3), device).unwrap()
    }
}

/// In settings, stands for the file of a small kernel.
const KERNEL: &str = "path = 'kernel.npy'";
/// In settings, stands for the folder of a small run whose encoder gives features.
const FEATURES: &str = "features = 'features'";
const FEATURES_NETWORK: (&str, &str) = ("mlp", "latents = 2\nencoder = [7, 5]\ndecoder = [4]\nnonlinearity = 'tanh'");

/// Puts what an autoencoder of this network leaves of a run into a folder: its config and a checkpoint.
pub fn write_features(folder: &Path, network: (&str, &str), shape: ImageShape) -> Learner {
    let learner = Parts::new(("ae", ""), network, shape).learner();
    let config = format!("[framework]\nname = 'ae'\n[model]\nname = '{}'\n{}\n", network.0, network.1);
    std::fs::write(folder.join("config.toml"), &config).unwrap();
    std::fs::write(folder.join("model.safetensors"), checkpoint::write(&learner, &config).unwrap()).unwrap();
    learner
}

/// The setting that chooses a reconstruction loss, with what it cannot do without.
pub fn chosen(reconstruction: &Entry) -> String {
    match reconstruction.example {
        "" => format!("reconstruction = '{}'", reconstruction.name),
        example => format!("reconstruction = {{ name = '{}', {example} }}", reconstruction.name),
    }
}

pub fn table(text: &str) -> Table {
    text.parse().unwrap()
}

/// Images `[n_images, pixels]` that repeat from step to step but are not all alike.
pub fn batch(learner: &Learner, step: u64, n_images: usize) -> Batch {
    let pixels = learner.model.image_shape.n_pixels();
    let n_members = learner.framework.arity() * learner.framework.n_batches();
    let value = |member: usize, i: usize| 0.5 + 0.5 * ((i * 7 + member * 3 + (i % pixels) * 5) as f32 * 0.61).sin();
    let values = |member: usize| (0..n_images * pixels).map(|i| value(member, i)).collect();
    batch_of(learner, step, (0..n_members).map(values).collect())
}

/// A batch of these members, each `[images, pixels]`, whose images are numbered from 0 and have no factors; each
/// example shares another one.
pub fn batch_of(learner: &Learner, step: u64, members: Vec<Vec<f32>>) -> Batch {
    let pixels = learner.model.image_shape.n_pixels();
    let members = members.into_iter().map(|values| {
        let n_images = values.len() / pixels;
        Member {
            images: learner.model.parameters.tensor(values, [n_images, pixels]),
            numbers: (0..n_images).collect(),
            factors: Array2::zeros((n_images, 0)),
        }
    });
    let members: Vec<Member> = members.collect();
    let shared = (0..members[0].numbers.len()).map(|example| example % learner.model.latents()).collect();
    Batch { step, n_images: N_IMAGES, members, shared }
}

/// The losses of a batch, with the noise of its step.
pub fn losses(learner: &Learner, batch: &Batch) -> Losses {
    let mut noise = Seed(3).stream_at("noise", batch.step);
    learner.framework.loss(&learner.model, batch, &mut learner.state().clone(), &mut noise)
}
