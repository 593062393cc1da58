//! Optimisers: how gradients change parameters. Our own, since their state must be saved and resumed to the bit and the
//! update of a matrix should be one pass over memory.

use burn::tensor::{Tensor, TensorData};
use toml::Table;
use unbraid_data::Result;
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values, check_range};

use crate::device::Device;
use crate::ops::buffers;

pub mod adagrad;
pub mod adam;
pub mod adamw;
pub mod rmsprop;
pub mod sgd;

/// Every optimiser.
pub const OPTIMISERS: &[Entry] = &[adam::ENTRY, adamw::ENTRY, adagrad::ENTRY, rmsprop::ENTRY, sgd::ENTRY];

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

/// Largest share of a running mean, or of a velocity, that is kept from step to step.
const MOST_DECAY: f64 = 0.999_999;

const LEAST_EPSILON: f64 = 1e-30;

/// What keeps a division away from zero, which every optimiser that divides has.
const EPSILON: Setting = Setting {
    name: "epsilon",
    values: Values::Number(LEAST_EPSILON, 1.0),
    meaning: "keeps the division by the size of gradients away from zero",
};

fn check_epsilon(epsilon: f64) -> Result<()> {
    check_range("epsilon", epsilon, LEAST_EPSILON, 1.0)
}

/// Values are changed in pieces of this many, side by side; each value on its own, so the pieces do not matter.
const PIECE: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensors::floats;

    /// Three values, 1, -0.5 and 2 at first, after five steps at a learning rate of 0.1: what PyTorch 2.15 gives in f64
    /// (`reference/optimisers.py` prints these rows).
    const OF_PYTORCH: &[(&str, &str, [f32; 3])] = &[
        ("adam", "", [0.726_581_3, -0.280_720_47, 1.710_453_1]),
        ("adamw", "", [0.722_201_7, -0.278_749_2, 1.701_187_1]),
        ("adamw", "weight_decay = 0.5", [0.529_185_3, -0.192_245_72, 1.291_617_3]),
        ("adagrad", "", [0.850_035_8, -0.380_035_17, 1.750_286]),
        ("rmsprop", "", [-0.503_033_9, 0.696_654_9, -0.501_807_8]),
        ("rmsprop", "decay = 0.9\nepsilon = 1e-3", [0.515_836_2, -0.132_523_6, 1.309_414]),
        ("sgd", "", [0.575, -0.19, 1.991]),
        ("sgd", "momentum = 0.9", [-0.155_62, 0.214_073, 1.984_556_9]),
        ("sgd", "momentum = 0.9\nnesterov = true", [-0.465_058, 0.452_665_7, 1.977_101_2]),
    ];
    const GRADIENTS: [[f32; 3]; 5] =
        [[2.0, -0.3, 0.01], [-1.0, 0.2, 0.02], [0.5, 0.0, -0.03], [3.0, -4.0, 0.04], [-0.25, 1.0, 0.05]];

    #[test]
    fn five_steps_are_those_of_pytorch_on_both_ways() {
        for (name, settings, wanted) in OF_PYTORCH {
            let optimiser = build(name, &settings.parse().unwrap()).unwrap();
            for device in [Device::cpu(), Device::cpu_of_burn()] {
                let mut values = device.tensor(vec![1.0, -0.5, 2.0], [1, 3]);
                let mut moments = vec![device.tensor(vec![0.0; 3], [1, 3]); optimiser.moments().len()];
                for (step, gradient) in (1..).zip(GRADIENTS) {
                    let gradient = device.tensor(gradient.to_vec(), [1, 3]);
                    values = changed(&*optimiser, &device, (step, 0.1), values, gradient, &mut moments);
                }
                let found = floats(values);
                let close = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 2e-6);
                assert!(close, "{name} {settings}: {found:?} is not {wanted:?}");
            }
        }
    }

    #[test]
    fn every_optimiser_is_compared_with_pytorch() {
        for entry in OPTIMISERS {
            assert!(OF_PYTORCH.iter().any(|(name, _, _)| *name == entry.name), "{}", entry.name);
        }
    }
}
