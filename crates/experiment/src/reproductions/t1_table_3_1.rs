//! T1 table 3.1: mean distances along factors and at random, of the datasets that need no download and of those whose files are at hand.
//!
//! Those of `xy_squares` follow from counting pixels. Others were drawn by the author, 50,000 pairs for each, and are off by some percent: the two
//! positions of dSprites, which are alike, are 0.0025 apart, 4.5 % of either. So much ours may differ along factors, where all pairs are compared.

use unbraid_data::Result;
use unbraid_distances::examine::OfPairs;

use super::{Entry, Outcome, Row, Run, Table, along, look, losses, of_tables};
use crate::watch::Watch;

/// Of random pairs and of factors: mean, deviation, and by how much either may be off.
const DRAWN: &[Table<3>] = &[
    Table {
        dataset: "dsprites",
        settings: "",
        random: [0.0754, 0.0289, 0.0005],
        factors: &[
            ("pos_y", [0.0584, 0.0378, 0.0026]),
            ("pos_x", [0.0559, 0.0363, 0.0026]),
            ("scale", [0.0250, 0.0148, 0.0011]),
            ("shape", [0.0214, 0.0095, 0.001]),
            ("orientation", [0.0172, 0.0106, 0.0008]),
        ],
    },
    Table {
        dataset: "shapes3d",
        settings: "",
        random: [0.2432, 0.0918, 0.002],
        factors: &[
            ("wall_hue", [0.1122, 0.0661, 0.004]),
            ("floor_hue", [0.1086, 0.0623, 0.004]),
            ("object_hue", [0.0416, 0.0292, 0.002]),
            ("shape", [0.0207, 0.0161, 0.001]),
            ("scale", [0.0182, 0.0153, 0.001]),
            ("orientation", [0.0116, 0.0079, 0.001]),
        ],
    },
    Table {
        dataset: "cars3d",
        settings: "size = 64",
        random: [0.0519, 0.0188, 0.001],
        factors: &[
            ("azimuth", [0.0355, 0.0185, 0.002]),
            ("object_type", [0.0349, 0.0176, 0.002]),
            ("elevation", [0.0174, 0.0100, 0.001]),
        ],
    },
    Table {
        dataset: "smallnorb",
        settings: "size = 64",
        random: [0.0535, 0.0529, 0.002],
        factors: &[
            ("lighting", [0.0531, 0.0563, 0.004]),
            ("category", [0.0113, 0.0066, 0.001]),
            ("rotation", [0.0090, 0.0071, 0.001]),
            ("instance", [0.0068, 0.0048, 0.001]),
            ("elevation", [0.0034, 0.0030, 0.0005]),
        ],
    },
];
const DIGIT: f64 = 0.00005;

fn run(watch: &mut dyn Watch) -> Result<Outcome> {
    let losses = losses(&["mse"])?;
    let (_, squares) = look("xy_squares", "", &losses, watch)?;
    let mut rows = pair("xy_squares, random", &squares.random, [0.0308, 0.0022, DIGIT]);
    for factor in &squares.factors {
        let what = format!("xy_squares, {}", factor.name);
        rows.extend(pair(&what, along(&squares, &factor.name), [0.0104, 0.0000, DIGIT]));
    }
    let (drawn, notes) = of_tables(DRAWN, &losses, watch, |table, findings| {
        let name = table.dataset;
        let mut rows = pair(&format!("{name}, random"), &findings.random, table.random);
        for (factor, published) in table.factors {
            rows.extend(pair(&format!("{name}, {factor}"), along(findings, factor), *published));
        }
        rows
    })?;
    rows.extend(drawn);
    Ok(Outcome { rows, notes, figures: Vec::new() })
}

fn pair(what: &str, pairs: &OfPairs, [mean, deviation, allowed]: [f64; 3]) -> Vec<Row> {
    vec![
        Row::number(format!("{what}, mean"), pairs.under[0].mean, mean, allowed),
        Row::number(format!("{what}, std"), pairs.under[0].deviation, deviation, allowed),
    ]
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-table-3.1",
    about: "How far apart images are along each factor and at random: xy_squares, dsprites, and files at hand",
    paper: "Michlo 2022, table 3.1",
    run: Run::Untrained(run),
};
