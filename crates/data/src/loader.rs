//! Fills batches of images and their factors on other threads, ahead of training and always in the same order.
//!
//! What a batch holds follows from the seed and the step alone: each step draws its anchors from its own stream. So a
//! run that resumes at step 1000 sees the batch it would have seen, whatever the number of threads. A step may learn from
//! several batches (FactorVAE, Kim and Mnih 2018, from two), which are drawn one after the other.

use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use ndarray::Array2;
use rand::seq::index;

use crate::datasets::{Dataset, read_factors, read_numbered};
use crate::error::{Error, Result};
use crate::samplers::{Example, Sampler};
use crate::seed::{Rng, Seed};
use crate::split::Split;

/// Batches that a thread may fill before they are asked for.
const N_AHEAD: usize = 2;

/// What batches are filled with.
#[derive(Clone)]
pub struct Loading {
    /// Where images and factors are read.
    pub dataset: Arc<dyn Dataset>,
    /// Draws the images of an example.
    pub sampler: Arc<dyn Sampler>,
    /// Examples begin with its train images.
    pub split: Arc<Split>,
    /// Where the stream `batches` comes from.
    pub seed: Seed,
    /// How many examples a batch has.
    pub batch_size: usize,
    /// How many batches, drawn one after the other from the stream of the step, a step learns from.
    pub n_batches: usize,
}

/// Hands out batches in the order of their steps. Its threads end when it is dropped.
pub struct Loader {
    workers: Vec<Worker>,
    first_step: u64,
    next_step: u64,
    failure: Option<Error>,
}

/// What one training step learns from.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedBatch {
    /// The step it belongs to, counted from 0.
    pub step: u64,
    /// The members of the examples of the first batch, then those of the next: `[n_batches * arity]`.
    pub members: Vec<Member>,
    /// The factor that the images of each example share, where the sampler says so, batch after batch: `[n_batches * batch]`, or
    /// empty.
    pub shared: Vec<usize>,
}

/// The images that stand at one place of the examples of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// `[batch, height, width, channels]`.
    pub pixels: Vec<f32>,
    /// The images' numbers in the dataset, `[batch]`.
    pub numbers: Vec<usize>,
    /// Their factors, `[batch, factors]`.
    pub factors: Array2<f64>,
}

struct Worker {
    batches: Receiver<Result<LoadedBatch>>,
    thread: JoinHandle<()>,
}

impl Loader {
    /// Starts `n_threads` threads that fill batches, beginning with those of `first_step`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toml::Table;
    /// use unbraid_data::{Dataset, Loader, Loading, Seed, Split, datasets, samplers};
    ///
    /// let dataset: Arc<dyn Dataset> = datasets::build("xy_object", &Table::new())?.into();
    /// let split = Arc::new(Split::all(dataset.n_images()));
    /// let sampler = samplers::build("pair", &Table::new(), dataset.factors(), &split)?.into();
    /// let loading = Loading { dataset, sampler, split, seed: Seed(1), batch_size: 8, n_batches: 1 };
    /// let batch = Loader::start(loading, 0, 1)?.next_batch()?;
    /// // Both members of eight pairs, with their images' numbers and factors.
    /// assert_eq!((batch.members.len(), batch.members[0].numbers.len()), (2, 8));
    /// # Ok::<(), unbraid_data::Error>(())
    /// ```
    pub fn start(loading: Loading, first_step: u64, n_threads: usize) -> Result<Self> {
        loading.check()?;
        if n_threads == 0 {
            return Err(Error::new("wanted at least 1 thread to load images, found 0"));
        }
        let loading = Arc::new(loading);
        let workers = (0..n_threads as u64).map(|worker| {
            let (sender, batches) = sync_channel(N_AHEAD);
            let loading = loading.clone();
            let work = move || loading.fill_every(n_threads as u64, first_step + worker, &sender);
            let thread = std::thread::Builder::new()
                .name(format!("loader {worker}"))
                .spawn(work)
                .map_err(|error| Error::failure(format!("cannot start a thread to load images: {error}")))?;
            Ok(Worker { batches, thread })
        });
        Ok(Self { workers: workers.collect::<Result<_>>()?, first_step, next_step: first_step, failure: None })
    }

    /// The batch of the next step. Where one of its images could not be read, or a thread broke down, that is the error now
    /// and for ever after: no later batch can be handed out in order.
    pub fn next_batch(&mut self) -> Result<LoadedBatch> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        let position = ((self.next_step - self.first_step) % self.workers.len() as u64) as usize;
        let error = match self.workers[position].batches.recv() {
            Ok(Ok(batch)) => {
                self.next_step += 1;
                return Ok(batch);
            }
            Ok(Err(error)) => error,
            Err(_) => self.broken(position),
        };
        self.stop();
        self.failure = Some(error.clone());
        Err(error)
    }

    /// Why the thread at `position` is gone.
    fn broken(&mut self, position: usize) -> Error {
        let worker = self.workers.swap_remove(position);
        let reason = worker.thread.join().err().map_or("it ended".to_string(), |panic| panic_message(&*panic));
        Error::failure(format!("loading the images of step {} broke down: {reason}", self.next_step + 1))
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

impl Loading {
    fn check(&self) -> Result<()> {
        let Self { batch_size, n_batches, .. } = *self;
        if batch_size == 0 || n_batches == 0 {
            return Err(Error::new(format!(
                "wanted at least 1 image in a batch and 1 batch in a step, found {batch_size} and {n_batches}"
            )));
        }
        let n_train = self.split.train().len();
        if batch_size <= n_train {
            return Ok(());
        }
        let n_images = self.dataset.n_images();
        let of_all = if n_train == n_images { String::new() } else { format!(" to learn from, of {n_images}") };
        Err(Error::new(format!("a batch of {batch_size} images was asked for but the dataset has {n_train}{of_all}"))
            .help(format!("make the batch {n_train} or smaller")))
    }

    /// Fills the batches of every `stride`-th step from `step` on, until nobody takes them any more or one cannot be filled.
    fn fill_every(&self, stride: u64, mut step: u64, sender: &SyncSender<Result<LoadedBatch>>) {
        loop {
            // The error is shown to a user, who counts steps from 1.
            let batch = self.fill(step).map_err(|error| error.at(format!("step {}", step + 1)));
            let is_last = batch.is_err();
            if sender.send(batch).is_err() || is_last {
                return;
            }
            step += stride;
        }
    }

    fn fill(&self, step: u64) -> Result<LoadedBatch> {
        let mut rng = self.seed.stream_at("batches", step);
        let (mut members, mut shared) = (Vec::new(), Vec::new());
        for _ in 0..self.n_batches {
            members.extend(self.fill_batch(&mut rng, &mut shared)?);
        }
        Ok(LoadedBatch { step, members, shared })
    }

    /// The members of the examples of one batch; the factors that these share are added to `shared`.
    fn fill_batch(&self, rng: &mut Rng, shared: &mut Vec<usize>) -> Result<Vec<Member>> {
        let train = self.split.train();
        let n_pixels = self.dataset.image_shape().n_pixels();
        let mut numbers = vec![Vec::with_capacity(self.batch_size); self.sampler.arity()]; // [arity, batch]
        let mut example = Example::new(self.sampler.arity());
        for position in index::sample(rng, train.len(), self.batch_size) {
            self.sampler.draw(train.number(position), rng, &mut example)?;
            numbers.iter_mut().zip(&example.images).for_each(|(of_member, &number)| of_member.push(number));
            shared.extend(example.shared);
        }
        let fill_member = |numbers: Vec<usize>| {
            let mut pixels = vec![0.0; numbers.len() * n_pixels];
            for (image, &number) in pixels.chunks_exact_mut(n_pixels).zip(&numbers) {
                read_numbered(self.dataset.as_ref(), number, image)?;
            }
            Ok(Member { pixels, factors: read_factors(self.dataset.as_ref(), &numbers), numbers })
        };
        numbers.into_iter().map(fill_member).collect()
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
    use crate::datasets::ImageShape;
    use crate::error::Kind;
    use crate::factor_space::FactorSpace;
    use crate::split::Fractions;
    use crate::{datasets, samplers};

    fn loading(dataset: Arc<dyn Dataset>, sampler: &str, batch_size: usize) -> Loading {
        let split = Arc::new(Split::all(dataset.n_images()));
        let sampler = samplers::build(sampler, &Table::new(), dataset.factors(), &split).unwrap().into();
        Loading { dataset, sampler, split, seed: Seed(5), batch_size, n_batches: 1 }
    }

    fn xy_object() -> Arc<dyn Dataset> {
        datasets::build("xy_object", &Table::new()).unwrap().into()
    }

    fn batches(first_step: u64, n_threads: usize, n_batches: usize) -> Vec<LoadedBatch> {
        let mut loader = Loader::start(loading(xy_object(), "pair", 4), first_step, n_threads).unwrap();
        (0..n_batches).map(|_| loader.next_batch().unwrap()).collect()
    }

    /// Ten images of one pixel whose value is the image's number. What number 7 does is told.
    struct Numbers {
        factors: FactorSpace,
        seventh: Seventh,
    }

    #[derive(PartialEq)]
    enum Seventh {
        Reads,
        Fails,
        Panics,
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

        fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
            assert!(index != 7 || self.seventh != Seventh::Panics, "number 7 is broken");
            if index == 7 && self.seventh == Seventh::Fails {
                return Err(Error::new("the file was cut"));
            }
            pixels[0] = index as f32;
            Ok(())
        }
    }

    fn numbers(seventh: Seventh, sampler: &str, batch_size: usize) -> Loading {
        let dataset = Numbers { factors: FactorSpace::grid([("a", 2), ("b", 5)]), seventh };
        Loading { seed: Seed(1), ..loading(Arc::new(dataset), sampler, batch_size) }
    }

    #[test]
    fn batches_follow_from_seed_and_step_alone() {
        let one = batches(0, 1, 7);
        assert_eq!(one, batches(0, 3, 7));
        assert_eq!(one[4..], batches(4, 2, 3));
        assert_eq!(one.iter().map(|batch| batch.step).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
        assert_ne!(one[0].members, one[1].members);
        let n_pixels = 64 * 64 * 3;
        let sizes: Vec<usize> = one[0].members.iter().map(|member| member.pixels.len()).collect();
        assert_eq!(sizes, [4 * n_pixels, 4 * n_pixels]);
    }

    /// Runs that began with an earlier version go on with the same images.
    #[test]
    fn a_seed_and_a_step_always_give_these_images() {
        let mut loader = Loader::start(numbers(Seventh::Reads, "pair", 4), 0, 2).unwrap();
        for (anchors, others) in [([4, 7, 5, 8], [0, 0, 4, 3]), ([7, 8, 6, 4], [3, 3, 8, 7])] {
            let members = loader.next_batch().unwrap().members;
            assert_eq!([&members[0].numbers, &members[1].numbers], [&anchors, &others]);
        }
    }

    #[test]
    fn members_carry_numbers_and_factors() {
        let mut loader = Loader::start(numbers(Seventh::Reads, "pair", 4), 0, 1).unwrap();
        for member in loader.next_batch().unwrap().members {
            assert_eq!(member.factors.shape(), [4, 2]);
            for (row, &number) in member.numbers.iter().enumerate() {
                assert_eq!(member.pixels[row], number as f32);
                assert_eq!(member.factors.row(row).to_vec(), [(number / 5) as f64, (number % 5) as f64]);
            }
        }
    }

    #[test]
    fn the_first_of_several_batches_is_the_one_that_would_be_alone() {
        let next = |n_batches| {
            let loading = Loading { n_batches, ..numbers(Seventh::Reads, "pair", 4) };
            Loader::start(loading, 3, 1).unwrap().next_batch().unwrap().members
        };
        let (one, two) = (next(1), next(2));
        assert_eq!((one.len(), two.len()), (2, 4));
        assert_eq!(one, two[..2]);
        assert_ne!(one, two[2..]);
    }

    #[test]
    fn anchors_are_drawn_without_replacement() {
        let mut loader = Loader::start(numbers(Seventh::Reads, "single", 10), 0, 2).unwrap();
        let mut seen = loader.next_batch().unwrap().members.remove(0).numbers;
        seen.sort_unstable();
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn only_train_images_are_learned_from() {
        let split = Split::new(10, &Fractions { train: 0.6, test: 0.4, ..Fractions::default() }).unwrap();
        let split = Arc::new(split);
        let mut loading = numbers(Seventh::Reads, "pair", 6);
        loading.sampler = samplers::build("pair", &Table::new(), loading.dataset.factors(), &split).unwrap().into();
        loading.split = split.clone();
        let mut loader = Loader::start(loading.clone(), 0, 1).unwrap();
        for _ in 0..20 {
            let members = loader.next_batch().unwrap().members;
            assert!(members.iter().flat_map(|member| &member.numbers).all(|&number| split.train().contains(number)));
        }
        loading.batch_size = 7;
        let message = Loader::start(loading, 0, 1).err().unwrap().to_string();
        assert!(message.starts_with("a batch of 7 images was asked for but the dataset has 6 to learn from, of 10"));
    }

    #[test]
    fn a_batch_that_cannot_be_filled_is_refused() {
        let message = Loader::start(numbers(Seventh::Reads, "single", 64), 0, 1).err().unwrap().to_string();
        assert!(message.starts_with("a batch of 64 images was asked for but the dataset has 10\n"), "{message}");
        assert!(Loader::start(numbers(Seventh::Reads, "single", 0), 0, 1).is_err());
        assert!(Loader::start(numbers(Seventh::Reads, "single", 1), 0, 0).is_err());
        assert!(Loader::start(Loading { n_batches: 0, ..numbers(Seventh::Reads, "single", 1) }, 0, 1).is_err());
    }

    #[test]
    fn an_image_that_cannot_be_read_is_named_and_ends_the_loading() {
        let mut loader = Loader::start(numbers(Seventh::Fails, "single", 10), 4, 2).unwrap();
        let error = loader.next_batch().unwrap_err();
        assert_eq!(error.to_string(), "step 5: image 7: the file was cut");
        assert_eq!(error.kind(), Kind::Failure);
        assert_eq!(loader.next_batch().unwrap_err(), error);
    }

    #[test]
    fn a_thread_that_breaks_down_is_an_error_and_not_a_wait() {
        let mut loader = Loader::start(numbers(Seventh::Panics, "single", 10), 0, 2).unwrap();
        let error = loader.next_batch().unwrap_err();
        assert_eq!(error.to_string(), "loading the images of step 1 broke down: number 7 is broken");
        assert_eq!(loader.next_batch().unwrap_err(), error);
    }

    #[test]
    fn dropping_ends_the_threads() {
        let dataset = xy_object();
        let mut loader = Loader::start(loading(dataset.clone(), "single", 8), 0, 3).unwrap();
        loader.next_batch().unwrap();
        drop(loader);
        // Every thread held the dataset.
        assert_eq!(Arc::strong_count(&dataset), 1);
    }
}
