//! The mean and the standard deviations of a dataset's pixels, by which a net's inputs are standardised.
//!
//! Michlo, "Distances and overlap", table A.2, standardises by the mean over images of each image's own standard
//! deviation (over n-1 pixels), not by the deviation of all pixels together. Both are here. Bytes are summed as whole
//! numbers, so the sums are exact; images are taken in fixed groups, so threads make no difference.

use rayon::prelude::*;

use crate::datasets::{Dataset, check_indices};
use crate::error::Result;

/// Images that are summed together before the sums are added up in order.
const GROUP: usize = 1024;

/// The pixels of one channel, with bytes taken to [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChannelStats {
    /// The mean of all pixels.
    pub mean: f64,
    /// The standard deviation of all pixels together (over n).
    pub std: f64,
    /// The mean over images of each image's own standard deviation (over n-1); 0 for images of one pixel.
    pub mean_image_std: f64,
}

/// The statistics of each channel, over the images numbered `indices` or over all.
pub fn channel_stats(dataset: &dyn Dataset, indices: Option<&[usize]>) -> Result<Vec<ChannelStats>> {
    if let Some(indices) = indices {
        check_indices(dataset, indices)?;
    }
    let n_images = indices.map_or(dataset.n_images(), <[usize]>::len);
    let groups: Vec<Vec<Sums>> = (0..n_images.div_ceil(GROUP))
        .into_par_iter()
        .map(|group| {
            let rows = group * GROUP..n_images.min((group + 1) * GROUP);
            sum_group(dataset, rows.map(|row| indices.map_or(row, |indices| indices[row])))
        })
        .collect();

    let shape = dataset.image_shape();
    let n_pixels = (n_images * shape.height * shape.width) as f64;
    let stats = (0..shape.channels).map(|channel| {
        let total = groups.iter().fold(Sums::default(), |total, group| total.plus(group[channel]));
        let mean = total.values / n_pixels;
        let variance = (total.squares / n_pixels - mean * mean).max(0.0);
        let unit = unit(dataset);
        ChannelStats {
            mean: mean / unit,
            std: variance.sqrt() / unit,
            mean_image_std: total.image_stds / n_images as f64 / unit,
        }
    });
    Ok(stats.collect())
}

/// Sums over the pixels of some images in one channel. Sums of bytes are whole numbers below 2^53, so exact.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    values: f64,
    squares: f64,
    image_stds: f64,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            values: self.values + other.values,
            squares: self.squares + other.squares,
            image_stds: self.image_stds + other.image_stds,
        }
    }
}

/// What a pixel of 1 is summed as.
fn unit(dataset: &dyn Dataset) -> f64 {
    if dataset.holds_bytes() { 255.0 } else { 1.0 }
}

/// The sums of each channel over the images numbered `indices`.
fn sum_group(dataset: &dyn Dataset, indices: impl Iterator<Item = usize>) -> Vec<Sums> {
    let shape = dataset.image_shape();
    let mut pixels = vec![0.0; shape.n_pixels()];
    let mut totals = vec![Sums::default(); shape.channels];
    for index in indices {
        dataset.read_image(index, &mut pixels);
        for (channel, total) in totals.iter_mut().enumerate() {
            let channel_pixels = pixels[channel..].iter().step_by(shape.channels);
            *total = total.plus(sum_image(channel_pixels, dataset.holds_bytes()));
        }
    }
    totals
}

fn sum_image<'a>(pixels: impl ExactSizeIterator<Item = &'a f32>, are_bytes: bool) -> Sums {
    let n_pixels = pixels.len() as f64;
    let (values, squares) = if are_bytes {
        let bytes = pixels.map(|pixel| (pixel * 255.0 + 0.5) as u64);
        let (values, squares) = bytes.fold((0, 0), |(sum, squares), byte| (sum + byte, squares + byte * byte));
        (values as f64, squares as f64)
    } else {
        let values = pixels.map(|&pixel| f64::from(pixel));
        values.fold((0.0, 0.0), |(sum, squares), value| (sum + value, squares + value * value))
    };
    // One pixel has no deviation, and dividing by n-1 would divide by 0.
    let variance = if n_pixels > 1.0 { (squares - values * values / n_pixels) / (n_pixels - 1.0) } else { 0.0 };
    Sums { values, squares, image_stds: variance.max(0.0).sqrt() }
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::datasets::open;

    fn stats(name: &str, settings: &str, indices: Option<&[usize]>) -> Vec<ChannelStats> {
        channel_stats(&*open(name, &settings.parse().unwrap()).unwrap(), indices).unwrap()
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-14, "{found} but {expected} was expected");
    }

    #[test]
    fn one_image_by_hand() {
        // A red square of 225 pixels of 63: the mean is 225*63/(4096*255), the variance over n-1 is
        // 63^2 (225 - 225^2/4096) / 4095.
        let red = stats("xy_object", "", Some(&[4 * 24]))[0];
        assert_close(red.mean, 225.0 * 63.0 / 4096.0 / 255.0);
        assert_close(red.mean_image_std, 63.0 / 255.0 * ((225.0 - 225.0 * 225.0 / 4096.0) / 4095.0_f64).sqrt());
        assert_close(red.std, red.mean_image_std * (4095.0 / 4096.0_f64).sqrt());
    }

    #[test]
    fn points_are_summed_as_they_are() {
        let dataset = open("synth_linear", &Table::new()).unwrap();
        let mut pixels = [[0.0; 3]; 2];
        pixels.iter_mut().enumerate().for_each(|(index, point)| dataset.read_image(index, point));
        let stats = channel_stats(&*dataset, Some(&[0, 1])).unwrap();
        for channel in 0..3 {
            let [first, second] = [f64::from(pixels[0][channel]), f64::from(pixels[1][channel])];
            assert_close(stats[channel].mean, (first + second) / 2.0);
            assert!((stats[channel].std - (first - second).abs() / 2.0).abs() < 1e-7);
            assert_eq!(stats[channel].mean_image_std, 0.0);
        }
    }

    #[test]
    fn image_numbers_out_of_range_are_refused() {
        let dataset = open("xy_object", &Table::new()).unwrap();
        let message = |indices: &[usize]| channel_stats(&*dataset, Some(indices)).unwrap_err().to_string();
        let expected = "there is no image 75000: the dataset has 75000\n       they are numbered 0 to 74999";
        assert_eq!(message(&[3, 75_000]), expected);
        assert!(message(&[]).starts_with("no image numbers were given"));
    }
}
