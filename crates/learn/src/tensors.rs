//! Between plain slices and burn's tensors.

use burn::tensor::{Device, Tensor, TensorData};

/// The device that everything is computed on, without recording gradients.
pub fn device() -> Device {
    Device::flex()
}

/// The same device, recording what gradients need.
pub fn recording_device() -> Device {
    Device::flex().autodiff()
}

/// A tensor of these values.
pub fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// The values of a tensor, row-major.
pub fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("every tensor here holds f32")
}

/// The only value of a tensor.
pub fn scalar(tensor: Tensor<1>) -> f32 {
    floats(tensor)[0]
}
