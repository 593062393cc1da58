//! Features of a frozen encoder: what networks give, what a model keeps, and runs that cannot give any.

use std::fs;
use std::path::Path;

use crate::support::{PICTURE, POINT, Parts, batch, losses, table, write_features};
use safetensors::SafeTensors;
use tempfile::TempDir;
use toml::Table;
use unbraid_data::{ImageShape, Result, Seed};
use unbraid_learn::networks::NETWORKS;
use unbraid_learn::networks::layers::linear;
use unbraid_learn::tensors::floats;
use unbraid_learn::{Device, Learner, checkpoint, frameworks, networks, optimisers};

/// The network of the runs that give features here.
const NETWORK: (&str, &str) = ("mlp", "latents = 2\nencoder = [3]\ndecoder = [3]");

/// A `dfc_vae` for images of a shape with the features of a folder; an error where that cannot be.
fn with_features(folder: &Path, shape: ImageShape) -> Result<Learner> {
    let settings = table(&format!("features = '{}'", folder.display()));
    let network = networks::build("mlp", &table("latents = 4\nencoder = [8]\ndecoder = [8]"), shape).unwrap();
    let optimiser = optimisers::build("adam", &Table::new()).unwrap();
    Learner::new(network, frameworks::build("dfc_vae", &settings)?, optimiser, shape, Seed(3), Device::cpu())
}

fn message(folder: &Path, shape: ImageShape) -> String {
    with_features(folder, shape).err().expect("no features can be had").to_string()
}

/// A folder with the run that gives features of points.
fn run() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_features(folder.path(), NETWORK, POINT);
    folder
}

fn autoencoder() -> Learner {
    Parts::new(("ae", ""), NETWORK, POINT).learner()
}

#[test]
fn features_are_what_the_hidden_layers_make() {
    let sizes = |network: &str, settings: &str| {
        let learner = Parts::new(("ae", ""), (network, settings), PICTURE).learner();
        let (parameters, images) = (&learner.model.parameters, batch(&learner, 0, 3).members[0].images.clone());
        let network = networks::build(network, &table(settings), PICTURE).unwrap();
        let outputs = floats(network.encode(parameters, images.clone()));
        let features = network.features(parameters, images);
        // The last hidden layer is followed by the encoder's outputs.
        let last = features[features.len() - 1].clone();
        match features.len() == 1 && last.dims()[1] == network.latents() {
            true => assert_eq!(floats(last), outputs),
            false => assert_eq!(floats(linear(parameters, "encoder.outputs", last)), outputs),
        }
        features.iter().map(|layer| layer.dims()[1]).collect::<Vec<_>>()
    };
    assert_eq!(sizes("conv64", ""), [32 * 32 * 32, 16 * 16 * 32, 8 * 8 * 64, 4 * 4 * 64, 256]);
    assert_eq!(sizes("mlp", "encoder = [7, 5]"), [7, 5]);
    assert_eq!(sizes("mlp", "encoder = []\nlatents = 3"), [3]);
    assert_eq!(sizes("linear", "latents = 3"), [3]);
}

#[test]
fn every_network_gives_features() {
    for entry in NETWORKS {
        let folder = tempfile::tempdir().unwrap();
        write_features(folder.path(), (entry.name, "latents = 2"), PICTURE);
        let mut learner = with_features(folder.path(), PICTURE).unwrap();
        let first = batch(&learner, 0, 2);
        let parts = learner.step(&first, 1e-3).unwrap().parts;
        assert!(parts[0].name == "features" && parts[0].value > 0.0, "{}: {parts:?}", entry.name);
    }
}

#[test]
fn the_encoder_stays_as_it_was_and_teaches_the_decoder() {
    let folder = run();
    let mut learner = with_features(folder.path(), POINT).unwrap();
    let values = |learner: &Learner, prefix: &str| {
        let chosen = learner.model.parameters.iter().filter(|(name, _)| name.starts_with(prefix));
        chosen.flat_map(|(_, tensor)| floats(tensor.clone().inner())).collect::<Vec<f32>>()
    };
    let gradients = losses(&learner, &batch(&learner, 0, 4)).total().backward();
    for (name, parameter) in learner.model.parameters.iter() {
        let is_fixed = name.starts_with("features.");
        assert_eq!(parameter.grad(&gradients).is_none(), is_fixed, "{name}");
    }
    let before = ["features.", "decoder."].map(|prefix| values(&learner, prefix));
    assert_eq!(before[0].len(), 6 * 3 + 3 + 3 * 2 + 2);
    for step in 0..10 {
        let batch = batch(&learner, step, 4);
        learner.step(&batch, 1e-2).unwrap();
    }
    let after = ["features.", "decoder."].map(|prefix| values(&learner, prefix));
    assert!(before[0] == after[0] && before[1] != after[1]);
    // A checkpoint has the weights, and no moments of them.
    let bytes = checkpoint::write(&learner, "").unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let names: Vec<&str> = tensors.names().into_iter().filter(|name| name.contains("features.")).collect();
    assert!(names.len() == 4 && names.iter().all(|name| name.starts_with("features.encoder.")), "{names:?}");
}

#[test]
fn a_checkpoint_is_refused_where_the_features_are_others() {
    let folder = run();
    let bytes = checkpoint::write(&with_features(folder.path(), POINT).unwrap(), "").unwrap();
    checkpoint::read(&bytes, &mut with_features(folder.path(), POINT).unwrap()).unwrap();
    // The run is trained for one more step.
    let mut further = write_features(folder.path(), NETWORK, POINT);
    let first = batch(&further, 0, 4);
    further.step(&first, 1e-3).unwrap();
    let config = fs::read_to_string(folder.path().join("config.toml")).unwrap();
    fs::write(folder.path().join("model.safetensors"), checkpoint::write(&further, &config).unwrap()).unwrap();
    let refused = checkpoint::read(&bytes, &mut with_features(folder.path(), POINT).unwrap()).unwrap_err().to_string();
    assert!(refused.starts_with("\"features.encoder.hidden0.weight\" is not what the checkpoint was"), "{refused}");
    assert!(refused.contains("was trained further, or is another one"), "{refused}");
    // So is another network.
    write_features(folder.path(), ("linear", "latents = 2"), POINT);
    assert!(checkpoint::read(&bytes, &mut with_features(folder.path(), POINT).unwrap()).is_err());
}

#[test]
fn a_run_that_gives_no_features_says_why() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("missing");
    let begin = |path: &Path| format!("[framework] setting \"features\" is \"{}\": ", path.display());
    let text = message(&missing, POINT);
    assert!(text.starts_with(&format!("{}there is no such folder\n", begin(&missing))), "{text}");
    assert!(text.contains("train a run on such images first"), "{text}");

    let folder = place.path();
    assert!(message(folder, POINT).contains("it holds no run, for it has no config.toml"));
    fs::write(folder.join("config.toml"), "").unwrap();
    assert!(message(folder, POINT).contains("the run has no checkpoint yet: there is no model.safetensors"));
    fs::write(folder.join("model.safetensors"), "nonsense").unwrap();
    assert!(message(folder, POINT).contains("model.safetensors: this is no whole safetensors file"));

    write_features(folder, NETWORK, POINT);
    let mut bytes = fs::read(folder.join("model.safetensors")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(folder.join("model.safetensors"), bytes).unwrap();
    assert!(message(folder, POINT).contains("the checkpoint is damaged"));
    fs::write(folder.join("model.safetensors"), checkpoint::write(&autoencoder(), "").unwrap()).unwrap();
    assert!(message(folder, POINT).contains("does not say which model and framework"));
}

#[test]
fn features_left_out_are_asked_for() {
    let network = networks::build("linear", &Table::new(), POINT).unwrap();
    let framework = frameworks::build("dfc_vae", &Table::new()).unwrap();
    let optimiser = optimisers::build("adam", &Table::new()).unwrap();
    let learner = Learner::new(network, framework, optimiser, POINT, Seed(3), Device::cpu());
    let text = learner.err().unwrap().to_string();
    assert!(text.starts_with("[framework] setting \"features\" is left out\n"), "{text}");
    assert!(text.contains("its framework \"ae\" or \"vae\", and give its folder"), "{text}");
    let empty = frameworks::build("dfc_vae", &table("features = ''")).err().unwrap().to_string();
    assert!(empty.starts_with("setting \"features\": found \"\", wanted the folder of a run"), "{empty}");
}

#[test]
fn images_of_another_shape_are_refused() {
    let folder = run();
    let text = message(folder.path(), PICTURE);
    assert!(text.contains("its encoder is for other images: \"encoder.hidden0.weight\" is [6, 3]"), "{text}");
    // Where the run tells the shape of its images, as many pixels are not enough.
    let record = r#"{"name": "points", "factors": [], "is_grid": false, "n_images": 9, "holds_bytes": false,
                     "image_shape": {"height": 2, "width": 3, "channels": 1}, "fingerprint": "00000000"}"#;
    fs::write(folder.path().join("dataset.json"), record).unwrap();
    let text = message(folder.path(), POINT);
    assert!(text.contains("it learned from images of 2 x 3 x 1, and these are 1 x 1 x 6"), "{text}");
    // A network that takes one size only says so itself.
    let folder = tempfile::tempdir().unwrap();
    write_features(folder.path(), ("conv64", ""), PICTURE);
    assert!(message(folder.path(), POINT).contains("model \"conv64\" wants images of 64x64 pixels"));
}

#[test]
fn the_best_checkpoint_is_taken_where_the_run_asks_for_it() {
    let folder = run();
    let path = |name: &str| folder.path().join(name);
    let config = fs::read_to_string(path("config.toml")).unwrap();
    let mut best = autoencoder();
    best.model.parameters.replace("encoder.hidden0.bias", vec![9.0; 3], &[1, 3]).unwrap();
    fs::write(path("best.safetensors"), checkpoint::write(&best, &config).unwrap()).unwrap();
    let bias = |selection: &str| {
        fs::write(path("config.toml"), format!("{config}{selection}")).unwrap();
        let learner = with_features(folder.path(), POINT).unwrap();
        floats(learner.model.parameters.get("features.encoder.hidden0.bias").inner())[0]
    };
    assert_eq!(bias(""), 0.0);
    assert_eq!(bias("[selection]\nmetric = 'mig'\ncheckpoint = 'last'"), 0.0);
    assert_eq!(bias("[selection]\nmetric = 'mig'\ncheckpoint = 'best'"), 9.0);
    assert_eq!(bias("[selection]\nmetric = 'mig'"), 9.0);
}

#[test]
fn the_path_of_a_run_becomes_absolute() {
    let completed = frameworks::complete("dfc_vae", &table("features = 'runs/ae'")).unwrap();
    let wanted = std::env::current_dir().unwrap().join("runs/ae").display().to_string();
    assert_eq!(completed["features"].as_str(), Some(wanted.as_str()));
    assert_eq!(frameworks::complete("dfc_vae", &completed).unwrap(), completed);
    let nested = table("reconstruction = { name = 'perceptual', features = 'runs/ae' }");
    let completed = frameworks::complete("vae", &nested).unwrap();
    assert_eq!(completed["reconstruction"]["features"].as_str(), Some(wanted.as_str()));
}

#[test]
fn a_run_that_is_not_finished_gives_no_features() {
    let folder = run();
    let with_state = |state: &str| fs::write(folder.path().join("status.json"), format!("{{\"state\":\"{state}\"}}"));
    with_state("running").unwrap();
    let text = message(folder.path(), POINT);
    assert!(text.contains("the run is not finished") && text.contains("unbraid resume FOLDER"), "{text}");
    with_state("finished").unwrap();
    assert!(with_features(folder.path(), POINT).is_ok());
}
