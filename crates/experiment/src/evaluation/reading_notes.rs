//! What has to be known of how a file was read: what was meant otherwise would go unnoticed.

use std::collections::BTreeSet;

use unbraid_data::LabelledCodes;
use unbraid_data::words::counted;
use unbraid_formats::columns::Understood;

/// Factors with no more values than this are taken without a note.
const MOST_LIKELY_VALUES: usize = 100;

/// How the columns of a table were understood: `3 latents from z0 to z2; factors shape (4 values), angle (continuous)`.
pub(super) fn columns_note(understood: &Understood) -> String {
    let Understood { data, latents, left_out } = understood;
    let latents = match latents.as_slice() {
        [] => String::new(),
        [one] => format!("latent {one}"),
        [first, .., last] => format!("{} latents from {first} to {last}", latents.len()),
    };
    let factors = data.space().factors().iter().map(|factor| match factor.size {
        Some(size) => format!("{} ({})", factor.name, counted(size, "value")),
        None => format!("{} (continuous)", factor.name),
    });
    let factors: Vec<String> = factors.collect();
    let left_out: Vec<&str> =
        left_out.iter().map(|name| if name.is_empty() { "a column without a name" } else { name }).collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!("; left out {}", left_out.join(", ")) };
    format!("{latents}; factors {}{left_out}", factors.join(", "))
}

/// A factor with almost as many values as there are rows is hardly one; predictors would take each value for a class.
pub(super) fn identifier_notes(data: &LabelledCodes) -> Vec<String> {
    let mut notes = Vec::new();
    for (column, factor) in data.space().factors().iter().enumerate().filter(|(_, factor)| factor.size.is_some()) {
        let values: BTreeSet<u64> = data.factors().column(column).iter().map(|value| value.to_bits()).collect();
        if values.len() > MOST_LIKELY_VALUES && 2 * values.len() > data.n_rows() {
            notes.push(format!(
                "factor \"{name}\" has {} values in {} rows, each of them a class; if it is a number use \
                 `--continuous {name}`, if it only names rows leave it out",
                values.len(),
                data.n_rows(),
                name = factor.name
            ));
        }
    }
    notes
}
