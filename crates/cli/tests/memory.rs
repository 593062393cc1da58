//! What training takes of the machine's memory, where the system tells.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::Place;

const LARGE_BATCHES: &str = r#"
seed = 1

[dataset]
name = "xy_object"

[framework]
name = "beta_vae"

[model]
name = "conv64"

[training]
steps = 100_000
batch_size = 256
checkpoint_every = 5
"#;

/// Kilobytes that `/proc` tells of a process under this name.
fn kilobytes(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for_step(running: &mut Running, losses: &Path, step: u64) {
    let began = Instant::now();
    let steps_taken = || {
        let text = std::fs::read_to_string(losses).unwrap_or_default();
        text.lines().last().and_then(|line| line.split(',').next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    while steps_taken() < step {
        assert!(began.elapsed() < Duration::from_secs(300), "step {step} is not reached");
        assert!(running.0.try_wait().unwrap().is_none(), "training ended before step {step}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn training_on_batches_of_256_stays_small_and_does_not_grow() {
    let place = Place::new();
    place.write("large.toml", LARGE_BATCHES);
    let arguments = ["train", "large.toml", "--out", "large"];
    let child = place.command(&arguments).stdout(Stdio::null()).spawn().unwrap();
    let mut running = Running(child);
    let losses = place.path("large").join("losses.csv");
    let process = running.0.id();
    // The most of several moments, since what a checkpoint takes comes and goes.
    let at_step = |running: &mut Running, step: u64| {
        wait_for_step(running, &losses, step);
        kilobytes(process, "VmRSS")
    };
    let early = (10..=20).map(|step| at_step(&mut running, step)).max().unwrap();
    wait_for_step(&mut running, &losses, 60);
    let (late, peak) = (kilobytes(process, "VmRSS"), kilobytes(process, "VmHWM"));
    assert!(peak < 1_500_000, "the peak is {peak} kB");
    assert!(late < early + early / 20, "{early} kB after 10 to 20 steps became {late} kB after 60");
}
