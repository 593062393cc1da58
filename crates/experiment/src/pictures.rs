//! The figures of a run: loss curves, reconstructions, latent traversals, correlations.

use ndarray::{Array1, Array2, Axis};
use toml::Table;
use unbraid_data::datasets::read_numbered;
use unbraid_data::factor_space::index_of;
use unbraid_data::standardised::as_shown;
use unbraid_data::{Dataset, Error, ImageShape, LabelledCodes, Result, Seed};
use unbraid_learn::TrainedModel;
use unbraid_learn::posteriors::Moved;
use unbraid_metrics::Subject;
use unbraid_metrics::metrics::kl::kl_per_latent;
use unbraid_report::figures::curves::{Panels, Scale, loss_curves};
use unbraid_report::figures::factor_rows::evenly_spread;
use unbraid_report::figures::heatmap::heatmap;
use unbraid_report::figures::reconstructions::reconstructions;
use unbraid_report::figures::traversals::{TraversalRow, Traversals, traversals, traversals_gif, value_headers};
use unbraid_report::loss_log::LossColumn;
use unbraid_report::{LossTable, Picture, SelectionRow};

use crate::prepare::rows_to_encode;
use crate::trained_run::{TrainedRun, decode_as_shown};

/// How many latents are traversed, those that carry most; more would make a picture that nobody can look at.
const TRAVERSED: usize = 32;
/// The standard deviation of a latent's codes above which they are far wider than the prior.
const WIDE: f64 = 2.0;
/// How many images the reconstruction figure shows.
const RECONSTRUCTED: usize = 16;
/// How many pictures stand side by side in a figure for narrow screens.
const NARROW: usize = 6;

/// File names of the figures in `figures/`.
pub mod names {
    /// Loss parts against the step.
    pub const LOSSES: &str = "losses.png";
    /// Scores of validation images against the step.
    pub const SELECTION: &str = "selection.png";
    /// Images above their reconstructions.
    pub const RECONSTRUCTIONS: &str = "reconstructions.png";
    /// What each latent does.
    pub const TRAVERSALS: &str = "traversals.png";
    /// The same, moving.
    pub const TRAVERSALS_GIF: &str = "traversals.gif";
    /// Absolute correlation of latents and factors.
    pub const CORRELATION: &str = "correlation.png";
}

/// The file name of a figure drawn for narrow screens: `traversals-narrow.png`.
pub fn narrow_name(name: &str) -> String {
    name.replace('.', "-narrow.")
}

/// Which values a latent takes on its traversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// `Std` where some latent's codes are far wider than a standard normal prior, such as those of triplet losses; else `Fixed`.
    Suited,
    /// From -2 to 2, whatever the codes: where a standard normal prior has most of its mass.
    Fixed,
    /// From the least to the greatest value among the codes.
    MinMax,
    /// Two standard deviations of the codes to each side of their mean.
    Std,
}

impl Range {
    /// The same, chosen for these codes.
    fn of(self, data: &LabelledCodes) -> Self {
        let widest = data.codes().std_axis(Axis(0), 0.0).fold(0.0_f64, |a, &b| a.max(b));
        match self {
            Range::Suited if widest > WIDE => Range::Std,
            Range::Suited => Range::Fixed,
            chosen => chosen,
        }
    }
}

/// How latents are traversed.
#[derive(Debug, Clone)]
pub struct TraversalSettings {
    /// Which values a latent takes.
    pub range: Range,
    /// How many values.
    pub columns: usize,
    /// The image whose code the other latents keep; one with all factors at the middle of their values where absent.
    pub image: Option<usize>,
}

impl Default for TraversalSettings {
    fn default() -> Self {
        Self { range: Range::Suited, columns: 11, image: None }
    }
}

/// Draws every figure of a run into its folder. Those that need a decoder are left out where the model has none.
pub fn draw_all(run: &TrainedRun, data: &LabelledCodes) -> Result<()> {
    let folder = &run.folder;
    let losses = folder.read_losses()?;
    let curves = |set: Panels| loss_curves("", &losses, "", Scale::Fitting, set).to_png();
    folder.write_figure(names::LOSSES, &curves(Panels::Beside)?)?;
    folder.write_figure(&narrow_name(names::LOSSES), &curves(Panels::Stacked)?)?;
    if let Some(scores) = selection_table(&folder.read_selection()?) {
        let curves = |set: Panels| loss_curves("", &scores, "", Scale::Fitting, set).to_png();
        folder.write_figure(names::SELECTION, &curves(Panels::Beside)?)?;
        folder.write_figure(&narrow_name(names::SELECTION), &curves(Panels::Stacked)?)?;
    }
    if data.n_factors() > 0 {
        folder.write_figure(names::CORRELATION, &draw_correlation(data)?)?;
    }
    if has_pictures(run) && run.model.has_decoder() {
        let rows = rows_to_encode(&run.config, run.dataset.n_images())?;
        for (name, count) in
            [(names::RECONSTRUCTIONS.to_string(), RECONSTRUCTED), (narrow_name(names::RECONSTRUCTIONS), NARROW)]
        {
            folder.write_figure(&name, &draw_reconstructions(run, data, &rows, count)?)?;
        }
        draw_traversals(run, data, &TraversalSettings::default())?;
    }
    Ok(())
}

/// Scores of validation images as a table of one column; none where there are fewer than two to draw a line through.
fn selection_table(rows: &[SelectionRow]) -> Option<LossTable> {
    let defined: Vec<(usize, f64)> = rows.iter().filter_map(|row| Some((row.step as usize, row.value?))).collect();
    let (steps, values) = defined.into_iter().unzip::<usize, f64, Vec<_>, Vec<_>>();
    let name = format!("{} of validation images", rows.first()?.score);
    (steps.len() > 1).then(|| LossTable { steps, columns: vec![LossColumn { name, values }] })
}

/// Whether images of this shape can be looked at, whose pixels are in [0, 1] or not.
pub fn shows_pictures(has_unit_pixels: bool, shape: ImageShape) -> bool {
    has_unit_pixels && matches!(shape.channels, 1 | 3)
}

/// Whether the images of a run's dataset can be looked at.
pub(crate) fn has_pictures(run: &TrainedRun) -> bool {
    shows_pictures(as_shown(run.dataset.as_ref()).has_unit_pixels(), run.dataset.image_shape())
}

/// Draws the latent traversals as PNG and GIF into the run's folder, and once more for narrow screens; gives the names of the
/// first two.
pub fn draw_traversals(run: &TrainedRun, data: &LabelledCodes, settings: &TraversalSettings) -> Result<[String; 2]> {
    let (folder, drawn) = (&run.folder, traverse(run, data, settings)?);
    // The page shows the default; another range has files of its own.
    let [png, gif] = [names::TRAVERSALS, names::TRAVERSALS_GIF].map(|name| match settings.range {
        Range::Suited => name.to_string(),
        Range::Fixed => name.replace('.', "-fixed."),
        Range::MinMax => name.replace('.', "-min-max."),
        Range::Std => name.replace('.', "-std."),
    });
    folder.write_figure(&png, &traversals(&drawn).to_png()?)?;
    folder.write_figure(&narrow_name(&png), &traversals(&fewer_columns(&drawn, NARROW)).to_png()?)?;
    folder.write_figure(&gif, &traversals_gif(&drawn)?)?;
    Ok([png, gif])
}

/// Decodes a traversal of latents that belong together, and then of each other latent, those that carry most first.
fn traverse(run: &TrainedRun, data: &LabelledCodes, settings: &TraversalSettings) -> Result<Traversals> {
    check_traversal(run, settings)?;
    let settings = &TraversalSettings { range: settings.range.of(data), ..settings.clone() };
    let rows = rows_to_encode(&run.config, run.dataset.n_images())?;
    let base = base_code(&rows, run.dataset.as_ref(), data, settings.image)?;
    let base = Array1::from(base).mapv(|value| value as f32);
    let mut drawn = Vec::new();
    let moved_by_weight = moved_by_weight(&run.model, data);
    let n_left_out = moved_by_weight.len().saturating_sub(TRAVERSED);
    for (moved, note) in moved_by_weight.into_iter().take(TRAVERSED) {
        let (label, codes) = codes_along(&moved, &base, data, settings);
        drawn.push(TraversalRow { label, note, pictures: decoded(run, &codes)? });
    }
    let headers = match settings.range {
        _ if takes_few_values(run) => ends(settings.columns, "least", "greatest"),
        Range::Suited | Range::Fixed => value_headers(&spread(-2.0, 2.0, settings.columns)),
        Range::MinMax => ends(settings.columns, "least", "greatest"),
        Range::Std => ends(settings.columns, "mean - 2 std", "mean + 2 std"),
    };
    let title = match n_left_out {
        0 => "Latent traversals".to_string(),
        _ => format!("Latent traversals ({n_left_out} latents that carry less are not shown)"),
    };
    Ok(Traversals { title, headers, rows: drawn })
}

/// Whether the latents take values of a codebook, so that a range of numbers means nothing to them.
fn takes_few_values(run: &TrainedRun) -> bool {
    run.model.moved().iter().all(|moved| matches!(moved, Moved::Values(_)))
}

/// What a row of a traversal is called, and its codes, `[columns, latents]`.
fn codes_along(
    moved: &Moved,
    base: &Array1<f32>,
    data: &LabelledCodes,
    settings: &TraversalSettings,
) -> (String, Array2<f32>) {
    let shape = (settings.columns, data.n_latents());
    let of_latent = |latent: usize, values: Vec<f64>| {
        let codes = Array2::from_shape_fn(
            shape,
            |(row, column)| {
                if column == latent { values[row] as f32 } else { base[column] }
            },
        );
        (format!("z{latent}"), codes)
    };
    match moved {
        Moved::Latent(latent) => of_latent(*latent, traversed_values(data, *latent, settings)),
        Moved::Values(latent) => {
            let values = distinct_values(data, *latent);
            let shown = (0..settings.columns).map(|column| values[step_of(column, settings.columns, values.len())]);
            of_latent(*latent, shown.collect())
        }
        Moved::Classes(range) => {
            let codes = Array2::from_shape_fn(shape, |(row, column)| {
                let chosen = range.start + step_of(row, settings.columns, range.len());
                if range.contains(&column) { f32::from(column == chosen) } else { base[column] }
            });
            (format!("z{}-z{}", range.start, range.end - 1), codes)
        }
    }
}

/// Which of so many steps a column shows: all as often where there are columns enough, from the first to the last where not.
fn step_of(column: usize, n_columns: usize, n_steps: usize) -> usize {
    if n_steps <= n_columns { column * n_steps / n_columns } else { evenly_spread(n_steps, n_columns)[column] }
}

/// The same with only some of its columns, evenly spread, and without a title.
fn fewer_columns(whole: &Traversals, count: usize) -> Traversals {
    let columns = evenly_spread(whole.headers.len(), count);
    let rows = whole.rows.iter().map(|row| TraversalRow {
        pictures: columns.iter().map(|&column| row.pictures[column].clone()).collect(),
        ..row.clone()
    });
    let headers = columns.iter().map(|&column| whole.headers[column].clone()).collect();
    Traversals { title: String::new(), headers, rows: rows.collect() }
}

/// The pictures that codes `[rows, latents]` stand for, of a model that has a decoder.
pub(crate) fn decoded(run: &TrainedRun, codes: &Array2<f32>) -> Result<Vec<Picture>> {
    let pixels = decode_as_shown(&run.model, run.dataset.as_ref(), codes).ok_or_else(no_decoder)?;
    Picture::batch(run.dataset.image_shape(), &pixels)
}

fn no_decoder() -> Error {
    Error::new("this model has no decoder, so that no picture can be made of a code")
        .help("traversals need a framework with a reconstruction loss")
}

fn check_traversal(run: &TrainedRun, settings: &TraversalSettings) -> Result<()> {
    if !run.model.has_decoder() {
        return Err(no_decoder());
    }
    if !has_pictures(run) {
        return Err(Error::new("this dataset's images are points in space, which cannot be drawn")
            .help("traversals need a dataset of pictures"));
    }
    if takes_few_values(run) && settings.range != Range::Suited {
        return Err(Error::new(
            "the latents of this model take a few values, and a traversal shows these, whatever the range",
        )
        .help("leave --range out"));
    }
    if !(2..=64).contains(&settings.columns) {
        return Err(Error::new(format!("{} columns are asked for", settings.columns)).help("wanted 2 to 64"));
    }
    Ok(())
}

/// The code that the traversals start from.
fn base_code(rows: &[usize], dataset: &dyn Dataset, data: &LabelledCodes, image: Option<usize>) -> Result<Vec<f64>> {
    let row = match image {
        Some(image) => rows.binary_search(&image).map_err(|_| {
            Error::new(format!("image {image} is not among the {} that were encoded", rows.len()))
                .help("choose one that was: all are, unless the config has `rows` or test images")
        })?,
        None => {
            let middle = dataset.factors().grid_sizes().map_or(dataset.n_images() / 2, |sizes| {
                let values: Vec<usize> = sizes.iter().map(|size| size / 2).collect();
                index_of(&values, &sizes)
            });
            // Where it was not encoded, its neighbour will do.
            rows.binary_search(&middle).unwrap_or_else(|next| next.min(rows.len() - 1))
        }
    };
    Ok(data.codes().row(row).to_vec())
}

/// What the rows of a traversal move: first latents that belong together, which are few and no less worth showing, then the others
/// by how much they carry, most first, with a note that says how much.
fn moved_by_weight(model: &TrainedModel, data: &LabelledCodes) -> Vec<(Moved, String)> {
    let moved = model.moved();
    let together = moved.iter().filter(|moved| matches!(moved, Moved::Classes(_)));
    let alone = latents_by_weight(data).into_iter().filter_map(|(latent, note)| {
        let of_latent = [Moved::Latent(latent), Moved::Values(latent)].into_iter().find(|one| moved.contains(one));
        Some((of_latent?, note))
    });
    let n_classes = |moved: &Moved| if let Moved::Classes(range) = moved { range.len() } else { 1 };
    together.map(|classes| (classes.clone(), format!("{} classes", n_classes(classes)))).chain(alone).collect()
}

/// Latents by how much they carry, most first, each with a note that says how much.
fn latents_by_weight(data: &LabelledCodes) -> Vec<(usize, String)> {
    let (weights, what) = match kl_per_latent(data) {
        Ok(per_latent) => (per_latent, "KL"),
        Err(_) => (data.codes().std_axis(Axis(0), 0.0), "std"),
    };
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    order.into_iter().map(|latent| (latent, format!("{what} {:.2}", weights[latent]))).collect()
}

fn traversed_values(data: &LabelledCodes, latent: usize, settings: &TraversalSettings) -> Vec<f64> {
    let column = data.codes().column(latent);
    let (from, to) = match settings.range {
        Range::Suited | Range::Fixed => (-2.0, 2.0),
        Range::MinMax => {
            (column.fold(f64::INFINITY, |a, &b| a.min(b)), column.fold(f64::NEG_INFINITY, |a, &b| a.max(b)))
        }
        Range::Std => {
            let (mean, std) = (column.sum() / column.len() as f64, column.std(0.0));
            (mean - 2.0 * std, mean + 2.0 * std)
        }
    };
    spread(from, to, settings.columns)
}

/// The values that a latent takes, each once, in rising order.
fn distinct_values(data: &LabelledCodes, latent: usize) -> Vec<f64> {
    let mut values = data.codes().column(latent).to_vec();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn spread(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| from + (to - from) * i as f64 / (count - 1) as f64).collect()
}

fn ends(columns: usize, first: &str, last: &str) -> Vec<String> {
    let mut headers = vec![String::new(); columns];
    headers[0] = first.to_string();
    headers[columns - 1] = last.to_string();
    headers
}

fn draw_reconstructions(run: &TrainedRun, data: &LabelledCodes, rows: &[usize], most: usize) -> Result<Vec<u8>> {
    let shape = run.dataset.image_shape();
    let count = most.min(rows.len());
    let chosen: Vec<usize> = (0..count).map(|i| (2 * i + 1) * rows.len() / (2 * count)).collect();
    let mut originals = Vec::new();
    for &row in &chosen {
        let mut pixels = vec![0.0; shape.n_pixels()];
        read_numbered(as_shown(run.dataset.as_ref()), rows[row], &mut pixels)?;
        originals.push(Picture::new(shape, pixels)?);
    }
    let codes = data.codes().select(Axis(0), &chosen).mapv(|value| value as f32);
    let drawn = decoded(run, &codes)?;
    reconstructions("Images and their reconstructions", &originals, &drawn).to_png()
}

/// The absolute correlation of every latent with every factor, as the metric `cbd` computes it.
fn draw_correlation(data: &LabelledCodes) -> Result<Vec<u8>> {
    let metric = unbraid_metrics::build("cbd", &Table::new())?;
    let scores = metric.score(&Subject::new(data, Seed(0)), &mut Seed(0).stream("unused"));
    let matrix = scores.matrices.first().expect("cbd always gives its correlation matrix");
    heatmap("Absolute correlation of latents and factors", matrix).to_png()
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    #[test]
    fn codes_far_wider_than_the_prior_are_traversed_by_their_own_deviations() {
        let range = |range: Range, width: f64| {
            let codes = array![[0.0, 1.0 - width], [0.5, 1.0 + width]];
            let factors = Array2::from_shape_vec((2, 1), vec![0.0, 1.0]).unwrap();
            let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("x", 2)]), Extras::default()).unwrap();
            range.of(&data)
        };
        assert_eq!([range(Range::Suited, 1.9), range(Range::Suited, 2.1)], [Range::Fixed, Range::Std]);
        assert_eq!([range(Range::Fixed, 9.0), range(Range::MinMax, 0.1)], [Range::Fixed, Range::MinMax]);
    }

    #[test]
    fn a_row_goes_from_the_first_step_to_the_last() {
        let steps = |n_columns: usize, n_steps: usize| {
            (0..n_columns).map(|column| step_of(column, n_columns, n_steps)).collect::<Vec<_>>()
        };
        assert_eq!(steps(6, 3), [0, 0, 1, 1, 2, 2]);
        assert_eq!(steps(4, 4), [0, 1, 2, 3]);
        // More steps than columns: some are left out, and not the last.
        assert_eq!(steps(8, 10)[7], 9);
        assert_eq!(steps(8, 10)[0], 0);
        assert_eq!(steps(2, 30), [0, 29]);
    }
}
