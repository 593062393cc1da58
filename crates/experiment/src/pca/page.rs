//! The page of what was found: what it means, numbers, components and directions as pictures; and all of them as arrays for numpy.

use std::path::{Path, PathBuf};

use ndarray::{Array2, ArrayRef1};
use unbraid_data::folders::remove_files;
use unbraid_data::npy;
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_data::words::quoted;
use unbraid_data::{Error, ImageShape, Result};
use unbraid_report::figures::picture_grid::{PictureGrid, PictureRow, picture_grid};
use unbraid_report::figures::{explained_variance, explained_variance_narrow, signed_grid, signed_picture};
use unbraid_report::page::{DoctorPage, PageFigure, PageTable, doctor_page};
use unbraid_report::{Canvas, Picture};

use super::table::{TableRows, percent};
use super::{Analysed, LatentDirection, Latents, Match, Method, component_rows, entry_rows, latent_rows};

const COMPONENTS: &str = "Directions in which the images vary most, each with its share of the variance. Along one of them pixels that are drawn light get brighter while those that are drawn dark get darker, and grey ones stay; which way round is arbitrary.";
const DIRECTIONS: &str = "What moving an active latent does to the picture, on the mean over codes; beside it the component at the same position and the one that matches best, each with its angle and turned to the latent's sign. A linear VAE's latents are its components (T4 theorem 2); where the pictures differ, the latent is another direction.";
const VARIANCE: &str = "Bars: each component. Line: it and all before it. What few bars explain can be drawn by few directions; images in which things move need many.";
/// Pictures of more components, or rows of more latents, nobody looks at.
const MOST_COMPONENTS: usize = 24;
const MOST_LATENTS: usize = 16;
/// Pictures and arrays, not all of which are always written.
const OWN: [&str; 7] =
    ["mean.png", "components.png", "directions.png", "variance.png", "components.npy", "directions.npy", "mean.npy"];
/// Pictures in a row.
const IN_A_ROW: usize = 8;

/// Writes `pca.html`, its pictures and the arrays into a folder, and tells their paths, that of the page first.
pub fn write_page(analysed: &Analysed, folder: &Path) -> Result<Vec<PathBuf>> {
    create_folder(folder)?;
    let page = folder.join("pca.html");
    // A model without decoder has no directions: those of an earlier one would stay beside its page. Where there is no page they are somebody else's.
    if page.exists() {
        remove_files(folder, |name| OWN.contains(&name))?;
    }
    let mut written = vec![page.clone()];
    let mut figures = Vec::new();
    let mut add = |name: &str, caption: &str, canvas: &Canvas, narrow: Option<Canvas>| -> Result<()> {
        let path = folder.join(format!("{name}.png"));
        canvas.save(&path)?;
        written.push(path);
        let narrow = narrow.map(|canvas| canvas.to_png()).transpose()?;
        let (name, caption) = (name.replace('_', " "), caption.to_string());
        figures.push(PageFigure { name, caption, bytes: canvas.to_png()?, narrow });
        Ok(())
    };
    if analysed.shows_pictures {
        add(
            "mean",
            "The mean of the images that were looked at; beside it with its least pixel as black and its greatest as white.",
            &mean_figure(analysed)?,
            None,
        )?;
        add("components", COMPONENTS, &components_figure(analysed)?, None)?;
        if let Some(latents) = analysed.latents.as_ref().filter(|latents| latents.latents[0].is_active) {
            add("directions", DIRECTIONS, &directions_figure(analysed, latents)?, None)?;
        }
    }
    let (title, shares) = (format!("{}: explained variance", analysed.source.title), analysed.principal.shares());
    let narrow = explained_variance_narrow(&title, &shares);
    add("variance", VARIANCE, &explained_variance(&title, &shares), Some(narrow))?;
    written.extend(write_arrays(analysed, folder)?);
    write_whole(&page, doctor_page(&describe(analysed, figures)).as_bytes())?;
    Ok(written)
}

/// The mean as it is, and with its own least and greatest pixel as black and white.
fn mean_figure(analysed: &Analysed) -> Result<Canvas> {
    let pixels: Vec<f32> = analysed.principal.mean.iter().map(|&pixel| pixel as f32).collect();
    let least = pixels.iter().fold(f32::INFINITY, |least, &pixel| least.min(pixel));
    let greatest = pixels.iter().fold(f32::NEG_INFINITY, |greatest, &pixel| greatest.max(pixel));
    let range = if greatest > least { greatest - least } else { 1.0 };
    let stretched = pixels.iter().map(|pixel| (pixel - least) / range).collect();
    let row = PictureRow {
        captions: vec!["as it is".to_string(), format!("{least:.2} to {greatest:.2}")],
        pictures: vec![Picture::new(analysed.shape, pixels)?, Picture::new(analysed.shape, stretched)?],
        ..PictureRow::default()
    };
    let title = format!("{}: mean", analysed.source.title);
    Ok(picture_grid(&PictureGrid { title, rows: vec![row], ..PictureGrid::default() }))
}

fn components_figure(analysed: &Analysed) -> Result<Canvas> {
    let Analysed { principal, shape, .. } = analysed;
    let n_shown = principal.components.nrows().min(MOST_COMPONENTS);
    let shares = principal.shares();
    let mut rows = Vec::new();
    for start in (0..n_shown).step_by(IN_A_ROW) {
        let shown: Vec<usize> = (start..n_shown.min(start + IN_A_ROW)).collect();
        let pictures = shown.iter().map(|&component| signed(*shape, &principal.components.row(component), 1.0));
        let captions = shown.iter().map(|&component| format!("{}: {}", component + 1, percent(shares[component])));
        rows.push(PictureRow {
            pictures: pictures.collect::<Result<_>>()?,
            captions: captions.collect(),
            space_below: 8,
            ..PictureRow::default()
        });
    }
    let title = format!("{}: principal components", analysed.source.title);
    Ok(signed_grid(&PictureGrid { title, rows, ..PictureGrid::default() }, shape.channels))
}

/// A row for each active latent: its direction, the component in order, and the one that matches best.
fn directions_figure(analysed: &Analysed, latents: &Latents) -> Result<Canvas> {
    let active = latents.latents.iter().zip(latents.directions.rows()).filter(|(latent, _)| latent.is_active);
    let mut rows = Vec::new();
    for (latent, direction) in active.take(MOST_LATENTS) {
        let mut pictures = vec![signed(analysed.shape, &direction, 1.0)?];
        let mut captions = vec![format!("z{}", latent.latent)];
        for matched in [latent.at_position, latent.best].into_iter().flatten() {
            let component = analysed.principal.components.row(matched.component);
            let sign = if component.dot(&direction) < 0.0 { -1.0 } else { 1.0 };
            pictures.push(signed(analysed.shape, &component, sign)?);
            captions.push(caption(matched));
        }
        let note = latent_note(latent);
        rows.push(PictureRow { label: format!("z{}", latent.latent), note, pictures, captions, space_below: 8 });
    }
    let title = format!("{}: latents and components", analysed.source.title);
    let headers = ["direction", "in order", "best match"].map(ToString::to_string).to_vec();
    Ok(signed_grid(&PictureGrid { title, headers, rows }, analysed.shape.channels))
}

fn caption(matched: Match) -> String {
    format!("{}, {:.0}° off", matched.component + 1, matched.degrees)
}

fn latent_note(latent: &LatentDirection) -> String {
    latent.posterior_variance.map_or_else(String::new, |variance| format!("variance {variance:.3}"))
}

fn signed(shape: ImageShape, values: &ArrayRef1<f64>, sign: f64) -> Result<Picture> {
    signed_picture(shape, &values.iter().map(|value| value * sign).collect::<Vec<f64>>())
}

/// `mean.npy` [height, width, channels], `components.npy` and `directions.npy` with a first axis more, as 32-bit floats.
fn write_arrays(analysed: &Analysed, folder: &Path) -> Result<Vec<PathBuf>> {
    let ImageShape { height, width, channels } = analysed.shape;
    let mean = analysed.principal.mean.clone().insert_axis(ndarray::Axis(0));
    let mut arrays: Vec<(&str, &Array2<f64>)> = vec![("components", &analysed.principal.components)];
    arrays.extend(analysed.latents.as_ref().map(|latents| ("directions", &latents.directions)));
    let mut written = Vec::new();
    let shaped = |array: &Array2<f64>| {
        let floats = array.mapv(|value| value as f32);
        let floats = floats.as_standard_layout().into_owned();
        floats
            .into_shape_with_order((array.nrows(), height, width, channels))
            .map_err(|error| Error::failure(format!("a component is no image: {error}")))
    };
    for (name, array) in arrays {
        let path = folder.join(format!("{name}.npy"));
        npy::write_file(&path, &shaped(array)?)?;
        written.push(path);
    }
    let path = folder.join("mean.npy");
    npy::write_file(&path, &shaped(&mean)?.index_axis_move(ndarray::Axis(0), 0))?;
    written.push(path);
    Ok(written)
}

fn describe(analysed: &Analysed, figures: Vec<PageFigure>) -> DoctorPage {
    let table = |name: &str, caption: &str, (header, rows): TableRows| PageTable {
        name: name.to_string(),
        caption: caption.to_string(),
        header,
        rows,
    };
    let mut tables: Vec<PageTable> = Vec::new();
    let latents = "Active latents in the order of their variance. In order: the component at the same position, and the angle to it; best match: the one that the best one-to-one matching gives; in span: how much of the direction lies in the span of as many first components as there are active latents; captures: the images' variance along the direction; constancy: how much of the length of a latent's directions their mean keeps.";
    tables.extend(latent_rows(analysed).map(|rows| table("latents and components", latents, rows)));
    let components = "Variance summed over all numbers of an image, over the images less one.";
    tables.push(table("explained variance", components, component_rows(analysed)));
    tables.extend(entry_rows(analysed).map(|rows| table("directions in numbers", "", rows)));
    let (lead, verdicts) = match &analysed.latents {
        Some(latents) => (latents.verdict.clone(), vec![("Images".to_string(), analysed.summary())]),
        None => (analysed.summary(), Vec::new()),
    };
    let mut verdicts = verdicts;
    if !analysed.notes.is_empty() {
        verdicts.push(("Notes".to_string(), format!("{}.", analysed.notes.join("; "))));
    }
    DoctorPage {
        title: format!("{}: principal components", analysed.source.title),
        lead,
        verdicts,
        tables,
        figures,
        notes: how_made(analysed),
        commands: commands(analysed),
    }
}

/// How the numbers were made.
fn how_made(analysed: &Analysed) -> Vec<String> {
    let Analysed { principal, shape, .. } = analysed;
    let how = match analysed.method {
        Method::Covariance => format!("eigenvectors of the covariance of all {} numbers", shape.n_pixels()),
        Method::Randomised => format!("{} passes from a random start (Halko et al. 2011)", principal.n_passes),
    };
    let mut notes = vec![
        format!("{} images of {} numbers each; components by {how}.", principal.n_rows, shape.n_pixels()),
        "Signs are chosen so that the largest entry of a component is positive.".to_string(),
    ];
    if let Some(latents) = &analysed.latents {
        let order = if latents.has_variances {
            "mean posterior variance (T4 equations 4.7 and 4.8), the least first"
        } else {
            "the variance that they induce, the posterior having none"
        };
        notes.push(format!("The direction of a latent is the mean of its column of the decoder's Jacobian over {} codes, not scaled. Latents are ordered by {order}.", latents.n_codes));
        notes.push(match latents.has_variances {
            true => "A latent is passive where its codes have a standard deviation of at most 0.5, or its mean posterior variance is 0.8 or more; passive ones are not matched.",
            false => "Without posterior variances every latent that moves the picture counts as active.",
        }.to_string());
        let angles: Vec<String> = latents.span_angles.iter().map(|angle| format!("{angle:.1}")).collect();
        notes.push(format!(
            "Angles between the span of the active latents and that of as many components, in degrees: {}.",
            angles.join(", ")
        ));
    }
    notes
}

/// What one may do next.
fn commands(analysed: &Analysed) -> Vec<(String, String)> {
    let commands = match &analysed.latents {
        Some(_) => {
            vec![(
                "see what each latent does",
                format!("unbraid traverse {}", quoted(Path::new(&analysed.source.name))),
            )]
        }
        None => vec![("set the latents of a run beside them", "unbraid pca RUN".to_string())],
    };
    commands.into_iter().map(|(what, command)| (what.to_string(), command)).collect()
}
