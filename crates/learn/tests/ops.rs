//! Layers on our kernels against the same layers made of burn's own operations: outputs and every gradient.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use burn::tensor::{Gradients, Tensor};
use rand::RngExt;
use unbraid_data::{Rng, Seed};
use unbraid_learn::ops::{
    Activation, ConvLayer, Direction, conv_stack, conv_stack_of_burn, is_on_cpu, linear, linear_of_burn,
};
use unbraid_learn::reconstruction::{RECONSTRUCTIONS, Reconstruction};
use unbraid_learn::tensors::{device, floats, recording_device, tensor};

/// Values between -1 and 1.
fn random<const D: usize>(shape: [usize; D], rng: &mut Rng) -> Tensor<D> {
    let values = (0..shape.iter().product()).map(|_| rng.random_range(-1.0..1.0)).collect();
    tensor(values, shape, &recording_device()).require_grad()
}

/// Output and gradients of both ways of computing, each as one list.
fn both<const D: usize>(
    inputs: &Tensor<D>,
    parameters: &[Tensor<2>],
    ways: [&dyn Fn(Tensor<D>) -> Tensor<D>; 2],
) -> [Vec<Vec<f32>>; 2] {
    ways.map(|way| {
        let out = way(inputs.clone());
        let slope = random(out.dims(), &mut Seed(2).stream("slope")).detach();
        let gradients: Gradients = (out.clone() * slope).sum().backward();
        let mut found = vec![floats(out.inner()), floats(inputs.grad(&gradients).unwrap())];
        found.extend(parameters.iter().map(|parameter| floats(parameter.grad(&gradients).unwrap())));
        found
    })
}

fn assert_close([found, wanted]: [Vec<Vec<f32>>; 2]) {
    for (part, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        let largest = wanted.iter().fold(1.0_f32, |largest, value| largest.max(value.abs()));
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() <= 2e-5 * largest, "part {part}: {found} is not {wanted}");
        }
    }
}

/// Layers of 4x4 taps between so many channels.
fn layers(channels: [usize; 5], direction: Direction, rng: &mut Rng) -> [ConvLayer; 4] {
    std::array::from_fn(|layer| {
        let (inputs, outputs) = (channels[layer], channels[layer + 1]);
        let shape = match direction {
            Direction::Down => [16 * inputs, outputs],
            Direction::Up => [inputs, 16 * outputs],
        };
        let activation = if layer < 3 { Activation::Relu } else { Activation::None };
        ConvLayer { weight: random(shape, rng) * 0.2, bias: random([1, outputs], rng), activation }
    })
}

/// Otherwise the tests below would compare burn with itself.
#[test]
fn our_kernels_are_used_on_the_devices_that_we_have() {
    for device in [device(), recording_device()] {
        assert!(is_on_cpu(&tensor(vec![0.0], [1], &device)));
    }
}

#[test]
fn four_convolutions_are_burns() {
    let mut rng = Seed(1).stream("ops");
    for (direction, size, channels) in
        [(Direction::Down, 64, [3, 16, 16, 32, 5]), (Direction::Up, 4, [16, 32, 16, 16, 3])]
    {
        let images = random([5, size, size, channels[0]], &mut rng);
        let layers = layers(channels, direction, &mut rng)
            .map(|layer| ConvLayer { weight: layer.weight.detach().require_grad(), ..layer });
        let parameters: Vec<_> = layers.iter().flat_map(|layer| [layer.weight.clone(), layer.bias.clone()]).collect();
        assert_close(both(
            &images,
            &parameters,
            [&|images| conv_stack(images, direction, layers.clone()), &|images| {
                conv_stack_of_burn(images, direction, layers.clone())
            }],
        ));
    }
}

#[test]
fn a_linear_layer_is_burns() {
    let mut rng = Seed(1).stream("ops");
    let (inputs, weight, bias) = (random([9, 70], &mut rng), random([70, 33], &mut rng), random([1, 33], &mut rng));
    for activation in [Activation::None, Activation::Relu] {
        assert_close(both(
            &inputs,
            &[weight.clone(), bias.clone()],
            [&|inputs| linear(inputs, weight.clone(), bias.clone(), activation), &|inputs| {
                linear_of_burn(inputs, weight.clone(), bias.clone(), activation)
            }],
        ));
    }
}

#[test]
fn every_reconstruction_loss_is_burns() {
    let mut rng = Seed(1).stream("ops");
    let (outputs, images) = (random([7, 50], &mut rng) * 3.0, random([7, 50], &mut rng));
    let outputs = outputs.detach().require_grad();
    for entry in RECONSTRUCTIONS {
        assert_close(both(
            &outputs,
            std::slice::from_ref(&images),
            [&|outputs| Reconstruction(entry).per_image(outputs, images.clone()), &|outputs| {
                (entry.per_pixel)(outputs, images.clone()).sum_dim(1)
            }],
        ));
    }
}

/// Whether gradients are recorded or not, the values are the same to the bit.
#[test]
fn encoding_without_gradients_gives_the_same_bits() {
    let mut rng = Seed(1).stream("ops");
    let images = random([21, 64, 64, 1], &mut rng);
    let layers = layers([1, 32, 32, 64, 64], Direction::Down, &mut rng);
    let frozen = layers.clone().map(|layer| ConvLayer {
        weight: layer.weight.inner(),
        bias: layer.bias.inner(),
        activation: layer.activation,
    });
    let recorded = conv_stack(images.clone(), Direction::Down, layers);
    let plain = conv_stack(images.inner().to_device(&device()), Direction::Down, frozen);
    assert!(floats(recorded.inner()) == floats(plain));
}
