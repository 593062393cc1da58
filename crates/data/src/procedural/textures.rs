//! A set of colour textures with structure at all sizes, as photographs have it: clouds, cloth, stones, hills, leaves,
//! and things before a background. They stand in for the photographs of Tiny ImageNet where no folder is given.

use std::sync::OnceLock;

use rand::RngExt;

use super::noise::{between, direction};
use super::palette::{bytes, lit};
use super::shapes::{leaves, things};
use super::surfaces::{Surface, cloth, clouds, hills, stones};
use crate::seed::{Rng, Seed};

/// Height and width of a texture.
const SIZE: usize = 64;
/// How many there are.
pub const N_TEXTURES: usize = 512;

/// Texture `number`, `[64, 64, 3]`. Each is made once, when first asked for, and is always the same.
pub fn texture(number: usize) -> &'static [u8] {
    static TEXTURES: [OnceLock<Vec<u8>>; N_TEXTURES] = [const { OnceLock::new() }; N_TEXTURES];
    TEXTURES[number].get_or_init(|| make(number))
}

fn make(number: usize) -> Vec<u8> {
    let mut rng = Seed(0).stream_at("textures", number as u64);
    let kinds: [fn(&mut Rng) -> Surface; 7] = [clouds, cloth, stones, hills, leaves, things, things];
    let surface = kinds[number % kinds.len()](&mut rng);
    // Light falls from one side, and a camera adds grain.
    let [across, down] = direction(&mut rng).map(|part| part * between(0.0, 0.5, &mut rng));
    let grain = between(0.0, 0.05, &mut rng);
    let exposure = between(0.85, 1.2, &mut rng);
    let mut pixels = Vec::with_capacity(SIZE * SIZE * 3);
    for place in 0..SIZE * SIZE {
        let [x, y] = [place % SIZE, place / SIZE].map(|step| (step as f32 + 0.5) / SIZE as f32);
        let light = exposure * (1.0 + across * (x - 0.5) + down * (y - 0.5)) + grain * (rng.random::<f32>() - 0.5);
        pixels.extend(bytes(lit(surface(x, y), light)));
    }
    pixels
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn textures_differ_and_are_the_same_each_time() {
        let all: BTreeSet<&[u8]> = (0..N_TEXTURES).map(texture).collect();
        assert_eq!(all.len(), N_TEXTURES);
        assert!(all.iter().all(|texture| texture.len() == SIZE * SIZE * 3));
        assert_eq!(texture(300), make(300));
    }

    #[test]
    fn every_texture_has_light_and_dark_places() {
        for number in 0..N_TEXTURES {
            let values: Vec<f64> = texture(number).iter().map(|&byte| f64::from(byte)).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
            assert!((10.0..245.0).contains(&mean) && variance.sqrt() > 10.0, "{number}: {mean}, {}", variance.sqrt());
        }
    }
}
