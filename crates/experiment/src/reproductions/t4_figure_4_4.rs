//! T4 figures 4.4 to 4.9 (sections 4.3.4 and 4.3.5): scores on altered images where main settings are multiplied by 0.75 to 2, of single runs, and of single factors.
//!
//! Images are altered and frameworks trained as in table 4.2 ([`super::t4_table_4_2`], which has the runs at 1), and once more at other values of their main settings. Of these runs those in which fewer latents are active than
//! factors vary are dropped, as in T4, which drops none on original images. The claim, for the frameworks that T4 has, is that no value brings the MIG back to that on original images. That some runs still disentangle altered images (figure 4.8) is only shown: how many do follows from the seeds. T4's figures have no numbers and are of Shapes3D; it is judged here on other images. That the MIG of beta-VAE falls for
//! every factor, which depends on what factors there are, is only shown.

use unbraid_data::Result;

use super::spread::Spread;
use super::t4_table_4_2::{MIG, retrained, spread};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::perturb::retrain::{
    Data, Retrained, RunResult, SCALES, SCORE_TITLES, at_scale, factors_picture, frameworks_of, line_search_picture,
    scales_of, scores_picture, spread_of_factor,
};
use crate::watch::Watch;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let scales = request.scale.pick(&[2.0][..], &[0.75, 1.5, 2.0][..], &SCALES[..]);
    let Some((results, notes)) = retrained(request, scales, watch)? else { return Ok(None) };
    let mut outcome = Outcome { notes, ..Outcome::default() };
    for (score, name) in SCORE_TITLES.iter().enumerate() {
        outcome.rows.extend(of_scales(&results, score));
        let title = format!("{name} on altered images, main setting multiplied");
        if let Some(picture) = line_search_picture(&title, &results, (score, name)) {
            let file = name.to_lowercase().replace(' ', "_");
            outcome.figures.push((format!("{file}.png"), picture));
        }
    }
    outcome.figures.push(("runs.png".to_string(), scores_picture("MIG of each run", &results)));
    outcome.figures.push(("factors.png".to_string(), factors_picture("MIG of each factor", &results)));
    outcome.rows.extend(claims(&results));
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The runs of a framework on altered images at one value of its main setting that have latents enough.
fn kept(results: &[RunResult], framework: &str, scale: f64, score: usize) -> Spread {
    let kept = at_scale(results, framework, scale).filter(|result| !result.is_over_pruned());
    Spread::of(&kept.filter_map(|result| result.scores[score]).collect::<Vec<f64>>())
}

/// The frameworks of T4 that were searched.
fn searched(results: &[RunResult]) -> Vec<&'static Retrained> {
    let is_of_t4 = |framework: &&Retrained| framework.published[MIG].is_some();
    let is_searched = |framework: &&Retrained| !scales_of(results, framework.name).is_empty();
    frameworks_of(results).into_iter().filter(is_of_t4).filter(is_searched).collect()
}

fn of_scales(results: &[RunResult], score: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for framework in searched(results) {
        let what = format!("{}, {}", SCORE_TITLES[score], framework.name);
        let original = spread(results, framework.name, Data::Original, score);
        rows.push(Row::mean(format!("{what}, original images"), original, None));
        for scale in scales_of(results, framework.name) {
            let n_dropped = at_scale(results, framework.name, scale).filter(|run| run.is_over_pruned()).count();
            let dropped = if n_dropped > 0 { format!(", {n_dropped} dropped") } else { String::new() };
            let setting = framework.main.map_or("", |main| main.0);
            let kept = kept(results, framework.name, scale, score);
            rows.push(Row::mean(format!("{what}, {setting} x {scale}{dropped}"), kept, None));
        }
    }
    rows
}

fn claims(results: &[RunResult]) -> Vec<Row> {
    let mut rows = Vec::new();
    for framework in searched(results) {
        let original = spread(results, framework.name, Data::Original, MIG).mean;
        let of_scales = scales_of(results, framework.name).into_iter();
        let means = of_scales.map(|scale| (scale, kept(results, framework.name, scale, MIG).mean));
        let means: Vec<(f64, f64)> = means.filter(|(_, mean)| mean.is_finite()).collect();
        let what = format!("{}: no value of its main setting brings the MIG back to {original:.2}", framework.name);
        if means.is_empty() {
            rows.push(Row::claim(what, "all runs dropped", false).only_beside());
            continue;
        }
        let told: Vec<String> = means.iter().map(|(scale, mean)| format!("{mean:.2} at x {scale}")).collect();
        rows.push(Row::claim(what, told.join(", "), means.iter().all(|(_, mean)| *mean < original)));
    }
    rows.extend(searched(results).into_iter().filter_map(|framework| of_runs(results, framework.name)));
    rows.extend(of_factors(results));
    rows
}

/// Figure 4.8: whether some runs still disentangle altered images, half as well as runs on original ones do on average.
fn of_runs(results: &[RunResult], framework: &str) -> Option<Row> {
    let original = spread(results, framework, Data::Original, MIG).mean;
    let altered = at_scale(results, framework, 1.0).filter_map(|result| result.scores[MIG]);
    let highest = altered.reduce(f64::max).filter(|_| original.is_finite())?;
    let what =
        format!("{framework}: a run on altered images has half of the MIG of original ones, {original:.2}, or more");
    Some(Row::claim(what, format!("the highest is {highest:.2}"), highest >= original / 2.0).only_beside())
}

/// Figure 4.9: whether each factor is entangled.
fn of_factors(results: &[RunResult]) -> Option<Row> {
    let mean = |data: Data, factor: usize| spread_of_factor(results, "beta_vae", data, factor).map(|found| found.mean);
    let mut told = Vec::new();
    let mut all_fall = true;
    for (factor, (name, _)) in results.first()?.mig_of_factors.iter().enumerate() {
        // A factor that does not vary has no gap.
        let (Some(original), Some(altered)) = (mean(Data::Original, factor), mean(Data::Perturbed, factor)) else {
            continue;
        };
        all_fall &= altered < original;
        told.push(format!("{name} from {original:.2} to {altered:.2}"));
    }
    let claim = Row::claim("the MIG of beta_vae falls for every factor", told.join(", "), all_fall);
    (!told.is_empty()).then(|| claim.only_beside())
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t4-figure-4.4",
    about: "Scores on altered images over main settings, of single runs and of single factors, trained: dsprites",
    paper: "Zietlow 2022, figures 4.4 to 4.9",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perturb::retrain::FRAMEWORKS;

    fn result(data: Data, scale: f64, mig: f64, active: usize) -> RunResult {
        RunResult {
            framework: FRAMEWORKS.iter().find(|framework| framework.name == "beta_vae").unwrap(),
            data,
            seed: 1,
            scale,
            path: "run".into(),
            scores: [Some(mig), None, None, None],
            mig_of_factors: vec![("shape".to_string(), None), ("scale".to_string(), Some(mig / 2.0))],
            active_latents: Some(active),
            n_factors: 2,
        }
    }

    #[test]
    fn runs_with_too_few_latents_bring_nothing_back() {
        let results = [
            result(Data::Original, 1.0, 0.8, 2),
            result(Data::Perturbed, 1.0, 0.2, 2),
            result(Data::Perturbed, 2.0, 0.9, 1),
            result(Data::Perturbed, 2.0, 0.5, 2),
        ];
        let found = claims(&results);
        assert_eq!(
            found[0],
            Row::claim(
                "beta_vae: no value of its main setting brings the MIG back to 0.80",
                "0.20 at x 1, 0.50 at x 2",
                true
            )
        );
        let of_runs = "beta_vae: a run on altered images has half of the MIG of original ones, 0.80, or more";
        assert_eq!(found[1], Row::claim(of_runs, "the highest is 0.20", false).only_beside());
        let of_factors = Row::claim("the MIG of beta_vae falls for every factor", "scale from 0.40 to 0.10", true);
        assert_eq!(found[2], of_factors.only_beside());
        let back = [results[0].clone(), results[1].clone(), result(Data::Perturbed, 2.0, 0.9, 2)];
        assert_eq!(claims(&back)[0].agrees(), Some(false));
        // Where none is left there is no verdict, and none on a framework that T4 does not have or that was not searched.
        let dropped = [results[0].clone(), result(Data::Perturbed, 1.0, 0.2, 1), result(Data::Perturbed, 2.0, 0.2, 1)];
        assert_eq!(claims(&dropped)[0].agrees(), None);
        let ours = FRAMEWORKS.iter().find(|framework| framework.name == "ada_gvae").unwrap();
        let other = results.clone().map(|result| RunResult { framework: ours, ..result });
        assert_eq!((claims(&other), of_scales(&other, MIG)), (Vec::new(), Vec::new()));
        assert_eq!(of_scales(&results[..2], MIG), []);
    }
}
