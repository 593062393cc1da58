//! Mutual information between columns of classes.

use ndarray::Array2;
use rayon::prelude::*;

use super::classes::Classes;

/// A table of joint counts with more cells than this for each row is mostly empty, and is not laid out.
const MOST_CELLS_PER_ROW: usize = 64;

/// `sum_ab p(a,b) ln(p(a,b) / p(a) p(b))` in nats, over the rows that both describe; never below 0.
pub fn mutual_information(a: &Classes, b: &Classes) -> f64 {
    let n_rows = a.of_rows.len();
    let (of_a, of_b) = (a.counts(), b.counts());
    let mut information = 0.0;
    for_each_joint_count(a, b, |class_a, class_b, count| {
        // Whole numbers multiply without rounding, so that independent classes come out as exactly 0.
        let ratio = (f64::from(count) * n_rows as f64) / (f64::from(of_a[class_a]) * f64::from(of_b[class_b]));
        information += f64::from(count) / n_rows as f64 * ratio.ln();
    });
    information.max(0.0)
}

/// Calls `visit(class of a, class of b, rows that have both)` for each pair of classes that occurs, in ascending order.
fn for_each_joint_count(a: &Classes, b: &Classes, mut visit: impl FnMut(usize, usize, u32)) {
    let pairs = a.of_rows.iter().zip(&b.of_rows);
    let n_cells = a.n_classes.saturating_mul(b.n_classes);
    if n_cells > MOST_CELLS_PER_ROW.saturating_mul(a.of_rows.len()).max(1 << 16) {
        let mut pairs: Vec<(usize, usize)> = pairs.map(|(&a, &b)| (a, b)).collect();
        pairs.sort_unstable();
        for equal in pairs.chunk_by(|one, other| one == other) {
            visit(equal[0].0, equal[0].1, equal.len() as u32);
        }
        return;
    }
    let mut cells = vec![0_u32; n_cells];
    for (&class_a, &class_b) in pairs {
        cells[class_a * b.n_classes + class_b] += 1;
    }
    for (cell, &count) in cells.iter().enumerate().filter(|(_, count)| **count > 0) {
        visit(cell / b.n_classes, cell % b.n_classes, count);
    }
}

/// The mutual information of every pair, `[a, b]`.
pub fn mutual_information_matrix(a: &[Classes], b: &[Classes]) -> Array2<f64> {
    let pairs = (0..a.len() * b.len()).into_par_iter();
    let entries = pairs.map(|pair| mutual_information(&a[pair / b.len()], &b[pair % b.len()])).collect();
    Array2::from_shape_vec((a.len(), b.len()), entries).expect("there is an entry for each pair")
}

/// The mean mutual information of two different columns out of `columns`; at least two.
pub fn mean_pairwise_information(columns: &[Classes]) -> f64 {
    let n = columns.len();
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect();
    let of_pairs: Vec<f64> = pairs.par_iter().map(|&(a, b)| mutual_information(&columns[a], &columns[b])).collect();
    of_pairs.iter().sum::<f64>() / of_pairs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(of_rows: &[usize]) -> Classes {
        Classes { of_rows: of_rows.to_vec(), n_classes: 2 }
    }

    #[test]
    fn a_column_tells_all_about_itself_and_nothing_about_an_independent_one() {
        let (a, b) = (classes(&[0, 0, 1, 1]), classes(&[0, 1, 0, 1]));
        assert!((mutual_information(&a, &a) - 2_f64.ln()).abs() < 1e-15);
        assert_eq!(mutual_information(&a, &b), 0.0);
    }

    #[test]
    fn one_row_in_four_out_of_place() {
        // p(0,0)=1/4, p(0,1)=1/4, p(1,1)=1/2: 1/4 ln(2) + 1/4 ln(2/3) + 1/2 ln(4/3)
        let expected = 0.25 * 2_f64.ln() + 0.25 * (2.0_f64 / 3.0).ln() + 0.5 * (4.0_f64 / 3.0).ln();
        assert!((mutual_information(&classes(&[0, 0, 1, 1]), &classes(&[0, 1, 1, 1])) - expected).abs() < 1e-15);
    }

    #[test]
    fn classes_without_rows_change_nothing() {
        // A million classes on either side would be 10^12 cells; these are counted without them.
        let sparse = |of_rows: &[usize]| Classes { of_rows: of_rows.to_vec(), n_classes: 1_000_000 };
        let information = mutual_information(&sparse(&[7, 7, 999_999, 999_999]), &sparse(&[3, 4, 4, 4]));
        assert_eq!(information, mutual_information(&classes(&[0, 0, 1, 1]), &classes(&[0, 1, 1, 1])));
    }

    #[test]
    fn the_mean_over_pairs() {
        // Three pairs: ln 2 for the equal ones, 0 twice.
        let (a, b) = (classes(&[0, 0, 1, 1]), classes(&[0, 1, 0, 1]));
        assert!((mean_pairwise_information(&[a.clone(), b, a]) - 2_f64.ln() / 3.0).abs() < 1e-15);
    }
}
