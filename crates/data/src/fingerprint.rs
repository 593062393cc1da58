//! What a run keeps of its dataset: the factor space, the shape of the images, and a fingerprint of their pixels.
//!
//! With it the pages of a run need not open the dataset, and a run can tell that it would go on with other images. The
//! fingerprint is a CRC-32 of the number and shape of the images, of the factors' names and sizes, and of the factor
//! values and the pixels image by image, in the order of their numbers. Of a dataset with more than 2^26 pixel values it
//! takes evenly spread images, as many as have that many values: a change in the others alone goes unseen. Pixels are
//! those before standardisation, as bytes where they are bytes. Groups of images are read side by side and joined in
//! order, so threads make no difference.

use crc32fast::Hasher;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::datasets::{Dataset, ImageShape, read_numbered};
use crate::error::{Error, Result};
use crate::factor_space::{Factor, FactorSpace};
use crate::standardised::as_shown;

/// How many pixel values are taken at most (but always one image).
const MOST_VALUES: usize = 1 << 26;
/// Images that are read one after the other by one thread.
const GROUP: usize = 64;

/// What a run keeps of its dataset, as JSON or the like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetRecord {
    /// The row in the list of datasets.
    pub name: String,
    /// The factors in order.
    pub factors: Vec<Factor>,
    /// Whether there is one image for each combination of factors.
    pub is_grid: bool,
    /// How many images there are.
    pub n_images: usize,
    /// The shape of every image.
    pub image_shape: ImageShape,
    /// Whether each pixel is a byte divided by 255, before standardisation.
    pub holds_bytes: bool,
    /// Eight hexadecimal digits that another dataset would hardly have.
    pub fingerprint: String,
}

impl DatasetRecord {
    /// The record of a dataset that was opened under this name.
    pub fn of(name: &str, dataset: &dyn Dataset) -> Result<Self> {
        Ok(Self { fingerprint: fingerprint(dataset)?, ..Self::without_fingerprint(name, dataset) })
    }

    /// The same with an empty fingerprint, for which no image is read.
    pub fn without_fingerprint(name: &str, dataset: &dyn Dataset) -> Self {
        Self {
            name: name.to_string(),
            factors: dataset.factors().factors().to_vec(),
            is_grid: dataset.factors().is_grid(),
            n_images: dataset.n_images(),
            image_shape: dataset.image_shape(),
            holds_bytes: as_shown(dataset).holds_bytes(),
            fingerprint: String::new(),
        }
    }

    /// The factor space; an error where the record is damaged.
    pub fn factor_space(&self) -> Result<FactorSpace> {
        if !self.is_grid {
            return Ok(FactorSpace::sample(self.factors.clone()));
        }
        let combinations = self.factors.iter().try_fold(1_usize, |product, factor| product.checked_mul(factor.size?));
        if combinations != Some(self.n_images) || self.n_images == 0 {
            return Err(Error::new(format!(
                "the record of dataset \"{}\" is damaged: its factors do not have {} combinations",
                self.name, self.n_images
            )));
        }
        let sizes = self.factors.iter().filter_map(|factor| Some((factor.name.as_str(), factor.size?)));
        Ok(FactorSpace::grid(sizes))
    }

    /// An error where `now` is another dataset than this record is of, which says in what they differ.
    pub fn check_same(&self, now: &Self) -> Result<()> {
        let images = |record: &Self| {
            let ImageShape { height, width, channels } = record.image_shape;
            format!("{} images of {height} x {width} x {channels}", record.n_images)
        };
        let factors = |record: &Self| {
            let sizes = record.factors.iter().map(|factor| match factor.size {
                Some(size) => format!("{} ({size})", factor.name),
                None => format!("{} (continuous)", factor.name),
            });
            format!("the factors {}", sizes.collect::<Vec<_>>().join(", "))
        };
        let aspects = |record: &Self| {
            [
                format!("dataset \"{}\"", record.name),
                images(record),
                factors(record),
                format!("images of fingerprint {}", record.fingerprint),
            ]
        };
        match aspects(self).into_iter().zip(aspects(now)).find(|(before, now)| before != now) {
            None => Ok(()),
            Some((before, now)) => Err(Error::new(format!("wanted {before}, found {now}"))
                .help("the run was made with other images: give them back, or start a new run")),
        }
    }
}

/// The fingerprint of a dataset's images, eight hexadecimal digits.
pub fn fingerprint(dataset: &dyn Dataset) -> Result<String> {
    let dataset = as_shown(dataset);
    let (n_images, n_pixels) = (dataset.n_images(), dataset.image_shape().n_pixels());
    let n_taken = n_images.min((MOST_VALUES / n_pixels).max(1));
    // Multiplied in 128 bits: some datasets have 2^36 images.
    let number = |position: usize| (position as u128 * n_images as u128 / n_taken as u128) as usize;
    let groups: Vec<Result<Hasher>> = (0..n_taken.div_ceil(GROUP))
        .into_par_iter()
        .map(|group| {
            let positions = group * GROUP..n_taken.min((group + 1) * GROUP);
            hash_images(dataset, positions.map(number))
        })
        .collect();
    let mut hasher = hash_shape(dataset);
    for group in groups {
        hasher.combine(&group?);
    }
    Ok(format!("{:08x}", hasher.finalize()))
}

fn hash_shape(dataset: &dyn Dataset) -> Hasher {
    let mut hasher = Hasher::new();
    let ImageShape { height, width, channels } = dataset.image_shape();
    for size in [dataset.n_images(), height, width, channels, dataset.factors().n_factors()] {
        hasher.update(&(size as u64).to_le_bytes());
    }
    for factor in dataset.factors().factors() {
        hasher.update(&(factor.name.len() as u64).to_le_bytes());
        hasher.update(factor.name.as_bytes());
        // A continuous factor has no size, and a discrete one at least one value.
        hasher.update(&(factor.size.unwrap_or(0) as u64).to_le_bytes());
    }
    hasher
}

/// Factor values and pixels of these images.
fn hash_images(dataset: &dyn Dataset, numbers: impl Iterator<Item = usize>) -> Result<Hasher> {
    let mut hasher = Hasher::new();
    let mut values = vec![0.0; dataset.factors().n_factors()];
    let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
    let mut bytes = Vec::new();
    for number in numbers {
        dataset.read_factors(number, &mut values);
        read_numbered(dataset, number, &mut pixels)?;
        bytes.clear();
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        match dataset.holds_bytes() {
            true => bytes.extend(pixels.iter().map(|pixel| (pixel * 255.0 + 0.5) as u8)),
            false => bytes.extend(pixels.iter().flat_map(|pixel| pixel.to_le_bytes())),
        }
        hasher.update(&bytes);
    }
    Ok(hasher)
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::datasets::{DATASETS, build};

    /// Images of one byte, as many as there are bytes.
    struct Bytes {
        factors: FactorSpace,
        bytes: Vec<u8>,
    }

    impl Dataset for Bytes {
        fn factors(&self) -> &FactorSpace {
            &self.factors
        }

        fn image_shape(&self) -> ImageShape {
            ImageShape { height: 1, width: 1, channels: 1 }
        }

        fn n_images(&self) -> usize {
            self.bytes.len()
        }

        fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
            pixels[0] = f32::from(self.bytes[index]) / 255.0;
            Ok(())
        }
    }

    fn bytes(name: &str, bytes: &[u8]) -> Bytes {
        Bytes { factors: FactorSpace::grid([(name, bytes.len())]), bytes: bytes.to_vec() }
    }

    fn built(name: &str, settings: &str) -> Box<dyn Dataset> {
        build(name, &settings.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_fingerprint_is_the_checksum_of_what_is_told() {
        // Two images, 1 x 1 x 1, one factor "a" of two values, then (0.0, 7) and (1.0, 9): worked out by Python's zlib.crc32.
        assert_eq!(fingerprint(&bytes("a", &[7, 9])).unwrap(), "74c6dafe");
    }

    #[test]
    fn another_image_another_factor_and_another_order_are_seen() {
        let fingerprints: Vec<String> = [
            bytes("a", &[1, 2, 3]),
            bytes("a", &[1, 2, 4]),
            bytes("a", &[2, 1, 3]),
            bytes("b", &[1, 2, 3]),
            bytes("a", &[1, 2, 3, 4]),
        ]
        .iter()
        .map(|dataset| fingerprint(dataset).unwrap())
        .collect();
        for (position, one) in fingerprints.iter().enumerate() {
            assert!(!fingerprints[..position].contains(one), "{fingerprints:?}");
        }
        // The same images under other factors, other points, and another part of the same grid.
        let differ = |one: Box<dyn Dataset>, other: Box<dyn Dataset>| {
            assert_ne!(fingerprint(&*one).unwrap(), fingerprint(&*other).unwrap());
        };
        differ(built("xy_object", ""), built("xy_object_shaded", ""));
        differ(built("synth_linear", ""), built("synth_linear", "seed = 1"));
        differ(
            built("dsprites", "rendered = true\nfix = { scale = 1 }"),
            built("dsprites", "rendered = true\nfix = { scale = 2 }"),
        );
    }

    #[test]
    fn standardising_leaves_it() {
        let settings = ["fix = { x = 3 }", "fix = { x = 3 }\nstandardise = true"];
        let [plain, standardised] = settings.map(|settings| fingerprint(&*built("xy_object", settings)).unwrap());
        assert_eq!(plain, standardised);
    }

    #[test]
    fn any_number_of_threads_gives_the_same() {
        let with_threads = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| fingerprint(&*built("dsprites", "rendered = true")).unwrap())
        };
        assert_eq!(with_threads(1), with_threads(3));
    }

    #[test]
    fn the_record_of_every_dataset_gives_its_factor_space_again() {
        for entry in DATASETS {
            let dataset = build(entry.name, &entry.example_settings()).unwrap();
            let record = DatasetRecord::of(entry.name, &*dataset).unwrap();
            let text = serde_json::to_string(&record).unwrap();
            let read: DatasetRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(read, record);
            assert_eq!(&read.factor_space().unwrap(), dataset.factors());
        }
        // 64 places on each of six axes: far more images than can be read.
        let large = DatasetRecord::of("xy_squares", &*built("xy_squares", "square_size = 1")).unwrap();
        assert_eq!(large.n_images, 1 << 36);
    }

    #[test]
    fn a_damaged_record_is_refused() {
        let dataset = build("xy_object", &Table::new()).unwrap();
        let mut record = DatasetRecord::of("xy_object", &*dataset).unwrap();
        record.factors[0].size = Some(usize::MAX);
        assert!(record.factor_space().unwrap_err().to_string().contains("is damaged"));
        record.factors[0].size = None;
        assert!(record.factor_space().is_err());
    }

    #[test]
    fn what_differs_is_told() {
        let record = |dataset: &Bytes| DatasetRecord::of("bytes", dataset).unwrap();
        let before = record(&bytes("a", &[1, 2, 3]));
        before.check_same(&before).unwrap();
        let message = |now: &Bytes| before.check_same(&record(now)).unwrap_err().to_string();
        assert!(message(&bytes("a", &[1, 2])).starts_with("wanted 3 images of 1 x 1 x 1, found 2 images of 1 x 1 x 1"));
        assert!(message(&bytes("b", &[1, 2, 3])).starts_with("wanted the factors a (3), found the factors b (3)"));
        assert!(message(&bytes("a", &[1, 2, 4])).starts_with("wanted images of fingerprint "));
    }
}
