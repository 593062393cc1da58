//! What training takes of the machine's memory, where the system tells.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::Place;
use unbraid_data::npy::write_header;

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

/// An `.npz` file with the array `images` of these many bytes `[n, 64, 64, 3]`, stored as it is and all 0: a hole in the file, which
/// takes no room on the disk.
fn write_sparse_images(path: &Path, n_images: usize) {
    let mut array = Vec::new();
    write_header(&mut array, "|u1", &[n_images, 64, 64, 3]).unwrap();
    let n_bytes = array.len() as u64 + n_images as u64 * 64 * 64 * 3;
    let name = b"images.npy";
    let numbers_of_64_bits = [&[1, 0, 16, 0][..], &n_bytes.to_le_bytes(), &n_bytes.to_le_bytes()].concat();
    // Version, flags, method, time and date, checksum; then both lengths, which follow in 64 bits.
    let described = [&[45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[0xff; 8], &[10, 0, 20, 0]].concat();
    let start = [b"PK\x03\x04", &described[..], name, &numbers_of_64_bits, &array].concat();
    let list_at = (start.len() - array.len()) as u64 + n_bytes;
    let list = [b"PK\x01\x02\x2d\x00", &described[..], &[0; 14], name, &numbers_of_64_bits].concat();
    let wholes = |numbers: &[u64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let end = [
        &list[..],
        b"PK\x06\x06",
        &wholes(&[44]),
        &[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &wholes(&[1, 1, list.len() as u64, list_at]),
        b"PK\x06\x07\x00\x00\x00\x00",
        &wholes(&[list_at + list.len() as u64]),
        &[1, 0, 0, 0],
        b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00",
        &(list.len() as u32).to_le_bytes(),
        &[0xff; 4],
        &[0, 0],
    ]
    .concat();
    let mut file = File::create(path).unwrap();
    file.write_all(&start).unwrap();
    file.seek(SeekFrom::Start(list_at)).unwrap();
    file.write_all(&end).unwrap();
}

#[test]
fn twelve_gigabytes_of_mpi3d_are_trained_on_in_600_megabytes() {
    let place = Place::new();
    write_sparse_images(&place.path("mpi3d_real.npz"), 1_036_800);
    place.write(
        "large.toml",
        "rows = 100\nmetrics = []\n[dataset]\nname = 'mpi3d_real'\n[framework]\nname = 'beta_vae'\n[training]\nsteps = 4\n",
    );
    let arguments = ["train", "large.toml", "--out", "large", "--data-root", "."];
    let mut running = Running(place.command(&arguments).stdout(Stdio::null()).spawn().unwrap());
    let (process, mut peak) = (running.0.id(), 0);
    let status = loop {
        // Once it has ended there is nothing to read; the highest before that is what counts.
        if let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) {
            let line = status.lines().find(|line| line.starts_with("VmHWM"));
            let found = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
            peak = peak.max(found.unwrap_or(0));
        }
        match running.0.try_wait().unwrap() {
            Some(status) => break status,
            None => sleep(Duration::from_millis(10)),
        }
    };
    assert!(status.success() && place.path("large/report.html").exists());
    println!("the peak is {peak} kB");
    assert!((50_000..600_000).contains(&peak), "the peak is {peak} kB");
}
