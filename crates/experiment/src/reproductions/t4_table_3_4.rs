//! T4 table 3.4 and figure 3.5: factors of equal scale leave the directions of a linear beta-VAE open, and already a small difference decides them.
//!
//! A square's projection on any line has the same variance, so at ratio 1.0 each restart turns its latents as it happens to; at other ratios they turn
//! slowly towards the axes, and how far they have come depends on how long was trained, by which batch size and beta. T4 tells no batch size.

use unbraid_data::Result;
use unbraid_report::RunFolder;

use super::spread::PublishedMean;
use super::t4_figures::codes_of_restarts;
use super::t4_setups::SYNTH_LINEAR;
use super::trained::{Group, Restarts, of_scale, train};
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

/// The ratio of the factors' scales, DS and DtO with their deviations.
const PUBLISHED: &[(f64, [(f64, f64); 2])] =
    &[(1.0, [(0.51, 0.28), (0.49, 0.32)]), (1.2, [(0.76, 0.25), (0.20, 0.24)]), (1.5, [(0.98, 0.06), (0.01, 0.06)])];
/// Restarts whose codes are drawn.
const N_DRAWN: usize = 4;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let groups = PUBLISHED.iter().map(|(ratio, _)| group(*ratio, request.scale)).collect::<Result<Vec<Group>>>()?;
    let Some(trained) = train(&groups, request, watch)? else { return Ok(None) };
    let mut outcome = Outcome::default();
    for ((ratio, published), restarts) in PUBLISHED.iter().zip(&trained) {
        for (score, (mean, deviation)) in [("ds", "DS"), ("dto", "DtO")].into_iter().zip(published) {
            let what = format!("ratio {ratio:.1}, {}", score.1);
            let published = PublishedMean::of_two_digits(*mean, *deviation);
            outcome.rows.push(Row::mean(what, restarts.spread(score.0)?, published));
        }
    }
    outcome.rows.push(rising(&trained)?);
    let drawn: Vec<&RunFolder> = trained[0].folders.iter().take(N_DRAWN).collect();
    outcome.figures.push(("codes.png".to_string(), codes_of_restarts(&drawn)?));
    Ok(Some(of_scale(outcome, request.scale)))
}

fn group(ratio: f64, scale: Scale) -> Result<Group> {
    let config = SYNTH_LINEAR.config(scale, "beta_vae", &[format!("dataset.ratio={ratio:?}")])?;
    Ok(Group { name: format!("ratio{ratio:.1}"), config, n_seeds: scale.pick(2, 5, 10) })
}

/// Section 3.3.4: the degeneracy disappears by a small change of scale.
fn rising(trained: &[Restarts]) -> Result<Row> {
    let means: Vec<f64> = trained.iter().map(|restarts| Ok(restarts.spread("ds")?.mean)).collect::<Result<_>>()?;
    let ours: Vec<String> = means.iter().map(|mean| format!("{mean:.2}")).collect();
    let holds = means.windows(2).all(|pair| pair[0] < pair[1]);
    Ok(Row::claim("DS rises with the ratio", ours.join(", "), holds))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t4-table-3.4",
    about: "Disentanglement where factors have equal scales, trained: a linear beta-VAE on points of a square stretched by 1.0, 1.2, 1.5",
    paper: "Zietlow 2022, table 3.4 and figure 3.5",
    run: Run::Trained(run),
};
