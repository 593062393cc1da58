//! From a config to the things it names: dataset, sampler, model and learner, checked to fit together.

use std::sync::Arc;

use rand::seq::index;
use unbraid_data::samplers::{self, Sampler};
use unbraid_data::split::Images;
use unbraid_data::{Dataset, Error, ImageShape, Result, Seed, Split};
use unbraid_learn::reconstruction::Reconstruction;
use unbraid_learn::{Device, Framework, Learner, frameworks, networks, optimisers};

use crate::config::{Config, in_place};
use crate::dataset_record::open;

/// What a config names, ready to be trained.
pub struct Prepared {
    /// What is learned from.
    pub dataset: Arc<dyn Dataset>,
    /// Its parts.
    pub split: Arc<Split>,
    /// Which images are seen together.
    pub sampler: Arc<dyn Sampler>,
    /// The model before its first step.
    pub learner: Learner,
}

/// Opens and builds all that the config names.
pub fn prepare(config: &Config) -> Result<Prepared> {
    let dataset: Arc<dyn Dataset> = Arc::from(open(config)?);
    let split = Arc::new(config.split_of(dataset.n_images())?);
    let sampler = samplers::build(&config.sampler.name, &config.sampler.settings, dataset.factors(), &split);
    let sampler: Arc<dyn Sampler> = Arc::from(sampler.map_err(|error| in_place(error, "[sampler]"))?);
    let framework = frameworks::build(&config.framework.name, &config.framework.settings);
    let framework = framework.map_err(|error| in_place(error, "[framework]"))?;
    check_sampler(config, framework.arity(), sampler.arity())?;
    check_counts(config, dataset.as_ref(), &split)?;
    check_batch(config, framework.least_batch())?;
    if let Some(selection) = &config.selection {
        selection.check(config, &split)?;
        if dataset.factors().n_factors() == 0 && unbraid_metrics::reads_factors(&selection.metric) {
            let message =
                format!("[selection] metric \"{}\" needs factors, and the images have none", selection.metric);
            return Err(Error::new(message).help("use metric = \"reconstruction\" or another that needs none"));
        }
    }
    if let Some(reconstruction) = framework.reconstruction() {
        check_pixels("reconstruction", reconstruction, dataset.as_ref())?;
    }
    if let Some(perceived) = framework.perceived() {
        check_pixels("perceived", perceived, dataset.as_ref())?;
    }

    let learner = build_learner(config, framework, dataset.image_shape(), dataset.factors().n_factors())?;
    Ok(Prepared { dataset, split, sampler, learner })
}

/// The model of a config before its first step, for images of this shape and of so many factors.
pub(crate) fn build_learner(
    config: &Config,
    framework: Box<dyn Framework>,
    shape: ImageShape,
    n_factors: usize,
) -> Result<Learner> {
    let network = networks::build(&config.model.name, &config.model.settings, shape);
    let network = network.map_err(|error| in_place(error, "[model]"))?;
    let fits = framework.check_factors(network.latents(), n_factors);
    fits.map_err(|error| error.of("[framework]"))?;
    let optimiser = optimisers::build(&config.optimiser.name, &config.optimiser.settings);
    let optimiser = optimiser.map_err(|error| in_place(error, "[optimiser]"))?;
    Learner::new(network, framework, optimiser, shape, Seed(config.seed), Device::cpu())
}

/// The numbers of the images that are encoded for the final scores, in rising order: the test images of a split, or all images
/// where there are none; as many of them as the config says. They do not depend on the seed of the run, so that runs can be
/// compared image by image.
pub fn rows_to_encode(config: &Config, n_images: usize) -> Result<Vec<usize>> {
    let split = config.split_of(n_images)?;
    let all = Images::All(n_images);
    let images = if split.test().is_empty() { &all } else { split.test() };
    Ok(match config.rows {
        Some(rows) if rows < images.len() => {
            let mut chosen = index::sample(&mut Seed(config.rows_seed).stream("rows"), images.len(), rows).into_vec();
            chosen.sort_unstable();
            chosen.into_iter().map(|position| images.number(position)).collect()
        }
        _ => images.numbers().collect(),
    })
}

/// Refuses a sampler that the framework does not name, and says which it does.
fn check_sampler(config: &Config, wanted: usize, found: usize) -> Result<()> {
    let (framework, sampler) = (&config.framework.name, &config.sampler.name);
    let suited = frameworks::find(framework)?.samplers;
    if suited.contains(&sampler.as_str()) {
        return Ok(());
    }
    let message = if wanted == found {
        format!("framework \"{framework}\" does not learn from what sampler \"{sampler}\" draws")
    } else {
        let (wanted, found) = (images(wanted), images(found));
        format!("framework \"{framework}\" trains on {wanted}, but sampler \"{sampler}\" draws {found}")
    };
    let suited: Vec<String> = suited.iter().map(|name| format!("\"{name}\"")).collect();
    Err(Error::new(message).help(format!("use sampler {}, or leave the sampler out", suited.join(" or "))))
}

fn check_batch(config: &Config, least: usize) -> Result<()> {
    let (framework, batch_size) = (&config.framework.name, config.training.batch_size);
    if batch_size >= least {
        return Ok(());
    }
    let message =
        format!("[training] setting \"batch_size\" is {batch_size}, and framework \"{framework}\" compares images");
    Err(Error::new(message).help(format!("wanted {least} or more")))
}

fn images(count: usize) -> String {
    match count {
        1 => "1 image".to_string(),
        2 => "pairs".to_string(),
        3 => "triplets".to_string(),
        more => format!("{more} images"),
    }
}

/// More images than this are not encoded by default: their numbers and codes alone would take gigabytes.
const MOST_ROWS: usize = 20_000_000;
/// More pixels than this in a batch would take more than a gigabyte before the network sees them.
const MOST_BATCH_PIXELS: usize = 1 << 28;

fn check_counts(config: &Config, dataset: &dyn Dataset, split: &Split) -> Result<()> {
    let (n_images, pixels) = (dataset.n_images(), dataset.image_shape().n_pixels());
    let batch_size = config.training.batch_size;
    let (n_train, train) = match split.train() {
        Images::All(n_images) => (*n_images, ""),
        Images::Some(numbers) => (numbers.len(), " to learn from"),
    };
    let (n_scored, scored) = match split.test().len() {
        0 => (n_images, ""),
        n_test => (n_test, " for the test"),
    };
    let asked = [
        ("[training] setting \"batch_size\"", Some(batch_size), n_train, train),
        ("\"rows\"", config.rows, n_scored, scored),
    ];
    for (name, value, most, of) in asked {
        match value {
            Some(0) => return Err(Error::new(format!("{name} is 0")).help("wanted 1 or more")),
            Some(value) if value > most => {
                return Err(Error::new(format!("{name} is {value} but the dataset has {most} images{of}"))
                    .help(format!("wanted {most} or fewer")));
            }
            _ => {}
        }
    }
    if batch_size.saturating_mul(pixels) > MOST_BATCH_PIXELS {
        return Err(Error::new(format!("a batch of {batch_size} images of {pixels} pixels is too large"))
            .help(format!("wanted a \"batch_size\" of {} or fewer", MOST_BATCH_PIXELS / pixels)));
    }
    let rows = config.rows.unwrap_or(n_scored);
    if rows > MOST_ROWS {
        return Err(Error::new(format!("{rows} images would be encoded for the metrics"))
            .help(format!("wanted \"rows\" of {MOST_ROWS} or fewer, for instance rows = 20_000")));
    }
    Ok(())
}

fn check_pixels(setting: &str, reconstruction: &Reconstruction, dataset: &dyn Dataset) -> Result<()> {
    if !reconstruction.entry.wants_unit_pixels || dataset.has_unit_pixels() {
        return Ok(());
    }
    Err(Error::new(format!(
        "[framework] setting \"{setting}\" is \"{}\", which is for pixels between 0 and 1, but the dataset's are {}",
        reconstruction.entry.name,
        if dataset.as_standardised().is_some() { "standardised" } else { "points in space" }
    ))
    .help(format!("use {setting} = \"mse\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let config = Config::parse(text, &[]).unwrap();
        prepare(&config).err().expect("the parts do not fit together").to_string()
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let small =
            "[dataset]\nname = 'xy_squares'\nsquares = 1\n[model]\nname = 'mlp'\nencoder = [8]\ndecoder = [8]\n";
        assert_eq!(
            message(&format!("{small}[framework]\nname = 'ada_gvae'\n[sampler]\nname = 'single'")),
            "framework \"ada_gvae\" trains on pairs, but sampler \"single\" draws 1 image\n       \
             use sampler \"pair\" or \"temporal\" or \"shared_pair\", or leave the sampler out"
        );
        let large_batch = message(&format!("{small}[framework]\nname = 'vae'\n[training]\nbatch_size = 65"));
        assert!(large_batch.starts_with("[training] setting \"batch_size\" is 65 but the dataset has 64 images"));
        assert_eq!(
            message(&format!("{small}[framework]\nname = 'info_vae'\n[training]\nbatch_size = 1")),
            "[training] setting \"batch_size\" is 1, and framework \"info_vae\" compares images\n       wanted 2 or more"
        );
    }

    #[test]
    fn rows_are_distinct_and_in_order() {
        let text = "rows = 20\n[dataset]\nname = 'xy_squares'\n[framework]\nname = 'vae'";
        let rows = rows_to_encode(&Config::parse(text, &[]).unwrap(), 64).unwrap();
        assert_eq!(rows.len(), 20);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]) && rows[19] < 64, "{rows:?}");
    }

    #[test]
    fn runs_with_several_seeds_encode_the_same_rows() {
        let rows = |changes: &[&str]| {
            let text = "rows = 20\n[dataset]\nname = 'xy_squares'\n[framework]\nname = 'vae'";
            let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
            rows_to_encode(&Config::parse(text, &changes).unwrap(), 64).unwrap()
        };
        assert_eq!(rows(&["seed=2"]), rows(&["seed=3"]));
        assert_ne!(rows(&["rows_seed=2"]), rows(&["rows_seed=3"]));
    }
}
