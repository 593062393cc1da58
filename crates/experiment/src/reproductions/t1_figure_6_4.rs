//! T1 figure 6.4 (section 6.1.3): a learned loss disentangles `xy_squares` better than hand-crafted ones, and these better than squared error.
//!
//! The figure has no numbers, and shows the betas with which runs reconstruct (table A.6), as is done here. Claims are that MIG and DCI are higher under `mse_box` and under the learned kernel than
//! under `mse`, for each framework, and higher under the learned kernel than under both hand-crafted blurs. The kernel is that of [`super::t1_table_6_1`], ours.
//!
//! At small scale ([`super::t1_setups`]) there are two squares, beta-VAEs alone, and one beta for each loss. Images keep their 64 x 64 pixels, which the kernel is for. That the learned kernel is ahead
//! of hand-crafted blurs, which T1 calls preliminary, is only shown there: all of them rise little above nothing in so few steps.

use std::path::{Path, absolute};

use unbraid_data::Result;
use unbraid_data::whole_file::{create_folder, write_whole};

use super::planned::{Grids, Runs, above, largest, means, train_at_hand};
use super::run_figures::over_groups;
use super::t1_setups::{MIG_AND_DCI, SMALL, SMOKE};
use super::trained::{Group, of_scale};
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t1-figure-6.4.toml"),
    small: &[
        SMALL,
        "
        [base.dataset]
        squares = 2
        [shared]
        seed = [1, 2]
        [[grid]]
        framework.reconstruction = 'mse'
        framework.beta = 0.000316
        [[grid]]
        framework.reconstruction = [{ name = 'mse_gaussian', radius = 31, weight = 3969 }]
        framework.beta = 0.00316
        [[grid]]
        framework.reconstruction = [
            { name = 'mse_box', radius = 31, weight = 3969 },
            { name = 'mse_kernel', path = 'kernels/xy_squares/kernel.npy', weight = 1 },
        ]
        framework.beta = 0.01
        ",
    ],
    smoke: &[SMOKE, "base.training.steps = 6\nbase.training.batch_size = 4\nbase.dataset.grid = 4\nshared.seed = [1]"],
};
/// With which betas runs reconstruct, by loss (table A.6).
const SHOWN: &[(&str, &[f64])] = &[
    ("mse", &[0.0001, 0.000316]),
    ("mse_gaussian", &[0.001, 0.00316]),
    ("mse_box", &[0.01, 0.0316]),
    ("mse_kernel", &[0.01, 0.0316]),
];
/// Which loss is better than which.
const ORDER: [(&str, &str); 4] =
    [("mse_box", "mse"), ("mse_kernel", "mse"), ("mse_kernel", "mse_gaussian"), ("mse_kernel", "mse_box")];
const LEARNED: &[u8] = include_bytes!("kernels/xy_squares_31.npy");
const LOSS: &str = "framework.reconstruction";
const BETA: &str = "framework.beta";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = with_kernel(GRIDS.groups(request.scale)?, &request.runs.with_file_name("kernels"))?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let is_shown =
        |runs: &&Runs| SHOWN.iter().any(|(loss, betas)| runs.word(LOSS) == *loss && betas.contains(&runs.number(BETA)));
    let runs: Vec<Runs> = runs.iter().filter(is_shown).cloned().collect();
    let name = |runs: &Runs| format!("{}, {}, beta {}", runs.framework(), runs.word(LOSS), runs.number(BETA));
    outcome.rows = means(&runs, &MIG_AND_DCI, name)?;
    for framework in ["beta_vae", "ada_gvae"] {
        let of_framework: Vec<&Runs> = runs.iter().filter(|runs| runs.framework() == framework).collect();
        if !of_framework.is_empty() {
            outcome.rows.extend(claims(framework, &of_framework, request.scale)?);
        }
    }
    let title = "xy_squares: scores by reconstruction loss, hand-crafted and learned";
    let framework = |runs: &Runs| runs.framework().to_string();
    let figure = over_groups(title, &runs, &MIG_AND_DCI, |runs| runs.word(LOSS), framework)?;
    outcome.figures.push(("losses.png".to_string(), figure));
    Ok(Some(of_scale(outcome, request.scale)))
}

fn claims(framework: &str, runs: &[&Runs], scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (score, shown) in MIG_AND_DCI {
        let under = |loss: &str| largest(runs.iter().copied().filter(|runs| runs.word(LOSS) == loss), score);
        for (upper, lower) in ORDER {
            let what = format!("{framework}: {shown} is higher under {upper} than under {lower}");
            let claim = above(what, [under(upper)?, under(lower)?]);
            let is_judged = scale == Scale::Paper || lower == "mse";
            rows.push(if is_judged { claim } else { claim.only_beside() });
        }
    }
    Ok(rows)
}

/// The groups with the path of the learned kernel, which is written into a folder first.
fn with_kernel(mut groups: Vec<Group>, folder: &Path) -> Result<Vec<Group>> {
    create_folder(folder)?;
    let path = folder.join("xy_squares_31.npy");
    write_whole(&path, LEARNED)?;
    // A config holds the whole path, from whichever folder its run goes on.
    let path = absolute(&path).unwrap_or(path);
    for group in &mut groups {
        let loss = group.config.framework.settings.get_mut("reconstruction");
        if let Some(place) = loss.and_then(|loss| loss.get_mut("path")) {
            *place = toml::Value::String(path.display().to_string());
        }
    }
    Ok(groups)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-figure-6.4",
    about: "Disentanglement under squared error, hand-crafted and learned losses, trained: xy_squares",
    paper: "Michlo 2022, figure 6.4",
    run: Run::Trained(run),
};
