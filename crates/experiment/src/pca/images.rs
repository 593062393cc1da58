//! The images that components are taken of, as rows of numbers.

use rand::seq::index;
use unbraid_data::datasets::read_images;
use unbraid_data::words::counted;
use unbraid_data::{Dataset, Error, Result};
use unbraid_metrics::principal::Rows;

use super::{HowMany, Method, PcaSettings};
use crate::watch::Watch;

/// Images that are looked at unless more are asked for.
const USUAL_IMAGES: usize = 50_000;
/// Numbers that are looked at unless more are asked for, and that are kept where they are read again and again: 1 GB.
const MOST_NUMBERS: usize = 1 << 28;
/// Images that are read at once where all are kept.
const AT_ONCE: usize = 1024;

/// Some images of a dataset.
pub(super) struct ImageRows<'a> {
    dataset: &'a dyn Dataset,
    /// Their numbers in the dataset, in rising order; all where none are named.
    numbers: Option<Vec<usize>>,
    /// All their pixels, where these are kept.
    kept: Option<Vec<f32>>,
}

impl<'a> ImageRows<'a> {
    /// Chooses the images; keeps them where many passes will read them, and there is room.
    pub(super) fn new(
        dataset: &'a dyn Dataset,
        settings: PcaSettings,
        method: Method,
        watch: &mut dyn Watch,
    ) -> Result<Self> {
        let (n_images, n_pixels) = (dataset.n_images(), dataset.image_shape().n_pixels());
        let most = match settings.images {
            HowMany::All => n_images,
            HowMany::UpTo(images) => images,
            HowMany::Usual => USUAL_IMAGES.min((MOST_NUMBERS / n_pixels).max(2)),
        };
        if most.min(n_images) < 2 {
            let images = counted(most.min(n_images), "image");
            return Err(Error::new(format!("there is no variance to explain in {images}"))
                .help("wanted at least two that differ"));
        }
        let numbers = (most < n_images).then(|| {
            let mut numbers =
                index::sample(&mut settings.seed.stream("images for components"), n_images, most).into_vec();
            numbers.sort_unstable();
            numbers
        });
        let mut rows = Self { dataset, numbers, kept: None };
        if method == Method::Randomised && rows.n_rows().saturating_mul(n_pixels) <= MOST_NUMBERS {
            rows.kept = Some(rows.read_all(watch)?);
        }
        Ok(rows)
    }

    fn read_all(&self, watch: &mut dyn Watch) -> Result<Vec<f32>> {
        let rows: Vec<usize> = (0..self.n_rows()).collect();
        watch.stage("reading", rows.len() as u64);
        let mut pixels = Vec::with_capacity(rows.len() * self.n_columns());
        for some in rows.chunks(AT_ONCE) {
            pixels.extend(self.read(some)?);
            watch.progress((pixels.len() / self.n_columns()) as u64);
        }
        Ok(pixels)
    }
}

impl Rows for ImageRows<'_> {
    fn n_rows(&self) -> usize {
        self.numbers.as_ref().map_or(self.dataset.n_images(), Vec::len)
    }

    fn n_columns(&self) -> usize {
        self.dataset.image_shape().n_pixels()
    }

    fn read(&self, rows: &[usize]) -> Result<Vec<f32>> {
        let n_pixels = self.n_columns();
        if let Some(kept) = &self.kept {
            return Ok(rows.iter().flat_map(|row| &kept[row * n_pixels..(row + 1) * n_pixels]).copied().collect());
        }
        match &self.numbers {
            Some(numbers) => read_images(self.dataset, &rows.iter().map(|&row| numbers[row]).collect::<Vec<_>>()),
            None => read_images(self.dataset, rows),
        }
    }
}
