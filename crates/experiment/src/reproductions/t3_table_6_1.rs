//! T3 table 6.1 (section 6.3.2): L-VAE, which learns the weights of its loss, beside five models; of each the run with the highest CbD.
//!
//! Claims are of dSprites (section 6.3.2, and what the table shows): L-VAE has the least reconstruction loss of all and the second highest CbD;
//! sigma-VAE has the lowest CbD; and beta-VAE reconstructs worse than VAE. At small scale ([`super::t3_setups`]) the first two are only shown. L-VAE reconstructs best where the beta that it
//! learns is below 1, T3's 0.89, and on a quarter of the pixels it comes to about 1; and VAE, L-VAE and beta-VAE differ in CbD by less than
//! their seeds do, since both positions have nearly the same variance.

use unbraid_data::Result;

use super::planned::{Grids, above, train_at_hand};
use super::t3_setups::{SMALL, SMOKE};
use super::t3_tables::{Chosen, OF_CBD, Table, among_first, chosen, only_at_paper, ranking, rows, score_of};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

/// Table 7.1 adds to these.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t3-table-6.1.toml"),
    small: &[
        SMALL,
        "
        [[grid]]
        framework = [
            { name = 'vae' },
            { name = 'beta_vae', beta = 2 },
            { name = 'beta_vae', beta = 4 },
            { name = 'control_vae', kl = 8, proportional = 0.01, integral = 0.005 },
            { name = 'dynamic_vae', kl = 8, proportional = 0.01, integral = 0.005, beta_first = 20 },
            { name = 'sigma_vae', sigma = 'learned' },
            { name = 'l_vae', sigma0 = 1, sigma1 = 1 },
        ]
        ",
    ],
    smoke: &[SMOKE],
};

const fn five(numbers: [f64; 5]) -> [Option<f64>; 5] {
    let [a, b, c, d, e] = numbers;
    [Some(a), Some(b), Some(c), Some(d), Some(e)]
}

/// Table 7.1 repeats these.
pub const PUBLISHED: &[(&str, &str, &[Option<f64>])] = &[
    ("dsprites", "vae", &five([11.86, 0.58, 0.93, 0.30, 0.56])),
    ("dsprites", "beta_vae", &five([29.11, 0.58, 0.92, 0.30, 0.55])),
    ("dsprites", "control_vae", &five([24.35, 0.60, 0.97, 0.30, 0.59])),
    ("dsprites", "dynamic_vae", &five([33.75, 0.56, 0.89, 0.33, 0.50])),
    ("dsprites", "sigma_vae", &five([12.30, 0.29, 0.77, 0.07, 0.47])),
    ("dsprites", "l_vae", &five([11.77, 0.59, 0.96, 0.31, 0.57])),
    ("mpi3d_complex", "vae", &five([9.91, 0.23, 0.75, 0.18, 0.40])),
    ("mpi3d_complex", "beta_vae", &five([16.12, 0.21, 0.65, 0.15, 0.36])),
    ("mpi3d_complex", "control_vae", &five([19.74, 0.22, 0.62, 0.12, 0.36])),
    ("mpi3d_complex", "dynamic_vae", &five([18.46, 0.23, 0.69, 0.14, 0.36])),
    ("mpi3d_complex", "sigma_vae", &five([12.70, 0.22, 0.65, 0.05, 0.49])),
    ("mpi3d_complex", "l_vae", &five([9.16, 0.22, 0.73, 0.20, 0.47])),
    ("falcor3d", "vae", &five([68.15, 0.27, 0.93, 0.13, 0.64])),
    ("falcor3d", "beta_vae", &five([71.37, 0.37, 0.91, 0.16, 0.62])),
    ("falcor3d", "control_vae", &five([237.69, 0.39, 0.87, 0.15, 0.45])),
    ("falcor3d", "dynamic_vae", &five([205.04, 0.24, 0.77, 0.16, 0.34])),
    ("falcor3d", "sigma_vae", &five([65.60, 0.20, 0.87, 0.06, 0.61])),
    ("falcor3d", "l_vae", &five([70.67, 0.32, 0.94, 0.15, 0.63])),
    ("isaac3d", "vae", &five([11.88, 0.48, 0.76, 0.32, 0.59])),
    ("isaac3d", "beta_vae", &five([14.71, 0.50, 0.77, 0.33, 0.55])),
    ("isaac3d", "control_vae", &five([34.56, 0.26, 0.65, 0.15, 0.46])),
    ("isaac3d", "dynamic_vae", &five([39.80, 0.19, 0.51, 0.13, 0.40])),
    ("isaac3d", "sigma_vae", &five([26.31, 0.20, 0.61, 0.04, 0.54])),
    ("isaac3d", "l_vae", &five([10.73, 0.42, 0.75, 0.26, 0.56])),
];
const TABLE: Table = Table { columns: OF_CBD, by: "cbd", rows: PUBLISHED };

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = GRIDS.groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let chosen = chosen(&runs, TABLE.by)?;
    outcome.rows = rows(&TABLE, &chosen);
    outcome.rows.extend(claims(&chosen, request.scale));
    Ok(Some(of_scale(outcome, request.scale)))
}

fn claims(chosen: &[Chosen], scale: Scale) -> Vec<Row> {
    let reconstruction = |model: &str| score_of(chosen, "dsprites", model, "reconstruction");
    let mut by_reconstruction = ranking(chosen, "dsprites", "reconstruction");
    by_reconstruction.reverse();
    let by_cbd = ranking(chosen, "dsprites", "cbd");
    let mut from_below = by_cbd.clone();
    from_below.reverse();
    vec![
        above("dsprites: beta_vae reconstructs worse than vae", ["beta_vae", "vae"].map(reconstruction)),
        among_first("dsprites: sigma_vae has the lowest CbD", &from_below, "sigma_vae", 1),
        only_at_paper(
            among_first("dsprites: l_vae has the least reconstruction loss", &by_reconstruction, "l_vae", 1),
            scale,
        ),
        only_at_paper(among_first("dsprites: l_vae has one of the two highest CbD", &by_cbd, "l_vae", 2), scale),
    ]
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-table-6.1",
    about: "L-VAE beside five models, best by CbD, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, table 6.1",
    run: Run::Trained(run),
};
