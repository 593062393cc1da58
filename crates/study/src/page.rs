//! The page of a study: the verdict first, then each question with its pictures or with what is missing for them, and the table of runs last.

use unbraid_data::Result;
use unbraid_data::words::counted;
use unbraid_report::page::{self, Folded, PageFigure, PageTable, StudyPage, StudySection};

use crate::chosen_scores::{first_to_look_at, supervised};
use crate::figures::{Drawn, agreement, explained, random_good, transfer, violins};
use crate::page_tables;
use crate::statistics::agreement::{COMPACTNESS, MODULARITY};
use crate::statistics::correlations::Coefficient;
use crate::statistics::{random_good as draws, selection};
use crate::table::StudyTable;
use crate::verdict;

/// Scores that are shown without unfolding.
const MOST_SCORES: usize = 6;
/// Scores that are shown for each value of a setting.
const MOST_SCORES_BY_VALUE: usize = 3;

/// The page as one HTML file that needs nothing else. `left_out` tells which runs take no part; `commands` are what can be done next: what for, and
/// the command.
pub fn study_page(
    table: &StudyTable,
    title: &str,
    left_out: &[String],
    commands: &[(String, String)],
) -> Result<String> {
    let sections = [
        by_objective(table)?,
        by_value(table)?,
        variance(table)?,
        metrics_agree(table)?,
        without_factors(table)?,
        settings_transfer(table)?,
        good_against_random(table)?,
        best_by_rule(table),
        all_runs(table),
    ];
    Ok(page::study_page(&StudyPage {
        title: title.to_string(),
        lead: std::iter::once(verdict::lead(table))
            .chain(left_out.iter().map(|note| format!("{note}.")))
            .collect::<Vec<_>>()
            .join(" "),
        verdicts: verdict::verdicts(table),
        sections: sections.into_iter().collect(),
        notes: notes(table),
        commands: commands.to_vec(),
    }))
}

/// A section that pictures are added to one by one.
struct Builder {
    section: StudySection,
}

impl Builder {
    fn new(name: &str) -> Self {
        Self { section: StudySection { name: name.to_string(), ..StudySection::default() } }
    }

    /// Adds the picture, or says what is missing.
    fn with(mut self, drawn: Drawn) -> Result<Self> {
        match drawn {
            Ok(figure) => self.section.figures.push(figure.on_page()?),
            Err(missing) => self.section.sentences.push(missing),
        }
        Ok(self)
    }

    /// Adds pictures under a line that unfolds them; those that cannot be drawn are left out.
    fn folded(mut self, summary: &str, drawn: Vec<Drawn>) -> Result<Self> {
        let figures =
            drawn.into_iter().flatten().map(|figure| figure.on_page()).collect::<Result<Vec<PageFigure>>>()?;
        if !figures.is_empty() {
            self.section.folded.push(Folded { summary: summary.to_string(), tables: Vec::new(), figures });
        }
        Ok(self)
    }

    /// Adds a picture of each dataset: the first that can be drawn, those of the others folded away, and what is missing for the rest.
    fn of_datasets(mut self, table: &StudyTable, draw: impl Fn(usize) -> Drawn) -> Result<Self> {
        let mut others = Vec::new();
        for drawn in datasets(table).map(draw) {
            if drawn.is_ok() && !self.section.figures.is_empty() {
                others.push(drawn)
            } else {
                self = self.with(drawn)?
            }
        }
        self.folded("On the other datasets", others)
    }

    fn folded_table(mut self, summary: &str, table: PageTable) -> Self {
        if !table.rows.is_empty() {
            self.section.folded.push(Folded { summary: summary.to_string(), tables: vec![table], figures: Vec::new() });
        }
        self
    }

    fn done(self) -> StudySection {
        self.section
    }
}

fn datasets(table: &StudyTable) -> std::ops::Range<usize> {
    0..table.datasets().len()
}

fn by_objective(table: &StudyTable) -> Result<StudySection> {
    let first = first_to_look_at(table, MOST_SCORES);
    let mut builder = Builder::new("scores_by_objective")
        .of_datasets(table, |dataset| violins::by_objective(table, dataset, &first))?;
    let all = first_to_look_at(table, usize::MAX);
    if all.len() > first.len() {
        let rest = &all[first.len()..];
        let drawn = datasets(table).map(|dataset| violins::by_objective(table, dataset, rest)).collect();
        builder = builder.folded(&format!("The {} other metrics by objective", rest.len()), drawn)?;
    }
    Ok(builder.done())
}

/// A picture for each setting that differs between runs, of the first dataset where it does; those of others are folded.
fn by_value(table: &StudyTable) -> Result<StudySection> {
    let mut builder = Builder::new("scores_by_setting");
    let columns: Vec<_> = table.varying().into_iter().filter(|column| column.name != "framework.name").collect();
    if columns.is_empty() {
        builder
            .section
            .sentences
            .push("Scores by setting: needs a setting that differs between runs, and all are the same.".to_string());
    }
    let scores = first_to_look_at(table, MOST_SCORES_BY_VALUE);
    let mut others = Vec::new();
    for column in columns {
        let drawn = datasets(table).map(|dataset| violins::by_value(table, dataset, column, &scores));
        // A setting of one framework that others do not have tells nothing where it is the same in all of its runs.
        let mut figures: Vec<Drawn> = drawn.filter(Drawn::is_ok).collect();
        if !figures.is_empty() {
            builder = builder.with(figures.remove(0))?;
        }
        others.extend(figures);
    }
    if builder.section.figures.is_empty() && builder.section.sentences.is_empty() {
        let missing = "Scores by setting: needs two values of a setting in runs of one objective.";
        builder.section.sentences.push(missing.to_string());
    }
    Ok(builder.folded("On the other datasets", others)?.done())
}

fn variance(table: &StudyTable) -> Result<StudySection> {
    let builder = Builder::new("what_decides_a_score?").with(explained::variance_explained(table))?;
    if builder.section.figures.is_empty() {
        return Ok(builder.done());
    }
    let numbers = page_tables::explained(table);
    Ok(builder.folded_table("The same in numbers, with what chance would explain", numbers).done())
}

fn metrics_agree(table: &StudyTable) -> Result<StudySection> {
    let builder = Builder::new("do_metrics_agree?")
        .of_datasets(table, |dataset| agreement::metrics(table, dataset, Coefficient::Spearman))?;
    let mut linear = Vec::new();
    for dataset in datasets(table) {
        linear.push(agreement::metrics(table, dataset, Coefficient::Pearson));
        linear.push(agreement::named(table, dataset, "compactness", &COMPACTNESS, Coefficient::Pearson));
        linear.push(agreement::named(table, dataset, "modularity", &MODULARITY, Coefficient::Pearson));
    }
    Ok(builder.folded("Linear correlations, also of scores of compactness and of modularity", linear)?.done())
}

fn without_factors(table: &StudyTable) -> Result<StudySection> {
    let builder = Builder::new("could_one_select_without_factors?")
        .of_datasets(table, |dataset| agreement::without_factors(table, dataset))?;
    let scatter = datasets(table).map(|dataset| agreement::scatter(table, dataset)).collect();
    Ok(builder.folded("Run by run", scatter)?.done())
}

fn settings_transfer(table: &StudyTable) -> Result<StudySection> {
    let mut builder =
        Builder::new("do_good_settings_transfer?").of_datasets(table, |dataset| transfer::metrics(table, dataset))?;
    let scores = first_to_look_at(table, MOST_SCORES);
    if table.datasets().len() < 2 {
        builder.section.sentences.push("From dataset to dataset: needs two datasets, and there is 1.".to_string());
        return Ok(builder.done());
    }
    for score in &scores {
        builder = builder.with(transfer::datasets(table, score))?;
    }
    let rest: Vec<Drawn> = first_to_look_at(table, usize::MAX)
        .iter()
        .skip(scores.len())
        .map(|score| transfer::datasets(table, score))
        .collect();
    Ok(builder.folded("From dataset to dataset by the other metrics", rest)?.done())
}

fn good_against_random(table: &StudyTable) -> Result<StudySection> {
    let builder = Builder::new("does_a_good_setting_beat_a_random_one?").with(random_good::bars(table))?;
    match draws::random_good(table) {
        Ok(found) => {
            Ok(builder.folded_table("By the score that chooses the setting", page_tables::random_good(&found)).done())
        }
        Err(_) => Ok(builder.done()),
    }
}

fn best_by_rule(table: &StudyTable) -> StudySection {
    let mut builder = Builder::new("best_settings_by_rule");
    let rules = selection::rules(table);
    if rules.is_empty() {
        let wanted = selection::RULES.join(", ");
        builder.section.sentences.push(format!("Best settings: needs one of the scores {wanted}, and no run has one."));
    }
    for (place, rule) in rules.iter().enumerate() {
        let found = page_tables::selected(table, rule);
        if place == 0 {
            builder.section.tables.push(found);
        } else {
            builder = builder.folded_table(&format!("Selected by {}", rule.name), found);
        }
    }
    builder.done()
}

fn all_runs(table: &StudyTable) -> StudySection {
    let runs = format!("All {}", counted(table.n_runs(), "run"));
    Builder::new("runs")
        .folded_table(&runs, page_tables::runs(table))
        .folded_table("What is the same in all runs", page_tables::constants(table))
        .folded_table("Undefined scores, and why", page_tables::undefined(table))
        .done()
}

fn notes(table: &StudyTable) -> Vec<String> {
    let mut notes = vec![
        "A setting is everything in a config but the dataset, the seed and how the model is measured; what follows from the dataset alone makes no other setting."
            .to_string(),
        "Correlations are Spearman's, of ranks, where they are not called linear (Pearson's); each takes the runs that have both scores."
            .to_string(),
        "Shares of variance are those of a one-way analysis of variance (eta squared). Groups that mean nothing explain (groups − 1) / (runs − 1) on average."
            .to_string(),
        "Selected settings have the best mean over seeds, of the same runs that are then shown: the score that selects is a little flattered by that."
            .to_string(),
        "± is the standard deviation over seeds, and the number in brackets how many runs it is of.".to_string(),
    ];
    let differently = table.measured_differently();
    if !differently.is_empty() {
        notes.insert(
            0,
            format!(
                "Runs were not all measured alike, so that scores may not be comparable: {} differ.",
                differently.join(", ")
            ),
        );
    }
    if supervised(table).is_empty() {
        notes.insert(
            0,
            "No run has a metric of factors, so that scores which need none stand in their place where there are any."
                .to_string(),
        );
    }
    notes
}
