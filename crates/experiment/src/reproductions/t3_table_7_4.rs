//! T3 table 7.4 (section 7.3.4): four losses of mdL-VAE on dSprites; of each the run with the highest CbD.
//!
//! The claim is that the strong variant, which the other tables have, has the least reconstruction loss and the highest CbD of the four. At small scale ([`super::t3_setups`])
//! both are judged, on images of a quarter of the pixels.

use unbraid_data::Result;

use super::planned::{Grids, Runs, train_at_hand};
use super::run_figures::over_groups;
use super::t3_setups::{SMALL, SMOKE};
use super::t3_tables::{OF_CBD, Table, among_first, chosen, ranking, rows};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Run};
use crate::watch::Watch;

/// The runs at each scale.
pub const GRIDS: Grids =
    Grids { paper: include_str!("../../../../configs/sweeps/t3-table-7.4.toml"), small: &[SMALL], smoke: &[SMOKE] };
const TABLE: Table = Table {
    columns: OF_CBD,
    by: "cbd",
    rows: &[
        ("dsprites", "mdl_vae strong", &[Some(19.99), Some(0.60), Some(0.97), Some(0.31), Some(0.59)]),
        ("dsprites", "mdl_vae v1", &[Some(29.38), Some(0.58), Some(0.94), Some(0.30), Some(0.56)]),
        ("dsprites", "mdl_vae v2", &[Some(37.86), Some(0.55), Some(0.88), Some(0.29), Some(0.49)]),
        ("dsprites", "mdl_vae v3", &[Some(36.13), Some(0.55), Some(0.87), Some(0.31), Some(0.50)]),
    ],
};

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = GRIDS.groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let chosen = chosen(&runs, TABLE.by)?;
    outcome.rows = rows(&TABLE, &chosen);
    let mut by_reconstruction = ranking(&chosen, "dsprites", "reconstruction");
    by_reconstruction.reverse();
    let strong = "mdl_vae strong";
    outcome.rows.push(among_first("strong has the least reconstruction loss", &by_reconstruction, strong, 1));
    outcome.rows.push(among_first("strong has the highest CbD", &ranking(&chosen, "dsprites", "cbd"), strong, 1));
    let title = "dsprites: four losses of mdL-VAE, each point is a run";
    let rate = |runs: &Runs| format!("rate {}", runs.number("training.learning_rate"));
    let figure = over_groups(title, &runs, &OF_CBD[..2], |runs| runs.word("framework.variant"), rate)?;
    outcome.figures.push(("variants.png".to_string(), figure));
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-table-7.4",
    about: "Four losses of mdL-VAE, best by CbD, trained: dsprites",
    paper: "Mogultay Ozcan 2024, table 7.4",
    run: Run::Trained(run),
};
