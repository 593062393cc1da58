//! T3 figure 6.1 (section 6.3.1): the weights that L-VAE learns over training, and CbD beside them.
//!
//! The runs are all of L-VAE in table 6.1. Curves are those of the smallest batches and the largest rate: the longest run shows its weights, and shorter ones, which take the same steps, show CbD on the way. The claim on them is that
//! both sigmas change by more in the first third of training than in the last, in the mean over seeds. Of the run with the highest CbD T3 tells the beta that it came to, `sigma0^2 / sigma1^2`, which stands beside ours; on
//! which side of 1 it lies is judged where T3's own runs are made, since losses decide it and those of fewer pixels are smaller.

use unbraid_data::Result;
use unbraid_report::figures::curves::{Panels, Scale as Upright, compare_losses};
use unbraid_report::figures::points::{Join, PointPanel, PointSeries, XAxis, point_panels};
use unbraid_report::{Canvas, LossTable, RunFolder};

use super::planned::{Runs, datasets, shown, train_at_hand};
use super::t3_table_6_1::GRIDS;
use super::t3_table_6_2::learned_beta;
use super::t3_tables::{chosen, of_one_rate, only_at_paper};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::config::Config;
use crate::watch::Watch;

const LEARNED: [&str; 3] = ["sigma0", "sigma1", "beta_hat"];
/// The beta that T3's runs with the highest CbD came to.
const PUBLISHED: [(&str, f64); 4] =
    [("dsprites", 0.89), ("mpi3d_complex", 0.92), ("falcor3d", 1.90), ("isaac3d", 0.88)];

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let mut groups = GRIDS.groups(request.scale)?;
    groups.retain(|group| group.config.framework.name == "l_vae");
    let of_curves: Vec<Config> = of_one_rate(groups.clone()).into_iter().map(|group| group.config).collect();
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let chosen = chosen(&runs, "cbd")?;
    for dataset in datasets(&runs) {
        let is_shown = |one: &&Runs| one.dataset() == dataset && of_curves.contains(&one.config);
        let shown: Vec<&Runs> = runs.iter().filter(is_shown).collect();
        let Some(longest) = shown.iter().max_by_key(|runs| runs.config.training.steps) else { continue };
        let of_seeds = longest.restarts.folders.iter().map(weights).collect::<Result<Vec<LossTable>>>()?;
        outcome.rows.push(slows_down(&dataset, &of_seeds));
        if let Some(one) = chosen.iter().find(|one| one.dataset == dataset) {
            outcome.rows.extend(of_beta(&dataset, learned_beta(one)?.1, request.scale));
        }
        let title = format!("{dataset}: weights that L-VAE learns");
        let figure = compare_losses(&title, &[(String::new(), &of_seeds[0])], "", Upright::Linear, Panels::Beside);
        outcome.figures.push((format!("{dataset}.png"), figure));
        if shown.len() > 1 {
            outcome.figures.push((format!("cbd_{dataset}.png"), cbd(&dataset, &shown)?));
        }
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// Both sigmas and the beta of a run over training.
fn weights(folder: &RunFolder) -> Result<LossTable> {
    let mut losses = folder.read_losses()?;
    losses.columns.retain(|column| LEARNED.contains(&column.name.as_str()));
    Ok(losses)
}

fn slows_down(dataset: &str, of_seeds: &[LossTable]) -> Row {
    let mean_change = |sigma: &&str| {
        let changes = of_seeds.iter().map(|losses| change_of_thirds(losses.column(sigma).unwrap_or_default()));
        let sum = changes.fold([0.0, 0.0], |sum, change| [sum[0] + change[0], sum[1] + change[1]]);
        sum.map(|sum| sum / of_seeds.len() as f64)
    };
    let changes: Vec<[f64; 2]> = LEARNED[..2].iter().map(mean_change).collect();
    let told: Vec<String> =
        changes.iter().map(|[first, last]| format!("{} and {}", shown(*first), shown(*last))).collect();
    Row::claim(
        format!("{dataset}: sigma0 and sigma1 change more in the first third of training than in the last"),
        told.join(", "),
        changes.iter().all(|[first, last]| first > last),
    )
}

/// The beta that was learned beside T3's, and on which side of 1 it is.
fn of_beta(dataset: &str, beta: f64, scale: Scale) -> Vec<Row> {
    let Some((_, published)) = PUBLISHED.iter().find(|(name, _)| *name == dataset) else { return Vec::new() };
    let (side, holds) = if *published > 1.0 { ("above", beta > 1.0) } else { ("below", beta < 1.0) };
    let claim = Row::claim(format!("{dataset}: the beta that was learned is {side} 1"), shown(beta), holds);
    let number = Row::number(format!("{dataset}: beta that was learned"), beta, *published, 0.005);
    vec![number.only_beside(), only_at_paper(claim, scale)]
}

/// By how much a curve changes in its first third and in its last.
fn change_of_thirds(values: &[f64]) -> [f64; 2] {
    let third = values.len() / 3;
    let change = |part: &[f64]| match part {
        [first, .., last] => (last - first).abs(),
        _ => f64::NAN,
    };
    [change(&values[..third]), change(&values[values.len() - third..])]
}

/// CbD of runs that were stopped after so many steps.
fn cbd(dataset: &str, runs: &[&Runs]) -> Result<Canvas> {
    let mut points = Vec::new();
    for one in runs {
        points.extend(one.restarts.scores("cbd")?.into_iter().map(|cbd| (one.config.training.steps as f64, cbd)));
    }
    let panel = PointPanel {
        title: String::new(),
        x_label: "steps of training".to_string(),
        y_label: "CbD".to_string(),
        x: XAxis::Linear,
        y_range: Some((0.0, 0.1)),
        series: vec![PointSeries { name: String::new(), points, join: Join::Means }],
        marks: Vec::new(),
    };
    Ok(point_panels(&format!("{dataset}: CbD of L-VAE over the length of training"), &[panel]))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-figure-6.1",
    about: "The weights that L-VAE learns over training, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, figure 6.1",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_thirds_by_hand() {
        assert_eq!(change_of_thirds(&[1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 5.5, 5.2, 5.0]), [3.0, 0.5]);
        assert!(change_of_thirds(&[1.0, 2.0]).iter().all(|change| change.is_nan()));
    }

    #[test]
    fn a_beta_that_is_unknown_lies_on_neither_side() {
        let verdict = |dataset: &str, beta: f64| of_beta(dataset, beta, Scale::Paper)[1].agrees();
        assert_eq!((verdict("dsprites", 0.9), verdict("dsprites", 1.2)), (Some(true), Some(false)));
        assert_eq!((verdict("falcor3d", 1.2), verdict("falcor3d", 0.9)), (Some(true), Some(false)));
        assert_eq!([verdict("dsprites", f64::NAN), verdict("falcor3d", f64::NAN)], [Some(false); 2]);
        assert_eq!(of_beta("dsprites", 0.9, Scale::Small)[1].agrees(), None);
    }
}
