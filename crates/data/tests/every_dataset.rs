//! Every row of the list of datasets: numbering, shapes, range and determinism of its images, and published constants.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeSet;

use rand::RngExt;
use toml::Table;
use unbraid_data::datasets::{DATASETS, Entry, build, complete};
use unbraid_data::factor_space::{index_of, values_of};
use unbraid_data::stats::channel_stats;
use unbraid_data::{Dataset, Seed};

fn opened(entry: &Entry) -> Box<dyn Dataset> {
    build(entry.name, &entry.example_settings()).unwrap()
}

/// The first and the last image, and 200 between them.
fn some_indices(dataset: &dyn Dataset) -> Vec<usize> {
    let mut rng = Seed(1).stream("indices");
    let mut indices = vec![0, dataset.n_images() - 1];
    indices.extend((0..200).map(|_| rng.random_range(0..dataset.n_images())));
    indices
}

fn image(dataset: &dyn Dataset, index: usize) -> Vec<f32> {
    // Whatever was there before must not shine through.
    let mut pixels = vec![f32::NAN; dataset.image_shape().n_pixels()];
    dataset.read_image(index, &mut pixels).unwrap();
    pixels
}

#[test]
fn names_are_unique_and_everything_is_described() {
    let names: BTreeSet<&str> = DATASETS.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), DATASETS.len());
    assert!(DATASETS.iter().all(|entry| !entry.about.is_empty() && !entry.paper.is_empty()));
}

#[test]
fn numbering_goes_there_and_back() {
    for entry in DATASETS {
        let dataset = opened(entry);
        let mut factors = vec![f64::NAN; dataset.factors().n_factors()];
        let Ok(sizes) = dataset.factors().grid_sizes() else {
            dataset.read_factors(dataset.n_images() - 1, &mut factors);
            assert!(factors.iter().all(|value| value.is_finite()), "{}", entry.name);
            continue;
        };
        assert_eq!(dataset.n_images(), dataset.factors().n_combinations().unwrap(), "{}", entry.name);
        for index in some_indices(&*dataset) {
            let values = values_of(index, &sizes);
            assert_eq!(index_of(&values, &sizes), index);
            dataset.read_factors(index, &mut factors);
            assert!(values.iter().zip(&factors).all(|(&whole, &value)| whole as f64 == value), "{}", entry.name);
        }
    }
}

#[test]
fn pixels_are_bytes_over_255_or_finite() {
    for entry in DATASETS {
        let dataset = opened(entry);
        for index in some_indices(&*dataset) {
            for pixel in image(&*dataset, index) {
                assert!(pixel.is_finite(), "{} has {pixel} in image {index}", entry.name);
                if dataset.holds_bytes() {
                    let byte = (pixel * 255.0).round();
                    assert!((0.0..=255.0).contains(&byte) && byte / 255.0 == pixel, "{} has {pixel}", entry.name);
                }
            }
        }
    }
}

#[test]
fn opening_twice_gives_the_same_images() {
    for entry in DATASETS {
        let [first, second] = [opened(entry), opened(entry)];
        for index in some_indices(&*first) {
            assert_eq!(image(&*first, index), image(&*second, index), "{}", entry.name);
        }
    }
}

#[test]
fn images_differ() {
    for entry in DATASETS {
        let dataset = opened(entry);
        let indices: BTreeSet<usize> = some_indices(&*dataset).into_iter().collect();
        let images: BTreeSet<Vec<u32>> = indices
            .iter()
            .map(|&index| image(&*dataset, index).iter().map(|pixel| pixel.to_bits()).collect())
            .collect();
        assert_eq!(images.len(), indices.len(), "{}", entry.name);
    }
}

#[test]
fn completed_settings_open_the_same_dataset_and_stay_as_they_are() {
    for entry in DATASETS {
        let completed = complete(entry.name, &entry.example_settings()).unwrap();
        assert_eq!(complete(entry.name, &completed).unwrap(), completed, "{}", entry.name);
        let dataset = build(entry.name, &completed).unwrap();
        assert_eq!(dataset.factors(), opened(entry).factors(), "{}", entry.name);
        assert_eq!(image(&*dataset, 9), image(&*opened(entry), 9), "{}", entry.name);
    }
}

#[test]
fn unknown_settings_are_refused() {
    for entry in DATASETS {
        let mut settings = entry.example_settings();
        settings.insert("no_such_setting".to_string(), 1.into());
        let message = build(entry.name, &settings).err().unwrap().to_string();
        assert!(message.contains("no setting \"no_such_setting\""), "{}: {message}", entry.name);
    }
}

#[test]
fn a_part_of_a_dataset_shows_the_images_of_the_whole() {
    let part = build("dsprites", &"rendered = true\nfix = { shape = 2, orientation = 13 }".parse().unwrap()).unwrap();
    let whole = build("dsprites", &"rendered = true".parse().unwrap()).unwrap();
    assert_eq!(part.factors().names().collect::<Vec<_>>(), ["scale", "pos_x", "pos_y"]);
    for index in [0, 999, part.n_images() - 1] {
        let values = values_of(index, &[6, 32, 32]);
        let whole_index = index_of(&[2, values[0], 13, values[1], values[2]], &[3, 6, 40, 32, 32]);
        assert_eq!(image(&*part, index), image(&*whole, whole_index));
    }
}

#[test]
fn shaded_objects_are_the_same_images_number_for_number() {
    let [plain, shaded] = ["xy_object", "xy_object_shaded"].map(|name| build(name, &Table::new()).unwrap());
    assert_eq!(plain.n_images(), shaded.n_images());
    let [mut first, mut second] = [(); 2].map(|()| vec![0.0; plain.image_shape().n_pixels()]);
    for index in 0..plain.n_images() {
        plain.read_image(index, &mut first).unwrap();
        shaded.read_image(index, &mut second).unwrap();
        assert!(first == second, "image {index}");
    }
}

#[test]
fn turning_a_sprite_all_the_way_round_gives_the_same_image() {
    let dataset = build("dsprites", &"rendered = true".parse().unwrap()).unwrap();
    for shape in 0..3 {
        let [first, last] =
            [0, 39].map(|turn| image(&*dataset, index_of(&[shape, 3, turn, 9, 20], &[3, 6, 40, 32, 32])));
        assert_eq!(first, last);
    }
}

/// Published: Michlo, table A.2, and disent's constants for grey squares.
#[test]
fn means_and_deviations_are_the_published_ones() {
    let published = [
        ("xy_squares", "", 0.015625, 0.124034734589209),
        ("xy_squares", "rgb = false", 0.046146392822265625, 0.2096506119375896),
        ("xy_object", "", 0.009818761549013, 0.052632363725246),
        ("xy_object_shaded", "", 0.009818761549013, 0.052632363725246),
    ];
    for (name, settings, mean, image_std) in published {
        let dataset = build(name, &settings.parse().unwrap()).unwrap();
        for stats in channel_stats(&*dataset, None).unwrap() {
            assert!((stats.mean - mean).abs() < 1e-14, "{name} {settings}: {stats:?}");
            assert!((stats.mean_image_std - image_std).abs() < 1e-14, "{name} {settings}: {stats:?}");
        }
    }
}

#[test]
fn statistics_do_not_depend_on_the_number_of_threads() {
    let dataset = build("xy_object", &Table::new()).unwrap();
    let indices: Vec<usize> = (0..5000).map(|row| row * 13).collect();
    let with_threads = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| channel_stats(&*dataset, Some(&indices)).unwrap())
    };
    assert_eq!(with_threads(1), with_threads(3));
}
