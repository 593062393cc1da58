//! What a framework remembers from step to step: a controller's integral, moving averages.

use burn::tensor::Tensor;

use crate::device::Device;
use crate::tensors::constant;

/// Named rows of numbers `[1, n]`. No gradient passes through them; checkpoints keep them as `state.NAME`.
#[derive(Debug, Clone, Default)]
pub struct State {
    entries: Vec<(String, Tensor<2>)>,
}

impl State {
    /// Adds a row with its first values.
    pub fn add(&mut self, name: &str, values: Vec<f32>, device: &Device) {
        assert!(self.entries.iter().all(|(known, _)| known != name), "two states are called {name}");
        let n_values = values.len();
        self.entries.push((name.to_string(), device.recording_tensor(values, [1, n_values])));
    }

    /// The row called `name`, which the framework has added before.
    pub fn get(&self, name: &str) -> Tensor<2> {
        let found = self.entries.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no state is called {name}")).1.clone()
    }

    /// Remembers other numbers under `name`, as many as before.
    pub fn set(&mut self, name: &str, values: &Tensor<2>) {
        let found = self.entries.iter_mut().find(|(known, _)| known == name);
        let (_, kept) = found.unwrap_or_else(|| panic!("no state is called {name}"));
        assert_eq!(kept.dims(), values.dims(), "a state keeps its shape");
        *kept = constant(values);
    }

    /// Names and rows in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor<2>)> {
        self.entries.iter().map(|(name, values)| (name.as_str(), values))
    }
}
