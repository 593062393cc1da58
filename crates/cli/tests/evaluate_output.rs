//! What `unbraid evaluate` prints and writes: tables, JSON, CSV, a folder, and notes beside them.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use serde_json::Value;
use support::tables::{Table, every_format, json};
use support::{Place, SMALL};

#[test]
fn the_table_shows_headlines_and_all_parts_when_asked() {
    let place = every_format();
    let table = place.output(&["evaluate", "named.npz"]);
    assert!(table.contains(" mig ") && table.contains("cbd.modularity"), "{table}");
    assert!(!table.contains("mig.shape") && table.contains("`--parts` shows "), "{table}");
    let whole = place.output(&["evaluate", "named.npz", "--parts"]);
    assert!(whole.contains("mig.shape") && !whole.contains("--parts"), "{whole}");
}

#[test]
fn scores_are_handed_out_as_csv_and_as_a_folder() {
    let place = every_format();
    let csv = place.output(&["evaluate", "named.npz", "plain.npz", "--csv"]);
    assert!(csv.starts_with("input,score,value,why_undefined\nnamed.npz,"), "{csv}");
    assert!(csv.contains("\nnamed.npz,mig,0."), "{csv}");
    assert!(csv.contains("\nplain.npz,kl,,"), "{csv}");
    let scores = json(&place, &["named.npz", "--matrices", "--out", "scored"]);
    let written = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(place.path("scored").join(name)).unwrap()).unwrap()
    };
    assert_eq!(written("scores.json")["scores"], scores["scores"]);
    assert_eq!(written("matrices.json"), scores["matrices"]);
    let matrices = scores["matrices"].as_object().unwrap();
    assert!(!matrices.is_empty());
    for name in matrices.keys() {
        let picture = std::fs::read(place.path(&format!("scored/heatmaps/{name}.png"))).unwrap();
        assert!(picture.starts_with(b"\x89PNG"), "{name}");
    }
    let one = place.output(&["evaluate", "named.npz", "--csv"]);
    assert_eq!(std::fs::read_to_string(place.path("scored/scores.csv")).unwrap(), one);
    place.output(&["evaluate", "named.npz", "plain.npz", "--out", "both"]);
    assert!(place.path("both/heatmaps/plain.npz").is_dir());
    assert!(place.path("both/heatmaps/named.npz/cbd.correlation.png").exists());
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    assert!(place.refusal(&["evaluate", "run", "--out", "run"], 2).contains("run holds a run"));
    assert!(place.refusal(&["evaluate", "named.npz", "--out", "table.csv"], 2).contains("table.csv"));
}

#[test]
fn what_one_has_to_know_to_read_the_scores_is_told_in_every_form() {
    let place = Place::new();
    let row = |row: usize| {
        let colour = ["red", "green", "blue"][row % 3];
        format!("{},{},{colour},{}\n", 0.01 * (row % 3) as f64, 0.01 * (row / 3) as f64, row / 3)
    };
    place.write("small.csv", "z0,z1,colour,scale\n".to_string() + &(0..12).map(row).collect::<String>());
    let command = ["evaluate", "small.csv", "--metrics", "mig,sap,cbd"];
    let wanted = ["12 rows are few", "plays a part in sap", "\"colour\" are text", "plays a part in cbd"];
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, table) = place.output(&command).split_once("notes:").map(|(a, b)| (a.to_string(), words(b))).unwrap();
    let notes = json(&place, &command[1..])["notes"].to_string().replace("\\\"", "\"");
    let csv = place.run(&[&command[..], &["--csv"]].concat());
    let (csv, errors) = (String::from_utf8(csv.stdout).unwrap(), String::from_utf8(csv.stderr).unwrap());
    for text in wanted {
        assert!(
            table.contains(text) && notes.contains(text) && errors.contains(text),
            "{text}: {table}\n{notes}\n{errors}"
        );
    }
    assert!(csv.starts_with("input,score,value,why_undefined\n") && !csv.contains("12 rows"), "{csv}");
}

#[test]
fn tables_are_understood_in_plain_words() {
    let place = Place::new();
    place.write("one.csv", "z0,shape,angle\n1,square,0.5\n2,square,0.75\n");
    let errors = String::from_utf8(place.run(&["evaluate", "one.csv", "--metrics", "mig"]).stderr).unwrap();
    assert_eq!(errors, "one.csv: latent z0; factors shape (1 value), angle (continuous)\n");
    place.write("missing.csv", "z0,shape\n1,0\nNA,1\n");
    let message = place.refusal(&["evaluate", "missing.csv"], 2);
    assert!(message.contains("column \"z0\" holds \"NA\" on line 3, which is no number"), "{message}");
    assert!(!message.contains("--discrete"), "{message}");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let place = Place::new();
    let name = "\u{1b}[2J\u{7}";
    place.write("names.npz", Table::new(0.3).npz(Some([name, "angle"])));
    place.write("\u{1b}[31m.csv", Table::new(0.3).csv(&format!("{name},z0,z1,angle,z2")));
    let inputs = ["names.npz", "\u{1b}[31m.csv"];
    for arguments in
        [&["--parts"][..], &["--csv"], &["--json"], &["--continuous", "nothing"], &["--factors", "nothing"]]
    {
        let arguments: Vec<&str> =
            ["evaluate", "--metrics", "mig"].iter().chain(&inputs).chain(arguments).copied().collect();
        let run = place.run(&arguments);
        for text in [run.stdout, run.stderr].map(|text| String::from_utf8(text).unwrap()) {
            assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{arguments:?}: {text:?}");
        }
    }
    // In JSON nothing is changed but the way in which it is written.
    let all = json(&place, &["names.npz", "\u{1b}[31m.csv", "--metrics", "mig"]);
    let key = format!("mig.{name}");
    assert!(all["inputs"]["names.npz"]["scores"][&key].is_number(), "{all}");
    assert!(all["inputs"]["\u{1b}[31m.csv"]["scores"][&key].is_number(), "{all}");
}

#[test]
#[cfg(target_os = "linux")]
fn inputs_whose_names_are_no_text_keep_their_scores() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let names = [OsStr::from_bytes(b"a\xff.npz"), OsStr::from_bytes(b"a\xfe.npz"), OsStr::new("a\\xff.npz")];
    for (number, name) in names.iter().enumerate() {
        let table = Table::new(0.3 * number as f64);
        std::fs::write(place.path("").join(name), table.npz(Some(["shape", "angle"]))).unwrap();
    }
    let run = place.command(&["evaluate", "--json", "--metrics", "mig"]).args(names).output().unwrap();
    let all: Value = serde_json::from_slice(&run.stdout).unwrap();
    let keys: Vec<&String> = all["inputs"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["a\\xff.npz", "a\\xfe.npz", "a\\xff.npz (2)"]);
    let mig = |key: &str| all["inputs"][key]["scores"]["mig"].as_f64().unwrap();
    assert!(mig(keys[0]) > mig(keys[1]) && mig(keys[0]) > mig(keys[2]), "{all}");
    let out = place.command(&["evaluate", "--metrics", "cbd", "--out", "both"]).args(names).output().unwrap();
    assert!(out.status.success());
    assert_eq!(std::fs::read_dir(place.path("both/heatmaps")).unwrap().count(), 3);
}
