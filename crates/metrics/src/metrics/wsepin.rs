//! Weighted separability: what each latent tells about an image that the other latents do not.
//!
//! Do and Tran 2020, "Theory and evaluation metrics for learning disentangled representations", WSEPIN:
//!
//! `wsepin = sum_i rho_i I(x; z_i | z_others)`, with `rho_i = I(x; z_i) / sum_j I(x; z_j)`,
//!
//! in nats. x is one of the train rows and z is drawn from its posterior; factors play no part. The information is
//! estimated from 10,000 draws, as the authors' code does (`posterior_information.rs` says how, and where it departs).
//!
//! Departures: the authors take all images (737,280 of dSprites, on a graphics card); here 5,000 rows are drawn where there
//! are more, and information about which row was coded is then at most ln 5,000 = 8.52 nats.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::information::published;
use crate::{Entry, Metric, Need, ScoreKind, Scores, Subject};

/// More draws or rows than this would take longer than anyone waits.
const MOST: usize = 100_000_000;
/// One row alone could not be told from any other.
const LEAST_ROWS: usize = 2;

/// Settings of the weighted separability.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Wsepin {
    /// How many codes are drawn; 10,000 in Do and Tran 2020.
    pub samples: NonZeroUsize,
    /// From how many rows, drawn without replacement where there are more; all of them in Do and Tran 2020.
    pub rows: NonZeroUsize,
}

impl Default for Wsepin {
    fn default() -> Self {
        Self { samples: published(10_000), rows: published(5_000) }
    }
}

impl Metric for Wsepin {
    /// `wsepin`, and `I(x; z_i | z_others)` for each latent as `wsepin.z0`, `wsepin.z1`, ..., in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let information = subject.posterior_information(self.samples.get(), self.rows.get());
        let information = information.as_ref().as_ref();
        let whole = information.map_err(String::clone).and_then(|found| found.weighted(&found.separate));
        let mut scores = Scores::new().with_outcome("wsepin", whole);
        for latent in 0..data.n_latents() {
            let of_latent = information.map(|found| found.separate[latent]);
            scores = scores.with_latent("wsepin", latent, of_latent);
        }
        match information.ok().and_then(|found| found.note(subject.train().codes.nrows())) {
            Some(note) => scores.with_note("wsepin", &note),
            None => scores,
        }
    }
}

/// Refuses numbers of draws or rows that make no sense.
pub fn check_draws(samples: NonZeroUsize, rows: NonZeroUsize) -> Result<()> {
    for (name, number, least) in [("samples", samples, 1), ("rows", rows, LEAST_ROWS)] {
        if !(least..=MOST).contains(&number.get()) {
            let wanted = format!("wanted {least} to {MOST}");
            return Err(Error::new(format!("setting \"{name}\" is {number}")).help(wanted));
        }
    }
    Ok(())
}

/// The settings of `wsepin` and `windin`.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "samples",
        values: Values::Whole(1, MOST as u64),
        meaning: "how many codes are drawn from the posterior",
    },
    Setting {
        name: "rows",
        values: Values::Whole(LEAST_ROWS as u64, MOST as u64),
        meaning: "how many rows there are to tell apart, drawn where the table has more",
    },
];

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "wsepin",
    about: "what each latent tells about an image that the others do not, weighted",
    paper: "Do and Tran 2020",
    settings: SETTINGS,
    scores: &[ScoreKind { name: "wsepin", least: f64::NEG_INFINITY, greatest: f64::INFINITY, better: High }],
    needs: &[Need::LogVariances],
    left_alone_by: &[Shift, RowOrder, ValueOrder, Losses],
    build: |table| {
        let wsepin: Wsepin = settings::read(table)?;
        check_draws(wsepin.samples, wsepin.rows)?;
        Ok(Box::new(wsepin))
    },
    complete: settings::complete::<Wsepin>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    #[test]
    fn latents_count_by_what_they_tell() {
        // z0 is one of four points, z1 one of two, all eight pairs once: ln 4 and ln 2 alone, and nothing is shared. The
        // weights are 2/3 and 1/3: (2 ln 4 + ln 2) / 3 = 5/3 ln 2. z2 is the same for all.
        let codes = Array2::from_shape_fn((8, 3), |(row, latent)| [row % 4, row / 4, 7][latent] as f64);
        let factors = Array2::from_shape_fn((8, 1), |(row, _)| row as f64);
        let log_variances = Some(Array2::from_elem((8, 3), -20.0));
        let extras = Extras { log_variances, ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("row", 8)]), extras).unwrap();
        let scores = Wsepin::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/wsepin"));
        let ln_2 = 2_f64.ln();
        for (name, expected) in
            [("wsepin", 5.0 / 3.0 * ln_2), ("wsepin.z0", 2.0 * ln_2), ("wsepin.z1", ln_2), ("wsepin.z2", 0.0)]
        {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        assert!(scores.notes.is_empty());
    }

    #[test]
    fn without_log_variances_it_says_what_it_needs() {
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(array![[0.0], [1.0]], array![[0.0], [1.0]], space, Extras::default()).unwrap();
        let scores = Wsepin::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/wsepin"));
        assert!(scores.undefined[0].reason.starts_with("needs the posterior's log-variances"));
        assert_eq!(scores.undefined[1].name, "wsepin.z0");
    }

    #[test]
    fn more_draws_than_anyone_waits_for_are_refused() {
        assert!((ENTRY.build)(&"samples = 100000001".parse().unwrap()).is_err());
        assert!((ENTRY.build)(&"rows = 1".parse().unwrap()).is_err());
    }
}
