//! `unbraid data show`: pictures of a dataset, of its factors, and of the examples of a sampler.

use std::path::Path;

use unbraid_data::factor_space::values_of;
use unbraid_data::samplers::Example;
use unbraid_data::standardised::as_shown;
use unbraid_data::whole_file::create_folder;
use unbraid_data::{Dataset, Error, Result};
use unbraid_experiment::dataset_pictures::{picture, rows_by_factor};
use unbraid_experiment::pictures::shows_pictures;
use unbraid_report::Canvas;
use unbraid_report::figures::{ExampleImage, contact_sheet, evenly_spread, examples, factor_rows};

use super::{SEED, Sampling};
use crate::output::print;

/// Images that stand beside each other on a contact sheet.
const BESIDE: usize = 8;
/// Examples that are shown of a sampler.
const SHOWN_EXAMPLES: u64 = 8;

/// Writes the pictures into the folder `out`, and prints their paths.
pub(super) fn show(
    name: &str,
    dataset: &dyn Dataset,
    sampling: Option<&Sampling>,
    n_images: usize,
    out: &Path,
) -> Result<()> {
    let dataset = as_shown(dataset);
    if !shows_pictures(dataset.has_unit_pixels(), dataset.image_shape()) {
        return Err(Error::new(format!("the images of \"{name}\" are points in space, which cannot be drawn"))
            .help(format!("`unbraid data export {name} FILE.npz` writes them for numpy")));
    }
    create_folder(out)?;
    let mut pictures = vec![("sheet", sheet(name, dataset, n_images)?)];
    let rows = rows_by_factor(dataset)?;
    if !rows.is_empty() {
        pictures.push(("factors", factor_rows(&format!("{name}, factor by factor"), &rows)));
    }
    if let Some(sampling) = sampling {
        pictures.push(("examples", drawn_examples(name, dataset, sampling)?));
    }
    for (kind, canvas) in pictures {
        let path = out.join(format!("{name}-{kind}.png"));
        canvas.save(&path)?;
        print(path.display())?;
    }
    Ok(())
}

fn sheet(name: &str, dataset: &dyn Dataset, n_images: usize) -> Result<Canvas> {
    let indices = evenly_spread(dataset.n_images(), n_images);
    let pictures = indices.iter().map(|&index| picture(dataset, index)).collect::<Result<Vec<_>>>()?;
    let captions: Vec<String> = indices.iter().map(ToString::to_string).collect();
    Ok(contact_sheet(&format!("{name}, {} images", dataset.n_images()), &pictures, &captions, BESIDE))
}

/// The first examples of the sampler, a row for each.
fn drawn_examples(name: &str, dataset: &dyn Dataset, sampling: &Sampling) -> Result<Canvas> {
    let mut drawn = Vec::new();
    sampling.examples(SEED).draw_chunk(0, SHOWN_EXAMPLES, |example| drawn.push(example.clone()))?;
    let mut rows = Vec::new();
    for example in &drawn {
        let image = |member: usize| {
            Ok(ExampleImage {
                name: sampling.entry.members[member].to_string(),
                lines: lines(dataset, sampling, example, member),
                picture: picture(dataset, example.images[member])?,
            })
        };
        rows.push((0..example.images.len()).map(image).collect::<Result<Vec<_>>>()?);
    }
    Ok(examples(&format!("{name}, examples of {}", sampling.entry.name), &rows))
}

/// What is said of an image: the factors of the anchor; of any other image what the sampler knows of it, and the factors in which it differs
/// from the anchor.
fn lines(dataset: &dyn Dataset, sampling: &Sampling, example: &Example, member: usize) -> Vec<String> {
    let Ok(sizes) = dataset.factors().grid_sizes() else {
        return vec![format!("image {}", example.images[member])];
    };
    let names: Vec<&str> = dataset.factors().names().collect();
    let [of_anchor, of_image] = [example.images[0], example.images[member]].map(|image| values_of(image, &sizes));
    if member == 0 {
        return names.iter().zip(&of_anchor).map(|(name, value)| format!("{name} {value}")).collect();
    }
    let mut lines: Vec<String> = sampling.sampler.note(&example.images, member).into_iter().collect();
    lines.extend(example.shared.map(|factor| format!("shares {}", names[factor])));
    let differing = (0..names.len()).filter(|&factor| of_anchor[factor] != of_image[factor]);
    lines.extend(differing.map(|factor| format!("{} {} → {}", names[factor], of_anchor[factor], of_image[factor])));
    if example.images[member] == example.images[0] {
        lines.push("the same image".to_string());
    }
    lines
}
