//! The members of examples apart: they go through a network as one batch, all first members, then all second ones, and so on.

use burn::tensor::Tensor;

use crate::posteriors::DiagonalGaussian;

/// Each member's rows, `[batch, latents]`, of those of all `N` members one after the other, `[N * batch, latents]`.
pub fn members<const N: usize>(all: &Tensor<2>) -> [Tensor<2>; N] {
    let batch = all.dims()[0] / N;
    std::array::from_fn(|member| all.clone().narrow(0, member * batch, batch))
}

/// The same for the means and the log-variances of posteriors.
pub fn member_posteriors<const N: usize>(all: &DiagonalGaussian) -> [DiagonalGaussian; N] {
    let batch = all.mean.dims()[0] / N;
    std::array::from_fn(|member| DiagonalGaussian {
        mean: all.mean.clone().narrow(0, member * batch, batch),
        log_variance: all.log_variance.clone().narrow(0, member * batch, batch),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    #[test]
    fn members_come_one_after_the_other() {
        let tensor = |values: [f32; 6]| Device::cpu().tensor(values.to_vec(), [3, 2]);
        let mean = tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let [first, second, third] = members(&mean);
        assert_eq!([first, second, third].map(floats), [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
        let all = DiagonalGaussian { mean, log_variance: tensor([6.0, 7.0, 8.0, 9.0, 10.0, 11.0]) };
        let [_, _, third] = member_posteriors(&all);
        assert_eq!([third.mean, third.log_variance].map(floats), [[4.0, 5.0], [10.0, 11.0]]);
    }
}
