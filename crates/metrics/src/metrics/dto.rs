//! Distance to orthogonality: how far the directions in which the decoder stretches a code are from its latents' axes.
//!
//! Zietlow 2022, "An analysis of the inner workings of variational autoencoders", equation 3.25: for the Jacobian of the
//! decoder at each code and its singular value decomposition `J_i = U_i S_i V_i'`,
//!
//! `dto = 1/N sum_i |V_i - P(V_i)|_F`,
//!
//! with `P(V)` the signed permutation closest to `V`; 0 where each latent moves the image in a direction of its own. The
//! thesis searches for `P` by integer programming, in the sense of sums of absolute differences. Each entry that `P`
//! takes lowers that sum by `2 |V_ij| - 1`, so the best `P` is an assignment, found exactly, and the same is closest in
//! the Frobenius norm: `|V - P|^2 = 2 D - 2 sum |V_ij|` over the entries it takes.
//!
//! Departures, where `V` is not determined: a latent whose column of `J` is exactly 0, which the decoder ignores, takes no
//! part (its axis is a direction of its own). Codes at which two singular values agree, to a billionth of the largest,
//! take no part either, since `V` could be turned between their directions; `dto.degenerate` is their share. `dto.active`
//! is over the active latents alone (those whose codes have a standard deviation above 0.5, section 3.3.2), since the
//! thesis expects the decoder to ignore the others but learned ones never quite do.

use faer::Mat;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::*;
use crate::Change::*;
use crate::metrics::polarized::{ACTIVE_ABOVE, active_latents};
use crate::needs::jacobians;
use crate::statistics::assignment::{assigned_weight, best_assignment};
use crate::{Entry, Metric, Need, ScoreKind, Scores, Subject};

/// Singular values that differ by less than this share of the largest are taken for equal.
const SMALLEST_GAP: f64 = 1e-9;

/// The distance to orthogonality, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Dto {}

impl Metric for Dto {
    /// `dto` and `dto.active`, from 0 to `sqrt(2 latents)`, and `dto.degenerate` in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let jacobians = match jacobians(data) {
            Ok(jacobians) => jacobians,
            Err(reason) => return Scores::new().without_all(["dto", "dto.active", "dto.degenerate"], &reason),
        };
        let of_latents = |latents: &[usize]| -> Vec<Option<f64>> {
            // Collected in the order of the codes, so that the sum does not depend on the number of threads.
            let codes: Vec<ArrayView2<f64>> = jacobians.outer_iter().collect();
            codes.par_iter().map(|jacobian| distance_at(&jacobian.select(Axis(1), latents))).collect()
        };
        let of_all = of_latents(&(0..data.n_latents()).collect::<Vec<usize>>());
        let is_active = active_latents(data.codes(), ACTIVE_ABOVE);
        let active: Vec<usize> = (0..data.n_latents()).filter(|&latent| is_active[latent]).collect();
        let of_active = if active.is_empty() {
            Err("no latent is active: none has codes with a standard deviation above 0.5")
        } else {
            mean_distance(&of_latents(&active))
        };
        let n_degenerate = of_all.iter().filter(|distance| distance.is_none()).count();
        Scores::new()
            .with_outcome("dto", mean_distance(&of_all))
            .with_outcome("dto.active", of_active)
            .with("dto.degenerate", n_degenerate as f64 / of_all.len() as f64)
    }
}

fn mean_distance(of_codes: &[Option<f64>]) -> Result<f64, &'static str> {
    let distances: Vec<f64> = of_codes.iter().flatten().copied().collect();
    if distances.is_empty() {
        return Err(
            "at every code two singular values of the decoder's Jacobian are equal, so that it has no directions",
        );
    }
    Ok(distances.iter().sum::<f64>() / distances.len() as f64)
}

/// The distance at one code; see [`local_decoder`].
fn distance_at(jacobian: &Array2<f64>) -> Option<f64> {
    local_decoder(jacobian).distance
}

/// What a decoder does near one code, where it is its Jacobian.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalDecoder {
    /// By how much it stretches codes along its own directions, the largest first, `[latents]`.
    pub singular_values: Vec<f64>,
    /// The distance of these directions from the latents' axes; `None` where two singular values are equal.
    pub distance: Option<f64>,
}

/// The singular values of a Jacobian `[pixels, latents]`, and the distance of its directions from the axes of the latents that it does not
/// ignore. A decoder that ignores all latents is at no distance.
pub fn local_decoder(jacobian: &Array2<f64>) -> LocalDecoder {
    // In units of the largest entry, so that no square overflows.
    let unit = jacobian.fold(0.0_f64, |unit, value| unit.max(value.abs()));
    let columns: Vec<ndarray::ArrayView1<f64>> =
        jacobian.columns().into_iter().filter(|column| column.iter().any(|&value| value != 0.0)).collect();
    // Rows of zeros change nothing, and with at least as many rows as columns `V` is whole.
    let n_rows = jacobian.nrows().max(columns.len());
    let matrix =
        Mat::from_fn(n_rows, columns.len(), |row, column| columns[column].get(row).map_or(0.0, |value| value / unit));
    let decomposition = matrix.thin_svd().expect("a matrix of moderate numbers converges");
    let singular: Vec<f64> = decomposition.S().column_vector().iter().copied().collect();
    let n_ignored = jacobian.ncols() - columns.len();
    let singular_values =
        singular.iter().map(|value| value * unit).chain(std::iter::repeat_n(0.0, n_ignored)).collect();
    if singular.windows(2).any(|pair| pair[0] - pair[1] <= SMALLEST_GAP * singular[0]) {
        return LocalDecoder { singular_values, distance: None };
    }
    let directions = decomposition.V();
    let directions = Array2::from_shape_fn((columns.len(), columns.len()), |(row, column)| directions[(row, column)]);
    LocalDecoder { singular_values, distance: Some(distance_to_orthogonality(&directions)) }
}

/// `min_P |V - P|_F` over all signed permutations, for an orthogonal matrix `V [n, n]`.
pub fn distance_to_orthogonality(directions: &Array2<f64>) -> f64 {
    let sizes = directions.mapv(f64::abs);
    let column_of_row = best_assignment(&sizes);
    let squares: f64 = directions.iter().map(|value| value * value).sum();
    let n = directions.nrows() as f64;
    (squares + n - 2.0 * assigned_weight(&sizes, &column_of_row)).max(0.0).sqrt()
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "dto",
    about: "distance of the decoder's directions from the axes of the latents; 0 is best",
    paper: "Zietlow 2022",
    settings: &[],
    scores: &[
        ScoreKind { name: "dto", least: 0.0, greatest: f64::INFINITY, better: Low },
        ScoreKind { name: "dto.active", least: 0.0, greatest: f64::INFINITY, better: Low },
        ScoreKind { name: "dto.degenerate", least: 0.0, greatest: 1.0, better: Neither },
    ],
    needs: &[Need::Jacobians],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<Dto>(table)?)),
    complete: settings::complete::<Dto>,
};

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use ndarray::{Array3, array, stack};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;
    use crate::statistics::random_rotation::random_rotation;

    /// The least distance over all signed permutations, tried one after the other.
    fn least_by_trial(directions: &Array2<f64>) -> f64 {
        fn from(directions: &Array2<f64>, row: usize, taken: &mut Vec<bool>) -> f64 {
            if row == directions.nrows() {
                return 0.0;
            }
            let squares: f64 = directions.row(row).iter().map(|value| value * value).sum();
            let mut least = f64::INFINITY;
            for column in 0..directions.ncols() {
                if taken[column] {
                    continue;
                }
                taken[column] = true;
                let rest = from(directions, row + 1, taken);
                taken[column] = false;
                let value = directions[[row, column]];
                for sign in [-1.0, 1.0] {
                    least = least.min(squares - value * value + (value - sign).powi(2) + rest);
                }
            }
            least
        }
        from(directions, 0, &mut vec![false; directions.nrows()]).max(0.0).sqrt()
    }

    #[test]
    fn the_assignment_is_the_best_of_all_signed_permutations() {
        let mut rng = Seed(1).stream("rotations");
        for n in 1..=6 {
            for _ in 0..100 {
                let directions = random_rotation(n, &mut rng);
                let (found, least) = (distance_to_orthogonality(&directions), least_by_trial(&directions));
                assert!((found * found - least * least).abs() < 1e-12, "{directions}: {found}, {least}");
            }
        }
    }

    #[test]
    fn random_rotations_have_their_known_distances() {
        // In two latents the angle to the nearest axis is even in [0, pi/4], at which the distance is
        // 2 sqrt(2) sin(angle / 2): 16 sqrt(2) / pi (1 - cos(pi / 8)) in the mean. In five and six, numbers from elsewhere,
        // given to two decimals.
        let of_two = 16.0 * 2_f64.sqrt() / PI * (1.0 - (PI / 8.0).cos());
        assert!((of_two - 0.548).abs() < 5e-4);
        let mut rng = Seed(1).stream("rotations");
        for (n, expected, rounding) in [(2, of_two, 0.0), (5, 1.63, 0.005), (6, 1.91, 0.005)] {
            let distances: Vec<f64> =
                (0..20_000).map(|_| distance_to_orthogonality(&random_rotation(n, &mut rng))).collect();
            let mean = distances.iter().sum::<f64>() / 20_000.0;
            let variance = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / 20_000.0;
            let error = (variance / 20_000.0).sqrt();
            assert!((mean - expected).abs() < 4.0 * error + rounding, "{n}: {mean} +- {error}, wanted {expected}");
        }
    }

    fn score(jacobians: Array3<f64>) -> Scores {
        let n_latents = jacobians.dim().2;
        // The last latent hardly moves, all others are active.
        let mut codes = Array2::from_shape_fn((2, n_latents), |(row, _)| 2.0 * row as f64);
        codes.column_mut(n_latents - 1).fill(0.0);
        let extras = Extras { jacobians: Some(jacobians), ..Extras::default() };
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(codes, array![[0.0], [1.0]], space, extras).unwrap();
        Dto::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/dto"))
    }

    #[test]
    fn jacobians_worked_by_hand() {
        // U diag(2, 1) V' with V turned by an angle of t: |V - 1|^2 = 4 - 4 cos t. At the second code V is a signed
        // permutation, whatever the scale.
        let angle = 0.3_f64;
        let (cos, sin) = (angle.cos(), angle.sin());
        let turned = array![[0.0, 0.0], [2.0 * cos, -2.0 * sin], [sin, cos]];
        let straight = array![[0.0, 1e200], [0.0, 0.0], [-3e200, 0.0]];
        let scores = score(stack![Axis(0), turned, straight]);
        assert!((scores.value("dto").unwrap() - (4.0 - 4.0 * cos).sqrt() / 2.0).abs() < 1e-9);
        // A single latent is always on its axis.
        assert!(scores.value("dto.active").unwrap() < 1e-7);
        assert_eq!(scores.value("dto.degenerate"), Some(0.0));
    }

    #[test]
    fn singular_values_are_sorted_and_ignored_latents_have_none() {
        let found = local_decoder(&array![[0.0, 0.0, 2.0], [0.0, -3.0, 0.0]]);
        assert_eq!(found.singular_values, [3.0, 2.0, 0.0]);
        assert_eq!(found.distance, Some(0.0));
        assert_eq!(local_decoder(&Array2::zeros((2, 2))).singular_values, [0.0, 0.0]);
    }

    #[test]
    fn ignored_latents_take_no_part() {
        let angle = 0.3_f64;
        let (cos, sin) = (angle.cos(), angle.sin());
        let jacobian = array![[2.0 * cos, 0.0, -2.0 * sin, 0.0], [sin, 0.0, cos, 0.0]];
        let scores = score(jacobian.insert_axis(Axis(0)));
        assert!((scores.value("dto").unwrap() - (4.0 - 4.0 * cos).sqrt()).abs() < 1e-9);
        assert_eq!(score(Array3::zeros((1, 3, 2))).value("dto"), Some(0.0));
    }

    #[test]
    fn equal_singular_values_leave_no_directions() {
        let equal = array![[1.0, 0.0], [0.0, 1.0]];
        let unequal = array![[1.0, 0.0], [0.0, 2.0]];
        let scores = score(stack![Axis(0), equal, unequal]);
        assert_eq!((scores.value("dto"), scores.value("dto.degenerate")), (Some(0.0), Some(0.5)));
        let reason = &score(equal.insert_axis(Axis(0))).undefined[0].reason;
        assert!(reason.contains("two singular values of the decoder's Jacobian are equal"), "{reason}");
        // One pixel tells nothing of three latents but one direction.
        assert_eq!(score(array![[[1.0, 2.0, 3.0]]]).value("dto.degenerate"), Some(1.0));
    }
}
