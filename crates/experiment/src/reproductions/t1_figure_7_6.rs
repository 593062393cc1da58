//! T1 figure 7.6 (section 7.3): the better pictures are seen in sprites or behind them, the lower MIG and DCI of the sprites' factors.
//!
//! The figure has no numbers: the claim is that scores fall with visibility, in both modes and for both frameworks, here that the slope over all runs is negative.
//! Tiny ImageNet is not at hand: textures that are made here stand in for it at any scale, so that what is judged is the claim on another choice of pictures. At
//! small scale ([`super::t1_setups`]) sprites are the ellipses of one orientation, with three visibilities and one beta.

use unbraid_data::Result;
use unbraid_report::figures::points::XAxis;

use super::planned::{Grids, Runs, means, slope, train_at_hand};
use super::run_figures::over_number;
use super::t1_setups::{MIG_AND_DCI, SMALL, SMOKE};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-7.6.toml"),
    small: &[
        SMALL,
        "
        [base.dataset]
        size = 32
        fix = { shape = 1, orientation = 0 }
        [grid]
        seed = [1, 2]
        dataset.visibility = [0, 50, 100]
        framework.beta = [0.00316]
        ",
    ],
    smoke: &[
        SMOKE,
        "
        [base.dataset]
        size = 8
        fix = { scale = 5, pos_y = [0, 7] }
        [grid]
        seed = [1]
        dataset.mode = ['background']
        dataset.visibility = [0, 100]
        ",
    ],
};
const MODE: &str = "dataset.mode";
const VISIBILITY: &str = "dataset.visibility";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = GRIDS.groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    outcome.notes.push("textures made here stand in for the pictures of Tiny ImageNet".to_string());
    let name = |runs: &Runs| {
        let (mode, visibility, beta) = (runs.word(MODE), runs.number(VISIBILITY), runs.number("framework.beta"));
        format!("{mode}, visibility {visibility}, {}, beta {beta}", runs.framework())
    };
    outcome.rows = means(&runs, &MIG_AND_DCI, name)?;
    for mode in ["foreground", "background"] {
        let of_mode: Vec<Runs> = runs.iter().filter(|runs| runs.word(MODE) == mode).cloned().collect();
        if of_mode.is_empty() {
            continue;
        }
        for framework in ["beta_vae", "ada_gvae"] {
            let of_framework: Vec<&Runs> = of_mode.iter().filter(|runs| runs.framework() == framework).collect();
            for (score, shown) in MIG_AND_DCI {
                outcome.rows.push(falls(&of_framework, &format!("{mode}, {framework}"), (score, shown))?);
            }
        }
        let title = format!("dsprites_imagenet, pictures in the {mode}");
        let at = |runs: &Runs| runs.number(VISIBILITY);
        let framework = |runs: &Runs| runs.framework().to_string();
        let figure = over_number(&title, ("visibility", XAxis::Linear), &of_mode, &MIG_AND_DCI, at, framework)?;
        outcome.figures.push((format!("{mode}.png"), figure));
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn falls(runs: &[&Runs], of: &str, (score, name): (&str, &str)) -> Result<Row> {
    let mut points = Vec::new();
    for one in runs {
        points.extend(one.restarts.scores(score)?.into_iter().map(|value| (one.number(VISIBILITY), value)));
    }
    // From pictures that are not seen to pictures that are wholly seen.
    let change = 100.0 * slope(&points);
    Ok(Row::claim(format!("{of}: {name} falls with visibility"), format!("{change:+.4} from 0 to 100"), change < 0.0))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-7.6",
    about: "Disentanglement where pictures are seen in sprites or behind them, trained: dsprites_imagenet by visibility",
    paper: "Michlo 2022, figure 7.6",
    run: Run::Trained(run),
};
