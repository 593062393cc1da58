//! Surfaces of shapes that lie on each other: leaves of all sizes, and a few large things before a background.

use rand::RngExt;

use super::noise::{Noise, between, direction, mix, smooth};
use super::palette::{Colour, Palette, blend, lit};
use super::surfaces::{Surface, cloth, clouds, hills, stones};
use crate::seed::Rng;

/// An ellipse, bent by noise.
struct Shape {
    centre: [f32; 2],
    /// The direction of the long axis.
    axis: [f32; 2],
    /// Half of the long axis and of the short one.
    radii: [f32; 2],
    /// How far its rim is bent, as a part of its radii.
    bend: f32,
}

impl Shape {
    fn random(centre: [f32; 2], radius: f32, rng: &mut Rng) -> Self {
        let radii = [radius, radius * between(0.4, 1.0, rng)];
        Self { centre, axis: direction(rng), radii, bend: between(0.0, 0.6, rng) }
    }

    /// Where a place lies: along and across the axes, both -1 to 1 inside.
    fn within(&self, x: f32, y: f32) -> [f32; 2] {
        let ([x, y], [cos, sin]) = ([x - self.centre[0], y - self.centre[1]], self.axis);
        [(cos * x + sin * y) / self.radii[0], (cos * y - sin * x) / self.radii[1]]
    }

    /// How much of the place is covered, 0 to 1, where the noise there is `noise`.
    fn coverage(&self, [along, across]: [f32; 2], noise: f32) -> f32 {
        let inside = 1.0 + self.bend * noise - (along * along + across * across).sqrt();
        // The rim is about a pixel wide.
        smooth(inside * self.radii[1] * 48.0 + 0.5)
    }
}

/// Many shapes of all sizes, the large ones below: leaves, fruit, crowds or gravel.
pub(super) fn leaves(rng: &mut Rng) -> Surface {
    let (noise, palettes) = (Noise::new(rng), [Palette::random(rng), Palette::random(rng)]);
    let (roundness, n_shapes) = (between(0.1, 0.7, rng), rng.random_range(40..120_usize));
    let background = palettes[0].at(0.1);
    let shapes: Vec<(Shape, Colour)> = (0..n_shapes)
        .map(|number| {
            // Many small and few large, as things at all distances are.
            let radius = 0.35 / (1.0 + 9.0 * number as f32 / n_shapes as f32) * between(0.6, 1.4, rng);
            let centre = [between(-0.1, 1.1, rng), between(-0.1, 1.1, rng)];
            let palette = palettes[usize::from(rng.random_range(0..4) == 0)];
            (Shape::random(centre, radius, rng), palette.at(between(0.1, 1.0, rng)))
        })
        .collect();
    Box::new(move |x, y| {
        let (bent, grain) = (noise.at(6.0 * x, 6.0 * y), 0.25 * noise.fractal(8.0 * x + 5.0, 8.0 * y, 3));
        shapes.iter().fold(background, |below, (shape, colour)| {
            let place = shape.within(x, y);
            if place[0].abs().max(place[1].abs()) > 1.7 {
                return below;
            }
            let light = 1.0 + grain - roundness * (0.5 * (place[0] * place[0] + place[1] * place[1]) + 0.3 * place[1]);
            blend(below, lit(*colour, light.max(0.2)), shape.coverage(place, bent))
        })
    })
}

/// One thing of several shapes, or a few things, each with a surface of its own, before a background that is out of
/// focus.
pub(super) fn things(rng: &mut Rng) -> Surface {
    let noise = Noise::new(rng);
    let background = if rng.random_range(0..3) == 0 { hills(rng) } else { blurred(rng) };
    let kinds: [fn(&mut Rng) -> Surface; 3] = [clouds, cloth, stones];
    let n_things = rng.random_range(1..4_usize);
    let middle = [between(0.35, 0.65, rng), between(0.45, 0.65, rng)];
    let spread = between(0.1, 0.35, rng);
    let things: Vec<(Vec<Shape>, Surface)> = (0..n_things)
        .map(|_| {
            let shapes = (0..rng.random_range(1..5)).map(|_| {
                let centre = middle.map(|place| place + between(-spread, spread, rng));
                let radius = between(0.1, 0.33, rng);
                Shape::random(centre, radius, rng)
            });
            (shapes.collect(), kinds[rng.random_range(0..kinds.len())](rng))
        })
        .collect();
    Box::new(move |x, y| {
        let bent = noise.fractal(3.0 * x, 3.0 * y, 3);
        things.iter().fold(background(x, y), |below, (shapes, surface)| {
            let (mut covered, mut shadow, mut rounding) = (0.0_f32, 0.0_f32, 0.0_f32);
            for shape in shapes {
                let [along, across] = shape.within(x, y);
                covered = covered.max(shape.coverage([along, across], bent));
                rounding = rounding.max(1.0 - 0.5 * (along * along + across * across));
                let [along, across] = shape.within(x - 0.04, y - 0.06);
                shadow = shadow.max(smooth(1.3 - (along * along + across * across)));
            }
            let below = lit(below, 1.0 - 0.5 * shadow);
            if covered == 0.0 { below } else { blend(below, lit(surface(x, y), mix(0.45, 1.15, rounding)), covered) }
        })
    })
}

/// Colours that flow into each other.
fn blurred(rng: &mut Rng) -> Surface {
    let (noise, palette) = (Noise::new(rng), Palette::random(rng));
    let (size, range, middle) = (between(0.8, 2.5, rng), between(0.3, 0.9, rng), between(0.3, 0.75, rng));
    Box::new(move |x, y| {
        palette.at(middle + range * noise.fractal(size * x + 0.5, size * y + 0.5, 2) - 0.3 * (y - 0.5))
    })
}
