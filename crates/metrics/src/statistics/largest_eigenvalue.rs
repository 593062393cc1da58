//! The largest eigenvalue of a small symmetric matrix, without the others and without eigenvectors.

/// How many points cut the interval that holds the eigenvalue, each time that it is narrowed. Their tests do not wait
/// for each other, so several cost little more than one.
const N_CUTS: usize = 8;

/// The largest eigenvalue of a positive semidefinite matrix `[n, n]`, given row by row and overwritten, to within a few
/// rounding errors of its trace. Householder's reflections make the matrix tridiagonal; the largest eigenvalue is then
/// the smallest number above which all pivots of `matrix - number` are negative (Sturm).
pub fn largest_eigenvalue(matrix: &mut [f64], n: usize) -> f64 {
    let (diagonal, squares) = tridiagonal(matrix, n);
    let trace: f64 = diagonal.iter().sum();
    // The largest of n eigenvalues, none negative, is at least their mean and at most their sum.
    let (mut low, mut high) = (trace / n as f64, trace);
    loop {
        let width = (high - low) / (N_CUTS + 1) as f64;
        let cuts: [f64; N_CUTS] = std::array::from_fn(|cut| low + width * (cut + 1) as f64);
        let n_below = is_above_all(&diagonal, &squares, &cuts).iter().filter(|is_above| !**is_above).count();
        let narrowed =
            (if n_below == 0 { low } else { cuts[n_below - 1] }, if n_below == N_CUTS { high } else { cuts[n_below] });
        if narrowed.1 - narrowed.0 >= high - low || narrowed.1 - narrowed.0 <= f64::EPSILON * trace {
            return (narrowed.0 + narrowed.1) / 2.0;
        }
        (low, high) = narrowed;
    }
}

/// The diagonal and the squares beside it of a tridiagonal matrix with the same eigenvalues.
fn tridiagonal(matrix: &mut [f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut diagonal = Vec::with_capacity(n);
    let mut squares = Vec::with_capacity(n);
    let mut change = vec![0.0; n];
    for step in 0..n {
        let (done, rest) = matrix.split_at_mut((step + 1) * n);
        let row = &mut done[step * n + step..]; // [n - step], whose first is the pivot
        diagonal.push(row[0]);
        let normal = &mut row[1..];
        let Some(&first) = normal.first() else { break };
        let length = normal.iter().map(|value| value * value).sum::<f64>().sqrt();
        squares.push(length * length);
        normal[0] += if first < 0.0 { -length } else { length };
        let half_square = length * (length + first.abs());
        if half_square > 0.0 {
            reflect(rest, n, step + 1, normal, half_square, &mut change[step + 1..]);
        }
    }
    (diagonal, squares)
}

/// Reflects the lower right part of a matrix, from column `from` on, in the plane with this normal on both sides; `rest`
/// are its rows, `half_square` half the normal's square.
fn reflect(rest: &mut [f64], n: usize, from: usize, normal: &[f64], half_square: f64, change: &mut [f64]) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for (change, row) in change.iter_mut().zip(rest.chunks_exact(n)) {
        *change = dot(&row[from..], normal) / half_square;
    }
    let along = dot(change, normal) / (2.0 * half_square);
    change.iter_mut().zip(normal).for_each(|(change, normal)| *change -= along * normal);
    for (i, row) in rest.chunks_exact_mut(n).enumerate() {
        for ((value, change_j), normal_j) in row[from..].iter_mut().zip(&*change).zip(normal) {
            *value -= normal[i] * change_j + change[i] * normal_j;
        }
    }
}

/// Whether each cut is above all eigenvalues of the tridiagonal matrix.
fn is_above_all(diagonal: &[f64], squares: &[f64], cuts: &[f64; N_CUTS]) -> [bool; N_CUTS] {
    let mut is_above = [true; N_CUTS];
    let mut pivots = [1.0; N_CUTS];
    for (position, value) in diagonal.iter().enumerate() {
        let square = if position == 0 { 0.0 } else { squares[position - 1] };
        for cut in 0..N_CUTS {
            // Beyond a pivot that is not negative the next ones mean nothing, not even where they are not numbers.
            pivots[cut] = value - cuts[cut] - square / pivots[cut];
            is_above[cut] &= pivots[cut] < 0.0;
        }
    }
    is_above
}

#[cfg(test)]
mod tests {
    use faer::{Mat, Side};
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;

    #[test]
    fn matrices_worked_by_hand() {
        // 2 +- 1; a rank-one matrix has its trace; a multiple of the identity has it alone.
        for (mut matrix, n, expected) in [
            (vec![2.0, 1.0, 1.0, 2.0], 2, 3.0),
            (vec![1.0, 2.0, 2.0, 2.0, 4.0, 4.0, 2.0, 4.0, 4.0], 3, 9.0),
            (vec![7.0, 0.0, 0.0, 7.0], 2, 7.0),
            (vec![5.0], 1, 5.0),
            (vec![0.0; 9], 3, 0.0),
        ] {
            assert!((largest_eigenvalue(&mut matrix, n) - expected).abs() < 1e-14 * expected.max(1.0), "{expected}");
        }
    }

    #[test]
    fn random_matrices_as_a_full_decomposition_has_it() {
        let mut rng = Seed(1).stream("matrices");
        for n in 1..13 {
            let root = Mat::from_fn(n, n + 2, |_, _| rng.random::<f64>() - 0.5);
            let gram = &root * root.transpose();
            let all = gram.self_adjoint_eigenvalues(Side::Lower).unwrap();
            let mut matrix: Vec<f64> = (0..n * n).map(|place| gram[(place / n, place % n)]).collect();
            assert!((largest_eigenvalue(&mut matrix, n) - all[n - 1]).abs() < 1e-13, "{n}");
        }
    }
}
