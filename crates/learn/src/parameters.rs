//! Every tensor of a model, by name and in a fixed order: those that training changes, and fixed ones.
//!
//! All are matrices (a bias is a single row), so that one list can hold them. Networks look their tensors up by name;
//! optimisers and checkpoints walk the list.

use std::collections::BTreeSet;

use burn::tensor::{Gradients, Tensor};
use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::{Error, Result, Seed};

use crate::device::Device;
use crate::state::State;
use crate::tensors::constant;

/// Named matrices that training changes, and others that it leaves as they are.
#[derive(Clone)]
pub struct Parameters {
    entries: Vec<(String, Tensor<2>)>,
    /// The names of those that are left as they are.
    fixed: BTreeSet<String>,
    device: Device,
    kind: Kind,
}

/// What computing with parameters leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Their own gradients can be asked for.
    Trainable,
    /// Gradients of what goes in can be asked for, not their own.
    Constant,
    /// Nothing.
    Frozen,
}

impl Parameters {
    /// None yet; those added will record gradients.
    pub fn new(device: Device) -> Self {
        Self { entries: Vec::new(), fixed: BTreeSet::new(), device, kind: Kind::Trainable }
    }

    /// Adds a matrix of these values.
    pub fn add(&mut self, name: &str, values: Vec<f32>, shape: [usize; 2]) {
        assert!(self.find(name).is_none(), "two parameters are called {name}");
        self.entries.push((name.to_string(), self.device.recording_tensor(values, shape).require_grad()));
    }

    /// Adds a matrix of these values that training leaves as it is: it has no gradient and no moments.
    pub fn add_fixed(&mut self, name: &str, values: Vec<f32>, shape: [usize; 2]) {
        assert!(self.find(name).is_none(), "two parameters are called {name}");
        self.entries.push((name.to_string(), self.device.recording_tensor(values, shape)));
        self.fixed.insert(name.to_string());
    }

    /// Whether training leaves the matrix called `name` as it is.
    pub fn is_fixed(&self, name: &str) -> bool {
        self.fixed.contains(name)
    }

    /// The matrices called `network.NAME`, under the rest of their names: those of a network within the model.
    pub fn of_network(&self, network: &str) -> Self {
        let rest = |name: &str| Some(name.strip_prefix(network)?.strip_prefix('.')?.to_string());
        let entries = self.entries.iter().filter_map(|(name, tensor)| Some((rest(name)?, tensor.clone()))).collect();
        let fixed = self.fixed.iter().filter_map(|name| rest(name)).collect();
        Self { entries, fixed, device: self.device.clone(), kind: self.kind }
    }

    /// Where computation on these parameters takes place.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A tensor of these values that can be computed with together with these parameters.
    pub fn tensor<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        match self.kind {
            Kind::Frozen => self.device.tensor(values, shape),
            Kind::Trainable | Kind::Constant => self.device.recording_tensor(values, shape),
        }
    }

    /// The matrix called `name`, which the network has added before.
    pub fn get(&self, name: &str) -> Tensor<2> {
        self.find(name).unwrap_or_else(|| panic!("no parameter is called {name}")).clone()
    }

    /// Names and matrices in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor<2>)> {
        self.entries.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// The same values, without recording.
    pub fn frozen(&self) -> Self {
        self.map(Kind::Frozen, |_, tensor| tensor.clone().inner())
    }

    /// The same values, for which no gradient is asked.
    pub fn constant(&self) -> Self {
        self.map(Kind::Constant, |_, tensor| constant(tensor))
    }

    /// The same values, for which no gradient is asked, among tensors that record what others need; also of frozen ones.
    pub fn recording(&self) -> Self {
        match self.kind {
            Kind::Frozen => self.map(Kind::Constant, |_, tensor| Tensor::from_inner(tensor.clone())),
            Kind::Trainable | Kind::Constant => self.constant(),
        }
    }

    /// What `make(name, matrix)` makes of each matrix, under the same names; gradients pass through to these.
    pub fn with_each(&self, make: impl FnMut(&str, &Tensor<2>) -> Tensor<2>) -> Self {
        self.map(self.kind, make)
    }

    fn map(&self, kind: Kind, mut make: impl FnMut(&str, &Tensor<2>) -> Tensor<2>) -> Self {
        let entries = self.entries.iter().map(|(name, tensor)| (name.clone(), make(name, tensor))).collect();
        Self { entries, fixed: self.fixed.clone(), device: self.device.clone(), kind }
    }

    /// Calls `change(position, values, gradient)` on each matrix that is not fixed, whose position is `among` those to change and
    /// that has a gradient, and keeps what it gives. The tensors are handed over, so that nobody else holds them.
    pub fn update(
        &mut self,
        mut gradients: Gradients,
        among: impl Fn(usize) -> bool,
        mut change: impl FnMut(usize, Tensor<2>, Tensor<2>) -> Tensor<2>,
    ) {
        for (position, (name, parameter)) in self.entries.iter_mut().enumerate() {
            if self.fixed.contains(name) || !among(position) {
                continue;
            }
            let Some(gradient) = parameter.grad_remove(&mut gradients) else { continue };
            let changed = change(position, parameter.extract().inner(), gradient);
            *parameter = Tensor::from_inner(changed).require_grad();
        }
    }

    /// Replaces the values of the matrix called `name`; its shape must be the one given.
    pub fn replace(&mut self, name: &str, values: Vec<f32>, shape: &[usize]) -> Result<()> {
        let Some((_, parameter)) = self.entries.iter_mut().find(|(known, _)| known == name) else {
            return Err(Error::new(format!("the model has no parameter \"{name}\"")));
        };
        let wanted = parameter.dims();
        if shape != wanted {
            return Err(Error::new(format!("parameter \"{name}\" is {shape:?} but the model's is {wanted:?}")));
        }
        let replaced = self.device.recording_tensor(values, wanted);
        *parameter = if self.fixed.contains(name) { replaced } else { replaced.require_grad() };
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Tensor<2>> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor)
    }
}

/// Draws the first values: Glorot's normal for weights (Glorot and Bengio 2010, eq 12 with a normal distribution), zero
/// for biases. Each matrix has a random stream of its own, so a new layer leaves the others as they were.
pub struct Initialiser {
    /// What the names of the next matrices begin with.
    within: String,
    seed: Seed,
    parameters: Parameters,
    state: State,
}

impl Initialiser {
    /// Nothing drawn yet.
    pub fn new(seed: Seed, device: Device) -> Self {
        Self { within: String::new(), seed, parameters: Parameters::new(device), state: State::default() }
    }

    /// All that was drawn, and what a framework will remember.
    pub fn finish(self) -> (Parameters, State) {
        (self.parameters, self.state)
    }

    /// What was added so far, under whole names.
    pub fn added(&self) -> &Parameters {
        &self.parameters
    }

    /// Adds what `add` adds as a network within the model: the names begin with `network.` ([`Parameters::of_network`]).
    pub fn within(&mut self, network: &str, add: impl FnOnce(&mut Self)) {
        let outside = self.within.clone();
        self.within = format!("{outside}{network}.");
        add(self);
        self.within = outside;
    }

    /// A fully connected layer: `name.weight` `[inputs, outputs]` and `name.bias` `[1, outputs]`.
    pub fn linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.layer(name, [inputs, outputs], outputs, inputs + outputs);
    }

    /// A convolution: `name.weight` `[kernel * kernel * inputs, outputs]` and `name.bias` `[1, outputs]`.
    pub fn conv(&mut self, name: &str, kernel: usize, inputs: usize, outputs: usize) {
        let area = kernel * kernel;
        self.layer(name, [area * inputs, outputs], outputs, area * (inputs + outputs));
    }

    /// A transposed convolution: `name.weight` `[inputs, kernel * kernel * outputs]` and `name.bias` `[1, outputs]`.
    pub fn transposed_conv(&mut self, name: &str, kernel: usize, inputs: usize, outputs: usize) {
        let area = kernel * kernel;
        self.layer(name, [inputs, area * outputs], outputs, area * (inputs + outputs));
    }

    /// A matrix of weights that has no bias: `name` `[inputs, outputs]`.
    pub fn matrix(&mut self, name: &str, inputs: usize, outputs: usize) {
        let name = format!("{}{name}", self.within);
        let values = self.draw(&name, inputs * outputs, inputs + outputs);
        self.parameters.add(&name, values, [inputs, outputs]);
    }

    /// A row of trainable numbers `[1, n]` with these first values.
    pub fn row(&mut self, name: &str, values: Vec<f32>) {
        let shape = [1, values.len()];
        self.parameters.add(&format!("{}{name}", self.within), values, shape);
    }

    /// A matrix of these values that training leaves as it is.
    pub fn fixed(&mut self, name: &str, values: Vec<f32>, shape: [usize; 2]) {
        self.parameters.add_fixed(&format!("{}{name}", self.within), values, shape);
    }

    /// A row of numbers `[1, n]` that the framework remembers from step to step, with these first values.
    pub fn state(&mut self, name: &str, values: Vec<f32>) {
        self.state.add(&format!("{}{name}", self.within), values, &self.parameters.device);
    }

    fn layer(&mut self, name: &str, shape: [usize; 2], outputs: usize, fan_in_and_out: usize) {
        let name = format!("{}{name}", self.within);
        let values = self.draw(&name, shape[0] * shape[1], fan_in_and_out);
        self.parameters.add(&format!("{name}.weight"), values, shape);
        self.parameters.add(&format!("{name}.bias"), vec![0.0; outputs], [1, outputs]);
    }

    fn draw(&self, name: &str, n_values: usize, fan_in_and_out: usize) -> Vec<f32> {
        let std = (2.0 / fan_in_and_out as f64).sqrt() as f32;
        let mut rng = self.seed.stream(&format!("weights/{name}"));
        (0..n_values).map(|_| std * rng.sample::<f32, _>(StandardNormal)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensors::floats;

    #[test]
    fn weights_have_glorots_spread_and_biases_are_zero() {
        let mut initialiser = Initialiser::new(Seed(1), Device::cpu());
        initialiser.linear("layer", 300, 100);
        let (parameters, _) = initialiser.finish();
        let weight = floats(parameters.get("layer.weight").inner());
        let variance = weight.iter().map(|w| f64::from(*w).powi(2)).sum::<f64>() / weight.len() as f64;
        // 2 / (300 + 100) = 0.005, estimated from 30,000 draws.
        assert!((variance - 0.005).abs() < 0.0002, "{variance}");
        assert_eq!(floats(parameters.get("layer.bias").inner()), vec![0.0; 100]);
    }

    #[test]
    fn update_hands_over_values_and_gradient() {
        let mut parameters = Parameters::new(Device::cpu());
        parameters.add("a", vec![1.0, 2.0], [1, 2]);
        let loss = parameters.get("a").powi_scalar(2).sum(); // [1, 2]
        parameters.update(
            loss.backward(),
            |position| position == 0,
            |position, values, gradient| {
                assert_eq!((position, floats(gradient.clone())), (0, vec![2.0, 4.0]));
                values - gradient
            },
        );
        assert_eq!(floats(parameters.get("a").inner()), [-1.0, -2.0]);
    }

    #[test]
    fn fixed_matrices_have_no_gradient_and_are_left_as_they_are() {
        let mut parameters = Parameters::new(Device::cpu());
        parameters.add("a", vec![1.0, 2.0], [1, 2]);
        parameters.add_fixed("features.b", vec![3.0, 4.0], [1, 2]);
        let inner = parameters.of_network("features");
        assert_eq!(inner.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b"]);
        let loss = (parameters.get("a") * inner.get("b")).sum(); // [1, 2]
        parameters.update(
            loss.backward(),
            |_| true,
            |position, values, gradient| {
                assert_eq!((position, floats(gradient.clone())), (0, vec![3.0, 4.0]));
                values - gradient
            },
        );
        assert_eq!(floats(parameters.get("features.b").inner()), [3.0, 4.0]);
        assert!(parameters.is_fixed("features.b") && !parameters.is_fixed("a"));
    }

    #[test]
    fn a_network_within_the_model_has_names_and_weights_of_its_own() {
        let mut initialiser = Initialiser::new(Seed(1), Device::cpu());
        initialiser.linear("layer", 2, 2);
        initialiser.within("critic", |initialiser| initialiser.linear("layer", 2, 2));
        initialiser.row("last", vec![1.0]);
        let (parameters, _) = initialiser.finish();
        let names: Vec<&str> = parameters.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["layer.weight", "layer.bias", "critic.layer.weight", "critic.layer.bias", "last"]);
        let inner = parameters.of_network("critic").get("layer.weight");
        assert_ne!(floats(inner), floats(parameters.get("layer.weight")));
    }

    #[test]
    fn values_of_another_shape_are_refused() {
        let mut parameters = Parameters::new(Device::cpu());
        parameters.add("a", vec![1.0, 2.0], [1, 2]);
        let message = parameters.replace("a", vec![0.0; 3], &[1, 3]).unwrap_err().to_string();
        assert_eq!(message, "parameter \"a\" is [1, 3] but the model's is [1, 2]");
    }
}
