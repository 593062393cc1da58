//! `unbraid pca`: principal components of datasets, files and runs, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

#[path = "../../data/tests/outside/mod.rs"]
mod outside;
mod support;

use std::io::Write;
use std::path::Path;

use serde_json::Value;
use support::{Place, SMALL};
use unbraid_data::npy::{read_file, write_header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A linear VAE of points in a plane, which is PCA (T4 theorem 2).
const LINEAR: &str = r#"
seed = 1
metrics = []
rows = 2000

[dataset]
name = "synth_linear"

[framework]
name = "beta_vae"
beta = 0.1

[model]
name = "linear"
latents = 2

[training]
steps = 5000
batch_size = 512
learning_rate = { from = 1e-2, to = 1e-3, steps = 5000 }
"#;

fn json(place: &Place, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["pca", "--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&place.output(&arguments)).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Images `[n, 4, 4]` of bytes as an .npz file.
fn images(n: usize, byte: impl Fn(usize, usize) -> u8) -> Vec<u8> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("images.npy", SimpleFileOptions::default()).unwrap();
    write_header(&mut archive, "|u1", &[n, 4, 4]).unwrap();
    let bytes: Vec<u8> = (0..n * 16).map(|index| byte(index / 16, index % 16)).collect();
    archive.write_all(&bytes).unwrap();
    archive.finish().unwrap().into_inner()
}

#[test]
fn a_dataset_has_a_table_a_page_pictures_and_arrays() {
    let place = Place::new();
    let text = place.output(&["pca", "xy_object", "--set", "size=16", "--images", "500", "--components", "3"]);
    assert!(text.starts_with("3 components explain "), "{text}");
    assert!(text.contains("note: 500 of 75000 images were drawn\n"), "{text}");
    assert!(text.ends_with("page: pca/xy_object_size_16/pca.html\n"), "{text}");
    let folder = place.path("pca/xy_object_size_16");
    let page = std::fs::read_to_string(folder.join("pca.html")).unwrap();
    assert!(page.contains("<h2>Components</h2>") && page.contains("<h2>Variance</h2>"));
    for picture in ["mean.png", "components.png", "variance.png"] {
        assert!(std::fs::read(folder.join(picture)).unwrap().starts_with(b"\x89PNG"), "{picture}");
    }
    assert_eq!(read_file(&folder.join("components.npy")).unwrap().shape(), [3, 16, 16, 3]);
    assert_eq!(read_file(&folder.join("mean.npy")).unwrap().shape(), [16, 16, 3]);
    // The same bits on any number of threads; without --out nothing is written.
    let arguments = ["xy_object", "--set", "size=16", "--images", "500", "--components", "3", "--threads"];
    let [one, three] = ["1", "3"].map(|threads| json(&place, &[&arguments[..], &[threads]].concat()));
    assert_eq!(one, three);
    assert!(number(&one["components"][2]["cumulative"]) < 1.0 && one["method"] == "covariance", "{one}");
    assert_eq!(std::fs::read_dir(place.path("")).unwrap().count(), 1);
    // Larger images go by passes from a random start.
    let arguments = ["xy_object", "--images", "60", "--components", "2", "--threads"];
    let [one, three] = ["1", "3"].map(|threads| json(&place, &[&arguments[..], &[threads]].concat()));
    assert_eq!(one, three);
    assert_eq!(one["method"], "randomised");
}

#[test]
fn a_linear_vae_finds_the_components_within_two_degrees() {
    let place = Place::new();
    place.write("linear.toml", LINEAR);
    place.output(&["train", "linear.toml", "--out", "run"]);
    let found = json(&place, &["run", "--out", "out"]);
    let latents = found["directions"]["latents"].as_array().unwrap();
    assert_eq!(latents.len(), 2);
    for (position, latent) in latents.iter().enumerate() {
        let matched = &latent["at_position"];
        assert_eq!((&latent["active"], &matched["component"]), (&Value::from(true), &Value::from(position + 1)));
        assert!(number(&matched["degrees"]) < 2.0, "{found:#}");
        assert!(number(&latent["in_span"]) > 0.999 && number(&latent["constancy"]) > 0.9999, "{found:#}");
        let captured = number(&latent["captured_share"]);
        assert!((captured - number(&matched["share"])).abs() < 1e-2, "{found:#}");
    }
    // The square's variances are 4/12 and 1/12.
    assert!((number(&found["components"][0]["share"]) - 0.8).abs() < 0.01, "{found:#}");
    assert!(found["verdict"].as_str().unwrap().contains("as theorem 2 of T4 says"), "{found:#}");
    // Points are no pictures: their numbers are shown.
    let page = std::fs::read_to_string(place.path("out/pca.html")).unwrap();
    assert!(page.contains("<h2>Directions in numbers</h2>"));
    assert!(!place.path("out/components.png").exists() && place.path("out/directions.npy").exists());
}

#[test]
fn the_latents_of_pictures_are_set_beside_the_components() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let free = ["--set", "framework.beta=0.01", "--set", "training.steps=200"];
    place.output(&[&["train", "small.toml", "--out", "run"], &free[..]].concat());
    let before = std::fs::read(place.path("run/scores.json")).unwrap();
    let text = place.output(&["pca", "run"]);
    assert!(text.contains("best match") && text.contains("page: run/pca/pca.html"), "{text}");
    assert!(place.path("run/pca/directions.png").exists(), "{text}");
    assert_eq!(std::fs::read(place.path("run/scores.json")).unwrap(), before);
    // Whoever deletes the Jacobians gets the same numbers.
    let found = json(&place, &["run"]);
    std::fs::remove_file(place.path("run/jacobians.npy")).unwrap();
    assert_eq!(json(&place, &["run"]), found);
    assert!(!place.path("run/jacobians.npy").exists());
    let refusal = place.refusal(&["pca", "run", "--set", "size=8"], 2);
    assert!(refusal.contains("--set size=8: run is a run, which has its dataset"), "{refusal}");
}

#[test]
fn a_model_without_decoder_has_components_and_no_directions() {
    let place = Place::new();
    place.write("small.toml", SMALL.replace("beta = 0.5\n", "").replace("beta_vae", "pcl"));
    place.output(&["train", "small.toml", "--out", "run", "--set", "metrics=[]"]);
    let text = place.output(&["pca", "run", "--components", "2"]);
    assert!(text.contains("note: the model has no decoder: there are no directions of latents\n"), "{text}");
    assert!(text.starts_with("2 components explain ") && !place.path("run/pca/directions.png").exists(), "{text}");
}

#[test]
fn what_cannot_be_analysed_is_refused_in_one_error() {
    let place = Place::new();
    place.write("one.npz", images(1, |_, pixel| pixel as u8));
    place.write("same.npz", images(7, |_, pixel| pixel as u8));
    place.write("three.npz", images(3, |image, pixel| (image * 31 + pixel * image * image) as u8));
    let cases: [(&[&str], &str); 8] = [
        (&["dsprite"], "no dataset is called \"dsprite\"; did you mean \"dsprites\"?"),
        (&["xy_object", "--components", "0"], "0 is not in 1..=256"),
        (&["xy_object", "--images", "1"], "wanted `all`, or a number from 2 on"),
        (&["xy_object", "--set", "sise=8"], "no setting \"sise\"; did you mean \"size\"?"),
        (&["one.npz"], "there is no variance to explain in 1 image"),
        (&["same.npz"], "there is no variance to explain in 7 rows that are all the same"),
        (&["missing.npz"], "missing.npz"),
        (&["runs/missing"], "nor is there a file or the folder of a run called so"),
    ];
    for (arguments, expected) in cases {
        let refusal = place.refusal(&[&["pca"], arguments].concat(), 2);
        assert!(refusal.contains(expected), "{refusal}");
    }
    assert!(!place.path("pca").exists());
    // More components than images are not made up.
    let found = json(&place, &["three.npz"]);
    assert_eq!(found["components"].as_array().unwrap().len(), 2);
    assert_eq!(found["notes"][0], "3 images vary in no more than 2 directions");
}

#[test]
fn published_images_have_the_components_of_scikit_learn() {
    let Some(data) = outside::folder("UNBRAID_DATA") else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/pca/values.json");
    let values: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let wanted = values.iter().find(|wanted| wanted["outside"] == true).unwrap();
    let place = Place::new();
    let name = wanted["dataset"].as_str().unwrap();
    let setting = wanted["settings"][0].as_str().unwrap();
    let root = data.to_str().unwrap();
    let found = json(&place, &[name, "--set", setting, "--data-root", root, "--components", "4", "--out", "out"]);
    let components = read_file(&place.path("out/components.npy")).unwrap().to_f64().unwrap();
    for position in 0..4 {
        let share = number(&found["components"][position]["share"]);
        assert!((share - number(&wanted["shares"][position])).abs() < 1e-6, "{share}");
        let places = wanted["positions"].as_array().unwrap();
        let entries = places.iter().map(|place| components[position * 784 + place.as_u64().unwrap() as usize]);
        let theirs = wanted["components"][position].as_array().unwrap().iter().map(number);
        let pairs: Vec<(f64, f64)> = entries.zip(theirs).collect();
        let sign = pairs.iter().map(|(ours, theirs)| ours * theirs).sum::<f64>().signum();
        assert!(pairs.iter().all(|(ours, theirs)| (ours - sign * theirs).abs() < 1e-4), "{pairs:?}");
    }
}
