//! Principal components of a dataset, and beside them the directions in which the latents of a run move its pictures.
//!
//! T4 section 4.2.1, theorem 2: a linear VAE finds the principal components. How far the latents of any other model are from
//! them is what is measured here.

mod images;
mod json;
mod latents;
mod page;
mod table;
mod verdict;

use toml::Table;
use unbraid_data::standardised::as_shown;
use unbraid_data::words::counted;
use unbraid_data::{Dataset, ImageShape, Result, Seed};
use unbraid_metrics::principal::{PrincipalComponents, exact, randomised};

pub use json::findings_json;
pub use latents::{LatentDirection, Latents, Match};
pub use page::write_page;
pub use table::{component_rows, entry_rows, latent_rows};

use self::images::ImageRows;
use self::latents::{Measured, measured, place};
use crate::jacobians::with_jacobians;
use crate::measure::{read_codes_of, with_saved_jacobians};
use crate::pictures::shows_pictures;
use crate::trained_run::TrainedRun;
use crate::watch::Watch;

/// Variances that differ by less than this share of the larger are told: a model can hardly tell such components apart either.
const NEAR: f64 = 0.01;

/// Images that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HowMany {
    /// All, up to 50,000 and up to a gigabyte of pixels.
    Usual,
    /// So many, drawn where there are more.
    UpTo(usize),
    /// All, however long it takes.
    All,
}

/// What is looked at and how.
#[derive(Debug, Clone, Copy)]
pub struct PcaSettings {
    /// Components that are wanted; fewer come where the images vary in fewer directions.
    pub n_components: usize,
    /// Images that are looked at.
    pub images: HowMany,
    /// Decides which images are drawn, and where randomised passes begin.
    pub seed: Seed,
}

/// How components were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Eigenvectors of the covariance, added up in one pass.
    Covariance,
    /// By passes over the images from a random start.
    Randomised,
}

impl Method {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Covariance => "covariance",
            Self::Randomised => "randomised",
        }
    }

    /// The one that suits images of so many numbers.
    fn suited_to(n_pixels: usize) -> Self {
        if n_pixels <= exact::MOST_COLUMNS { Self::Covariance } else { Self::Randomised }
    }
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// What it is called, with its settings: `xy_squares (spacing 1)`.
    pub title: String,
    /// The name of the dataset, or the path of a file or run.
    pub name: String,
    /// The settings of the dataset, as they were given.
    pub settings: Table,
}

/// What was looked at, and what was found.
#[derive(Debug, Clone)]
pub struct Analysed {
    /// What it was.
    pub source: Source,
    /// The shape of every image.
    pub shape: ImageShape,
    /// Whether the images can be looked at.
    pub shows_pictures: bool,
    /// How many images the dataset has.
    pub n_images: usize,
    /// How components were found.
    pub method: Method,
    /// The components of the images that were looked at.
    pub principal: PrincipalComponents,
    /// The directions of a run's latents.
    pub latents: Option<Latents>,
    /// What one has to know to read the numbers.
    pub notes: Vec<String>,
}

/// The principal components of a dataset; of a standardised one in its original pixels.
pub fn analyse(
    dataset: &dyn Dataset,
    source: Source,
    settings: PcaSettings,
    watch: &mut dyn Watch,
) -> Result<Analysed> {
    let suited = Method::suited_to(dataset.image_shape().n_pixels());
    analyse_by(suited, dataset, None, source, settings, watch)
}

/// The principal components of a run's dataset, and the directions of its latents where it has a decoder.
pub fn analyse_run(run: &TrainedRun, settings: PcaSettings, watch: &mut dyn Watch) -> Result<Analysed> {
    let name = run.folder.path().display().to_string();
    let source = Source { title: run.folder.name(), name, settings: Table::new() };
    let mut data = with_saved_jacobians(&run.folder, read_codes_of(run)?)?;
    if data.extras().jacobians.is_none() && run.model.has_decoder() {
        watch.stage("jacobians", 0);
        data = with_jacobians(data, &run.model, run.dataset.as_ref())?;
    }
    let measured = data.extras().jacobians.as_ref().map(|jacobians| measured(&data, jacobians));
    let suited = Method::suited_to(run.dataset.image_shape().n_pixels());
    let mut analysed = analyse_by(suited, run.dataset.as_ref(), measured, source, settings, watch)?;
    if !run.model.has_decoder() {
        analysed.notes.push("the model has no decoder: there are no directions of latents".to_string());
    }
    Ok(analysed)
}

fn analyse_by(
    method: Method,
    dataset: &dyn Dataset,
    measured: Option<Measured>,
    source: Source,
    settings: PcaSettings,
    watch: &mut dyn Watch,
) -> Result<Analysed> {
    let is_standardised = dataset.as_standardised().is_some();
    let dataset = as_shown(dataset);
    let rows = ImageRows::new(dataset, settings, method, watch)?;
    let mut stage = String::new();
    let mut tell = |what: &str, done: usize, total: usize| {
        if stage != what {
            stage = what.to_string();
            watch.stage(what, total as u64);
        }
        watch.progress(done as u64);
    };
    // Each active latent has a component at its position.
    let n_components = settings.n_components.max(measured.as_ref().map_or(0, Measured::n_active));
    let mut rng = settings.seed.stream("principal components");
    let principal = match method {
        Method::Covariance => exact::principal_components(&rows, n_components, &mut tell, &mut rng)?,
        Method::Randomised => randomised::principal_components(&rows, n_components, &mut tell, &mut rng)?,
    };
    let latents = measured.map(|measured| place(measured, &principal, &rows, &mut tell)).transpose()?;
    let (shape, n_images) = (dataset.image_shape(), dataset.n_images());
    let shows_pictures = shows_pictures(dataset.has_unit_pixels(), shape);
    let notes = Vec::new();
    let mut analysed = Analysed { source, shape, shows_pictures, n_images, method, principal, latents, notes };
    analysed.notes = how_it_was_found(&analysed, settings);
    if is_standardised {
        analysed
            .notes
            .push("the images are standardised, and components are those of their original pixels".to_string());
    }
    Ok(analysed)
}

impl Analysed {
    /// Whether every image was looked at.
    pub fn has_all_images(&self) -> bool {
        self.principal.n_rows == self.n_images
    }

    /// What was found, in one sentence.
    pub fn summary(&self) -> String {
        let n = self.principal.variances.len();
        let explained = 100.0 * self.principal.cumulative().last().copied().unwrap_or(0.0);
        let (verb, images) = (if n == 1 { "explains" } else { "explain" }, counted(self.principal.n_rows, "image"));
        format!("{} {verb} {explained:.1} % of the variance of {images}.", counted(n, "component"))
    }
}

/// What is to be known of how the numbers were made.
fn how_it_was_found(analysed: &Analysed, settings: PcaSettings) -> Vec<String> {
    let principal = &analysed.principal;
    let (n_rows, n_images, n_found) = (principal.n_rows, analysed.n_images, principal.variances.len());
    let mut notes = Vec::new();
    if n_rows < n_images {
        let all = if settings.images == HowMany::Usual { "; --images all takes all of them" } else { "" };
        notes.push(format!("{n_rows} of {n_images} images were drawn{all}"));
    }
    if n_found < settings.n_components {
        let most = n_rows - 1;
        notes.push(match n_found == most {
            true => format!("{} vary in no more than {}", counted(n_rows, "image"), counted(most, "direction")),
            false => format!("the images vary in {} only", counted(n_found, "direction")),
        });
    }
    if let Some(unsettled) = principal.unsettled {
        let passes = principal.n_passes;
        notes.push(format!("after {passes} passes the components still move, by {unsettled:.0e} of their variance"));
    }
    notes.extend(tie_notes(analysed));
    notes
}

/// Components that the variance does not tell apart.
fn tie_notes(analysed: &Analysed) -> Vec<String> {
    let ties = analysed.principal.ties(NEAR, analysed.has_all_images());
    let mut notes = Vec::new();
    let mut equal = ties.iter().filter(|tie| tie.is_equal).peekable();
    while let Some(tie) = equal.next() {
        let (first, mut last) = (tie.first, tie.first + 1);
        while let Some(next) = equal.next_if(|next| next.first == last) {
            last = next.first + 1;
        }
        let (names, turned) = match last - first {
            1 => (format!("{} and {}", first + 1, last + 1), "the two"),
            _ => (format!("{} to {}", first + 1, last + 1), "them"),
        };
        let told = match analysed.has_all_images() {
            true => String::new(),
            false => format!(", as far as {} images can tell", analysed.principal.n_rows),
        };
        notes.push(format!("components {names} explain the same variance{told}; any turn of {turned} would do"));
    }
    for tie in ties.iter().filter(|tie| !tie.is_equal) {
        let (first, second, gap) = (tie.first + 1, tie.first + 2, 100.0 * tie.gap);
        let apart = format!("nearly the same variance, {gap:.2} % apart");
        notes.push(format!("components {first} and {second} explain {apart}: which is which is hardly determined"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;
    use unbraid_data::datasets;

    use super::*;
    use crate::watch::Nobody;

    fn analysed(method: Method, name: &str, given: &str, settings: PcaSettings) -> Result<Analysed> {
        let given: Table = given.parse().unwrap();
        let dataset = datasets::build(name, &given).unwrap();
        let source = Source { title: name.to_string(), name: name.to_string(), settings: given };
        analyse_by(method, dataset.as_ref(), None, source, settings, &mut Nobody)
    }

    const ALL: PcaSettings = PcaSettings { n_components: 4, images: HowMany::All, seed: Seed(1) };

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    }

    fn assert_agrees(found: &PrincipalComponents, wanted: &Value) {
        let places: Vec<usize> = numbers(&wanted["positions"]).into_iter().map(|place| place as usize).collect();
        let near = |found: f64, wanted: f64, within: f64, what: &str| {
            assert!((found - wanted).abs() <= within, "{what}: {found}, not {wanted}");
        };
        let total = wanted["total_variance"].as_f64().unwrap();
        near(found.total_variance / total, 1.0, 1e-6, "total variance");
        for (&place, wanted) in places.iter().zip(numbers(&wanted["mean"])) {
            near(found.mean[place], wanted, 1e-6, "mean");
        }
        let shares = numbers(&wanted["shares"]);
        for (position, component) in wanted["components"].as_array().unwrap().iter().enumerate() {
            near(found.shares()[position], shares[position], 1e-6, "share");
            let wanted = numbers(component);
            let found: Vec<f64> = places.iter().map(|&place| found.components[[position, place]]).collect();
            let along: f64 = found.iter().zip(&wanted).map(|(a, b)| a * b).sum();
            for (found, wanted) in found.iter().zip(&wanted) {
                near(*found, wanted * along.signum(), 1e-4, "component");
            }
        }
        // At all other positions they are determined by being orthonormal to this.
        let products = found.components.dot(&found.components.t());
        for ((i, j), &product) in products.indexed_iter() {
            near(product, f64::from(u8::from(i == j)), 1e-9, "product of components");
        }
    }

    #[test]
    fn components_are_those_of_scikit_learn_by_either_method() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/pca/values.json");
        let values: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let generated: Vec<&Value> = values.iter().filter(|wanted| wanted["outside"] == false).collect();
        assert_eq!(generated.len(), 4);
        for wanted in generated {
            let settings: Vec<&str> =
                wanted["settings"].as_array().unwrap().iter().map(|setting| setting.as_str().unwrap()).collect();
            let (name, settings) = (wanted["dataset"].as_str().unwrap(), settings.join("\n"));
            let randomised = analysed(Method::Randomised, name, &settings, ALL).unwrap();
            assert_eq!((randomised.has_all_images(), randomised.principal.unsettled), (true, None));
            assert_agrees(&randomised.principal, wanted);
            if randomised.shape.n_pixels() <= exact::MOST_COLUMNS {
                assert_agrees(&analysed(Method::Covariance, name, &settings, ALL).unwrap().principal, wanted);
            }
        }
    }

    #[test]
    fn equal_variances_are_told() {
        // A square at 64 places that do not overlap: no direction is better than another.
        let found = analysed(Method::Covariance, "xy_squares", "squares = 1\nrgb = false", ALL).unwrap();
        let expected = "components 1 to 4 explain the same variance; any turn of them would do";
        assert_eq!(found.notes, [expected]);
    }

    #[test]
    fn some_images_are_drawn_and_that_is_told() {
        let some = PcaSettings { images: HowMany::UpTo(300), ..ALL };
        let found = analysed(Method::Covariance, "xy_object", "size = 8", some).unwrap();
        assert_eq!((found.principal.n_rows, found.n_images), (300, 75_000));
        assert_eq!(found.notes[0], "300 of 75000 images were drawn");
        let again = analysed(Method::Covariance, "xy_object", "size = 8", some).unwrap();
        assert_eq!(found.principal, again.principal);
        let other = PcaSettings { seed: Seed(2), ..some };
        assert_ne!(found.principal, analysed(Method::Covariance, "xy_object", "size = 8", other).unwrap().principal);
    }

    #[test]
    fn more_components_than_directions_are_not_made_up() {
        let many = PcaSettings { n_components: 20, ..ALL };
        let found =
            analysed(Method::Covariance, "xy_squares", "squares = 1\nrgb = false\nsubset = { count = 5 }", many);
        let found = found.unwrap();
        assert_eq!(found.principal.variances.len(), 4);
        assert_eq!(found.notes[0], "5 images vary in no more than 4 directions");
        let found = analysed(Method::Covariance, "synth_linear", "", many).unwrap();
        assert_eq!(found.notes[0], "the images vary in 2 directions only");
    }
}
