//! How images are changed, and the two datasets that come of it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use unbraid_data::words::quoted;
use unbraid_data::{Error, Result, Seed};
use unbraid_formats::export::export_altered_npz;
use unbraid_learn::perturbation::Perturbation;

use super::PerturbFolder;
use super::bytes::{put_altered, put_noise};
use super::config::PerturbSettings;
use super::models::{Known, Models};
use super::summary::{Summary, checksum};
use crate::train::Ending;
use crate::watch::Watch;

/// How bytes are changed: by the numbers of images that follow each other, and their bytes.
pub type Change<'a> = dyn Fn(Range<usize>, &mut [u8]) + 'a;

/// All that decides how an image is changed.
pub struct Alteration<'a> {
    /// How much.
    pub settings: &'a PerturbSettings,
    /// The images, and what is known of them.
    pub models: &'a Models,
    /// Posteriors, where codes stand in for factors.
    pub known: Option<&'a Known>,
    /// What was learned.
    pub perturbation: &'a Perturbation,
}

impl Alteration<'_> {
    /// Alters the bytes of images that follow each other.
    pub fn alter(&self, numbers: Range<usize>, images: &mut [u8]) {
        let pixels: Vec<f32> = images.iter().map(|&byte| f32::from(byte) / 255.0).collect();
        let inputs = self.models.inputs_of(&numbers.collect::<Vec<_>>(), self.known);
        let altered = self.perturbation.manipulation().altered_images(&pixels, &inputs);
        put_altered(images, &altered, self.settings.epsilon);
    }

    /// Adds noise to the bytes of images that follow each other.
    pub fn add_noise(&self, numbers: Range<usize>, images: &mut [u8]) {
        let n_pixels = self.models.dataset.image_shape().n_pixels();
        put_noise(images, n_pixels, numbers.start, self.settings.epsilon, Seed(self.settings.seed));
    }

    /// What the single neuron makes of these images.
    pub fn neuron(&self, numbers: &[usize]) -> Vec<f32> {
        self.perturbation.manipulation().neuron(&self.models.inputs_of(numbers, self.known))
    }

    /// Writes the altered images, and the images with noise, where they are not there yet, or are no longer what was written.
    pub fn write(&self, folder: &PerturbFolder, watch: &mut dyn Watch) -> Result<Ending> {
        let files: [(PathBuf, &str, &Change<'_>); 2] = [
            (folder.perturbed_path(), "writing altered images", &|numbers, images| self.alter(numbers, images)),
            (folder.noise_path(), "writing images with noise", &|numbers, images| self.add_noise(numbers, images)),
        ];
        let known = match folder.summary_path().exists() {
            true => Summary::read(folder)?.checksums,
            false => None,
        };
        let mut ending = Ending::FinishedBefore(self.settings.steps);
        for (position, (path, stage, change)) in files.into_iter().enumerate() {
            if path.exists() {
                match &known {
                    Some(known) if checksum(&path)? != known[position] => {
                        watch.note(&format!("{} is not what was written, and is written again", quoted(&path)));
                    }
                    _ => continue,
                }
            }
            ending = self.write_file(&path, stage, change, watch)?;
            if ending != Ending::Finished {
                break;
            }
        }
        Ok(ending)
    }

    fn write_file(&self, path: &Path, stage: &str, change: &Change<'_>, watch: &mut dyn Watch) -> Result<Ending> {
        let dataset = self.models.dataset.as_ref();
        watch.stage(stage, dataset.n_images() as u64);
        let mut stopped = false;
        let written = export_altered_npz(dataset, path, |numbers, images| {
            watch.progress(numbers.end as u64);
            stopped = watch.should_stop();
            if stopped {
                return Err(Error::failure("stopped"));
            }
            change(numbers, images);
            Ok(())
        });
        if stopped {
            return Ok(Ending::Stopped(self.settings.steps));
        }
        written.map(|()| Ending::Finished)
    }
}
