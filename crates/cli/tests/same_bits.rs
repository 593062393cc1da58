//! Same config and seed, same bytes: with 1, 2 or 3 threads, left alone or killed and resumed.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::RngExt;
use support::{Place, SMALL, exact_files};
use unbraid_data::Seed;
use unbraid_learn::frameworks::{Entry, FRAMEWORKS};

/// Pairs through the convolutional network: the longest way that a batch can take.
const PAIRS: &str = r#"
seed = 3
rows = 60

[dataset]
name = "dsprites"
fix = { shape = 0, orientation = 0 }

[framework]
name = "ada_gvae"

[model]
name = "conv64"
latents = 3

[training]
steps = 12
batch_size = 6
checkpoint_every = 3
"#;

/// A small run of a framework with validation images scored on the way.
fn selected((framework, every): (&Entry, u64)) -> String {
    let (name, example) = (framework.name, framework.example);
    format!(
        r#"
seed = 5
rows = 80

[dataset]
name = "dsprites"
fix = {{ shape = 0, orientation = 0 }}

[split]
train = 0.8
validation = 0.1
test = 0.1

[framework]
name = "{name}"
{example}

[model]
name = "mlp"
latents = 4
encoder = [24]
decoder = [24]

[training]
steps = 40
batch_size = 8
checkpoint_every = 5

[selection]
metric = "mig"
every = {every}

[[metrics]]
name = "mig"

[[metrics]]
name = "dto"
"#
    )
}

/// A config for every framework; validation images are scored more and less often than checkpoints are written.
fn every_framework() -> impl Iterator<Item = String> {
    FRAMEWORKS.iter().zip([7, 2, 3].into_iter().cycle()).map(selected)
}

fn compare(place: &Place, wanted: &str, found: &str) {
    let (wanted, found) = (exact_files(&place.path(wanted)), exact_files(&place.path(found)));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&wanted), names(&found));
    for ((name, wanted), (_, found)) in wanted.iter().zip(found) {
        assert!(*wanted == found, "{name} differs");
    }
}

#[test]
fn one_two_or_three_threads_give_the_same_bytes() {
    let place = Place::new();
    // Its discriminator is a second encoder.
    let gan = PAIRS.replace("\"ada_gvae\"", "\"weak_gan\"\nwidth = 8");
    for (name, config) in [("small.toml", SMALL), ("pairs.toml", PAIRS), ("gan.toml", &gan)] {
        place.write(name, config);
        for threads in ["1", "2", "3"] {
            place.output(&["train", name, "--threads", threads, "--out", &format!("{name}-{threads}")]);
        }
        compare(&place, &format!("{name}-1"), &format!("{name}-2"));
        compare(&place, &format!("{name}-1"), &format!("{name}-3"));
    }
}

#[test]
fn another_seed_gives_other_bytes() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "a"]);
    place.output(&["train", "small.toml", "--out", "b", "--set", "seed=8"]);
    let bytes = |run: &str| std::fs::read(place.path(run).join("codes.npy")).unwrap();
    assert!(bytes("a") != bytes("b"));
}

#[test]
fn killed_at_random_moments_and_resumed_gives_the_same_bytes() {
    assert!(kill_and_resume(PAIRS, 4) > 0, "every run ended before it was killed");
}

/// Kills and resumes every second framework, with selection on; two tests, which share the cores.
fn kill_and_resume_every_second(first: usize) {
    let killed: Vec<usize> =
        every_framework().skip(first).step_by(2).map(|config| kill_and_resume(&config, 1)).collect();
    let n_killed: usize = killed.iter().sum();
    assert!(n_killed > killed.len(), "only {n_killed} of the runs were killed before their end");
}

#[test]
fn frameworks_killed_and_resumed_on_other_threads_give_the_same_bytes_with_selection_on_first_half() {
    kill_and_resume_every_second(0);
}

#[test]
fn frameworks_killed_and_resumed_on_other_threads_give_the_same_bytes_with_selection_on_second_half() {
    kill_and_resume_every_second(1);
}

/// Holds runs that are killed, and go on with another number of threads each time, against one that is left alone with one thread.
/// Gives how often a run was killed before its end.
fn kill_and_resume(config: &str, attempts: usize) -> usize {
    let place = Place::with_features_for(config);
    place.write("run.toml", config);
    let began = Instant::now();
    place.output(&["train", "run.toml", "--threads", "1", "--out", "alone"]);
    let whole = began.elapsed();

    let mut rng = Seed(1).stream(config);
    let mut n_killed = 0;
    for attempt in 0..attempts {
        let run = format!("killed{attempt}");
        let mut arguments = vec!["train", "run.toml", "--out", &run, "--threads", "1"];
        // Kill again and again, at moments spread over the whole run, until it gets to its end by itself.
        for threads in ["3", "1", "2"] {
            *arguments.last_mut().unwrap() = threads;
            let mut child = place.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            sleep(Duration::from_secs_f64(whole.as_secs_f64() * rng.random_range(0.02..0.9)));
            n_killed += usize::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
            if place.path(&run).join("config.toml").exists() {
                arguments = vec!["resume", &run, "--threads", threads];
            }
        }
        place.output(&arguments);
        compare(&place, "alone", &run);
        let leftovers: Vec<_> =
            std::fs::read_dir(place.path(&run)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(leftovers.iter().all(|name| !name.to_string_lossy().contains("tmp")), "{leftovers:?}");
    }
    n_killed
}

#[test]
#[cfg(unix)]
fn an_interrupt_saves_and_says_how_to_go_on() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "alone", "--set", "training.steps=3000"]);
    let child = place
        .command(&["train", "small.toml", "--out", "stopped", "--set", "training.steps=3000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !place.path("stopped").join("model.safetensors").exists() {
        sleep(Duration::from_millis(1));
    }
    let interrupt =
        std::process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("unbraid resume stopped"), "{text}");
    place.output(&["resume", "stopped"]);
    compare(&place, "alone", "stopped");
}

#[test]
#[cfg(unix)]
fn an_interrupt_while_encoding_stops_and_can_be_resumed() {
    let place = Place::new();
    // 75,000 images take a while to encode, a single step none.
    let long = "[dataset]\nname = 'xy_object'\n[framework]\nname = 'ae'\n[model]\nname = 'mlp'\nencoder = [64]\n\
                decoder = [64]\n[training]\nsteps = 1\nbatch_size = 2";
    place.write("long.toml", long);
    let child = place
        .command(&["train", "long.toml", "--out", "a"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !place.path("a/model.safetensors").exists() {
        sleep(Duration::from_millis(1));
    }
    let interrupt =
        std::process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8(output.stdout).unwrap().contains("unbraid resume a"));
    assert!(!place.path("a/codes.npy").exists(), "it was encoded to the end");
}

#[test]
fn of_several_that_start_in_one_folder_one_wins() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "alone"]);
    for round in 0..5 {
        let run = format!("race{round}");
        let start = |_| {
            let arguments = ["train", "small.toml", "--out", &run];
            place.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = (0..3).map(start).collect();
        let codes: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap().code()).collect();
        assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
        assert_eq!(codes.iter().filter(|code| **code == Some(2)).count(), 2, "{codes:?}");
        compare(&place, "alone", &run);
    }
}
