//! Walks every posterior: shapes, a divergence that is not negative, and what a traversal moves.

use rand::RngExt;
use unbraid_data::Seed;
use unbraid_learn::Device;
use unbraid_learn::parameters::Initialiser;
use unbraid_learn::posteriors::{Moved, POSTERIORS};
use unbraid_learn::tensors::floats;

const LATENTS: usize = 7;
const BATCH: usize = 5;

#[test]
fn every_posterior_has_the_shapes_that_it_says() {
    for entry in POSTERIORS {
        let family = (entry.example)();
        family.check(LATENTS).unwrap();
        let n_outputs = family.n_outputs(LATENTS);
        let mut rng = Seed(1).stream("outputs");
        let values = (0..BATCH * n_outputs).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut initialiser = Initialiser::new(Seed(1), Device::cpu());
        family.initialise(LATENTS, &mut initialiser);
        let parameters = initialiser.finish().0.frozen();
        let posterior = family.posterior(&parameters, Device::cpu().tensor(values, [BATCH, n_outputs]));
        let sample = posterior.sample(&mut Seed(2).stream("noise"));
        assert_eq!((sample.dims(), posterior.code().dims()), ([BATCH, LATENTS], [BATCH, LATENTS]), "{}", entry.name);
        assert_eq!(posterior.kl().dims(), [BATCH, 1], "{}", entry.name);
        assert!(floats(posterior.kl()).iter().all(|kl| *kl >= 0.0), "{}", entry.name);
        let kept = posterior.kept();
        assert!(kept.log_variances.is_none_or(|kept| kept.dims() == [BATCH, LATENTS]), "{}", entry.name);
        assert_eq!(kept.kl_divergences.is_some(), family.keeps_kl_divergences(), "{}", entry.name);
        assert!(kept.kl_divergences.is_none_or(|kept| kept.dims() == [BATCH, 1]), "{}", entry.name);
        let moved = family.moved(LATENTS).into_iter().flat_map(|moved| match moved {
            Moved::Latent(latent) | Moved::Values(latent) => vec![latent],
            Moved::Classes(range) => range.collect(),
        });
        assert_eq!(moved.collect::<Vec<_>>(), (0..LATENTS).collect::<Vec<_>>(), "{}", entry.name);
    }
}
