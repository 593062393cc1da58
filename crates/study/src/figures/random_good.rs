//! How often a setting that is known to be good beats a random one, as bars (T2, on transferring hyper-parameters).

use unbraid_report::figures::{Bar, share_bars};

use super::{Drawn, Figure};
use crate::statistics::random_good::{MOVES, Move, RandomGood, random_good};
use crate::table::StudyTable;

/// The bars of all four moves.
pub fn bars(table: &StudyTable) -> Drawn {
    let title = "How often a setting that was best for one seed beats a random one";
    let found = random_good(table).map_err(|missing| format!("{title}: {missing}."))?;
    let bars: Vec<Bar> = MOVES
        .iter()
        .zip(&found.overall)
        .map(|(moved, won)| Bar {
            name: moved.words().to_string(),
            share: won.map(|won| won.share).ok_or_else(|| missing(*moved).to_string()),
            mark: moved.published(),
        })
        .collect();
    let canvas = share_bars(
        &format!("{title}: {} runs", found.n_runs),
        &bars,
        0.5,
        "published by T2: over 12,000 runs on seven datasets",
    );
    let caption = format!(
        "{title}: chosen by one metric on one dataset and tried on another seed, by another metric or on another dataset, over all draws from {} \
         runs. Half is no better than chance. T2 counts equal scores as won and may draw the good setting itself, which puts its shares \
         higher than the same runs would have here, the more so the fewer settings there are.",
        found.n_runs
    );
    Ok(Figure { name: "random_good".to_string(), caption, canvas })
}

/// The shares by the score that chose, for a table.
pub fn rows_by_source(found: &RandomGood) -> Vec<Vec<String>> {
    let text = |won: &Option<crate::statistics::random_good::Won>| {
        won.map_or("–".to_string(), |won| format!("{:.1} %", 100.0 * won.share))
    };
    found
        .by_source
        .iter()
        .map(|(name, won)| std::iter::once(name.clone()).chain(won.iter().map(text)).collect())
        .collect()
}

fn missing(moved: Move) -> &'static str {
    match moved {
        Move::SameSame => "needs two settings with two seeds each",
        Move::OtherMetric => "needs a second metric of factors",
        Move::OtherDataset => "needs a second dataset with the same settings",
        Move::OtherBoth => "needs a second metric and a second dataset with the same settings",
    }
}
