//! Which images are compared: groups of images, all pairs of each.
//!
//! Along a factor a group is a traversal: images that are alike in all other factors (T1 equation 3.6). Of a grid all traversals are known;
//! of other images they are those whose other factors are equal. At random a group is some images drawn without replacement, so that
//! each pair in it is two independent images that differ (T1 equation 3.10).

use rand::RngExt;
use rand::seq::{SliceRandom, index};
use unbraid_data::{Dataset, Rng, Seed, datasets};

/// Images of a random group: many pairs for each image that is read, and still thousands of independent images.
pub const GROUP: usize = 64;
/// Longer traversals are cut into random groups: a class of a labelled sample may have thousands of images.
const LONGEST: usize = 256;

/// Numbers that the images of a group have at most: each thread holds those of one group, three times.
const MOST_NUMBERS: usize = 1 << 25;

/// Groups of images whose pairs are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The images of each.
    pub of_images: Vec<Vec<usize>>,
    /// Whether these are all that there are, with all their images.
    pub are_all: bool,
    /// How many values the factor has, where each group has an image of each, in their order.
    pub n_values: Option<usize>,
}

impl Groups {
    /// Traversals of a factor, in a random order: all where they have at most `most_pairs` pairs, else as many as have about `n_pairs`, or up to
    /// four times as many so that there are 2,048 traversals.
    pub fn along(dataset: &dyn Dataset, factor: usize, limits: Limits, seed: Seed) -> Result<Self, String> {
        let mut rng = seed.stream_at("traversals", factor as u64);
        let longest = LONGEST.min(most_images(dataset));
        match dataset.factors().numbering() {
            Ok(numbering) => {
                let size = numbering.sizes()[factor];
                if size < 2 {
                    return Err("it has a single value".to_string());
                }
                let stride: usize = numbering.sizes()[factor + 1..].iter().product();
                let image = |traversal: usize, value: usize| {
                    traversal / stride * stride * size + traversal % stride + value * stride
                };
                // A long traversal is cut into pieces of random values.
                let piece = if size <= longest { size } else { GROUP.min(longest) };
                let (n_traversals, n_pieces) = (numbering.n_images() / size, size / piece);
                let n_groups = n_traversals * n_pieces;
                let n_taken = limits.n_groups(n_groups, n_pairs(piece));
                let of_images = index::sample(&mut rng, n_groups, n_taken).into_iter().map(|group| {
                    let (traversal, place) = (group / n_pieces, group % n_pieces * piece);
                    let mut values: Vec<usize> = (0..size).collect();
                    if piece < size {
                        values.shuffle(&mut seed.stream_at("values", traversal as u64));
                    }
                    values[place..place + piece].iter().map(|&value| image(traversal, value)).collect()
                });
                let are_all = n_taken == n_groups && piece == size;
                Ok(Self { of_images: of_images.collect(), are_all, n_values: (piece == size).then_some(size) })
            }
            Err(_) => {
                let classes = classes_of_others(dataset, factor);
                let are_whole = classes.iter().all(|images| images.len() <= longest);
                let groups: Vec<Vec<usize>> =
                    classes.into_iter().flat_map(|images| cut(images, longest, &mut rng)).collect();
                let Some(most) = groups.iter().map(Vec::len).max() else {
                    return Err("no two images differ in this factor alone".to_string());
                };
                let n_taken = limits.n_groups(groups.len(), n_pairs(most));
                let are_all = n_taken == groups.len() && are_whole;
                let taken = index::sample(&mut rng, groups.len(), n_taken).into_iter();
                Ok(Self { of_images: taken.map(|group| groups[group].clone()).collect(), are_all, n_values: None })
            }
        }
    }

    /// All images as one group where they have at most `most_pairs` pairs, else random groups with about `n_pairs`.
    pub fn at_random(dataset: &dyn Dataset, limits: Limits, seed: Seed) -> Self {
        let (n_images, most_images) = (dataset.n_images(), most_images(dataset));
        let are_few = n_images <= GROUP || n_pairs(n_images) <= limits.most_pairs.min(MOST_IN_ONE);
        if are_few && n_images <= most_images {
            return Self { of_images: vec![(0..n_images).collect()], are_all: true, n_values: None };
        }
        let size = GROUP.min(most_images).min(n_images);
        let draw = |group: usize| {
            let mut rng = seed.stream_at("random images", group as u64);
            let mut images: Vec<usize> = Vec::with_capacity(size);
            while images.len() < size {
                let image = rng.random_range(0..n_images as u64) as usize;
                if !images.contains(&image) {
                    images.push(image);
                }
            }
            images
        };
        let n_groups = limits.n_pairs.div_ceil(n_pairs(size)).max(1);
        Self { of_images: (0..n_groups).map(draw).collect(), are_all: false, n_values: None }
    }
}

/// How many images a group may have, whatever else: two at least.
fn most_images(dataset: &dyn Dataset) -> usize {
    (MOST_NUMBERS / dataset.image_shape().n_pixels().max(1)).max(2)
}

/// One group is compared on one thread, so that it must not be too large: 2,048 images.
const MOST_IN_ONE: usize = 2048 * 2047 / 2;
/// Fewer traversals would say too little of all.
const LEAST_TRAVERSALS: usize = 2048;

/// How many pairs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// As many are drawn, about, where not all are taken.
    pub n_pairs: usize,
    /// All are taken where there are no more than this.
    pub most_pairs: usize,
}

impl Limits {
    fn n_groups(self, n_all: usize, n_pairs_each: usize) -> usize {
        if n_all.saturating_mul(n_pairs_each) <= self.most_pairs {
            return n_all;
        }
        let least = LEAST_TRAVERSALS.min(self.n_pairs.saturating_mul(4) / n_pairs_each);
        self.n_pairs.div_ceil(n_pairs_each).max(least).min(n_all)
    }
}

/// Images that differ in one factor as they are, or in random groups where they are too many.
fn cut(mut images: Vec<usize>, longest: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    if images.len() <= longest {
        return vec![images];
    }
    images.shuffle(rng);
    images.chunks(GROUP.min(longest)).filter(|group| group.len() > 1).map(<[usize]>::to_vec).collect()
}

fn n_pairs(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

/// Images that are alike in all other factors, and of which two differ in this one.
fn classes_of_others(dataset: &dyn Dataset, factor: usize) -> Vec<Vec<usize>> {
    let n_factors = dataset.factors().n_factors();
    let numbers: Vec<usize> = (0..dataset.n_images()).collect();
    let table = datasets::read_factors(dataset, &numbers); // [images, factors]
    let others = |image: usize| (0..n_factors).filter(move |other| *other != factor).map(move |other| (image, other));
    let by_others = |a: &usize, b: &usize| {
        let places = others(*a).zip(others(*b));
        let mut orders = places.map(|(a, b)| table[a].total_cmp(&table[b]));
        orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    };
    let mut images = numbers;
    images.sort_by(|a, b| by_others(a, b).then(a.cmp(b)));
    let classes = images.chunk_by(|a, b| by_others(a, b).is_eq());
    let differs = |class: &&[usize]| class.iter().any(|image| table[(*image, factor)] != table[(class[0], factor)]);
    classes.filter(differs).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;

    const ALL: Limits = Limits { n_pairs: 10, most_pairs: usize::MAX };

    #[test]
    fn traversals_of_a_grid_differ_in_their_factor_alone() {
        let dataset = datasets::build("xy_squares", &"squares = 1\nspacing = 14".parse().unwrap()).unwrap();
        let mut rows = Groups::along(&*dataset, 0, ALL, Seed(1)).unwrap().of_images;
        rows.sort();
        assert_eq!(rows[0], [0, 5, 10, 15, 20]);
        assert_eq!((rows.len(), rows[4].clone()), (5, vec![4, 9, 14, 19, 24]));
        let columns = Groups::along(&*dataset, 1, ALL, Seed(1)).unwrap();
        assert!(columns.are_all && columns.of_images.contains(&vec![5, 6, 7, 8, 9]));
    }

    #[test]
    fn fewer_are_drawn_where_there_are_many() {
        let dataset = datasets::build("xy_squares", &Table::new()).unwrap();
        let limits = Limits { n_pairs: 28_000, most_pairs: 0 };
        let groups = Groups::along(&*dataset, 2, limits, Seed(1)).unwrap();
        assert_eq!((groups.of_images.len(), groups.are_all), (2048, false));
        let random = Groups::at_random(&*dataset, limits, Seed(1));
        assert_eq!((random.of_images.len(), random.are_all), (14, false));
        assert!(random.of_images.iter().all(|images| images.len() == GROUP));
    }

    #[test]
    fn a_sample_is_grouped_by_its_other_factors() {
        let settings = "squares = 1\nspacing = 14\nsubset = { count = 20, seed = 1 }".parse().unwrap();
        let dataset = datasets::build("xy_squares", &settings).unwrap();
        assert!(!dataset.factors().is_grid());
        let groups = Groups::along(&*dataset, 0, ALL, Seed(1)).unwrap();
        for images in &groups.of_images {
            let table = datasets::read_factors(&*dataset, images);
            assert!(images.len() > 1 && table.column(1).iter().all(|value| *value == table[(0, 1)]));
        }
        // Points in the plane share no coordinate.
        let points = datasets::build("synth_linear", &Table::new()).unwrap();
        assert_eq!(Groups::along(&*points, 0, ALL, Seed(1)).unwrap_err(), "no two images differ in this factor alone");
    }

    #[test]
    fn a_sample_of_one_factor_is_cut_into_groups() {
        let settings =
            "squares = 1\nspacing = 1\nfix = { y_R = 3 }\nsubset = { count = 50, seed = 1 }".parse().unwrap();
        let dataset = datasets::build("xy_squares", &settings).unwrap();
        let whole = Groups::along(&*dataset, 0, ALL, Seed(1)).unwrap();
        assert_eq!((whole.of_images.len(), whole.are_all, whole.n_values), (1, true, None));
        let mut cut = cut((0..300).collect(), 256, &mut Seed(1).stream("cut"));
        assert_eq!(cut.iter().map(Vec::len).collect::<Vec<_>>(), [64, 64, 64, 64, 44]);
        let mut images = cut.concat();
        images.sort_unstable();
        assert_eq!(images, (0..300).collect::<Vec<_>>());
        assert_ne!(cut.remove(0), (0..64).collect::<Vec<_>>());
    }

    #[test]
    fn long_traversals_are_fewer() {
        // 780 pairs each: 336 for so many pairs, but four times as many pairs for more traversals.
        let limits = Limits { n_pairs: 262_144, most_pairs: 0 };
        assert_eq!(limits.n_groups(18_432, 780), 1344);
        assert_eq!(limits.n_groups(18_432, 28), 9363);
        assert_eq!(Limits { n_pairs: 100, most_pairs: 0 }.n_groups(18_432, 780), 1);
    }
}
