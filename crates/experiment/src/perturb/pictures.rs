//! Pictures of a perturbation: its losses, and original, change and altered images side by side (T4 figure 4.3).

use rand::seq::index;
use unbraid_data::datasets::{read_factors, read_images};
use unbraid_data::{Dataset, ImageShape, Result, Seed};
use unbraid_report::figures::picture_grid::{PictureGrid, PictureRow, picture_grid};
use unbraid_report::figures::{Join, Panels, PointPanel, PointSeries, Scale, XAxis, loss_curves, point_panels};
use unbraid_report::{Canvas, Picture, read_losses};

use super::PerturbFolder;
use super::alteration::{Alteration, Change};

/// Images that are shown.
const SHOWN: usize = 6;
/// Images whose neuron is shown.
const POINTS: usize = 500;
/// Images whose changes are measured.
const MEASURED: usize = 1000;

/// How much pixels changed, of some images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changed {
    /// The mean of their changes' sizes, of a range from 0 to 1.
    pub mean: f64,
    /// The greatest of them, of 255.
    pub largest: u8,
    /// Of how many images.
    pub n_images: usize,
}

/// The losses at each step.
pub fn losses_picture(folder: &PerturbFolder, name: &str, set: Panels) -> Result<Canvas> {
    let table = read_losses(&folder.losses_path())?;
    let title = format!("{name}: losses of the altered images");
    Ok(loss_curves(&title, &table, "loss, summed over pixels", Scale::Linear, set))
}

/// Some images as they were, what was added to them, as they are, and beside them with noise.
pub fn changes_picture(alteration: &Alteration<'_>, name: &str) -> Result<Canvas> {
    let (dataset, epsilon) = (alteration.models.dataset.as_ref(), alteration.settings.epsilon);
    let mut rows = Vec::new();
    for number in drawn(dataset.n_images(), SHOWN, alteration.settings.seed) {
        let before = bytes_of(dataset, number)?;
        let (mut altered, mut noisy) = (before.clone(), before.clone());
        alteration.alter(number..number + 1, &mut altered);
        alteration.add_noise(number..number + 1, &mut noisy);
        let shape = dataset.image_shape();
        let pictures = [
            picture(shape, &before),
            difference(shape, &before, &altered, epsilon),
            picture(shape, &altered),
            difference(shape, &before, &noisy, epsilon),
            picture(shape, &noisy),
        ];
        rows.push(PictureRow {
            label: format!("image {number}"),
            note: factors_text(dataset, number),
            pictures: pictures.into_iter().collect::<Result<_>>()?,
            ..PictureRow::default()
        });
    }
    let headers = ["original", "change", "altered", "noise", "with noise"].map(String::from).to_vec();
    let title = format!("{name}: changes of at most {epsilon}");
    Ok(picture_grid(&PictureGrid { title, headers, rows }))
}

/// What the single neuron makes of some images, over each of their factors.
pub fn neuron_picture(alteration: &Alteration<'_>, name: &str) -> Canvas {
    let dataset = alteration.models.dataset.as_ref();
    let numbers = drawn(dataset.n_images(), POINTS, alteration.settings.seed);
    let (neuron, factors) = (alteration.neuron(&numbers), read_factors(dataset, &numbers));
    let varying = dataset.factors().factors().iter().zip(factors.columns());
    let panels = varying.filter(|(factor, _)| factor.size != Some(1)).map(|(factor, column)| PointPanel {
        title: factor.name.clone(),
        x_label: factor.name.clone(),
        y_label: "neuron".to_string(),
        x: XAxis::Linear,
        y_range: None,
        series: vec![PointSeries {
            name: String::new(),
            points: column.iter().zip(&neuron).map(|(&value, &neuron)| (value, f64::from(neuron))).collect(),
            join: if factor.size.is_some() { Join::Means } else { Join::Nothing },
        }],
        marks: Vec::new(),
    });
    point_panels(&format!("{name}: the single neuron over each factor"), &panels.collect::<Vec<_>>())
}

/// How much pixels changed.
pub fn measure_change(dataset: &dyn Dataset, seed: u64, change: &Change<'_>) -> Result<Changed> {
    let numbers = drawn(dataset.n_images(), MEASURED, seed);
    let (mut sum, mut largest) = (0_u64, 0);
    for &number in &numbers {
        let before = bytes_of(dataset, number)?;
        let mut after = before.clone();
        change(number..number + 1, &mut after);
        for (before, after) in before.iter().zip(&after) {
            let change = before.abs_diff(*after);
            (sum, largest) = (sum + u64::from(change), largest.max(change));
        }
    }
    let n_values = numbers.len() * dataset.image_shape().n_pixels();
    Ok(Changed { mean: sum as f64 / 255.0 / n_values as f64, largest, n_images: numbers.len() })
}

/// As many different image numbers as are wanted, drawn from the stream `shown images`, in rising order. Evenly spread ones would all have the same value
/// of some factors of a grid.
pub fn drawn(n_images: usize, n_wanted: usize, seed: u64) -> Vec<usize> {
    let mut stream = Seed(seed).stream("shown images");
    let mut numbers = index::sample(&mut stream, n_images, n_wanted.min(n_images)).into_vec();
    numbers.sort_unstable();
    numbers
}

fn bytes_of(dataset: &dyn Dataset, number: usize) -> Result<Vec<u8>> {
    Ok(read_images(dataset, &[number])?.iter().map(|pixel| (pixel * 255.0 + 0.5) as u8).collect())
}

fn picture(shape: ImageShape, bytes: &[u8]) -> Result<Picture> {
    Picture::new(shape, bytes.iter().map(|&byte| f32::from(byte) / 255.0).collect())
}

/// Grey where nothing changed, white where epsilon was added, black where it was taken away.
fn difference(shape: ImageShape, before: &[u8], after: &[u8], epsilon: f64) -> Result<Picture> {
    let pixels = before.iter().zip(after).map(|(&before, &after)| {
        let change = (f64::from(after) - f64::from(before)) / 255.0;
        (0.5 + 0.5 * change / epsilon) as f32
    });
    Picture::new(shape, pixels.collect())
}

/// `scale 3, x 12`, the values of an image's factors.
fn factors_text(dataset: &dyn Dataset, number: usize) -> String {
    let values = read_factors(dataset, &[number]);
    let told = dataset.factors().names().zip(values.row(0)).map(|(name, value)| format!("{name} {value}"));
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_are_shown_are_distinct_and_in_order() {
        let found = drawn(1000, 50, 1);
        assert!(found.len() == 50 && found.windows(2).all(|pair| pair[0] < pair[1]) && found[49] < 1000);
        assert_eq!((drawn(3, 6, 1), drawn(1000, 50, 1)), (vec![0, 1, 2], found));
    }

    #[test]
    fn a_change_is_light_where_it_adds_and_dark_where_it_takes_away() {
        let shape = ImageShape { height: 1, width: 4, channels: 1 };
        let picture = difference(shape, &[100, 100, 100, 0], &[151, 49, 100, 51], 0.2).unwrap();
        assert_eq!([0, 1, 2, 3].map(|column| picture.colour(0, column)[0]), [255, 0, 128, 255]);
    }
}
