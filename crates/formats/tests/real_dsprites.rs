//! The rendered dSprites against published images, where the folder named by `UNBRAID_DATA` has them.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "../../data/tests/outside/mod.rs"]
mod outside;

use rayon::prelude::*;
use toml::Table;
use unbraid_data::Dataset;
use unbraid_data::datasets::build;
use unbraid_data::npy::indices;
use unbraid_formats::npz::Npz;

const N_PIXELS: usize = 64 * 64;

fn dsprites() -> Box<dyn Dataset> {
    build("dsprites", &Table::new()).unwrap()
}

#[test]
fn published_images_are_met_but_for_single_pixels_of_five() {
    let Some(folder) = outside::folder("UNBRAID_DATA") else { return };
    let mut npz = Npz::open(&folder.join("dsprites_real_46080.npz")).unwrap();
    let numbers = indices(&npz.required("index_in_full").unwrap()).unwrap();
    let images = npz.required("images").unwrap();
    assert_eq!(images.shape(), [46_080, 64, 64]);
    let images = images.into_u8().unwrap();

    let dataset = dsprites();
    let pixels_off: Vec<usize> = numbers
        .par_iter()
        .zip(images.par_chunks_exact(N_PIXELS))
        .map_init(
            || vec![0.0; N_PIXELS],
            |pixels, (&number, image)| {
                dataset.read_image(number, pixels).unwrap();
                pixels.iter().zip(image).filter(|(pixel, byte)| **pixel != f32::from(**byte)).count()
            },
        )
        .filter(|&n_off| n_off > 0)
        .collect();
    println!("of {} images {} differ, by {pixels_off:?} pixels", numbers.len(), pixels_off.len());
    assert!(pixels_off.len() <= 5 && pixels_off.iter().all(|&n_off| n_off == 1), "{pixels_off:?}");
}

#[test]
fn the_full_set_has_as_many_white_pixels_as_the_rule_says() {
    let dataset = dsprites();
    let started = std::time::Instant::now();
    let n_white: usize = (0..dataset.n_images())
        .into_par_iter()
        .map_init(
            || vec![0.0; N_PIXELS],
            |pixels, index| {
                dataset.read_image(index, pixels).unwrap();
                pixels.iter().filter(|pixel| **pixel == 1.0).count()
            },
        )
        .sum();
    let rate = dataset.n_images() as f64 / started.elapsed().as_secs_f64();
    println!("{rate:.0} images a second");
    assert_eq!(n_white, 128_328_859);
}
