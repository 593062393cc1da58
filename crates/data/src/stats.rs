//! The mean and the standard deviations of a dataset's pixels, by which a network's inputs are standardised.
//!
//! Michlo 2022 (T1), table A.2, standardises by the mean over images of each image's own standard
//! deviation (over n-1 pixels), not by the deviation of all pixels together. Both are here. Summed in 64 bits are the
//! 32-bit pixels that networks see, as in the published constants: with bytes divided exactly, the mean of `xy_object` would
//! differ from its tenth digit on. Images are taken in fixed groups, so threads make no difference.

use rayon::prelude::*;

use crate::datasets::{Dataset, check_indices, read_numbered};
use crate::error::Result;

/// Images that are summed together before the sums are added up in order.
const GROUP: usize = 1024;
/// Pixels that are added side by side, which a processor does at once.
const LANES: usize = 16;

/// The pixels of one channel, in [0, 1] where the dataset holds bytes.
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
    let groups: Vec<Result<Vec<Sums>>> = (0..n_images.div_ceil(GROUP))
        .into_par_iter()
        .map(|group| {
            let rows = group * GROUP..n_images.min((group + 1) * GROUP);
            sum_group(dataset, rows.map(|row| indices.map_or(row, |indices| indices[row])))
        })
        .collect();
    // The first error in order, whichever thread comes first.
    let groups = groups.into_iter().collect::<Result<Vec<_>>>()?;

    let shape = dataset.image_shape();
    let n_pixels = (n_images * shape.height * shape.width) as f64;
    let stats = (0..shape.channels).map(|channel| {
        let total = groups.iter().fold(Sums::default(), |total, group| total.plus(group[channel]));
        let mean = total.values.value() / n_pixels;
        let variance = (total.squares.value() / n_pixels - mean * mean).max(0.0);
        ChannelStats { mean, std: variance.sqrt(), mean_image_std: total.image_stds.value() / n_images as f64 }
    });
    Ok(stats.collect())
}

/// Sums over the pixels of some images in one channel.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    values: Sum,
    squares: Sum,
    image_stds: Sum,
}

/// A sum that keeps what rounding loses (Neumaier 1974): a plain one over all images is off in the 14th digit.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn plus(self, other: Self) -> Self {
        let sum = self.sum + other.sum;
        let (large, small) =
            if self.sum.abs() >= other.sum.abs() { (self.sum, other.sum) } else { (other.sum, self.sum) };
        Self { sum, lost: self.lost + other.lost + ((large - sum) + small) }
    }

    fn value(self) -> f64 {
        self.sum + self.lost
    }
}

impl From<f64> for Sum {
    fn from(sum: f64) -> Self {
        Self { sum, lost: 0.0 }
    }
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            values: self.values.plus(other.values),
            squares: self.squares.plus(other.squares),
            image_stds: self.image_stds.plus(other.image_stds),
        }
    }
}

/// The sums of each channel over the images numbered `indices`.
fn sum_group(dataset: &dyn Dataset, indices: impl Iterator<Item = usize>) -> Result<Vec<Sums>> {
    let shape = dataset.image_shape();
    let mut pixels = vec![0.0; shape.n_pixels()];
    let mut totals = vec![Sums::default(); shape.channels];
    for index in indices {
        read_numbered(dataset, index, &mut pixels)?;
        for (total, sums) in totals.iter_mut().zip(sum_image(&pixels, shape.channels)) {
            *total = total.plus(sums);
        }
    }
    Ok(totals)
}

/// The sums of each channel over one image, `[height, width, channels]`.
fn sum_image(pixels: &[f32], channels: usize) -> Vec<Sums> {
    let mut values = vec![0.0; LANES * channels];
    let mut squares = vec![0.0; LANES * channels];
    for chunk in pixels.chunks(LANES * channels) {
        for ((value, square), &pixel) in values.iter_mut().zip(&mut squares).zip(chunk) {
            *value += f64::from(pixel);
            *square += f64::from(pixel) * f64::from(pixel);
        }
    }
    let n_pixels = (pixels.len() / channels) as f64;
    let sums = (0..channels).map(|channel| {
        let values: f64 = values[channel..].iter().step_by(channels).sum();
        let squares: f64 = squares[channel..].iter().step_by(channels).sum();
        // One pixel has no deviation, and dividing by n-1 would divide by 0.
        let variance = if n_pixels > 1.0 { (squares - values * values / n_pixels) / (n_pixels - 1.0) } else { 0.0 };
        Sums { values: values.into(), squares: squares.into(), image_stds: variance.max(0.0).sqrt().into() }
    });
    sums.collect()
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::datasets::build;

    fn stats(name: &str, settings: &str, indices: Option<&[usize]>) -> Vec<ChannelStats> {
        channel_stats(&*build(name, &settings.parse().unwrap()).unwrap(), indices).unwrap()
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-15, "{found} but {expected} was expected");
    }

    #[test]
    fn one_image_by_hand() {
        // A red square of 225 pixels p = 63/255: the mean is 225 p / 4096, the variance over n-1 is
        // p^2 (225 - 225^2/4096) / 4095.
        let red = stats("xy_object", "", Some(&[4 * 24]))[0];
        let pixel = f64::from(63.0_f32 / 255.0);
        assert_close(red.mean, pixel * 225.0 / 4096.0);
        assert_close(red.mean_image_std, pixel * ((225.0 - 225.0 * 225.0 / 4096.0) / 4095.0_f64).sqrt());
        assert_close(red.std, red.mean_image_std * (4095.0 / 4096.0_f64).sqrt());
    }

    #[test]
    fn points_are_summed_as_they_are() {
        let dataset = build("synth_linear", &Table::new()).unwrap();
        let mut pixels = [[0.0; 3]; 2];
        pixels.iter_mut().enumerate().for_each(|(index, point)| dataset.read_image(index, point).unwrap());
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
        let dataset = build("xy_object", &Table::new()).unwrap();
        let message = |indices: &[usize]| channel_stats(&*dataset, Some(indices)).unwrap_err().to_string();
        let expected = "there is no image 75000: the dataset has 75000\n       they are numbered 0 to 74999";
        assert_eq!(message(&[3, 75_000]), expected);
        assert!(message(&[]).starts_with("no image numbers were given"));
    }
}
