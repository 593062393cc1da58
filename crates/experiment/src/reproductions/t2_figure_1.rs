//! T2 figure 1: total correlation of sampled codes and of their means, over the strength of regularisation.
//!
//! The figure, on Color-dSprites, has no numbers in the text, which says that the total correlation of samples falls with the strength and that of means rises, for all objectives but
//! AnnealedVAE, and with minor exceptions on other datasets: here for more than half of the objectives, by the slope of the line through all runs over the place of their strength
//! among those of the objective.

use unbraid_data::Result;
use unbraid_report::figures::points::XAxis;

use super::planned::{Runs, datasets, means, slope};
use super::run_figures::over_number;
use super::t2_runs::{place_of_strength, trained_runs};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

const SAMPLED: (&str, &str) = ("unsupervised.sampled.gaussian_total_correlation", "total correlation of samples");
const OF_MEANS: (&str, &str) = ("unsupervised.gaussian_total_correlation", "total correlation of means");
/// Its capacity is no strength.
const LEFT_OUT: &str = "annealed_vae";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let Some(runs) = trained_runs(request, watch, &mut outcome.notes)? else { return Ok(None) };
    let runs: Vec<Runs> = runs.into_iter().filter(|runs| runs.framework() != LEFT_OUT).collect();
    for dataset in datasets(&runs) {
        let of_dataset: Vec<Runs> = runs.iter().filter(|runs| runs.dataset() == dataset).cloned().collect();
        let place = |one: &Runs| place_of_strength(&of_dataset, one);
        outcome.rows.extend(means(&of_dataset, &[SAMPLED, OF_MEANS], |one| {
            format!("{dataset}, {}, strength {}", one.framework(), place(one))
        })?);
        outcome.rows.extend(claims(&dataset, &of_dataset)?);
        let title = format!("{dataset}: total correlation of codes over the strength of regularisation");
        let x = ("strength, from the least to the largest", XAxis::Linear);
        let figure = over_number(
            &title,
            x,
            &of_dataset,
            &[SAMPLED, OF_MEANS],
            |one| place(one) as f64,
            |one| one.framework().to_string(),
        )?;
        outcome.figures.push((format!("{dataset}.png"), figure));
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn claims(dataset: &str, runs: &[Runs]) -> Result<[Row; 2]> {
    let mut frameworks: Vec<&str> = runs.iter().map(Runs::framework).collect();
    frameworks.dedup();
    let slopes = |score: &str| -> Result<Vec<f64>> {
        let of_framework = |framework: &&str| {
            let mut points = Vec::new();
            for one in runs.iter().filter(|one| one.framework() == *framework) {
                points.extend(
                    one.restarts.scores(score)?.into_iter().map(|value| (place_of_strength(runs, one) as f64, value)),
                );
            }
            Ok(slope(&points))
        };
        frameworks.iter().map(of_framework).collect()
    };
    let claim = |what: &str, score: &str, is_so: fn(f64) -> bool| {
        let slopes = slopes(score)?;
        let n_so = slopes.iter().filter(|slope| is_so(**slope)).count();
        let told: Vec<String> =
            frameworks.iter().zip(&slopes).map(|(name, slope)| format!("{name} {slope:+.3}")).collect();
        let ours = format!("for {n_so} of {}: {}", slopes.len(), told.join(", "));
        Ok(Row::claim(format!("{dataset}: {what} with the strength"), ours, 2 * n_so > slopes.len()))
    };
    Ok([
        claim("total correlation of samples falls", SAMPLED.0, |slope| slope < 0.0)?,
        claim("total correlation of means rises", OF_MEANS.0, |slope| slope > 0.0)?,
    ])
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t2-figure-1",
    about: "Total correlation of samples and of means over the strength, trained: squares of dsprites, at paper scale seven datasets",
    paper: "Locatello et al. 2019, figure 1",
    run: Run::Trained(run),
};
