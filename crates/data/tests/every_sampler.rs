//! Every row of the list of samplers: how many images it draws, that they exist, and that a seed fixes them.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeSet;
use std::sync::Arc;

use toml::Table;
use unbraid_data::samplers::{Entry, SAMPLERS, build, complete};
use unbraid_data::split::Fractions;
use unbraid_data::{FactorSpace, Sampler, Seed, Split};

const N_IMAGES: usize = 60;

fn space() -> FactorSpace {
    FactorSpace::grid([("shape", 3), ("x", 5), ("y", 4)])
}

fn all() -> Arc<Split> {
    Arc::new(Split::all(N_IMAGES))
}

fn built(entry: &Entry) -> Box<dyn Sampler> {
    build(entry.name, &Table::new(), &space(), &all()).unwrap()
}

fn draws(sampler: &dyn Sampler, seed: u64) -> Vec<Vec<usize>> {
    let mut rng = Seed(seed).stream("draws");
    (0..6000).map(|draw| sampler.draw(draw % N_IMAGES, &mut rng).unwrap()).collect()
}

#[test]
fn names_are_unique_and_everything_is_described() {
    let names: BTreeSet<&str> = SAMPLERS.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), SAMPLERS.len());
    assert!(SAMPLERS.iter().all(|entry| !entry.about.is_empty() && !entry.paper.is_empty()));
}

#[test]
fn an_example_begins_with_its_anchor_and_has_as_many_images_as_it_says() {
    for entry in SAMPLERS {
        let sampler = built(entry);
        for (draw, example) in draws(&*sampler, 1).iter().enumerate() {
            assert_eq!((example.len(), example[0]), (sampler.arity(), draw % N_IMAGES), "{}", entry.name);
            assert!(example.iter().all(|&image| image < N_IMAGES), "{}", entry.name);
        }
    }
}

#[test]
fn the_same_seed_draws_the_same_examples_and_another_seed_others() {
    for entry in SAMPLERS {
        let sampler = built(entry);
        assert_eq!(draws(&*sampler, 1), draws(&*sampler, 1), "{}", entry.name);
        if sampler.arity() > 1 {
            assert_ne!(draws(&*sampler, 1), draws(&*sampler, 2), "{}", entry.name);
        }
    }
}

#[test]
fn only_train_images_are_drawn() {
    let split = Split::new(N_IMAGES, &Fractions { train: 0.5, ..Fractions::default() }).unwrap();
    let split = Arc::new(split);
    for entry in SAMPLERS {
        let sampler = build(entry.name, &Table::new(), &space(), &split).unwrap();
        let mut rng = Seed(1).stream("draws");
        for anchor in split.train().numbers() {
            let example = sampler.draw(anchor, &mut rng).unwrap();
            assert!(example.iter().all(|&image| split.train().contains(image)), "{}: {example:?}", entry.name);
        }
    }
}

#[test]
fn every_image_is_drawn_about_equally_often() {
    // Each of 60 images is drawn 100 times in expectation; 50 is more than five deviations away.
    for entry in SAMPLERS {
        let sampler = built(entry);
        let drawn = draws(&*sampler, 3);
        for member in 0..sampler.arity() {
            let mut counts = [0_usize; N_IMAGES];
            drawn.iter().for_each(|example| counts[example[member]] += 1);
            assert!(counts.iter().all(|count| (51..150).contains(count)), "{}: {counts:?}", entry.name);
        }
    }
}

#[test]
fn completed_settings_build_the_same_sampler_and_stay_as_they_are() {
    for entry in SAMPLERS {
        let completed = complete(entry.name, &Table::new()).unwrap();
        assert_eq!(complete(entry.name, &completed).unwrap(), completed, "{}", entry.name);
        let sampler = build(entry.name, &completed, &space(), &all()).unwrap();
        assert_eq!(draws(&*sampler, 1), draws(&*built(entry), 1), "{}", entry.name);
    }
}

#[test]
fn unknown_settings_are_refused() {
    for entry in SAMPLERS {
        let settings = "no_such_setting = 1".parse().unwrap();
        let message = build(entry.name, &settings, &space(), &all()).err().unwrap().to_string();
        assert!(message.contains("no setting \"no_such_setting\""), "{}: {message}", entry.name);
    }
}
