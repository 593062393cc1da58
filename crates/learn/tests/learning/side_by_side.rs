//! A trained model is used by several threads at once, and two learners train in one process without touching each other.

use std::ops::ControlFlow;

use crate::support::{PICTURE, Parts, batch};
use ndarray::Array2;
use toml::Table;
use unbraid_data::datasets;
use unbraid_learn::{Learner, TrainedModel, checkpoint};

fn trained(framework: &str, settings: &str, steps: u64) -> Learner {
    let mut learner = Parts::new((framework, settings), ("conv64", "latents = 3"), PICTURE).learner();
    for step in 0..steps {
        let batch = batch(&learner, step, 6);
        learner.step(&batch, 1e-3).unwrap();
    }
    learner
}

#[test]
fn several_threads_encode_and_decode_with_one_model() {
    let table: Table = "fix = { shape = 0, orientation = 0 }".parse().unwrap();
    let dataset = datasets::build("dsprites", &table).unwrap();
    let model: TrainedModel = trained("vae", "", 3).trained();
    let rows: Vec<usize> = (0..300).collect();
    let work = || {
        let encoded = model.encode(dataset.as_ref(), &rows, |_| ControlFlow::Continue(())).unwrap().unwrap();
        let drawn = model.decode(&Array2::from_elem((2, 3), 0.5)).unwrap();
        (encoded.codes, encoded.reconstruction_losses.unwrap(), drawn)
    };
    let alone = work();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            assert!(thread.join().unwrap() == alone);
        }
    });
}

#[test]
fn two_learners_in_one_process_do_not_touch_each_other() {
    let kinds = [("beta_vae", ""), ("factor_vae", "width = 16")];
    let bytes = |(framework, settings): (&str, &str)| checkpoint::write(&trained(framework, settings, 6), "").unwrap();
    let alone = kinds.map(bytes);
    std::thread::scope(|scope| {
        let together = kinds.map(|kind| scope.spawn(move || bytes(kind)));
        for (thread, alone) in together.into_iter().zip(&alone) {
            assert!(thread.join().unwrap() == *alone);
        }
    });
}
