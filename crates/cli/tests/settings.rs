//! What `unbraid list KIND NAME` tells of settings is what is there and what is taken, for every row of every list.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::sync::Arc;

use serde_json::Value as Json;
use support::Place;
use toml::{Table, Value};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{FactorSpace, ImageShape, Result, Split, datasets, samplers};
use unbraid_learn::{frameworks, networks, optimisers, reconstruction};
use unbraid_metrics::METRICS;

const IMAGES: ImageShape = ImageShape { height: 64, width: 64, channels: 1 };

/// Makes what a row names, with these settings.
type Build = Box<dyn Fn(&Table) -> Result<()>>;

/// A row of any list: what it tells, and what really happens.
struct Row {
    name: String,
    settings: &'static [Setting],
    complete: fn(&Table) -> Result<Table>,
    build: Build,
    /// Settings that it needs to be made at all.
    example: Table,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for entry in datasets::DATASETS {
        let build = Box::new(|table: &Table| (entry.build)(table).map(|_| ()));
        let (name, example) = (format!("datasets {}", entry.name), entry.example_settings());
        rows.push(Row { name, settings: entry.settings, complete: entry.complete, build, example });
    }
    for entry in frameworks::FRAMEWORKS {
        let build = Box::new(|table: &Table| (entry.build)(table).map(|_| ()));
        let (name, example) = (format!("frameworks {}", entry.name), entry.example.parse().unwrap());
        rows.push(Row { name, settings: entry.settings, complete: entry.complete, build, example });
    }
    let mut add = |kind: &str, name: &str, settings, complete, build: Build| {
        rows.push(Row { name: format!("{kind} {name}"), settings, complete, build, example: Table::new() });
    };
    for entry in samplers::SAMPLERS {
        let build = Box::new(|table: &Table| {
            (entry.build)(table, &FactorSpace::grid([("x", 4), ("y", 4), ("scale", 3)]), &Arc::new(Split::all(48)))
                .map(|_| ())
        });
        add("samplers", entry.name, entry.settings, entry.complete, build);
    }
    for entry in networks::NETWORKS {
        let build = Box::new(|table: &Table| (entry.build)(table, IMAGES).map(|_| ()));
        add("models", entry.name, entry.settings, entry.complete, build);
    }
    for entry in reconstruction::RECONSTRUCTIONS {
        let build = Box::new(|table: &Table| (entry.build)(table).map(|_| ()));
        add("reconstructions", entry.name, entry.settings, entry.complete, build);
    }
    for entry in optimisers::OPTIMISERS {
        let build = Box::new(|table: &Table| (entry.build)(table).map(|_| ()));
        add("optimisers", entry.name, entry.settings, entry.complete, build);
    }
    for entry in METRICS {
        let build = Box::new(|table: &Table| (entry.build)(table).map(|_| ()));
        add("metrics", entry.name, entry.settings, entry.complete, build);
    }
    rows
}

/// The keys that a row takes, as it tells them to whoever misspells one.
fn keys(row: &Row) -> Vec<String> {
    let refused = (row.complete)(&with(row, "no such setting", Value::Integer(0))).unwrap_err().to_string();
    let listed = refused.lines().last().unwrap().trim().strip_prefix("it has ").unwrap();
    if listed == "none" { Vec::new() } else { listed.split(", ").map(String::from).collect() }
}

fn with(row: &Row, name: &str, value: Value) -> Table {
    let mut settings = row.example.clone();
    // The example has a custom schedule, for omega and eta; only one that has a name takes steps.
    if name == "schedule_steps" {
        settings.remove("schedule");
    }
    settings.insert(name.to_string(), value);
    settings
}

#[test]
fn every_setting_is_told_and_nothing_else() {
    for row in rows() {
        let listed: Vec<&str> = row.settings.iter().map(|setting| setting.name).collect();
        assert_eq!(listed, keys(&row), "{}", row.name);
        for setting in row.settings {
            let length = setting.meaning.len();
            assert!((10..=110).contains(&length), "{}.{}: {length} letters", row.name, setting.name);
        }
    }
}

#[test]
fn what_is_told_is_taken_and_what_lies_beyond_is_refused() {
    for row in rows() {
        for setting in row.settings {
            let place = format!("{}.{}", row.name, setting.name);
            let takes = |value: Value| (row.build)(&with(&row, setting.name, value)).is_ok();
            let check = |value: Value, wanted: bool| assert_eq!(takes(value.clone()), wanted, "{place} = {value}");
            let open = setting.values.is_open();
            match setting.values {
                Values::Whole(least, most) => {
                    let (least, most) = (least as i64, if open { i64::MAX } else { most as i64 });
                    check(Value::Integer(least), true);
                    check(Value::Integer(most), true);
                    check(Value::Integer(least - 1), false);
                    check(Value::Float(least as f64 + 0.5), false);
                    if !open {
                        check(Value::Integer(most + 1), false);
                    }
                }
                Values::Number(least, most) | Values::Schedule(least, most) => {
                    for value in [least, most] {
                        check(Value::Float(value), true);
                    }
                    for value in [least.next_down(), most.next_up(), f64::NAN] {
                        check(Value::Float(value), false);
                    }
                    let way = |to: f64| {
                        Value::Table(format!("from = {least:?}\nto = {to:?}\nsteps = 9").parse::<Table>().unwrap())
                    };
                    check(way(most), matches!(setting.values, Values::Schedule(..)));
                    check(way(most.next_up()), false);
                }
                Values::OneOf(names) => {
                    for name in names {
                        check(Value::String(name.to_string()), true);
                    }
                    let refused = (row.build)(&with(&row, setting.name, Value::String("no such name".to_string())));
                    let message = refused.unwrap_err().to_string();
                    // Reconstruction losses are a list of their own, which is held below.
                    if !["reconstruction", "perceived"].contains(&setting.name) {
                        let all = message.split_once("wanted one of ").map(|(_, all)| all.trim_end());
                        assert_eq!(all, Some(names.join(", ").as_str()), "{place}: {message}");
                    }
                }
                Values::Flag => [true, false].into_iter().for_each(|value| check(Value::Boolean(value), true)),
                Values::Words(_) => check(Value::Boolean(true), false),
            }
        }
    }
    // The one choice that is no enum.
    let names: Vec<&str> = reconstruction::RECONSTRUCTIONS.iter().map(|entry| entry.name).collect();
    for framework in frameworks::FRAMEWORKS {
        let chooses_a_loss = |setting: &&Setting| ["reconstruction", "perceived"].contains(&setting.name);
        for listed in framework.settings.iter().filter(chooses_a_loss) {
            assert_eq!(listed.values, Values::OneOf(names.clone().leak()));
        }
    }
}

#[test]
fn defaults_are_among_what_is_told() {
    for row in rows() {
        let defaults = (row.complete)(&row.example).unwrap();
        for setting in row.settings {
            let Some(default) = defaults.get(setting.name) else { continue };
            let number = || default.as_float().unwrap_or_else(|| panic!("{}.{} is {default}", row.name, setting.name));
            let is_told = match setting.values {
                Values::Whole(least, most) => (least..=most).contains(&(default.as_integer().unwrap() as u64)),
                // A schedule was read and checked by `build`.
                Values::Schedule(..) if default.is_table() => (row.build)(&row.example).is_ok(),
                Values::Number(least, most) | Values::Schedule(least, most) => (least..=most).contains(&number()),
                Values::OneOf(names) => names.contains(&default.as_str().unwrap()),
                Values::Flag => default.is_bool(),
                Values::Words(_) => true,
            };
            assert!(is_told, "{}.{} is {default}", row.name, setting.name);
        }
    }
}

#[test]
fn one_of_a_list_is_printed_with_its_settings() {
    let place = Place::new();
    let mig = place.output(&["list", "metrics", "mig"]);
    for wanted in [
        "mig: gap between the two latents that tell most about each factor\nChen et al. 2018\n",
        "bins         20                 a whole number from 1 to 10000",
        "factor_entropy, latent_entropy or none",
        "[[metrics]]\n  name = \"mig\"\n  bins = 20\n  normaliser = \"factor_entropy\"",
    ] {
        assert!(mig.contains(wanted), "{wanted}\n{mig}");
    }
    let mig: Json = serde_json::from_str(&place.output(&["list", "metrics", "mig", "--json"])).unwrap();
    let bins = &mig["settings"][0];
    assert_eq!((bins["name"].as_str(), bins["default"].as_u64()), (Some("bins"), Some(20)));
    assert_eq!((bins["least"].as_u64(), bins["most"].as_u64()), (Some(1), Some(10_000)));
    assert_eq!(mig["settings"][1]["one_of"][1], "latent_entropy");
    assert!(place.output(&["list", "datasets", "dsprites"]).contains("fix"));
    assert!(place.output(&["list", "frameworks", "beta_vae"]).contains("a schedule is like { from = 0.0"));
    assert!(place.output(&["list", "reconstructions", "mse"]).contains("it has no settings"));
    let refused = place.refusal(&["list", "metrics", "migg"], 2);
    assert!(refused.contains("no metric is called \"migg\"; did you mean \"mig\"?"), "{refused}");
}

#[test]
fn the_keys_of_a_config_are_printed() {
    let place = Place::new();
    let listed = place.output(&["list", "config"]);
    for wanted in ["training.steps", "30000", "training.learning_rate", "0.001", "rows", "`unbraid list datasets`"] {
        assert!(listed.contains(wanted), "{wanted}\n{listed}");
    }
    let rows: Json = serde_json::from_str(&place.output(&["list", "config", "training", "--json"])).unwrap();
    assert_eq!(rows[0]["name"], "training.steps");
    assert_eq!((rows[0]["default"].as_u64(), rows.as_array().unwrap().len()), (Some(30_000), 4));
    assert!(place.refusal(&["list", "config", "sead"], 2).contains("did you mean \"seed\"?"));
    assert!(place.refusal(&["list", "training"], 2).contains("config"));
}
