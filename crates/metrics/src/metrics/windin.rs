//! Weighted independence: what each latent tells about an image, less what it shares with the other latents.
//!
//! Do and Tran 2020, "Theory and evaluation metrics for learning disentangled representations", WINDIN:
//!
//! `windin = sum_i rho_i (I(x; z_i) - I(z_i; z_others))`, with `rho_i = I(x; z_i) / sum_j I(x; z_j)`,
//!
//! in nats; `windin.informativeness` and `windin.shared` are the two sums that it is the difference of. All are estimated as in
//! `wsepin`, from the same draws.
//!
//! Where latents are independent given the image, as they are in every posterior that means and variances describe,
//! `I(x; z_i | z_others) = I(x; z_i) - I(z_i; z_others)`: `windin` is then `wsepin`, except that here what is shared counts
//! as 0 where chance takes it below.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::*;
use crate::Change::*;
use crate::metrics::wsepin::{SETTINGS, check_draws};
use crate::posterior_information::PosteriorInformation;
use crate::statistics::information::published;
use crate::{Entry, Metric, Need, ScoreKind, Scores, Subject};

/// Settings of the weighted independence.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Windin {
    /// How many codes are drawn; 10,000 in Do and Tran 2020.
    pub samples: NonZeroUsize,
    /// From how many rows, drawn without replacement where there are more; all of them in Do and Tran 2020.
    pub rows: NonZeroUsize,
}

impl Default for Windin {
    fn default() -> Self {
        Self { samples: published(10_000), rows: published(5_000) }
    }
}

impl Metric for Windin {
    /// `windin`, `windin.informativeness` and `windin.shared`, in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let information = subject.posterior_information(self.samples.get(), self.rows.get());
        let information = information.as_ref().as_ref();
        let weighted = |pick: fn(&PosteriorInformation) -> &[f64]| {
            information.map_err(String::clone).and_then(|found| found.weighted(pick(found)))
        };
        let (informativeness, shared) = (weighted(|found| &found.alone), weighted(|found| &found.shared));
        let difference = informativeness.clone().and_then(|alone| shared.clone().map(|shared| alone - shared));
        let scores = Scores::new()
            .with_outcome("windin", difference)
            .with_outcome("windin.informativeness", informativeness)
            .with_outcome("windin.shared", shared);
        match information.ok().and_then(|found| found.note(subject.train().codes.nrows())) {
            Some(note) => scores.with_note("windin", &note),
            None => scores,
        }
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "windin",
    about: "what each latent tells about an image, less what it shares with the others, weighted",
    paper: "Do and Tran 2020",
    settings: SETTINGS,
    scores: &[
        ScoreKind { name: "windin", least: f64::NEG_INFINITY, greatest: f64::INFINITY, better: High },
        ScoreKind { name: "windin.informativeness", least: 0.0, greatest: f64::INFINITY, better: High },
        ScoreKind { name: "windin.shared", least: 0.0, greatest: f64::INFINITY, better: Low },
    ],
    needs: &[Need::LogVariances],
    left_alone_by: &[Shift, RowOrder, ValueOrder, Losses],
    build: |table| {
        let windin: Windin = settings::read(table)?;
        check_draws(windin.samples, windin.rows)?;
        Ok(Box::new(windin))
    },
    complete: settings::complete::<Windin>,
};

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;
    use crate::metrics::wsepin::Wsepin;

    fn scores(codes: Array2<f64>, log_variance: f64) -> [Scores; 2] {
        let factors = Array2::from_shape_fn((codes.nrows(), 1), |(row, _)| row as f64);
        let log_variances = Some(Array2::from_elem(codes.dim(), log_variance));
        let space = FactorSpace::grid([("row", codes.nrows())]);
        let data = LabelledCodes::new(codes, factors, space, Extras { log_variances, ..Extras::default() }).unwrap();
        let (subject, mut rng) = (Subject::new(&data, Seed(1)), Seed(1).stream("metric/windin"));
        [Windin::default().score(&subject, &mut rng), Wsepin::default().score(&subject, &mut rng)]
    }

    #[test]
    fn what_is_shared_is_taken_off() {
        // z0 is one of four points; z1 and z2 are alike, one of two, and all eight codes occur once. Alone they tell ln 4,
        // ln 2 and ln 2; z1 and z2 share ln 2. The weights are 1/2, 1/4 and 1/4.
        let codes = Array2::from_shape_fn((8, 3), |(row, latent)| [row % 4, row / 4, row / 4][latent] as f64);
        let [windin, _] = scores(codes, -20.0);
        let ln_2 = 2_f64.ln();
        for (name, expected) in
            [("windin", ln_2), ("windin.informativeness", 1.5 * ln_2), ("windin.shared", 0.5 * ln_2)]
        {
            assert!((windin.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn it_is_wsepin_where_latents_are_independent_given_the_row() {
        let codes = Array2::from_shape_fn((30, 3), |(row, latent)| ((row * (latent + 2)) % 7) as f64 / 2.0);
        let [windin, wsepin] = scores(codes, -1.0);
        let (windin, wsepin) = (windin.value("windin").unwrap(), wsepin.value("wsepin").unwrap());
        assert!((windin - wsepin).abs() < 1e-9 && wsepin > 0.1, "{windin}, {wsepin}");
    }
}
