//! Some latents Gaussian with diagonal covariance, the others the probabilities of classes, drawn from a Concrete distribution (Dupont
//! 2018, JointVAE; Maddison et al. 2017, eq 10): `softmax((logits + Gumbel noise) / temperature)`.
//!
//! The prior is standard normal, and uniform over the classes. The divergence of the classes is that of the categorical
//! distributions, `ln n - entropy`, as in JointVAE's eq 8 and its published code, and not that of the Concrete ones, from which
//! the draws come. Those know more of each other than their classes do: for two classes whose logits differ by `l`, and a prior
//! of the same temperature, their divergence is `l coth(l / 2) - 2` whatever the temperature (the logit of a draw is logistic,
//! Maddison et al. 2017 appendix B), which is never less and goes on growing where the other ends at `ln 2`. At probabilities of
//! 3/4 and 1/4 it is 0.197 nats, and that of the classes 0.131.

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
    /// The distributions that outputs `[batch, outputs]` describe, for frameworks that look into them.
    pub fn gaussian_concrete(&self, outputs: &Tensor<2>) -> GaussianConcrete {
        let n_gaussian_outputs = outputs.dims()[1] - self.n_class_latents();
        let gaussian = DiagonalGaussian::from_outputs(outputs.clone().narrow(1, 0, n_gaussian_outputs));
        let logits = self.ranges(n_gaussian_outputs).into_iter();
        let logits = logits.map(|range| outputs.clone().narrow(1, range.start, range.len())).collect();
        GaussianConcrete { gaussian, logits, temperature: self.temperature }
    }

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
            return Err(Error::new(format!("{n_classes} of {latents} latents are classes, and none is left")).help(
                format!(
                    "wanted \"latents\" of {} or more: it counts Gaussian latents and classes together",
                    n_classes + 1
                ),
            ));
        }
        Ok(())
    }

    fn keeps_kl_divergences(&self) -> bool {
        true
    }

    fn posterior(&self, _parameters: &Parameters, outputs: Tensor<2>) -> Box<dyn Posterior> {
        Box::new(self.gaussian_concrete(&outputs))
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

    #[test]
    fn too_few_latents_are_refused_and_told_what_is_counted() {
        let family = GaussianConcretes { classes: vec![3, 2], temperature: 0.67 };
        assert!(family.check(6).is_ok());
        let wanted = "5 of 5 latents are classes, and none is left\n       wanted \"latents\" of 6 or more: it counts Gaussian latents and classes together";
        assert_eq!(family.check(5).unwrap_err().to_string(), wanted);
    }

    /// The trapezoidal rule from -60 to 60, which is exact to the last digits for densities as smooth as these.
    fn integral(function: impl Fn(f64) -> f64) -> f64 {
        const N: i32 = 24_000;
        (0..=N).map(|i| function(-60.0 + 120.0 * f64::from(i) / f64::from(N))).sum::<f64>() * 120.0 / f64::from(N)
    }

    fn kl_of_logits(logits: &[f64]) -> f64 {
        let family = GaussianConcretes { classes: vec![logits.len()], temperature: 0.67 };
        let values = [&[0.0, 0.0], logits].concat().into_iter().map(|value| value as f32).collect();
        let outputs = Device::cpu().tensor(values, [1, logits.len() + 2]);
        f64::from(floats(family.gaussian_concrete(&outputs).kl_of_classes())[0])
    }

    /// The class of a draw is the one whose logit plus Gumbel noise is the largest: the noise of this one has the density
    /// `exp(-x - e^-x)`, and those of the others stay below with probability `exp(-e^-x)` each.
    #[test]
    fn kl_of_classes_is_that_of_class_probabilities_by_quadrature() {
        let (density, below) = (|x: f64| (-x - (-x).exp()).exp(), |x: f64| (-(-x).exp()).exp());
        for logits in [vec![0.0, 0.0], vec![3.0_f64.ln(), 0.0], vec![0.5, -1.0, 2.0], vec![4.0, -3.0, 0.0, 1.0]] {
            let kl = (0..logits.len()).map(|class| {
                let others = |x: f64| {
                    logits
                        .iter()
                        .enumerate()
                        .filter(|(other, _)| *other != class)
                        .map(|(_, l)| below(x - l))
                        .product::<f64>()
                };
                let probability = integral(|x| density(x - logits[class]) * others(x));
                probability * (probability * logits.len() as f64).ln()
            });
            let (kl, found) = (kl.sum::<f64>(), kl_of_logits(&logits));
            assert!((found - kl).abs() < 1e-6, "{logits:?}: {found} is not {kl}");
        }
    }

    /// Two classes, as one number between 0 and 1: the logit of a draw, times the temperature, is logistic with the difference of the
    /// logits as its mean (Maddison et al. 2017, appendix B).
    #[test]
    fn concrete_distributions_differ_more_than_their_classes() {
        let log_density = |x: f64, l: f64, t: f64| t.ln() + l - t * x - 2.0 * (l - t * x).exp().ln_1p();
        let cases = [(0.0, 0.0, 0.0), (3.0_f64.ln(), 0.130_812, 0.197_225), (4.0, 0.603_052, 2.149_259)];
        for (logit, of_classes, of_concretes) in cases {
            for temperature in [0.67, 1.0, 2.0] {
                let kl = integral(|x| {
                    let [own, prior] = [logit, 0.0].map(|logit| log_density(x, logit, temperature));
                    own.exp() * (own - prior)
                });
                assert!((kl - of_concretes).abs() < 1e-6, "{logit}, {temperature}: {kl} is not {of_concretes}");
            }
            let found = kl_of_logits(&[logit, 0.0]);
            assert!((found - of_classes).abs() < 1e-6, "{logit}: {found} is not {of_classes}");
        }
    }
}
