//! A learner as bytes and back: weights, optimiser state, step and the position of every random stream, in safetensors.
//!
//! Weights have their own names (`encoder.conv0.weight`); moments are called `optimiser.MOMENT.WEIGHT`, what a framework remembers
//! `state.NAME`. What is not a tensor stands in the header under the single key `unbraid`, as JSON: a second key would make the
//! bytes depend on the order of a hash map.
//!
//! A CRC-32 of all that is in it tells a checkpoint that was damaged: it finds every change of up to 32 neighbouring bits,
//! at gigabytes a second, and its crate is in the build for zip and PNG anyway. Format 1 had none.

use std::collections::HashMap;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde::{Deserialize, Serialize};
use unbraid_data::{Error, Result};

use crate::learner::{Learner, TOO_FAST};
use crate::tensors::floats;

const FORMAT: u32 = 2;
const FORMAT_WITHOUT_CHECKSUM: u32 = 1;
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
    /// Of all else that the checkpoint holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Streams {
    batches: u64,
    noise: u64,
}

/// A matrix under the name that it has in a checkpoint.
pub(crate) struct Kept {
    pub(crate) name: String,
    pub(crate) shape: [usize; 2],
    pub(crate) values: Vec<f32>,
}

/// The bytes of a checkpoint. `origin` says what decided the run so far, and is given back by `read`. Weights that are
/// not finite are an error, so that no good checkpoint is replaced by a ruined one.
pub fn write(learner: &Learner, origin: &str) -> Result<Vec<u8>> {
    let mut tensors: Vec<Kept> = Vec::new();
    for (position, (name, tensor)) in learner.model.parameters.iter().enumerate() {
        let shape = tensor.dims();
        let mut push = |stored: String, values: Vec<f32>| {
            check_finite(&values, &format!("\"{name}\" or its gradient"), learner.steps_taken)?;
            tensors.push(Kept { name: stored, shape, values });
            Ok(())
        };
        for (moment, values) in learner.moment_names(name).iter().zip(&learner.moments[position]) {
            push(format!("optimiser.{moment}.{name}"), floats(values.clone()))?;
        }
        push(name.to_string(), floats(tensor.clone().inner()))?;
    }
    for (name, tensor) in learner.state.iter() {
        let values = floats(tensor.clone().inner());
        check_finite(&values, &format!("what the framework remembers as \"{name}\""), learner.steps_taken)?;
        tensors.push(Kept { name: format!("state.{name}"), shape: tensor.dims(), values });
    }
    to_safetensors(learner.steps_taken, origin, &tensors)
}

/// Refuses values that are not finite; `what` they are is told.
pub(crate) fn check_finite(values: &[f32], what: &str, step: u64) -> Result<()> {
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::failure(format!("{what} became {value} at step {step}")).help(TOO_FAST)),
    }
}

/// The bytes of these matrices after so many steps, with a checksum of all.
pub(crate) fn to_safetensors(step: u64, origin: &str, kept: &[Kept]) -> Result<Vec<u8>> {
    let bytes: Vec<Vec<u8>> = kept.iter().map(|kept| to_bytes(&kept.values)).collect();
    let streams = Streams { batches: step, noise: step };
    let mut header = Header { format: FORMAT, origin: origin.to_string(), step, streams, checksum: None };
    let parts = kept.iter().zip(&bytes).map(|(kept, bytes)| (kept.name.as_str(), &kept.shape[..], bytes.as_slice()));
    header.checksum = Some(checksum(&header, parts.collect()));
    let metadata = HashMap::from([(HEADER_KEY.to_string(), to_json(&header))]);
    let views = kept.iter().zip(&bytes).map(|(kept, bytes)| {
        let view =
            TensorView::new(Dtype::F32, kept.shape.to_vec(), bytes).expect("shape and bytes come from one tensor");
        (kept.name.as_str(), view)
    });
    serialize(views, Some(metadata))
        .map_err(|error| Error::failure(format!("the checkpoint cannot be written: {error}")))
}

/// A checkpoint that is read without a learner.
pub struct Contents<'a> {
    header: Header,
    tensors: SafeTensors<'a>,
}

impl<'a> Contents<'a> {
    /// Checks that the bytes are those of a whole checkpoint.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let mut header = read_header(bytes)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| unreadable(&error))?;
        check_checksum(&mut header, &tensors)?;
        Ok(Self { header, tensors })
    }

    /// What it was written with.
    pub fn origin(&self) -> &str {
        &self.header.origin
    }

    /// The steps that it was taken after.
    pub fn step(&self) -> u64 {
        self.header.step
    }

    /// Shape and values of the parameter called `name`; an error where there is none.
    pub fn parameter(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>)> {
        read_tensor(&self.tensors, name)
    }
}

/// Puts the bytes of a checkpoint into a learner of the same architecture; gives the origin that it was written with.
pub fn read(bytes: &[u8], learner: &mut Learner) -> Result<String> {
    let Contents { header, tensors } = Contents::open(bytes)?;
    check_fixed(&tensors, learner)?;
    check_names(&tensors, learner)?;
    let names: Vec<String> = learner.model.parameters.iter().map(|(name, _)| name.to_string()).collect();
    for (position, name) in names.iter().enumerate() {
        let (shape, values) = read_tensor(&tensors, name)?;
        let replaced = learner.model.parameters.replace(name, values, &shape);
        replaced.map_err(|error| another_architecture(&error.to_string()))?;
        for (moment, state) in learner.moment_names(name).iter().zip(&mut learner.moments[position]) {
            let (shape, values) = read_tensor(&tensors, &format!("optimiser.{moment}.{name}"))?;
            if shape != state.dims() {
                return Err(another_architecture(&format!("moment \"{moment}\" of \"{name}\" has another size")));
            }
            *state = learner.model.parameters.device().tensor(values, state.dims());
        }
    }
    read_state(&tensors, learner)?;
    learner.steps_taken = header.step;
    Ok(header.origin)
}

/// Refuses fixed parameters that are not those of the learner, which read them from elsewhere.
fn check_fixed(tensors: &SafeTensors<'_>, learner: &Learner) -> Result<()> {
    let parameters = &learner.model.parameters;
    for (name, tensor) in parameters.iter().filter(|(name, _)| parameters.is_fixed(name)) {
        let (shape, values) = read_tensor(tensors, name)?;
        if shape != tensor.dims() || values != floats(tensor.clone().inner()) {
            let message = format!("\"{name}\" is not what the checkpoint was trained with");
            return Err(Error::new(message).help(
                "the file of the kernel or the run that it is taken from was trained further, or is another one: put back what this run began with",
            ));
        }
    }
    Ok(())
}

/// Refuses a tensor that the learner has no use for.
fn check_names(tensors: &SafeTensors<'_>, learner: &Learner) -> Result<()> {
    let of_model = |name: &str| learner.model.parameters.iter().any(|(known, _)| known == name);
    let is_moment = |name: &str| {
        let moment_and_weight = name.strip_prefix("optimiser.").and_then(|rest| rest.split_once('.'));
        moment_and_weight
            .is_some_and(|(moment, weight)| of_model(weight) && learner.moment_names(weight).contains(&moment))
    };
    let is_state = |name: &str| {
        name.strip_prefix("state.").is_some_and(|state| learner.state.iter().any(|(known, _)| known == state))
    };
    let mut found = tensors.names();
    found.sort_unstable();
    match found.into_iter().find(|name| !of_model(name) && !is_moment(name) && !is_state(name)) {
        None => Ok(()),
        Some(extra) => {
            Err(another_architecture(&format!("the checkpoint has a parameter \"{extra}\" and the model has none")))
        }
    }
}

/// Puts what the framework remembers into the learner.
fn read_state(tensors: &SafeTensors<'_>, learner: &mut Learner) -> Result<()> {
    let rows: Vec<(String, [usize; 2])> =
        learner.state.iter().map(|(name, row)| (name.to_string(), row.dims())).collect();
    for (name, wanted) in rows {
        let (shape, values) = read_tensor(tensors, &format!("state.{name}"))?;
        if shape != wanted {
            return Err(another_architecture(&format!("state \"{name}\" has another size")));
        }
        learner.state.set(&name, &learner.model.parameters.device().recording_tensor(values, wanted));
    }
    Ok(())
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
    if ![FORMAT, FORMAT_WITHOUT_CHECKSUM].contains(&header.format) {
        let message = format!(
            "the checkpoint has format {}, but this version reads {FORMAT_WITHOUT_CHECKSUM} and {FORMAT}",
            header.format
        );
        return Err(Error::new(message).help("it was written by another version of unbraid, or it is damaged"));
    }
    Ok(header)
}

/// Refuses what is not as it was written.
fn check_checksum(header: &mut Header, tensors: &SafeTensors<'_>) -> Result<()> {
    let stored = header.checksum.take();
    if header.format == FORMAT_WITHOUT_CHECKSUM && stored.is_none() {
        return Ok(());
    }
    let views = tensors.tensors();
    let parts = views.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data())).collect();
    if stored == Some(checksum(header, parts)) {
        return Ok(());
    }
    Err(Error::new("the checkpoint is damaged: its checksum is not that of its contents")
        .help("it was changed after it was written; put a good copy in its place, or train again"))
}

/// The CRC-32 of a header that has no checksum yet, and of each tensor's name, shape and bytes.
fn checksum(header: &Header, mut tensors: Vec<(&str, &[usize], &[u8])>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(to_json(header).as_bytes());
    tensors.sort_unstable();
    for (name, shape, bytes) in tensors {
        hasher.update(name.as_bytes());
        shape.iter().for_each(|&size| hasher.update(&(size as u64).to_le_bytes()));
        hasher.update(bytes);
    }
    hasher.finalize()
}

fn to_json(header: &Header) -> String {
    serde_json::to_string(header).expect("the header is plain numbers")
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
        .help("it may have been cut off while it was copied: put it back, or remove the run's folder to train it again")
}

fn another_architecture(what: &str) -> Error {
    Error::new(format!("the checkpoint belongs to another architecture: {what}"))
        .help("the [model], [framework] and [optimiser] of config.toml must be those that the run was started with")
}
