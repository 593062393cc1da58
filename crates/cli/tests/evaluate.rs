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
            file.extend(names.iter().flat_map(|name| name.bytes()));
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
    assert!(refused("bins").contains("has no ="));
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
    let cases: &[(&[&str], &str)] = &[
        (&["missing.csv"], "there is no file missing.csv"),
        (&["broken.parquet"], "broken.parquet: is not a whole Parquet file"),
        (&["notes.txt"], "wanted the folder of a run, .npz, .npy, .csv, .tsv or .parquet"),
        (&["cell.csv"], "cell.csv: line 3, column \"z1\" holds \"oops\", but the lines above hold numbers"),
        (&["no_latents.csv"], "no column holds latents; the columns are a, b"),
        (&["short.csv"], "short.csv: line 3 has 1 cells, but the first line names 2 columns"),
        (&["table.csv", "--factors", "shap"], "no column is called \"shap\"; did you mean \"shape\"?"),
        (&["table.csv", "--factors", "factors.npy"], "the factors are columns of the same file"),
        (&["table.csv", "--continuous", "angel"], "no factor is called \"angel\"; did you mean \"angle\"?"),
        (&["table.csv", "--continuous", "shape", "--discrete", "shape"], "both continuous and discrete"),
        (&["codes.npy"], "codes.npy holds codes without factors"),
        (&["codes.npy", "--factors", "codes.csv"], "codes.npy holds codes without factors"),
        (&["codes.npy", "--factors", "missing.npy"], "there is no file missing.npy"),
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
        let data = unbraid_data::npz::read_labelled_codes(&place.path(name)).unwrap();
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
    assert!(place.refusal(&["entangle", "missing.npz", "out.npz"], 2).contains("there is no file missing.npz"));
    assert!(place.refusal(&["entangle", "plain.npz", "nowhere/out.npz"], 2).contains("nowhere/out.npz"));
    assert!(place.refusal(&["entangle", "plain.npz", "./plain.npz"], 2).contains("is the input itself"));
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
