//! Layers on top of each other give what they give one by one, and the same bits on any number of threads.

mod reference;

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use unbraid_kernels::stack::{self, StackGradients, StackLayer, kept_len};
use unbraid_kernels::{Activation, ConvShape, LayerShape, TransposedShape};

use reference::{assert_close, noise};

/// Down, down and up again, through both ways of computing: 8x8 to 4x4 to 2x2 to 4x4 pixels.
fn shapes(batch: usize, channels: usize) -> Vec<LayerShape> {
    let down = |size, in_channels, out_channels| {
        let (height, width, kernel, stride, padding) = (size, size, 4, 2, 1);
        LayerShape::Conv(ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding })
    };
    let (in_channels, out_channels) = (2 * channels, 3);
    let (height, width, kernel, stride, padding) = (2, 2, 4, 2, 1);
    let up = TransposedShape { batch, height, width, in_channels, out_channels, kernel, stride, padding };
    vec![down(8, 1, channels), down(4, channels, 2 * channels), LayerShape::Transposed(up)]
}

/// Output, and gradients of images and of each layer's weight and bias, end to end.
fn in_one(shapes: &[LayerShape]) -> Vec<Vec<f32>> {
    let parameters = parameters(shapes);
    let layers = layers(shapes, &parameters);
    let (images, batch) = (images(shapes), shapes[0].batch());
    let out_len = batch * shapes[shapes.len() - 1].out_image_len();
    let (mut kept, mut out) = (vec![f32::NAN; kept_len(shapes)], vec![f32::NAN; out_len]);
    stack::forward(&layers, &images, Some(&mut kept), &mut out);
    let mut forgotten = vec![f32::NAN; out_len];
    stack::forward(&layers, &images, None, &mut forgotten);
    assert!(out == forgotten);

    let mut grad_images = vec![f32::NAN; images.len()];
    let mut grads = parameters.clone();
    let targets = StackGradients {
        images: Some(&mut grad_images),
        layers: grads.iter_mut().map(|(weight, bias)| Some((&mut weight[..], &mut bias[..]))).collect(),
    };
    stack::backward(&layers, &images, &kept, &out, &noise(out_len, 9), targets);
    let grads = grads.into_iter().flat_map(|(weight, bias)| [weight, bias]);
    [out, grad_images].into_iter().chain(grads).collect()
}

/// The same, each layer on its own.
fn one_by_one(shapes: &[LayerShape]) -> Vec<Vec<f32>> {
    let parameters = parameters(shapes);
    let layers = layers(shapes, &parameters);
    let mut made = vec![images(shapes)];
    for layer in &layers {
        let mut out = vec![f32::NAN; layer.shape.batch() * layer.shape.out_image_len()];
        stack::forward(std::slice::from_ref(layer), &made[made.len() - 1], None, &mut out);
        made.push(out);
    }
    let (mut grad, mut grads) = (noise(made[layers.len()].len(), 9), Vec::new());
    for (depth, layer) in layers.iter().enumerate().rev() {
        let (mut grad_images, mut grad_weight, mut grad_bias) =
            (made[depth].clone(), layer.weight.to_vec(), layer.bias.to_vec());
        let targets = StackGradients {
            images: Some(&mut grad_images),
            layers: vec![Some((&mut grad_weight[..], &mut grad_bias[..]))],
        };
        stack::backward(std::slice::from_ref(layer), &made[depth], &[], &made[depth + 1], &grad, targets);
        grads.extend([grad_bias, grad_weight]);
        grad = grad_images;
    }
    grads.reverse();
    [made.remove(layers.len()), grad].into_iter().chain(grads).collect()
}

fn images(shapes: &[LayerShape]) -> Vec<f32> {
    noise(shapes[0].batch() * shapes[0].image_len(), 1)
}

fn parameters(shapes: &[LayerShape]) -> Vec<(Vec<f32>, Vec<f32>)> {
    let numbered = shapes.iter().zip(2..);
    numbered.map(|(shape, seed)| (noise(shape.weight_len(), seed), noise(shape.bias_len(), 100 + seed))).collect()
}

fn layers<'a>(shapes: &[LayerShape], parameters: &'a [(Vec<f32>, Vec<f32>)]) -> Vec<StackLayer<'a>> {
    let last = shapes.len() - 1;
    let numbered = shapes.iter().zip(parameters).enumerate();
    let layers = numbered.map(|(depth, (shape, (weight, bias)))| {
        let activation = if depth < last { Activation::Relu } else { Activation::None };
        StackLayer { shape: *shape, weight, bias, activation }
    });
    layers.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_stack_is_its_layers_one_by_one(batch in 1..300_usize, channels in prop_oneof![Just(16_usize), 1..5_usize]) {
        let shapes = shapes(batch, channels);
        for (found, wanted) in in_one(&shapes).iter().zip(one_by_one(&shapes)) {
            assert_close(found, &wanted.into_iter().map(f64::from).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_stack_gives_the_same_bits_on_any_number_of_threads() {
    for batch in [5, 37, 150] {
        let shapes = shapes(batch, 16);
        let on = |n_threads| {
            let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a thread pool");
            pool.install(|| in_one(&shapes))
        };
        let alone = on(1);
        assert!(alone == on(2) && alone == on(3), "batch {batch}");
    }
}

/// Layers whose gradients are not wanted change no bit of the others', and nothing is written for them.
#[test]
fn gradients_of_some_layers_can_be_had_without_the_others() {
    let shapes = shapes(37, 16);
    let parameters = parameters(&shapes);
    let layers = layers(&shapes, &parameters);
    let (images, out_len) = (images(&shapes), 37 * shapes[2].out_image_len());
    let (mut kept, mut out) = (vec![f32::NAN; kept_len(&shapes)], vec![f32::NAN; out_len]);
    stack::forward(&layers, &images, Some(&mut kept), &mut out);
    let gradients = |wanted: [bool; 4]| {
        let mut filled: Vec<_> = parameters.iter().flat_map(|(weight, bias)| [weight.len(), bias.len()]).collect();
        filled.insert(0, images.len());
        let mut filled: Vec<_> = filled.into_iter().map(|len| vec![f32::NAN; len]).collect();
        let (of_images, of_layers) = filled.split_at_mut(1);
        let pairs = of_layers.as_chunks_mut::<2>().0.iter_mut().zip(&wanted[1..]);
        let targets = StackGradients {
            images: wanted[0].then_some(&mut of_images[0]),
            layers: pairs.map(|([weight, bias], wanted)| wanted.then_some((&mut weight[..], &mut bias[..]))).collect(),
        };
        stack::backward(&layers, &images, &kept, &out, &noise(out_len, 9), targets);
        filled
    };
    let all = gradients([true; 4]);
    for wanted in (0..16_u8).map(|bits| std::array::from_fn(|index| bits & (1 << index) > 0)) {
        for (index, (found, all)) in gradients(wanted).iter().zip(&all).enumerate() {
            let is_wanted = wanted[index.div_ceil(2)];
            assert!(if is_wanted { found == all } else { found.iter().all(|value| value.is_nan()) }, "{wanted:?}");
        }
    }
}
