//! Files in the formats of published datasets and of one's own, written by other tools, are read as these say
//! (`reference/datasets`).

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod outside;

use std::path::{Path, PathBuf};

use unbraid_data::Dataset;
use unbraid_data::datasets::{build, read_factors, read_images};
use unbraid_data::files::npz::Npz;
use unbraid_data::files::picture::Picture;
use unbraid_data::files::resize::resized;
use unbraid_data::npy::{NpyArray, indices};
use unbraid_data::stats::channel_stats;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/datasets")
}

fn opened(name: &str, path: &str, others: &str) -> Box<dyn Dataset> {
    let settings = format!("path = '{}'\n{others}", fixtures().join(path).display()).parse().unwrap();
    build(name, &settings).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What a reader must give back.
struct Expected(Npz);

impl Expected {
    fn open(name: &str) -> Self {
        Self(Npz::open(&fixtures().join(format!("{name}.expected.npz"))).unwrap())
    }

    fn array(&mut self, name: &str) -> NpyArray {
        self.0.required(name).unwrap()
    }

    fn images(&mut self) -> Vec<f32> {
        let images = self.array("images");
        match images.clone().into_u8() {
            Ok(bytes) => bytes.into_iter().map(|byte| f32::from(byte) / 255.0).collect(),
            Err(_) => images.to_f64().unwrap().into_iter().map(|value| value as f32).collect(),
        }
    }
}

/// Images, factors, order and statistics are those that are expected; pixels may be off by `tolerance`.
fn check(dataset: &dyn Dataset, expected: &str, tolerance: f32) {
    let place = expected;
    let mut expected = Expected::open(expected);
    let shape = expected.array("images").shape().to_vec();
    let (n_images, found) = (dataset.n_images(), dataset.image_shape());
    assert_eq!([n_images, found.height, found.width, found.channels], shape[..], "{place}");
    let numbers: Vec<usize> = (0..n_images).collect();
    let images = read_images(dataset, &numbers).unwrap();
    let furthest = images.iter().zip(expected.images()).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
    assert!(furthest <= tolerance, "{place}: pixels are off by {furthest}");
    let names: Vec<&str> = dataset.factors().names().collect();
    let factors = read_factors(dataset, &numbers);
    if expected.0.names().contains(&"factors".to_string()) {
        assert_eq!(factors.iter().copied().collect::<Vec<_>>(), expected.array("factors").to_f64().unwrap(), "{place}");
        let sizes: Vec<usize> = dataset.factors().factors().iter().map(|factor| factor.size.unwrap_or(0)).collect();
        assert_eq!(sizes, indices(&expected.array("factor_sizes")).unwrap(), "{place}");
        assert_eq!(names, expected.array("factor_names").to_text().unwrap(), "{place}");
    } else {
        assert!(names.is_empty(), "{place}");
    }
    let stats = channel_stats(dataset, None).unwrap();
    for (array, of) in [
        ("mean", stats.iter().map(|stats| stats.mean).collect::<Vec<_>>()),
        ("std", stats.iter().map(|stats| stats.std).collect()),
        ("mean_image_std", stats.iter().map(|stats| stats.mean_image_std).collect()),
    ] {
        let wanted = expected.array(array).to_f64().unwrap();
        let close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-9 + f64::from(tolerance);
        assert!(of.iter().zip(&wanted).all(close), "{place}: {array} {of:?}, wanted {wanted:?}");
    }
}

#[test]
fn sprites_are_read_from_both_published_files() {
    check(&*opened("dsprites", "dsprites.npz", ""), "dsprites", 0.0);
    check(&*opened("dsprites", "dsprites.hdf5", ""), "dsprites", 0.0);
}

#[test]
fn rooms_are_read_in_every_layout_of_hdf5() {
    check(&*opened("shapes3d", "shapes3d.h5", ""), "shapes3d", 0.0);
    check(&*opened("shapes3d", "shapes3d_rows.h5", ""), "shapes3d", 0.0);
    check(&*opened("shapes3d", "shapes3d_plain.h5", ""), "shapes3d_plain", 0.0);
}

#[test]
fn mpi3d_is_read_stored_and_compressed() {
    for name in ["mpi3d_toy", "mpi3d_realistic", "mpi3d_real", "mpi3d_complex"] {
        for path in ["mpi3d.npz", "mpi3d_compressed.npz"] {
            check(&*opened(name, path, "factor_sizes = [2, 2, 1, 1, 2, 3, 3]"), "mpi3d", 0.0);
        }
    }
}

#[test]
fn cars_are_numbered_by_elevation_azimuth_and_car() {
    check(&*opened("cars3d", "cars3d", ""), "cars3d", 0.0);
}

#[test]
fn toys_are_numbered_by_their_factors() {
    check(&*opened("smallnorb", "smallnorb", ""), "smallnorb_train", 0.0);
    check(&*opened("smallnorb", "smallnorb", "part = 'test'"), "smallnorb_test", 0.0);
}

#[test]
fn digits_are_read_gzipped_and_not() {
    check(&*opened("mnist", "mnist", ""), "mnist_train", 0.0);
    check(&*opened("mnist", "mnist", "part = 'test'"), "mnist_test", 0.0);
    check(&*opened("mnist", "mnist_raw", ""), "mnist_train", 0.0);
}

/// The published test set: the first picture is an ankle boot, and the mean of all pixels is known.
#[test]
fn clothes_are_those_that_were_published() {
    let Some(folder) = outside::folder("UNBRAID_DATA") else { return };
    let path = folder.join("fashion-mnist");
    let settings = format!("part = 'test'\npath = '{}'", path.display()).parse().unwrap();
    let dataset = build("fashion_mnist", &settings).unwrap();
    assert_eq!((dataset.n_images(), read_factors(&*dataset, &[0])[[0, 0]]), (10_000, 9.0));
    let mean = channel_stats(&*dataset, None).unwrap()[0].mean;
    assert!((mean - 0.286_849_3).abs() < 1e-7, "{mean}");
}

#[test]
fn numbered_pictures_are_read_in_the_order_of_their_numbers() {
    check(&*opened("falcor3d", "falcor3d", "factor_sizes = [2, 2, 2, 1, 1, 2, 1]"), "falcor3d", 0.0);
    check(&*opened("isaac3d", "isaac3d", "factor_sizes = [2, 1, 2, 2, 1, 1, 1, 1, 2]"), "isaac3d", 0.0);
}

#[test]
fn faces_are_read_with_their_attributes() {
    // Decoders of JPEG round in different ways.
    check(&*opened("celeba", "celeba", ""), "celeba", 3.1 / 255.0);
    let dataset = opened("celeba", "celeba", "size = 64");
    assert_eq!((dataset.image_shape().height, dataset.image_shape().width), (64, 64));
}

#[test]
fn ones_own_arrays_are_read_with_and_without_factors() {
    for name in ["own", "own_factors", "own_text", "own_continuous"] {
        check(&*opened("npz", &format!("{name}.npz"), ""), name, 0.0);
    }
}

#[test]
fn pictures_of_a_folder_are_read_in_every_format() {
    let dataset = opened("folder", "folder", "crop = 'none'\ncsv = '../../reference/datasets/folder/factors.csv'");
    let mut expected = Expected::open("folder");
    let names = expected.array("names").to_text().unwrap();
    assert_eq!(dataset.n_images(), names.len());
    let wanted = expected.array("resized").into_u8().unwrap();
    let shape = dataset.image_shape();
    assert_eq!((shape.height, shape.width, shape.channels), (64, 64, 3));
    let mut pixels = vec![0.0; shape.n_pixels()];
    for (number, (name, wanted)) in names.iter().zip(wanted.chunks_exact(shape.n_pixels())).enumerate() {
        assert!(dataset.image_name(number).unwrap().ends_with(name.as_str()));
        dataset.read_image(number, &mut pixels).unwrap();
        let off = pixels.iter().zip(wanted).fold(0.0_f32, |most, (a, b)| most.max((a * 255.0 - f32::from(*b)).abs()));
        let tolerance = if name.ends_with("jpg") || name.ends_with("jpeg") { 3.1 } else { 0.01 };
        assert!(off <= tolerance, "{name} is off by {off}");
    }
    let factors = read_factors(&*dataset, &(0..names.len()).collect::<Vec<_>>());
    let classes = expected.array("classes").to_f64().unwrap();
    assert_eq!(factors.column(0).to_vec(), classes);
    let told: Vec<f64> = factors.columns().into_iter().skip(1).flat_map(|column| column.to_vec()).collect();
    let table = expected.array("factors").to_table().unwrap();
    assert_eq!(told, table.columns().into_iter().flat_map(|column| column.to_vec()).collect::<Vec<_>>());
}

#[test]
fn images_are_resized_to_the_byte_as_pillow_does() {
    let mut npz = Npz::open(&fixtures().join("resized.npz")).unwrap();
    let n_pairs = npz.names().len() / 2;
    assert!(n_pairs >= 6);
    for pair in 0..n_pairs {
        let [from, to] = ["in", "out"].map(|kind| npz.required(&format!("{kind}_{pair}")).unwrap());
        let &[height, width, channels] = from.shape() else { panic!("{:?}", from.shape()) };
        let shape = to.shape().to_vec();
        let picture = Picture { height, width, channels, bytes: from.into_u8().unwrap() };
        let found = resized(&picture, shape[0], shape[1]).bytes;
        assert!(found == to.into_u8().unwrap(), "{height} x {width} x {channels}");
    }
}
