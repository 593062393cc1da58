//! T2, on transferring hyper-parameters: how often a setting that was good for one seed, metric and dataset beats a random one, on another seed, for another metric, on another dataset.
//!
//! T2 draws 10,000 times; here all draws are counted, equal scores count half, and a setting is not set against itself ([`unbraid_study::statistics::random_good`]). So numbers stand beside T2's, and
//! the claim is judged that an advantage is left, and that it gets smaller the farther a setting is carried.

use unbraid_data::Result;
use unbraid_study::figures::random_good::bars;
use unbraid_study::statistics::random_good::{MOVES, Move, random_good};

use super::planned::{above, shown};
use super::t2_runs::trained;
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let Some(table) = trained(request, watch, &mut outcome.notes)? else { return Ok(None) };
    let found = match random_good(&table) {
        Ok(found) => found,
        Err(missing) => {
            outcome.notes.push(missing);
            return Ok(Some(of_scale(outcome, request.scale)));
        }
    };
    let share = |wanted: Move| -> Option<f64> {
        let place = MOVES.iter().position(|one| *one == wanted)?;
        found.overall[place].map(|won| won.share)
    };
    for one in MOVES {
        let Some(ours) = share(one) else { continue };
        let what = format!("a good setting wins, {}", one.words());
        outcome.rows.push(match one.published() {
            Some(published) => Row::number(what, ours, published, 0.05).only_beside(),
            None => Row::ours(what, ours),
        });
    }
    if let Some(same) = share(Move::SameSame) {
        let what = "a setting that was good for one seed is better than chance on others";
        outcome.rows.push(Row::claim(what, shown(same), same > 0.5));
        let farther = [Move::OtherMetric, Move::OtherDataset, Move::OtherBoth].into_iter().filter_map(share);
        if let Some(farther) = farther.reduce(f64::max) {
            outcome.rows.push(above("less so for other metrics or datasets", [same, farther]));
        }
    }
    match bars(&table) {
        Ok(figure) => outcome.figures.push(("random_good.png".to_string(), figure.canvas)),
        Err(missing) => outcome.notes.push(missing),
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t2-random-good",
    about: "How often a good setting beats a random one, trained: squares of dsprites, at paper scale seven datasets",
    paper: "Locatello et al. 2019, section 5.4",
    run: Run::Trained(run),
};
