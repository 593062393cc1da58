//! Some latents Gaussian with diagonal covariance, the others the probabilities of classes, drawn from a Concrete distribution (Dupont
//! 2018, JointVAE; Maddison et al. 2017, eq 10): `softmax((logits + Gumbel noise) / temperature)`.
//!
//! The prior is standard normal, and uniform over the classes. The divergence of the classes is that of the categorical
//! distributions, `ln n - entropy`, as in JointVAE's eq 8 and its published code, and not that of the Concrete ones.

use burn::tensor::Tensor;
use burn::tensor::activation::{log_softmax, softmax};
use unbraid_data::{Error, Result, Rng};

use super::noise::gumbel;
use super::{DiagonalGaussian, Entry, Family, Kept, Moved, Posterior};
use crate::parameters::Parameters;

/// The family of such distributions.
#[derive(Debug, Clone)]
pub struct GaussianConcretes {
    /// How many classes each of the discrete variables has; their probabilities are the last latents.
    pub classes: Vec<usize>,
    /// The temperature of the draws.
    pub temperature: f64,
}

impl GaussianConcretes {
    fn n_class_latents(&self) -> usize {
        self.classes.iter().sum::<usize>()
    }

    /// Where each variable's classes begin among `n_before` and more latents.
    fn ranges(&self, n_before: usize) -> Vec<std::ops::Range<usize>> {
        let starts = self.classes.iter().scan(n_before, |start, &size| {
            let range = *start..*start + size;
            *start += size;
            Some(range)
        });
        starts.collect()
    }
}

impl Family for GaussianConcretes {
    /// A mean and a log-variance for each Gaussian latent, a logit for each class.
    fn n_outputs(&self, latents: usize) -> usize {
        2 * latents.saturating_sub(self.n_class_latents()) + self.n_class_latents()
    }

    fn check(&self, latents: usize) -> Result<()> {
        let n_classes = self.n_class_latents();
        if self.classes.is_empty() || self.classes.contains(&0) {
            return Err(Error::new(format!("discrete variables of {:?} classes are asked for", self.classes))
                .help("wanted one variable or more, each with a class or more"));
        }
        if latents <= n_classes {
            return Err(Error::new(format!("{n_classes} of {latents} latents are classes, and none is left"))
                .help(format!("wanted \"latents\" of {} or more", n_classes + 1)));
        }
        Ok(())
    }

    fn keeps_kl_divergences(&self) -> bool {
        true
    }

    fn posterior(&self, _parameters: &Parameters, outputs: Tensor<2>) -> Box<dyn Posterior> {
        let n_gaussian_outputs = outputs.dims()[1] - self.n_class_latents();
        let gaussian = DiagonalGaussian::from_outputs(outputs.clone().narrow(1, 0, n_gaussian_outputs));
        let logits = self.ranges(n_gaussian_outputs).into_iter();
        let logits = logits.map(|range| outputs.clone().narrow(1, range.start, range.len())).collect();
        Box::new(GaussianConcrete { gaussian, logits, temperature: self.temperature })
    }

    fn moved(&self, latents: usize) -> Vec<Moved> {
        let n_gaussian = latents - self.n_class_latents();
        let classes = self.ranges(n_gaussian).into_iter().map(Moved::Classes);
        (0..n_gaussian).map(Moved::Latent).chain(classes).collect()
    }
}

/// Such a distribution over latents for each image of a batch.
pub struct GaussianConcrete {
    /// The Gaussian latents.
    pub gaussian: DiagonalGaussian,
    /// For each discrete variable the logits of its classes, `[batch, classes]`.
    pub logits: Vec<Tensor<2>>,
    temperature: f64,
}

impl GaussianConcrete {
    /// KL divergence of each discrete variable from the uniform distribution, `[batch, variables]`.
    pub fn kl_of_classes(&self) -> Tensor<2> {
        let of_variable = |logits: &Tensor<2>| {
            let log_n = (logits.dims()[1] as f64).ln();
            (softmax(logits.clone(), 1) * log_softmax(logits.clone(), 1)).sum_dim(1) + log_n
        };
        Tensor::cat(self.logits.iter().map(of_variable).collect(), 1)
    }

    fn beside(&self, gaussian: Tensor<2>, classes: Vec<Tensor<2>>) -> Tensor<2> {
        Tensor::cat([vec![gaussian], classes].concat(), 1)
    }
}

impl Posterior for GaussianConcrete {
    fn sample(&self, rng: &mut Rng) -> Tensor<2> {
        let gaussian = self.gaussian.sample(rng);
        let draw = |logits: &Tensor<2>| softmax((logits.clone() + gumbel(logits, rng)) / self.temperature, 1);
        let classes = self.logits.iter().map(draw).collect();
        self.beside(gaussian, classes)
    }

    fn kl(&self) -> Tensor<2> {
        self.gaussian.kl() + self.kl_of_classes().sum_dim(1)
    }

    /// Means, and the probabilities of the classes.
    fn code(&self) -> Tensor<2> {
        self.beside(self.gaussian.code(), self.logits.iter().map(|logits| softmax(logits.clone(), 1)).collect())
    }

    /// Probabilities have no variance of their own, so there are no log-variances.
    fn kept(&self) -> Kept {
        Kept { log_variances: None, kl_divergences: Some(self.kl()) }
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "gaussian_concrete",
    about: "some latents Gaussian, the others probabilities of classes drawn from a Concrete distribution",
    paper: "Dupont 2018, Learning disentangled joint continuous and discrete representations",
    example: || Box::new(GaussianConcretes { classes: vec![3, 2], temperature: 0.67 }),
};

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    /// One Gaussian latent of mean 1 and variance 1, three classes of probabilities 1/2, 1/4, 1/4.
    fn posterior(batch: usize, temperature: f64) -> Box<dyn Posterior> {
        let outputs = [1.0, 0.0, 2.0_f32.ln(), 0.0, 0.0];
        let family = GaussianConcretes { classes: vec![3], temperature };
        assert_eq!(family.n_outputs(4), 5);
        family.posterior(&Parameters::new(Device::cpu()), Device::cpu().tensor(outputs.repeat(batch), [batch, 5]))
    }

    #[test]
    fn code_and_kl_by_hand() {
        let posterior = posterior(1, 0.67);
        let code = floats(posterior.code());
        assert!(code.iter().zip([1.0, 0.5, 0.25, 0.25]).all(|(a, b)| (a - b).abs() < 1e-6), "{code:?}");
        // 1/2 of the Gaussian; ln 3 - (1/2 ln 2 + 2 * 1/4 ln 4) = ln 3 - 1.5 ln 2 = 0.0588915.
        assert!((floats(posterior.kl())[0] - 0.558_891_5).abs() < 1e-6);
        // Logits 0.5, -1 and 2, as computed in Python from Dupont 2018 alone.
        let outputs = Device::cpu().tensor(vec![0.0, 0.0, 0.5, -1.0, 2.0], [1, 5]);
        let posterior = GaussianConcretes { classes: vec![3], temperature: 0.67 }
            .posterior(&Parameters::new(Device::cpu()), outputs);
        assert!((floats(posterior.kl())[0] - 0.477_027_7).abs() < 1e-6);
    }

    #[test]
    fn draws_are_probabilities_whose_largest_is_a_draw_from_the_classes() {
        // The Gumbel-max trick: whatever the temperature, class k is the largest with its probability.
        let n = 20_000;
        let draws = floats(posterior(n, 0.67).sample(&mut Seed(4).stream("noise")));
        let mut counts = [0; 3];
        for draw in draws.chunks(4) {
            let classes = &draw[1..];
            assert!((classes.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{classes:?}");
            let largest = (0..3).max_by(|&a, &b| classes[a].total_cmp(&classes[b])).unwrap();
            counts[largest] += 1;
        }
        // Standard errors sqrt(p (1 - p) / 20,000): 0.0035 and 0.0031.
        for (count, wanted) in counts.into_iter().zip([0.5, 0.25, 0.25]) {
            assert!((count as f64 / n as f64 - wanted).abs() < 0.014, "{counts:?}");
        }
    }

    #[test]
    fn a_traversal_moves_the_classes_of_a_variable_together() {
        let family = GaussianConcretes { classes: vec![3, 2], temperature: 0.67 };
        let moved = family.moved(7);
        assert_eq!(moved[..2], [Moved::Latent(0), Moved::Latent(1)]);
        assert_eq!(moved[2..], [Moved::Classes(2..5), Moved::Classes(5..7)]);
    }
}
