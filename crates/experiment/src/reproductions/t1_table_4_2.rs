//! T1 table 4.2: how well distances of images follow those of factors in `xy_squares`, by the spacing of its grid.
//!
//! Along a factor one square moves and the others, in channels of their own, stay: a dataset of one square has the same correlations, and all its
//! pairs are compared.

use unbraid_data::Result;

use super::{Entry, Outcome, Row, Run, look, losses, value};
use crate::watch::Watch;

/// Linear and rank correlation under mse and under mse_box31, by spacing 1 to 8.
const PUBLISHED: [[f64; 4]; 8] = [
    [1.00, 1.00, 0.98, 0.99],
    [0.94, 0.99, 0.99, 0.99],
    [0.86, 0.95, 0.99, 0.99],
    [0.75, 0.85, 0.99, 0.99],
    [0.72, 0.85, 0.99, 0.99],
    [0.67, 0.85, 0.98, 0.98],
    [0.60, 0.85, 0.97, 0.98],
    [0.52, 0.58, 0.96, 0.97],
];
/// Half a digit.
const ALLOWED: f64 = 0.005;

fn run(watch: &mut dyn Watch) -> Result<Outcome> {
    let losses = losses(&["mse", "mse_box31"])?;
    let mut rows = Vec::new();
    for (spacing, published) in (1..).zip(PUBLISHED) {
        let settings = format!("squares = 1\nrgb = false\ngrid = 8\nspacing = {spacing}");
        let (_, findings) = look("xy_squares", &settings, &losses, watch)?;
        for factor in &findings.factors {
            let Ok(pairs) = &factor.pairs else { continue };
            let found = pairs.under.iter().zip(&losses).flat_map(|(under, loss)| {
                let of = &under.correlations;
                let what = format!("spacing {spacing}, {}", factor.name);
                [
                    (format!("{what}, linear, {}", loss.name), value(&of.pearson)),
                    (format!("{what}, rank, {}", loss.name), value(&of.spearman)),
                ]
            });
            rows.extend(
                found.zip(published).map(|((what, ours), published)| Row::number(what, ours, published, ALLOWED)),
            );
        }
    }
    Ok(Outcome { rows, ..Outcome::default() })
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-table-4.2",
    about: "Correlation of distances of images and of factors: xy_squares by spacing, under mse and box-blurred mse",
    paper: "Michlo 2022, table 4.2",
    run: Run::Untrained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_to_the_published_digits() {
        let outcome = run(&mut crate::watch::Nobody).unwrap();
        let differing: Vec<&Row> = outcome.rows.iter().filter(|row| row.agrees() == Some(false)).collect();
        assert!(differing.is_empty(), "{differing:?}");
        assert_eq!(outcome.rows.len(), 8 * 2 * 4);
    }
}
