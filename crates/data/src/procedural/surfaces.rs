//! Surfaces that fill a picture: clouds, cloth, stones and hills.

use rand::RngExt;

use super::noise::{Noise, between, direction, mix, smooth, wave};
use super::palette::{Colour, Palette, blend, lit};
use crate::seed::Rng;

/// The colour at a place, x to the right and y down, 0 to 1 over the picture.
pub(super) type Surface = Box<dyn Fn(f32, f32) -> Colour>;

/// Fractal noise, bent by noise: clouds, marble, rust or water.
pub(super) fn clouds(rng: &mut Rng) -> Surface {
    let (noise, palette) = (Noise::new(rng), Palette::random(rng));
    let [across, down] = [between(1.5, 5.0, rng), between(1.5, 5.0, rng)];
    let (bend, relief, n_octaves) = (between(0.0, 1.5, rng), between(0.0, 0.8, rng), rng.random_range(2..6));
    Box::new(move |x, y| {
        let (x, y) = (across * x, down * y);
        let bent = bend * noise.at(0.7 * x + 20.0, 0.7 * y + 9.0);
        let height = |x: f32, y: f32| noise.fractal(x + bent, y - bent, n_octaves);
        let here = height(x, y);
        // What rises towards the upper left is lit from there.
        lit(palette.at(0.5 + 0.9 * here), 1.0 + relief * (here - height(x + 0.15, y + 0.15)))
    })
}

/// Two gratings and noise: cloth, wood, fences or sand.
pub(super) fn cloth(rng: &mut Rng) -> Surface {
    let (noise, palette) = (Noise::new(rng), Palette::random(rng));
    let gratings: [_; 2] = std::array::from_fn(|_| {
        let (cycles, [across, down]) = (between(2.0, 12.0, rng), direction(rng));
        ([cycles * across, cycles * down], between(0.05, 0.4, rng), between(0.0, 1.0, rng))
    });
    let (bend, uneven, size) = (between(0.0, 1.2, rng), between(0.15, 0.5, rng), between(2.0, 6.0, rng));
    Box::new(move |x, y| {
        let bent = bend * noise.fractal(1.5 * x, 1.5 * y, 2);
        let mut level = 0.5 + uneven * noise.fractal(size * x + 30.0, size * y, 4);
        for ([across, down], strength, offset) in gratings {
            level += strength * wave(across * x + down * y + bent + offset);
        }
        palette.at(level)
    })
}

/// Cells about scattered points, each of a colour and with a dark rim: stones, scales, windows or cells.
pub(super) fn stones(rng: &mut Rng) -> Surface {
    let (noise, palette) = (Noise::new(rng), Palette::random(rng));
    let n_cells = rng.random_range(3..9_usize);
    let (disorder, rim) = (between(0.3, 1.0, rng), between(0.1, 0.4, rng));
    let side = n_cells + 4;
    // A point in each square of the grid and of a margin of two squares around it: x, y and the level of its colour.
    let points: Vec<[f32; 3]> = (0..side * side)
        .map(|cell| {
            let [x, y] = [cell % side, cell / side].map(|step| step as f32 + 0.5 + disorder * between(-0.5, 0.5, rng));
            [x, y, between(0.15, 0.95, rng)]
        })
        .collect();
    Box::new(move |x, y| {
        let bent = 0.25 * noise.fractal(5.0 * x, 5.0 * y, 2);
        let (x, y) = (x * n_cells as f32 + 2.0 + bent, y * n_cells as f32 + 2.0 - bent);
        let (mut nearest, mut second, mut level) = (f32::MAX, f32::MAX, 0.0);
        for row in y as usize - 1..=y as usize + 1 {
            for &[point_x, point_y, point_level] in &points[row * side + x as usize - 1..=row * side + x as usize + 1] {
                let distance = ((x - point_x) * (x - point_x) + (y - point_y) * (y - point_y)).sqrt();
                if distance < nearest {
                    (second, nearest, level) = (nearest, distance, point_level);
                } else {
                    second = second.min(distance);
                }
            }
        }
        let grain = 0.2 * noise.fractal(3.0 * x, 3.0 * y, 3);
        lit(palette.at(level + grain), mix(0.35, 1.15 - 0.3 * nearest, smooth((second - nearest) / rim)))
    })
}

/// Ranges of hills, the nearer the darker, below a sky.
pub(super) fn hills(rng: &mut Rng) -> Surface {
    let (noise, sky, land) = (Noise::new(rng), Palette::random(rng), Palette::random(rng));
    let n_ranges = rng.random_range(1..5_usize);
    let (horizon, roughness) = (between(0.2, 0.6, rng), between(0.08, 0.35, rng));
    let (cloudiness, stretch) = (between(0.1, 0.6, rng), between(1.5, 4.0, rng));
    Box::new(move |x, y| {
        let (mut colour, mut unseen) = ([0.0; 3], 1.0);
        let mut add = |part: Colour, covered: f32| {
            colour = std::array::from_fn(|channel| colour[channel] + unseen * covered * part[channel]);
            unseen *= 1.0 - covered;
            unseen
        };
        // From the nearest to the farthest, until nothing behind is seen.
        for range in (0..n_ranges).rev() {
            let (depth, row) = (range as f32 / n_ranges as f32, 11.0 * range as f32 + 0.5);
            let nearness = depth + 1.0 / n_ranges as f32;
            let ridge = mix(horizon, 0.95, depth) + roughness * noise.fractal((1.5 + nearness) * x + row, row, 4);
            let covered = smooth((y - ridge) * 48.0 + 0.5);
            if covered == 0.0 {
                continue;
            }
            // Features shrink with distance, and colours fade into the haze.
            let fineness = 18.0 - 11.0 * nearness;
            let ground = 0.45 - 0.2 * nearness + 0.45 * noise.fractal(fineness * x, 1.6 * fineness * y + row, 3);
            let faded = blend(sky.at(0.95), land.at(ground + 0.5 * (y - ridge)), mix(0.35, 1.0, nearness));
            if add(faded, covered) == 0.0 {
                return colour;
            }
        }
        let cloud = cloudiness * noise.fractal(stretch * x, 2.5 * stretch * y, 4);
        add(sky.at(0.45 + 0.5 * y / horizon + cloud), 1.0);
        colour
    })
}
