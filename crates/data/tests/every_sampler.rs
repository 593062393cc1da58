//! Every row of the list of samplers: how many images it draws, that they exist, and that a seed fixes them.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeSet;
use std::sync::Arc;

use toml::Table;
use unbraid_data::samplers::{Entry, Example, SAMPLERS, build, complete};
use unbraid_data::split::Fractions;
use unbraid_data::{FactorSpace, Rng, Sampler, Seed, Split};

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
    (0..6000).map(|draw| drawn(sampler, draw % N_IMAGES, &mut rng)).collect()
}

fn drawn(sampler: &dyn Sampler, anchor: usize, rng: &mut Rng) -> Vec<usize> {
    let mut example = Example::new(sampler.arity());
    sampler.draw(anchor, rng, &mut example).unwrap();
    example.images
}

#[test]
fn names_are_unique_and_everything_is_described() {
    let names: BTreeSet<&str> = SAMPLERS.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), SAMPLERS.len());
    assert!(SAMPLERS.iter().all(|entry| !entry.about.is_empty() && !entry.paper.is_empty()));
    assert!(SAMPLERS.iter().all(|entry| entry.members.len() == built(entry).arity()));
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
fn an_example_says_what_is_shared_where_the_sampler_tells_it() {
    for entry in SAMPLERS {
        let mut example = Example::new(entry.members.len());
        built(entry).draw(7, &mut Seed(1).stream("draws"), &mut example).unwrap();
        assert_eq!(example.shared.is_some(), entry.tells_shared, "{}", entry.name);
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
            let example = drawn(&*sampler, anchor, &mut rng);
            assert!(example.iter().all(|&image| split.train().contains(image)), "{}: {example:?}", entry.name);
        }
    }
}

#[test]
fn every_image_is_drawn_as_every_member() {
    for entry in SAMPLERS {
        let sampler = built(entry);
        for (member, counts) in counts_of_members(&*sampler).iter().enumerate() {
            assert!(counts.iter().all(|&count| count > 0), "{} {member}: {counts:?}", entry.name);
        }
    }
}

#[test]
fn every_image_is_drawn_about_equally_often() {
    // Each of 60 images is drawn 100 times in expectation; 50 is more than five deviations away. Not so the members of others: images
    // amid the others are near more anchors, and a transition that cannot leave the grid turns back at its edge.
    for entry in SAMPLERS.iter().filter(|entry| ["single", "pair", "shared_pair"].contains(&entry.name)) {
        for counts in counts_of_members(&*built(entry)) {
            assert!(counts.iter().all(|count| (51..150).contains(count)), "{}: {counts:?}", entry.name);
        }
    }
    // Where ties are kept, positive and negative together are two uniform draws: 200 of each image in expectation.
    let triplets = build("triplet", &"ties = 'keep'".parse().unwrap(), &space(), &all()).unwrap();
    let counts = counts_of_members(&*triplets);
    let both: Vec<usize> = counts[1].iter().zip(&counts[2]).map(|(positive, negative)| positive + negative).collect();
    assert!(both.iter().all(|count| (130..270).contains(count)), "{both:?}");
    // Where every factor goes round, no value is at an edge.
    let round = "wrap = ['shape', 'x', 'y']".parse().unwrap();
    let counts = counts_of_members(&*build("temporal", &round, &space(), &all()).unwrap());
    assert!(counts[1].iter().all(|count| (51..150).contains(count)), "{counts:?}");
}

/// How often each image was drawn as each member, `[arity][images]`.
fn counts_of_members(sampler: &dyn Sampler) -> Vec<[usize; N_IMAGES]> {
    let mut counts = vec![[0; N_IMAGES]; sampler.arity()];
    for example in draws(sampler, 3) {
        counts.iter_mut().zip(example).for_each(|(of_member, image)| of_member[image] += 1);
    }
    counts
}

#[test]
fn an_example_follows_from_its_stream_and_its_anchor_alone() {
    for entry in SAMPLERS {
        let sampler = built(entry);
        let example = |anchor: usize| drawn(&*sampler, anchor, &mut Seed(1).stream_at("draws", 7));
        let first: Vec<Vec<usize>> = (0..N_IMAGES).map(example).collect();
        let backwards: Vec<Vec<usize>> = (0..N_IMAGES).rev().map(example).collect();
        assert!(first.iter().eq(backwards.iter().rev()), "{}", entry.name);
    }
}

#[test]
fn only_shared_pairs_tell_a_shared_factor() {
    for entry in SAMPLERS {
        let sampler = built(entry);
        let mut example = Example::new(sampler.arity());
        sampler.draw(0, &mut Seed(1).stream("draws"), &mut example).unwrap();
        assert_eq!(example.shared.is_some(), entry.name == "shared_pair", "{}", entry.name);
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
