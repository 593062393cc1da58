//! A line search for beta, by the tip at the end of T4 section 3.3.6: raise it until the mean posterior variance of one latent comes to about 1. That
//! latent has become the prior, the model enters the polarized regime, and T4 expects the best beta in that order of magnitude.
//!
//! Where beta acts is known for a linear VAE, whose loss is a squared error summed over pixels plus beta times the KL divergence. Of a direction of
//! variance `v`, encoded with factor `a` and posterior variance `s`, decoded with factor `w`, the expected loss is
//!
//! `v (1 - w a)^2 + w^2 s + beta/2 (a^2 v + s - ln s - 1)`.
//!
//! The best `a` is `2 w / (beta + 2 w^2)` and the best `s` is `beta / (beta + 2 w^2)`; with `u = 2 w^2 / beta` what is left is
//! `v / (1 + u) + beta/2 ln(1 + u)`, which is least at `1 + u = 2 v / beta`, or at `u = 0` where that is less than 1. So the posterior
//! variance is `min(1, beta / 2 v)`, and from `beta = 2 v` on the direction is left out. Averages over pixels and latents (`reduction = "mean"`) multiply
//! this beta by latents over pixels.
//!
//! Values are tried from small to large, each by a short training in a folder of its own, until a latent is out; then the two values that enclose the place are
//! halved, in ratios.

mod figure;

use std::path::{Path, PathBuf};

use toml::Value;
use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};
use unbraid_learn::frameworks;
use unbraid_metrics::Scores;
use unbraid_report::RunFolder;

use crate::config::Config;
use crate::dataset_record;
use crate::run_once::run_once;
use crate::train::Ending;
use crate::watch::Watch;

pub use figure::draw_search;

/// The mean posterior variance from which on a latent counts as out. A linear VAE's comes to it at 0.95 of the beta that leaves the latent out, and a trained one
/// never quite comes to 1.
pub const SWITCHED_OFF: f64 = 0.95;
/// How often the two values around the place are halved.
const N_HALVINGS: usize = 2;
/// Values are tried in steps of this ratio, two in each power of ten.
const RATIO: f64 = 3.162_277_660_168_379_5;
/// Where the search begins and ends unless told, for losses that are summed: images of a few dozen to a few thousand pixels lie between.
const RANGE: (f64, f64) = (1e-3, 1e3);
/// Values of beta beyond these are refused: folders are called by them, and no loss has such a unit.
const LIMITS: (f64, f64) = (1e-12, 1e12);
/// Images that are encoded for the scores, at most.
const MOST_ROWS: usize = 5_000;

/// What is searched: a config whose beta is replaced, and from where to where.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The config of every training, but for its beta.
    pub config: Config,
    /// The least value.
    pub from: f64,
    /// The value at which the search gives up.
    pub to: f64,
}

/// One value of beta, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// The weight of the KL divergence.
    pub beta: f64,
    /// The run.
    pub folder: PathBuf,
    /// Latents whose codes deviate by more than 0.5.
    pub n_active: usize,
    /// Mean posterior variance of each latent.
    pub variances: Vec<f64>,
    /// All that was measured.
    pub scores: Scores,
}

impl Tried {
    /// The smallest and the largest of the mean posterior variances.
    pub fn variance_range(&self) -> (f64, f64) {
        let smallest = self.variances.iter().copied().fold(f64::INFINITY, f64::min);
        (smallest, largest_variance(&self.scores))
    }

    /// Whether some latent is out.
    pub fn has_one_out(&self) -> bool {
        largest_variance(&self.scores) >= SWITCHED_OFF
    }
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Suggestion {
    /// The first latent goes out between these two values.
    Between(f64, f64),
    /// A latent is out at the least value already.
    OutFromTheStart(f64),
    /// No latent is out at the largest value.
    NoneOut(f64),
}

impl Suggestion {
    /// A value to start from, where there is one: the middle of both, in ratios.
    pub fn beta(self) -> Option<f64> {
        match self {
            Self::Between(below, above) => Some(rounded((below * above).sqrt())),
            Self::OutFromTheStart(_) | Self::NoneOut(_) => None,
        }
    }
}

impl Search {
    /// A search with this config, which has to weigh a KL divergence by beta; a `vae` is taken for a `beta_vae`.
    pub fn new(mut config: Config, from: Option<f64>, to: Option<f64>) -> Result<Self> {
        if config.framework.name == "vae" {
            config.framework.name = "beta_vae".to_string();
        }
        check_framework(&config)?;
        let dataset = dataset_record::open(&config)?;
        let metrics: &[&str] = match dataset.factors().n_factors() {
            0 => &["polarized", "kl", "reconstruction", "dto"],
            _ => &["polarized", "kl", "reconstruction", "dto", "ds", "mig"],
        };
        let named: Vec<String> = metrics.iter().map(|name| format!("{{ name = '{name}' }}")).collect();
        let mut changes = vec![format!("metrics=[{}]", named.join(", ")), "framework.beta=1.0".to_string()];
        if config.rows.is_none_or(|rows| rows > MOST_ROWS) && dataset.n_images() > MOST_ROWS {
            changes.push(format!("rows={MOST_ROWS}"));
        }
        config.selection = None;
        let config = Config::parse(&config.to_toml(), &changes)?;
        let unit = unit_of_beta(&config, dataset.image_shape().n_pixels());
        let (from, to) = (rounded(from.unwrap_or(RANGE.0 * unit)), rounded(to.unwrap_or(RANGE.1 * unit)));
        if !(from >= LIMITS.0 && from < to && to <= LIMITS.1) {
            return Err(Error::new(format!("the search goes from {from:?} to {to:?}"))
                .help(format!("wanted --from of {:e} or more, and --to above that, up to {:e}", LIMITS.0, LIMITS.1)));
        }
        Ok(Self { config, from, to })
    }

    /// The config with this beta.
    fn config_of(&self, beta: f64) -> Config {
        let mut config = self.config.clone();
        config.framework.settings.insert("beta".to_string(), Value::Float(beta));
        config
    }

    /// Trains with one beta; nothing where the user asks to stop.
    fn try_beta(&self, beta: f64, folder: &Path, watch: &mut dyn Watch) -> Result<Option<Tried>> {
        let path = folder.join(format!("beta-{beta}"));
        watch.note(&format!("beta {beta}: {}", quoted(&path)));
        if let Ending::Stopped(_) = run_once(&self.config_of(beta), &path, watch)? {
            return Ok(None);
        }
        let scores = RunFolder::open(&path)?.read_scores()?;
        let variances = variances(&scores);
        if variances.is_empty() {
            return Err(Error::failure(format!("{} has no posterior variances", quoted(&path)))
                .help("the search needs a posterior of independent Gaussian latents"));
        }
        let n_active = scores.value("polarized.active").unwrap_or(0.0) as usize;
        Ok(Some(Tried { beta, folder: path, n_active, variances, scores }))
    }
}

/// Carries out the search, going on with what an earlier one left in the folder; gives what was tried, by rising beta, and what follows. Nothing where the user
/// asks to stop.
pub fn search(search: &Search, folder: &Path, watch: &mut dyn Watch) -> Result<Option<(Vec<Tried>, Suggestion)>> {
    let mut tried: Vec<Tried> = Vec::new();
    for beta in values(search.from, search.to) {
        let Some(one) = search.try_beta(beta, folder, watch)? else { return Ok(None) };
        tried.push(one);
        if tried.last().is_some_and(Tried::has_one_out) {
            break;
        }
    }
    if tried.len() > 1 {
        for _ in 0..N_HALVINGS {
            // While none is out there is nothing to enclose.
            let Some(first_out) = tried.iter().position(Tried::has_one_out).filter(|position| *position > 0) else {
                break;
            };
            let middle = rounded((tried[first_out - 1].beta * tried[first_out].beta).sqrt());
            let Some(one) = search.try_beta(middle, folder, watch)? else { return Ok(None) };
            tried.insert(first_out, one);
        }
    }
    let suggestion = suggestion(&tried);
    Ok(Some((tried, suggestion)))
}

fn suggestion(tried: &[Tried]) -> Suggestion {
    match tried.iter().position(Tried::has_one_out) {
        Some(0) => Suggestion::OutFromTheStart(tried[0].beta),
        Some(first_out) => Suggestion::Between(tried[first_out - 1].beta, tried[first_out].beta),
        None => Suggestion::NoneOut(tried.last().map_or(f64::NAN, |last| last.beta)),
    }
}

/// The values that are tried in turn, the last of them `to` itself.
fn values(from: f64, to: f64) -> Vec<f64> {
    let mut values: Vec<f64> =
        (0..).map(|power| rounded(from * RATIO.powi(power))).take_while(|value| *value < to).collect();
    values.push(to);
    values
}

/// Three digits, so that folders have short names and a search comes to the same values again.
fn rounded(beta: f64) -> f64 {
    format!("{beta:.2e}").parse().unwrap_or(beta)
}

/// What a beta for sums is to be multiplied by.
fn unit_of_beta(config: &Config, n_pixels: usize) -> f64 {
    let is_mean = config.framework.settings.get("reduction").and_then(Value::as_str) == Some("mean");
    let latents = config.model.settings.get("latents").and_then(Value::as_integer).unwrap_or(1);
    if is_mean { latents as f64 / n_pixels as f64 } else { 1.0 }
}

/// Refuses a framework without a beta, and one whose posterior has no variance for each latent.
fn check_framework(config: &Config) -> Result<()> {
    let name = &config.framework.name;
    let entry = frameworks::find(name)?;
    let names: Vec<&str> = frameworks::FRAMEWORKS
        .iter()
        .filter(|entry| has_beta(entry) && entry.name != "beta_vae_full")
        .map(|entry| entry.name)
        .collect();
    let help = format!("wanted vae or one of {}", names.join(", "));
    if !has_beta(entry) {
        let message = format!("framework \"{name}\" has no beta, a weight of the KL divergence that could be searched");
        return Err(Error::new(message).help(help));
    }
    if frameworks::build(name, &config.framework.settings)?.posterior().keeps_kl_divergences() {
        let message = format!("framework \"{name}\" has a posterior whose latents have no variance of their own");
        return Err(Error::new(message).help(help));
    }
    Ok(())
}

fn has_beta(entry: &frameworks::Entry) -> bool {
    entry.settings.iter().any(|setting| setting.name == "beta")
}

/// The largest mean posterior variance of a latent.
pub fn largest_variance(scores: &Scores) -> f64 {
    variances(scores).into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// Mean posterior variance of each latent.
fn variances(scores: &Scores) -> Vec<f64> {
    let of_latents = scores.values.iter().filter(|score| score.name.starts_with("polarized.variance."));
    of_latents.map(|score| score.value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(beta: f64, variance: f64) -> Tried {
        let scores = Scores::new().with_latent("polarized.variance", 0, Ok::<f64, String>(variance));
        Tried { beta, folder: PathBuf::new(), n_active: 1, variances: vec![variance], scores }
    }

    #[test]
    fn values_rise_by_the_root_of_ten_and_end_where_they_are_told_to() {
        assert_eq!(values(0.01, 0.5), [0.01, 0.0316, 0.1, 0.316, 0.5]);
        assert_eq!(values(1.0, 10.0), [1.0, 3.16, 10.0]);
    }

    #[test]
    fn the_place_is_between_the_last_that_is_in_and_the_first_that_is_out() {
        assert_eq!(suggestion(&[tried(0.1, 0.5), tried(0.4, 0.9), tried(0.9, 0.96)]), Suggestion::Between(0.4, 0.9));
        // The root of 0.4 * 0.9.
        assert_eq!(Suggestion::Between(0.4, 0.9).beta(), Some(0.6));
        assert_eq!(suggestion(&[tried(0.1, 0.95)]), Suggestion::OutFromTheStart(0.1));
        assert_eq!(suggestion(&[tried(0.1, 0.5), tried(0.2, 0.6)]), Suggestion::NoneOut(0.2));
    }

    #[test]
    fn means_over_pixels_and_latents_change_the_unit() {
        let text = "[dataset]\nname = 'synth_linear'\n[framework]\nname = 'vae'\nreduction = 'mean'\n[model]\nname = 'linear'\nlatents = 2";
        let search = Search::new(Config::parse(text, &[]).unwrap(), None, None).unwrap();
        // Two latents over three pixels.
        assert_eq!((search.from, search.to), (6.67e-4, 667.0));
        assert_eq!(search.config.framework.name, "beta_vae");
        assert_eq!(search.config_of(0.5).framework.settings["beta"].as_float(), Some(0.5));
        // A run compares its config with the one that it reads back.
        let config = search.config_of(0.5);
        assert_eq!(Config::parse(&config.to_toml(), &[]).unwrap(), config);
    }
}
