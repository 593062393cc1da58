//! Losses that also compare filtered images, and their gradients, against values computed elsewhere (`reference/distances`).
use crate::support::Parts;
use serde_json::Value;
use unbraid_data::ImageShape;
use unbraid_data::kernel_file::{Kernel, write_kernel};
use unbraid_learn::Device;
use unbraid_learn::tensors::floats;

/// The settings of a framework with the loss of a case.
fn settings(case: &Value, folder: &std::path::Path) -> String {
    let (radius, weight) = (&case["radius"], case["weight"].as_f64().unwrap());
    match case["kind"].as_str().unwrap() {
        "asymmetric" => {
            let tap = |tap: usize| match radius.as_u64() {
                Some(1) => ((tap * 5 + 3) % 7) as f32 * 0.2 - 0.5,
                _ => ((tap * 11 + 2) % 13) as f32 * 0.1 - 0.4,
            };
            let side = 2 * radius.as_u64().unwrap() as usize + 1;
            let path = folder.join(format!("kernel{side}.npy"));
            write_kernel(&path, &Kernel::new((0..side * side).map(tap).collect()).unwrap()).unwrap();
            format!("reconstruction = {{ name = 'mse_kernel', path = '{}', weight = {weight:?} }}", path.display())
        }
        kind => format!("reconstruction = {{ name = 'mse_{kind}', radius = {radius}, weight = {weight:?} }}"),
    }
}

#[test]
fn losses_and_gradients_are_those_computed_elsewhere() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/distances/values.json");
    let values: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = values["losses"].as_array().unwrap();
    assert_eq!(cases.len(), 14);
    let folder = tempfile::tempdir().unwrap();
    let pixel = |image: usize, index: usize| ((index * 37 + image * 53 + 11) % 101) as f32 / 101.0;
    for case in cases {
        let sides: Vec<usize> =
            case["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
        let shape = ImageShape { height: sides[0], width: sides[1], channels: sides[2] };
        let n_pixels = shape.n_pixels();
        let settings = settings(case, folder.path());
        for device in [Device::cpu(), Device::cpu_of_burn()] {
            let parts = Parts::new(("ae", &settings), ("linear", ""), shape);
            let learner = parts.learner_on(device.clone());
            let image = |image: usize| -> Vec<f32> { (0..n_pixels).map(|index| pixel(image, index)).collect() };
            let parameters = &learner.model.parameters;
            let outputs = device.recording_tensor(image(0), [1, n_pixels]).require_grad();
            let images = parameters.tensor(image(1), [1, n_pixels]);
            let loss = learner.framework.reconstruction().unwrap().per_image(&learner.model, outputs.clone(), images);
            let gradient = floats(outputs.grad(&loss.clone().sum().backward()).unwrap());
            let (found, wanted) = (f64::from(floats(loss.inner())[0]), case["loss"].as_f64().unwrap());
            assert!((found / wanted - 1.0).abs() < 1e-5, "{found} is not {wanted}: {case}");
            let slopes: Vec<f64> = case["gradient"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
            let largest = slopes.iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
            assert_eq!(gradient.len(), slopes.len());
            for (found, wanted) in gradient.iter().zip(&slopes) {
                assert!((f64::from(*found) - wanted).abs() < 2e-5 * largest, "{found} is not {wanted}: {case}");
            }
        }
    }
}
