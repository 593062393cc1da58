//! Mutual information between columns of classes.

use ndarray::Array2;

use super::classes::Classes;

/// `sum_ab p(a,b) ln(p(a,b) / p(a) p(b))` in nats, over the rows that both describe; never below 0.
pub fn mutual_information(a: &Classes, b: &Classes) -> f64 {
    let mut counts = Array2::<usize>::zeros((a.n_classes, b.n_classes));
    for (&class_a, &class_b) in a.of_rows.iter().zip(&b.of_rows) {
        counts[[class_a, class_b]] += 1;
    }
    let n_rows = a.of_rows.len() as f64;
    let of_a: Vec<f64> = counts.rows().into_iter().map(|row| row.sum() as f64).collect();
    let of_b: Vec<f64> = counts.columns().into_iter().map(|column| column.sum() as f64).collect();
    let mut information = 0.0;
    for ((class_a, class_b), &count) in counts.indexed_iter() {
        if count > 0 {
            let count = count as f64;
            information += count / n_rows * (count * n_rows / (of_a[class_a] * of_b[class_b])).ln();
        }
    }
    information.max(0.0)
}

/// The mutual information of every pair, `[a, b]`.
pub fn mutual_information_matrix(a: &[Classes], b: &[Classes]) -> Array2<f64> {
    Array2::from_shape_fn((a.len(), b.len()), |(row, column)| mutual_information(&a[row], &b[column]))
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
}
