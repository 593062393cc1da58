//! A painting in the manner of Munch's "The Scream": bands of a burning sky, dark swirling hills, a bridge and figures.
//! It stands in for the picture where no file of it is given.

use std::sync::LazyLock;

use super::noise::{Noise, mix, smooth, wave};
use super::palette::{Colour, Palette, blend, bytes, lit};
use crate::files::picture::Picture;
use crate::seed::Seed;

/// The size to which the published dataset shrinks the picture at most.
const HEIGHT: usize = 274;
const WIDTH: usize = 350;

/// The painting, `[274, 350, 3]`. It is made once, when first asked for, and is always the same.
pub fn painting() -> &'static Picture {
    static PAINTING: LazyLock<Picture> = LazyLock::new(paint);
    &PAINTING
}

fn paint() -> Picture {
    let canvas = Canvas {
        noise: Noise::new(&mut Seed(0).stream("painting")),
        sky: Palette::new([0x8c1f14, 0xd9531e, 0xf2a33a, 0xf7dc8c]),
        water: Palette::new([0x1d2f4a, 0x3f6a86, 0x9aa88a, 0xe6c677]),
        hills: Palette::new([0x0d1726, 0x1c3350, 0x2f5a5c, 0x8f8d57]),
        bridge: Palette::new([0x2a140e, 0x6b3520, 0xa8673a, 0xd9a868]),
        flesh: Palette::new([0x5a4a30, 0x9c8a55, 0xcdbb85, 0xeee3bd]),
        robe: Palette::new([0x06070b, 0x141722, 0x2a2c3c, 0x57505a]),
    };
    let mut pixels = Vec::with_capacity(HEIGHT * WIDTH * 3);
    for place in 0..HEIGHT * WIDTH {
        let [x, y] = [place % WIDTH, place / WIDTH].map(|step| (step as f32 + 0.5) / HEIGHT as f32);
        pixels.extend(bytes(canvas.colour(x, y)));
    }
    Picture { height: HEIGHT, width: WIDTH, channels: 3, bytes: pixels }
}

/// What the painting is made with. Places on it have y from 0 to 1 and x from 0 to 1.28.
struct Canvas {
    noise: Noise,
    sky: Palette,
    water: Palette,
    hills: Palette,
    bridge: Palette,
    flesh: Palette,
    robe: Palette,
}

impl Canvas {
    fn colour(&self, x: f32, y: f32) -> Colour {
        // Everything sways, the outlines too.
        let sway = 0.02 * self.noise.fractal(4.0 * x + 40.0, 4.0 * y, 3);
        let (x, y) = (x + sway, y - sway);
        let mut colour = self.sky(x, y);
        colour = over(colour, edge(y - 0.40), || self.water(x, y));
        let shore = 0.30 + 0.5 * (0.95 - x) * smooth((1.1 - x) / 0.3) + 0.05 * self.noise.fractal(3.0 * x, 7.5, 3);
        colour = over(colour, edge(y - shore.max(0.30)), || self.hills(x, y));
        colour = self.on_the_bridge(colour, x, y);
        self.figure(colour, x, y)
    }

    /// Strokes of the brush along `along`, a curve's length, at `across`, its distance: about -1 to 1.
    fn strokes(&self, along: f32, across: f32) -> f32 {
        self.noise.fractal(5.0 * along, 45.0 * across, 3)
    }

    fn sky(&self, x: f32, y: f32) -> Colour {
        let height = y + 0.09 * self.noise.fractal(1.6 * x, 2.2 * y + 5.0, 3);
        let bands = 0.30 * wave(7.0 * height) + 0.14 * wave(17.0 * height + 0.3 * x);
        let colour = self.sky.at(0.42 + bands + 0.35 * self.strokes(x, height));
        // A few cool streaks between the warm ones.
        let streak = smooth(4.0 * (self.noise.fractal(1.2 * x + 9.0, 9.0 * height, 2) - 0.28));
        blend(colour, self.water.at(0.5 + 0.3 * self.strokes(x, height)), 0.7 * streak)
    }

    fn water(&self, x: f32, y: f32) -> Colour {
        let height = y + 0.04 * self.noise.fractal(2.0 * x, 3.0 * y + 25.0, 3);
        let shine = smooth(1.0 - ((x - 0.35) * (x - 0.35) + 4.0 * (y - 0.5) * (y - 0.5)) / 0.08);
        self.water.at(0.35 + 0.2 * wave(14.0 * height) + 0.35 * self.strokes(x, height) + 0.4 * shine)
    }

    fn hills(&self, x: f32, y: f32) -> Colour {
        // Rings about a whirl.
        let (right, down) = (x - 0.98, y - 0.62);
        let radius = (right * right + 1.4 * down * down).sqrt() + 0.10 * self.noise.fractal(2.5 * x, 2.5 * y + 11.0, 3);
        self.hills.at(0.40 + 0.28 * wave(8.0 * radius) + 0.4 * self.strokes(right - down, radius))
    }

    /// The bridge that comes from the left, its railing, and two who walk away on it.
    fn on_the_bridge(&self, mut colour: Colour, x: f32, y: f32) -> Colour {
        // Planks and rails meet at a point beyond the left margin: what they have in common is their slope from there.
        let slope = (y - 0.50) / (x + 0.22);
        let planks = slope / (1.0 + slope.abs());
        colour = over(colour, edge(0.20 * (slope - 0.42)), || {
            let uneven = 0.16 * wave(40.0 * planks) + 0.4 * self.strokes(0.5 * x, 0.7 * planks);
            self.bridge.at(0.50 + uneven - 0.25 * (x - 0.4))
        });
        for (rail, width) in [(0.21, 0.022), (0.30, 0.016), (0.41, 0.030)] {
            let near = 1.0 - (slope - rail).abs() / width;
            colour =
                over(colour, smooth(2.0 * near), || self.bridge.at(0.18 + 0.3 * near * (0.5 + self.strokes(x, slope))));
        }
        for (left, foot) in [(0.085, 0.60), (0.155, 0.615)] {
            let coat = ellipse(x, y, [left, foot], [0.020, 0.085]);
            let head = ellipse(x, y, [left, foot - 0.095], [0.012, 0.018]);
            colour = over(colour, smooth(3.0 * coat.max(head)), || self.robe.at(0.2 + 0.4 * self.strokes(y, x)));
        }
        colour
    }

    /// The one in front.
    fn figure(&self, mut colour: Colour, x: f32, y: f32) -> Colour {
        let bow = x + 0.05 * wave(1.1 * y + 0.1);
        let robe = ellipse(bow, y, [0.62, 1.02], [0.13, 0.33]);
        colour = over(colour, smooth(6.0 * robe), || {
            let folds = wave(14.0 * (bow - 0.62) / (0.5 + y));
            self.robe.at(0.35 + 0.3 * folds + 0.4 * self.strokes(y, bow))
        });
        let arms = ellipse(x, y, [0.515, 0.80], [0.030, 0.10]).max(ellipse(x, y, [0.70, 0.80], [0.030, 0.10]));
        colour = over(colour, smooth(3.0 * arms), || self.robe.at(0.45 + 0.4 * self.strokes(y, x)));
        let head = ellipse(x, y, [0.60, 0.60], [0.062, 0.088]).max(ellipse(x, y, [0.605, 0.675], [0.035, 0.055]));
        let hands = ellipse(x, y, [0.535, 0.675], [0.020, 0.055]).max(ellipse(x, y, [0.672, 0.67], [0.020, 0.058]));
        let skin = |level: f32| self.flesh.at(level + 0.35 * self.strokes(y, x - 0.3 * y));
        colour = over(colour, smooth(5.0 * head), || skin(mix(0.35, 0.85, head)));
        colour = over(colour, smooth(4.0 * hands), || skin(0.55));
        let eyes = ellipse(x, y, [0.578, 0.588], [0.015, 0.017]).max(ellipse(x, y, [0.625, 0.588], [0.015, 0.017]));
        colour = over(colour, 0.9 * smooth(2.0 * eyes), || lit(self.flesh.at(0.0), 0.5));
        let mouth = ellipse(x, y, [0.604, 0.668], [0.013, 0.026]);
        over(colour, smooth(3.0 * mouth), || self.robe.at(0.1))
    }
}

/// The colour where something that covers the place in part is painted over it; it is only looked at where it is seen.
fn over(below: Colour, covered: f32, above: impl FnOnce() -> Colour) -> Colour {
    if covered > 0.0 { blend(below, above(), covered) } else { below }
}

/// 0 where `distance` is well below 0, 1 where it is well above.
fn edge(distance: f32) -> f32 {
    smooth(distance * 80.0 + 0.5)
}

/// 1 in the middle of an ellipse, 0 on its rim, below 0 outside.
fn ellipse(x: f32, y: f32, centre: [f32; 2], radii: [f32; 2]) -> f32 {
    let [right, down] = [(x - centre[0]) / radii[0], (y - centre[1]) / radii[1]];
    1.0 - (right * right + down * down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_painting_is_the_same_each_time_and_has_no_empty_part() {
        assert_eq!(*painting(), paint());
        for top in (0..HEIGHT - 64).step_by(30) {
            for left in (0..WIDTH - 64).step_by(30) {
                let rows = (top..top + 64).flat_map(|row| &painting().bytes[(row * WIDTH + left) * 3..][..192]);
                let values: Vec<f64> = rows.map(|&byte| f64::from(byte)).collect();
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
                assert!(variance.sqrt() > 10.0, "{top}, {left}: {}", variance.sqrt());
            }
        }
    }
}
