//! Examples in great number, for a file or a clock rather than for training.
//!
//! They are drawn in chunks, each from the stream of its own number, its anchors uniformly from the train images: so the
//! examples are the same on any number of threads, and a smaller number of them is the beginning of a larger.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use rand::RngExt;
use rayon::prelude::*;

use crate::error::Result;
use crate::npy::write_header;
use crate::samplers::{Example, Sampler};
use crate::seed::Seed;
use crate::split::Split;
use crate::whole_file::write_whole_with;

/// Examples that come from one stream.
pub const CHUNK: u64 = 4096;
/// Chunks that are drawn side by side before they are written: some megabytes, however many examples there are.
const N_TOGETHER: u64 = 64;

/// What examples are drawn by.
#[derive(Clone, Copy)]
pub struct Examples<'a> {
    /// Draws them.
    pub sampler: &'a dyn Sampler,
    /// Its train images are the anchors.
    pub split: &'a Split,
    /// From which all chunks come.
    pub seed: Seed,
}

impl Examples<'_> {
    /// Draws the first `n_examples` of a chunk, and hands each to `take`.
    pub fn draw_chunk(&self, chunk: u64, n_examples: u64, mut take: impl FnMut(&Example)) -> Result<()> {
        let mut rng = self.seed.stream_at("examples", chunk);
        let train = self.split.train();
        let mut example = Example::new(self.sampler.arity());
        for _ in 0..n_examples {
            let anchor = train.number(rng.random_range(0..train.len()));
            self.sampler.draw(anchor, &mut rng, &mut example)?;
            take(&example);
        }
        Ok(())
    }

    /// Writes the image numbers of `count` examples as a whole `.npy` file: `[count, arity]`, int64.
    pub fn write(&self, path: &Path, count: u64) -> Result<()> {
        self.write_numbers(path, &[count as usize, self.sampler.arity()], count, |example| &example.images)
    }

    /// Writes the position of the factor that each of the same examples shares: `[count]`, int64. The sampler has to tell it.
    pub fn write_shared(&self, path: &Path, count: u64) -> Result<()> {
        self.write_numbers(path, &[count as usize], count, |example| example.shared.as_slice())
    }

    fn write_numbers(
        &self,
        path: &Path,
        shape: &[usize],
        count: u64,
        numbers: impl Fn(&Example) -> &[usize] + Sync,
    ) -> Result<()> {
        write_whole_with(path, |writer| {
            write_header(writer, "<i8", shape)?;
            let n_chunks = count.div_ceil(CHUNK);
            for first in (0..n_chunks).step_by(N_TOGETHER as usize) {
                let chunks = first..n_chunks.min(first + N_TOGETHER);
                for bytes in self.draw_bytes(chunks, count, &numbers).map_err(io::Error::other)? {
                    writer.write_all(&bytes)?;
                }
            }
            Ok(())
        })
    }

    /// The bytes of these numbers of each of these chunks of `count` examples.
    fn draw_bytes(
        &self,
        chunks: Range<u64>,
        count: u64,
        numbers: impl Fn(&Example) -> &[usize] + Sync,
    ) -> Result<Vec<Vec<u8>>> {
        let drawn: Vec<Result<Vec<u8>>> = chunks
            .into_par_iter()
            .map(|chunk| {
                let n_examples = CHUNK.min(count - chunk * CHUNK);
                let mut bytes = Vec::with_capacity(n_examples as usize * self.sampler.arity() * 8);
                self.draw_chunk(chunk, n_examples, |example| {
                    numbers(example).iter().for_each(|&number| bytes.extend((number as i64).to_le_bytes()));
                })?;
                Ok(bytes)
            })
            .collect();
        // The first error in order, whichever thread comes first.
        drawn.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toml::Table;

    use super::*;
    use crate::error::Error;
    use crate::factor_space::FactorSpace;
    use crate::npy::read_table;
    use crate::samplers::build;
    use crate::seed::Rng;
    use crate::split::Fractions;

    fn written(path: &Path, count: u64, n_threads: usize) -> Vec<u8> {
        let split = Arc::new(Split::new(60, &Fractions { train: 0.5, ..Fractions::default() }).unwrap());
        let space = FactorSpace::grid([("shape", 3), ("x", 5), ("y", 4)]);
        let sampler = build("triplet", &Table::new(), &space, &split).unwrap();
        let examples = Examples { sampler: &*sampler, split: &split, seed: Seed(3) };
        let threads = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        threads.install(|| examples.write(path, count)).unwrap();
        let table = read_table(path).unwrap();
        assert_eq!(table.shape(), [count as usize, 3]);
        assert!(table.iter().all(|&image| split.train().contains(image as usize)));
        std::fs::read(path).unwrap()
    }

    #[test]
    fn the_file_is_the_same_on_any_number_of_threads_and_begins_alike() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        // More than is drawn side by side, and no whole number of chunks.
        let count = (N_TOGETHER + 1) * CHUNK + 17;
        let one = written(&path, count, 1);
        assert!(one == written(&path, count, 3));
        let few = written(&path, CHUNK + 1, 2);
        let n_bytes = (CHUNK + 1) as usize * 3 * 8;
        assert!(one[one.len() - count as usize * 24..][..n_bytes] == few[few.len() - n_bytes..]);
    }

    /// Finds no example.
    struct Barren;

    impl Sampler for Barren {
        fn arity(&self) -> usize {
            2
        }

        fn draw(&self, anchor: usize, _rng: &mut Rng, _example: &mut Example) -> Result<()> {
            Err(Error::new(format!("found nothing for image {anchor}")))
        }
    }

    #[test]
    fn where_an_example_is_not_found_no_file_appears() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let examples = Examples { sampler: &Barren, split: &Split::all(1), seed: Seed(1) };
        let message = examples.write(&path, 9).unwrap_err().to_string();
        assert!(message.contains("found nothing for image 0"), "{message}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
