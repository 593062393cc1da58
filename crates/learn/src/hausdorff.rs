//! How far points are from being all combinations of the values of their coordinates: Hausdorff's distance from the set of all combinations of
//! their coordinates to the points themselves, for each pair of coordinates (Roth et al. 2023).
//!
//! Found on plain numbers: which points the distance lies between is a choice, and a gradient needs only the points chosen.

use rayon::prelude::*;

/// The combination of two coordinates that is farthest from all points, and the point nearest to it. It has coordinate `pair.0` of
/// one point, and coordinate `pair.1` of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Farthest {
    /// The two coordinates, the lower first.
    pub pair: (usize, usize),
    /// The points that the combination's coordinates are of.
    pub combined: (usize, usize),
    /// The point nearest to it.
    pub nearest: usize,
}

/// For each pair of coordinates of `points`, row after row of `n_coordinates`, the combination farthest from all points. The pairs
/// come in order; of several that are as far or as near, the first is taken.
pub fn farthest_combinations(points: &[f32], n_coordinates: usize) -> Vec<Farthest> {
    let coordinate = |i: usize| points.iter().skip(i).step_by(n_coordinates).copied().collect();
    let coordinates: Vec<Vec<f32>> = (0..n_coordinates).map(coordinate).collect();
    let pairs: Vec<(usize, usize)> =
        (0..n_coordinates).flat_map(|i| (i + 1..n_coordinates).map(move |j| (i, j))).collect();
    let of_pair = |&pair: &(usize, usize)| {
        let (combined, nearest) = farthest_combination(&coordinates[pair.0], &coordinates[pair.1]);
        Farthest { pair, combined, nearest }
    };
    pairs.par_iter().map(of_pair).collect()
}

/// Of all combinations `(first[a], second[b])` the `(a, b)` farthest from the points `(first[k], second[k])`, and the `k` nearest to it.
fn farthest_combination(first: &[f32], second: &[f32]) -> ((usize, usize), usize) {
    let (mut most, mut found) = (-1.0, ((0, 0), 0));
    for a in 0..first.len() {
        for b in 0..second.len() {
            // Points a and b share a coordinate with the combination. Mostly one of them is near enough to rule it out.
            if square(second[b] - second[a]) <= most || square(first[a] - first[b]) <= most {
                continue;
            }
            if let Some((nearest, distance)) = nearest_beyond(most, (first[a], second[b]), first, second) {
                (most, found) = (distance, ((a, b), nearest));
            }
        }
    }
    found
}

/// The point nearest to `place` and its squared distance, unless that is `most` or less.
fn nearest_beyond(most: f32, place: (f32, f32), first: &[f32], second: &[f32]) -> Option<(usize, f32)> {
    let (mut nearest, mut least) = (0, f32::INFINITY);
    for (point, (x, y)) in first.iter().zip(second).enumerate() {
        let distance = square(place.0 - x) + square(place.1 - y);
        if distance < least {
            if distance <= most {
                return None;
            }
            (nearest, least) = (point, distance);
        }
    }
    Some((nearest, least))
}

fn square(value: f32) -> f32 {
    value * value
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;

    /// The squared distance that a combination is from the point nearest to it.
    fn distance(points: &[f32], n_coordinates: usize, found: &Farthest) -> f32 {
        let at = |point: usize, coordinate: usize| points[point * n_coordinates + coordinate];
        let (i, j) = found.pair;
        square(at(found.combined.0, i) - at(found.nearest, i)) + square(at(found.combined.1, j) - at(found.nearest, j))
    }

    #[test]
    fn all_combinations_tried_one_by_one_give_the_same() {
        for (n_points, n_coordinates) in [(1, 3), (2, 2), (3, 4), (17, 5), (40, 3)] {
            let mut rng = Seed(n_points as u64).stream("points");
            // Few distinct values, so that there are ties.
            let points: Vec<f32> =
                (0..n_points * n_coordinates).map(|_| f32::from(rng.random_range(-20..20_i8)) * 0.25).collect();
            let found = farthest_combinations(&points, n_coordinates);
            assert_eq!(found.len(), n_coordinates * (n_coordinates - 1) / 2);
            let at = |point: usize, coordinate: usize| points[point * n_coordinates + coordinate];
            let mut found = found.into_iter();
            for i in 0..n_coordinates {
                for j in i + 1..n_coordinates {
                    let mut wanted = (-1.0, Farthest { pair: (i, j), combined: (0, 0), nearest: 0 });
                    for (a, b) in (0..n_points).flat_map(|a| (0..n_points).map(move |b| (a, b))) {
                        let to = |k: usize| square(at(a, i) - at(k, i)) + square(at(b, j) - at(k, j));
                        let nearest = (0..n_points).min_by(|&k, &l| to(k).total_cmp(&to(l))).unwrap();
                        if to(nearest) > wanted.0 {
                            wanted = (to(nearest), Farthest { pair: (i, j), combined: (a, b), nearest });
                        }
                    }
                    assert_eq!(found.next().unwrap(), wanted.1);
                }
            }
        }
    }

    #[test]
    fn by_hand() {
        // Points (0, 0), (1, 2), (4, 1). Combination (4, 0) is 1 from (4, 1); (4, 2) also; (0, 2) is 1 from (1, 2); (0, 1) is 1
        // from (0, 0); (1, 0) is 1 from (0, 0); (1, 1) is 1 from (1, 2). All as far as the first of them, (0, 2).
        let points = [0.0, 0.0, 1.0, 2.0, 4.0, 1.0];
        let found = farthest_combinations(&points, 2);
        assert_eq!(found, [Farthest { pair: (0, 1), combined: (0, 1), nearest: 1 }]);
        assert_eq!(distance(&points, 2, &found[0]), 1.0);
        // Points on a diagonal, (0, 0) to (3, 3): the corners (0, 3) and (3, 0) are 1 + 4 = 5 from (1, 1) and (2, 2), in squares.
        let points = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
        let found = farthest_combinations(&points, 2);
        assert_eq!(found, [Farthest { pair: (0, 1), combined: (0, 3), nearest: 1 }]);
        assert_eq!(distance(&points, 2, &found[0]), 5.0);
    }

    #[test]
    fn a_full_grid_is_at_no_distance() {
        let points: Vec<f32> = (0..24_u8).flat_map(|k| [k % 2, k / 2 % 3, k / 6].map(f32::from)).collect();
        for found in farthest_combinations(&points, 3) {
            assert_eq!(distance(&points, 3, &found), 0.0, "{found:?}");
        }
    }

    #[test]
    fn one_coordinate_has_no_pairs() {
        assert_eq!(farthest_combinations(&[1.0, 2.0], 1), []);
    }
}
