//! Zip archives as containers of inputs, made anew around damaged members.

use std::io::{Cursor, Write};

use rand::RngExt;
use unbraid_data::Rng;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::mutations::Whole;

/// An archive of these members.
pub fn of_members(members: Vec<(String, Vec<u8>)>, rng: &mut Rng) -> Whole {
    Whole { bytes: zipped(&members, rng), members, wrap: zipped }
}

/// Most members are stored, some compressed, which takes longer.
fn zipped(members: &[(String, Vec<u8>)], rng: &mut Rng) -> Vec<u8> {
    let is_compressed = rng.random_range(0..8) == 0;
    let method = if is_compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .compression_level(is_compressed.then_some(1))
        .large_file(rng.random());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, member) in members {
        // Two members of one name cannot be written.
        if writer.start_file(name.as_str(), options).is_ok() {
            writer.write_all(member).expect("memory takes all bytes");
        }
    }
    writer.finish().expect("memory takes all bytes").into_inner()
}
