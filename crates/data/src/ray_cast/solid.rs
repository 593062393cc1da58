//! Solids that stand on the floor (z = 0) in the middle of the room, and where a ray meets them.

use super::ray::{Point, Ray, dot, minus};

/// A solid about the z axis with its lowest point on the floor. A cube's sides are parallel to the walls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Solid {
    /// Six equal faces.
    Cube { side: f64 },
    /// An upright cylinder.
    Cylinder { radius: f64, height: f64 },
    /// A ball.
    Sphere { radius: f64 },
    /// An upright cylinder of this height between two halves of a ball.
    Capsule { radius: f64, height: f64 },
}

/// Where a ray enters a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Meeting {
    /// In lengths of the ray's direction.
    pub(super) distance: f64,
    /// Of length 1 and pointing outwards.
    pub(super) normal: Point,
}

impl Solid {
    /// The meeting nearest to the ray's start, which is outside and not below the floor.
    pub(super) fn meet(&self, ray: &Ray) -> Option<Meeting> {
        match *self {
            Self::Cube { side } => meet_cube(ray, side),
            Self::Cylinder { radius, height } => {
                nearer(meet_tube(ray, radius, 0.0, height), meet_disc(ray, radius, height))
            }
            Self::Sphere { radius } => meet_sphere(ray, radius, radius),
            Self::Capsule { radius, height } => {
                let ends = nearer(meet_sphere(ray, radius, radius), meet_sphere(ray, radius, radius + height));
                nearer(ends, meet_tube(ray, radius, radius, radius + height))
            }
        }
    }

    /// The height of the highest point.
    pub(super) fn height(&self) -> f64 {
        match *self {
            Self::Cube { side } => side,
            Self::Cylinder { height, .. } => height,
            Self::Sphere { radius } => 2.0 * radius,
            Self::Capsule { radius, height } => 2.0 * radius + height,
        }
    }

    /// The distance of the outermost point from the z axis.
    pub(super) fn reach(&self) -> f64 {
        match *self {
            Self::Cube { side } => side / 2.0_f64.sqrt(),
            Self::Cylinder { radius, .. } | Self::Sphere { radius } | Self::Capsule { radius, .. } => radius,
        }
    }
}

fn nearer(first: Option<Meeting>, second: Option<Meeting>) -> Option<Meeting> {
    match (first, second) {
        (Some(one), Some(other)) => Some(if one.distance <= other.distance { one } else { other }),
        (found, None) | (None, found) => found,
    }
}

/// A ray is inside a cube from where it has entered the last of the three slabs until it leaves the first.
fn meet_cube(ray: &Ray, side: f64) -> Option<Meeting> {
    let low = [-side / 2.0, -side / 2.0, 0.0];
    let mut entered = Meeting { distance: 0.0, normal: [0.0; 3] };
    let mut left = f64::INFINITY;
    for (axis, low) in low.into_iter().enumerate() {
        let [first, second] = [low, low + side].map(|plane| (plane - ray.from[axis]) / ray.along[axis]);
        if first.min(second) > entered.distance {
            entered = Meeting { distance: first.min(second), normal: [0.0; 3] };
            entered.normal[axis] = -ray.along[axis].signum();
        }
        left = left.min(first.max(second));
    }
    (entered.distance > 0.0 && entered.distance < left).then_some(entered)
}

/// The ball whose middle is on the z axis at `middle`.
fn meet_sphere(ray: &Ray, radius: f64, middle: f64) -> Option<Meeting> {
    let from = minus(ray.from, [0.0, 0.0, middle]);
    let distance = first_root(dot(ray.along, ray.along), dot(from, ray.along), dot(from, from) - radius * radius)?;
    let normal = minus(ray.at(distance), [0.0, 0.0, middle]).map(|value| value / radius);
    Some(Meeting { distance, normal })
}

/// The side of a cylinder from height `low` to `high`.
fn meet_tube(ray: &Ray, radius: f64, low: f64, high: f64) -> Option<Meeting> {
    let [x, y, _] = ray.from;
    let [along_x, along_y, _] = ray.along;
    let distance =
        first_root(along_x * along_x + along_y * along_y, x * along_x + y * along_y, x * x + y * y - radius * radius)?;
    let [x, y, z] = ray.at(distance);
    (low..=high).contains(&z).then_some(Meeting { distance, normal: [x / radius, y / radius, 0.0] })
}

/// The upper face of a cylinder; the lower one lies on the floor, where no ray comes.
fn meet_disc(ray: &Ray, radius: f64, height: f64) -> Option<Meeting> {
    if ray.along[2] >= 0.0 {
        return None;
    }
    let distance = (height - ray.from[2]) / ray.along[2];
    let [x, y, _] = ray.at(distance);
    (distance > 0.0 && x * x + y * y <= radius * radius).then_some(Meeting { distance, normal: [0.0, 0.0, 1.0] })
}

/// The smaller root of `square * t^2 + 2 * half * t + constant`, where it is above 0.
fn first_root(square: f64, half: f64, constant: f64) -> Option<f64> {
    let discriminant = half * half - square * constant;
    let root = (-half - discriminant.max(0.0).sqrt()) / square;
    (discriminant > 0.0 && root > 0.0).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ray from the front at this height, beside the middle by `x`.
    fn from_front(x: f64, z: f64) -> Ray {
        Ray { from: [x, -5.0, z], along: [0.0, 2.0, 0.0] }
    }

    #[test]
    fn level_rays_meet_the_front() {
        // Each solid's front is 1 before the axis, 4 from the start, which is two lengths of the direction.
        let solids = [
            Solid::Cube { side: 2.0 },
            Solid::Cylinder { radius: 1.0, height: 2.0 },
            Solid::Sphere { radius: 1.0 },
            Solid::Capsule { radius: 1.0, height: 0.5 },
        ];
        for solid in solids {
            let expected = Meeting { distance: 2.0, normal: [0.0, -1.0, 0.0] };
            assert_eq!(solid.meet(&from_front(0.0, 1.0)), Some(expected), "{solid:?}");
            assert_eq!(solid.meet(&from_front(1.001, 1.0)), None, "{solid:?}");
            assert_eq!(solid.meet(&from_front(0.0, solid.height() + 0.001)), None, "{solid:?}");
        }
    }

    #[test]
    fn falling_rays_meet_the_top() {
        let falling = Ray { from: [0.0, 0.0, 9.0], along: [0.0, 0.0, -1.0] };
        for solid in
            [Solid::Cube { side: 2.0 }, Solid::Cylinder { radius: 1.0, height: 2.0 }, Solid::Sphere { radius: 1.0 }]
        {
            assert_eq!(solid.meet(&falling), Some(Meeting { distance: 7.0, normal: [0.0, 0.0, 1.0] }), "{solid:?}");
        }
        let capsule = Solid::Capsule { radius: 1.0, height: 0.5 };
        assert_eq!(capsule.meet(&falling), Some(Meeting { distance: 6.5, normal: [0.0, 0.0, 1.0] }));
    }

    #[test]
    fn rays_do_not_look_back() {
        let away = Ray { from: [0.0, -5.0, 1.0], along: [0.0, -1.0, 0.0] };
        for solid in
            [Solid::Cube { side: 2.0 }, Solid::Cylinder { radius: 1.0, height: 2.0 }, Solid::Sphere { radius: 1.0 }]
        {
            assert_eq!(solid.meet(&away), None, "{solid:?}");
        }
    }
}
