//! The direction in which each latent moves the picture, and how it lies among the principal components.
//!
//! A direction is the mean of the latent's column of the decoder's Jacobian over some of the codes, not scaled: the decoder's weights
//! where it is linear. Of a decoder that bends, the column is another one at each code; `constancy` says how much of its length the mean
//! keeps, 1 where all columns are the same.
//!
//! Latents are ordered as nonlinear principal components (T4 equations 4.7 and 4.8): the one with the least mean posterior variance first.
//! Where the posterior has no variances, by the variance that each induces, that of its codes times the mean square of its columns.

use ndarray::{Array2, Array3, Axis};
use unbraid_data::{LabelledCodes, Result};
use unbraid_metrics::metrics::polarized::{ACTIVE_ABOVE, ACTIVE_BELOW, mean_variances};
use unbraid_metrics::principal::compared::{
    angles_between_spans, cosines, degrees, matching, share_in_span, variances_along,
};
use unbraid_metrics::principal::{PrincipalComponents, Rows, Tell};
use unbraid_metrics::statistics::deviations::variance;

use super::verdict::verdict;

/// The directions of all latents of a run.
#[derive(Debug, Clone)]
pub struct Latents {
    /// Codes that the decoder's Jacobian was taken at.
    pub n_codes: usize,
    /// Whether the posterior has variances, by which latents are then ordered.
    pub has_variances: bool,
    /// Active latents first, in order, then the passive ones.
    pub latents: Vec<LatentDirection>,
    /// Their directions, in the same order, `[latents, pixels]`.
    pub directions: Array2<f64>,
    /// Between the span of the active latents' directions and that of as many components, in degrees, rising.
    pub span_angles: Vec<f64>,
    /// How the latents lie among the components, in one sentence.
    pub verdict: String,
}

/// How one latent lies among the components.
#[derive(Debug, Clone, PartialEq)]
pub struct LatentDirection {
    /// Its number.
    pub latent: usize,
    /// Whether it carries something: passive latents are matched with nothing.
    pub is_active: bool,
    /// The standard deviation of its codes.
    pub deviation: f64,
    /// Its mean posterior variance, where the posterior has variances.
    pub posterior_variance: Option<f64>,
    /// How far the picture moves where the latent moves by 1.
    pub length: f64,
    /// In [0, 1]: 1 where the latent moves the picture in the same way everywhere.
    pub constancy: f64,
    /// The images' variance along its direction.
    pub captured: f64,
    /// The share of its direction within the span of as many first components as there are active latents.
    pub in_span: Option<f64>,
    /// The component at its position among the active latents.
    pub at_position: Option<Match>,
    /// The component that the best one-to-one matching gives it.
    pub best: Option<Match>,
}

/// A component beside a latent's direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Its position, from 0.
    pub component: usize,
    /// The angle between the two, in degrees from 0 to 90.
    pub degrees: f64,
}

/// What the run alone tells of its latents.
pub(super) struct Measured {
    latents: Vec<LatentDirection>,
    directions: Array2<f64>,
    n_codes: usize,
    has_variances: bool,
}

impl Measured {
    pub(super) fn n_active(&self) -> usize {
        self.latents.iter().filter(|latent| latent.is_active).count()
    }
}

/// The directions of latents and their order, of codes and the decoder's Jacobians `[codes, pixels, latents]`.
pub(super) fn measured(data: &LabelledCodes, jacobians: &Array3<f64>) -> Measured {
    let n_codes = jacobians.len_of(Axis(0));
    let means = jacobians.mean_axis(Axis(0)).expect("there is at least one code").reversed_axes(); // [latents, pixels]
    let lengths = jacobians.map_axis(Axis(1), |column| column.dot(&column).sqrt()); // [codes, latents]
    let mut found: Vec<(f64, LatentDirection)> = (0..data.n_latents())
        .map(|latent| {
            let (of_codes, mean) = (lengths.column(latent), means.row(latent));
            let direction = of_run(data, latent, mean.dot(&mean).sqrt(), of_codes.sum() / n_codes as f64);
            let induced = direction.deviation.powi(2) * of_codes.dot(&of_codes) / n_codes as f64;
            (direction.posterior_variance.unwrap_or(-induced), direction)
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| other.is_active.cmp(&one.is_active).then(a.total_cmp(b)));
    let latents: Vec<LatentDirection> = found.into_iter().map(|(_, latent)| latent).collect();
    let order: Vec<usize> = latents.iter().map(|latent| latent.latent).collect();
    let directions = means.select(Axis(0), &order);
    Measured { latents, directions, n_codes, has_variances: data.extras().log_variances.is_some() }
}

/// What the run alone tells of a latent, whose mean direction has this length, and whose directions have this one on the mean.
fn of_run(data: &LabelledCodes, latent: usize, length: f64, mean_length: f64) -> LatentDirection {
    let deviation = variance(&data.codes().column(latent)).sqrt();
    let posterior_variance = data.extras().log_variances.as_ref().map(|table| mean_variances(table)[latent]);
    let is_active = match posterior_variance {
        Some(variance) => deviation > ACTIVE_ABOVE && variance < ACTIVE_BELOW,
        // Without a prior the unit of codes means nothing.
        None => deviation > 0.0 && length > 0.0,
    };
    LatentDirection {
        latent,
        is_active,
        deviation,
        posterior_variance,
        length,
        constancy: if mean_length > 0.0 { (length / mean_length).min(1.0) } else { 0.0 },
        captured: 0.0,
        in_span: None,
        at_position: None,
        best: None,
    }
}

/// Sets the directions beside the components of the same images.
pub(super) fn place(
    measured: Measured,
    principal: &PrincipalComponents,
    rows: &dyn Rows,
    tell: Tell,
) -> Result<Latents> {
    let n_active = measured.n_active();
    let Measured { mut latents, directions, n_codes, has_variances } = measured;
    let captured = variances_along(rows, &directions, tell)?;
    latents.iter_mut().zip(captured).for_each(|(latent, captured)| latent.captured = captured);

    let active = directions.select(Axis(0), &(0..n_active).collect::<Vec<_>>());
    let n_first = n_active.min(principal.components.nrows());
    let first = principal.components.select(Axis(0), &(0..n_first).collect::<Vec<_>>());
    let cosines = cosines(&active, &principal.components); // [active latents, components]
    let best = matching(&cosines);
    for (position, latent) in latents.iter_mut().take(n_active).enumerate() {
        let with = |component: usize| Match { component, degrees: degrees(cosines[[position, component]]) };
        latent.in_span = Some(share_in_span(&active.row(position), &first));
        latent.at_position = (position < principal.components.nrows()).then(|| with(position));
        latent.best = best[position].map(with);
    }
    let span_angles = angles_between_spans(&active, &first);
    let verdict = verdict(&latents[..n_active], &span_angles);
    Ok(Latents { n_codes, has_variances, latents, directions, span_angles, verdict })
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    fn data(log_variances: Option<Array2<f64>>) -> LabelledCodes {
        // Deviations 2, 1 and 0.1.
        let codes = array![[2.0, 1.0, 0.1], [-2.0, -1.0, -0.1]];
        let extras = Extras { log_variances, ..Extras::default() };
        LabelledCodes::new(codes, array![[0.0], [1.0]], FactorSpace::grid([("x", 2)]), extras).unwrap()
    }

    #[test]
    fn latents_stand_in_the_order_of_their_variances() {
        let jacobians = array![[[1.0, 0.0, 0.0], [0.0, 3.0, 1.0]], [[1.0, 0.0, 0.0], [0.0, 3.0, -1.0]]];
        let variances = array![[0.5, 0.01, 0.01], [0.3, 0.01, 0.01]].mapv(f64::ln);
        let found = measured(&data(Some(variances)), &jacobians);
        let order =
            |found: &Measured| found.latents.iter().map(|latent| (latent.latent, latent.is_active)).collect::<Vec<_>>();
        // The third has codes that hardly move.
        assert_eq!(order(&found), [(1, true), (0, true), (2, false)]);
        assert!((found.latents[1].posterior_variance.unwrap() - 0.4).abs() < 1e-12);
        // Directions of the third latent cancel.
        assert_eq!(found.latents.iter().map(|latent| latent.constancy).collect::<Vec<_>>(), [1.0, 1.0, 0.0]);
        assert_eq!(found.directions, array![[0.0, 3.0], [1.0, 0.0], [0.0, 0.0]]);
        // Without variances, by those induced: 4 * 1 and 1 * 9.
        assert_eq!(order(&measured(&data(None), &jacobians)), [(1, true), (0, true), (2, false)]);
        let weaker = jacobians.mapv(|value: f64| if value == 3.0 { 1.9 } else { value });
        assert_eq!(order(&measured(&data(None), &weaker)), [(0, true), (1, true), (2, false)]);
        // A posterior that is the prior makes the first passive.
        let wide = array![[0.9, 0.5, 0.01], [0.8, 0.5, 0.01]].mapv(f64::ln);
        assert_eq!(order(&measured(&data(Some(wide)), &jacobians))[0], (1, true));
    }
}
