//! Fills batches of pixels on other threads, ahead of training and always in the same order.
//!
//! What a batch holds follows from the seed and the step alone: each step draws its anchors from its own stream. So a
//! run that resumes at step 1000 sees the batch it would have seen, whatever the number of threads.

use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rand::seq::index;

use crate::datasets::Dataset;
use crate::error::{Error, Result};
use crate::samplers::Sampler;
use crate::seed::Seed;

/// Batches that a thread may fill before they are asked for.
const N_AHEAD: usize = 2;

/// Hands out batches in the order of their steps. Its threads end when it is dropped.
pub struct Loader {
    workers: Vec<Worker>,
    first_step: u64,
    next_step: u64,
}

/// The pixels of one training step.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedBatch {
    /// The step it belongs to.
    pub step: u64,
    /// For each member of an example, `[batch, height, width, channels]`.
    pub members: Vec<Vec<f32>>,
}

struct Worker {
    batches: Receiver<LoadedBatch>,
    thread: JoinHandle<()>,
}

impl Loader {
    /// Starts `n_threads` threads that fill batches of `batch_size` examples, beginning with the batch of `first_step`.
    pub fn start(
        dataset: Arc<dyn Dataset>,
        sampler: Arc<dyn Sampler>,
        seed: Seed,
        batch_size: usize,
        first_step: u64,
        n_threads: usize,
    ) -> Result<Self> {
        if batch_size == 0 || n_threads == 0 {
            return Err(Error::new(format!(
                "wanted at least 1 image in a batch and 1 thread to load it, found {batch_size} and {n_threads}"
            )));
        }
        if batch_size > dataset.n_images() {
            let n_images = dataset.n_images();
            return Err(Error::new(format!(
                "a batch of {batch_size} images was asked for but the dataset has {n_images}"
            ))
            .help(format!("make the batch {n_images} or smaller")));
        }
        let filler = Arc::new(Filler { dataset, sampler, seed, batch_size });
        let workers = (0..n_threads as u64).map(|worker| {
            let (sender, batches) = sync_channel(N_AHEAD);
            let filler = filler.clone();
            let work = move || filler.fill_every(n_threads as u64, first_step + worker, &sender);
            let thread = std::thread::Builder::new()
                .name(format!("loader {worker}"))
                .spawn(work)
                .map_err(|error| Error::failure(format!("cannot start a thread to load images: {error}")))?;
            Ok(Worker { batches, thread })
        });
        Ok(Self { workers: workers.collect::<Result<_>>()?, first_step, next_step: first_step })
    }

    /// The batch of the next step. An error where a thread broke down.
    pub fn next_batch(&mut self) -> Result<LoadedBatch> {
        let position = (self.next_step - self.first_step) % self.workers.len().max(1) as u64;
        let Some(worker) = self.workers.get(position as usize) else {
            return Err(Error::failure("the images can no longer be loaded, since a loading thread broke down"));
        };
        match worker.batches.recv() {
            Ok(batch) => {
                self.next_step += 1;
                Ok(batch)
            }
            Err(_) => Err(self.broken(position as usize)),
        }
    }

    /// Why the thread at `position` is gone. The others are let go as well: no batch can be handed out in order.
    fn broken(&mut self, position: usize) -> Error {
        let worker = self.workers.swap_remove(position);
        let reason = worker.thread.join().err().map_or("it ended".to_string(), |panic| panic_message(&*panic));
        self.stop();
        Error::failure(format!("loading the images of step {} broke down: {reason}", self.next_step))
    }

    /// Ends all threads: those that wait to hand over a batch find nobody there.
    fn stop(&mut self) {
        let threads: Vec<JoinHandle<()>> = self.workers.drain(..).map(|worker| worker.thread).collect();
        for thread in threads {
            // A thread that broke down has nothing more to say here.
            let _ = thread.join();
        }
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What a thread needs to fill any batch.
struct Filler {
    dataset: Arc<dyn Dataset>,
    sampler: Arc<dyn Sampler>,
    seed: Seed,
    batch_size: usize,
}

impl Filler {
    /// Fills the batch of every `stride`-th step from `step` on until nobody takes them any more.
    fn fill_every(&self, stride: u64, mut step: u64, sender: &SyncSender<LoadedBatch>) {
        while sender.send(self.fill(step)).is_ok() {
            step += stride;
        }
    }

    fn fill(&self, step: u64) -> LoadedBatch {
        let mut rng = self.seed.stream_at("batches", step);
        let anchors = index::sample(&mut rng, self.dataset.n_images(), self.batch_size);
        let n_pixels = self.dataset.image_shape().n_pixels();
        let mut members = vec![vec![0.0; self.batch_size * n_pixels]; self.sampler.arity()];
        for (row, anchor) in anchors.into_iter().enumerate() {
            let example = self.sampler.draw(anchor, &mut rng);
            for (member, image) in members.iter_mut().zip(example) {
                self.dataset.read_image(image, &mut member[row * n_pixels..][..n_pixels]);
            }
        }
        LoadedBatch { step, members }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason was given".to_string())
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::datasets::{ImageShape, open};
    use crate::factor_space::FactorSpace;
    use crate::samplers::build;

    fn loader(sampler: &str, batch_size: usize, first_step: u64, n_threads: usize) -> Result<Loader> {
        let dataset: Arc<dyn Dataset> = open("xy_object", &Table::new()).unwrap().into();
        let sampler = build(sampler, &Table::new(), dataset.factors()).unwrap();
        Loader::start(dataset, sampler.into(), Seed(5), batch_size, first_step, n_threads)
    }

    fn batches(first_step: u64, n_threads: usize, n_batches: usize) -> Vec<LoadedBatch> {
        let mut loader = loader("pair", 4, first_step, n_threads).unwrap();
        (0..n_batches).map(|_| loader.next_batch().unwrap()).collect()
    }

    /// Images of one pixel whose value is the image's number. Number 7 cannot be read where `breaks`.
    struct Numbers {
        factors: FactorSpace,
        breaks: bool,
    }

    impl Dataset for Numbers {
        fn factors(&self) -> &FactorSpace {
            &self.factors
        }

        fn image_shape(&self) -> ImageShape {
            ImageShape { height: 1, width: 1, channels: 1 }
        }

        fn n_images(&self) -> usize {
            10
        }

        fn read_image(&self, index: usize, pixels: &mut [f32]) {
            assert!(!self.breaks || index != 7, "image 7 is broken");
            pixels[0] = index as f32;
        }
    }

    fn numbers(batch_size: usize, breaks: bool) -> Result<Loader> {
        let dataset = Arc::new(Numbers { factors: FactorSpace::grid([("number", 10)]), breaks });
        let sampler = build("single", &Table::new(), dataset.factors()).unwrap();
        Loader::start(dataset, sampler.into(), Seed(1), batch_size, 0, 2)
    }

    #[test]
    fn batches_follow_from_seed_and_step_alone() {
        let one = batches(0, 1, 7);
        assert_eq!(one, batches(0, 3, 7));
        assert_eq!(one[4..], batches(4, 2, 3));
        assert_eq!(one.iter().map(|batch| batch.step).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
        assert_ne!(one[0].members, one[1].members);
        let n_pixels = 64 * 64 * 3;
        assert_eq!(one[0].members.iter().map(Vec::len).collect::<Vec<_>>(), [4 * n_pixels, 4 * n_pixels]);
    }

    #[test]
    fn anchors_are_drawn_without_replacement() {
        let mut loader = numbers(10, false).unwrap();
        let mut seen = loader.next_batch().unwrap().members.remove(0);
        seen.sort_by(f32::total_cmp);
        assert_eq!(seen, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    }

    #[test]
    fn a_batch_that_cannot_be_filled_is_refused() {
        let message = numbers(64, false).err().unwrap().to_string();
        assert!(message.starts_with("a batch of 64 images was asked for but the dataset has 10"), "{message}");
        assert!(loader("single", 0, 0, 1).is_err());
        assert!(loader("single", 1, 0, 0).is_err());
    }

    #[test]
    fn a_thread_that_breaks_down_is_an_error_and_not_a_wait() {
        let mut loader = numbers(10, true).unwrap();
        let error = loader.next_batch().unwrap_err();
        assert_eq!(error.to_string(), "loading the images of step 0 broke down: image 7 is broken");
        assert!(loader.next_batch().is_err());
    }

    #[test]
    fn dropping_ends_the_threads() {
        let dataset: Arc<dyn Dataset> = open("xy_object", &Table::new()).unwrap().into();
        let sampler = build("single", &Table::new(), dataset.factors()).unwrap();
        let mut loader = Loader::start(dataset.clone(), sampler.into(), Seed(5), 8, 0, 3).unwrap();
        loader.next_batch().unwrap();
        drop(loader);
        // Every thread held the dataset.
        assert_eq!(Arc::strong_count(&dataset), 1);
    }
}
