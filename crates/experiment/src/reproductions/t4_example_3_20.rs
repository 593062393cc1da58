//! T4 equations 3.20 to 3.22: the precision budget of a linear decoder, and what turning its latents by 45 degrees costs.
//!
//! Under a budget `prod sigma_j^2 = e^(-2C)`, `sum_j |m_j|^2 sigma_j^2` is least `2 |m_x| |m_y| e^(-C)` for columns `m` of two latents.

use unbraid_data::Result;

use super::{Entry, Outcome, Row, Run};
use crate::watch::Watch;

/// The decoder M1, row by row.
const DECODER: [[f64; 2]; 3] = [[4.0, 1.0], [-3.0, 1.0], [5.0, -1.0]];

fn run(_watch: &mut dyn Watch) -> Result<Outcome> {
    let half = 0.5_f64.sqrt();
    // M1 times the transposed rotation by 45 degrees.
    let turned = DECODER.map(|[x, y]| [half * (x - y), half * (x + y)]);
    let rows = vec![
        Row::number("least expected error of M1, times e^-C", least_error(&DECODER), 24.5, 0.05),
        Row::number("least expected error of M2, times e^-C", least_error(&turned), 52.4, 0.05),
    ];
    Ok(Outcome { rows, ..Outcome::default() })
}

/// Twice the product of the norms of both columns.
fn least_error(decoder: &[[f64; 2]; 3]) -> f64 {
    let norm = |column: usize| decoder.iter().map(|row| row[column] * row[column]).sum::<f64>().sqrt();
    2.0 * norm(0) * norm(1)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t4-example-3.20",
    about: "The precision budget of a linear decoder, before and after turning its latents by 45 degrees",
    paper: "Zietlow 2022, equations 3.20 to 3.22",
    run: Run::Untrained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_by_hand() {
        // Columns 4, -3, 5 and 1, 1, -1: 50 and 3. Turned: 61/2 and 45/2.
        assert!((least_error(&DECODER) - 2.0 * 150.0_f64.sqrt()).abs() < 1e-12);
        let outcome = run(&mut crate::watch::Nobody).unwrap();
        assert!(outcome.agrees(), "{:?}", outcome.rows);
    }
}
