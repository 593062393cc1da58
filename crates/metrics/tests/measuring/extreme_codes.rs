//! Good codes far from 0, or in a huge or tiny unit: every metric gives what it gives to the plain codes, or says why it is
//! undefined, or is named in a note.

use ndarray::Array2;
use unbraid_data::labelled_codes::Extras;
use unbraid_metrics::Change::{CommonScale, Shift};
use unbraid_metrics::{Change, Entry, METRICS, Scores};

use crate::grids::{grid, labelled, noise};
use crate::tables::scores_of_all;

const SIZES: [usize; 3] = [4, 5, 6];

/// Noisy factors near deviation 1 and a latent of noise.
fn codes() -> Array2<f64> {
    let mut codes = noise((120, 4), "codes") * 0.3;
    for (latent, factor) in grid(&SIZES).columns().into_iter().enumerate() {
        let (mean, deviation) = (factor.mean().expect("there are rows"), factor.std(0.0));
        let mut column = codes.column_mut(latent);
        column += &factor.mapv(|value| (value - mean) / deviation);
    }
    codes
}

fn scores(codes: Array2<f64>) -> Scores {
    let extras = Extras {
        log_variances: Some(noise((120, 4), "log-variances")),
        reconstruction_losses: Some(vec![3.0; 120]),
        jacobians: Some(noise((35, 4), "jacobians").into_shape_with_order((5, 7, 4)).expect("sizes agree")),
        ..Extras::default()
    };
    let other = labelled(self::codes(), grid(&SIZES), &SIZES, extras.clone());
    scores_of_all(&labelled(codes, grid(&SIZES), &SIZES, extras), &[&other])
}

/// What is wrong with a metric's scores of changed codes, against those of the plain ones.
fn failures(entry: &Entry, change: Change, plain: &Scores, changed: &Scores) -> Vec<String> {
    let is_noted = changed.notes.iter().any(|(of, note)| {
        let mut words = note.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        of == "input" && words.any(|word| word == entry.name)
    });
    let Some(before) = plain.value(entry.name) else {
        return vec![format!("{}: the plain codes have no score", entry.name)];
    };
    let Some(after) = changed.value(entry.name) else {
        let has_reason = changed.reason(entry.name).is_some_and(|reason| !reason.is_empty());
        return if has_reason { Vec::new() } else { vec![format!("{}: no score and no reason", entry.name)] };
    };
    let is_equal = (before - after).abs() <= 1e-6 * (1.0 + before.abs());
    let holds = if entry.left_alone_by.contains(&change) { is_equal } else { is_noted };
    if holds { Vec::new() } else { vec![format!("{}: {before}, {after}", entry.name)] }
}

fn check(change: Change, plain: &Scores, name: &str, codes: Array2<f64>) -> Vec<String> {
    let changed = scores(codes);
    let of_entry = |entry| failures(entry, change, plain, &changed);
    let failures: Vec<String> = METRICS.iter().flat_map(of_entry).collect();
    println!("codes {name}: {} scores, {} undefined", changed.values.len(), changed.undefined.len());
    failures.into_iter().map(|failure| format!("codes {name}: {failure}")).collect()
}

#[test]
fn every_metric_holds_far_from_zero_and_in_any_unit_or_says_why_not() {
    let plain = scores(codes());
    let mut failures = Vec::new();
    for shift in [1e4, 1e8, 1e12] {
        failures.extend(check(Shift, &plain, &format!("+ {shift:e}"), codes() + shift));
    }
    for scale in [1e-300, 1e-150, 1e-40, 1e-3, 1e6, 1e30, 1e40, 1e150, 1e300] {
        failures.extend(check(CommonScale, &plain, &format!("* {scale:e}"), codes() * scale));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn codes_that_rounding_has_changed_are_not_scored() {
    let changed = scores(codes() + 1e12);
    let reason = changed.reason("mig").expect("it is not defined");
    assert!(reason.contains("rounding has changed the codes"), "{reason}");
    assert_eq!(changed.value("reconstruction"), Some(3.0));
}

#[test]
fn a_latent_that_moves_by_rounding_alone_counts_as_constant() {
    let with_last = |value: fn(usize) -> f64| {
        let mut codes = codes();
        codes.column_mut(3).iter_mut().enumerate().for_each(|(row, code)| *code = value(row));
        scores(codes)
    };
    let constant = with_last(|_| 0.3);
    let noisy = with_last(|row| if row % 3 == 0 { 0.1 + 0.2 } else { 0.3 });
    assert_eq!((&noisy.values, &noisy.undefined), (&constant.values, &constant.undefined));
    let note = "z3 moves by rounding alone, less than 16 steps of numbers of 64 bits, and counts as constant";
    assert_eq!(noisy.notes.last().unwrap(), &("input".to_string(), note.to_string()));
}
