//! Where tensors are computed, and by whose operations.

use burn::tensor::{Device as BurnDevice, Tensor, TensorData};

/// A device of burn, and whether our own operations run on it. A learner has one; all its tensors are there.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    burn: BurnDevice,
    has_kernels: bool,
}

impl Device {
    /// The processor, with our own kernels: what everything is trained on.
    pub fn cpu() -> Self {
        Self { burn: BurnDevice::flex(), has_kernels: true }
    }

    /// The processor, with burn's own operations for layers, losses and optimisers, as any other device of burn would compute. Whole
    /// tensors are summed by our own operation all the same, since burn's loses digits here.
    pub fn cpu_of_burn() -> Self {
        Self { burn: BurnDevice::flex(), has_kernels: false }
    }

    /// Whether our own operations run here; else the same is made of burn's.
    pub fn has_kernels(&self) -> bool {
        self.has_kernels
    }

    /// A tensor of these values that records nothing.
    pub fn tensor<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values, shape), &self.burn)
    }

    /// A tensor of these values among those that record what gradients need.
    pub fn recording_tensor<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values, shape), &self.burn.clone().autodiff())
    }
}

impl Default for Device {
    fn default() -> Self {
        Self::cpu()
    }
}
