//! Optimisers: how gradients change parameters. Our own, since their state must be saved and resumed to the bit and the
//! update of a matrix should be one pass over memory.

use burn::tensor::{Tensor, TensorData};
use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result};

use crate::device::Device;
use crate::ops::buffers;

pub mod adagrad;
pub mod adam;

/// Every optimiser.
pub const OPTIMISERS: &[Entry] = &[adam::ENTRY, adagrad::ENTRY];

/// Changes parameters by their gradients. The same twice: in one pass over memory, and in burn's operations.
pub trait Optimiser: Send + Sync {
    /// The names of the moments that are kept for each parameter, for checkpoints.
    fn moments(&self) -> &'static [&'static str];

    /// Changes `values` by `gradient`. `moments` are as many slices of the same length as `moments()` names, zero at
    /// first. `step` counts from 1.
    fn change(&self, step: u64, rate: f32, values: &mut [f32], gradient: &[f32], moments: &mut [&mut [f32]]);

    /// The changed values, in burn's operations, which any device runs.
    fn change_tensor(
        &self,
        step: u64,
        rate: f32,
        values: Tensor<2>,
        gradient: Tensor<2>,
        moments: &mut [Tensor<2>],
    ) -> Tensor<2>;
}

/// The values of a parameter after a step, all tensors being of one shape and on this device.
pub fn changed(
    optimiser: &dyn Optimiser,
    device: &Device,
    (step, rate): (u64, f32),
    values: Tensor<2>,
    gradient: Tensor<2>,
    moments: &mut [Tensor<2>],
) -> Tensor<2> {
    if !device.has_kernels() {
        return optimiser.change_tensor(step, rate, values, gradient, moments);
    }
    let burn_device = values.device();
    // As tensor data rather than as vectors: nobody else holds the tensors now, so nothing is copied.
    let (mut values, gradient) = (values.into_data(), gradient.into_data());
    let mut kept: Vec<TensorData> = moments.iter_mut().map(|moment| moment.extract().into_data()).collect();
    let mut kept_slices: Vec<&mut [f32]> = kept.iter_mut().map(slice_mut).collect();
    let slope = gradient.as_slice::<f32>().expect(ALL_F32);
    optimiser.change(step, rate, slice_mut(&mut values), slope, &mut kept_slices);
    for (moment, data) in moments.iter_mut().zip(kept) {
        *moment = Tensor::from_data(data, &burn_device);
    }
    if let Ok(gradient) = gradient.try_into_vec::<f32>() {
        buffers::give_back(gradient);
    }
    Tensor::from_data(values, &burn_device)
}

const ALL_F32: &str = "every tensor here holds f32";

fn slice_mut(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice::<f32>().expect(ALL_F32)
}

/// One row of the list of optimisers.
pub struct Entry {
    /// The name in configs.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The paper that defines it.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Makes it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Optimiser>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// Makes the optimiser called `name` with the settings in `table`.
pub fn build(name: &str, table: &Table) -> Result<Box<dyn Optimiser>> {
    (find(name)?.build)(table)
}

/// All settings of the optimiser called `name`, those left out of `table` at their defaults.
pub fn complete(name: &str, table: &Table) -> Result<Table> {
    (find(name)?.complete)(table)
}

/// The row of the optimiser called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let entry = OPTIMISERS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| unknown_name("optimiser", name, OPTIMISERS.iter().map(|entry| entry.name)))
}

const LEAST_EPSILON: f64 = 1e-30;

/// What keeps a division away from zero, which every optimiser has.
const EPSILON: Setting = Setting {
    name: "epsilon",
    values: Values::Number(LEAST_EPSILON, 1.0),
    meaning: "keeps the division by the size of gradients away from zero",
};

fn check_epsilon(epsilon: f64) -> Result<()> {
    if (LEAST_EPSILON..=1.0).contains(&epsilon) {
        return Ok(());
    }
    Err(Error::new(format!("setting \"epsilon\" is {epsilon}")).help("wanted 1e-30 to 1"))
}

/// Values are changed in pieces of this many, side by side; each value on its own, so the pieces do not matter.
const PIECE: usize = 1 << 14;
