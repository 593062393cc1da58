//! T3 table 7.1: mdL-VAE, which learns a weight for the divergence of each latent, beside the models of table 6.1; of each the run with the highest CbD.
//!
//! Claims are that mdL-VAE has the highest CbD on each dataset (shared on some), and that on MPI3D its weak variant has a higher one than the strong. At small scale ([`super::t3_setups`]) the first is
//! only shown: which way the two positions, of nearly the same variance, are turned decides CbD there, and is chance.

use unbraid_data::Result;

use super::planned::{Grids, above, datasets, train_at_hand};
use super::t3_setups::{SMALL, SMOKE};
use super::t3_table_6_1;
use super::t3_tables::{Chosen, OF_CBD, Table, among_first, chosen, only_at_paper, ranking, rows, score_of};
use super::trained::{Group, of_scale};
use super::{Entry, Outcome, Request, Run, Scale};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids = Grids {
    paper: include_str!("../../../../configs/sweeps/t3-table-7.1.toml"),
    small: &[SMALL, "[[grid]]\nframework = [{ name = 'mdl_vae', variant = 'strong' }]"],
    smoke: &[SMOKE],
};
const OF_MDL_VAE: &[(&str, &str, &[Option<f64>])] = &[
    ("dsprites", "mdl_vae strong", &[Some(19.99), Some(0.60), Some(0.97), Some(0.31), Some(0.59)]),
    ("falcor3d", "mdl_vae strong", &[Some(75.17), Some(0.41), Some(0.95), Some(0.17), Some(0.61)]),
    ("isaac3d", "mdl_vae strong", &[Some(13.78), Some(0.52), Some(0.76), Some(0.37), Some(0.57)]),
    ("mpi3d_complex", "mdl_vae strong", &[Some(16.60), Some(0.21), Some(0.54), Some(0.12), Some(0.34)]),
    ("mpi3d_complex", "mdl_vae weak", &[Some(8.80), Some(0.23), Some(0.79), Some(0.19), Some(0.41)]),
];

/// The runs of tables 7.1, 7.2 and 7.3: those of table 6.1, and mdL-VAEs.
pub fn groups(scale: Scale) -> Result<Vec<Group>> {
    let mut groups = t3_table_6_1::GRIDS.groups(scale)?;
    for group in GRIDS.groups(scale)? {
        if groups.iter().all(|other| other.config != group.config) {
            groups.push(group);
        }
    }
    Ok(groups)
}

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let chosen = chosen(&runs, "cbd")?;
    for published in [t3_table_6_1::PUBLISHED, OF_MDL_VAE] {
        let table = Table { columns: OF_CBD, by: "cbd", rows: published };
        let is_there = |one: &Chosen| published.iter().any(|row| row.1 == one.model);
        let of_table: Vec<Chosen> = chosen.iter().filter(|one| is_there(one)).cloned().collect();
        outcome.rows.extend(rows(&table, &of_table));
    }
    for dataset in datasets(&runs) {
        let variant = if dataset == "mpi3d_complex" { "mdl_vae weak" } else { "mdl_vae strong" };
        let what = format!("{dataset}: {variant} has the highest CbD");
        let claim = among_first(what, &ranking(&chosen, &dataset, "cbd"), variant, 1);
        outcome.rows.push(only_at_paper(claim, request.scale));
    }
    let variants = ["mdl_vae weak", "mdl_vae strong"].map(|model| score_of(&chosen, "mpi3d_complex", model, "cbd"));
    if variants.iter().all(|cbd| cbd.is_finite()) {
        outcome.rows.push(above("mpi3d_complex: the weak variant has a higher CbD than the strong", variants));
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-table-7.1",
    about: "mdL-VAE beside six models, best by CbD, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, table 7.1",
    run: Run::Trained(run),
};
