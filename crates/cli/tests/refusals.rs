//! Bad input: one clear error, exit code 2, never a panic.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::io::Write;
use std::path::Path;

use support::{Place, SMALL};
use unbraid_data::npy::write_header;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The error for the small config with one thing replaced.
fn config_refusal(from: &str, to: &str) -> String {
    let place = Place::new();
    assert!(SMALL.contains(from));
    place.write("bad.toml", SMALL.replace(from, to));
    let message = place.refusal(&["train", "bad.toml"], 2);
    assert!(!place.path("runs").exists(), "a refused config must leave nothing behind");
    message
}

#[test]
fn configs_with_mistakes() {
    let cases = [
        ("steps = 40", "step = 40", "bad.toml: [training] has no setting \"step\"; did you mean \"steps\"?"),
        ("steps = 40", "steps = 'many'", "[training] setting \"steps\": found string \"many\""),
        ("steps = 40", "steps = -40", "[training] setting \"steps\": found integer -40"),
        ("steps = 40", "steps = 0", "[training] setting \"steps\" is 0"),
        ("batch_size = 8", "batch_size = 65", "\"batch_size\" is 65 but the dataset has 64 images"),
        ("beta = 0.5", "beta = -0.5", "[framework] setting \"beta\" is -0.5"),
        ("beta = 0.5", "beta = nan", "[framework] setting \"beta\" is NaN"),
        ("beta = 0.5", "betta = 0.5", "[framework] has no setting \"betta\"; did you mean \"beta\"?"),
        ("\"beta_vae\"", "\"betavae\"", "no framework is called \"betavae\"; did you mean \"beta_vae\"?"),
        ("\"xy_squares\"", "\"xy_square\"", "no dataset is called \"xy_square\"; did you mean \"xy_squares\"?"),
        ("squares = 1", "squares = 4", "[dataset] "),
        (
            "beta = 0.5",
            "beta = { form = 0.0, to = 1.0, steps = 3 }",
            "a schedule has no setting \"form\"; did you mean \"from\"?",
        ),
        ("beta = 0.5", "reduction = 'summ'", "found \"summ\", wanted one of sum, mean; did you mean \"sum\"?"),
        ("beta = 0.5", "reconstruction = 'msee'", "no reconstruction is called \"msee\"; did you mean \"mse\"?"),
        ("encoder = [16]", "encoder = [100000, 100000]", "the hidden layers would have"),
        ("squares = 1\nrgb = false", "square_size = 1", "68719476736 images would be encoded"),
        ("[model]", "[[metrics]]\nname = 'cbd'\nalpha = 1.5\n[model]", "metric \"cbd\": setting \"alpha\" is 1.5"),
        (
            "[model]",
            "[[metrics]]\nname = 'mig'\nbins = 1000000000\n[model]",
            "metric \"mig\": setting \"bins\" is 1000000000",
        ),
        ("[model]", "[[metrics]]\nname = 'mig'\n[[metrics]]\nname = 'mig'\n[model]", "metric \"mig\" is named twice"),
        ("\"mlp\"", "\"mpl\"", "no model is called \"mpl\"; did you mean \"mlp\"?"),
        ("latents = 2", "latents = 0", "[model] setting \"latents\" is 0"),
        ("seed = 7", "sede = 7", "a config has no \"sede\"; did you mean \"seed\"?"),
        ("seed = 7", "seed = -7", "\"seed\" is -7"),
        ("seed = 7", "seed = 9223372036854775808", "bad.toml: line 2: 9223372036854775808 is too large"),
        ("seed = 7", "rows = 0", "\"rows\" is 0"),
        ("seed = 7", "rows = 99", "\"rows\" is 99 but the dataset has 64 images"),
        ("seed = 7", "seed = ", "bad.toml: line 2 is no TOML"),
        (
            "[model]",
            "[sampler]\nname = 'pair'\n[model]",
            "framework \"beta_vae\" trains on 1 image, but sampler \"pair\" draws pairs",
        ),
        ("[model]", "[[metrics]]\nname = 'migg'\n[model]", "no metric is called \"migg\"; did you mean \"mig\"?"),
        ("[model]", "[[metrics]]\nname = 'mig'\nbin = 3\n[model]", "has no setting \"bin\"; did you mean \"bins\"?"),
    ];
    for (from, to, wanted) in cases {
        let message = config_refusal(from, to);
        assert!(message.contains(wanted), "{to}: {message}");
    }
}

#[test]
fn folders_that_cannot_take_a_run() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    assert!(place.refusal(&["train", "missing.toml"], 2).contains("cannot read missing.toml"));
    place.output(&["train", "small.toml", "--out", "a"]);
    let again = place.refusal(&["train", "small.toml", "--out", "a"], 2);
    assert!(again.contains("a already holds a run"), "{again}");
    assert!(again.contains("unbraid resume a") && again.contains("--out"), "{again}");
    place.write("file", "");
    place.refusal(&["train", "small.toml", "--out", "file"], 2);
    place.refusal(&["train", "small.toml", "--out", "/proc/unbraid"], 2);
    assert!(place.refusal(&["resume", "nowhere"], 2).contains("nowhere"));
    place.refusal(&["report", "nowhere"], 2);
    place.refusal(&["traverse", "nowhere"], 2);
}

#[test]
fn a_checkpoint_of_another_architecture() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "a"]);
    let config = std::fs::read_to_string(place.path("a/config.toml")).unwrap();
    place.write("a/config.toml", config.replace("latents = 2", "latents = 3"));
    let message = place.refusal(&["resume", "a"], 2);
    assert!(message.contains("the checkpoint belongs to another architecture"), "{message}");
}

#[test]
fn a_config_that_was_changed_under_the_run() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "a"]);
    let config = std::fs::read_to_string(place.path("a/config.toml")).unwrap();
    place.write("a/config.toml", config.replace("seed = 7", "seed = 8"));
    let message = place.refusal(&["resume", "a"], 2);
    assert!(message.contains("\"seed\" is not what the checkpoint was trained with"), "{message}");
    place.write("a/config.toml", config.replace("steps = 40", "steps = 30"));
    assert!(place.refusal(&["resume", "a"], 2).contains("was taken after step 40, past the 30"));
    place.write("a/config.toml", format!("rows = 20\n{config}"));
    for command in ["report", "traverse", "evaluate"] {
        let message = place.refusal(&[command, "a"], 2);
        assert!(message.contains("codes of 64 images in 2 latents, which are not its config's"), "{message}");
    }
    place.output(&["resume", "a"]);
    place.output(&["report", "a"]);
}

#[test]
fn files_that_are_missing_from_a_run() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "a"]);
    let model = std::fs::read(place.path("a/model.safetensors")).unwrap();
    let losses = std::fs::read(place.path("a/losses.csv")).unwrap();
    std::fs::remove_file(place.path("a/model.safetensors")).unwrap();
    assert!(place.refusal(&["traverse", "a"], 2).contains("there is no a/model.safetensors"));
    place.write("a/model.safetensors", &model);
    std::fs::remove_file(place.path("a/losses.csv")).unwrap();
    assert!(place.refusal(&["resume", "a"], 2).contains("put the file back"));
    place.write("a/losses.csv", &losses[..losses.len() / 2]);
    assert!(place.refusal(&["resume", "a"], 2).contains("the checkpoint was taken after step 40"));
    // A refusal changes nothing, not even where training would go on.
    let config = std::fs::read_to_string(place.path("a/config.toml")).unwrap();
    place.write("a/config.toml", config.replace("steps = 40", "steps = 50"));
    place.refusal(&["resume", "a"], 2);
    assert!(place.path("a/codes.npy").exists() && place.path("a/report.html").exists());
    place.write("a/config.toml", config);
    std::fs::remove_file(place.path("a/codes.npy")).unwrap();
    assert!(place.refusal(&["evaluate", "a"], 2).contains("unbraid resume a"));
    // A folder with a checkpoint but no config is not taken for an empty one.
    std::fs::create_dir(place.path("b")).unwrap();
    place.write("b/model.safetensors", &model);
    assert!(place.refusal(&["train", "small.toml", "--out", "b"], 2).contains("b has no config.toml"));
}

#[test]
fn cross_entropy_of_points_in_space() {
    let place = Place::new();
    place.write(
        "points.toml",
        "[dataset]\nname = 'synth_linear'\n[framework]\nname = 'vae'\nreconstruction = 'bce'\n[model]\nname = 'linear'",
    );
    let message = place.refusal(&["train", "points.toml"], 2);
    assert!(message.contains("points.toml: [framework] setting \"reconstruction\" is \"bce\""), "{message}");
}

#[test]
#[cfg(unix)]
fn output_that_nobody_reads_or_that_does_not_fit() {
    let place = Place::new();
    let shell = |line: &str| {
        let command = format!("{} {line}", env!("CARGO_BIN_EXE_unbraid"));
        std::process::Command::new("sh").args(["-c", &command]).output().unwrap()
    };
    let piped = shell("list --json | true");
    assert!(piped.status.success() && piped.stderr.is_empty(), "{piped:?}");
    let full = shell("list > /dev/full");
    assert_eq!(full.status.code(), Some(1), "{full:?}");
    assert!(String::from_utf8_lossy(&full.stderr).contains("error: the output cannot be written"), "{full:?}");
    let silent = shell("list 2> /dev/full > /dev/null");
    assert!(silent.status.success(), "{silent:?}");
    assert_eq!(shell("train nothing.toml 2> /dev/full").status.code(), Some(2));
    // A pipe cannot hold an archive, and must not be replaced by one.
    assert!(std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    assert!(place.refusal(&["data", "export", "xy_squares", "pipe", "--set", "squares=1"], 2).contains("pipe"));
    assert!(!place.path("pipe").is_file());
}

#[test]
fn a_loss_that_explodes_names_part_and_step_and_keeps_the_checkpoint() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let explode = [
        "train",
        "small.toml",
        "--out",
        "a",
        "--set",
        "training.learning_rate={ from = 0.001, to = 100000.0, steps = 20 }",
        "--set",
        "training.steps=400",
        "--set",
        "training.checkpoint_every=1",
    ];
    let message = place.refusal(&explode, 1);
    assert!(message.contains("at step") || message.contains("after step"), "{message}");
    assert!(message.contains("is kept in a/model.safetensors"), "{message}");
    let losses = std::fs::read_to_string(place.path("a/losses.csv")).unwrap();
    assert!(losses.lines().count() > 1 && !losses.contains("NaN"), "{losses}");
}

#[test]
fn codes_that_cannot_be_scored() {
    let place = Place::new();
    place.write("text.npz", "not a zip");
    for arguments in [["evaluate", "missing.npz"], ["evaluate", "text.npz"]] {
        assert!(place.refusal(&arguments, 2).contains(arguments[1]));
    }
    place.output(&["data", "export", "xy_squares", "images.npz", "--set", "squares=1"]);
    let whole = std::fs::read(place.path("images.npz")).unwrap();
    place.write("cut.npz", &whole[..whole.len() / 2]);
    assert!(place.refusal(&["evaluate", "cut.npz"], 2).contains("cut.npz"));
    place.write("cut.npz", &whole[..whole.len() - 1]);
    let message = place.refusal(&["evaluate", "cut.npz"], 2);
    assert!(message.contains("cut.npz: is cut short or damaged\n       save it again"), "{message}");
    let mut absurd =
        b"\x93NUMPY\x01\x00\x50\x00{'descr': '<f8', 'fortran_order': False, 'shape': (0, 18446744073709551615)}"
            .to_vec();
    absurd.resize(10 + 0x50, b' ');
    place.write("absurd.npy", absurd);
    let message = place.refusal(&["evaluate", "absurd.npy", "--factors", "absurd.npy"], 2);
    assert!(message.contains("an array of shape [0, 18446744073709551615] was announced"), "{message}");
    assert!(place.refusal(&["evaluate", "images.npz"], 2).contains("codes"));
}

/// The bytes of an `.npz` with these arrays: name, numpy's name of the type, shape, and values as bytes.
fn npz(arrays: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, descr, shape, values) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        write_header(&mut archive, descr, shape).unwrap();
        archive.write_all(values).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn whole_numbers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn arrays_that_cannot_be_scored() {
    let place = Place::new();
    let codes = || ("codes", "<f8", &[2, 1][..], floats(&[0.5, 1.5]));
    let factors = || ("factors", "<i8", &[2, 1][..], whole_numbers(&[0, 1]));
    let mask = ("train_rows", "|b1", &[2][..], vec![1, 0]);
    let cases = [
        (npz(&[("codes", "<f8", &[2, 1], floats(&[f64::NAN, 1.0])), factors()]), "codes hold NaN at row 0, column 0"),
        (npz(&[("codes", "<f8", &[1, 1], floats(&[0.5])), factors()]), "codes have 1 row but factors have 2"),
        (npz(&[codes(), factors(), ("factor_sizes", "<i8", &[1], whole_numbers(&[1]))]), "is 1 at row 1"),
        (npz(&[("codes", "|O", &[2, 1], vec![0; 16]), factors()]), "pickled objects"),
        (npz(&[codes(), factors(), mask]), "a mask of true and false"),
        (npz(&[factors()]), "codes"),
    ];
    for (bytes, wanted) in cases {
        place.write("bad.npz", bytes);
        let message = place.refusal(&["evaluate", "bad.npz"], 2);
        assert!(message.contains(wanted), "{wanted}: {message}");
    }
    place.write("good.npz", npz(&[codes(), factors()]));
    place.output(&["evaluate", "good.npz"]);
}

/// The decoder of Parquet panics on this one, which is told as an error and in no other way.
#[test]
fn a_damaged_parquet_file() {
    let place = Place::new();
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/files/zstd.parquet");
    let mut bytes = std::fs::read(whole).unwrap();
    bytes[311] ^= 0x80;
    place.write("bad.parquet", bytes);
    let message = place.refusal(&["evaluate", "bad.parquet"], 2);
    assert!(message.contains("bad.parquet: is not a whole Parquet file"), "{message}");
}

#[test]
fn names_that_are_in_no_list() {
    let place = Place::new();
    assert!(place.refusal(&["list", "metric"], 2).contains("did you mean \"metrics\"?"));
    assert!(place.refusal(&["data", "stats", "dsprite"], 2).contains("did you mean \"dsprites\"?"));
    let fixed = place.refusal(&["data", "stats", "dsprites", "--set", "fix={ shap = 0 }"], 2);
    assert!(fixed.contains("did you mean \"shape\"?"), "{fixed}");
    place.write(
        "good.npz",
        npz(&[("codes", "<f8", &[1, 1], floats(&[0.5])), ("factors", "<i8", &[1, 1], whole_numbers(&[0]))]),
    );
    assert!(place.refusal(&["evaluate", "good.npz", "--metrics", "mig,mig"], 2).contains("named twice"));
    let case = place.refusal(&["bench", "train", "--cases", "conv.b64"], 2);
    assert!(case.contains("did you mean \"conv.b64.c1\"?") && case.contains("the cases are conv.b64.c1, "), "{case}");
    assert!(place.refusal(&["bench", "train", "--cases", "encode.c1,encode.c1"], 2).contains("named twice"));
    for seconds in ["--seconds=-1", "--seconds=nan", "--seconds=1e9"] {
        assert!(place.refusal(&["bench", "train", seconds], 2).contains("wanted 0 to 3600"));
    }
    for threads in ["0", "99999"] {
        assert!(place.refusal(&["list", "--threads", threads], 2).contains("wanted 1 to 512"));
    }
}
