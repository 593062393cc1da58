//! The rendered dSprites against published images, where the folder named by `UNBRAID_DATA` has them.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "../../data/tests/outside/mod.rs"]
mod outside;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use toml::Table;
use unbraid_data::Dataset;
use unbraid_data::datasets::build;
use unbraid_data::npy::{indices, write_header};
use unbraid_formats::npz::Npz;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const N_PIXELS: usize = 64 * 64;

fn dsprites() -> Box<dyn Dataset> {
    build("dsprites", &Table::from_iter([("rendered".to_string(), true.into())])).unwrap()
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

/// The published images at hand, in the layout of the published file.
fn published_file(folder: &Path, images: &[u8], factors: &[i64]) -> PathBuf {
    let path = folder.join("dsprites.npz");
    let mut zip = ZipWriter::new(File::create(&path).unwrap());
    let mut add = |name: &str, descr: &str, shape: &[usize], bytes: &[u8]| {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        write_header(&mut zip, descr, shape).unwrap();
        zip.write_all(bytes).unwrap();
    };
    let n_images = factors.len() / 5;
    add("imgs", "|u1", &[n_images, 64, 64], images);
    // The colour comes first, and is always 0.
    let with_colour = factors.chunks_exact(5).flat_map(|row| std::iter::once(0).chain(row.iter().copied()));
    let classes: Vec<u8> = with_colour.flat_map(i64::to_le_bytes).collect();
    add("latents_classes", "<i8", &[n_images, 6], &classes);
    zip.finish().unwrap();
    path
}

#[test]
fn the_file_and_the_rendering_are_one_dataset() {
    let Some(folder) = outside::folder("UNBRAID_DATA") else { return };
    let mut npz = Npz::open(&folder.join("dsprites_real_46080.npz")).unwrap();
    let numbers = indices(&npz.required("index_in_full").unwrap()).unwrap();
    let factors = npz.required("factors").unwrap().to_i64().unwrap();
    let images = npz.required("images").unwrap().into_u8().unwrap();
    let place = tempfile::tempdir().unwrap();
    let path = published_file(place.path(), &images, &factors);
    let read = build("dsprites", &format!("path = '{}'", path.display()).parse().unwrap()).unwrap();
    assert_eq!(read.factors().grid_sizes().unwrap(), [3, 6, 10, 16, 16]);
    let rendered = dsprites();
    let mut off = Vec::new();
    let [mut one, mut other] = [(); 2].map(|()| vec![0.0; N_PIXELS]);
    for (index, &number) in numbers.iter().enumerate() {
        read.read_image(index, &mut one).unwrap();
        rendered.read_image(number, &mut other).unwrap();
        off.extend(Some(one.iter().zip(&other).filter(|(a, b)| a != b).count()).filter(|&count| count > 0));
    }
    assert!(off.len() <= 5 && off.iter().all(|&count| count == 1), "{off:?}");
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
