//! `unbraid perturb`: no pixel changes by more than epsilon, what it leaves trains, what it refuses, and the same bytes however it came there.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::{Place, SMALL, kill_until};
use unbraid_data::{Dataset, datasets};
use unbraid_report::read_losses;

/// A place with runs `a`, `b` and `c` of the small config.
fn place_with_runs() -> Place {
    let place = Place::new();
    place.write("small.toml", SMALL);
    for (run, seed) in [("a", 1), ("b", 2), ("c", 3)] {
        let seed = format!("seed={seed}");
        let metrics = "metrics=[{ name = 'mig' }]";
        place.output(&["train", "small.toml", "--out", run, "--set", &seed, "--set", metrics]);
    }
    place
}

/// A perturbation that takes a second and changes much.
fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let quick = ["perturb", "a", "b", "c", "--batch", "16", "--learning-rate", "0.01", "--checkpoint-every", "5"];
    quick.iter().copied().chain(more.iter().copied()).collect()
}

fn open(name: &str, settings: &str) -> Box<dyn Dataset> {
    datasets::build(name, &settings.parse().unwrap()).unwrap()
}

fn bytes_of(dataset: &dyn Dataset, number: usize) -> Vec<u8> {
    let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
    dataset.read_image(number, &mut pixels).unwrap();
    pixels.iter().map(|pixel| (pixel * 255.0).round() as u8).collect()
}

/// The files of a perturbation and their bytes.
fn files(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let names = [
        "config.toml",
        "losses.csv",
        "checkpoint.safetensors",
        "perturbed.npz",
        "noise.npz",
        "perturb.json",
        "losses.png",
        "changes.png",
        "neuron.png",
    ];
    let mut files = names.map(|name| (name, fs::read(folder.join(name)).unwrap())).to_vec();
    // The page has commands that name the folder.
    let page = fs::read_to_string(folder.join("perturb.html")).unwrap();
    files.push(("perturb.html", page.replace(&*folder.file_name().unwrap().to_string_lossy(), "").into_bytes()));
    files
}

#[test]
fn no_pixel_of_any_image_changes_by_more_than_epsilon() {
    let place = place_with_runs();
    let original = open("xy_squares", "squares = 1\nrgb = false");
    for (out, epsilon, most) in [("tenth", "0.1", 25), ("shapes", "0.175", 44), ("least", "0.00392156862745098", 1)] {
        let output = place.output(&quick(&["--steps", "30", "--epsilon", epsilon, "--out", out]));
        assert!(output.ends_with(&format!("page: {out}/perturb.html\n")), "{output}");
        for name in ["perturbed.npz", "noise.npz"] {
            let path = place.path(&format!("{out}/{name}"));
            let altered = open("npz", &format!("path = '{}'", path.display()));
            assert_eq!(altered.factors(), original.factors());
            assert!(altered.factors().is_grid() && altered.holds_bytes());
            assert_eq!((altered.n_images(), altered.image_shape()), (64, original.image_shape()));
            let mut largest = 0;
            for number in 0..64 {
                for (before, after) in bytes_of(&*original, number).iter().zip(bytes_of(&*altered, number)) {
                    largest = largest.max(before.abs_diff(after));
                }
            }
            // The bound is kept, and what may change does.
            assert!(largest <= most && (largest == most || name == "perturbed.npz"), "{out}/{name}: {largest}");
            assert!(largest > 0 || out == "least", "{out}/{name}");
        }
    }
    let losses = read_losses(&place.path("tenth/losses.csv")).unwrap();
    let difference = losses.column("difference").unwrap();
    assert_eq!(difference.len(), 30);
    assert!(difference[29] < difference[0], "{} {}", difference[0], difference[29]);

    // The altered images are trained on by name.
    let dataset = "dataset={ name = 'npz', path = 'tenth/perturbed.npz' }";
    place.output(&["train", "small.toml", "--out", "again", "--set", dataset, "--set", "metrics=[{ name = 'mig' }]"]);
    assert!(fs::read_to_string(place.path("again/dataset.json")).unwrap().contains("\"is_grid\": true"));
    let page = fs::read_to_string(place.path("tenth/perturb.html")).unwrap();
    assert!(page.contains("Every pixel was changed by at most 0.1 (25 of 255"), "the page begins with the result");
}

#[test]
fn stopped_killed_or_on_other_threads_it_ends_in_the_same_bytes() {
    let place = place_with_runs();
    let command = |out: &'static str| quick(&["--steps", "60", "--out", out]);
    place.output(&[command("p-whole"), vec!["--threads", "2"]].concat());
    let wanted = files(&place.path("p-whole"));
    place.output(&[command("p-one"), vec!["--threads", "1"]].concat());
    assert!(files(&place.path("p-one")) == wanted, "another number of threads");

    let kills = kill_until(&place, &command("p-killed"), "p-killed/checkpoint.safetensors", "p-killed/perturb.html");
    assert!(kills >= 2, "{kills}");
    // The runs need not be named to go on, and once more on what is finished changes nothing.
    // An export that was killed left something unfinished.
    let unfinished = place.write("p-killed/.noise.npz.tmp-12", b"");
    place.output(&["perturb", "--out", "p-killed"]);
    assert!(files(&place.path("p-killed")) == wanted, "killed");
    assert!(!unfinished.exists());
}

#[test]
fn frameworks_are_trained_again_once_and_end_in_the_same_bytes_when_killed() {
    let place = place_with_runs();
    place.output(&quick(&["--steps", "10", "--out", "p"]));
    let retrain =
        ["perturb", "--out", "p", "--retrain", "--frameworks", "beta_vae,ae", "--seeds", "2", "--line-search", "1,2"];
    let mut killed_in = 0;
    for run in ["ae-original-s2", "beta_vae-noise-s1", "beta_vae-x2-perturbed-s2"] {
        let mut child = place.command(&retrain).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let model = place.path(&format!("p/retrain/{run}/model.safetensors"));
        let start = Instant::now();
        while !model.exists() && child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(120) {
            sleep(Duration::from_millis(2));
        }
        killed_in += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(killed_in >= 2, "{killed_in}");
    let output = place.output(&retrain);
    assert!(output.contains("MIG, mean ± standard deviation") && output.contains("beta_vae: MIG "), "{output}");
    assert!(output.contains("beta_vae, beta x 2"), "{output}");
    // Seeds 1 and 2 on original images are the given runs a and b.
    assert!(!place.path("p/retrain/beta_vae-original-s1").exists());
    let runs =
        ["ae-original-s1", "ae-perturbed-s2", "beta_vae-perturbed-s1", "beta_vae-noise-s2", "beta_vae-x2-perturbed-s1"];
    assert!(runs.iter().all(|run| place.path(&format!("p/retrain/{run}/report.html")).exists()));

    let table = fs::read_to_string(place.path("p/retrain.csv")).unwrap();
    assert!(
        table.starts_with("framework,data,seed,scale,mig,dci,factor_vae,sap,active_latents,over_pruned,mig.x_"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 1 + 6 + 6 + 2);
    // All is there, and nothing is trained twice.
    let json = place.output(&[&retrain[..], &["--json"]].concat());
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["retrain"]["frameworks"].as_array().unwrap().len(), 2);
    assert_eq!(found["retrain"]["runs"].as_array().unwrap().len(), 14);
    assert_eq!(fs::read_to_string(place.path("p/retrain.csv")).unwrap(), table);
    // One that nobody killed, in the same place, since configs name it.
    fs::rename(place.path("p"), place.path("killed")).unwrap();
    place.output(&quick(&["--steps", "10", "--out", "p"]));
    place.output(&retrain);
    let told = ["retrain.csv", "retrain.png", "factors.png", "line_search.png", "perturb.html"].map(String::from);
    let names = fs::read_dir(place.path("p/retrain")).unwrap().map(|entry| entry.unwrap().file_name());
    let models = names.map(|name| format!("retrain/{}/model.safetensors", name.to_string_lossy()));
    let files: Vec<String> = told.into_iter().chain(models).collect();
    assert_eq!(files.len(), 5 + 6 + 4 + 2);
    for file in files {
        let [whole, killed] = ["p", "killed"].map(|folder| fs::read(place.path(folder).join(&file)).unwrap());
        assert!(whole == killed, "{file}");
    }
}

#[test]
fn what_earlier_calls_trained_stays_in_tables_and_on_the_page() {
    let place = place_with_runs();
    for out in ["together", "apart"] {
        place.output(&quick(&["--steps", "2", "--out", out]));
    }
    let retrain = |out: &str, more: &[&str]| {
        let command = ["perturb", "--out", out, "--retrain", "--seeds", "1", "--json"];
        let json = place.output(&command.iter().chain(more).copied().collect::<Vec<_>>());
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["retrain"]["runs"].as_array().unwrap().len()
    };
    assert_eq!(retrain("together", &["--frameworks", "ae,beta_vae", "--line-search", "2"]), 3 + 3 + 1);
    assert_eq!(retrain("apart", &["--frameworks", "beta_vae", "--line-search", "2"]), 3 + 1);
    // What is no run, or none that has ended, or one of another config, is passed over.
    fs::create_dir_all(place.path("apart/retrain/ae-noise-s9")).unwrap();
    let copied = place.path("apart/retrain/beta_vae-noise-s8");
    fs::create_dir_all(&copied).unwrap();
    for file in ["config.toml", "report.html", "scores.json", "codes.npy", "factors.npy"] {
        fs::copy(place.path(&format!("apart/retrain/beta_vae-noise-s1/{file}")), copied.join(file)).unwrap();
    }
    assert_eq!(retrain("apart", &["--frameworks", "ae"]), 3 + 3 + 1);
    let [together, apart] = ["together", "apart"].map(|out| {
        let pictures = ["retrain.csv", "retrain.png", "factors.png", "line_search.png"];
        pictures.map(|name| fs::read(place.path(&format!("{out}/{name}"))).unwrap())
    });
    assert!(together == apart);
    // The same folder by another path, and from another place.
    assert_eq!(retrain("./apart", &["--frameworks", "ae"]), 3 + 3 + 1);
    let [apart, inner] = ["apart", "apart/retrain"].map(|name| place.path(name));
    let mut command = place.command(&["perturb", "--retrain", "--seeds", "1", "--frameworks", "ae", "--out"]);
    let output = command.arg(&apart).current_dir(inner).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(place.path("apart/perturb.html")).unwrap();
    assert!(page.contains("Line search of the main setting") && page.contains("beta_vae, beta x 2"));
}

#[test]
fn what_cannot_be_perturbed_is_refused_and_nothing_is_written() {
    let place = place_with_runs();
    let train = |name: &str, changes: &[&str]| {
        let changes = changes.iter().flat_map(|change| ["--set", change]);
        let arguments = ["train", "small.toml", "--out", name, "--set", "metrics=[{ name = 'mig' }]"];
        place.output(&arguments.into_iter().chain(changes).collect::<Vec<_>>());
    };
    train("ae", &["framework={ name = 'ae' }"]);
    train("full", &["framework={ name = 'beta_vae_full' }"]);
    train("pcl", &["framework={ name = 'pcl' }"]);
    train("bce", &["framework.reconstruction=bce"]);
    train("two", &["dataset.squares=2", "rows=100"]);
    train("wide", &["model.decoder=[8]"]);
    let refusal = |more: &[&str]| place.refusal(&[&["perturb"], more, &["--out", "p"]].concat(), 2);
    let cases: &[(&[&str], &str)] = &[
        (&["a"], "1 run cannot give 1 of the most and the least disentangled models"),
        (&["a", "b", "c", "--pairs", "2"], "3 runs cannot give 2 of the most and the least"),
        (&["a", "a"], "a is named twice"),
        (&["a", "none"], "there is no folder none"),
        (&["a", "two"], "it was trained on other images than a"),
        (&["ae", "ae", "b"], "ae is named twice"),
        (&["a", "ae"], "ae has another posterior than a Gaussian of independent latents"),
        (&["a", "full"], "full has another posterior"),
        (&["a", "pcl"], "pcl has no decoder"),
        (&["a", "bce"], "reconstruction loss"),
        (&["a", "b", "wide"], "wide has another network, mlp, than a, mlp"),
        (&["a", "b", "--epsilon", "0"], "[perturb] setting \"epsilon\" is 0"),
        (&["a", "./a"], "./a holds the same model as a"),
        (&["a", "b", "--epsilon", "-0.1"], "[perturb] setting \"epsilon\" is -0.1"),
        (&["a", "b", "--learning-rate", "-1"], "[perturb] setting \"learning_rate\" is -1"),
        (&["a", "b", "--retrain", "--line-search", "1e300"], "up to 1000"),
        (&["a", "b", "--epsilon", "0.6"], "[perturb] setting \"epsilon\" is 0.6"),
        (&["a", "b", "--epsilon", "nan"], "[perturb] setting \"epsilon\" is NaN"),
        (&["a", "b", "--epsilon", "0.003"], "wanted 1/255"),
        (&["a", "b", "--steps", "0"], "[perturb] setting \"steps\" is 0"),
        (&["a", "b", "--pairs", "5"], "[perturb] setting \"pairs\" is 5"),
        (&["a", "b", "--retrain", "--frameworks", "beta_vea"], "did you mean \"beta_vae\"?"),
        (&["a", "b", "--retrain", "--seeds", "0"], "--seeds is 0"),
        (&["a", "b", "--retrain", "--line-search", "0"], "0 is no scale"),
        (&[], "p holds no perturbation that could go on"),
    ];
    for (arguments, wanted) in cases {
        let message = refusal(arguments);
        assert!(message.contains(wanted), "{arguments:?}: {message}");
    }
    #[cfg(unix)]
    {
        let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"c\xff");
        fs::rename(place.path("c"), place.path("a").with_file_name(name)).unwrap();
        let output = place.command(&["perturb", "a", "--out", "p"]).arg(name).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains("is no text"), "{message}");
    }
    assert!(!place.path("p").exists());
}

#[test]
fn changed_files_are_written_again_and_runs_may_move() {
    let place = place_with_runs();
    place.output(&quick(&["--steps", "2", "--out", "p"]));
    let file = |name: &str| fs::read(place.path("p").join(name)).unwrap();
    let before = ["perturbed.npz", "noise.npz"].map(file);
    place.write("p/noise.npz", "x");
    place.write("p/perturbed.npz", &before[1]);
    let output = place.run(&["perturb", "--out", "p"]);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("p/noise.npz is not what was written, and is written again"), "{notes}");
    assert!(["perturbed.npz", "noise.npz"].map(file) == before);
    // A run that moved is named once, and found from then on.
    fs::rename(place.path("b"), place.path("moved")).unwrap();
    let refused = place.refusal(&["perturb", "--out", "p"], 2);
    assert!(refused.contains("p/config.toml; where they moved, name them all"), "{refused}");
    let moved: Vec<&str> = quick(&["--steps", "2", "--out", "p"]);
    place.output(&moved.into_iter().map(|word| if word == "b" { "moved" } else { word }).collect::<Vec<_>>());
    place.output(&["perturb", "--out", "p"]);
    assert!(["perturbed.npz", "noise.npz"].map(file) == before);
}

#[test]
fn another_beginning_another_folder() {
    let place = place_with_runs();
    place.output(&quick(&["--steps", "2", "--out", "p"]));
    let message = place.refusal(&quick(&["--steps", "3", "--out", "p"]), 2);
    assert!(message.contains("p was begun with another config: \"perturb.steps\" is 3 now, and was 2"), "{message}");
    let message = place.refusal(&["perturb", "a", "b", "--out", "a"], 2);
    assert!(message.contains("holds something else than a perturbation"), "{message}");
    // A run that was trained further is another model.
    place.output(&["resume", "b", "--set", "training.steps=45"]);
    let output = place.run(&quick(&["--steps", "2", "--out", "other"]));
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("the runs differ in more than their seeds: training.steps\n"), "{notes}");
    let message = place.refusal(&["perturb", "--out", "p"], 2);
    assert!(message.contains("\"the models of the runs, in their order\""), "{message}");
}

#[test]
fn images_without_factors_are_told_by_codes_and_runs_by_their_likeness() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    // A folder of pictures without sub-folders has no factors.
    fs::create_dir(place.path("pictures")).unwrap();
    for number in 0..40 {
        let mut picture = b"P6\n8 8\n255\n".to_vec();
        picture.extend((0..8 * 8 * 3).map(|byte| (byte * (number + 3) % 200) as u8));
        place.write(&format!("pictures/{number:02}.ppm"), picture);
    }
    for (run, seed) in [("a", 1), ("b", 2), ("c", 3)] {
        let seed = format!("seed={seed}");
        let dataset = "dataset={ name = 'folder', path = 'pictures' }";
        let changes = [seed.as_str(), dataset, "metrics=[]", "framework.beta=0.01", "training.learning_rate=0.01"];
        let changes = changes.iter().flat_map(|change| ["--set", change]);
        place.output(&["train", "small.toml", "--out", run].into_iter().chain(changes).collect::<Vec<_>>());
    }
    assert!(place.refusal(&["perturb", "a", "b", "--out", "p"], 2).contains("give three runs or more"));
    let output = place.output(&quick(&["--steps", "12", "--out", "p"]));
    assert!(output.contains("UDR"), "{output}");
    assert!(fs::read_to_string(place.path("p/perturb.json")).unwrap().contains("\"inputs\": \"codes\""));
    // Killed where checkpoints are, and on another number of threads, it ends in the same bytes.
    let command = [quick(&["--steps", "12", "--out", "killed"]), vec!["--threads", "1"]].concat();
    kill_until(&place, &command, "killed/checkpoint.safetensors", "killed/perturb.html");
    for name in ["losses.csv", "checkpoint.safetensors", "perturbed.npz", "noise.npz", "changes.png", "perturb.json"] {
        let [whole, killed] = ["p", "killed"].map(|folder| fs::read(place.path(folder).join(name)).unwrap());
        assert!(whole == killed, "{name}");
    }
    assert!(place.refusal(&["perturb", "--out", "p", "--retrain"], 2).contains("the images have no factors"));
    assert!(!fs::read_to_string(place.path("p/perturb.html")).unwrap().contains("--retrain"));
    // Refused before anything is learned.
    place.refusal(&quick(&["--steps", "12", "--out", "new", "--retrain"]), 2);
    assert!(!place.path("new/losses.csv").exists());
}
