//! `unbraid doctor`, `unbraid reproduce`, and runs with losses that blur: what is printed and written, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use ndarray::{Array2, array};
use serde_json::Value;
use support::{Place, SMALL, exact_files};
use unbraid_data::npy::write_file;

const SQUARE: [&str; 6] = ["doctor", "xy_squares", "--set", "squares=1", "--set", "rgb=false"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn one_square_that_never_overlaps() {
    let place = Place::new();
    let found = json(&place.output(&[&SQUARE[..], &["--loss", "mse,mse_box31", "--json"]].concat()));
    let x = &found["factors"]["x_R"];
    // 128 of 4,096 pixels differ; the correlations are worked out in T1's reference to four digits.
    assert_eq!(x["distance_mean"], 0.03125);
    assert_eq!(x["distance_std"], 0.0);
    assert!((x["pearson"]["mse"].as_f64().unwrap() - 0.5222).abs() < 5e-5);
    assert!((x["spearman"]["mse"].as_f64().unwrap() - 0.5804).abs() < 5e-5);
    assert_eq!((&x["all_pairs"], &x["constant"]["mse"], &x["order"]["mse"]), (&true.into(), &true.into(), &0.0.into()));
    assert_eq!(x["standing"]["mse"], "not at all");
    assert_eq!(x["pearson_interval"]["mse"][0], x["pearson"]["mse"]);
    assert!(found["random"]["undefined"]["pearson.mse"].as_str().unwrap().contains("equally far apart"));
    assert!(x["spearman"]["mse_box31"].as_f64().unwrap() > 0.95);
    assert_eq!(found["verdict"]["better_loss"], "mse_box31");
    for part in ["random", "random32"] {
        for key in ["distance_mean", "distance_std"] {
            assert!(found[part][key].is_f64(), "{part} {key}");
        }
        assert!(found[part]["pearson"]["mse_box31"].is_f64());
    }
    assert!(!place.path("doctor").exists());
}

/// Named after the dataset and its settings.
const PAGE: &str = "doctor/xy_squares_rgb_false_squares_1";

#[test]
fn a_page_with_its_pictures_is_written() {
    let place = Place::new();
    let printed = place.output(&SQUARE);
    assert!(printed.starts_with("mse sees the order of no factor"), "{printed}");
    assert!(printed.contains("Constant overlap") && printed.contains("\nall pairs were compared\n"));
    let page = std::fs::read_to_string(place.path(PAGE).join("doctor.html")).unwrap();
    for wanted in
        ["mse sees the order of no factor", "Distances along each factor", "Cumulative distances", "Traversals"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    for picture in ["distances.png", "cumulative.png", "traversals.png"] {
        assert!(place.path(PAGE).join(picture).is_file(), "{picture}");
    }
}

#[test]
fn one_s_own_images_and_a_kernel() {
    let place = Place::new();
    place.output(&["data", "export", "xy_squares", "mine.npz", "--set", "squares=1", "--set", "rgb=false"]);
    write_file(&place.path("kernel.npy"), &Array2::<f32>::from_elem((63, 63), 1.0 / 63.0)).unwrap();
    let found = json(&place.output(&["doctor", "mine.npz", "--loss", "mse,mse_box31,kernel.npy", "--json"]));
    let x = &found["factors"]["x_R"];
    assert_eq!(x["distance_mean"], 0.03125);
    // 63^2 times the square of a mean over 63 x 63 is the square of a sum over 63: the same loss by another way.
    let [by_box, by_kernel] = ["mse_box31", "kernel.npy"].map(|loss| x["pearson"][loss].as_f64().unwrap());
    assert!((by_box - by_kernel).abs() < 1e-6, "{by_box} {by_kernel}");
}

#[test]
fn the_same_numbers_on_any_number_of_threads() {
    let place = Place::new();
    let on = |threads: &str| {
        place.output(&[
            "doctor",
            "xy_object",
            "--pairs",
            "20000",
            "--loss",
            "mse,mse_gaussian7",
            "--json",
            "--threads",
            threads,
        ])
    };
    assert_eq!(on("1"), on("3"));
}

#[test]
fn what_cannot_be_looked_at_is_refused_in_one_line() {
    let place = Place::new();
    std::fs::create_dir(place.path("run")).unwrap();
    place.write("run/model.safetensors", b"");
    assert!(place.refusal(&["doctor", "run"], 2).contains("run is the folder of a run, and not one of pictures"));
    let refusal = |arguments: &[&str]| place.refusal(&[&["doctor"], arguments].concat(), 2);
    assert!(refusal(&["dsprite"]).contains("did you mean \"dsprites\"?"));
    assert!(refusal(&["xy_squares", "--loss", "mes"]).contains("no loss is called \"mes\"; did you mean \"mse\"?"));
    assert!(refusal(&["xy_squares", "--loss", "mse,mse"]).contains("names \"mse\" twice"));
    assert!(refusal(&["xy_squares", "--loss", "nowhere.npy"]).contains("nowhere.npy"));
    for (name, kernel, wanted) in [
        ("even.npy", Array2::ones((4, 4)), "even"),
        ("oblong.npy", Array2::ones((3, 5)), "3 rows and 5 columns"),
        ("nan.npy", array![[f32::NAN]], "NaN"),
    ] {
        write_file(&place.path(name), &kernel).unwrap();
        let message = refusal(&["xy_squares", "--loss", name]);
        assert!(message.contains(wanted) && message.contains(name), "{message}");
        let config =
            SMALL.replace("beta = 0.5", &format!("reconstruction = {{ name = 'mse_kernel', path = '{name}' }}"));
        place.write("kernel.toml", config);
        let message = place.refusal(&["train", "kernel.toml", "--out", "run"], 2);
        assert!(message.contains(wanted) && message.contains(name), "{message}");
    }
    let one = ["xy_squares", "--set", "squares=1", "--set", "subset={ count = 1 }"];
    assert!(refusal(&one).contains("one image"));
}

#[test]
fn published_numbers_are_found_again() {
    let place = Place::new();
    let found = json(&place.output(&["reproduce", "t1-table-4.2", "--json"]));
    assert_eq!((&found["agrees"], found["rows"].as_array().unwrap().len()), (&true.into(), 64));
    let printed = place.output(&["reproduce", "t4-example-3.20"]);
    assert!(printed.contains("24.4949") && printed.contains("2 of 2 published numbers and claims agree"), "{printed}");
    assert!(place.refusal(&["reproduce", "t1-table-4.3"], 2).contains("no reproduction is called \"t1-table-4.3\""));
    assert!(place.output(&["list", "reproductions"]).contains("t1-figure-3.13"));
}

#[test]
fn runs_with_blurring_losses_resume_to_the_byte() {
    let place = Place::new();
    write_file(&place.path("kernel.npy"), &array![[0.5, 1.0, 0.5], [1.0, 4.0, 1.0], [0.5, 1.0, 0.25_f32]]).unwrap();
    for loss in ["'mse_box'", "'mse_gaussian'", "{ name = 'mse_kernel', path = 'kernel.npy' }"] {
        place.write("blur.toml", SMALL.replace("beta = 0.5", &format!("reconstruction = {loss}")));
        let [whole, parts] = ["whole", "parts"].map(|name| place.path(name));
        for folder in [&whole, &parts] {
            let _ = std::fs::remove_dir_all(folder);
        }
        place.output(&["train", "blur.toml", "--out", "whole"]);
        place.output(&["train", "blur.toml", "--out", "parts", "--set", "training.steps=20", "--threads", "1"]);
        place.output(&["resume", "parts", "--set", "training.steps=40"]);
        assert!(exact_files(&whole) == exact_files(&parts), "{loss}");
    }
    // A kernel that was moved is asked for and can be told; another kernel is another loss, and is refused.
    std::fs::rename(place.path("kernel.npy"), place.path("moved.npy")).unwrap();
    let message = place.refusal(&["resume", "parts", "--set", "training.steps=60"], 2);
    assert!(message.contains("--set framework.reconstruction.path=FILE"), "{message}");
    let moved = ["resume", "parts", "--set", "framework.reconstruction.path=moved.npy", "--set", "training.steps=60"];
    place.output(&moved);
    write_file(&place.path("moved.npy"), &array![[2.0_f32]]).unwrap();
    let longer = ["resume", "parts", "--set", "training.steps=80"];
    assert!(place.refusal(&longer, 2).contains("kernel"));
}
