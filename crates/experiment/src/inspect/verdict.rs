//! What was found in a run, in words.

use unbraid_data::words::{counted, listed};
use unbraid_report::posterior_log::POLARIZED_BELOW;

use super::{Directions, Inspection, LatentFacts, Regime, Standing};
use crate::posterior_watch::IMAGES;

/// Below this share of a random rotation's distance latents move images in directions of their own, and above the other they hardly do.
const OWN_BELOW: f64 = 0.25;
const MIXED_ABOVE: f64 = 0.75;
/// Singular values that are nearer than this leave it open how their latents are turned: T4 table 3.4 finds a DS of 0.76 +- 0.25 at a ratio of 1.2, and
/// 0.98 +- 0.06 at 1.5.
pub(super) const NEAR_EQUAL: f64 = 1.2;

/// One sentence, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The result.
    pub summary: String,
    /// What it rests on, each a few words and what they mean here.
    pub parts: Vec<(String, String)>,
}

/// What was found, in words.
pub fn verdict(found: &Inspection) -> Verdict {
    let n_latents = found.latents.len();
    let activity = match found.n_active() {
        None => counted(n_latents, "latent"),
        Some(0) => format!("none of {n_latents} latents is active"),
        Some(1) => format!("1 of {n_latents} latents is active"),
        Some(n_active) => format!("{n_active} of {n_latents} latents are active"),
    };
    let parts = [disagreement(found), regime(&found.regime), near_equal(found), balance(found)];
    Verdict { summary: format!("{activity}; {}", directions(found)), parts: parts.into_iter().flatten().collect() }
}

fn directions(found: &Inspection) -> String {
    let Some(all) = &found.directions else {
        return "the model has no decoder, so that latents have no directions".to_string();
    };
    match &found.active_directions {
        None if found.n_active().is_none() && all.n_latents > 1 => of_several("they", all),
        None if found.n_active().is_none() => "a single one has nothing to be orthogonal to".to_string(),
        None => "no latent's codes have a deviation above 0.5, so that there are no directions to compare".to_string(),
        Some(active) if active.n_latents == 1 => {
            "a single one has nothing to be orthogonal to, so that DtO says nothing".to_string()
        }
        Some(active) => {
            let who = match Some(active.n_latents) == found.n_active() {
                true => "they".to_string(),
                false => format!("the {} whose codes vary", active.n_latents),
            };
            of_several(&who, if active.n_latents == all.n_latents { all } else { active })
        }
    }
}

/// What `who` does.
fn of_several(who: &str, directions: &Directions) -> String {
    let (Some(dto), Some(share)) = (directions.dto, directions.share_of_random()) else {
        return "at every code two singular values of the decoder are equal, so that it has no directions".to_string();
    };
    let how = match share {
        share if share < OWN_BELOW => "move the image in directions of their own",
        share if share < MIXED_ABOVE => "move the image partly in directions of their own",
        _ => "hardly move the image in directions of their own",
    };
    format!("{who} {how}: DtO {dto:.2} where a random rotation has {:.2}", directions.random.mean)
}

/// Latents on which the two rules disagree.
fn disagreement(found: &Inspection) -> Option<(String, String)> {
    let names = |standing: Standing| {
        let of: Vec<String> = found
            .latents
            .iter()
            .filter(|facts| facts.standing == Some(standing))
            .map(|facts| format!("z{}", facts.latent))
            .collect();
        of
    };
    let told = |standing: Standing, what: &str| {
        let names = names(standing);
        let texts: Vec<&str> = names.iter().map(String::as_str).collect();
        (!texts.is_empty()).then(|| format!("{} {what}", listed(&texts)))
    };
    let by_means = told(
        Standing::ActiveByMeans,
        "by the deviation of means (above 0.5) alone: codes vary, and the posterior is nearly as wide as the prior (variance not below 0.8)",
    );
    let by_variance = told(
        Standing::ActiveByVariance,
        "by the posterior variance (below 0.8) alone: codes vary by less than the other rule asks for (deviation not above 0.5), and the posterior is narrow",
    );
    let told: Vec<String> = [by_means, by_variance].into_iter().flatten().collect();
    (!told.is_empty()).then(|| ("Mixed latents".to_string(), format!("active {}.", told.join("; "))))
}

fn regime(regime: &Regime) -> Option<(String, String)> {
    let error = regime.at_end.as_ref().ok()?;
    let is = if *error < POLARIZED_BELOW { "Polarized" } else { "Not polarized" };
    let mut text = format!("relative KL error {} % (T4 takes 3 % for the limit)", beside_limit(100.0 * error));
    match regime.polarized_from() {
        Some((step, share)) => {
            let share = 100.0 * share;
            text += &format!(
                "; while it was trained, of up to {IMAGES} images, below 3 % from step {step} on, at {share:.1} % of the checkpoints"
            );
        }
        None if regime.over_training.is_ok() => {
            text += &format!("; while it was trained, of up to {IMAGES} images, not below 3 % at the last checkpoint");
        }
        None => {}
    }
    Some((is.to_string(), format!("{text}.")))
}

/// A percentage with as many digits as show on which side of 3 it lies.
fn beside_limit(percentage: f64) -> String {
    let limit = 100.0 * POLARIZED_BELOW;
    let shows = |text: &String| text.parse().is_ok_and(|shown: f64| (shown < limit) == (percentage < limit));
    let texts = (1..=9).map(|digits| format!("{percentage:.digits$}"));
    texts.into_iter().find(shows).unwrap_or_else(|| format!("{percentage:?}"))
}

fn near_equal(found: &Inspection) -> Option<(String, String)> {
    let directions = found.active_directions.as_ref()?;
    let near: Vec<String> = directions
        .ratios
        .iter()
        .enumerate()
        .filter_map(|(place, ratio)| {
            ratio
                .filter(|ratio| *ratio < NEAR_EQUAL)
                .map(|ratio| format!("{} and {} ({ratio:.2})", place + 1, place + 2))
        })
        .collect();
    let texts: Vec<&str> = near.iter().map(String::as_str).collect();
    (!texts.is_empty()).then(|| {
        let text = format!(
            "singular values {} are within a factor of {NEAR_EQUAL} of each other: which way their latents are turned is left open (T4 3.3.4).",
            listed(&texts)
        );
        ("Nearly equal".to_string(), text)
    })
}

/// How near latents are to their best variance.
fn balance(found: &Inspection) -> Option<(String, String)> {
    let ratio = |facts: &LatentFacts| facts.of_optimum.filter(|_| facts.standing == Some(Standing::Active));
    let mut ratios: Vec<f64> = found.latents.iter().filter_map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios.first()?, ratios.last()?);
    let range = if ratios.len() == 1 { format!("{least:.2}") } else { format!("{least:.2} to {most:.2}") };
    let text = format!(
        "the noise of {} costs {range} times what is best at beta {}; at 1 the loss is least, and far below a variance of 1 all cost the same (T4 equation 3.21).",
        counted(ratios.len(), "active latent"),
        short(found.price?)
    );
    Some(("Precision".to_string(), text))
}

/// A price in few digits.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    if value >= 0.001 { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { format!("{value:.2e}") }
}

#[cfg(test)]
mod tests {
    use unbraid_report::PosteriorRow;

    use super::*;

    fn told(at_end: f64, errors: &[f64]) -> (String, String) {
        let row = |(index, error): (usize, &f64)| PosteriorRow {
            step: 100 * (index as u64 + 1),
            kl: 1.0,
            kl_polarized: 1.0,
            relative_error: Some(*error),
            deviations: vec![],
            variances: vec![],
        };
        regime(&Regime { at_end: Ok(at_end), over_training: Ok(errors.iter().enumerate().map(row).collect()) }).unwrap()
    }

    #[test]
    fn a_rounded_error_stays_on_its_side_of_the_limit() {
        assert_eq!([1.04, 2.96, 2.9996, 3.0, 3.04].map(beside_limit), ["1.0", "2.96", "2.9996", "3.0", "3.0"]);
    }

    #[test]
    fn what_is_said_of_the_last_checkpoint_is_not_said_of_all() {
        let (is, text) = told(0.029, &[0.01, 0.02, 0.031]);
        assert_eq!(is, "Polarized");
        assert!(
            text.ends_with("; while it was trained, of up to 256 images, not below 3 % at the last checkpoint."),
            "{text}"
        );
        let (is, text) = told(0.5, &[0.04, 0.01, 0.02, 0.01]);
        assert_eq!(is, "Not polarized");
        assert!(
            text.ends_with("of up to 256 images, below 3 % from step 200 on, at 75.0 % of the checkpoints."),
            "{text}"
        );
        let unknown = Regime { at_end: Ok(0.01), over_training: Err("not known".to_string()) };
        assert_eq!(regime(&unknown).unwrap().1, "relative KL error 1.0 % (T4 takes 3 % for the limit).");
    }
}
