//! Inputs and settings of `unbraid evaluate` that are mistaken: each is refused in plain words.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs::File;

use support::tables::{Table, every_format, json};

#[test]
fn settings_of_metrics_are_changed() {
    let place = every_format();
    let plain = json(&place, &["named.npz", "--metrics", "mig,cbd"]);
    let changed = json(&place, &["named.npz", "--metrics", "mig,cbd", "--set", "mig.bins=5"]);
    assert_ne!(changed["scores"]["mig"], plain["scores"]["mig"]);
    assert_eq!(changed["scores"]["cbd"], plain["scores"]["cbd"]);
    let refused = |change: &str| place.refusal(&["evaluate", "named.npz", "--metrics", "mig", "--set", change], 2);
    assert!(refused("mig.bin=5").contains("metric \"mig\" has no setting \"bin\"; did you mean \"bins\"?"));
    assert!(refused("migg.bins=5").contains("no metric is called \"migg\"; did you mean \"mig\"?"));
    assert!(refused("mig.bins=many").contains("metric \"mig\" setting \"bins\": found string \"many\""));
    assert!(refused("bins=5").contains("the change bins=5 names no metric"));
    assert!(refused("bins").contains("has no =\n       wanted METRIC.SETTING=VALUE, for instance mig.bins=10"));
    assert!(refused("cbd.alpha=0.5").contains("a setting of metric \"cbd\" is changed, which is not scored"));
    assert!(place.refusal(&["evaluate", "named.npz", "--metrics", "migg"], 2).contains("did you mean \"mig\"?"));
}

#[test]
fn inputs_with_mistakes_are_refused() {
    let place = every_format();
    place.write("broken.parquet", b"PAR1 and no more");
    place.write("notes.txt", "z0,x\n1,2\n");
    place.write("cell.csv", "z0,z1,shape\n1,2,0\n1,oops,1\n");
    place.write("no_latents.csv", "a,b\n1,2\n");
    place.write("short.csv", "z0,shape\n1,2\n3\n");
    Table { codes: Vec::new(), factors: Vec::new() }.write_parquet(File::create(place.path("empty.parquet")).unwrap());
    let cases: &[(&[&str], &str)] = &[
        (&["missing.csv"], "there is no file missing.csv"),
        (&["broken.parquet"], "broken.parquet: is not a whole Parquet file"),
        (&["notes.txt"], "wanted the folder of a run, .npz, .npy, .csv, .tsv or .parquet"),
        (&["cell.csv"], "cell.csv: column \"z1\" holds \"oops\" on line 3, which is no number"),
        (&["no_latents.csv"], "no column holds latents; the columns are a, b"),
        (&["short.csv"], "short.csv: line 3 has 1 cell, but the first line names 2 columns"),
        (&["table.csv", "--factors", "shap"], "no column is called \"shap\"; did you mean \"shape\"?"),
        (&["table.csv", "--factors", "factors.npy"], "the factors are columns of the same file"),
        (&["table.csv", "--continuous", "angel"], "no factor is called \"angel\"; did you mean \"angle\"?"),
        (&["table.csv", "--continuous", "shape", "--discrete", "shape"], "both continuous and discrete"),
        (&["codes.npy"], "codes.npy holds codes without factors"),
        (&["codes.npy", "--factors", "codes.csv"], "codes.npy holds codes without factors"),
        (&["codes.npy", "--factors", "missing.npy"], "there is no file missing.npy"),
        (&["table.csv", "codes.npy", "--factors", "shape"], "codes.npy holds codes without factors"),
        (&["codes.npy", "--factors", "factors.npy", "--factors", "other.npy"], "names a second file, other.npy"),
        (
            &["named.npz", "plain.npz", "--continuous", "angel"],
            "no factor is called \"angel\"; did you mean \"angle\"?",
        ),
        (&["empty.parquet"], "empty.parquet: wanted at least one row"),
        (&["named.npz", "--memory-limit", "0"], "--memory-limit is 0"),
        (&["named.npz", "--memory-limit", "1e-9"], "named.npz: would take 0 MB of memory, above the limit of 0 MB"),
        (&["named.npz", "--factors", "shape"], "named.npz: a .npz file holds its factors"),
        (&["named.npz", "--matrices"], "--json"),
        (&["named.npz", "--json", "--csv"], "--csv"),
        (&["."], "holds no run"),
    ];
    for (arguments, wanted) in cases {
        let arguments: Vec<&str> = ["evaluate"].iter().chain(*arguments).copied().collect();
        let message = place.refusal(&arguments, 2);
        assert!(message.contains(wanted), "{arguments:?}: {message}");
    }
}
