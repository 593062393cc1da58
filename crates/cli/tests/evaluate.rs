//! Anyone's codes: every format gives the same scores, several inputs stand side by side, mistakes are told.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Repetition, Type};
use parquet::data_type::DoubleType;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as SchemaType;
use serde_json::Value;
use support::{Place, SMALL};
use unbraid_data::npy::write_header;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A table of two factors, one discrete and one continuous, and codes that follow them.
struct Table {
    codes: Vec<[f64; 3]>,
    factors: Vec<[f64; 2]>,
}

impl Table {
    /// Sixty rows; another `turn` makes other codes of the same factors.
    fn new(turn: f64) -> Self {
        let factors: Vec<[f64; 2]> = (0..60).map(|row| [f64::from(row % 4), f64::from(row * 37 % 60) / 7.0]).collect();
        let code = |(row, [shape, angle]): (usize, &[f64; 2])| {
            [shape + turn * angle, angle - turn * shape, f64::from(row as u32 * 17 % 11) / 3.0]
        };
        Self { codes: factors.iter().enumerate().map(code).collect(), factors }
    }

    fn npy<const N: usize>(rows: &[[f64; N]]) -> Vec<u8> {
        let mut file = Vec::new();
        write_header(&mut file, "<f8", &[rows.len(), N]).unwrap();
        file.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
        file
    }

    /// With the names that a pair of `.npy` gives the factors, or these.
    fn npz(&self, names: Option<[&str; 2]>) -> Vec<u8> {
        let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let mut add = |name: &str, bytes: &[u8]| {
            archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes).unwrap();
        };
        add("codes", &Self::npy(&self.codes));
        add("factors", &Self::npy(&self.factors));
        if let Some(names) = names {
            let mut file = Vec::new();
            write_header(&mut file, "|S5", &[2]).unwrap();
            file.extend(names.iter().flat_map(|name| name.bytes().chain(std::iter::repeat(0)).take(5)));
            add("factor_names", &file);
        }
        archive.finish().unwrap().into_inner()
    }

    fn csv(&self, header: &str) -> String {
        let mut text = format!("{header}\n");
        for ([z0, z1, z2], [shape, angle]) in self.codes.iter().zip(&self.factors) {
            text += &format!("{shape},{z0},{z1},{angle},{z2}\n");
        }
        text
    }

    fn write_parquet(&self, file: File) {
        let of_code = |latent: usize| self.codes.iter().map(|code| code[latent]).collect::<Vec<_>>();
        let of_factor = |factor: usize| self.factors.iter().map(|factors| factors[factor]).collect::<Vec<_>>();
        let columns = [
            ("shape", of_factor(0)),
            ("z0", of_code(0)),
            ("z1", of_code(1)),
            ("angle", of_factor(1)),
            ("z2", of_code(2)),
        ];
        let field = |name: &str| {
            let builder = SchemaType::primitive_type_builder(name, Type::DOUBLE);
            Arc::new(builder.with_repetition(Repetition::REQUIRED).build().unwrap())
        };
        let fields = columns.iter().map(|(name, _)| field(name)).collect();
        let schema = Arc::new(SchemaType::group_type_builder("schema").with_fields(fields).build().unwrap());
        let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for (_, values) in &columns {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
    }
}

/// A folder with the table in every format.
fn every_format() -> Place {
    let place = Place::new();
    let table = Table::new(0.3);
    place.write("named.npz", table.npz(Some(["shape", "angle"])));
    place.write("plain.npz", table.npz(None));
    place.write("codes.npy", Table::npy(&table.codes));
    place.write("factors.npy", Table::npy(&table.factors));
    place.write("table.csv", table.csv("shape,z0,z1,angle,z2"));
    place.write("other_names.csv", table.csv("shape,first,second,angle,third"));
    place.write("table.tsv", table.csv("shape,z0,z1,angle,z2").replace(',', "\t"));
    table.write_parquet(File::create(place.path("table.parquet")).unwrap());
    place
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["evaluate", "--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&place.output(&arguments)).unwrap()
}

#[test]
fn every_format_gives_the_same_scores() {
    let place = every_format();
    let named = json(&place, &["named.npz"]);
    assert!(named["scores"]["mig"].is_number() && named["scores"]["mig.shape"].is_number(), "{named}");
    for file in ["table.csv", "table.tsv", "table.parquet"] {
        assert_eq!(json(&place, &[file]), named, "{file}");
        assert_eq!(json(&place, &[file, "--factors", "shape,angle"]), named, "{file}");
    }
    assert_eq!(json(&place, &["other_names.csv", "--factors", "shape,angle"]), named);
    let plain = json(&place, &["plain.npz"]);
    assert_eq!(json(&place, &["codes.npy", "--factors", "factors.npy"]), plain);
    assert_eq!(plain["scores"]["mig"], named["scores"]["mig"]);
}

#[test]
fn text_is_numbered_and_kinds_can_be_overruled() {
    let place = every_format();
    let table = Table::new(0.3);
    // In sorted order: ant, bee, cat, dog.
    let mut text = table.csv("shape,z0,z1,angle,z2");
    for (number, name) in ["ant", "bee", "cat", "dog"].iter().enumerate() {
        text = text.replace(&format!("\n{number},"), &format!("\n{name},"));
    }
    place.write("text.csv", &text);
    let named = json(&place, &["named.npz"]);
    let text = json(&place, &["text.csv"]);
    assert_eq!((&text["scores"], &text["undefined"]), (&named["scores"], &named["undefined"]));
    assert!(text["notes"].to_string().contains("are text and numbered alphabetically"));
    let discrete = json(&place, &["table.csv", "--discrete", "angle"]);
    assert_ne!(discrete["scores"]["mig.angle"], named["scores"]["mig.angle"]);
    assert_eq!(json(&place, &["named.npz", "--discrete", "angle"]), discrete);
    let continuous = json(&place, &["table.csv", "--continuous", "shape"]);
    assert_eq!(json(&place, &["table.parquet", "--continuous", "shape"]), continuous);
    assert_eq!(json(&place, &["named.npz", "--continuous", "shape"]), continuous);
    // How the columns were understood is told beside the scores.
    let errors = String::from_utf8(place.run(&["evaluate", "text.csv"]).stderr).unwrap();
    assert_eq!(errors, "text.csv: 3 latents from z0 to z2; factors shape (4 values), angle (continuous)\n");
}

#[test]
fn several_inputs_stand_side_by_side() {
    let place = every_format();
    place.write("other.npz", Table::new(0.9).npz(Some(["shape", "angle"])));
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    let names = ["named.npz", "other.npz", "run"];
    let all = json(&place, &names);
    for name in names {
        assert!(all["inputs"][name]["scores"]["mig"].is_number(), "{all}");
    }
    assert_eq!(all["inputs"]["other.npz"]["scores"]["mig"], json(&place, &["other.npz"])["scores"]["mig"]);
    let table = place.output(&["evaluate", "named.npz", "other.npz", "run"]);
    let header: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["score", "named.npz", "other.npz", "run"]);
    let row: Vec<&str> = table.lines().find(|line| line.starts_with(" kl ")).unwrap().split_whitespace().collect();
    assert_eq!(row[..3], ["kl", "–", "–"]);
    assert!(table.contains("not defined:\n") && table.contains(" of named.npz, other.npz: "), "{table}");
    assert!(place.refusal(&["evaluate", "run", "run"], 2).contains("run is named twice"));
}

#[test]
fn inputs_of_every_kind_stand_side_by_side() {
    let place = every_format();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    let inputs = ["run", "named.npz", "codes.npy", "table.csv", "table.tsv", "table.parquet", "other_names.csv"];
    let factors = ["--factors", "factors.npy", "--factors", "shape,angle"];
    let kinds = ["--continuous", "shape", "--discrete", "angle,factor_1"];
    let chosen = ["--metrics", "mig,udr,cbd"];
    let arguments: Vec<&str> = inputs.iter().chain(&factors).chain(&chosen).copied().collect();
    let all = json(&place, &arguments);
    let alone = json(&place, &["named.npz", "--metrics", "mig,udr,cbd"]);
    for name in &inputs[1..] {
        let scores = &all["inputs"][name]["scores"];
        assert_eq!(scores["mig"], alone["scores"]["mig"], "{name}");
        // The six are codes of the same images, and are compared as such; the run's are not.
        assert!(scores["udr"].is_number(), "{name}: {scores}");
    }
    assert!(all["inputs"]["run"]["scores"]["mig"].is_number());
    assert!(all["inputs"]["run"]["undefined"]["udr"].is_string());
    // What is said of factors holds for the inputs that have them.
    let arguments: Vec<&str> = arguments.into_iter().chain(kinds).collect();
    let overruled = json(&place, &arguments);
    let mig = |all: &Value, name: &str| all["inputs"][name]["scores"]["mig"].clone();
    assert_eq!(mig(&overruled, "run"), mig(&all, "run"));
    assert_ne!(mig(&overruled, "codes.npy"), mig(&all, "codes.npy"));
    assert_ne!(mig(&overruled, "table.csv"), mig(&all, "table.csv"));
    assert_eq!(mig(&overruled, "table.csv"), mig(&overruled, "named.npz"));
    // A run's factors can be overruled, too.
    let plain = json(&place, &["run", "--metrics", "mig"]);
    let name = plain["scores"].as_object().unwrap().keys().find_map(|name| name.strip_prefix("mig.")).unwrap();
    let continuous = json(&place, &["run", "--metrics", "mig", "--continuous", name]);
    assert!(continuous["scores"]["mig"].is_number(), "{continuous}");
    assert!(place.refusal(&["evaluate", "run", "--discrete", "shapes"], 2).contains("no factor is called \"shapes\""));
}

#[test]
fn text_in_arrays_is_numbered_as_in_csv() {
    let place = Place::new();
    let table = Table::new(0.3);
    let words = ["ant", "bee", "cat", "dog"];
    let mut text = table.csv("shape,z0,z1,angle,z2");
    for (number, name) in words.iter().enumerate() {
        text = text.replace(&format!("\n{number},"), &format!("\n{name},"));
    }
    place.write("text.csv", &text);
    // numpy makes text of numbers that stand beside text.
    let mut factors = Vec::new();
    write_header(&mut factors, "<U32", &[60, 2]).unwrap();
    for [shape, angle] in &table.factors {
        for cell in [words[*shape as usize].to_string(), angle.to_string()] {
            let padded = cell.chars().chain(std::iter::repeat('\0')).take(32);
            factors.extend(padded.flat_map(|letter| u32::from(letter).to_le_bytes()));
        }
    }
    place.write("factors.npy", &factors);
    place.write("codes.npy", Table::npy(&table.codes));
    let of_arrays = json(&place, &["codes.npy", "--factors", "factors.npy", "--metrics", "mig,cbd"]);
    let of_csv = json(&place, &["text.csv", "--metrics", "mig,cbd"]);
    for score in ["mig", "cbd"] {
        assert_eq!(of_arrays["scores"][score], of_csv["scores"][score], "{score}");
    }
    let refused = ["evaluate", "codes.npy", "--factors", "factors.npy", "--continuous", "factor_0"];
    assert!(place.refusal(&refused, 2).contains("factor \"factor_0\" is called continuous, but holds text"));
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
fn tables_are_understood_in_plain_words() {
    let place = Place::new();
    place.write("one.csv", "z0,shape,angle\n1,square,0.5\n2,square,0.75\n");
    let told = String::from_utf8(place.run(&["evaluate", "one.csv", "--metrics", "mig"]).stderr).unwrap();
    assert_eq!(told, "one.csv: latent z0; factors shape (1 value), angle (continuous)\n");
    place.write("missing.csv", "z0,shape\n1,0\nNA,1\n");
    let message = place.refusal(&["evaluate", "missing.csv"], 2);
    assert!(message.contains("column \"z0\" holds \"NA\" on line 3, which is no number"), "{message}");
    assert!(!message.contains("--discrete"), "{message}");
}

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
    assert!(refused("bins=5").contains("--set bins=5 names no metric"));
    assert!(refused("bins").contains("has no =\n       wanted METRIC.SETTING=VALUE, for instance mig.bins=10"));
    assert!(refused("cbd.alpha=0.5").contains("metric \"cbd\", which is not scored"));
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
fn runs_with_several_seeds_encode_the_same_rows_and_are_ranked() {
    let place = Place::new();
    place.write("small.toml", format!("rows = 30\n{SMALL}"));
    for seed in ["1", "2", "3"] {
        let (run, change) = (format!("s{seed}"), format!("seed={seed}"));
        place.output(&["train", "small.toml", "--out", &run, "--set", &change]);
    }
    let told: Value =
        serde_json::from_str(&place.output(&["evaluate", "s1", "s2", "s3", "--metrics", "udr", "--json"])).unwrap();
    for run in ["s1", "s2", "s3"] {
        assert!(told["inputs"][run]["scores"]["udr"].is_number(), "{told}");
    }
    // Of other images there is no ranking, and that is the reason that is told.
    place.output(&["resume", "s2", "--set", "rows_seed=2"]);
    let told: Value =
        serde_json::from_str(&place.output(&["evaluate", "s1", "s2", "--metrics", "udr", "--json"])).unwrap();
    for run in ["s1", "s2"] {
        let reason = told["inputs"][run]["undefined"]["udr"].as_str().unwrap();
        assert!(reason.contains("another input is of other images: the factors of its rows differ"), "{reason}");
    }
    let told: Value =
        serde_json::from_str(&place.output(&["evaluate", "s1", "s2", "s3", "--metrics", "udr", "--json"])).unwrap();
    assert!(told["inputs"]["s1"]["scores"]["udr"].is_number(), "{told}");
    assert!(
        told["inputs"]["s1"]["notes"].to_string().contains("compared with 1 of 2 inputs: the others show other images"),
        "{told}"
    );
}

#[test]
fn what_an_auto_encoder_lacks_is_told_for_what_it_is() {
    let place = Place::new();
    place.write("ae.toml", SMALL.replace("\"beta_vae\"\nbeta = 0.5", "\"ae\""));
    place.output(&["train", "ae.toml", "--out", "a"]);
    let told: Value = serde_json::from_str(&place.output(&["evaluate", "a", "--json"])).unwrap();
    for name in ["kl", "elbo", "polarized", "unsupervised.sampled", "rmig", "wsepin", "windin"] {
        let reason = told["undefined"][name].as_str().unwrap();
        assert!(reason.contains("a deterministic auto-encoder has none"), "{name}: {reason}");
        assert!(!reason.contains("which a trained run"), "{name}: {reason}");
    }
}

#[test]
#[cfg(unix)]
fn entangling_onto_a_full_disk_says_what_happened_and_where() {
    let place = Place::new();
    place.write("codes.npz", Table::new(0.5).npz(None));
    // The file is written under this name until it is whole; `exec` keeps the number of the process.
    let binary = env!("CARGO_BIN_EXE_unbraid");
    let line = format!("ln -s /dev/full .out.npz.tmp-$$; exec {binary} entangle codes.npz out.npz");
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().next(), Some("error: cannot write out.npz: no space left on the disk"));
    assert!(!place.path("out.npz").exists());
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
