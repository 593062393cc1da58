//! Training with burn's own operations alone, as another device would, gives the losses that our kernels give.

use crate::support::{POINT, Parts, batch, chosen};
use unbraid_data::ImageShape;
use unbraid_learn::frameworks::FRAMEWORKS;
use unbraid_learn::networks::NETWORKS;
use unbraid_learn::optimisers::OPTIMISERS;
use unbraid_learn::reconstruction::RECONSTRUCTIONS;
use unbraid_learn::{Device, Learner};

/// The total and all parts of each step.
fn losses(mut learner: Learner, steps: u64, n_images: usize, rate: f64) -> Vec<f32> {
    let steps = (0..steps).flat_map(|step| {
        let batch = batch(&learner, step, n_images);
        let losses = learner.step(&batch, rate).unwrap();
        std::iter::once(losses.total).chain(losses.parts.into_iter().map(|part| part.value)).collect::<Vec<f32>>()
    });
    steps.collect()
}

fn check_same(parts: Parts, steps: u64, n_images: usize, rate: f64) {
    let [ours, of_burn] =
        [Device::cpu(), Device::cpu_of_burn()].map(|device| losses(parts.learner_on(device), steps, n_images, rate));
    let first = ours[0];
    assert!(ours[ours.len() - 1] != first, "{:?}: nothing was learned", parts.framework);
    for (ours, of_burn) in ours.iter().zip(&of_burn) {
        // Of a part near zero, such as the total correlation at first, the share in the loss counts.
        let allowed = 1e-4 * ours.abs().max(0.01 * first.abs());
        assert!(
            (ours - of_burn).abs() <= allowed,
            "{:?} {:?}: {ours} is not {of_burn}",
            parts.framework,
            parts.network
        );
    }
}

#[test]
fn every_framework_has_the_same_losses() {
    for entry in FRAMEWORKS {
        let network = ("mlp", "latents = 4\nencoder = [16]\ndecoder = [16]");
        check_same(Parts::new((entry.name, entry.example), network, POINT), 50, 16, 1e-3);
    }
}

#[test]
fn every_optimiser_and_reconstruction_loss_has_the_same_losses() {
    for reconstruction in RECONSTRUCTIONS {
        for optimiser in OPTIMISERS {
            let settings = chosen(reconstruction);
            let network = ("mlp", "latents = 3\nencoder = [16]\ndecoder = [16]");
            check_same(
                Parts { optimiser: optimiser.name, ..Parts::new(("vae", &settings), network, POINT) },
                50,
                16,
                1e-3,
            );
        }
    }
}

/// `conv_deep` takes pictures of two sizes.
#[test]
fn every_convolutional_network_has_the_same_losses() {
    for (name, side) in NETWORKS.iter().flat_map(|network| network.sides.iter().map(move |side| (network.name, *side)))
    {
        let shape = ImageShape { height: side, width: side, channels: 3 };
        // Short steps along the gradient: Adam's first steps are as long for gradients that are nothing but rounding, as those before a
        // normalisation, and long steps make much of burn's sums, which lose digits. A step lowers the loss by about 2 %.
        let parts = Parts::new(("beta_vae", ""), (name, "latents = 4"), shape);
        check_same(Parts { optimiser: "sgd", ..parts }, 4, 4, 1e-7);
    }
}
