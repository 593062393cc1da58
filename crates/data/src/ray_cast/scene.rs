//! A square room open to the sky, a solid in its middle, a spotlight, and a camera that goes round the solid.
//!
//! The measures were fitted to the pictures that are published with 3D Shapes (Burgess and Kim 2018): edges of walls and
//! outlines of solids to about a third of a pixel, brightness to a few hundredths. A surface is
//! as bright as a constant, plus a part that falls with its angle to the camera's view (from where parallel light comes),
//! plus a part that falls with its angle to the spotlight, which a shadow takes away; and a lit solid shines whitish all
//! over.

use super::ray::{Point, Ray, direction, dot, plus};
use super::solid::Solid;

/// Height and width of the images.
pub(crate) const SIZE: usize = 64;
/// The colour of the sky, as bytes.
pub(crate) const SKY: [u8; 3] = [153, 226, 249];
/// The weight of a colour that a pixel shows as it is.
pub(crate) const UNIT: u16 = 1 << 14;

/// Rays for a pixel along an axis.
const SAMPLES: usize = 4;

pub(crate) const CAMERA_DISTANCE: f64 = 2.446;
pub(crate) const CAMERA_HEIGHT: f64 = 0.742;
/// From the camera to the plane of the image, where the image is 2 wide.
pub(crate) const FOCAL_LENGTH: f64 = 2.13;
/// From the middle to a wall.
const ROOM_REACH: f64 = 3.5;
const WALL_HEIGHT: f64 = 2.01;
const LIGHT: Point = [-1.3, 0.3, 7.0];
/// Where the spotlight is brightest on the floor.
const LIGHT_AIM: Point = [-1.55, 0.43, 0.0];
/// How fast the spotlight gets darker to its side: the exponent of the angle's cosine.
const LIGHT_FOCUS: i32 = 8;
/// The white that a lit solid adds to its colour.
const HIGHLIGHT: f64 = 0.114;

/// How a surface answers light: what it always shows, and what the camera's light and the spotlight add at most.
struct Surface {
    constant: f64,
    camera: f64,
    spotlight: f64,
}

impl Surface {
    /// How bright it is where the spotlight does not come.
    fn unlit(&self, normal: Point, to_camera: Point) -> f64 {
        self.constant + self.camera * dot(normal, to_camera).max(0.0)
    }
}

const ROOM_SURFACE: Surface = Surface { constant: 0.34, camera: 0.59, spotlight: 0.96 };
const SOLID_SURFACE: Surface = Surface { constant: 0.21, camera: 0.75, spotlight: 0.86 };

/// Of each colour the part that each pixel shows, `[SIZE, SIZE]`, in [`UNIT`]s. Light may push a part above one unit; the
/// sums over the colours are cut at white only when they are pixels, so that they are linear in the colours until then.
pub(crate) struct Weights {
    pub(crate) floor: Vec<u16>,
    pub(crate) wall: Vec<u16>,
    pub(crate) object: Vec<u16>,
    pub(crate) sky: Vec<u16>,
    /// White, from lit solids.
    pub(crate) highlight: Vec<u16>,
}

/// The weights of all pixels where the camera stands turned by `turn` (in radians; to the left where it is below 0).
pub(crate) fn weights(solid: &Solid, turn: f64) -> Weights {
    let camera = Camera::turned(turn);
    let mut planes: [Vec<u16>; 5] = [(); 5].map(|()| Vec::with_capacity(SIZE * SIZE));
    for row in 0..SIZE {
        for column in 0..SIZE {
            let pixel = camera.pixel_weights(solid, row, column);
            for (plane, weight) in planes.iter_mut().zip(pixel) {
                plane.push((weight * f64::from(UNIT)).round() as u16);
            }
        }
    }
    let [floor, wall, object, sky, highlight] = planes;
    Weights { floor, wall, object, sky, highlight }
}

/// A level camera that looks at the z axis.
struct Camera {
    from: Point,
    forward: Point,
    right: Point,
}

impl Camera {
    fn turned(turn: f64) -> Self {
        let (sin, cos) = turn.sin_cos();
        Self {
            from: [CAMERA_DISTANCE * sin, -CAMERA_DISTANCE * cos, CAMERA_HEIGHT],
            forward: [-sin, cos, 0.0],
            right: [cos, sin, 0.0],
        }
    }

    /// The mean of the weights of a pixel's rays: floor, wall, object, sky and highlight.
    fn pixel_weights(&self, solid: &Solid, row: usize, column: usize) -> [f64; 5] {
        let mut total = [0.0; 5];
        for sample in 0..SAMPLES * SAMPLES {
            let offset = |step: usize| (step as f64 + 0.5) / SAMPLES as f64;
            let x = (column as f64 + offset(sample % SAMPLES)) * 2.0 / SIZE as f64 - 1.0;
            let y = 1.0 - (row as f64 + offset(sample / SAMPLES)) * 2.0 / SIZE as f64;
            let mut along = plus(self.forward, self.right, x / FOCAL_LENGTH);
            along[2] = y / FOCAL_LENGTH;
            for (sum, weight) in total.iter_mut().zip(ray_weights(
                solid,
                &Ray { from: self.from, along },
                self.forward.map(|value| -value),
            )) {
                *sum += weight;
            }
        }
        total.map(|sum| sum / (SAMPLES * SAMPLES) as f64)
    }
}

/// What a ray of the camera sees: the weights of floor, wall, object, sky and highlight.
fn ray_weights(solid: &Solid, ray: &Ray, to_camera: Point) -> [f64; 5] {
    if let Some(meeting) = solid.meet(ray) {
        let to_light = direction(ray.at(meeting.distance), LIGHT);
        let lit = dot(meeting.normal, to_light);
        let brightness = SOLID_SURFACE.unlit(meeting.normal, to_camera) + SOLID_SURFACE.spotlight * lit.max(0.0);
        return [0.0, 0.0, brightness, 0.0, if lit > 0.0 { HIGHLIGHT } else { 0.0 }];
    }
    let (point, normal) = wall_point(ray);
    if point[2] > WALL_HEIGHT {
        [0.0, 0.0, 0.0, 1.0, 0.0]
    } else if point[2] > 0.0 {
        [0.0, room_brightness(solid, point, normal, to_camera) * stain(point, normal), 0.0, 0.0, 0.0]
    } else {
        let floor = ray.at(-ray.from[2] / ray.along[2]);
        [room_brightness(solid, floor, [0.0, 0.0, 1.0], to_camera), 0.0, 0.0, 0.0, 0.0]
    }
}

/// Where a ray from inside the room meets the walls or what is straight above or below them, and the normal there.
fn wall_point(ray: &Ray) -> (Point, Point) {
    let distances = [0, 1].map(|axis| (ROOM_REACH.copysign(ray.along[axis]) - ray.from[axis]) / ray.along[axis]);
    let axis = usize::from(distances[1] < distances[0]);
    let mut normal = [0.0; 3];
    normal[axis] = -ray.along[axis].signum();
    (ray.at(distances[axis]), normal)
}

/// The part of a wall's light that is left at this point: all of it, or less in a slanting ellipse that comes back every two
/// units, as the published walls are tiled with one picture.
fn stain(point: Point, normal: Point) -> f64 {
    // From left to right as one faces the wall, so that the side walls are run through in opposite directions.
    let along = if normal[1] != 0.0 { point[0] } else { point[1] * normal[0] };
    let [right, up] = [(along + 0.85).rem_euclid(2.0) - 1.0, point[2] - 1.05];
    let [lengthwise, across] = [(0.67 * right - 0.74 * up) / 0.38, (0.74 * right + 0.67 * up) / 0.16];
    if lengthwise * lengthwise + across * across < 1.0 { 0.93 } else { 1.0 }
}

/// How bright a point of the floor or of a wall is.
fn room_brightness(solid: &Solid, point: Point, normal: Point, to_camera: Point) -> f64 {
    let unlit = ROOM_SURFACE.unlit(normal, to_camera);
    let to_light = direction(point, LIGHT);
    if in_shadow(solid, point, to_light) {
        return unlit;
    }
    let beside = dot(to_light, direction(LIGHT_AIM, LIGHT)).max(0.0);
    unlit + ROOM_SURFACE.spotlight * dot(normal, to_light).max(0.0) * beside.powi(LIGHT_FOCUS)
}

fn in_shadow(solid: &Solid, point: Point, to_light: Point) -> bool {
    // The light stands so high that a shadow is shorter than its solid is high.
    let [x, y, _] = point;
    let longest = solid.reach() + solid.height();
    x * x + y * y < longest * longest && solid.meet(&Ray { from: point, along: to_light }).is_some()
}
