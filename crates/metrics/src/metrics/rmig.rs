//! Robust mutual information gap: `mig` of the whole posterior instead of its mean.
//!
//! Do and Tran 2020, "Theory and evaluation metrics for learning disentangled representations", RMIG. With `q(z_i | x)`
//! the posterior of latent i for image x,
//!
//! `q(z_i, v_k) = mean over the images x with factors v of q(z_i | x) [v_k is x's]`,
//! `rmig_k = (I(z_best; v_k) - I(z_second; v_k)) / H(v_k)`,
//!
//! and `rmig` is the mean over the factors; `rmig.nats` is the mean of the gaps before they are divided. The information
//! is counted as the authors do it: each posterior is spread over 100 bins between -4 and 4, in proportion to its density
//! in the middle of each bin, on the train rows. A latent that says little, because its posterior is wide, is thus told
//! from one that says much, though their means may be the same; `mig` sees only the means.
//!
//! Departures: logarithms are taken of the shares as they are, where the authors' code keeps them above 1e-8; a factor with
//! a single value takes no part, and one with more values than fit a table beside the bins is undefined; a continuous
//! factor is cut into as many bins between its smallest and largest value; where there is one latent only, the second
//! best tells 0.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use ndarray::{Array2, ArrayRef1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::metrics::mig::SINGLE_VALUE;
use crate::needs::{SAME_POSTERIOR, train_log_variances};
use crate::statistics::classes::{Classes, classes_of_factors};
use crate::statistics::entropy::entropy;
use crate::statistics::gap::gap;
use crate::statistics::information::{MOST_BINS, check_bins, published};
use crate::statistics::mean::mean_of_defined;
use crate::statistics::quantised_normal::QuantisedNormal;
use crate::subject::all_constant;
use crate::{Entry, Matrix, Metric, Need, ScoreKind, Scores, Subject};

/// A table of bins and a factor's values has no more cells than this.
const MOST_CELLS: usize = 4_000_000;
const LEAST_LIMIT: f64 = 1e-100;
const LARGEST_LIMIT: f64 = 1e100;

/// Settings of the robust mutual information gap.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Rmig {
    /// How many bins a posterior is spread over; 100 in Do and Tran 2020.
    pub bins: NonZeroUsize,
    /// The bins lie between minus this and this; 4 in Do and Tran 2020, four deviations of the prior.
    pub limit: f64,
}

impl Default for Rmig {
    fn default() -> Self {
        Self { bins: published(100), limit: 4.0 }
    }
}

impl Metric for Rmig {
    /// `rmig` and `rmig.FACTOR` in [0, 1], `rmig.nats` from 0 up, and the matrix `rmig.mutual_information` in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let counted = self.count(subject);
        let gaps: Vec<Result<f64, String>> = match &counted {
            Ok(counted) => counted.gaps(),
            Err(reason) => vec![Err(reason.clone()); data.n_factors()],
        };
        let share = |(factor, gap): (usize, &Result<f64, String>)| {
            let counted = counted.as_ref().map_err(String::clone)?;
            // Information is at most the entropy, but the two are added up in another order.
            gap.clone().map(|gap| (gap / counted.factor_entropies[factor]).min(1.0))
        };
        let shares: Vec<Result<f64, String>> = gaps.iter().enumerate().map(share).collect();
        let mut scores = Scores::new()
            .with_outcome("rmig", mean_of_defined(&shares))
            .with_outcome("rmig.nats", mean_of_defined(&gaps));
        for (factor, share) in data.space().names().zip(&shares) {
            scores = scores.with_factor("rmig", factor, share.as_ref().copied());
        }
        let Ok(counted) = counted else { return scores };
        if counted.n_beyond > 0 {
            scores = scores.with_note("rmig", &self.note_on_codes_beyond(&counted, subject));
        }
        scores.with_matrix(Matrix::of_latents_and_factors("rmig.mutual_information", data, counted.matrix))
    }
}

/// What latents tell about factors.
struct Counted {
    /// In nats, 0 where a factor has too many values. `[latents, factors]`
    matrix: Array2<f64>,
    /// `[factors]`
    factor_entropies: Vec<f64>,
    /// Why a factor has no information. `[factors]`
    reasons: Vec<Option<String>>,
    /// How many codes lie beyond the bins.
    n_beyond: usize,
}

impl Counted {
    /// The gap of each factor in nats, or why it has none.
    fn gaps(&self) -> Vec<Result<f64, String>> {
        let of_factors = self.matrix.axis_iter(Axis(1)).zip(&self.reasons);
        of_factors.map(|(of_latents, reason)| reason.clone().map_or_else(|| Ok(gap(of_latents)), Err)).collect()
    }
}

impl Rmig {
    /// Spreads all posteriors and counts, or says why it cannot.
    fn count(&self, subject: &Subject) -> Result<Counted, String> {
        let log_variances: Cow<Array2<f64>> = train_log_variances(subject)?; // [rows, latents]
        let tables = subject.train();
        if all_constant(&tables.codes) && all_constant(&log_variances) {
            return Err(SAME_POSTERIOR.to_string());
        }
        let n_beyond = tables.codes.iter().filter(|code| code.abs() > self.limit).count();
        if n_beyond == tables.codes.len() {
            let limit = self.limit;
            return Err(format!(
                "every code lies beyond the bins, which end at -{limit} and {limit} (setting \"limit\")"
            ));
        }
        let factors = classes_of_factors(&tables.factors, subject.data().space().factors(), self.bins.get());
        let reasons: Vec<Option<String>> = factors.iter().map(|factor| self.why_not(factor)).collect();
        let counts = |latent: usize| {
            let (means, log_variances) = (tables.codes.column(latent), log_variances.column(latent));
            self.information(&means.to_owned(), &log_variances.to_owned(), &factors, &reasons)
        };
        let per_latent: Vec<Vec<f64>> = (0..tables.codes.ncols()).into_par_iter().map(counts).collect();
        let matrix = Array2::from_shape_fn((per_latent.len(), factors.len()), |(z, v)| per_latent[z][v]);
        Ok(Counted { matrix, factor_entropies: factors.iter().map(entropy).collect(), reasons, n_beyond })
    }

    fn why_not(&self, factor: &Classes) -> Option<String> {
        let (n_values, bins) = (factor.n_classes, self.bins);
        if entropy(factor) == 0.0 {
            return Some(SINGLE_VALUE.to_string());
        }
        (n_values.saturating_mul(bins.get()) > MOST_CELLS).then(|| {
            format!(
                "the factor has {n_values} values, and a table of them and {bins} bins is limited to {MOST_CELLS} cells"
            )
        })
    }

    /// What one latent tells about each factor that has no reason against it. `[factors]`
    fn information(
        &self,
        means: &ArrayRef1<f64>,
        log_variances: &ArrayRef1<f64>,
        factors: &[Classes],
        reasons: &[Option<String>],
    ) -> Vec<f64> {
        let n_bins = self.bins.get();
        let posterior = QuantisedNormal { n_bins, limit: self.limit };
        let n_cells = |factor: &Classes| n_bins * factor.n_classes;
        // For each factor a table [values, bins], empty where it is not counted.
        let mut joint: Vec<Vec<f64>> = factors
            .iter()
            .zip(reasons)
            .map(|(factor, reason)| vec![0.0; if reason.is_none() { n_cells(factor) } else { 0 }])
            .collect();
        let mut shares = vec![0.0; n_bins];
        for (row, (&mean, &log_variance)) in means.iter().zip(log_variances).enumerate() {
            let filled = posterior.spread(mean, log_variance, &mut shares);
            for (cells, factor) in joint.iter_mut().zip(factors).filter(|(cells, _)| !cells.is_empty()) {
                let of_value = &mut cells[factor.of_rows[row] * n_bins..][filled.clone()];
                of_value.iter_mut().zip(&shares[filled.clone()]).for_each(|(cell, share)| *cell += share);
            }
        }
        joint.iter().map(|cells| information_of_table(cells, n_bins)).collect()
    }

    fn note_on_codes_beyond(&self, counted: &Counted, subject: &Subject) -> String {
        let percent = 100.0 * counted.n_beyond as f64 / subject.train().codes.len() as f64;
        let limit = self.limit;
        format!(
            "{percent:.2} % of the codes lie beyond the bins, which end at -{limit} and {limit}, and count in the outermost \
             ones (setting \"limit\")"
        )
    }
}

/// `sum p(a,b) ln(p(a,b) / p(a) p(b))` of a table of weights `[a, b]` with `n_columns` columns; 0 for an empty table.
fn information_of_table(weights: &[f64], n_columns: usize) -> f64 {
    let rows = || weights.chunks_exact(n_columns);
    let of_rows: Vec<f64> = rows().map(|row| row.iter().sum()).collect();
    let mut of_columns = vec![0.0; n_columns];
    rows().for_each(|row| of_columns.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight));
    let whole: f64 = of_rows.iter().sum();
    let mut information = 0.0;
    for (row, of_row) in rows().zip(&of_rows) {
        for (&weight, of_column) in row.iter().zip(&of_columns).filter(|(weight, _)| **weight > 0.0) {
            information += weight / whole * ((weight / of_row) / (of_column / whole)).ln();
        }
    }
    information.max(0.0)
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "rmig",
    about: "gap between the two latents whose posteriors tell most about each factor",
    paper: "Do and Tran 2020",
    settings: &[
        Setting {
            name: "bins",
            values: Values::Whole(1, MOST_BINS as u64),
            meaning: "how many bins a posterior is spread over",
        },
        Setting {
            name: "limit",
            values: Values::Number(LEAST_LIMIT, LARGEST_LIMIT),
            meaning: "where the bins end, below and above 0",
        },
    ],
    scores: &[
        ScoreKind { name: "rmig", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "rmig.nats", least: 0.0, greatest: f64::INFINITY, better: High },
    ],
    needs: &[Need::LogVariances],
    left_alone_by: &[LatentOrder, LatentSigns, RowOrder, ValueOrder, Losses],
    build: |table| {
        let rmig: Rmig = settings::read(table)?;
        check_bins(rmig.bins)?;
        if !(LEAST_LIMIT..=LARGEST_LIMIT).contains(&rmig.limit) {
            return Err(
                Error::new(format!("setting \"limit\" is {}", rmig.limit)).help("wanted a number from 1e-100 to 1e100")
            );
        }
        Ok(Box::new(rmig))
    },
    complete: settings::complete::<Rmig>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(rmig: &Rmig, data: &LabelledCodes) -> Scores {
        rmig.score(&Subject::new(data, Seed(1)), &mut Seed(1).stream("metric/rmig"))
    }

    fn labelled(codes: Array2<f64>, log_variances: Array2<f64>, factors: Array2<f64>) -> LabelledCodes {
        let extras = Extras { log_variances: Some(log_variances), ..Extras::default() };
        LabelledCodes::new(codes, factors, FactorSpace::grid([("shape", 3), ("scale", 4)]), extras).unwrap()
    }

    /// Three shapes and four scales, with a latent for each (the second also has a little of the shape) and one of noise.
    fn twelve_rows() -> LabelledCodes {
        let (shape, scale) = (|row: usize| (row / 4) as f64, |row: usize| (row % 4) as f64);
        let codes = Array2::from_shape_fn((12, 3), |(row, latent)| match latent {
            0 => shape(row) - 1.0,
            1 => 0.5 * scale(row) - 0.75 + 0.25 * shape(row),
            _ => 0.1 * (row * 5 % 12) as f64 - 0.5,
        });
        let log_variances = Array2::from_shape_fn((12, 3), |(row, latent)| match latent {
            0 => -3.0 + 0.5 * shape(row),
            1 => -2.0 - 0.25 * scale(row),
            _ => -0.5 + 0.125 * (row % 4) as f64,
        });
        let factors = Array2::from_shape_fn((12, 2), |(row, factor)| [shape(row), scale(row)][factor]);
        labelled(codes, log_variances, factors)
    }

    #[test]
    fn scores_agree_with_the_authors_procedure_in_numpy() {
        // Their quantisation in double precision, with logarithms of the shares as they are; kept above 1e-8, as in their
        // code, the mean is 0.608007953.
        let scores = score(&Rmig::default(), &twelve_rows());
        for (name, expected) in [
            ("rmig", 0.608_007_940_968),
            ("rmig.nats", 0.726_927_350_092),
            ("rmig.shape", 0.806_102_577_060),
            ("rmig.scale", 0.409_913_304_876),
        ] {
            let value = scores.value(name).unwrap();
            assert!((value - expected).abs() < 1e-11, "{name} is {value}");
        }
        let expected = array![[0.948_899_404_414, 0.0], [0.063_305_207_329, 0.579_149_658_841]];
        for ((latent, factor), expected) in expected.indexed_iter() {
            assert!((scores.matrices[0].values[[latent, factor]] - expected).abs() < 1e-11);
        }
        let coarse = score(&Rmig { bins: published(20), limit: 2.0 }, &twelve_rows());
        assert!((coarse.value("rmig").unwrap() - 0.609_019_897_846).abs() < 1e-11);
        assert!(scores.notes.is_empty() && coarse.notes.is_empty());
    }

    #[test]
    fn narrow_posteriors_in_bins_of_their_own_tell_all_and_wide_ones_nothing() {
        let codes = array![[-1.0], [-1.0], [1.0], [1.0]];
        let factors = array![[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]];
        let narrow =
            score(&Rmig::default(), &labelled(codes.clone(), Array2::from_elem((4, 1), -20.0), factors.clone()));
        assert!((narrow.value("rmig").unwrap() - 1.0).abs() < 1e-12);
        assert!((narrow.value("rmig.nats").unwrap() - 2_f64.ln()).abs() < 1e-12);
        assert_eq!((narrow.undefined.len(), narrow.reason("rmig.scale")), (1, Some(SINGLE_VALUE)));
        let wide = score(&Rmig::default(), &labelled(codes, Array2::from_elem((4, 1), 10.0), factors));
        assert!(wide.value("rmig").unwrap() < 1e-3);
    }

    #[test]
    fn codes_beyond_the_bins_are_noted_and_where_all_are_it_is_undefined() {
        let data = |offset: f64| {
            let codes = twelve_rows().codes() + offset;
            let log_variances = twelve_rows().extras().log_variances.clone().unwrap();
            labelled(codes, log_variances, twelve_rows().factors().clone())
        };
        // Above 4 are the first latent of the four rows with the last shape, and the second of two: 6 of 36 codes.
        let scores = score(&Rmig::default(), &data(3.25));
        assert_eq!(scores.notes[0].1.split(" lie").next(), Some("16.67 % of the codes"));
        let reason = "every code lies beyond the bins, which end at -4 and 4 (setting \"limit\")".to_string();
        assert_eq!(score(&Rmig::default(), &data(1e8)).reason("rmig"), Some(reason.as_str()));
    }

    #[test]
    fn what_cannot_be_counted_is_named() {
        let same = labelled(Array2::ones((2, 1)), Array2::zeros((2, 1)), array![[0.0, 0.0], [1.0, 1.0]]);
        assert_eq!(score(&Rmig::default(), &same).undefined[0].reason, SAME_POSTERIOR);
        // Posteriors of different width tell rows apart though their means do not.
        let widths = labelled(Array2::ones((2, 1)), array![[-20.0], [3.0]], array![[0.0, 0.0], [1.0, 1.0]]);
        assert!(score(&Rmig::default(), &widths).value("rmig").unwrap() > 0.9);

        let many = Array2::from_shape_fn((401, 1), |(row, _)| row as f64 / 401.0);
        let space = FactorSpace::sample(vec![Factor { name: "id".to_string(), size: Some(401) }]);
        let extras = Extras { log_variances: Some(Array2::zeros((401, 1))), ..Extras::default() };
        let data = LabelledCodes::new(many.clone(), (&many * 401.0).mapv(f64::round), space, extras).unwrap();
        let reason = &score(&Rmig { bins: published(10_000), limit: 4.0 }, &data).undefined[0].reason;
        assert!(reason.starts_with("the factor has 401 values"), "{reason}");
    }

    #[test]
    fn limits_outside_their_range_are_refused() {
        for limit in ["0.0", "-1.0", "nan", "1e101"] {
            assert!((ENTRY.build)(&format!("limit = {limit}").parse().unwrap()).is_err(), "{limit}");
        }
    }
}
