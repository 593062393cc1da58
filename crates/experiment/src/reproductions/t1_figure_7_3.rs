//! T1 figure 7.3 (section 7.2): the same images score higher where hue and shade are two factors (`xy_object_shaded`) than where they are one (`xy_object`).
//!
//! The figure has no numbers: the claim is that scores are higher with the shaded choice, for both frameworks, over all betas and seeds. A beta-VAE sees no factors, so that its runs
//! of one seed are the same model, scored twice; pairs of an Ada-GVAE do differ. At small scale ([`super::t1_setups`]) images have 32 x 32 pixels, and 5,000 of the
//! 75,000 are scored.

use unbraid_data::Result;

use super::planned::{Grids, Runs, above, mean, means, train_at_hand};
use super::run_figures::over_groups;
use super::t1_setups::{MIG_AND_DCI, SMALL, SMOKE};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Run};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-7.3.toml"),
    small: &[
        SMALL,
        "
        [base]
        rows = 5_000
        metrics = [{ name = 'mig' }, { name = 'dci' }, { name = 'reconstruction' }, { name = 'kl' }]
        [grid]
        seed = [1, 2]
        dataset.size = 32
        framework.beta = [0.01, 0.001]
        ",
    ],
    smoke: &[
        SMOKE,
        "grid.seed = [1]\ngrid.dataset.size = 8\ngrid.dataset.fix = { x = 3, y = [[0, 2]] }\ngrid.framework.beta = [0.001]",
    ],
};

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = GRIDS.groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let name =
        |runs: &Runs| format!("{}, {}, beta {}", runs.dataset(), runs.framework(), runs.number("framework.beta"));
    outcome.rows = means(&runs, &MIG_AND_DCI, name)?;
    for framework in ["beta_vae", "ada_gvae"] {
        for (score, shown) in MIG_AND_DCI {
            let on = |dataset: &str| {
                mean(runs.iter().filter(|runs| runs.framework() == framework && runs.dataset() == dataset), score)
            };
            let both = [on("xy_object_shaded")?, on("xy_object")?];
            outcome
                .rows
                .push(above(format!("{framework}: {shown} is higher where hue and shade are two factors"), both));
        }
    }
    let title = "the same images with two choices of factors";
    let framework = |runs: &Runs| runs.framework().to_string();
    let figure = over_groups(title, &runs, &MIG_AND_DCI, |runs| runs.dataset().to_string(), framework)?;
    outcome.figures.push(("factors.png".to_string(), figure));
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-7.3",
    about: "Disentanglement of the same images by two choices of factors, trained: xy_object and xy_object_shaded",
    paper: "Michlo 2022, figure 7.3",
    run: Run::Trained(run),
};
