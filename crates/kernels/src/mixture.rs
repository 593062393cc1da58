//! Densities of codes under a weighted mixture of Gaussians with diagonal covariance, of all latents and of each alone.

use rayon::prelude::*;

use crate::shape::check_len;

/// Rows of codes whose gradients are added up one after the other; the sums of such groups are then added in order.
const ROWS_OF_GROUP: usize = 16;

/// As many codes as Gaussians, all row-major.
#[derive(Clone, Copy, Debug)]
pub struct Mixtures<'a> {
    /// How many latents a code has.
    pub latents: usize,
    /// `[batch, latents]`.
    pub codes: &'a [f32],
    /// `[batch, latents]`.
    pub means: &'a [f32],
    /// `[batch, latents]`.
    pub log_variances: &'a [f32],
    /// The logarithm of the weight of each Gaussian in the mixture of each code, `[batch, batch]`.
    pub log_weights: &'a [f32],
}

/// What [`Mixtures::backward`] fills, `[batch, latents]` each.
#[derive(Debug)]
pub struct MixtureGradients<'a> {
    /// With respect to the codes.
    pub codes: &'a mut [f32],
    /// With respect to the means.
    pub means: &'a mut [f32],
    /// With respect to the log-variances.
    pub log_variances: &'a mut [f32],
}

impl Mixtures<'_> {
    fn n_codes(&self) -> usize {
        let n_codes = self.codes.len() / self.latents.max(1);
        check_len("codes", self.codes.len(), n_codes * self.latents);
        check_len("means", self.means.len(), self.codes.len());
        check_len("log_variances", self.log_variances.len(), self.codes.len());
        check_len("log_weights", self.log_weights.len(), n_codes * n_codes);
        n_codes
    }

    /// Fills `out`, `[batch, 1 + latents]`: `ln sum_j w_ij prod_l q_j(z_il)`, then `ln sum_j w_ij q_j(z_il)` for each latent.
    pub fn log_densities(&self, out: &mut [f32]) {
        let n_codes = self.n_codes();
        check_len("out", out.len(), n_codes * (1 + self.latents));
        let inverse_deviations = self.inverse_deviations();
        out.par_chunks_mut(1 + self.latents).enumerate().for_each_init(
            || vec![0.0; n_codes * (1 + self.latents)],
            |logarithms, (code, out)| {
                self.fill_logarithms(code, &inverse_deviations, logarithms);
                log_sums_of_columns(logarithms, out);
            },
        );
    }

    /// Fills the gradients from that of `out`, which the forward pass gave.
    pub fn backward(&self, out: &[f32], grad_out: &[f32], gradients: MixtureGradients) {
        let (n_codes, latents) = (self.n_codes(), self.latents);
        check_len("grad_out", grad_out.len(), out.len());
        let inverse_deviations = self.inverse_deviations();
        let MixtureGradients { codes: grad_codes, means: grad_means, log_variances: grad_log_variances } = gradients;
        let rows = grad_codes.par_chunks_mut(ROWS_OF_GROUP * latents).enumerate();
        let groups: Vec<(Vec<f32>, Vec<f32>)> = rows
            .map(|(group, grad_codes)| {
                let (mut means, mut log_variances) = (vec![0.0; n_codes * latents], vec![0.0; n_codes * latents]);
                let mut logarithms = vec![0.0; n_codes * (1 + latents)];
                for (row, grad_code) in grad_codes.chunks_mut(latents).enumerate() {
                    let code = group * ROWS_OF_GROUP + row;
                    self.fill_logarithms(code, &inverse_deviations, &mut logarithms);
                    let place = code * (1 + latents)..(code + 1) * (1 + latents);
                    self.weigh(&mut logarithms, &out[place.clone()], &grad_out[place]);
                    grad_code.fill(0.0);
                    self.add_gradients(
                        code,
                        &logarithms,
                        &inverse_deviations,
                        grad_code,
                        &mut means,
                        &mut log_variances,
                    );
                }
                (means, log_variances)
            })
            .collect();
        grad_means.fill(0.0);
        grad_log_variances.fill(0.0);
        for (means, log_variances) in &groups {
            grad_means.iter_mut().zip(means).for_each(|(sum, value)| *sum += value);
            grad_log_variances.iter_mut().zip(log_variances).for_each(|(sum, value)| *sum += value);
        }
    }

    fn inverse_deviations(&self) -> Vec<f32> {
        self.log_variances.iter().map(|log_variance| (-0.5 * log_variance).exp()).collect()
    }

    /// For each Gaussian a row `[1 + latents]` of logarithms of weighted densities at a code: of all latents, and of each.
    fn fill_logarithms(&self, code: usize, inverse_deviations: &[f32], logarithms: &mut [f32]) {
        let latents = self.latents;
        let codes = &self.codes[code * latents..(code + 1) * latents];
        let log_weights = &self.log_weights[code * logarithms.len() / (1 + latents)..];
        for (gaussian, row) in logarithms.chunks_exact_mut(1 + latents).enumerate() {
            let place = gaussian * latents..(gaussian + 1) * latents;
            let parameters = self.means[place.clone()].iter().zip(&self.log_variances[place.clone()]);
            let parameters = parameters.zip(&inverse_deviations[place]);
            let log_weight = log_weights[gaussian];
            let mut sum = 0.0;
            for ((entry, &z), ((&mean, &log_variance), &inverse)) in row[1..].iter_mut().zip(codes).zip(parameters) {
                let scaled = (z - mean) * inverse;
                let log_density = -0.5 * (scaled * scaled + log_variance + LOG_TWO_PI);
                sum += log_density;
                *entry = log_density + log_weight;
            }
            row[0] = sum + log_weight;
        }
    }

    /// Turns logarithms into the gradient of the loss with respect to each, from what they were summed up to.
    fn weigh(&self, logarithms: &mut [f32], out: &[f32], grad_out: &[f32]) {
        for row in logarithms.chunks_exact_mut(1 + self.latents) {
            for ((entry, &log_sum), &gradient) in row.iter_mut().zip(out).zip(grad_out) {
                *entry = gradient * (*entry - log_sum).exp();
            }
        }
    }

    fn add_gradients(
        &self,
        code: usize,
        shares: &[f32],
        inverse_deviations: &[f32],
        grad_code: &mut [f32],
        grad_means: &mut [f32],
        grad_log_variances: &mut [f32],
    ) {
        let latents = self.latents;
        for (gaussian, row) in shares.chunks_exact(1 + latents).enumerate() {
            for latent in 0..latents {
                let (place, share) = (gaussian * latents + latent, row[0] + row[1 + latent]);
                // Of a density of 0 the slope may be infinite; it counts for nothing.
                if share != 0.0 {
                    let scaled = (self.codes[code * latents + latent] - self.means[place]) * inverse_deviations[place];
                    let slope = share * scaled * inverse_deviations[place];
                    grad_code[latent] -= slope;
                    grad_means[place] += slope;
                    grad_log_variances[place] += 0.5 * share * (scaled * scaled - 1.0);
                }
            }
        }
    }
}

const LOG_TWO_PI: f32 = 1.837_877_1;

/// `ln sum exp` of each column, by way of the largest, so that nothing overflows.
fn log_sums_of_columns(rows: &[f32], out: &mut [f32]) {
    let columns = out.len();
    let mut largest = vec![f32::NEG_INFINITY; columns];
    for row in rows.chunks_exact(columns) {
        largest.iter_mut().zip(row).for_each(|(largest, &value)| *largest = largest.max(value));
    }
    out.fill(0.0);
    for row in rows.chunks_exact(columns) {
        for ((sum, &value), &largest) in out.iter_mut().zip(row).zip(&largest) {
            *sum += (value - largest).exp();
        }
    }
    out.iter_mut().zip(&largest).for_each(|(sum, &largest)| *sum = sum.ln() + largest);
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [f32; 6] = [0.3, -0.2, 1.1, 0.4, -0.9, 0.8];
    const MEANS: [f32; 6] = [0.1, 0.2, 0.7, -0.3, -1.2, 0.5];
    const LOG_VARIANCES: [f32; 6] = [0.0, -0.5, 0.3, 0.1, -1.0, -0.2];

    fn log_weights() -> Vec<f32> {
        (0..9).map(|place| [0.1_f32, 0.4, 0.5][(place % 3 + 3 - place / 3) % 3].ln()).collect()
    }

    fn found(codes: &[f32], means: &[f32], log_variances: &[f32]) -> Vec<f32> {
        let mut out = vec![9.0; 9];
        Mixtures { latents: 2, codes, means, log_variances, log_weights: &log_weights() }.log_densities(&mut out);
        out
    }

    #[test]
    fn two_gaussians_by_hand() {
        // Both codes are 0, means 0 and 1, variances 1: densities 0.3989423 and 0.2419707, weighed 1/4 and 3/4, and turned round.
        let log_weights = [0.25_f32, 0.75, 0.75, 0.25].map(f32::ln);
        let mixtures = Mixtures {
            latents: 1,
            codes: &[0.0; 2],
            means: &[0.0, 1.0],
            log_variances: &[0.0; 2],
            log_weights: &log_weights,
        };
        let mut out = [9.0; 4];
        mixtures.log_densities(&mut out);
        let wanted = [0.281_213_6_f32.ln(), 0.359_699_4_f32.ln()];
        assert!(
            out.iter().zip([wanted[0], wanted[0], wanted[1], wanted[1]]).all(|(a, b)| (a - b).abs() < 1e-6),
            "{out:?}"
        );
    }

    #[test]
    fn gradients_are_finite_differences() {
        let slopes: Vec<f32> = (0..9).map(|i| (i as f32 * 1.3).sin()).collect();
        let mut grads = [[9.0_f32; 6]; 3];
        let [codes, means, log_variances] = &mut grads;
        let out = found(&CODES, &MEANS, &LOG_VARIANCES);
        let log_weights = log_weights();
        Mixtures { latents: 2, codes: &CODES, means: &MEANS, log_variances: &LOG_VARIANCES, log_weights: &log_weights }
            .backward(&out, &slopes, MixtureGradients { codes, means, log_variances });
        for (which, grads) in grads.iter().enumerate() {
            for place in 0..6 {
                let at = |change: f32| {
                    let mut inputs = [CODES, MEANS, LOG_VARIANCES];
                    inputs[which][place] += change;
                    let out = found(&inputs[0], &inputs[1], &inputs[2]);
                    out.iter().zip(&slopes).map(|(a, b)| f64::from(a * b)).sum::<f64>()
                };
                let numeric = (at(1e-2) - at(-1e-2)) / 2e-2;
                assert!(
                    (numeric - f64::from(grads[place])).abs() < 1e-3,
                    "{which} {place}: {numeric} {}",
                    grads[place]
                );
            }
        }
    }

    #[test]
    fn a_gaussian_that_is_out_of_reach_takes_no_part() {
        // Deviations of e^-50, at a distance of 1: the squared distance overflows, and the density is 0.
        let (codes, log_variances) = ([0.0, 1.0], [-100.0; 2]);
        let log_weights = [0.5_f32.ln(); 4];
        let mixtures = Mixtures {
            latents: 1,
            codes: &codes,
            means: &codes,
            log_variances: &log_variances,
            log_weights: &log_weights,
        };
        let mut out = [0.0; 4];
        mixtures.log_densities(&mut out);
        assert!(
            out.iter().all(|value| (value - (50.0 - 0.918_938_5 - std::f32::consts::LN_2)).abs() < 1e-5),
            "{out:?}"
        );
        let mut grads = [[9.0_f32; 2]; 3];
        let [codes, means, log_variances] = &mut grads;
        mixtures.backward(&out, &[1.0; 4], MixtureGradients { codes, means, log_variances });
        assert_eq!((grads[0], grads[1], grads[2]), ([0.0; 2], [0.0; 2], [-1.0; 2]));
    }
}
