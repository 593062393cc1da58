//! Named random streams. Every random number of a run comes from one of them.
//!
//! A stream is ChaCha with 8 rounds, keyed by the run's seed and the stream's name, so that streams do not touch each
//! other and a new use of randomness leaves the old ones as they were. Work that is done step by step asks for the
//! stream of a step: its position then follows from the step number alone, which is what lets a resumed run, or a
//! loader thread that runs ahead, draw the very same numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator behind every stream; its output is fixed by its algorithm, not by a library's version.
pub type Rng = ChaCha8Rng;

/// A run's seed, from which all streams come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream called `name`, from its start.
    pub fn stream(self, name: &str) -> Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        for (part, chunk) in key[8..].chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&name_hash(name, part as u64).to_le_bytes());
        }
        ChaCha8Rng::from_seed(key)
    }

    /// The part of the stream called `name` that belongs to one step.
    pub fn stream_at(self, name: &str, step: u64) -> Rng {
        let mut rng = self.stream(name);
        rng.set_stream(step);
        rng
    }
}

/// FNV-1a of the name, begun with `part`: std's hasher may change between releases, and the key must not.
fn name_hash(name: &str, part: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ part;
    name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    fn first(mut rng: Rng) -> u64 {
        rng.random()
    }

    #[test]
    fn streams_differ_by_seed_name_and_step() {
        let draws = [
            first(Seed(1).stream("noise")),
            first(Seed(2).stream("noise")),
            first(Seed(1).stream("batches")),
            first(Seed(1).stream_at("noise", 1)),
        ];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[i + 1..].iter().all(|b| a != b), "{draws:?}");
        }
    }

    #[test]
    fn a_stream_is_the_same_every_time() {
        assert_eq!(first(Seed(7).stream_at("noise", 3)), first(Seed(7).stream_at("noise", 3)));
    }
}
