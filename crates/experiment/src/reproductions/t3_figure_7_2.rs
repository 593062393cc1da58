//! T3 figures 7.2 to 7.7 (section 7.3.1): correlations of latents and factors of mdL-VAE beside the sigma that it learned for each latent, and those of L-VAE.
//!
//! Of each model the run with the highest CbD is shown. T3 says that a latent's sigma tells how disentangled it is. Here sigmas are ranked against how far the strongest correlation of each latent with a factor is above its second
//! strongest; that rank correlation is positive, on average over all runs of the strong variant on a dataset. On MPI3D, where T3 says that the strong variant fails, there is no claim. The largest sigma and correlation
//! stand beside T3's, of the datasets of which it tells them.

use ndarray::{Array2, ArrayView1, aview1};
use unbraid_data::Result;
use unbraid_metrics::Matrix;
use unbraid_metrics::statistics::pearson::absolute_pearson_matrix;
use unbraid_metrics::statistics::spearman::spearman;
use unbraid_report::RunFolder;
use unbraid_report::figures::heatmap::heatmap_over;

use super::planned::{Runs, datasets, train_at_hand};
use super::spread::Spread;
use super::t3_table_7_1::groups;
use super::t3_tables::{Chosen, chosen, model};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::measure::read_codes;
use crate::run::read_config;
use crate::watch::Watch;

const STRONG: &str = "mdl_vae strong";
/// Where T3 says that the strong variant fails.
const FAILS_ON: &str = "mpi3d_complex";
const MODELS: [&str; 2] = ["mdl_vae", "l_vae"];
/// The largest sigma and the largest correlation of strong mdL-VAEs.
const PUBLISHED: [(&str, f64, f64); 2] = [("dsprites", 0.76, 0.97), ("falcor3d", 0.77, 0.93)];

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let mut groups = groups(request.scale)?;
    groups.retain(|group| MODELS.contains(&group.config.framework.name.as_str()));
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    for one in chosen(&runs, "cbd")? {
        let (sigmas, correlations) = (sigmas(&one.folder)?, correlations(&one.folder)?);
        outcome.rows.extend(beside(&one, &sigmas, &correlations.values));
        let title = format!("{}, {}: absolute correlations of latents and factors", one.dataset, one.model);
        let file = format!("{}_{}.png", one.dataset, one.model.replace(' ', "_"));
        outcome.figures.push((file, heatmap_over(&title, &with_sigmas(correlations, &sigmas), 0.0, 1.0)));
    }
    for dataset in datasets(&runs) {
        outcome.rows.extend(sigmas_tell(&dataset, &runs)?);
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The largest sigma and correlation of a strong mdL-VAE, beside T3's where it tells them.
fn beside(one: &Chosen, sigmas: &[f64], correlations: &Array2<f64>) -> Vec<Row> {
    let published = PUBLISHED.iter().find(|(dataset, _, _)| *dataset == one.dataset);
    let Some((dataset, sigma, correlation)) = published.filter(|_| one.model == STRONG) else {
        return Vec::new();
    };
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    vec![
        Row::number(format!("{dataset}: largest sigma"), largest(&mut sigmas.iter().copied()), *sigma, 0.005)
            .only_beside(),
        Row::number(
            format!("{dataset}: largest correlation"),
            largest(&mut correlations.iter().copied()),
            *correlation,
            0.005,
        )
        .only_beside(),
    ]
}

/// Whether learned sigmas mark the latents that are disentangled.
fn sigmas_tell(dataset: &str, runs: &[Runs]) -> Result<Vec<Row>> {
    let mut found = Vec::new();
    for one in runs.iter().filter(|runs| runs.dataset() == dataset && model(runs) == STRONG) {
        for folder in &one.restarts.folders {
            let (sigmas, gaps) = (sigmas(folder)?, gaps(&correlations(folder)?.values));
            // Where all are alike there is no order.
            let varies = |values: &[f64]| values.windows(2).any(|pair| pair[0] != pair[1]);
            if varies(&sigmas) && varies(&gaps) {
                found.push(spearman(&aview1(&sigmas), &aview1(&gaps)));
            }
        }
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let spread = Spread::of(&found);
    let what = format!("{dataset}: rank correlation of latents' sigmas and how disentangled they are");
    let claim = Row::claim(format!("{what} is positive"), format!("{:.2}", spread.mean), spread.mean > 0.0);
    Ok([vec![Row::mean(what, spread, None)], if dataset == FAILS_ON { Vec::new() } else { vec![claim] }].concat())
}

/// By how much the strongest correlation of each latent with a factor is above its second strongest.
fn gaps(correlations: &Array2<f64>) -> Vec<f64> {
    let gap = |of_latent: ArrayView1<f64>| {
        let mut sorted = of_latent.to_vec();
        sorted.sort_by(|one, other| other.total_cmp(one));
        sorted.first().copied().unwrap_or(0.0) - sorted.get(1).copied().unwrap_or(0.0)
    };
    correlations.rows().into_iter().map(gap).collect()
}

/// The sigma of each latent at the end of a run; none of a model that learns none.
fn sigmas(folder: &RunFolder) -> Result<Vec<f64>> {
    let losses = folder.read_losses()?;
    let of_latents = losses.columns.iter().filter(|column| column.name.starts_with("sigma_z"));
    Ok(of_latents.filter_map(|column| column.values.last().copied()).collect())
}

/// Absolute correlations of latents and factors. `[latents, factors]`
fn correlations(folder: &RunFolder) -> Result<Matrix> {
    let data = read_codes(folder, &read_config(folder)?)?;
    let values = absolute_pearson_matrix(data.codes(), data.factors());
    Ok(Matrix::of_latents_and_factors("correlation", &data, values))
}

/// The matrix with the sigma of each latent beside its name.
fn with_sigmas(mut matrix: Matrix, sigmas: &[f64]) -> Matrix {
    for (name, sigma) in matrix.rows.iter_mut().zip(sigmas) {
        *name = format!("{name} (σ {sigma:.2})");
    }
    matrix
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-figure-7.2",
    about: "Learned sigmas of mdL-VAE beside correlations of latents and factors, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, figures 7.2 to 7.7",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_latent_of_two_factors_is_less_disentangled_than_one_of_one() {
        let found = gaps(&array![[0.9, 0.1, 0.0], [0.4, 0.9, 0.2], [0.05, 0.0, 0.05]]);
        let expected = [0.8, 0.5, 0.0];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
        assert_eq!(gaps(&array![[0.7]]), [0.7]);
    }

    #[test]
    fn sigmas_stand_beside_the_names_of_latents() {
        let matrix = |rows: &[&str]| Matrix {
            name: "correlation".to_string(),
            rows: rows.iter().map(|row| row.to_string()).collect(),
            columns: vec!["shape".to_string()],
            values: array![[0.1], [0.2]],
        };
        assert_eq!(with_sigmas(matrix(&["z0", "z1"]), &[0.756, 0.0]), matrix(&["z0 (σ 0.76)", "z1 (σ 0.00)"]));
        assert_eq!(with_sigmas(matrix(&["z0", "z1"]), &[]), matrix(&["z0", "z1"]));
    }
}
