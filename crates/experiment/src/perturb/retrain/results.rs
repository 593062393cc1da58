//! What came of the runs that were trained again: scores of each, means and spreads over seeds, what fell and by how much.

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};
use unbraid_data::{LabelledCodes, Result, Seed};
use unbraid_metrics::metrics::polarized::{ACTIVE_BELOW, mean_variances};
use unbraid_metrics::{ScoreOf, Scores, Subject};
use unbraid_report::RunFolder;
use unbraid_report::scores_file::csv_cell;

use super::frameworks::{Published, Retrained, SCORES};
use super::plan::{Data, Planned};
use crate::config::Config;
use crate::measure::{measure_subject, read_codes};
use crate::reproductions::spread::Spread;
use crate::run::read_config;

/// One run and its scores.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// What was minimised.
    pub framework: &'static Retrained,
    /// What it was trained on.
    pub data: Data,
    /// Its seed.
    pub seed: u64,
    /// By how much the main setting was multiplied.
    pub scale: f64,
    /// Its folder.
    pub path: PathBuf,
    /// Each of [`SCORES`], where it is defined.
    pub scores: [Option<f64>; 4],
    /// The mutual information gap of each factor.
    pub mig_of_factors: Vec<(String, Option<f64>)>,
    /// How many latents are active, where posteriors have variances.
    pub active_latents: Option<usize>,
    /// How many factors vary.
    pub n_factors: usize,
}

impl RunResult {
    /// Reads a run that has ended.
    pub fn read(planned: &Planned) -> Result<Self> {
        let folder = RunFolder::open(&planned.path)?;
        let config = read_config(&folder)?;
        let data = read_codes(&folder, &config)?;
        let scores = scores_of(&folder, &config, &planned.config, &data)?;
        let whole = |name: &str| scores.value(name);
        let factor = |name: &str| {
            let of = ScoreOf::Factor(name.to_string());
            let found = scores.values.iter().find(|score| score.kind == "mig" && score.of == of);
            (name.to_string(), found.map(|score| score.value))
        };
        let varying = data.space().factors().iter().filter(|factor| factor.size != Some(1));
        Ok(Self {
            framework: planned.framework,
            data: planned.data,
            seed: planned.seed,
            scale: planned.scale,
            path: planned.path.clone(),
            scores: SCORES.map(whole),
            mig_of_factors: data.space().names().map(factor).collect(),
            active_latents: active_latents(&data),
            n_factors: varying.count(),
        })
    }

    /// Whether fewer latents are active than factors vary, so that not all of them can have been found.
    pub fn is_over_pruned(&self) -> bool {
        self.active_latents.is_some_and(|active| active < self.n_factors)
    }
}

/// The scores that a run left, where they were made with the settings that are wanted; else they are made of its codes.
fn scores_of(folder: &RunFolder, found: &Config, wanted: &Config, data: &LabelledCodes) -> Result<Scores> {
    if wanted.metrics.iter().all(|metric| found.metrics.contains(metric)) {
        return folder.read_scores();
    }
    let seed = Seed(wanted.seed);
    measure_subject(&wanted.metrics, &Subject::new(data, seed), seed, &mut |_| {})
}

/// How many latents have a mean posterior variance that tells of an image.
fn active_latents(data: &LabelledCodes) -> Option<usize> {
    let variances = mean_variances(data.extras().log_variances.as_ref()?);
    Some(variances.into_iter().filter(|variance| *variance < ACTIVE_BELOW).count())
}

/// The frameworks that were trained, in order.
pub fn frameworks_of(results: &[RunResult]) -> Vec<&'static Retrained> {
    let mut found: Vec<&'static Retrained> = Vec::new();
    for result in results {
        if !found.iter().any(|framework| framework.name == result.framework.name) {
            found.push(result.framework);
        }
    }
    found
}

/// The mean and the spread of numbers; nothing where there are none.
pub fn spread(numbers: &[f64]) -> Option<Spread> {
    (!numbers.is_empty()).then(|| Spread::of(numbers))
}

/// The spread of one of [`SCORES`] over the seeds of a framework on some data, its main setting as it is.
pub fn spread_of(results: &[RunResult], framework: &str, data: Data, score: usize) -> Option<Spread> {
    let of = |result: &&RunResult| result.framework.name == framework && result.data == data && result.scale == 1.0;
    spread(&results.iter().filter(of).filter_map(|result| result.scores[score]).collect::<Vec<_>>())
}

/// The spread of the mutual information gap of one factor.
pub fn spread_of_factor(results: &[RunResult], framework: &str, data: Data, factor: usize) -> Option<Spread> {
    let of = |result: &&RunResult| result.framework.name == framework && result.data == data && result.scale == 1.0;
    let numbers = results.iter().filter(of).filter_map(|result| result.mig_of_factors.get(factor)?.1);
    spread(&numbers.collect::<Vec<_>>())
}

/// By how much a framework's gap falls on altered and on noisy images, in words.
pub fn drop_in_words(results: &[RunResult], framework: &str) -> Option<String> {
    let [original, perturbed, noise] = Data::ALL.map(|data| spread_of(results, framework, data, 0));
    let (original, perturbed, noise) = (original?, perturbed?, noise?);
    let change = |spread: Spread| match spread.mean - original.mean {
        change if change.abs() < 0.005 => "stays".to_string(),
        change if change < 0.0 => format!("falls by {:.2}", -change),
        change => format!("rises by {change:.2}"),
    };
    let about = perturbed.deviation.hypot(noise.deviation);
    let compared = match noise.mean - perturbed.mean {
        _ if perturbed.n.min(noise.n) < 2 => "one seed has no spread to tell them apart by",
        lower if lower > about && perturbed.mean < original.mean => "it falls by more than with noise",
        lower if lower > about => "it rises by less than with noise",
        lower if lower > 0.0 => "it is lower than with noise, but within the spread of the seeds",
        lower if lower < -about => "it does not fall by more than with noise",
        _ => "it is no lower than with noise",
    };
    Some(format!("MIG {} on the altered images and {} with noise: {compared}.", change(perturbed), change(noise)))
}

/// `0.23 ± 0.08`.
pub fn spread_text(spread: Option<Spread>) -> String {
    spread.map_or("undefined".to_string(), |spread| published_text((spread.mean, spread.deviation)))
}

/// The same of published numbers.
pub fn published_text((mean, deviation): Published) -> String {
    format!("{mean:.2} ± {deviation:.2}")
}

/// A line for each run.
pub fn to_csv(results: &[RunResult]) -> String {
    let factors: Vec<&str> = results
        .first()
        .map(|result| result.mig_of_factors.iter().map(|(name, _)| name.as_str()).collect())
        .unwrap_or_default();
    let mut lines = format!("framework,data,seed,scale,{},active_latents,over_pruned", SCORES.join(","));
    factors.iter().for_each(|name| lines.push_str(&format!(",{}", csv_cell(&format!("mig.{name}")))));
    lines.push('\n');
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for result in results {
        let mut cells = vec![
            result.framework.name.to_string(),
            result.data.name().to_string(),
            result.seed.to_string(),
            result.scale.to_string(),
        ];
        cells.extend(result.scores.map(number));
        cells.push(result.active_latents.map_or(String::new(), |active| active.to_string()));
        cells.push(result.is_over_pruned().to_string());
        cells.extend(result.mig_of_factors.iter().map(|(_, value)| number(*value)));
        lines.push_str(&cells.join(","));
        lines.push('\n');
    }
    lines
}

/// All runs, and the spreads over seeds beside the published ones.
pub fn to_json(results: &[RunResult], is_dsprites: bool) -> Json {
    let runs: Vec<Json> = results.iter().map(run_json).collect();
    let of_framework = |framework: &Retrained| framework_json(results, framework, is_dsprites);
    let table: Vec<Json> = frameworks_of(results).into_iter().map(of_framework).collect();
    json!({ "frameworks": table, "runs": runs })
}

fn run_json(result: &RunResult) -> Json {
    let named = |(name, value): (&&str, &Option<f64>)| (name.to_string(), json!(value));
    let factors = result.mig_of_factors.iter().map(|(name, value)| (name.clone(), json!(value)));
    json!({
        "framework": result.framework.name,
        "data": result.data.name(),
        "seed": result.seed,
        "scale": result.scale,
        "path": result.path.display().to_string(),
        "scores": SCORES.iter().zip(&result.scores).map(named).collect::<Map<_, _>>(),
        "mig_of_factors": factors.collect::<Map<_, _>>(),
        "active_latents": result.active_latents,
        "over_pruned": result.is_over_pruned(),
    })
}

fn framework_json(results: &[RunResult], framework: &Retrained, is_dsprites: bool) -> Json {
    let score_json = |score: usize| {
        let of = |data: Data| {
            let spread = spread_of(results, framework.name, data, score);
            let number = |(mean, deviation): Published| json!({ "mean": mean, "deviation": deviation });
            let published = framework.published[score].filter(|_| is_dsprites).map(|of_data| of_data[data as usize]);
            let json = json!({
                "mean": spread.map(|spread| spread.mean),
                "deviation": spread.map(|spread| spread.deviation),
                "n": spread.map_or(0, |spread| spread.n),
                "published": published.map(number),
            });
            (data.name().to_string(), json)
        };
        (SCORES[score].to_string(), Json::Object(Data::ALL.map(of).into_iter().collect()))
    };
    json!({
        "framework": framework.name,
        "scores": (0..SCORES.len()).map(score_json).collect::<Map<_, _>>(),
        "in_words": drop_in_words(results, framework.name),
    })
}

#[cfg(test)]
mod tests {
    use super::super::frameworks::FRAMEWORKS;
    use super::*;

    fn result(data: Data, seed: u64, mig: f64) -> RunResult {
        RunResult {
            framework: &FRAMEWORKS[1],
            data,
            seed,
            scale: 1.0,
            path: "run".into(),
            scores: [Some(mig), Some(0.5), None, Some(0.25)],
            mig_of_factors: vec![("x".into(), Some(mig)), ("a,b".into(), None)],
            active_latents: Some(seed as usize),
            n_factors: 2,
        }
    }

    #[test]
    fn what_falls_is_told_in_words() {
        let of = |data, migs: [f64; 2]| migs.map(|mig| result(data, 1, mig)).to_vec();
        let all = |perturbed, noise| {
            [of(Data::Original, [0.4, 0.4]), of(Data::Perturbed, perturbed), of(Data::Noise, noise)].concat()
        };
        let words = drop_in_words(&all([0.1, 0.1], [0.3, 0.3]), "beta_vae").unwrap();
        assert_eq!(
            words,
            "MIG falls by 0.30 on the altered images and falls by 0.10 with noise: it falls by more than with noise."
        );
        assert!(drop_in_words(&all([0.1, 0.5], [0.3, 0.4]), "beta_vae").unwrap().contains("within the spread"));
        assert!(drop_in_words(&all([0.5, 0.5], [0.3, 0.3]), "beta_vae").unwrap().contains("rises by 0.10"));
        assert!(
            drop_in_words(&all([0.4, 0.4], [0.3, 0.3]), "beta_vae").unwrap().starts_with("MIG stays on the altered")
        );
        let words = drop_in_words(&all([0.45, 0.45], [0.6, 0.6]), "beta_vae").unwrap();
        assert!(words.ends_with("rises by 0.20 with noise: it rises by less than with noise."), "{words}");
        // A run of each has no spread, whatever their difference.
        let one = [(Data::Original, 0.4), (Data::Perturbed, 0.1), (Data::Noise, 0.3)];
        let words = drop_in_words(&one.map(|(data, mig)| result(data, 1, mig)), "beta_vae").unwrap();
        assert!(words.ends_with("with noise: one seed has no spread to tell them apart by."), "{words}");
        assert_eq!(drop_in_words(&of(Data::Original, [0.4, 0.4]), "beta_vae"), None);
    }

    #[test]
    fn a_table_has_a_line_for_each_run() {
        let results = [result(Data::Original, 1, 0.5), result(Data::Noise, 2, 0.25)];
        assert_eq!(
            to_csv(&results),
            "framework,data,seed,scale,mig,dci,factor_vae,sap,active_latents,over_pruned,mig.x,\"mig.a,b\"\n\
             beta_vae,original,1,1,0.5,0.5,,0.25,1,true,0.5,\nbeta_vae,noise,2,1,0.25,0.5,,0.25,2,false,0.25,\n"
        );
        let json = to_json(&results, true);
        assert_eq!(json["frameworks"][0]["scores"]["mig"]["noise"]["published"]["mean"], 0.14);
        assert_eq!(json["frameworks"].as_array().unwrap().len(), 1);
        assert_eq!(json["runs"][0]["over_pruned"], true);
    }
}
