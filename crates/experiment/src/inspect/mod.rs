//! Looks inside a trained run: which latents are active, what each carries and costs, whether they move the image in directions of their own,
//! and how all that came about (T4 chapter 3).
//!
//! [`inspect`] computes, [`inspection_json`] and [`latents_rows`] tell, [`write_page`] and [`write_page_of_several`] draw. All goes by the codes
//! and log-variances that the run saved; the decoder is asked at some of the codes ([`InspectSettings::images`]).

mod json;
mod latents;
mod page;
mod pictures;
mod regime;
mod sampled;
mod several;
mod table;
mod verdict;

use std::path::{Path, PathBuf};

use ndarray::Array2;
use unbraid_data::words::listed;
use unbraid_data::{Error, LabelledCodes, Result, Seed};
use unbraid_learn::posteriors::Moved;
use unbraid_metrics::Scores;

use self::latents::{facts_of_latents, price_of_a_nat};
use self::pictures::why_no_pictures;
use self::sampled::Sampled;
use crate::jacobians::Way;
use crate::measure::read_codes_of;
use crate::trained_run::TrainedRun;
use crate::watch::Watch;

pub use self::json::{inspection_json, several_json};
pub use self::latents::{LatentFacts, Standing};
pub use self::page::{write_page, write_page_of_several};
pub use self::regime::Regime;
pub use self::sampled::{Directions, RandomRotations};
pub use self::several::{Agreement, Several};
pub use self::table::{directions_rows, latents_rows, several_rows};
pub use self::verdict::{Verdict, verdict};

/// What is looked at, and how it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectSettings {
    /// At how many codes the decoder's Jacobian is taken; fewer where there are fewer, or where they would not fit into memory.
    pub images: usize,
    /// How it is computed.
    pub way: Way,
    /// How far eigen-images and planes go to each side of the mean code (T4 3.3.5).
    pub alpha: f64,
    /// Which latents are moved against each other, two by two; the first two in order where there are none.
    pub planes: Vec<[usize; 2]>,
}

impl Default for InspectSettings {
    fn default() -> Self {
        Self { images: 100, way: Way::Differences, alpha: 2.5, planes: Vec::new() }
    }
}

/// Farther from the mean code than this no decoder was asked by any image.
const MOST_ALPHA: f64 = 1e6;

/// What an image's code comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posterior {
    /// A variance for each latent.
    Diagonal,
    /// A covariance matrix.
    Full,
    /// Some latents are probabilities of classes.
    Concrete,
    /// Nothing, and latents take a few values.
    Quantised,
    /// Nothing.
    Deterministic,
}

impl Posterior {
    fn of(run: &TrainedRun, data: &LabelledCodes) -> Self {
        let extras = data.extras();
        match (extras.log_variances.is_some(), extras.kl_divergences.is_some()) {
            (true, false) => Self::Diagonal,
            (true, true) => Self::Full,
            (false, true) => Self::Concrete,
            (false, false) if run.model.moved().iter().any(|moved| matches!(moved, Moved::Values(_))) => {
                Self::Quantised
            }
            (false, false) => Self::Deterministic,
        }
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diagonal => "diagonal Gaussian",
            Self::Full => "full Gaussian",
            Self::Concrete => "Gaussian and classes",
            Self::Quantised => "quantised",
            Self::Deterministic => "deterministic",
        }
    }

    /// The latents of a run that have a standard normal prior.
    fn gaussian_latents(self, run: &TrainedRun) -> Vec<usize> {
        let of = |moved: Moved| match (self, moved) {
            (Self::Diagonal | Self::Full | Self::Concrete, Moved::Latent(latent)) => Some(latent),
            _ => None,
        };
        run.model.moved().into_iter().filter_map(of).collect()
    }

    fn has_variances(self) -> bool {
        matches!(self, Self::Diagonal | Self::Full)
    }

    /// Why a latent has no price of its own, or no variance.
    fn why_no_budget(self) -> &'static str {
        match self {
            Self::Diagonal => "",
            Self::Full => {
                "the posterior has a full covariance: variances are of single latents, and what they share has no latent to be charged to"
            }
            Self::Concrete => "some latents are probabilities of classes, and the run keeps no variances",
            Self::Quantised => "a code is a point whose latents take a few values: there is no variance",
            Self::Deterministic => "a code is a point: there is no variance, and nothing to be charged for precision",
        }
    }
}

/// All that was found in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Its folder.
    pub path: PathBuf,
    /// The last part of its path.
    pub name: String,
    /// What it was trained with: framework, dataset, seed.
    pub framework: String,
    /// The dataset's name.
    pub dataset: String,
    /// The fingerprint of its images, where the run kept one.
    pub images: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// The step that its model is of.
    pub step: u64,
    /// What its codes come with.
    pub posterior: Posterior,
    /// Its latents in order.
    pub latents: Vec<LatentFacts>,
    /// What a nat costs, where that is known.
    pub price: Option<f64>,
    /// Whether latents are wholly active or passive, over training.
    pub regime: Regime,
    /// How many codes the decoder was asked at.
    pub n_codes: usize,
    /// How its Jacobians were computed.
    pub way: Way,
    /// Its directions over all latents.
    pub directions: Option<Directions>,
    /// The same over those whose means vary; none where there are none, or no prior that tells.
    pub active_directions: Option<Directions>,
    /// The mean Jacobian, `[pixels, latents]`.
    pub mean_jacobian: Option<Array2<f64>>,
    /// DS and MIG, from the run's scores; or why not.
    pub scores: Vec<(&'static str, std::result::Result<f64, String>)>,
    /// What does not apply to this run, and why.
    pub left_out: Vec<(String, String)>,
}

impl Inspection {
    /// How many latents are active by all rules that apply; none where there is no prior to tell by.
    pub fn n_active(&self) -> Option<usize> {
        let standings: Vec<Standing> = self.latents.iter().filter_map(|facts| facts.standing).collect();
        let is_active = |standing: &&Standing| **standing == Standing::Active;
        (!standings.is_empty()).then(|| standings.iter().filter(is_active).count())
    }

    /// What does not apply, each reason once.
    pub fn left_out_by_reason(&self) -> Vec<(String, String)> {
        let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
        for (what, why) in &self.left_out {
            match reasons.iter_mut().find(|(_, known)| known == why) {
                Some((names, _)) => names.push(what),
                None => reasons.push((vec![what], why)),
            }
        }
        reasons.into_iter().map(|(names, why)| (listed(&names), why.to_string())).collect()
    }

    /// DtO of all latents, where it can be compared with that of other runs: the codes of two latents or more vary. A single latent is always on its axis.
    pub fn compared_dto(&self) -> Option<f64> {
        let varying = if self.n_active().is_some() { &self.active_directions } else { &self.directions };
        varying.as_ref().filter(|directions| directions.n_latents > 1)?;
        self.directions.as_ref()?.dto
    }

    /// The same of the latents whose codes vary.
    pub fn compared_active_dto(&self) -> Option<f64> {
        self.active_directions.as_ref().filter(|directions| directions.n_latents > 1)?.dto
    }

    /// One of [`Inspection::scores`].
    pub fn score(&self, name: &str) -> Option<f64> {
        let (_, score) = self.scores.iter().find(|(known, _)| *known == name)?;
        score.as_ref().ok().copied()
    }
}

/// A run with what was found in it, ready to be drawn.
pub struct Inspected {
    /// The run.
    pub run: TrainedRun,
    /// Its codes.
    pub data: LabelledCodes,
    /// What was found.
    pub found: Inspection,
}

/// Opens a run and looks inside.
pub fn inspect(path: &Path, settings: &InspectSettings, watch: &mut dyn Watch) -> Result<Inspected> {
    let run = TrainedRun::open(path)?;
    let data = read_codes_of(&run)?;
    check(&run, &data, settings)?;
    watch.stage("inspecting", 0);
    let found = look_inside(&run, &data, settings)?;
    Ok(Inspected { run, data, found })
}

fn check(run: &TrainedRun, data: &LabelledCodes, settings: &InspectSettings) -> Result<()> {
    if settings.images == 0 {
        return Err(Error::new("0 images are asked for").help("wanted 1 or more"));
    }
    if !(settings.alpha > 0.0 && settings.alpha <= MOST_ALPHA) {
        return Err(Error::new(format!("alpha is {:?}", settings.alpha))
            .help(format!("wanted a number above 0, such as 2.5, and at most {MOST_ALPHA}")));
    }
    check_planes(run, data.n_latents(), &settings.planes)
}

/// Refuses latents that are not there, and those that cannot be moved by hand.
fn check_planes(run: &TrainedRun, n_latents: usize, planes: &[[usize; 2]]) -> Result<()> {
    let place = run.folder.path().display();
    let can_be_moved = |latent: &usize| run.model.moved().contains(&Moved::Latent(*latent));
    for plane @ [one, other] in planes {
        if one.max(other) >= &n_latents || one == other {
            return Err(Error::new(format!(
                "a plane of latents {one} and {other}, but {place} has {n_latents} latents"
            ))
            .help(format!("wanted two different numbers from 0 to {}", n_latents - 1)));
        }
        if let Some(why) = why_no_pictures(run) {
            return Err(Error::new(format!("a plane cannot be drawn of {place}: {why}")).help("leave --plane out"));
        }
        if let Some(latent) = plane.iter().find(|latent| !can_be_moved(latent)) {
            return Err(Error::new(format!("latent {latent} of {place} is the probability of a class"))
                .help("wanted latents that can be moved along a range; `unbraid traverse` steps from class to class"));
        }
    }
    Ok(())
}

fn look_inside(run: &TrainedRun, data: &LabelledCodes, settings: &InspectSettings) -> Result<Inspection> {
    let posterior = Posterior::of(run, data);
    let sampled = Sampled::new(&run.model, run.dataset.as_ref(), data, settings.images, settings.way)?;
    let price = price_of_a_nat(run, posterior);
    let gaussian = posterior.gaussian_latents(run);
    let latents = facts_of_latents(data, posterior, &gaussian, sampled.as_ref(), price.as_ref().ok().copied());
    let mut varying: Vec<usize> = latents
        .iter()
        .filter(|facts| facts.standing.is_some_and(Standing::has_varying_means))
        .map(|facts| facts.latent)
        .collect();
    varying.sort_unstable();
    // The same rotations for every run, so that runs can be compared.
    let directions = |latents: &[usize]| Some(sampled.as_ref()?.directions(latents, Seed(0)));
    let regime = Regime::of(run, data, posterior)?;
    Ok(Inspection {
        path: run.folder.path().to_path_buf(),
        name: run.folder.name(),
        framework: run.config.framework.name.clone(),
        dataset: run.config.dataset.name.clone(),
        images: run.folder.read_dataset()?.map(|record| record.fingerprint),
        seed: run.config.seed,
        step: run.step,
        posterior,
        left_out: left_out(run, posterior, &price, &regime),
        latents,
        price: price.ok(),
        regime,
        n_codes: sampled.as_ref().map_or(0, Sampled::n_codes),
        way: settings.way,
        directions: directions(&(0..data.n_latents()).collect::<Vec<usize>>()),
        active_directions: if varying.is_empty() { None } else { directions(&varying) },
        mean_jacobian: sampled.as_ref().map(Sampled::mean),
        scores: scores(run)?,
    })
}

/// What does not apply, and why.
fn left_out(
    run: &TrainedRun,
    posterior: Posterior,
    price: &std::result::Result<f64, String>,
    regime: &Regime,
) -> Vec<(String, String)> {
    let mut left_out = Vec::new();
    let mut add = |what: &str, why: &str| left_out.push((what.to_string(), why.to_string()));
    if !posterior.has_variances() {
        add("variances, KL and budgets of latents", posterior.why_no_budget());
    }
    if posterior.gaussian_latents(run).is_empty() {
        add(
            "active and passive latents",
            "there is no prior, so that a deviation of codes has no unit to be measured in",
        );
    }
    if !run.model.has_decoder() {
        add("Jacobians, DtO, singular values and pictures", "the model has no decoder");
    } else {
        if let Err(why) = price {
            add("how near latents are to their best variance", why);
        }
        if let Some(why) = why_no_pictures(run) {
            add("eigen-images and planes", why);
        }
    }
    if let Err(why) = &regime.at_end {
        add("relative KL error", why);
    }
    if let Err(why) = &regime.over_training {
        add("relative KL error over training", why);
    }
    left_out
}

/// DS and MIG as the run scored them.
fn scores(run: &TrainedRun) -> Result<Vec<(&'static str, std::result::Result<f64, String>)>> {
    let scores = if run.folder.scores_path().exists() { run.folder.read_scores()? } else { Scores::new() };
    let of = |name: &'static str| {
        let reason = scores.reason(name).map_or_else(|| "the run did not score it".to_string(), str::to_string);
        (name, scores.value(name).ok_or(reason))
    };
    Ok(vec![of("ds"), of("mig")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::prepare::prepare;
    use crate::run::start;
    use crate::watch::Nobody;

    const BETA: f64 = 0.05;

    /// The vector turned by 45 degrees about the line of (1, -1, 1), by Rodrigues' formula.
    fn turned(v: [f64; 3]) -> [f64; 3] {
        let axis = [1.0, -1.0, 1.0].map(|part: f64| part / 3.0_f64.sqrt());
        let (sin, cos) = std::f64::consts::FRAC_PI_4.sin_cos();
        let dot: f64 = axis.iter().zip(v).map(|(a, b)| a * b).sum();
        let cross = [axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2], axis[0] * v[1] - axis[1] * v[0]];
        std::array::from_fn(|i| v[i] * cos + cross[i] * sin + axis[i] * dot * (1.0 - cos))
    }

    /// A linear VAE finds the principal components (T4 theorem 2). Of directions of variance v its optimum is known (Tipping and Bishop 1999; Lucas et
    /// al. 2019): columns of the length sqrt(v - beta / 2), and posteriors of the variance beta / 2 / v.
    #[test]
    fn a_linear_vae_is_found_to_be_pca() {
        let text = format!(
            "seed = 1\nrows = 5000\nmetrics = []\n[dataset]\nname = 'synth_linear'\n[framework]\nname = 'beta_vae'\nbeta = {BETA}\n\
             [model]\nname = 'linear'\n[training]\nsteps = 8000\nbatch_size = 256\ncheckpoint_every = 2000\n\
             learning_rate = {{ from = 1e-2, to = 0.0, steps = 8000 }}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let config = Config::parse(&text, &[]).unwrap();
        start(&config, prepare(&config).unwrap(), &path, &mut Nobody).unwrap();
        let found = inspect(&path, &InspectSettings::default(), &mut Nobody).unwrap().found;

        // The square is stretched by 2 along its first axis: variances 4/12 and 1/12 along the turned axes.
        let principal = [(turned([1.0, 0.0, 0.0]), 4.0 / 12.0), (turned([0.0, 1.0, 0.0]), 1.0 / 12.0)];
        let jacobian = found.mean_jacobian.as_ref().unwrap();
        let directions = found.active_directions.as_ref().unwrap();
        for (place, (facts, (axis, variance))) in found.latents.iter().zip(principal).enumerate() {
            let norm = facts.direction_norm.unwrap();
            let along: f64 = axis.iter().zip(jacobian.column(facts.latent)).map(|(a, b)| a * b).sum();
            let degrees = (along.abs() / norm).min(1.0).acos().to_degrees();
            assert!(degrees < 2.0, "component {place}: {degrees} degrees");
            let near = |found: f64, wanted: f64, share: f64| {
                assert!((found - wanted).abs() < share * wanted, "component {place}: {found}, not {wanted}");
            };
            let length = (variance - BETA / 2.0).sqrt();
            near(norm, length, 0.02);
            near(directions.singular_values[place].0, length, 0.02);
            near(facts.variance.unwrap(), BETA / 2.0 / variance, 0.05);
            near(facts.of_optimum.unwrap(), 1.0, 0.05);
            assert_eq!(facts.standing, Some(Standing::Active));
        }
        assert!(directions.dto.unwrap() < 0.05, "{:?}", directions.dto);
        assert!(
            verdict(&found)
                .summary
                .starts_with("2 of 2 latents are active; they move the image in directions of their own")
        );
    }
}
