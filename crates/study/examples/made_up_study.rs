//! Writes the page, the files and every picture of made-up studies of several sizes, to look at: `made_up_study FOLDER`.

#![allow(clippy::unwrap_used, reason = "whoever runs it wants to see where it stops")]

#[path = "../tests/made_up/mod.rs"]
mod made_up;

use std::path::Path;

use made_up::{Size, table};
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_study::chosen_scores::first_to_look_at;
use unbraid_study::compare::{Shown, comparison_text};
use unbraid_study::figures::{Drawn, agreement, explained, random_good, transfer, violins};
use unbraid_study::statistics::correlations::Coefficient;
use unbraid_study::table_files::{write_csv, write_parquet};
use unbraid_study::{StudyTable, compare, study_page};

const SIZES: [(&str, Size); 4] = [
    ("runs_2", Size { datasets: 1, objectives: 1, strengths: 1, seeds: 2, metrics: 3 }),
    ("runs_5", Size { datasets: 1, objectives: 5, strengths: 1, seeds: 1, metrics: 10 }),
    ("runs_75", Size { datasets: 1, objectives: 3, strengths: 5, seeds: 5, metrics: 12 }),
    ("runs_540", Size { datasets: 3, objectives: 6, strengths: 6, seeds: 5, metrics: 30 }),
];

fn main() {
    let folder = std::env::args().nth(1).expect("wanted a folder");
    for (name, size) in SIZES {
        let folder = Path::new(&folder).join(name);
        create_folder(&folder).unwrap();
        let table = table(size);
        let commands = [("Compare runs".to_string(), "unbraid compare runs/a runs/b".to_string())];
        write_whole(
            &folder.join("study.html"),
            study_page(&table, &format!("Study of {name}"), &[], &commands).unwrap().as_bytes(),
        )
        .unwrap();
        write_csv(&table, &folder.join("study.csv")).unwrap();
        write_parquet(&table, &folder.join("study.parquet")).unwrap();
        write_whole(&folder.join("compare.txt"), comparison_text(&compare(&table), Shown::Headlines, None).as_bytes())
            .unwrap();
        for (name, drawn) in pictures(&table) {
            match drawn {
                Ok(figure) => figure.canvas.save(&folder.join(format!("{name}.png"))).unwrap(),
                Err(missing) => println!("{}: {missing}", folder.join(name).display()),
            }
        }
    }
}

fn pictures(table: &StudyTable) -> Vec<(&'static str, Drawn)> {
    let first = first_to_look_at(table, 6);
    let mut pictures = vec![
        ("violins_by_objective", violins::by_objective(table, 0, &first)),
        ("violins_of_all", violins::by_objective(table, 0, &first_to_look_at(table, usize::MAX))),
        ("variance_explained", explained::variance_explained(table)),
        ("rank_correlations", agreement::metrics(table, 0, Coefficient::Spearman)),
        ("without_factors", agreement::without_factors(table, 0)),
        ("scatter", agreement::scatter(table, 0)),
        ("transfer_metrics", transfer::metrics(table, 0)),
        ("transfer_datasets", transfer::datasets(table, first[0])),
        ("random_good", random_good::bars(table)),
    ];
    if let Some(column) = table.varying().iter().find(|column| column.name != "framework.name") {
        pictures.push(("violins_by_setting", violins::by_value(table, 0, column, &first[..first.len().min(3)])));
    }
    pictures
}
