//! HDF5 files as h5py writes them: datasets of bytes, whole numbers and floats in (nested) groups.
//!
//! Read is what h5py writes for any `libver`, after the HDF5 File Format Specification 3.0: values in one piece or in
//! chunks of any shape, with gzip, shuffle and Fletcher's checksum or without. The list of chunks is kept in memory, so
//! that an image in a chunk of its own takes one read and one inflate. The crate `hdf5-reader` stands damage as well,
//! but looks the chunks of every slice up in the file, which for single images is far slower than h5py.
//!
//! Nothing is allocated that a file of that size could not hold, every address is checked against its length, and a
//! file that changes while it is in use is an error.

mod array;
mod btree_v1;
mod btree_v2;
mod checksum;
mod chunk_arrays;
mod chunk_index;
mod description;
mod element;
mod filters;
mod fractal_heap;
mod grid;
mod links;
mod object_header;
mod source;
mod superblock;
mod tiles;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result, did_you_mean};

pub use array::Array;
use description::{Description, is_dataset};
use links::{Target, is_group, links};
use object_header::Header;
use source::{Source, Walk, damaged};
pub use superblock::SIGNATURE;
use superblock::read_superblock;

/// Groups in groups, deeper than anyone nests them.
const DEEPEST: usize = 32;
/// The most names that an error lists.
const MOST_LISTED: usize = 20;

/// An HDF5 file and the datasets in it.
#[derive(Debug)]
pub struct Hdf5 {
    source: Arc<Source>,
    /// The paths of the datasets, with the addresses of their headers.
    datasets: BTreeMap<String, u64>,
}

impl Hdf5 {
    /// Opens a file and finds its datasets.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(Source::open(path)?).map_err(|error| error.at(path.display()))
    }

    fn read(mut source: Source) -> Result<Self> {
        let datasets = read_superblock(&mut source).and_then(|root| find_datasets(&source, root));
        let datasets = source.unless_changed(datasets)?;
        Ok(Self { source: Arc::new(source), datasets })
    }

    /// The paths of the datasets, such as `latents/classes`.
    pub fn names(&self) -> Vec<String> {
        self.datasets.keys().cloned().collect()
    }

    /// The dataset with this path.
    pub fn dataset(&self, name: &str) -> Result<Array> {
        let name = name.trim_matches('/');
        let path = self.source.path.display();
        let address = *self.datasets.get(name).ok_or_else(|| self.unknown(name).at(&path))?;
        let array = Header::read(&mut Walk::new(&self.source), address)
            .and_then(|header| Description::read(&header))
            .and_then(|description| Array::new(&self.source, name, description));
        self.source.unless_changed(array).map_err(|error| error.at(format!("{path}: dataset \"{name}\"")))
    }

    fn unknown(&self, name: &str) -> Error {
        let names: Vec<&str> = self.datasets.keys().map(String::as_str).collect();
        let error = Error::new(format!("no dataset is called \"{name}\"{}", did_you_mean(name, names.iter().copied())));
        match names.len() {
            0 => error.help("the file holds none"),
            n if n > MOST_LISTED => {
                error.help(format!("the file holds {} and {} more", names[..MOST_LISTED].join(", "), n - MOST_LISTED))
            }
            _ => error.help(format!("the file holds {}", names.join(", "))),
        }
    }
}

/// The datasets below the group whose header is at `root`, with their paths.
fn find_datasets(source: &Source, root: u64) -> Result<BTreeMap<String, u64>> {
    let mut walk = Walk::new(source);
    let mut datasets = BTreeMap::new();
    let mut aliases = Vec::new();
    let mut groups = vec![(String::new(), Header::read(&mut walk, root)?, 0)];
    // A group that is linked from several places is entered once.
    let mut entered = BTreeSet::from([root]);
    while let Some((group, header, depth)) = groups.pop() {
        for link in links(&mut walk, &header)? {
            let path = joined(&group, &link.name);
            walk.spend(path.len() as u64)?;
            let address = match link.target {
                Target::Object(address) => address,
                Target::Path(target) => {
                    let target = if target.starts_with('/') { target } else { joined(&group, &target) };
                    aliases.push((path, target));
                    continue;
                }
            };
            let header = Header::read(&mut walk, address)?;
            if is_dataset(&header) {
                datasets.insert(path, address);
            } else if is_group(&header) && entered.insert(address) {
                if depth == DEEPEST {
                    return Err(damaged(format!("groups are nested more than {DEEPEST} deep")));
                }
                groups.push((path, header, depth + 1));
            }
        }
    }
    for (path, target) in aliases {
        if let Some(&address) = datasets.get(target.trim_matches('/')) {
            datasets.entry(path).or_insert(address);
        }
    }
    Ok(datasets)
}

fn joined(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_string() } else { format!("{group}/{name}") }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rayon::prelude::*;

    use super::*;
    use crate::seed::{Rng, Seed};

    /// Changes one to four places: bytes, bits, or whole numbers to extreme or plausible ones.
    fn damage(bytes: &mut [u8], rng: &mut Rng) {
        for _ in 0..rng.random_range(1..5) {
            let place = rng.random_range(0..bytes.len() - 8);
            match rng.random_range(0..5) {
                0 => bytes[place] = rng.random(),
                1 => bytes[place] ^= 1 << rng.random_range(0..8),
                2 => bytes[place..place + 8].fill(0xff),
                3 => {
                    let address = rng.random_range(0..2 * bytes.len() as u64).to_le_bytes();
                    bytes[place..place + 8].copy_from_slice(&address);
                }
                _ => {
                    let from = rng.random_range(0..bytes.len() - 8);
                    bytes.copy_within(from..from + 8, place);
                }
            }
        }
    }

    /// Reads what can be read, and tells how many datasets could.
    fn read_some(bytes: Vec<u8>, rng: &mut Rng) -> usize {
        let Ok(file) = Hdf5::read(Source::damaged(bytes, false)) else { return 0 };
        let names = file.names();
        let mut n_read = 0;
        for _ in 0..names.len().min(3) {
            let Ok(array) = file.dataset(&names[rng.random_range(0..names.len())]) else { continue };
            let n_rows = array.shape().first().map_or(0, |&size| size.min(4));
            let row_items: usize = array.shape().iter().skip(1).product();
            if row_items < 1 << 16 && (array.rows(0, n_rows).is_ok() || array.to_f64().is_ok()) {
                n_read += 1;
            }
        }
        n_read
    }

    #[test]
    fn damaged_files_are_refused_or_read_without_harm() {
        // The larger an index, the longer it takes and the likelier the damage lies there.
        let files: [(u64, &[u8]); 6] = [
            (30_000, include_bytes!("../../../tests/hdf5/earliest.h5")),
            (30_000, include_bytes!("../../../tests/hdf5/latest.h5")),
            (67_000, include_bytes!("../../../tests/hdf5/compact.h5")),
            (67_000, include_bytes!("../../../tests/hdf5/user_block.h5")),
            (3_000, include_bytes!("../../../tests/hdf5/many_chunks_growing.h5")),
            (3_000, include_bytes!("../../../tests/hdf5/many_chunks_growing_twice.h5")),
        ];
        for (n_copies, file) in files {
            let read = (0..n_copies).into_par_iter().map(|number| {
                let mut rng = Seed(7).stream_at("damage", number);
                let mut bytes = file.to_vec();
                damage(&mut bytes, &mut rng);
                read_some(bytes, &mut rng)
            });
            // Most damage is harmless or found late, so that the readers behind the first checks were reached.
            assert!(read.sum::<usize>() > n_copies as usize / 20);
        }
    }

    #[test]
    fn with_checksums_and_compression_no_damage_gives_other_values() {
        let whole = include_bytes!("../../../tests/hdf5/latest.h5");
        let names = ["tiles", "checked", "growing", "growing_twice", "latents/floats"];
        let read = |bytes| Hdf5::read(Source::damaged(bytes, true));
        let expected = names.map(|name| read(whole.to_vec()).unwrap().dataset(name).unwrap().to_f64().unwrap());
        (0..whole.len()).into_par_iter().step_by(3).for_each(|place| {
            let mut bytes = whole.to_vec();
            bytes[place] ^= 1 << Seed(7).stream_at("bit", place as u64).random_range(0..8);
            let Ok(file) = read(bytes) else { return };
            for (name, expected) in names.into_iter().zip(&expected) {
                let found = file.dataset(name).and_then(|array| array.to_f64());
                assert!(found.is_err() || found.is_ok_and(|found| found == *expected), "{name}, byte {place}");
            }
        });
    }
}
