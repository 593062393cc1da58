//! A learner as bytes and back: weights, optimiser state, step and the position of every random stream, in safetensors.
//!
//! Weights have their own names (`encoder.conv0.weight`); moments are called `optimiser.MOMENT.WEIGHT`. What is not a
//! tensor stands in the header under the single key `unbraid`, as JSON: a second key would make the bytes depend on
//! the order of a hash map.

use std::collections::HashMap;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde::{Deserialize, Serialize};
use unbraid_data::{Error, Result};

use crate::learner::Learner;
use crate::tensors::floats;

const FORMAT: u32 = 1;
const HEADER_KEY: &str = "unbraid";

/// What stands in the header.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    /// What decided the run so far, in the words of whoever wrote the checkpoint.
    origin: String,
    /// Steps taken.
    step: u64,
    /// For each random stream that training draws from, the step whose part of the stream comes next.
    streams: Streams,
}

#[derive(Debug, Serialize, Deserialize)]
struct Streams {
    batches: u64,
    noise: u64,
}

/// The bytes of a checkpoint. `origin` says what decided the run so far, and is given back by `read`. Weights that are
/// not finite are an error, so that no good checkpoint is replaced by a ruined one.
pub fn write(learner: &Learner, origin: &str) -> Result<Vec<u8>> {
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    for (position, (name, tensor)) in learner.model.parameters.iter().enumerate() {
        let shape = tensor.dims().to_vec();
        let values = floats(tensor.clone().inner());
        let all = learner.moments[position].iter().flatten().chain(&values);
        if let Some(value) = all.into_iter().find(|value| !value.is_finite()) {
            let message = format!("\"{name}\" or its gradient became {value} at step {}", learner.steps_taken);
            return Err(Error::failure(message));
        }
        for (moment, values) in learner.moment_names().iter().zip(&learner.moments[position]) {
            tensors.push((format!("optimiser.{moment}.{name}"), shape.clone(), to_bytes(values)));
        }
        tensors.push((name.to_string(), shape, to_bytes(&values)));
    }
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view = TensorView::new(Dtype::F32, shape.clone(), bytes).expect("shape and bytes come from one tensor");
        (name.as_str(), view)
    });
    let step = learner.steps_taken;
    let header =
        Header { format: FORMAT, origin: origin.to_string(), step, streams: Streams { batches: step, noise: step } };
    let header = serde_json::to_string(&header).expect("the header is plain numbers");
    let metadata = HashMap::from([(HEADER_KEY.to_string(), header)]);
    serialize(views, Some(metadata))
        .map_err(|error| Error::failure(format!("the checkpoint cannot be written: {error}")))
}

/// Puts the bytes of a checkpoint into a learner of the same architecture; gives the origin that it was written with.
pub fn read(bytes: &[u8], learner: &mut Learner) -> Result<String> {
    let header = read_header(bytes)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| unreadable(&error))?;
    let names: Vec<String> = learner.model.parameters.iter().map(|(name, _)| name.to_string()).collect();
    let of_model = |name: &str| names.iter().any(|known| known == name);
    let is_moment = |name: &str| {
        let moment_and_weight = name.strip_prefix("optimiser.").and_then(|rest| rest.split_once('.'));
        moment_and_weight.is_some_and(|(moment, weight)| learner.moment_names().contains(&moment) && of_model(weight))
    };
    let mut found = tensors.names();
    found.sort_unstable();
    if let Some(extra) = found.into_iter().find(|name| !of_model(name) && !is_moment(name)) {
        return Err(another_architecture(&format!(
            "the checkpoint has a parameter \"{extra}\" and the model has none"
        )));
    }
    for (position, name) in names.iter().enumerate() {
        let (shape, values) = read_tensor(&tensors, name)?;
        let replaced = learner.model.parameters.replace(name, values, &shape);
        replaced.map_err(|error| another_architecture(&error.to_string()))?;
        for (moment, state) in learner.moment_names().iter().zip(&mut learner.moments[position]) {
            let (_, values) = read_tensor(&tensors, &format!("optimiser.{moment}.{name}"))?;
            if values.len() != state.len() {
                return Err(another_architecture(&format!("moment \"{moment}\" of \"{name}\" has another size")));
            }
            *state = values;
        }
    }
    learner.steps_taken = header.step;
    Ok(header.origin)
}

/// The number of steps that a checkpoint was taken after.
pub fn steps_taken(bytes: &[u8]) -> Result<u64> {
    Ok(read_header(bytes)?.step)
}

fn read_header(bytes: &[u8]) -> Result<Header> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| unreadable(&error))?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(HEADER_KEY));
    let Some(text) = text else {
        return Err(Error::new("this safetensors file is no checkpoint of unbraid: its header has no step"));
    };
    let header: Header = serde_json::from_str(text)
        .map_err(|error| Error::new(format!("the checkpoint's header is damaged: {error}")))?;
    // Streams are taken by step, so that there is one position for all; a file that says otherwise is not ours.
    let Streams { batches, noise } = header.streams;
    if batches != header.step || noise != header.step {
        return Err(Error::new(format!("the checkpoint is of step {} but its streams are elsewhere", header.step)));
    }
    if header.format != FORMAT {
        return Err(Error::new(format!(
            "the checkpoint has format {}, but this version reads {FORMAT}",
            header.format
        )));
    }
    Ok(header)
}

fn read_tensor(tensors: &SafeTensors<'_>, name: &str) -> Result<(Vec<usize>, Vec<f32>)> {
    let missing = |_| another_architecture(&format!("the checkpoint has no \"{name}\""));
    let view = tensors.tensor(name).map_err(missing)?;
    if view.dtype() != Dtype::F32 {
        return Err(Error::new(format!("\"{name}\" is {:?}, but F32 was wanted", view.dtype())));
    }
    let chunks = view.data().chunks_exact(4);
    let values: Vec<f32> = chunks.map(|chunk| f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]])).collect();
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Error::new(format!("\"{name}\" holds {value}")).help("the checkpoint is damaged")),
        None => Ok((view.shape().to_vec(), values)),
    }
}

fn to_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn unreadable(error: &safetensors::SafeTensorError) -> Error {
    Error::new(format!("this is no whole safetensors file: {error}"))
        .help("it may have been cut off while it was copied")
}

fn another_architecture(what: &str) -> Error {
    Error::new(format!("the checkpoint belongs to another architecture: {what}"))
        .help("the [model], [framework] and [optimiser] of config.toml must be those that the run was started with")
}
