//! T1 table 4.1: how well distances of images follow those of factors, of dSprites and of the datasets whose files are at hand.
//!
//! The author drew 1,048,576 pairs of each; random ones from groups of 32 images with replacement, so that one in 32 is an image with itself. The
//! rows called "drawn independently" are without that.

use unbraid_data::Result;
use unbraid_distances::examine::OfPairs;

use super::{Entry, Outcome, Row, Run, Table, along, losses, of_tables, value};
use crate::watch::Watch;

/// Linear and rank correlation under mse, and under mse_box31, of random pairs and of factors.
const PUBLISHED: &[Table<4>] = &[
    Table {
        dataset: "dsprites",
        settings: "",
        random: [0.43, 0.38, 0.29, 0.36],
        factors: &[
            ("shape", [0.66, 0.72, 0.66, 0.87]),
            ("scale", [0.93, 0.95, 0.84, 0.96]),
            ("orientation", [0.13, 0.17, 0.15, 0.21]),
            ("pos_x", [0.66, 0.75, 0.63, 0.83]),
            ("pos_y", [0.65, 0.75, 0.63, 0.83]),
        ],
    },
    Table {
        dataset: "shapes3d",
        settings: "",
        random: [0.53, 0.45, 0.29, 0.29],
        factors: &[
            ("floor_hue", [0.62, 0.76, 0.60, 0.74]),
            ("wall_hue", [0.60, 0.74, 0.55, 0.72]),
            ("object_hue", [0.53, 0.71, 0.41, 0.63]),
            ("scale", [0.81, 0.88, 0.71, 0.87]),
            ("shape", [0.69, 0.79, 0.58, 0.80]),
            ("orientation", [0.84, 0.92, 0.74, 0.87]),
        ],
    },
    Table {
        dataset: "cars3d",
        settings: "size = 64",
        random: [0.15, 0.13, 0.04, 0.10],
        factors: &[
            ("elevation", [0.90, 0.93, 0.69, 0.88]),
            ("azimuth", [0.30, 0.34, 0.08, 0.25]),
            ("object_type", [0.04, 0.04, 0.00, 0.01]),
        ],
    },
    Table {
        dataset: "smallnorb",
        settings: "size = 64",
        random: [0.10, 0.14, 0.07, 0.14],
        factors: &[
            ("category", [0.44, 0.53, 0.15, 0.47]),
            ("instance", [0.37, 0.52, 0.10, 0.51]),
            ("elevation", [0.81, 0.90, 0.51, 0.64]),
            ("rotation", [0.12, 0.19, 0.07, 0.21]),
            ("lighting", [0.07, 0.29, 0.07, 0.28]),
        ],
    },
];
/// Half a digit, and what drawing moves either by.
const ALLOWED: f64 = 0.01;

fn run(watch: &mut dyn Watch) -> Result<Outcome> {
    let losses = losses(&["mse", "mse_box31"])?;
    let (rows, notes) = of_tables(PUBLISHED, &losses, watch, |table, findings| {
        let name = table.dataset;
        let mut rows = four(&format!("{name}, random"), &findings.random32, Some(table.random));
        for (factor, published) in table.factors {
            rows.extend(four(&format!("{name}, {factor}"), along(findings, factor), Some(*published)));
        }
        rows.extend(four(&format!("{name}, random drawn independently"), &findings.random, None));
        rows
    })?;
    Ok(Outcome { rows, notes, figures: Vec::new() })
}

fn four(what: &str, pairs: &OfPairs, published: Option<[f64; 4]>) -> Vec<Row> {
    let found = ["mse", "mse_box31"].into_iter().zip(&pairs.under).flat_map(|(loss, under)| {
        let of = &under.correlations;
        [
            (format!("{what}, linear, {loss}"), value(&of.pearson)),
            (format!("{what}, rank, {loss}"), value(&of.spearman)),
        ]
    });
    let row = |(index, (what, ours)): (usize, (String, f64))| match published {
        Some(published) => Row::number(what, ours, published[index], ALLOWED),
        None => Row::ours(what, ours),
    };
    found.enumerate().map(row).collect()
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-table-4.1",
    about: "Correlation of distances of images and of factors, under mse and box-blurred mse: dsprites, and files at hand",
    paper: "Michlo 2022, table 4.1",
    run: Run::Untrained(run),
};
