//! A perturbation as bytes and back, in the checkpoints that runs have: parameters and Adam's moments of `m` (`manipulation.`) and of each decoder
//! (`entangled0.`, `disentangled0.`, ...), and the step.

use burn::tensor::Tensor;
use unbraid_data::{Error, Result};

use super::Perturbation;
use crate::checkpoint::{Contents, Kept, check_finite, to_safetensors};
use crate::parameters::Parameters;
use crate::tensors::floats;

const MOMENTS: [&str; 2] = ["mean", "square"];

impl Perturbation {
    /// The bytes of a checkpoint. `origin` says what decided it, and is asked for by [`Perturbation::restore`]. Weights that are not finite
    /// are an error, so that no good checkpoint is replaced by a ruined one.
    pub fn checkpoint(&self, origin: &str) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        keep("manipulation", &self.manipulation.parameters, &self.manipulation.moments, self.steps_taken, &mut all)?;
        for (name, rival) in self.names().iter().zip(&self.rivals) {
            keep(name, &rival.model.parameters, &rival.moments, self.steps_taken, &mut all)?;
        }
        to_safetensors(self.steps_taken, origin, &all)
    }

    /// Goes on from the bytes of a checkpoint, which must have been written with this origin.
    pub fn restore(&mut self, bytes: &[u8], origin: &str) -> Result<()> {
        let contents = Contents::open(bytes)?;
        if contents.origin() != origin {
            return Err(Error::new("the checkpoint was made with other settings, models or images")
                .help("put back what it was begun with, or begin again in another folder"));
        }
        let manipulation = &mut self.manipulation;
        put_back("manipulation", &contents, &mut manipulation.parameters, &mut manipulation.moments)?;
        for (name, rival) in self.names().iter().zip(&mut self.rivals) {
            put_back(name, &contents, &mut rival.model.parameters, &mut rival.moments)?;
        }
        self.steps_taken = contents.step();
        Ok(())
    }

    /// What the names of each decoder's parameters begin with.
    fn names(&self) -> Vec<String> {
        let n_pairs = self.rivals.len() / 2;
        let side = |side: &'static str| (0..n_pairs).map(move |number| format!("{side}{number}"));
        side("entangled").chain(side("disentangled")).collect()
    }
}

fn keep(
    prefix: &str,
    parameters: &Parameters,
    moments: &[[Tensor<2>; 2]],
    step: u64,
    all: &mut Vec<Kept>,
) -> Result<()> {
    for ((name, tensor), moments) in parameters.iter().zip(moments).filter(|((name, _), _)| !parameters.is_fixed(name))
    {
        let mut push = |stored: String, values: Vec<f32>| {
            check_finite(&values, &format!("\"{prefix}.{name}\" or its gradient"), step)?;
            all.push(Kept { name: stored, shape: tensor.dims(), values });
            Ok(())
        };
        for (moment, values) in MOMENTS.iter().zip(moments) {
            push(format!("optimiser.{moment}.{prefix}.{name}"), floats(values.clone()))?;
        }
        push(format!("{prefix}.{name}"), floats(tensor.clone().inner()))?;
    }
    Ok(())
}

fn put_back(
    prefix: &str,
    contents: &Contents<'_>,
    parameters: &mut Parameters,
    moments: &mut [[Tensor<2>; 2]],
) -> Result<()> {
    let names: Vec<String> = parameters.iter().map(|(name, _)| name.to_string()).collect();
    for (name, moments) in names.iter().zip(moments) {
        if parameters.is_fixed(name) {
            continue;
        }
        let (shape, values) = contents.parameter(&format!("{prefix}.{name}"))?;
        parameters.replace(name, values, &shape)?;
        for (moment, state) in MOMENTS.iter().zip(moments) {
            let (shape, values) = contents.parameter(&format!("optimiser.{moment}.{prefix}.{name}"))?;
            if shape != state.dims() {
                return Err(Error::new(format!("moment \"{moment}\" of \"{prefix}.{name}\" has another size")));
            }
            *state = parameters.device().tensor(values, state.dims());
        }
    }
    Ok(())
}
