//! Directions beside principal components: angles without signs, and what a span holds of them.

use faer::Mat;
use ndarray::{Array1, Array2, ArrayRef1, Axis};
use unbraid_data::Result;

use super::centred::Centred;
use super::{Rows, Tell};
use crate::statistics::assignment::best_assignment;

/// A direction of which less than this share is beside the others lies in their span.
const DEPENDENT: f64 = 1e-9;

/// The absolute cosine of each direction with each component, `[directions, components]`: how much of a direction, which need not have
/// length 1, a component gives. A direction of length 0 has none.
pub fn cosines(directions: &Array2<f64>, components: &Array2<f64>) -> Array2<f64> {
    unit_rows(directions).dot(&components.t()).mapv(|cosine: f64| cosine.abs().min(1.0))
}

/// The angle of an absolute cosine, in degrees from 0 to 90.
pub fn degrees(cosine: f64) -> f64 {
    cosine.clamp(0.0, 1.0).acos().to_degrees()
}

/// The component that each direction is matched with, one to one, so that the components give most of the directions: the largest sum
/// of squared cosines `[directions, components]`. Where there are fewer components some directions have none.
pub fn matching(cosines: &Array2<f64>) -> Vec<Option<usize>> {
    best_assignment(&cosines.mapv(|cosine| cosine * cosine))
}

/// The share of a direction's squared length that lies in the span of orthonormal components `[components, columns]`, in [0, 1].
pub fn share_in_span(direction: &ArrayRef1<f64>, components: &Array2<f64>) -> f64 {
    let square = direction.dot(direction);
    let along = components.dot(direction);
    if square > 0.0 { (along.dot(&along) / square).min(1.0) } else { 0.0 }
}

/// The angles between the span of directions `[directions, columns]` and that of orthonormal components, in degrees, rising; as many as the smaller
/// of the two spans has dimensions. All are 0 where one holds the other.
pub fn angles_between_spans(directions: &Array2<f64>, components: &Array2<f64>) -> Vec<f64> {
    let basis = orthonormal(&unit_rows(directions));
    let n = basis.nrows().min(components.nrows());
    if n == 0 {
        return Vec::new();
    }
    let inner = basis.dot(&components.t());
    let matrix = Mat::from_fn(inner.nrows(), inner.ncols(), |i, j| inner[[i, j]]);
    let singular = matrix.singular_values().expect("a small matrix of cosines converges");
    let outside = sines(&basis, components);
    // A cosine near 1 tells the angle to eight digits only; the sine tells it to all.
    let angle = |position: usize| match singular[position].min(1.0) {
        cosine if cosine < 0.9 || basis.nrows() > components.nrows() => cosine.acos().to_degrees(),
        _ => outside[outside.len() - 1 - position].min(1.0).asin().to_degrees(),
    };
    (0..n).map(angle).collect()
}

/// The singular values of what is left of an orthonormal basis outside of the components' span, falling.
fn sines(basis: &Array2<f64>, components: &Array2<f64>) -> Vec<f64> {
    let left = basis - &basis.dot(&components.t()).dot(components);
    let product = left.dot(&left.t());
    let matrix = Mat::from_fn(product.nrows(), product.ncols(), |i, j| product[[i, j]]);
    let squares = matrix.singular_values().expect("a small matrix converges");
    squares.into_iter().map(|square: f64| square.max(0.0).sqrt()).collect()
}

/// The variance of all rows along each direction `[directions, columns]`, which need not have length 1: `u' C u` of the unit direction u.
pub fn variances_along(rows: &dyn Rows, directions: &Array2<f64>, tell: Tell) -> Result<Vec<f64>> {
    let units = unit_rows(directions);
    let centred = Centred::new(rows)?;
    let n_rows = rows.n_rows() as f64;
    let mut sums: Array1<f64> = Array1::zeros(units.nrows());
    let mut squares = sums.clone();
    let take = |block: &Array2<f64>| {
        let along = block.dot(&units.t()); // [rows, directions]
        sums += &along.sum_axis(Axis(0));
        squares += &(&along * &along).sum_axis(Axis(0));
    };
    centred.for_each_block(take, |done, total| tell("latents", done, total))?;
    let variance = |(sum, square): (&f64, &f64)| ((square - sum * sum / n_rows) / (n_rows - 1.0)).max(0.0);
    Ok(sums.iter().zip(&squares).map(variance).collect())
}

/// Each row divided by its length; a row of zeros stays.
fn unit_rows(directions: &Array2<f64>) -> Array2<f64> {
    let mut units = directions.clone();
    for mut row in units.rows_mut() {
        let length = row.dot(&row).sqrt();
        if length > 0.0 {
            row /= length;
        }
    }
    units
}

/// An orthonormal basis of the span of rows of length 1 or 0.
fn orthonormal(units: &Array2<f64>) -> Array2<f64> {
    let mut basis: Array2<f64> = Array2::zeros((0, units.ncols()));
    for row in units.rows() {
        let mut row = row.to_owned();
        for _ in 0..2 {
            let along = basis.dot(&row);
            row -= &basis.t().dot(&along);
        }
        let left = row.dot(&row).sqrt();
        if left > DEPENDENT {
            basis.push_row((row / left).view()).expect("it has as many columns");
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn angles_have_no_sign_and_no_length() {
        let directions = array![[0.0, -3.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]];
        let found = cosines(&directions, &Array2::eye(3)).mapv(degrees);
        let expected = array![[90.0, 0.0, 90.0], [45.0, 45.0, 90.0], [90.0, 90.0, 90.0]];
        assert!((&found - &expected).iter().all(|apart| apart.abs() < 1e-5), "{found}");
    }

    #[test]
    fn the_best_matching_may_leave_the_nearest() {
        // 0.8 and 0.6 against 0.7 and 0.1: the nearest of both is the first component; 0.36 + 0.49 is more than 0.64 + 0.01.
        assert_eq!(matching(&array![[0.8, 0.6], [0.7, 0.1]]), [Some(1), Some(0)]);
        assert_eq!(matching(&array![[0.8], [0.9]]), [None, Some(0)]);
    }

    #[test]
    fn spans_worked_by_hand() {
        // The plane of x and (0, 1, 1) meets that of x and y in x, at 45 degrees.
        let plane = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let tilted = array![[2.0, 0.0, 0.0], [5.0, 1.0, 1.0]];
        let angles = angles_between_spans(&tilted, &plane);
        assert!(angles[0].abs() < 1e-6 && (angles[1] - 45.0).abs() < 1e-6, "{angles:?}");
        // Of (5, 1, 1) 26 of 27 lie in the plane.
        assert!((share_in_span(&tilted.row(1), &plane) - 26.0 / 27.0).abs() < 1e-15);
        // Three directions in a plane span no more than it.
        let three = array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        let angles = angles_between_spans(&three, &plane);
        assert!(angles.len() == 2 && angles.iter().all(|angle| angle.abs() < 1e-6), "{angles:?}");
        // A turn by a millionth of a degree is seen.
        let turned = array![[1.0, 0.0, 1e-6_f64.to_radians()]];
        assert!((angles_between_spans(&turned, &plane)[0] - 1e-6).abs() < 1e-9);
        assert!(angles_between_spans(&Array2::zeros((0, 3)), &plane).is_empty());
    }

    #[test]
    fn the_variance_along_a_direction_by_hand() {
        // Along (1, 1) / sqrt 2 the rows are at 0, sqrt 2 and 2 sqrt 2: deviations -sqrt 2, 0, sqrt 2, over 2.
        let rows = array![[5.0_f32, 7.0], [6.0, 8.0], [7.0, 9.0]];
        let found = variances_along(&rows, &array![[3.0, 3.0], [1.0, -1.0]], &mut |_, _, _| {}).unwrap();
        assert!((found[0] - 2.0).abs() < 1e-12 && found[1].abs() < 1e-12, "{found:?}");
    }
}
