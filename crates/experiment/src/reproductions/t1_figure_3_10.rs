//! T1 figure 3.10 (section 3.3.4): MIG and DCI fall as the squares of `xy_squares` move in larger steps, and so overlap less with where they were.
//!
//! The figure has regression lines and no numbers: the claim is that their slopes are negative, for both frameworks and scores, over all runs. That one pixel of overlap
//! is not enough yet is judged where spacing 7 is trained. At small scale ([`super::t1_setups`]) spacings 1, 2, 4 and 8 are, with one beta.

use unbraid_data::Result;
use unbraid_report::figures::points::XAxis;

use super::planned::{Grids, Runs, mean, means, shown, slope, train_at_hand};
use super::run_figures::over_number;
use super::t1_setups::{MIG_AND_DCI, SMALL, SMALL_SQUARES, SMOKE, SMOKE_SQUARES};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-3.10.toml"),
    small: &[
        SMALL,
        SMALL_SQUARES,
        "grid.seed = [1, 2]\ngrid.dataset.spacing = [8, 4, 2, 1]\ngrid.framework.beta = [0.001]",
    ],
    smoke: &[SMOKE, SMOKE_SQUARES, "grid.seed = [1]\ngrid.dataset.spacing = [8, 1]"],
};
const SPACING: &str = "dataset.spacing";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = GRIDS.groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let name = |runs: &Runs| {
        format!("spacing {}, {}, beta {}", runs.number(SPACING), runs.framework(), runs.number("framework.beta"))
    };
    outcome.rows = means(&runs, &MIG_AND_DCI, name)?;
    for framework in ["beta_vae", "ada_gvae"] {
        let of_framework: Vec<&Runs> = runs.iter().filter(|runs| runs.framework() == framework).collect();
        for (score, shown) in MIG_AND_DCI {
            outcome.rows.push(falls(&of_framework, framework, (score, shown))?);
            outcome.rows.extend(one_pixel(&of_framework, framework, (score, shown))?);
        }
    }
    let title = "xy_squares: scores by how far apart the places of squares are";
    let at = |runs: &Runs| runs.number(SPACING);
    let figure =
        over_number(title, ("spacing", XAxis::Linear), &runs, &MIG_AND_DCI, at, |runs| runs.framework().to_string())?;
    outcome.figures.push(("spacing.png".to_string(), figure));
    Ok(Some(of_scale(outcome, request.scale)))
}

fn falls(runs: &[&Runs], framework: &str, (score, name): (&str, &str)) -> Result<Row> {
    let mut points = Vec::new();
    for one in runs {
        points.extend(one.restarts.scores(score)?.into_iter().map(|value| (one.number(SPACING), value)));
    }
    let slope = slope(&points);
    Ok(Row::claim(format!("{framework}: {name} falls with the spacing"), format!("{slope:+.4} a pixel"), slope < 0.0))
}

/// Section 3.3.4: with one pixel of overlap the dataset is still hard; nothing where that is not trained.
fn one_pixel(runs: &[&Runs], framework: &str, (score, name): (&str, &str)) -> Result<Option<Row>> {
    let at = |spacing: f64| mean(runs.iter().copied().filter(|runs| runs.number(SPACING) == spacing), score);
    let [one, seven, eight] = [at(1.0)?, at(7.0)?, at(8.0)?];
    if !seven.is_finite() {
        return Ok(None);
    }
    let what = format!("{framework}: {name} at spacing 7 is nearer to that at 8 than to that at 1");
    let ours = format!("{}; {} and {}", shown(seven), shown(eight), shown(one));
    Ok(Some(Row::claim(what, ours, (seven - eight).abs() < (seven - one).abs())))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-3.10",
    about: "Disentanglement where squares overlap less and less, trained: xy_squares by spacing",
    paper: "Michlo 2022, figure 3.10",
    run: Run::Trained(run),
};
