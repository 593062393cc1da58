//! How long a training step of a config takes on this machine, by taking a few.

use std::time::{Duration, Instant};

use unbraid_data::Result;
use unbraid_data::loader::Loader;

use crate::config::Config;
use crate::prepare::prepare;
use crate::train::{LOADING_THREADS, loading, on_device};

/// Steps before the clock is looked at, in which buffers are taken and caches filled.
const N_WARM_UP: u32 = 3;
/// How long steps are taken, the last of them to its end: long enough for other work on the machine to even out.
const TIMED: Duration = Duration::from_secs(1);

/// Seconds of a training step.
pub fn secs_per_step(config: &Config) -> Result<f64> {
    let mut prepared = prepare(config)?;
    let mut loader = Loader::start(loading(config, &prepared), 0, LOADING_THREADS)?;
    let n_images = prepared.split.train().len();
    let mut take_step = || {
        let batch = on_device(loader.next_batch()?, n_images, &prepared.learner);
        prepared.learner.step(&batch, config.training.learning_rate.at(batch.step)).map(|_| ())
    };
    for _ in 0..N_WARM_UP {
        take_step()?;
    }
    let began = Instant::now();
    let mut n_steps = 0;
    while began.elapsed() < TIMED {
        take_step()?;
        n_steps += 1;
    }
    Ok(began.elapsed().as_secs_f64() / f64::from(n_steps))
}
