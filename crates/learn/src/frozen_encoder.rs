//! The encoder of another run, frozen: what its hidden layers make of images are features that a loss can compare.
//!
//! Its weights are fixed parameters of the model, `features.encoder.…`, so that a checkpoint has them and is refused where they are others.

use std::path::{Path, PathBuf};

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::fingerprint::DatasetRecord;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::whole_file::{read_text, read_whole};
use unbraid_data::{Error, ImageShape, Result, Seed};

use crate::checkpoint::Contents;
use crate::device::Device;
use crate::frameworks;
use crate::networks::{self, Network};
use crate::parameters::{Initialiser, Parameters};

/// What the names of its parameters begin with.
const FEATURES: &str = "features";

/// The setting by which the run is told.
pub const SETTING: Setting = Setting {
    name: "features",
    values: Values::Words("the folder of a run; has to be there"),
    meaning: "the run whose encoder gives the features: an \"ae\" or \"vae\" that was trained before",
};

const HOW: &str = "train a run on such images first, its framework \"ae\" or \"vae\", and give its folder, like \"runs/ae\", as \"features\"; \
     where a loss needs it, in its table: { name = \"perceptual\", features = \"runs/ae\" }";

/// The folder of a run, as an absolute path: a run is resumed from anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunPath(String);

impl TryFrom<String> for RunPath {
    type Error = Error;

    fn try_from(path: String) -> Result<Self> {
        let absolute = std::path::absolute(&path).ok().and_then(|path| path.to_str().map(String::from));
        absolute.map(Self).ok_or_else(|| Error::new(format!("found {path:?}, wanted the folder of a run")).help(HOW))
    }
}

impl From<RunPath> for String {
    fn from(path: RunPath) -> Self {
        path.0
    }
}

/// An encoder whose weights are fixed parameters of a model.
pub struct FrozenEncoder {
    network: Box<dyn Network>,
}

impl FrozenEncoder {
    /// Reads the encoder of the run in a folder, which must be for images of this shape, and adds its weights to those of a model.
    pub fn read(folder: Option<&RunPath>, shape: ImageShape, initialiser: &mut Initialiser) -> Result<Self> {
        let Some(RunPath(folder)) = folder else {
            return Err(Error::new("setting \"features\" is left out").help(HOW));
        };
        let of_setting = |error: Error| error.at(format!("setting \"features\" is \"{folder}\""));
        read_encoder(Path::new(folder), shape, initialiser).map_err(of_setting)
    }

    /// What each hidden layer makes of images `[batch, pixels]`, `[batch, numbers]` each; from the parameters of the model.
    pub fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        self.network.features(&parameters.of_network(FEATURES), images)
    }
}

fn read_encoder(folder: &Path, shape: ImageShape, initialiser: &mut Initialiser) -> Result<FrozenEncoder> {
    let path = checkpoint_path(folder)?;
    check_shape(folder, shape)?;
    let at_file = |error: Error| error.at(path.file_name().unwrap_or_default().to_string_lossy());
    let bytes = read_whole(&path)?;
    let contents = Contents::open(&bytes).map_err(at_file)?;
    let (network, n_outputs) = network_of(contents.origin(), shape)?;

    // What an encoder of this network and for this shape has, of which only names and shapes are needed.
    let mut layout = Initialiser::new(Seed(0), Device::cpu());
    network.initialise_encoder(n_outputs, &mut layout);
    for (name, tensor) in layout.finish().0.iter() {
        let (found, values) = contents.parameter(name).map_err(at_file)?;
        let wanted = tensor.dims();
        if found != wanted {
            let message = format!("its encoder is for other images: \"{name}\" is {found:?}, wanted {wanted:?}");
            return Err(Error::new(message).help(HOW));
        }
        initialiser.fixed(&format!("{FEATURES}.{name}"), values, wanted);
    }
    Ok(FrozenEncoder { network })
}

/// The checkpoint that the run's own scores are of: the best one where its config asks for that and there is one, else the last.
fn checkpoint_path(folder: &Path) -> Result<PathBuf> {
    let (config, best, last) =
        (folder.join("config.toml"), folder.join("best.safetensors"), folder.join("model.safetensors"));
    if !folder.exists() {
        return Err(Error::new("there is no such folder").help(HOW).more_help(
            "one that was moved is told to the run that needs it by `unbraid resume RUN --set framework.features=FOLDER` \
             (framework.reconstruction.features or framework.perceived.features where a loss is \"perceptual\")",
        ));
    }
    if !config.is_file() {
        return Err(Error::new("it holds no run, for it has no config.toml").help(HOW));
    }
    if !last.is_file() {
        return Err(Error::new("the run has no checkpoint yet: there is no model.safetensors")
            .help("wait until it has one, or go on with it: unbraid resume FOLDER"));
    }
    check_finished(folder)?;
    let config: Table = read_text(&config)?.parse().map_err(|_| Error::new("its config.toml is no TOML"))?;
    let which = config.get("selection").map(|selection| selection.get("checkpoint").and_then(|which| which.as_str()));
    let wants_best = which.is_some_and(|which| which != Some("last"));
    Ok(if wants_best && best.is_file() { best } else { last })
}

/// Refuses a run that will go on, and so would not be what this one began with. Runs of earlier versions do not tell.
fn check_finished(folder: &Path) -> Result<()> {
    let Ok(text) = read_text(&folder.join("status.json")) else { return Ok(()) };
    let status: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    match status["state"].as_str() {
        None | Some("finished") => Ok(()),
        Some(_) => Err(Error::new("the run is not finished, and its encoder would change while this one trains")
            .help("wait until it is, or go on with it: unbraid resume FOLDER")),
    }
}

/// Refuses a run that learned from images of another shape. Runs of earlier versions kept no record of it.
fn check_shape(folder: &Path, shape: ImageShape) -> Result<()> {
    let path = folder.join("dataset.json");
    if !path.is_file() {
        return Ok(());
    }
    let record: DatasetRecord = serde_json::from_str(&read_text(&path)?)
        .map_err(|error| Error::new(format!("its dataset.json is damaged: {error}")))?;
    let found = record.image_shape;
    if found == shape {
        return Ok(());
    }
    let words = |ImageShape { height, width, channels }| format!("{height} x {width} x {channels}");
    Err(Error::new(format!("it learned from images of {}, and these are {}", words(found), words(shape))).help(HOW))
}

/// The network that a run's config names, for images of this shape, and how many outputs its encoder has.
fn network_of(origin: &str, shape: ImageShape) -> Result<(Box<dyn Network>, usize)> {
    let named = |section: &str| {
        let mut config: Table = origin.parse().ok()?;
        let mut settings = config.remove(section)?.try_into::<Table>().ok()?;
        let name = settings.remove("name")?.as_str()?.to_string();
        Some((name, settings))
    };
    let unknown = |error: Error| error.at("it was trained with a config that this version does not know");
    let (Some((model, model_settings)), Some((framework, settings))) = (named("model"), named("framework")) else {
        return Err(Error::new("its checkpoint does not say which model and framework it was trained with"));
    };
    let network = networks::build(&model, &model_settings, shape)?;
    let framework = frameworks::build(&framework, &settings).map_err(unknown)?;
    let n_outputs = framework.posterior().n_outputs(network.latents());
    Ok((network, n_outputs))
}
