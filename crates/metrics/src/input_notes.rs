//! What has to be said of an input beside its scores: in which unit its codes are, how far from 0, which factors were
//! text, and whether there are enough rows.

use std::collections::HashSet;

use ndarray::{ArrayView1, Axis};
use unbraid_data::words::listed;

use crate::Change::{CommonScale, Shift, ValueOrder};
use crate::statistics::deviations::deviation;
use crate::{Change, METRICS, Scores, Subject, Tables};

/// Codes whose most moving latent deviates by less or more than this are in an unusual unit. Thresholds and penalties of
/// published metrics are for latents of deviation 1: `sap` of good codes is 0.27 there, 0.20 at 0.3 and 0.29 at 3.
const USUAL_DEVIATIONS: [f64; 2] = [0.3, 3.0];

/// A mean further from 0 than this many deviations of the most moving latent is unusual: `sap` of the same codes falls
/// to 0.26 at 3 of them, to 0.17 at 10 and to 0.01 at 100.
const USUAL_DISTANCE: f64 = 3.0;

/// How many bins the information metrics cut a latent into.
const N_BINS: f64 = 20.0;

/// The most that counting alone may make latents tell of a factor, as a share of all that there is to tell.
const MOST_BY_CHANCE: f64 = 0.05;

/// The metrics that read no factors. All others look for what latents tell of factors, in which chance has a part.
pub const WITHOUT_FACTORS: [&str; 10] =
    ["unsupervised", "wsepin", "windin", "udr", "reconstruction", "kl", "elbo", "active_units", "polarized", "dto"];

/// The notes on the input of these scores, which are of the metrics called `names`.
pub fn input_notes(subject: &Subject, names: &[&str], scores: &Scores) -> Vec<String> {
    let moved_by = |change: Change| -> Vec<&str> {
        let is_moved = |name: &&str| {
            let entry = METRICS.iter().find(|entry| entry.name == *name);
            scores.value(name).is_some() && entry.is_some_and(|entry| !entry.left_alone_by.contains(&change))
        };
        names.iter().copied().filter(is_moved).collect()
    };
    let reads_factors = |name: &&str| scores.value(name).is_some() && !WITHOUT_FACTORS.contains(name);
    let deviation = largest_deviation(subject);
    let notes = [
        unit_note(deviation, &moved_by(CommonScale)),
        distance_note(subject, deviation, &moved_by(Shift)),
        text_note(subject, &moved_by(ValueOrder)),
        if names.iter().any(reads_factors) { rows_note(subject) } else { None },
    ];
    notes.into_iter().flatten().collect()
}

/// The standard deviation of the most moving latent.
fn largest_deviation(subject: &Subject) -> f64 {
    let codes = subject.data().codes();
    codes.columns().into_iter().map(|latent| deviation(&latent)).fold(0.0, f64::max)
}

fn unit_note(deviation: f64, names: &[&str]) -> Option<String> {
    let [least, most] = USUAL_DEVIATIONS;
    if names.is_empty() || deviation == 0.0 || (least..=most).contains(&deviation) {
        return None;
    }
    Some(format!(
        "the codes' largest standard deviation is {}, and their unit plays a part in {}, whose thresholds, \
         penalties or posteriors are in that unit",
        in_digits(deviation),
        listed(names)
    ))
}

fn distance_note(subject: &Subject, deviation: f64, names: &[&str]) -> Option<String> {
    let codes = subject.data().codes();
    // Shares of the mean before the sum, which may pass the largest number.
    let means = (codes / codes.nrows() as f64).sum_axis(Axis(0));
    let distance = means.iter().fold(0.0_f64, |distance, mean| distance.max(mean.abs())) / deviation;
    if names.is_empty() || !distance.is_finite() || distance <= USUAL_DISTANCE {
        return None;
    }
    Some(format!(
        "the codes' means are up to {} standard deviations from 0, which plays a part in {}: take the means away",
        in_digits(distance),
        listed(names)
    ))
}

fn text_note(subject: &Subject, names: &[&str]) -> Option<String> {
    let data = subject.data();
    let text: Vec<String> = data
        .extras()
        .text_factors
        .iter()
        .map(|&factor| format!("\"{}\"", data.space().factors()[factor].name))
        .collect();
    if text.is_empty() || names.is_empty() {
        return None;
    }
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    Some(format!(
        "values of {} are text and numbered alphabetically, and their order plays a part in {}: write numbers where there \
         is an order, and pass over these scores where there is none",
        listed(&text),
        listed(names)
    ))
}

/// Counts of `N` rows in `b` bins make latents that know nothing tell `(b - 1) (k - 1) / (2 N)` nats about a factor of
/// `k` values, in the mean (Miller 1955), which has `ln k` to tell.
fn rows_note(subject: &Subject) -> Option<String> {
    let Tables { codes, factors } = subject.train();
    let n_rows = codes.nrows() as f64;
    let n_values = |column: ArrayView1<f64>| column.iter().map(|value| value.to_bits()).collect::<HashSet<u64>>().len();
    let of_factors = subject.data().space().factors().iter().zip(factors.columns());
    let sizes = of_factors.map(|(factor, column)| factor.size.map_or(N_BINS, |_| n_values(column) as f64));
    let most_values = sizes.fold(1.0, f64::max);
    if most_values < 2.0 {
        return None;
    }
    let by_chance = (N_BINS - 1.0) * (most_values - 1.0) / (2.0 * most_values.ln());
    if by_chance / n_rows <= MOST_BY_CHANCE {
        return None;
    }
    Some(format!(
        "{n_rows} rows are few for a factor of {most_values} values: in {N_BINS} bins even noise seems to tell {:.0} % of \
         it, and scores may be high or low by chance; from {:.0} rows on it is less than {:.0} %",
        (100.0 * by_chance / n_rows).min(100.0),
        (by_chance / MOST_BY_CHANCE).ceil(),
        100.0 * MOST_BY_CHANCE
    ))
}

/// A number of usual size in digits, any other as a power of ten.
fn in_digits(number: f64) -> String {
    if (0.01..1000.0).contains(&number) { format!("{number:.2}") } else { format!("{number:.1e}") }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3};
    use toml::Table;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;
    use crate::{Entry, build, score_all};

    /// The notes on 600 rows of two factors of four values, which are the codes, at deviation 1 and mean 0, times and plus a
    /// number.
    fn notes(scale: f64, shift: f64, n_rows: usize, text_factors: Vec<usize>) -> Vec<String> {
        let factors = Array2::from_shape_fn((n_rows, 2), |(row, factor)| (row / [1, 4][factor] % 4) as f64);
        let codes = factors.mapv(|value| (value - 1.5) / 1.25_f64.sqrt() * scale + shift);
        let space = FactorSpace::grid([("shape", 4), ("scale", 4)]);
        let extras = Extras { text_factors, ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, space, extras).unwrap();
        let scores =
            ["mig", "sap", "cbd", "factor_vae"].iter().fold(Scores::new(), |scores, name| scores.with(name, 0.5));
        input_notes(&Subject::new(&data, Seed(1)), &["mig", "sap", "cbd", "factor_vae", "kl"], &scores)
    }

    #[test]
    fn ordinary_codes_need_no_note() {
        assert_eq!(notes(1.0, 0.0, 600, vec![]), Vec::<String>::new());
        assert_eq!(notes(2.9, 2.0, 600, vec![]), Vec::<String>::new());
    }

    #[test]
    fn each_note_names_the_metrics_that_it_is_about() {
        for scale in [0.1, 1e300] {
            let [note] = &notes(scale, 0.0, 600, vec![])[..] else { panic!("one note was wanted") };
            assert!(note.contains("and their unit plays a part in sap and factor_vae, whose"), "{note}");
            assert!(note.ends_with("whose thresholds, penalties or posteriors are in that unit"), "{note}");
        }
        let [note] = &notes(1.0, 1e8, 600, vec![])[..] else { panic!("one note was wanted") };
        assert!(note.contains("up to 1.0e8 standard deviations from 0, which plays a part in sap:"), "{note}");
        let [note] = &notes(1.0, 0.0, 600, vec![0])[..] else { panic!("one note was wanted") };
        assert!(note.starts_with("values of \"shape\" are text") && note.contains("plays a part in cbd:"), "{note}");
    }

    #[test]
    fn other_factors_move_all_metrics_but_those_that_read_none() {
        let wave = |row: usize, column: usize| ((row + 1) as f64 * (column + 1) as f64 * 1.7).sin();
        let values = |row: usize| [row / 20, row / 5 % 4, row % 5].map(|value| value as f64);
        let codes = Array2::from_shape_fn((60, 3), |(row, latent)| values(row)[latent] + 0.5 * wave(row, latent));
        let scores = |step: usize| {
            let factors = Array2::from_shape_fn((60, 3), |(row, factor)| values(row * step % 60)[factor]);
            let extras = Extras {
                log_variances: Some(codes.mapv(|code| -1.0 - 0.1 * code)),
                reconstruction_losses: Some((0..60).map(|row| wave(row, 3)).collect()),
                jacobians: Some(Array3::from_shape_fn((4, 5, 3), |(code, pixel, latent)| {
                    wave(5 * code + pixel, latent)
                })),
                ..Extras::default()
            };
            let space = FactorSpace::grid([("a", 3), ("b", 4), ("c", 5)]);
            let data = LabelledCodes::new(codes.clone(), factors, space, extras).unwrap();
            let named = |entry: &Entry| (entry.name.to_string(), build(entry.name, &Table::new()).unwrap());
            let metrics: Vec<_> = METRICS.iter().map(named).collect();
            score_all(&metrics, &Subject::among(&data, &[&data], Seed(1)), Seed(1))
        };
        let (before, after) = (scores(1), scores(7));
        for Entry { name, .. } in METRICS {
            let (before, after) = (before.value(name).unwrap(), after.value(name));
            // Other factors put the rows in another order, which moves what is drawn a little.
            let stays = after.is_some_and(|after| (before - after).abs() < 0.05 * (1.0 + before.abs()));
            let holds = if WITHOUT_FACTORS.contains(name) { stays } else { after != Some(before) };
            assert!(holds, "{name}: {before}, {after:?}");
        }
    }

    #[test]
    fn few_rows_are_noted_only_where_factors_are_read() {
        let codes = Array2::from_shape_fn((20, 1), |(row, _)| (row % 4) as f64 - 1.5);
        let data =
            LabelledCodes::new(codes.clone(), &codes + 1.5, FactorSpace::grid([("shape", 4)]), Extras::default());
        let data = data.unwrap();
        let notes = |name: &str| input_notes(&Subject::new(&data, Seed(1)), &[name], &Scores::new().with(name, 0.5));
        assert_eq!(notes("kl"), Vec::<String>::new());
        assert!(notes("mig")[0].starts_with("20 rows are few"), "{:?}", notes("mig"));
    }

    #[test]
    fn few_rows_worked_by_hand() {
        // 19 * 3 / (2 N) of ln 4 nats: 411.2 rows make it 0.05. Two rows have two values: 19 / (2 N) of
        // ln 2, which is more than there is, and 0.05 from 274.1 rows on.
        assert_eq!(notes(1.0, 0.0, 412, vec![]), Vec::<String>::new());
        let [note] = &notes(1.0, 0.0, 411, vec![])[..] else { panic!("one note was wanted") };
        assert!(note.contains("411 rows are few for a factor of 4 values") && note.contains("5 % of it"), "{note}");
        let notes = notes(1.0, 0.0, 2, vec![]);
        let note = notes.last().unwrap();
        assert!(note.contains("100 % of it") && note.contains("from 275 rows on"), "{note}");
    }
}
