//! Layers on our kernels against the same layers made of burn's own operations: outputs and every gradient.
use crate::support::{Parts, chosen};
use burn::tensor::{Gradients, Tensor};
use rand::RngExt;
use unbraid_data::{ImageShape, Rng, Seed};
use unbraid_learn::ops::{
    Activation, ConvLayer, Direction, PixelLoss, Window, conv_stack, conv_stack_of_burn, is_on_cpu, linear,
    linear_of_burn, mixture_log_densities, mixture_log_densities_of_burn, pixel_sums,
};
use unbraid_learn::reconstruction::RECONSTRUCTIONS;
use unbraid_learn::tensors::floats;
use unbraid_learn::{Device, Learner};

/// Values between -1 and 1.
fn random<const D: usize>(shape: [usize; D], rng: &mut Rng) -> Tensor<D> {
    let values = (0..shape.iter().product()).map(|_| rng.random_range(-1.0..1.0)).collect();
    Device::cpu().recording_tensor(values, shape).require_grad()
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

/// Layers of 4x4 taps between so many channels; the last has no activation.
fn layers(channels: &[usize], activation: Activation, direction: Direction, rng: &mut Rng) -> Vec<ConvLayer> {
    let n_layers = channels.len() - 1;
    let layer = |layer| {
        let (inputs, outputs) = (channels[layer], channels[layer + 1]);
        let shape = match direction {
            Direction::Down => [16 * inputs, outputs],
            Direction::Up => [inputs, 16 * outputs],
        };
        let activation = if layer + 1 < n_layers { activation } else { Activation::None };
        let weight = (random(shape, rng) * 0.2).detach().require_grad();
        ConvLayer { window: Window::HALVING, weight, bias: random([1, outputs], rng), activation }
    };
    (0..n_layers).map(layer).collect()
}

fn parameters(layers: &[ConvLayer]) -> Vec<Tensor<2>> {
    layers.iter().flat_map(|layer| [layer.weight.clone(), layer.bias.clone()]).collect()
}

/// Otherwise the tests below would compare burn with itself.
#[test]
fn our_kernels_are_used_on_the_devices_that_we_have() {
    let device = Device::cpu();
    for tensor in [device.tensor(vec![0.0], [1]), device.recording_tensor(vec![0.0], [1])] {
        assert!(is_on_cpu(&tensor));
    }
}

fn assert_stack_is_burns(images: &Tensor<4>, direction: Direction, layers: &[ConvLayer]) {
    assert_close(both(
        images,
        &parameters(layers),
        [&|images| conv_stack(images, direction, layers.to_vec()), &|images| {
            conv_stack_of_burn(images, direction, layers.to_vec())
        }],
    ));
}

#[test]
fn four_convolutions_are_burns() {
    let mut rng = Seed(1).stream("ops");
    for (direction, size, channels) in
        [(Direction::Down, 64, [3, 16, 16, 32, 5]), (Direction::Up, 4, [16, 32, 16, 16, 3])]
    {
        let images = random([5, size, size, channels[0]], &mut rng);
        for activation in [Activation::Relu, Activation::LeakyRelu] {
            assert_stack_is_burns(&images, direction, &layers(&channels, activation, direction, &mut rng));
        }
    }
}

#[test]
fn a_stack_of_any_depth_is_burns() {
    let mut rng = Seed(1).stream("ops");
    for depth in 1..=8 {
        let channels = &[2, 3, 1, 2, 2, 3, 1, 2, 2][..=depth];
        for (direction, size) in [(Direction::Down, 1 << depth), (Direction::Up, 1)] {
            let images = random([2, size, size, channels[0]], &mut rng);
            assert_stack_is_burns(&images, direction, &layers(channels, Activation::Relu, direction, &mut rng));
        }
    }
}

/// Windows of 1x1 to 5x5, strides of 1 to 3 and paddings of 0 to 2, mixed within a stack.
#[test]
fn layers_of_any_windows_are_burns() {
    let mut rng = Seed(1).stream("ops");
    let stacks =
        [[(4, 2, 1), (2, 2, 0), (4, 1, 0)], [(5, 3, 2), (3, 1, 1), (1, 1, 0)], [(2, 2, 0), (4, 2, 1), (3, 2, 0)]];
    for (direction, size) in [(Direction::Down, 24), (Direction::Up, 3)] {
        for windows in stacks {
            let mut channels = 3;
            let layers = windows.map(|(kernel, stride, padding)| {
                let outputs = channels + 2;
                let area = kernel * kernel;
                let shape =
                    if direction == Direction::Down { [area * channels, outputs] } else { [channels, area * outputs] };
                let weight = (random(shape, &mut rng) * 0.2).detach().require_grad();
                channels = outputs;
                let (window, bias) = (Window { kernel, stride, padding }, random([1, outputs], &mut rng));
                ConvLayer { window, weight, bias, activation: Activation::LeakyRelu }
            });
            assert_stack_is_burns(&random([3, size, size, 3], &mut rng), direction, &layers);
        }
    }
}

#[test]
#[should_panic(expected = "a stack has 1 to 8 layers, not 9")]
fn a_stack_of_too_many_layers_is_refused() {
    let mut rng = Seed(1).stream("ops");
    let layers = layers(&[1; 10], Activation::Relu, Direction::Up, &mut rng);
    drop(conv_stack(random([1, 1, 1, 1], &mut rng), Direction::Up, layers));
}

#[test]
fn a_linear_layer_is_burns() {
    let mut rng = Seed(1).stream("ops");
    let (inputs, weight, bias) = (random([9, 70], &mut rng), random([70, 33], &mut rng), random([1, 33], &mut rng));
    for activation in [Activation::None, Activation::Relu, Activation::LeakyRelu] {
        assert_close(both(
            &inputs,
            &[weight.clone(), bias.clone()],
            [&|inputs| linear(inputs, weight.clone(), bias.clone(), activation), &|inputs| {
                linear_of_burn(inputs, weight.clone(), bias.clone(), activation)
            }],
        ));
    }
}

/// A leaf that is detached still asks for its gradient.
fn constant<const D: usize>(tensor: &Tensor<D>) -> Tensor<D> {
    tensor.clone().set_require_grad(false)
}

/// A network that is held constant still hands a gradient on to what went in, the same to the bit; its own parameters get
/// none.
#[test]
fn constants_hand_gradients_on_and_get_none() {
    let mut rng = Seed(1).stream("ops");
    let inputs = random([9, 70], &mut rng);
    let (weight, bias) = (random([70, 33], &mut rng), random([1, 33], &mut rng));
    let gradient = |weight: Tensor<2>, bias: Tensor<2>| {
        let out = linear(inputs.clone(), weight.clone(), bias.clone(), Activation::LeakyRelu);
        let gradients = out.powi_scalar(2).sum().backward();
        (inputs.grad(&gradients).map(floats), weight.grad(&gradients).map(floats), bias.grad(&gradients).map(floats))
    };
    let (of_inputs, of_weight, of_bias) = gradient(weight.clone(), bias.clone());
    assert!(of_inputs.is_some() && of_weight.is_some() && of_bias.is_some());
    assert!(gradient(constant(&weight), constant(&bias)) == (of_inputs.clone(), None, None));
    assert!(gradient(weight.clone(), constant(&bias)) == (of_inputs.clone(), of_weight, None));
    assert!(gradient(constant(&weight), bias) == (of_inputs, None, of_bias));
}

#[test]
fn constant_convolutions_hand_gradients_on_and_get_none() {
    let mut rng = Seed(1).stream("ops");
    let images = random([5, 16, 16, 3], &mut rng);
    let layers = layers(&[3, 16, 16, 5], Activation::Relu, Direction::Down, &mut rng);
    let gradients_with = |images: &Tensor<4>, is_constant: [bool; 3]| {
        let mut layers = layers.clone();
        for layer in layers.iter_mut().zip(is_constant).filter_map(|(layer, constant)| constant.then_some(layer)) {
            (layer.weight, layer.bias) = (constant(&layer.weight), constant(&layer.bias));
        }
        let gradients = conv_stack(images.clone(), Direction::Down, layers.clone()).powi_scalar(2).sum().backward();
        let of_parameters: Vec<_> =
            parameters(&layers).iter().map(|tensor| tensor.grad(&gradients).map(floats)).collect();
        (images.grad(&gradients).map(floats), of_parameters)
    };
    let (of_images, of_parameters) = gradients_with(&images, [false; 3]);
    for is_constant in (0..8_u8).map(|bits| [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0]) {
        let wanted: Vec<_> =
            (0..6).map(|index| of_parameters[index].clone().filter(|_| !is_constant[index / 2])).collect();
        assert!(gradients_with(&images, is_constant) == (of_images.clone(), wanted.clone()), "{is_constant:?}");
        if is_constant != [true; 3] {
            assert!(gradients_with(&constant(&images), is_constant) == (None, wanted), "{is_constant:?}");
        }
    }
}

/// Decoder outputs and images, either of which may be a constant.
#[test]
fn pixel_sums_have_gradients_where_they_are_wanted() {
    let mut rng = Seed(1).stream("ops");
    let (outputs, images) = (random([3, 50], &mut rng), random([3, 50], &mut rng));
    for loss in [PixelLoss::SquaredError, PixelLoss::AbsoluteError, PixelLoss::CrossEntropy] {
        let gradient = |outputs: &Tensor<2>, images: &Tensor<2>| {
            let gradients = pixel_sums(outputs.clone(), images.clone(), loss).sum().backward();
            (outputs.grad(&gradients).map(floats), images.grad(&gradients).map(floats))
        };
        let (of_outputs, of_images) = gradient(&outputs, &images);
        assert!(of_outputs.is_some() && of_images.is_some());
        assert!(gradient(&outputs, &constant(&images)) == (of_outputs, None));
        assert!(gradient(&constant(&outputs), &images) == (None, of_images));
    }
}

/// `|output - pixel|` and its gradients by burn's operations.
#[test]
fn absolute_errors_are_burns() {
    let mut rng = Seed(1).stream("ops");
    let (outputs, images) = (random([7, 50], &mut rng), random([7, 50], &mut rng));
    assert_close(both(
        &outputs,
        std::slice::from_ref(&images),
        [&|outputs| pixel_sums(outputs, images.clone(), PixelLoss::AbsoluteError), &|outputs| {
            (outputs - images.clone()).abs().sum_dim(1)
        }],
    ));
}

#[test]
fn every_reconstruction_loss_is_burns() {
    let mut rng = Seed(1).stream("ops");
    let (outputs, images) = (random([7, 50], &mut rng) * 3.0, random([7, 50], &mut rng));
    let outputs = outputs.detach().require_grad();
    let shape = ImageShape { height: 1, width: 1, channels: 50 };
    for entry in RECONSTRUCTIONS {
        let settings = chosen(entry);
        let parts = Parts::new(("ae", &settings), ("linear", ""), shape);
        let [ours, of_burn] = [Device::cpu(), Device::cpu_of_burn()].map(|device| parts.learner_on(device));
        let loss = |learner: &Learner, outputs| {
            let reconstruction = learner.framework.reconstruction().unwrap();
            reconstruction.per_image(&learner.model, outputs, images.clone())
        };
        assert_close(both(
            &outputs,
            std::slice::from_ref(&images),
            [&|outputs| loss(&ours, outputs), &|outputs| loss(&of_burn, outputs)],
        ));
    }
}

/// Whether gradients are recorded or not, the values are the same to the bit.
#[test]
fn encoding_without_gradients_gives_the_same_bits() {
    let mut rng = Seed(1).stream("ops");
    let images = random([21, 64, 64, 1], &mut rng);
    let layers = layers(&[1, 32, 32, 64, 64], Activation::Relu, Direction::Down, &mut rng);
    let without_gradients = |layer: &ConvLayer| ConvLayer {
        window: layer.window,
        weight: layer.weight.clone().inner(),
        bias: layer.bias.clone().inner(),
        activation: layer.activation,
    };
    let frozen = layers.iter().map(without_gradients).collect();
    let recorded = conv_stack(images.clone(), Direction::Down, layers);
    let plain = conv_stack(images.inner(), Direction::Down, frozen);
    assert!(floats(recorded.inner()) == floats(plain));
}

#[test]
fn densities_of_a_mixture_are_burns() {
    let mut rng = Seed(1).stream("ops");
    for (batch, latents) in [(1, 1), (5, 3), (40, 10)] {
        let [codes, means, log_variances] = [(); 3].map(|()| random([batch, latents], &mut rng));
        let log_weights = random([batch, batch], &mut rng).detach();
        let way = |mixture: fn(Tensor<2>, Tensor<2>, Tensor<2>, Tensor<2>) -> Tensor<2>| {
            let (means, log_variances, log_weights) = (means.clone(), log_variances.clone(), log_weights.clone());
            move |codes| mixture(codes, means.clone(), log_variances.clone(), log_weights.clone())
        };
        assert_close(both(
            &codes,
            &[means.clone(), log_variances.clone()],
            [&way(mixture_log_densities), &way(mixture_log_densities_of_burn)],
        ));
    }
}

#[test]
fn densities_of_a_mixture_are_the_same_bits_on_any_number_of_threads() {
    let mut rng = Seed(1).stream("ops");
    let [codes, means, log_variances] = [(); 3].map(|()| random([100, 7], &mut rng));
    let log_weights = random([100, 100], &mut rng).detach();
    let bits = || {
        let out = mixture_log_densities(codes.clone(), means.clone(), log_variances.clone(), log_weights.clone());
        let gradients = out.clone().sum().backward();
        let grads = [&codes, &means, &log_variances].map(|tensor| floats(tensor.grad(&gradients).unwrap()));
        grads.iter().flatten().chain(&floats(out.inner())).map(|value| value.to_bits()).collect::<Vec<u32>>()
    };
    let first = bits();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(bits), first, "{threads} threads");
    }
}
