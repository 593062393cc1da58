//! T3 table 7.2 (section 7.3.3): the runs of table 7.1, of each model the one with the highest CbD modularity.
//!
//! Claims are that L-VAE or mdL-VAE has the highest or the second highest CbD modularity on each dataset, and that another score chooses other runs than CbD does. At small scale ([`super::t3_setups`]) the
//! first is only shown, as in table 7.1.

use unbraid_data::Result;

use super::planned::{datasets, train_at_hand};
use super::t3_table_7_1::groups;
use super::t3_tables::{Chosen, Table, chosen, only_at_paper, ranking, rows};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

const fn seven(numbers: [f64; 7]) -> [Option<f64>; 7] {
    let [a, b, c, d, e, f, g] = numbers;
    [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g)]
}

/// Table 7.3 is set beside it.
pub const TABLE: Table = Table {
    columns: &[
        ("reconstruction", "reconstruction"),
        ("cbd", "CbD"),
        ("cbd.modularity", "CbD modularity"),
        ("beta_vae", "beta-VAE metric"),
        ("factor_vae", "FactorVAE metric"),
        ("mig_sup", "MIG_SUP"),
        ("modularity", "modularity"),
    ],
    by: "cbd.modularity",
    rows: &[
        ("dsprites", "vae", &seven([11.86, 0.58, 0.66, 0.93, 0.77, 0.32, 0.92])),
        ("dsprites", "beta_vae", &seven([29.11, 0.58, 0.66, 0.92, 0.75, 0.28, 0.94])),
        ("dsprites", "control_vae", &seven([24.35, 0.60, 0.67, 0.97, 0.76, 0.30, 0.94])),
        ("dsprites", "dynamic_vae", &seven([33.44, 0.56, 0.65, 0.89, 0.61, 0.29, 0.86])),
        ("dsprites", "sigma_vae", &seven([12.30, 0.29, 0.28, 0.77, 0.55, 0.09, 0.90])),
        ("dsprites", "l_vae", &seven([11.77, 0.59, 0.66, 0.96, 0.77, 0.32, 0.92])),
        ("dsprites", "mdl_vae strong", &seven([17.14, 0.60, 0.68, 0.97, 0.77, 0.29, 0.94])),
        ("falcor3d", "vae", &seven([68.15, 0.27, 0.31, 0.93, 0.59, 0.13, 0.89])),
        ("falcor3d", "beta_vae", &seven([90.80, 0.36, 0.35, 0.89, 0.77, 0.17, 0.91])),
        ("falcor3d", "control_vae", &seven([237.69, 0.39, 0.40, 0.87, 0.53, 0.14, 0.80])),
        ("falcor3d", "dynamic_vae", &seven([205.04, 0.24, 0.30, 0.77, 0.45, 0.06, 0.73])),
        ("falcor3d", "sigma_vae", &seven([65.60, 0.20, 0.15, 0.87, 0.42, 0.09, 0.90])),
        ("falcor3d", "l_vae", &seven([70.67, 0.32, 0.36, 0.94, 0.70, 0.17, 0.95])),
        ("falcor3d", "mdl_vae strong", &seven([75.17, 0.41, 0.37, 0.95, 0.65, 0.20, 0.97])),
        ("isaac3d", "vae", &seven([11.88, 0.48, 0.48, 0.76, 0.69, 0.31, 0.90])),
        ("isaac3d", "beta_vae", &seven([14.71, 0.50, 0.52, 0.77, 0.65, 0.32, 0.90])),
        ("isaac3d", "control_vae", &seven([34.56, 0.26, 0.25, 0.65, 0.48, 0.15, 0.95])),
        ("isaac3d", "dynamic_vae", &seven([28.73, 0.19, 0.20, 0.48, 0.32, 0.07, 0.79])),
        ("isaac3d", "sigma_vae", &seven([16.57, 0.18, 0.14, 0.64, 0.47, 0.18, 0.96])),
        ("isaac3d", "l_vae", &seven([10.73, 0.42, 0.41, 0.75, 0.66, 0.26, 0.91])),
        ("isaac3d", "mdl_vae strong", &seven([13.78, 0.52, 0.53, 0.76, 0.67, 0.36, 0.93])),
        ("mpi3d_complex", "vae", &seven([9.91, 0.23, 0.23, 0.75, 0.39, 0.10, 0.90])),
        ("mpi3d_complex", "beta_vae", &seven([14.58, 0.21, 0.25, 0.67, 0.45, 0.10, 0.88])),
        ("mpi3d_complex", "control_vae", &seven([19.74, 0.22, 0.21, 0.62, 0.38, 0.11, 0.90])),
        ("mpi3d_complex", "dynamic_vae", &seven([17.81, 0.23, 0.24, 0.69, 0.45, 0.13, 0.91])),
        ("mpi3d_complex", "sigma_vae", &seven([11.24, 0.22, 0.14, 0.65, 0.35, 0.10, 0.88])),
        ("mpi3d_complex", "l_vae", &seven([9.16, 0.22, 0.26, 0.73, 0.41, 0.10, 0.90])),
        ("mpi3d_complex", "mdl_vae strong", &seven([14.35, 0.21, 0.24, 0.57, 0.36, 0.08, 0.87])),
        ("mpi3d_complex", "mdl_vae weak", &seven([8.73, 0.23, 0.24, 0.80, 0.53, 0.07, 0.89])),
    ],
};

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let (by_modularity, by_cbd) = (chosen(&runs, TABLE.by)?, chosen(&runs, "cbd")?);
    outcome.rows = rows(&TABLE, &by_modularity);
    for dataset in datasets(&runs) {
        let found = ranking(&by_modularity, &dataset, TABLE.by);
        let first: Vec<String> = found.iter().take(3).map(|(model, score)| format!("{model} {score:.2}")).collect();
        let holds = found.iter().take(2).any(|(model, _)| *model == "l_vae" || model.starts_with("mdl_vae"));
        let what = format!("{dataset}: l_vae or mdl_vae has one of the two highest CbD modularities");
        outcome.rows.push(only_at_paper(Row::claim(what, first.join(", "), holds), request.scale));
    }
    outcome.rows.push(other_runs(&by_modularity, &by_cbd));
    Ok(Some(of_scale(outcome, request.scale)))
}

/// For how many models both scores choose another run.
fn other_runs(by_modularity: &[Chosen], by_cbd: &[Chosen]) -> Row {
    let pairs = by_modularity.iter().zip(by_cbd);
    let n_others = pairs.filter(|(one, other)| one.folder.path() != other.folder.path()).count();
    let ours = format!("for {n_others} of {}", by_cbd.len());
    Row::claim("CbD modularity chooses other runs than CbD for some models", ours, n_others > 0)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-table-7.2",
    about: "The runs of t3-table-7.1, best by CbD modularity, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, table 7.2",
    run: Run::Trained(run),
};
