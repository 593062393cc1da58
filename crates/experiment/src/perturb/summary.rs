//! What a perturbation came to, in numbers: `perturb.json`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use unbraid_data::whole_file::{read_text, write_whole};
use unbraid_data::words::counted;
use unbraid_data::{Error, Result};
use unbraid_report::read_losses;

use super::PerturbFolder;
use super::bytes::most_change;
use super::config::{GivenRun, PerturbConfig};
use super::pictures::Changed;

/// Losses of so many steps are averaged, at the beginning and at the end.
const AVERAGED: usize = 100;

/// What a perturbation came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The name of the dataset.
    pub dataset: String,
    /// How much a pixel may change.
    pub epsilon: f64,
    /// The same in whole bytes.
    pub most_bytes: u8,
    /// The mean size of a pixel's change, over some images.
    pub mean_change: f64,
    /// The same of the images with noise.
    pub mean_noise: f64,
    /// The greatest change of a byte, over the same images; not known of perturbations of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_change: Option<u8>,
    /// Over how many images.
    pub measured_images: usize,
    /// What the manipulation network is given: `factors`, or `codes`.
    pub inputs: String,
    /// The metric that chose among the runs.
    pub chosen_by: String,
    /// All runs.
    pub runs: Vec<GivenRun>,
    /// Mean losses of the first steps.
    pub first: Losses,
    /// Mean losses of the last steps.
    pub last: Losses,
    /// The CRC-32 of `perturbed.npz` and `noise.npz`; not known of perturbations of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<[String; 2]>,
}

/// Mean losses of some steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Of the entangled models.
    pub entangled: f64,
    /// Of the disentangled models.
    pub disentangled: f64,
    /// The first less the second.
    pub difference: f64,
    /// Over how many steps.
    pub n_steps: usize,
}

impl Summary {
    /// Of what lies in the folder.
    pub fn of(
        config: &PerturbConfig,
        folder: &PerturbFolder,
        dataset: &str,
        inputs: &str,
        [altered, noise]: [Changed; 2],
    ) -> Result<Self> {
        let table = read_losses(&folder.losses_path())?;
        let n_steps = AVERAGED.min(table.steps.len().div_ceil(2));
        let mean = |name: &str, first: bool| {
            let column = table.column(name).unwrap_or_default();
            let part = if first { &column[..n_steps] } else { &column[column.len() - n_steps..] };
            part.iter().sum::<f64>() / n_steps as f64
        };
        let losses = |first: bool| Losses {
            entangled: mean("entangled", first),
            disentangled: mean("disentangled", first),
            difference: mean("difference", first),
            n_steps,
        };
        Ok(Self {
            dataset: dataset.to_string(),
            epsilon: config.perturb.epsilon,
            most_bytes: most_change(config.perturb.epsilon),
            mean_change: altered.mean,
            mean_noise: noise.mean,
            largest_change: Some(altered.largest),
            measured_images: altered.n_images,
            inputs: inputs.to_string(),
            chosen_by: config.chosen_by.clone(),
            runs: config.runs.clone(),
            first: losses(true),
            last: losses(false),
            checksums: Some([checksum(&folder.perturbed_path())?, checksum(&folder.noise_path())?]),
        })
    }

    /// What was done and what came of it, in two sentences.
    pub fn in_words(&self) -> String {
        let Self { first, last, .. } = self;
        if self.largest_change == Some(0) {
            let images = counted(self.measured_images, "image");
            return format!(
                "No pixel of {images} changed, where {} was allowed: they are what they were.",
                self.epsilon
            );
        }
        let went = if last.difference < first.difference { "went from" } else { "did not fall: it went from" };
        let better = if last.difference < 0.0 { "entangled" } else { "disentangled" };
        format!(
            "{} The loss of the entangled models less that of the disentangled ones {went} {:.2} to {:.2}: the {better} ones draw the altered images \
             better.",
            self.change_in_words(),
            first.difference,
            last.difference
        )
    }

    fn change_in_words(&self) -> String {
        let Self { epsilon, most_bytes, mean_change, .. } = self;
        let mean = if *mean_change < 5e-4 { format!("{mean_change:.1e}") } else { format!("{mean_change:.3}") };
        let largest = self.largest_change.filter(|largest| largest < most_bytes);
        let largest = largest.map_or(String::new(), |largest| format!(", {largest} at most was found"));
        format!("Every pixel was changed by at most {epsilon} ({most_bytes} of 255{largest}; {mean} on average).")
    }

    /// Writes `perturb.json`.
    pub fn write(&self, folder: &PerturbFolder) -> Result<()> {
        let json = serde_json::to_string_pretty(self).expect("a summary is text and numbers");
        write_whole(&folder.summary_path(), format!("{json}\n").as_bytes())
    }

    /// Reads `perturb.json`.
    pub fn read(folder: &PerturbFolder) -> Result<Self> {
        let path = folder.summary_path();
        serde_json::from_str(&read_text(&path)?).map_err(|error| {
            Error::new(format!("{} is no summary: {error}", path.display()))
                .help("remove it and perturb.html, and the same command writes both again")
        })
    }
}

/// The CRC-32 of a file of any length, eight hexadecimal digits.
pub(super) fn checksum(path: &Path) -> Result<String> {
    let unread = |error: std::io::Error| Error::failure(format!("{} cannot be read: {error}", path.display()));
    let mut file = File::open(path).map_err(unread)?;
    let (mut hasher, mut part) = (crc32fast::Hasher::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut part).map_err(unread)? {
            0 => return Ok(format!("{:08x}", hasher.finalize())),
            n_bytes => hasher.update(&part[..n_bytes]),
        }
    }
}
