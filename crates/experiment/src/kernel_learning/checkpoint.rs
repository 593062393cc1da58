//! A kernel that is being learned, as bytes and back: weights, Adam's moments and the step, in safetensors as the checkpoints of runs are.

use std::collections::HashMap;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde::{Deserialize, Serialize};
use unbraid_data::{Error, Result};

const FORMAT: u32 = 1;
const HEADER_KEY: &str = "unbraid-kernel";
const NAMES: [&str; 3] = ["weights", "optimiser.mean", "optimiser.square"];

/// A kernel that is being learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// Steps taken.
    pub step: u64,
    /// Weights and the optimiser's moments, each `[side, side]`.
    pub values: [Vec<f32>; 3],
}

/// What stands in the header.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    /// The config that decided it.
    config: String,
    /// The fingerprint of the images.
    images: String,
    step: u64,
    /// Of all else that the checkpoint holds.
    checksum: u32,
}

/// What a checkpoint must have been written with to go on from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The whole config.
    pub config: String,
    /// The fingerprint of the images.
    pub images: String,
}

/// The bytes of a checkpoint. Weights that are not finite are an error, so that no good checkpoint is replaced by a ruined one.
pub fn write(learned: &Learned, origin: &Origin) -> Result<Vec<u8>> {
    if let Some(value) = learned.values.iter().flatten().find(|value| !value.is_finite()) {
        return Err(Error::failure(format!("a weight of the kernel became {value} at step {}", learned.step))
            .help("learn with a smaller \"learning_rate\""));
    }
    let side = learned.values[0].len().isqrt();
    let bytes = learned
        .values
        .each_ref()
        .map(|values| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    let mut header = Header {
        format: FORMAT,
        config: origin.config.clone(),
        images: origin.images.clone(),
        step: learned.step,
        checksum: 0,
    };
    header.checksum = checksum(&header, bytes.each_ref().map(Vec::as_slice));
    let views = NAMES.iter().zip(&bytes).map(|(name, bytes)| {
        let view = TensorView::new(Dtype::F32, vec![side, side], bytes).expect("shape and bytes come from one kernel");
        (*name, view)
    });
    serialize(views, Some(HashMap::from([(HEADER_KEY.to_string(), to_json(&header))])))
        .map_err(|error| Error::failure(format!("the checkpoint cannot be written: {error}")))
}

/// The kernel in the bytes of a checkpoint, which must have been written with this origin.
pub fn read(bytes: &[u8], origin: &Origin) -> Result<Learned> {
    let damaged = || {
        Error::new("this is no whole checkpoint of a kernel")
            .help("it was changed or cut off; put a good copy in its place, or learn again in another folder")
    };
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|_| damaged())?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(HEADER_KEY)).ok_or_else(damaged)?;
    let mut header: Header = serde_json::from_str(text).map_err(|_| damaged())?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|_| damaged())?;
    let mut parts: [&[u8]; 3] = Default::default();
    for (part, name) in parts.iter_mut().zip(NAMES) {
        *part = tensors.tensor(name).map_err(|_| damaged())?.data();
    }
    let stored = std::mem::take(&mut header.checksum);
    if header.format != FORMAT || stored != checksum(&header, parts) {
        return Err(damaged());
    }
    if header.config != origin.config {
        return Err(Error::new("the checkpoint was learned with another config than config.toml says")
            .help("put the config.toml back that it was started with, or learn again in another folder"));
    }
    if header.images != origin.images {
        return Err(Error::new("the images are not those that the checkpoint was learned from")
            .help("put the dataset back that it was started with, or learn again in another folder"));
    }
    let floats = |part: &[u8]| {
        part.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect()
    };
    Ok(Learned { step: header.step, values: parts.map(floats) })
}

/// The CRC-32 of a header whose checksum is 0, and of the values.
fn checksum(header: &Header, parts: [&[u8]; 3]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(to_json(header).as_bytes());
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

fn to_json(header: &Header) -> String {
    serde_json::to_string(header).expect("the header is numbers and text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_whole_or_is_refused() {
        let origin = Origin { config: "radius = 1".into(), images: "abc".into() };
        let learned = Learned { step: 12, values: [vec![0.5; 9], vec![-1.0; 9], vec![2.0; 9]] };
        let bytes = write(&learned, &origin).unwrap();
        assert_eq!(read(&bytes, &origin).unwrap(), learned);
        for position in [bytes.len() - 1, bytes.len() / 2, 20] {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert!(read(&damaged, &origin).is_err());
        }
        assert!(read(&bytes[..bytes.len() - 1], &origin).is_err());
        let other = read(&bytes, &Origin { images: "abd".into(), ..origin.clone() }).unwrap_err().to_string();
        assert!(other.starts_with("the images are not those"), "{other}");
        let ruined = Learned { values: [vec![f32::NAN; 9], vec![0.0; 9], vec![0.0; 9]], ..learned };
        assert!(write(&ruined, &origin).unwrap_err().to_string().contains("became NaN at step 12"));
    }
}
