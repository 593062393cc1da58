//! T2 figure 2: rank correlations between six metrics over all runs of a dataset. All but modularity are said to be mildly correlated, the metrics of beta-VAE and FactorVAE, and MIG and
//! DCI, more strongly with each other. The figure's numbers are not in the text.

use unbraid_data::Result;
use unbraid_study::StudyTable;
use unbraid_study::figures::agreement;
use unbraid_study::statistics::agreement::of_named;
use unbraid_study::statistics::correlations::{Coefficient, Correlations};

use super::planned::shown;
use super::t2_runs::{METRICS, pairs_of_metrics, trained};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

/// The pairs that are said to be close.
const CLOSE: [[&str; 2]; 2] = [["beta_vae", "factor_vae"], ["mig", "dci"]];

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let Some(table) = trained(request, watch, &mut outcome.notes)? else { return Ok(None) };
    for dataset in 0..table.datasets().len() {
        outcome.rows.extend(rows(&table, dataset));
        match agreement::named(&table, dataset, "disentanglement", &METRICS, Coefficient::Spearman) {
            Ok(figure) => outcome.figures.push((format!("rank_correlations_{dataset}.png"), figure.canvas)),
            Err(missing) => outcome.notes.push(missing),
        }
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn rows(table: &StudyTable, dataset: usize) -> Vec<Row> {
    let label = &table.datasets().labels[dataset];
    let found = of_named(table, dataset, &METRICS, Coefficient::Spearman);
    let is_close = |pair: &[&str; 2]| CLOSE.iter().any(|close| close == pair || [close[1], close[0]] == *pair);
    let others = |pair: &[&str; 2]| !pair.contains(&"modularity");
    let mean = |wanted: &dyn Fn(&[&str; 2]) -> bool| mean_of(&found, wanted);
    let (close, apart) = (mean(&is_close), mean(&|pair| others(pair) && !is_close(pair)));
    let (without, with) = (mean(&others), mean(&|pair| !others(pair)));
    let mut rows: Vec<Row> = pairs_of_metrics()
        .map(|pair| Row::ours(format!("{label}: {} and {}", pair[0], pair[1]), value(&found, pair)))
        .collect();
    rows.extend([
        Row::claim(
            format!("{label}: metrics other than modularity are correlated"),
            format!("{} on average", shown(without)),
            without > 0.0,
        ),
        Row::claim(
            format!("{label}: beta_vae with factor_vae and mig with dci more than other pairs"),
            format!("{} against {}", shown(close), shown(apart)),
            close > apart,
        ),
        Row::claim(
            format!("{label}: modularity is less correlated with others than these are"),
            format!("{} against {}", shown(with), shown(without)),
            with < without,
        ),
    ]);
    rows
}

/// A correlation; not a number where it is not defined.
fn value(found: &Correlations, [one, other]: [&str; 2]) -> f64 {
    found.between(one, other).unwrap_or(f64::NAN)
}

/// The mean of the defined correlations of some pairs; not a number where none is.
fn mean_of(found: &Correlations, wanted: &dyn Fn(&[&str; 2]) -> bool) -> f64 {
    let values: Vec<f64> =
        pairs_of_metrics().filter(wanted).map(|pair| value(found, pair)).filter(|value| value.is_finite()).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t2-figure-2",
    about: "Rank correlations between metrics over many runs, trained: squares of dsprites, at paper scale seven datasets",
    paper: "Locatello et al. 2019, figure 2",
    run: Run::Trained(run),
};
