//! Published tables and figures made again: ours beside the published numbers, and whether they agree.
//!
//! A number agrees where it differs by no more than its row allows: half a unit of the last published digit, and where the published number
//! was drawn at random what that may move it by. Means over trained runs have a rule of their own, told in [`spread`].
//!
//! Some train nothing. Others train runs ([`trained`]) at one of three scales ([`Scale`]), as a sweep does, and go on with those that are there.

mod planned;
mod run_figures;
pub mod spread;
mod t1_figure_3_10;
mod t1_figure_3_12;
mod t1_figure_3_13;
mod t1_figure_3_7;
mod t1_figure_4_4;
mod t1_figure_5_1;
mod t1_figure_5_5;
mod t1_figure_5_7;
mod t1_figure_6_4;
mod t1_figure_7_2;
mod t1_figure_7_3;
mod t1_figure_7_6;
mod t1_setups;
mod t1_table_3_1;
mod t1_table_4_1;
mod t1_table_4_2;
mod t1_table_6_1;
mod t2_figure_1;
mod t2_figure_2;
mod t2_figure_3;
mod t2_figure_4;
mod t2_figure_5;
mod t2_random_good;
mod t2_runs;
mod t2_variance_explained;
mod t3_figure_4_1;
mod t3_figure_4_5;
mod t3_figure_5_4;
mod t3_figure_6_1;
mod t3_figure_7_2;
mod t3_setups;
mod t3_table_6_1;
mod t3_table_6_2;
mod t3_table_7_1;
mod t3_table_7_2;
mod t3_table_7_3;
mod t3_table_7_4;
mod t3_tables;
mod t4_example_3_20;
mod t4_figure_3_4;
mod t4_figure_3_7;
mod t4_figure_4_4;
mod t4_figures;
mod t4_setups;
mod t4_table_3_2;
mod t4_table_3_3;
mod t4_table_3_4;
mod t4_table_4_2;
pub mod trained;

use std::path::{Path, PathBuf};

use unbraid_data::error::unknown_name;
use unbraid_data::{Dataset, Result, Seed, datasets};
use unbraid_distances::estimate::Estimate;
use unbraid_distances::examine::{Findings, OfPairs, Settings};
use unbraid_distances::groups::Limits;
use unbraid_distances::losses::Loss;
use unbraid_distances::verdict::verdict;
use unbraid_report::{Canvas, RunFolder};

use crate::config::Config;
use crate::doctor::{self, Examined};
use crate::watch::Watch;
use spread::{PublishedMean, Spread};

/// Every reproduction, in the order in which they are shown.
pub const REPRODUCTIONS: &[Entry] = &[
    t1_table_3_1::ENTRY,
    t1_table_4_1::ENTRY,
    t1_table_4_2::ENTRY,
    t1_table_6_1::ENTRY,
    t1_figure_3_7::ENTRY,
    t1_figure_3_10::ENTRY,
    t1_figure_3_12::ENTRY,
    t1_figure_3_13::ENTRY,
    t1_figure_4_4::ENTRY,
    t1_figure_5_1::ENTRY,
    t1_figure_5_5::ENTRY,
    t1_figure_5_7::ENTRY,
    t1_figure_6_4::ENTRY,
    t1_figure_7_2::ENTRY,
    t1_figure_7_3::ENTRY,
    t1_figure_7_6::ENTRY,
    t2_figure_1::ENTRY,
    t2_figure_2::ENTRY,
    t2_figure_3::ENTRY,
    t2_figure_4::ENTRY,
    t2_figure_5::ENTRY,
    t2_variance_explained::ENTRY,
    t2_random_good::ENTRY,
    t3_table_6_1::ENTRY,
    t3_table_6_2::ENTRY,
    t3_table_7_1::ENTRY,
    t3_table_7_2::ENTRY,
    t3_table_7_3::ENTRY,
    t3_table_7_4::ENTRY,
    t3_figure_4_1::ENTRY,
    t3_figure_4_5::ENTRY,
    t3_figure_5_4::ENTRY,
    t3_figure_6_1::ENTRY,
    t3_figure_7_2::ENTRY,
    t4_example_3_20::ENTRY,
    t4_table_3_2::ENTRY,
    t4_table_3_3::ENTRY,
    t4_table_3_4::ENTRY,
    t4_table_4_2::ENTRY,
    t4_figure_3_4::ENTRY,
    t4_figure_3_7::ENTRY,
    t4_figure_4_4::ENTRY,
];

/// One row of the list of reproductions.
pub struct Entry {
    /// The name in commands, like `t1-table-3.1`.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// Makes it again.
    pub run: Run,
}

/// How a reproduction is made.
pub enum Run {
    /// Nothing is trained, and there is one scale.
    Untrained(fn(&mut dyn Watch) -> Result<Outcome>),
    /// Runs are trained; nothing where the user asks to stop, and the same request goes on.
    Trained(fn(&Request<'_>, &mut dyn Watch) -> Result<Option<Outcome>>),
}

/// What is asked of a reproduction that trains.
pub struct Request<'a> {
    /// How much is trained.
    pub scale: Scale,
    /// Where the trained runs are kept, each in a folder that is named by what decides it.
    pub runs: PathBuf,
    /// Carries runs to their ends, and gives their folders in the same order, none for one that failed; nothing where the user asks to stop.
    pub train: &'a Train<'a>,
}

/// Carries the runs of configs to their ends.
pub type Train<'a> = dyn Fn(&[Config]) -> Result<Option<Vec<Option<RunFolder>>>> + 'a;

/// How much is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Seconds: shows that it works, and nothing is compared.
    Smoke,
    /// Minutes to half an hour on two cores; what is too small to be compared with published numbers is shown beside them.
    Small,
    /// What was published, as far as it was told.
    Paper,
}

impl Scale {
    /// The scale's name in commands and folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Small => "small",
            Self::Paper => "paper",
        }
    }

    /// One of three values.
    pub(crate) fn pick<T>(self, smoke: T, small: T, paper: T) -> T {
        match self {
            Self::Smoke => smoke,
            Self::Small => small,
            Self::Paper => paper,
        }
    }
}

/// What came of one.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Numbers and claims.
    pub rows: Vec<Row>,
    /// What one has to know to read them.
    pub notes: Vec<String>,
    /// Pictures, by the names of their files.
    pub figures: Vec<(String, Canvas)>,
}

impl Outcome {
    /// Whether all that was published was found again.
    pub fn agrees(&self) -> bool {
        self.rows.iter().all(|row| row.agrees() != Some(false))
    }

    /// Writes the pictures into a folder.
    pub fn save_figures(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let save = |(name, canvas): &(String, Canvas)| {
            let path = folder.join(name);
            canvas.save(&path).map(|()| path)
        };
        self.figures.iter().map(save).collect()
    }
}

/// A published number or claim, and ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it is of.
    pub what: String,
    /// What was published, and what was found.
    pub value: Value,
    /// Whether the two can be compared; else they are shown beside one another.
    pub is_compared: bool,
}

/// What was published, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number; the published one with by how much ours may differ, where there is one.
    Number {
        /// Ours.
        ours: f64,
        /// The published number, and the largest difference that agrees.
        published: Option<(f64, f64)>,
    },
    /// A mean over trained runs beside the published one, where there is one.
    Mean {
        /// Ours.
        ours: Spread,
        /// The published one.
        published: Option<PublishedMean>,
    },
    /// A sentence, and whether it holds.
    Claim {
        /// What was found.
        ours: String,
        /// Whether that is what was published.
        holds: bool,
    },
}

impl Row {
    /// A number beside the published one.
    pub fn number(what: impl Into<String>, ours: f64, published: f64, allowed: f64) -> Self {
        Self::new(what, Value::Number { ours, published: Some((published, allowed)) })
    }

    /// A number of which none was published.
    pub fn ours(what: impl Into<String>, ours: f64) -> Self {
        Self::new(what, Value::Number { ours, published: None })
    }

    /// A mean over trained runs, beside the published one where there is one.
    pub fn mean(what: impl Into<String>, ours: Spread, published: impl Into<Option<PublishedMean>>) -> Self {
        Self::new(what, Value::Mean { ours, published: published.into() })
    }

    /// A published claim.
    pub fn claim(what: impl Into<String>, ours: impl Into<String>, holds: bool) -> Self {
        Self::new(what, Value::Claim { ours: ours.into(), holds })
    }

    fn new(what: impl Into<String>, value: Value) -> Self {
        Self { what: what.into(), value, is_compared: true }
    }

    /// The same without a verdict: ours is of something else than what was published, or too small.
    pub fn only_beside(self) -> Self {
        Self { is_compared: false, ..self }
    }

    /// Whether it agrees with what was published; none where nothing was, or where they cannot be compared.
    pub fn agrees(&self) -> Option<bool> {
        if !self.is_compared {
            return None;
        }
        match &self.value {
            // A hair is for the last digit of decimal fractions.
            Value::Number { ours, published } => {
                published.map(|(published, allowed)| (ours - published).abs() <= allowed + 1e-9)
            }
            Value::Mean { ours, published } => published.map(|published| published.agrees_with(ours)),
            Value::Claim { holds, .. } => Some(*holds),
        }
    }
}

/// The row of the reproduction called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let entry = REPRODUCTIONS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| unknown_name("reproduction", name, REPRODUCTIONS.iter().map(|entry| entry.name)))
}

/// Opens a dataset and looks at it.
fn look(name: &str, settings: &str, losses: &[Loss], watch: &mut dyn Watch) -> Result<(Box<dyn Dataset>, Findings)> {
    let dataset = open(name, settings)?;
    let findings = look_at(&*dataset, losses, watch)?;
    Ok((dataset, findings))
}

fn open(name: &str, settings: &str) -> Result<Box<dyn Dataset>> {
    datasets::build(name, &settings.parse().expect("settings of ours are TOML"))
}

fn look_at(dataset: &dyn Dataset, losses: &[Loss], watch: &mut dyn Watch) -> Result<Findings> {
    doctor::look(dataset, losses, SETTINGS, watch)
}

/// All pairs along each factor of dSprites are compared, and four times as many at random as T1 draws.
const SETTINGS: Settings = Settings { limits: Limits { n_pairs: 1 << 22, most_pairs: 1 << 24 }, seed: Seed(1) };

/// Published numbers of a dataset: those of random pairs and of each factor.
struct Table<const N: usize> {
    dataset: &'static str,
    settings: &'static str,
    random: [f64; N],
    factors: &'static [(&'static str, [f64; N])],
}

/// The rows of each table whose dataset is at hand, as the first one always is, and a note on each that is not.
fn of_tables<const N: usize>(
    tables: &[Table<N>],
    losses: &[Loss],
    watch: &mut dyn Watch,
    rows_of: impl Fn(&Table<N>, &Findings) -> Vec<Row>,
) -> Result<(Vec<Row>, Vec<String>)> {
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for table in tables {
        match open(table.dataset, table.settings) {
            Ok(dataset) => rows.extend(rows_of(table, &look_at(&*dataset, losses, watch)?)),
            Err(error) if rows.is_empty() => return Err(error),
            Err(error) => {
                let reason = error.to_string();
                notes.push(format!("{} is left out: {}", table.dataset, reason.lines().next().unwrap_or_default()));
            }
        }
    }
    Ok((rows, notes))
}

fn losses(names: &[&str]) -> Result<Vec<Loss>> {
    names.iter().map(|name| Loss::parse(name)).collect()
}

/// What was found along the factor called `name`.
fn along<'a>(findings: &'a Findings, name: &str) -> &'a OfPairs {
    let factor = findings.factors.iter().find(|factor| factor.name == name);
    factor.and_then(|factor| factor.pairs.as_ref().ok()).expect("the factor is one of the dataset, and has traversals")
}

/// A correlation; what is undefined agrees with nothing.
fn value(estimate: &std::result::Result<Estimate, String>) -> f64 {
    estimate.as_ref().map_or(f64::NAN, |estimate| estimate.value)
}

/// Findings as the doctor shows them.
fn examined(title: &str, dataset: &dyn Dataset, findings: Findings) -> Examined {
    Examined {
        title: title.to_string(),
        dataset: title.to_string(),
        settings: toml::Table::new(),
        n_images: dataset.n_images(),
        verdict: verdict(&findings),
        findings,
    }
}

#[cfg(test)]
mod tests {
    use super::planned::Grids;
    use super::trained::Group;
    use super::*;

    const GRIDS: &[(&str, &Grids, u64)] = &[
        ("t1-figure-3.7", &t1_figure_3_7::GRIDS, 160),
        ("t1-figure-3.10", &t1_figure_3_10::GRIDS, 160),
        ("t1-figure-3.12", &t1_figure_3_12::GRIDS, 40),
        ("t1-figure-4.4", &t1_figure_4_4::GRIDS, 180),
        ("t1-figure-5.1", &t1_figure_5_1::GRIDS, 320),
        ("t1-figure-5.5", &t1_figure_5_5::GRIDS, 100),
        ("t1-figure-5.7", &t1_figure_5_7::GRIDS, 20),
        ("t1-figure-6.4", &t1_figure_6_4::GRIDS, 240),
        ("t1-figure-7.3", &t1_figure_7_3::GRIDS, 48),
        ("t1-figure-7.6", &t1_figure_7_6::GRIDS, 60),
        ("t3-figure-4.5", &t3_figure_4_5::GRIDS, 432),
        ("t3-table-6.1", &t3_table_6_1::GRIDS, 1008),
        ("t3-table-6.2", &t3_table_6_2::GRIDS, 144),
        ("t3-table-7.1", &t3_table_7_1::GRIDS, 1188),
        ("t3-table-7.4", &t3_table_7_4::GRIDS, 144),
    ];

    fn n_runs(groups: &[Group]) -> u64 {
        groups.iter().map(|group| group.n_seeds).sum()
    }

    #[test]
    fn grids_have_as_many_runs_as_published_and_fewer_at_smaller_scales() {
        for (name, grids, published) in GRIDS {
            let [smoke, small, paper] =
                [Scale::Smoke, Scale::Small, Scale::Paper].map(|scale| n_runs(&grids.groups(scale).unwrap()));
            assert_eq!(paper, *published, "{name}");
            assert!(smoke <= small && small < paper, "{name}: {smoke}, {small}, {paper}");
            assert!(find(name).is_ok());
        }
    }

    #[test]
    fn tables_of_the_same_runs_train_them_once() {
        assert_eq!(n_runs(&t3_table_7_1::groups(Scale::Paper).unwrap()), 1188);
    }
}
