//! T1 table 6.1: losses for `xy_squares`, hand-crafted and learned.
//!
//! Along a factor one square moves, and a dataset of one square has the same correlations; all its pairs are compared. At random all three move,
//! and pairs are drawn from groups of 32 images with replacement as the author did; the rows called "drawn independently" are without that. Learned
//! kernels are ours: `unbraid learn-kernel` made them by `configs/kernels/xy_squares.toml` and `xy_squares_63.toml`, in fewer steps than the author's.

use unbraid_data::npy::NpyArray;
use unbraid_data::{Result, Seed};
use unbraid_distances::Kernel;
use unbraid_distances::estimate::Correlations;
use unbraid_distances::examine::{Settings, at_random};
use unbraid_distances::groups::Limits;
use unbraid_distances::losses::Loss;
use unbraid_report::figures::kernel_picture;

use super::{Entry, Outcome, Row, Run, look, open, value};
use crate::watch::Watch;

/// Loss; linear and rank correlation along a factor and at random.
const PUBLISHED: &[(&str, [f64; 4])] = &[
    ("mse", [0.52, 0.58, 0.55, 0.36]),
    ("mse_gaussian31", [0.84, 0.88, 0.73, 0.61]),
    ("mse_box31", [0.96, 0.97, 0.95, 0.94]),
    ("learned, radius 31", [0.97, 0.98, 0.96, 0.96]),
    ("learned, radius 63", [1.00, 0.99, 1.00, 1.00]),
];
/// The kernels of the last rows.
const LEARNED: [&[u8]; 2] = [include_bytes!("kernels/xy_squares_31.npy"), include_bytes!("kernels/xy_squares_63.npy")];
/// Half a digit, and for random pairs what drawing moves either by.
const ALLOWED: [f64; 4] = [0.005, 0.005, 0.01, 0.01];
/// Of another kernel, learned by ranks from other draws and in a twentieth of the steps: its linear correlations are not what was learned.
const ALLOWED_OF_LEARNED: [f64; 4] = [0.025, 0.01, 0.025, 0.01];
/// Fewer than for other tables: three channels are filtered by each of five losses.
const RANDOM: Settings = Settings { limits: Limits { n_pairs: 1 << 19, most_pairs: 0 }, seed: Seed(1) };

fn run(watch: &mut dyn Watch) -> Result<Outcome> {
    let (hand_crafted, learned) = PUBLISHED.split_at(PUBLISHED.len() - LEARNED.len());
    let mut losses: Vec<Loss> = hand_crafted.iter().map(|(name, _)| Loss::parse(name)).collect::<Result<_>>()?;
    let mut figures = Vec::new();
    for ((name, _), bytes) in learned.iter().zip(LEARNED) {
        let kernel = read(bytes)?;
        let picture = kernel_picture(&format!("xy_squares: {name}"), kernel.taps());
        figures.push((format!("kernel_{}.png", kernel.radius()), picture));
        losses.push(Loss::of_kernel(name, kernel));
    }
    let (_, along) = look("xy_squares", "squares = 1\nrgb = false", &losses, watch)?;
    let along = along.factors[0].pairs.as_ref().expect("positions have traversals");
    let squares = open("xy_squares", "")?;
    watch.stage("random", 0);
    let [random, random32] = at_random(&*squares, &losses, RANDOM, |done, _| watch.progress(done as u64))?;

    let mut rows = Vec::new();
    let both = |of: &Correlations| [value(&of.pearson), value(&of.spearman)];
    let names = ["linear, factor", "rank, factor", "linear, random", "rank, random"];
    for (index, (name, published)) in PUBLISHED.iter().enumerate() {
        let ours = [&along.under[index], &random32.under[index]].map(|under| both(&under.correlations)).concat();
        let is_learned = index >= hand_crafted.len();
        for (column, what) in names.iter().enumerate() {
            let allowed = if is_learned { ALLOWED_OF_LEARNED[column] } else { ALLOWED[column] };
            rows.push(Row::number(format!("{name}, {what}"), ours[column], published[column], allowed));
        }
        let independent = both(&random.under[index].correlations);
        for (what, ours) in ["linear", "rank"].iter().zip(independent) {
            rows.push(Row::ours(format!("{name}, {what}, random drawn independently"), ours));
        }
    }
    Ok(Outcome { rows, notes: Vec::new(), figures })
}

fn read(bytes: &[u8]) -> Result<Kernel> {
    let taps = NpyArray::read(bytes, bytes.len() as u64)?.to_f64()?;
    Kernel::new(taps.into_iter().map(|tap| tap as f32).collect())
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t1-table-6.1",
    about: "Correlation of distances of images and of factors: xy_squares under hand-crafted and learned losses",
    paper: "Michlo 2022, table 6.1",
    run: Run::Untrained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Published are 0.98 and 0.99.
    #[test]
    fn stored_kernels_order_squares() {
        for (bytes, radius, least) in [(LEARNED[0], 31, 0.975), (LEARNED[1], 63, 0.985)] {
            let kernel = read(bytes).unwrap();
            assert_eq!(kernel.radius(), radius);
            let losses = [Loss::of_kernel("learned", kernel)];
            let (_, found) =
                look("xy_squares", "squares = 1\nrgb = false", &losses, &mut crate::watch::Nobody).unwrap();
            for factor in &found.factors {
                let rank = value(&factor.pairs.as_ref().unwrap().under[0].correlations.spearman);
                assert!(rank >= least, "{}: {rank}", factor.name);
            }
        }
    }
}
