//! A Gaussian with full covariance `S = L L'` (T4 3.2.7): a mean, and the Cholesky factor `L` of the covariance, whose diagonal is
//! given by its logarithms so that it is positive and the factor unique.

use std::cmp::Ordering;

use burn::tensor::{Bool, Int, Tensor, TensorData};
use unbraid_data::Rng;

use super::noise::normal;
use super::{Entry, Family, Kept, Posterior};
use crate::parameters::Parameters;

/// The family of Gaussians with full covariance.
#[derive(Debug)]
pub struct FullGaussians;

impl Family for FullGaussians {
    /// Means, logarithms of the factor's diagonal, and what is below it.
    fn n_outputs(&self, latents: usize) -> usize {
        2 * latents + n_below(latents)
    }

    fn keeps_kl_divergences(&self) -> bool {
        true
    }

    fn posterior(&self, _parameters: &Parameters, outputs: Tensor<2>) -> Box<dyn Posterior> {
        Box::new(FullGaussian::from_outputs(&outputs))
    }
}

/// A Gaussian over latents for each image of a batch.
pub struct FullGaussian {
    /// `[batch, latents]`.
    pub mean: Tensor<2>,
    /// Logarithms of the diagonal of `L`, `[batch, latents]`.
    pub log_diagonal: Tensor<2>,
    /// `L`, zero above the diagonal, `[batch, latents, latents]`.
    pub factor: Tensor<3>,
}

impl FullGaussian {
    /// Splits an encoder's outputs: means, logarithms of the diagonal, then what is below it, row by row.
    pub fn from_outputs(outputs: &Tensor<2>) -> Self {
        let [batch, n_outputs] = outputs.dims();
        let latents = (0..).find(|&latents| FullGaussians.n_outputs(latents) >= n_outputs).expect("numbers do not end");
        let part = |start: usize, columns: usize| outputs.clone().narrow(1, start, columns);
        let (mean, log_diagonal) = (part(0, latents), part(latents, latents));
        // Diagonal, what is below it, and a zero, which stands above it.
        let zero = Tensor::zeros([batch, 1], &outputs.device());
        let mut numbers = vec![log_diagonal.clone().exp(), zero];
        if latents > 1 {
            numbers.insert(1, part(2 * latents, n_below(latents)));
        }
        let places: Tensor<1, Int> = Tensor::from_data(TensorData::from(&places(latents)[..]), &outputs.device());
        let factor = Tensor::cat(numbers, 1).select(1, places).reshape([batch, latents, latents]);
        Self { mean, log_diagonal, factor }
    }

    /// Variances of single latents, the diagonal of `L L'`, `[batch, latents]`.
    fn variances(&self) -> Tensor<2> {
        self.factor.clone().powi_scalar(2).sum_dim(2).squeeze_dim(2)
    }
}

impl FullGaussian {
    /// The logarithms of the variances, also of those that f32 cannot hold: the largest of `2 log |L|` of a row is taken out of the sum.
    fn log_variances(&self) -> Tensor<2> {
        let [batch, latents] = self.mean.dims();
        let is_diagonal: Tensor<2, Bool> = Tensor::diag_mask([latents, latents], 0, &self.mean.device()).bool_not();
        let is_diagonal = is_diagonal.unsqueeze::<3>().expand([batch, latents, latents]);
        let diagonal = self.log_diagonal.clone().unsqueeze_dim::<3>(2).expand([batch, latents, latents]);
        let is_zero = self.factor.clone().equal_elem(0.0);
        let logarithms = self.factor.clone().abs().clamp_min(f32::MIN_POSITIVE).log().mask_fill(is_zero, NOTHING);
        let logarithms = logarithms.mask_where(is_diagonal, diagonal) * 2.0;
        let largest = logarithms.clone().max_dim(2); // [batch, latents, 1]
        let sums = (logarithms - largest.clone()).exp().sum_dim(2);
        (sums.log() + largest).squeeze_dim(2)
    }
}

impl Posterior for FullGaussian {
    /// `mean + L noise` (T4 eq 3.31).
    fn sample(&self, rng: &mut Rng) -> Tensor<2> {
        let noise = normal(&self.mean, rng).unsqueeze_dim::<3>(1); // [batch, 1, latents]
        self.mean.clone() + (self.factor.clone() * noise).sum_dim(2).squeeze_dim(2)
    }

    /// `(|mean|^2 + tr S - log det S - latents) / 2` (T4 eq 3.30), where `log det S` is twice the sum of the logarithms of the
    /// diagonal of `L`.
    fn kl(&self) -> Tensor<2> {
        let of_latents = self.mean.clone().powi_scalar(2) + self.variances() - self.log_diagonal.clone() * 2.0 - 1.0;
        of_latents.sum_dim(1) * 0.5
    }

    /// The mean.
    fn code(&self) -> Tensor<2> {
        self.mean.clone()
    }

    fn kept(&self) -> Kept {
        Kept { log_variances: Some(self.log_variances()), kl_divergences: Some(self.kl()) }
    }
}

/// The logarithm of what is not there, so small that its exponential is 0 beside any other.
const NOTHING: f32 = -1e9;

/// How many numbers stand below the diagonal.
fn n_below(latents: usize) -> usize {
    latents * latents.saturating_sub(1) / 2
}

/// For each place of the factor, row by row, where its number stands: the diagonal first, then what is below it, then zero.
fn places(latents: usize) -> Vec<i32> {
    let place = |row: usize, column: usize| match row.cmp(&column) {
        Ordering::Equal => row,
        Ordering::Greater => latents + n_below(row) + column,
        Ordering::Less => latents + n_below(latents),
    };
    (0..latents).flat_map(|row| (0..latents).map(move |column| place(row, column) as i32)).collect()
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "full_gaussian",
    about: "a Gaussian with full covariance, by its Cholesky factor",
    paper: "Zietlow 2022, section 3.2.7",
    example: || Box::new(FullGaussians),
};

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    /// Mean (1, -1), L = [[2, 0], [3, 1]]: S = [[4, 6], [6, 10]], det S = 4.
    fn posterior(batch: usize) -> FullGaussian {
        let outputs = [1.0, -1.0, 2.0_f32.ln(), 0.0, 3.0];
        FullGaussian::from_outputs(&Device::cpu().tensor(outputs.repeat(batch), [batch, 5]))
    }

    #[test]
    fn factor_variances_and_kl_by_hand() {
        let posterior = posterior(1);
        assert_eq!(floats(posterior.factor.clone()), [2.0, 0.0, 3.0, 1.0]);
        let kept = posterior.kept();
        for (found, wanted) in floats(kept.log_variances.unwrap()).into_iter().zip([4.0_f32.ln(), 10.0_f32.ln()]) {
            assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        }
        // (1 + 1 + 4 + 10 - ln 4 - 2) / 2 = 6.3068528.
        assert!((floats(posterior.kl())[0] - 6.306_853).abs() < 1e-5);
        assert_eq!(floats(kept.kl_divergences.unwrap()), floats(posterior.kl()));
    }

    /// Computed in Python from T4 eq 3.30 alone, the KL also by drawing. Packed by columns, the last two variances would be 2.0987213 and
    /// 1.8403200.
    #[test]
    fn four_latents_as_computed_elsewhere() {
        let outputs = [[0.3, -1.2, 0.7, 0.1].as_slice(), &[0.1, -0.4, 0.25, -0.2], &[0.5, -0.3, 0.8, 0.6, -0.7, 0.2]];
        let posterior = FullGaussian::from_outputs(&Device::cpu().tensor(outputs.concat(), [1, 14]));
        assert!((floats(posterior.kl())[0] - 2.194_886_5).abs() < 1e-5);
        let variances = floats(posterior.variances());
        let wanted = [1.221_402_8, 0.699_329, 2.378_721_3, 1.560_32];
        assert!(variances.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{variances:?}");
    }

    #[test]
    fn variances_that_are_too_small_for_f32_have_logarithms() {
        // L = [[e^-100, 0], [e^-60, e^-58]]: variances e^-200 and e^-116 + e^-120, whose logarithm is -116 + ln(1 + e^-4).
        let outputs = vec![0.0, 0.0, -100.0, -58.0, (-60.0_f32).exp()];
        let posterior = FullGaussian::from_outputs(&Device::cpu().tensor(outputs, [1, 5]));
        let found = floats(posterior.kept().log_variances.unwrap());
        for (found, wanted) in found.iter().zip([-200.0, -115.981_85]) {
            assert!((found - wanted).abs() < 1e-3, "{found} {wanted}");
        }
    }

    #[test]
    fn samples_have_the_covariance() {
        let n = 40_000;
        let draws = floats(posterior(n).sample(&mut Seed(2).stream("noise")));
        let moment = |a: usize, b: usize| {
            let mean = [1.0, -1.0];
            draws.chunks(2).map(|z| f64::from((z[a] - mean[a]) * (z[b] - mean[b]))).sum::<f64>() / n as f64
        };
        // Standard errors of the moments: sqrt((S_aa S_bb + S_ab^2) / n), 0.028, 0.044 and 0.071.
        for ((a, b), wanted, allowed) in [((0, 0), 4.0, 0.12), ((0, 1), 6.0, 0.18), ((1, 1), 10.0, 0.3)] {
            assert!((moment(a, b) - wanted).abs() < allowed, "{} is not {wanted}", moment(a, b));
        }
    }

    #[test]
    fn without_anything_below_the_diagonal_it_is_the_diagonal_gaussian() {
        let outputs = Device::cpu().tensor(vec![0.5, -1.0, 0.3, -0.2, 0.0], [1, 5]);
        let diagonal = Device::cpu().tensor(vec![0.5, -1.0, 0.6, -0.4], [1, 4]);
        let none = Parameters::new(Device::cpu());
        let [full, diagonal] =
            [FullGaussians.posterior(&none, outputs), super::super::DiagonalGaussians.posterior(&none, diagonal)];
        assert!((floats(full.kl())[0] - floats(diagonal.kl())[0]).abs() < 1e-6);
        let [a, b] = [full, diagonal].map(|posterior| floats(posterior.sample(&mut Seed(1).stream("noise"))));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
    }
}
