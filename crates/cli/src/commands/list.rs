//! `unbraid list`: what can be named in a config, and the settings of each.

use serde_json::{Value, json};
use toml::Table;
use unbraid_data::error::{did_you_mean, unknown_name};
use unbraid_data::files::data_root::Published;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result, datasets, samplers};
use unbraid_experiment::config_settings::{CONFIG_SETTINGS, config_default};
use unbraid_experiment::reproductions::REPRODUCTIONS;
use unbraid_learn::{frameworks, networks, optimisers, posteriors, reconstruction};
use unbraid_metrics::ScoreKind;
use unbraid_report::tables::{ListRow, SettingRow, list_table, score_kinds_table, settings_table};

use super::table_width;
use crate::Outcome;
use crate::output::print;

const SCHEDULES: &str = "\
a schedule is like { from = 0.0, to = 4.0, steps = 10_000, start = 0, shape = \"linear\" }; shapes are linear, cosine and \
cyclic";

const EXAMPLES: &str = "\
`unbraid list metrics` prints the metrics, `unbraid list metrics mig` the settings and scores of one of them, and `unbraid list
config` the keys of a config that belong to no list.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What to list: datasets, samplers, models, posteriors, frameworks, reconstructions, optimisers, metrics, reproductions, or config; all lists
    /// where left out
    kind: Option<String>,

    /// One of that list: prints its settings, each with its default, what it takes and what it means
    name: Option<String>,

    /// Print JSON: an array of objects with kind, name, about, paper, settings and, of a metric, scores; or the one that was named
    #[arg(long)]
    json: bool,
}

/// A row of any list.
struct Row {
    kind: &'static str,
    name: &'static str,
    about: &'static str,
    paper: &'static str,
    settings: Vec<Setting>,
    complete: fn(&Table) -> Result<Table>,
}

/// The rows of a list, whatever it lists.
macro_rules! rows {
    ($kind:literal, $list:expr) => {
        rows!($kind, $list, |entry| (entry.settings.to_vec(), entry.complete))
    };
    ($kind:literal, $list:expr, |$entry:ident| $settings:expr) => {
        $list
            .iter()
            .map(|$entry| {
                let (settings, complete) = $settings;
                let (name, about, paper) = ($entry.name, $entry.about, $entry.paper);
                Row { kind: $kind, name, about, paper, settings, complete }
            })
            .collect()
    };
}

/// Every list with its rows.
fn lists() -> Vec<(&'static str, Vec<Row>)> {
    vec![
        ("datasets", rows!("dataset", datasets::DATASETS, |entry| (with_shared(entry.settings), entry.complete))),
        ("samplers", rows!("sampler", samplers::SAMPLERS)),
        ("models", rows!("model", networks::NETWORKS)),
        ("posteriors", rows!("posterior", posteriors::POSTERIORS, |_entry| (Vec::new(), no_settings))),
        ("frameworks", rows!("framework", frameworks::FRAMEWORKS)),
        ("reconstructions", rows!("reconstruction", reconstruction::RECONSTRUCTIONS)),
        ("optimisers", rows!("optimiser", optimisers::OPTIMISERS)),
        ("metrics", rows!("metric", unbraid_metrics::METRICS)),
        ("reproductions", rows!("reproduction", REPRODUCTIONS, |_entry| (Vec::new(), no_settings))),
    ]
}

/// A posterior is chosen by its framework, and a reproduction is as it was published.
fn no_settings(_: &Table) -> Result<Table> {
    Ok(Table::new())
}

/// A dataset's own settings and those that all share.
fn with_shared(own: &[Setting]) -> Vec<Setting> {
    own.iter().copied().chain(datasets::SHARED_SETTINGS.iter().copied()).collect()
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let lists = lists();
    let (kind, name) = (arguments.kind.as_deref(), arguments.name.as_deref());
    if kind == Some("config") {
        return tell_config(name, arguments.json);
    }
    let chosen: Vec<_> = match kind {
        None => lists.iter().collect(),
        Some(kind) => vec![lists.iter().find(|(name, _)| *name == kind).ok_or_else(|| unknown_kind(kind, &lists))?],
    };
    if let (Some(name), [(_, rows)]) = (name, chosen.as_slice()) {
        return tell_one(named(name, rows)?, arguments.json);
    }
    if arguments.json {
        let objects: Vec<Value> = chosen.iter().flat_map(|(_, rows)| rows).map(Row::json).collect::<Result<_>>()?;
        print(format!("{:#}", Value::from(objects)))?;
        return Ok(Outcome::Done);
    }
    for (kind, rows) in chosen {
        print(format!("{kind}\n{}", table_of_rows(rows)))?;
    }
    print(EXAMPLES)?;
    Ok(Outcome::Done)
}

/// The datasets, as `unbraid data list` prints them.
pub fn datasets_table() -> String {
    lists().iter().find(|(kind, _)| *kind == "datasets").map_or_else(String::new, |(_, rows)| table_of_rows(rows))
}

fn table_of_rows(rows: &[Row]) -> String {
    let rows: Vec<ListRow> =
        rows.iter().map(|row| ListRow { name: row.name, about: row.about, paper: row.paper }).collect();
    list_table(&rows, table_width())
}

fn named<'a>(name: &str, rows: &'a [Row]) -> Result<&'a Row> {
    let kind = rows.first().map_or("row", |row| row.kind);
    let found = rows.iter().find(|row| row.name == name);
    found.ok_or_else(|| unknown_name(kind, name, rows.iter().map(|row| row.name)))
}

/// Prints one row of a list with all its settings.
fn tell_one(row: &Row, as_json: bool) -> Result<Outcome> {
    if as_json {
        print(format!("{:#}", row.json()?))?;
        return Ok(Outcome::Done);
    }
    print(format!("{}: {}\n{}\n", row.name, row.about, row.paper))?;
    if row.settings.is_empty() {
        print("it has no settings\n")?;
    } else {
        let defaults = row.defaults()?;
        print(table_of_settings(&row.settings, |name| defaults.get(name).cloned()))?;
    }
    let scores = row.scores();
    if !scores.is_empty() {
        print(format!(
            "its scores, many of them for each factor or latent, too:\n{}",
            score_kinds_table(scores, table_width())
        ))?;
    }
    if let [first, others @ ..] = row.samplers() {
        let others: String = others.iter().map(|name| format!(", \"{name}\"")).collect();
        print(format!("samplers that suit it: \"{first}\" (where a config names none){others}\n"))?;
    }
    if let Some(published) = row.published() {
        print(format!("read from {} ({}), published at {}\n", published.names[0], published.size, published.place))?;
    }
    match row.kind {
        "reproduction" => print(format!("  unbraid reproduce {}", row.name))?,
        _ => print(format!("in a config:\n{}", row.in_a_config()?))?,
    }
    Ok(Outcome::Done)
}

/// Prints the keys of a config that belong to no list; those of a section, or one, where `name` is given.
fn tell_config(name: Option<&str>, as_json: bool) -> Result<Outcome> {
    let is_chosen = |key: &str| name.is_none_or(|name| key == name || key.starts_with(&format!("{name}.")));
    let chosen: Vec<Setting> = CONFIG_SETTINGS.iter().copied().filter(|setting| is_chosen(setting.name)).collect();
    if let (Some(name), []) = (name, chosen.as_slice()) {
        let keys = || CONFIG_SETTINGS.iter().map(|setting| setting.name);
        let close = did_you_mean(name, keys());
        let help = format!("it has {}", keys().collect::<Vec<_>>().join(", "));
        return Err(Error::new(format!("a config has no \"{name}\"{close}")).help(help));
    }
    if as_json {
        let objects: Vec<Value> =
            chosen.iter().map(|row| setting_json(row, config_default(row.name).as_ref())).collect();
        print(format!("{:#}", Value::from(objects)))?;
    } else {
        print(table_of_settings(&chosen, config_default))?;
        print(
            "`--set training.steps=1000` changes one for `train`; each section takes the settings of what it names, too",
        )?;
    }
    Ok(Outcome::Done)
}

fn table_of_settings(settings: &[Setting], default: impl Fn(&str) -> Option<toml::Value>) -> String {
    let rows: Vec<SettingRow> = settings
        .iter()
        .map(|setting| SettingRow {
            name: setting.name,
            default: default(setting.name).map_or("–".to_string(), |value| value.to_string()),
            takes: setting.values.to_string(),
            meaning: setting.meaning,
        })
        .collect();
    let table = settings_table(&rows, table_width());
    let has_schedule = settings.iter().any(|setting| matches!(setting.values, Values::Schedule(..)));
    if has_schedule { format!("{table}\n{SCHEDULES}\n") } else { table }
}

impl Row {
    /// The file that a dataset is read from.
    fn published(&self) -> Option<&'static Published> {
        let entry = datasets::find(self.name).ok().filter(|_| self.kind == "dataset")?;
        entry.published
    }

    fn json(&self) -> Result<Value> {
        let defaults = self.defaults()?;
        let settings = self.settings.iter().map(|setting| setting_json(setting, defaults.get(setting.name)));
        let mut object = json!({
            "name": self.name,
            "about": self.about,
            "paper": self.paper,
            "kind": format!("{}s", self.kind),
            "settings": settings.collect::<Vec<_>>(),
        });
        if let Some(published) = self.published() {
            let Published { names, place, size, .. } = published;
            object["published"] = json!({ "names": names, "place": place, "size": size });
        }
        if !self.scores().is_empty() {
            object["scores"] = self.scores().iter().map(score_json).collect();
        }
        if !self.samplers().is_empty() {
            object["samplers"] = json!(self.samplers());
        }
        Ok(object)
    }

    /// The settings that have a value where a config leaves them out; one that is then as long as the run has none of its own.
    fn defaults(&self) -> Result<Table> {
        let mut defaults = (self.complete)(&Table::new())?;
        if let ("framework", Ok(framework)) = (self.kind, frameworks::find(self.name))
            && let Some(as_long_as_the_run) = (framework.as_long_as_the_run)(&defaults)
        {
            defaults.remove(as_long_as_the_run);
        }
        Ok(defaults)
    }

    /// The samplers that suit it, where it is a framework.
    fn samplers(&self) -> &'static [&'static str] {
        match frameworks::find(self.name) {
            Ok(framework) if self.kind == "framework" => framework.samplers,
            _ => &[],
        }
    }

    /// The kinds of score that it gives, where it is a metric; none where it is anything else.
    fn scores(&self) -> &'static [ScoreKind] {
        match unbraid_metrics::find(self.name) {
            Ok(metric) if self.kind == "metric" => metric.scores,
            _ => &[],
        }
    }

    /// The section that names it, with every default.
    fn in_a_config(&self) -> Result<String> {
        let defaults = self.defaults()?;
        let settings = self
            .settings
            .iter()
            .filter_map(|setting| defaults.get(setting.name).map(|value| format!("{} = {value}", setting.name)));
        let lines = match self.kind {
            "reconstruction" => {
                let settings: String = settings.map(|setting| format!(", {setting}")).collect();
                let chosen = match settings.as_str() {
                    "" => format!("\"{}\"", self.name),
                    settings => format!("{{ name = \"{}\"{settings} }}", self.name),
                };
                vec!["[framework]".to_string(), format!("reconstruction = {chosen}")]
            }
            kind => {
                let section = if kind == "metric" { "[[metrics]]".to_string() } else { format!("[{kind}]") };
                [section, format!("name = \"{}\"", self.name)].into_iter().chain(settings).collect()
            }
        };
        Ok(lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"))
    }
}

/// `least` and `greatest` are left out where there is no such number.
fn score_json(kind: &ScoreKind) -> Value {
    let mut object = json!({ "name": kind.name, "better": kind.better.word() });
    for (key, bound) in [("least", kind.least), ("greatest", kind.greatest)] {
        if bound.is_finite() {
            object[key] = json!(bound);
        }
    }
    object
}

/// `least` and `most`, or `one_of`, beside the words; `most` is left out where there is none.
fn setting_json(setting: &Setting, default: Option<&toml::Value>) -> Value {
    let mut object = json!({
        "name": setting.name,
        "default": default,
        "takes": setting.values.to_string(),
        "meaning": setting.meaning,
    });
    let (least, most) = match setting.values {
        Values::Whole(least, most) => (json!(least), json!(most)),
        Values::Number(least, most) | Values::Schedule(least, most) => (json!(least), json!(most)),
        Values::OneOf(names) => {
            object["one_of"] = json!(names);
            return object;
        }
        Values::Flag | Values::Words(_) => return object,
    };
    object["least"] = least;
    if !setting.values.is_open() {
        object["most"] = most;
    }
    object
}

fn unknown_kind(kind: &str, lists: &[(&str, Vec<Row>)]) -> Error {
    let names: Vec<&str> = lists.iter().map(|(name, _)| *name).chain(["config"]).collect();
    let close = did_you_mean(kind, names.iter().copied());
    Error::new(format!("there is no list of \"{kind}\"{close}")).help(format!("there are {}", names.join(", ")))
}
