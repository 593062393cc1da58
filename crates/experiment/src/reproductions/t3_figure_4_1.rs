//! T3 figures 4.1 to 4.4 (section 4.2): reconstruction loss and KL divergence over training, for beta 1, 2 and 4, on dSprites and MPI3D.
//!
//! The runs are those of figure 4.5 that were trained longest, with the smallest batches and the largest rate; T3 does not tell which of them it shows. Observations of the text are claims: the divergence
//! grows during training at beta 1, from the second tenth, since the figures leave out the first iterations, to the last; it grows by less at beta 4; with beta the
//! reconstruction loss ends higher and the divergence lower. An end is the mean over the last tenth, over all seeds. What the text tells of dSprites in numbers stands beside ours.

use unbraid_data::Result;
use unbraid_report::figures::curves::{Panels, Scale as Upright, compare_losses};
use unbraid_report::{LossTable, RunFolder};

use super::planned::{Runs, above, datasets, shown, train_at_hand};
use super::t3_figure_4_5::GRIDS;
use super::t3_tables::longest;
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

/// The datasets whose curves T3 shows.
const SHOWN: [&str; 2] = ["dsprites", "mpi3d_complex"];
/// What it shows of them.
const PARTS: [&str; 2] = [RECONSTRUCTION, KL];
const RECONSTRUCTION: &str = "reconstruction";
const KL: &str = "kl";
/// The number of the last tenth of training.
const LAST: usize = 9;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let mut groups = longest(GRIDS.groups(request.scale)?);
    groups.retain(|group| SHOWN.contains(&group.config.dataset.name.as_str()));
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    for dataset in datasets(&runs) {
        let of_dataset = runs.iter().filter(|runs| runs.dataset() == dataset);
        let curves = of_dataset.map(Curves::read).collect::<Result<Vec<Curves>>>()?;
        outcome.rows.extend(rows(&dataset, &curves));
        let named: Vec<(String, &LossTable)> =
            curves.iter().map(|one| (format!("beta {}", one.beta), &one.of_seeds[0])).collect();
        let title = format!("{dataset}: losses over training by beta");
        let figure = compare_losses(&title, &named, "", Upright::Fitting, Panels::Beside);
        outcome.figures.push((format!("{dataset}.png"), figure));
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The losses at one beta over training.
struct Curves {
    beta: f64,
    /// Reconstruction loss and KL divergence alone.
    of_seeds: Vec<LossTable>,
}

impl Curves {
    fn read(runs: &Runs) -> Result<Self> {
        let read = |folder: &RunFolder| {
            let mut losses = folder.read_losses()?;
            losses.columns.retain(|column| PARTS.contains(&column.name.as_str()));
            Ok(losses)
        };
        let of_seeds = runs.restarts.folders.iter().map(read).collect::<Result<_>>()?;
        Ok(Self { beta: runs.number("framework.beta"), of_seeds })
    }

    /// The mean of a part over one tenth of training, counted from 0; not a number where it was not logged.
    fn tenth(&self, part: &str, number: usize) -> f64 {
        let of_seed = |losses: &LossTable| {
            let values = losses.column(part).unwrap_or_default();
            let [from, to] = [number, number + 1].map(|tenth| tenth * values.len() / 10);
            values[from..to].iter().sum::<f64>() / (to - from) as f64
        };
        self.of_seeds.iter().map(of_seed).sum::<f64>() / self.of_seeds.len() as f64
    }

    /// By how much the divergence grows after the first tenth.
    fn growth(&self) -> f64 {
        self.tenth(KL, LAST) - self.tenth(KL, 1)
    }
}

fn rows(dataset: &str, curves: &[Curves]) -> Vec<Row> {
    let ends = |part: &str| curves.iter().map(|one| one.tenth(part, LAST)).collect::<Vec<f64>>();
    let (reconstruction, kl) = (ends(RECONSTRUCTION), ends(KL));
    let growth: Vec<f64> = curves.iter().map(Curves::growth).collect();
    let mut rows = Vec::new();
    for (place, one) in curves.iter().enumerate() {
        let what = format!("{dataset}, beta {}", one.beta);
        rows.push(Row::ours(format!("{what}: reconstruction loss at the end"), reconstruction[place]));
        rows.push(Row::ours(format!("{what}: KL divergence at the end"), kl[place]));
    }
    let told = |values: &[f64]| values.iter().map(|value| shown(*value)).collect::<Vec<_>>().join(", ");
    let [first, last] = [growth.first(), growth.last()].map(|growth| growth.copied().unwrap_or(f64::NAN));
    if dataset == "dsprites" && !curves.is_empty() {
        rows.push(within(&format!("{dataset}: reconstruction loss at beta 1 ends"), reconstruction[0], [10.0, 50.0]));
        rows.push(within(&format!("{dataset}: KL divergence at beta 1 ends"), kl[0], [0.0, 20.0]));
    }
    rows.extend([
        Row::claim(format!("{dataset}: the divergence grows at beta 1"), format!("by {}", shown(first)), first > 0.0),
        above(format!("{dataset}: it grows more at beta 1 than at 4"), [first, last]),
        Row::claim(
            format!("{dataset}: with beta the reconstruction loss ends higher"),
            told(&reconstruction),
            reconstruction.windows(2).all(|pair| pair[0] < pair[1]),
        ),
        Row::claim(
            format!("{dataset}: with beta the divergence ends lower"),
            told(&kl),
            kl.windows(2).all(|pair| pair[0] > pair[1]),
        ),
    ]);
    rows
}

/// A number beside the range that the text tells of T3's images, networks and settings.
fn within(what: &str, ours: f64, [low, high]: [f64; 2]) -> Row {
    let holds = (low..=high).contains(&ours);
    Row::claim(format!("{what} between {low} and {high}"), shown(ours), holds).only_beside()
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-figure-4.1",
    about: "Reconstruction loss and KL divergence over training by beta, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, figures 4.1 to 4.4",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use unbraid_report::loss_log::LossColumn;

    use super::*;

    /// Two values for each tenth: one each up to the last tenth but one, and around another in the last.
    fn curves(beta: f64, [reconstruction, kl]: [[f64; 2]; 2]) -> Curves {
        let column = |name: &str, [before, last]: [f64; 2]| LossColumn {
            name: name.to_string(),
            values: [vec![99.0; 2], vec![before; 16], vec![last - 1.0, last + 1.0]].concat(),
        };
        let columns = vec![column("reconstruction", reconstruction), column("kl", kl)];
        Curves { beta, of_seeds: vec![LossTable { steps: (1..=20).collect(), columns }] }
    }

    #[test]
    fn ends_are_means_over_the_last_tenth_and_claims_follow_them() {
        let verdicts = |rows: &[Row]| rows[4..].iter().map(Row::agrees).collect::<Vec<_>>();
        // The divergence grows by 5 at beta 1 and by 3 at beta 4; the first tenth is left out.
        let held = rows("a", &[curves(1.0, [[90.0, 20.0], [4.0, 9.0]]), curves(4.0, [[90.0, 30.0], [4.0, 7.0]])]);
        assert_eq!(held[0], Row::ours("a, beta 1: reconstruction loss at the end", 20.0));
        assert_eq!(held[4], Row::claim("a: the divergence grows at beta 1", "by 5.000", true));
        assert_eq!(verdicts(&held), [Some(true); 4]);
        let turned = rows("a", &[curves(1.0, [[90.0, 30.0], [9.0, 7.0]]), curves(4.0, [[90.0, 20.0], [4.0, 9.0]])]);
        assert_eq!(verdicts(&turned), [Some(false); 4]);
    }
}
