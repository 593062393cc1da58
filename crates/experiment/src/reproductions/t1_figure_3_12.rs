//! T1 figure 3.12 (section 3.4.1): squared error of box-blurred images beside that of the images makes `xy_squares` learnable.
//!
//! The figure has no numbers: the claim is that MIG and DCI are higher under `mse_box` than under `mse`, for both frameworks. Each loss has a beta that
//! suits it (table A.6), and the better one of each is compared. At small scale ([`super::t1_setups`]) each loss has one, the box is 31 x 31 on
//! 32 x 32 pixels, as large as that of 63 x 63 on 64 x 64, and its weight 31^2.

use unbraid_data::Result;

use super::planned::{Grids, Runs, above, largest, means, train_at_hand};
use super::run_figures::over_groups;
use super::t1_setups::{MIG_AND_DCI, SMALL, SMALL_SQUARES, SMOKE, SMOKE_SQUARES};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Run};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-3.12.toml"),
    small: &[
        SMALL,
        SMALL_SQUARES,
        "
        [shared]
        seed = [1, 2]
        framework.name = ['beta_vae', 'ada_gvae']
        framework.reduction = 'mean'
        [[grid]]
        framework.reconstruction = 'mse'
        framework.beta = 0.001
        [[grid]]
        framework.reconstruction = [{ name = 'mse_box', radius = 15, weight = 961 }]
        framework.beta = 0.01
        ",
    ],
    smoke: &[SMOKE, SMOKE_SQUARES, "shared.seed = [1]"],
};
const LOSS: &str = "framework.reconstruction";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = GRIDS.groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let name =
        |runs: &Runs| format!("{}, {}, beta {}", runs.framework(), runs.word(LOSS), runs.number("framework.beta"));
    outcome.rows = means(&runs, &MIG_AND_DCI, name)?;
    for framework in ["beta_vae", "ada_gvae"] {
        for (score, shown) in MIG_AND_DCI {
            let under = |loss: &str| {
                largest(runs.iter().filter(|runs| runs.framework() == framework && runs.word(LOSS) == loss), score)
            };
            let both = [under("mse_box")?, under("mse")?];
            outcome.rows.push(above(format!("{framework}: {shown} is higher under mse_box than under mse"), both));
        }
    }
    let title = "xy_squares: scores by reconstruction loss";
    let framework = |runs: &Runs| runs.framework().to_string();
    let figure = over_groups(title, &runs, &MIG_AND_DCI, |runs| runs.word(LOSS), framework)?;
    outcome.figures.push(("losses.png".to_string(), figure));
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-3.12",
    about: "Disentanglement under squared error and box-blurred squared error, trained: xy_squares",
    paper: "Michlo 2022, figure 3.12",
    run: Run::Trained(run),
};
