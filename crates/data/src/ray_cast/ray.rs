//! Rays and the little arithmetic of points in space that they need. x points right, y away, and z up.

/// A point or a direction.
pub(super) type Point = [f64; 3];

/// The points `from + distance * along` for distances above 0; `along` may have any length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ray {
    pub(super) from: Point,
    pub(super) along: Point,
}

impl Ray {
    pub(super) fn at(&self, distance: f64) -> Point {
        plus(self.from, self.along, distance)
    }
}

/// `point + factor * direction`.
pub(super) fn plus(point: Point, direction: Point, factor: f64) -> Point {
    [0, 1, 2].map(|axis| point[axis] + factor * direction[axis])
}

pub(super) fn minus(first: Point, second: Point) -> Point {
    plus(first, second, -1.0)
}

pub(super) fn dot(first: Point, second: Point) -> f64 {
    first[0] * second[0] + first[1] * second[1] + first[2] * second[2]
}

/// The direction from `start` to `end`, of length 1.
pub(super) fn direction(start: Point, end: Point) -> Point {
    let difference = minus(end, start);
    let length = dot(difference, difference).sqrt();
    difference.map(|value| value / length)
}
