//! `unbraid entangle`: every latent keeps its values and is mixed with all others.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use support::tables::{Table, every_format, json};
use support::{Place, SMALL};

#[test]
fn entangled_codes_keep_their_marginals_and_lose_their_axes() {
    let place = Place::new();
    place.write("plain.npz", Table::new(0.0).npz(Some(["shape", "angle"])));
    assert_eq!(place.output(&["entangle", "plain.npz", "mixed.npz"]), "mixed.npz\n");
    let columns = |name: &str| {
        let data = unbraid_formats::npz::read_labelled_codes(&place.path(name)).unwrap();
        let sorted = |latent: usize| {
            let mut values = data.codes().column(latent).to_vec();
            values.sort_by(f64::total_cmp);
            values
        };
        (0..data.n_latents()).map(sorted).collect::<Vec<_>>()
    };
    assert_eq!(columns("mixed.npz"), columns("plain.npz"));
    let both = json(&place, &["plain.npz", "mixed.npz", "--metrics", "mig"]);
    let mig = |name: &str| both["inputs"][name]["scores"]["mig"].as_f64().unwrap();
    assert!(mig("mixed.npz") < 0.7 * mig("plain.npz"), "{both}");
    // The names of the factors came along.
    assert!(both["inputs"]["mixed.npz"]["scores"]["mig.shape"].is_number(), "{both}");
    // The same codes from every other kind of input, and a run's with all that belongs to them.
    let place = every_format();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    place.output(&["entangle", "named.npz", "mixed.npz"]);
    let mixed = json(&place, &["mixed.npz"]);
    for file in ["table.csv", "table.tsv", "table.parquet"] {
        place.output(&["entangle", file, "out.npz"]);
        assert_eq!(json(&place, &["out.npz"]), mixed, "{file}");
    }
    place.output(&["entangle", "other_names.csv", "out.npz", "--factors", "shape,angle"]);
    assert_eq!(json(&place, &["out.npz"]), mixed);
    place.output(&["entangle", "codes.npy", "out.npz", "--factors", "factors.npy"]);
    assert_eq!(json(&place, &["out.npz"])["scores"]["mig"], mixed["scores"]["mig"]);
    place.output(&["entangle", "run", "out.npz"]);
    let (before, after) = (json(&place, &["run"]), json(&place, &["out.npz"]));
    assert_eq!(before["scores"]["reconstruction"], after["scores"]["reconstruction"]);
    assert!(after["scores"]["kl"].is_number() && after["scores"]["axis_ratio"].is_number(), "{after}");
    let refused = ["entangle", "named.npz", "out.npz", "--continuous", "shape"];
    assert!(place.refusal(&refused, 2).contains("are copied as they are"));
    assert!(place.refusal(&["entangle", "missing.npz", "out.npz"], 2).contains("there is no file missing.npz"));
    assert!(place.refusal(&["entangle", "plain.npz", "nowhere/out.npz"], 2).contains("nowhere/out.npz"));
    assert!(place.refusal(&["entangle", "plain.npz", "./plain.npz"], 2).contains("is the input itself"));
}

#[test]
#[cfg(unix)]
fn entangling_onto_a_full_disk_says_what_happened_and_where() {
    let place = Place::new();
    place.write("codes.npz", Table::new(0.5).npz(None));
    // The file is written under this name until it is whole, the first of the process; `exec` keeps the number of the process.
    let binary = env!("CARGO_BIN_EXE_unbraid");
    let line = format!("ln -s /dev/full .out.npz.tmp-$$000000; exec {binary} entangle codes.npz out.npz");
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(errors.lines().next(), Some("error: cannot write out.npz: no space left on the disk"));
    assert!(!place.path("out.npz").exists());
}
