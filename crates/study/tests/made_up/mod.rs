//! Runs that were never trained: objectives, strengths and seeds on some datasets, with scores that have an objective's part, a strength's part and noise.

use unbraid_metrics::{METRICS, Scores, reads_factors};
use unbraid_study::{Run, StudyTable};

const OBJECTIVES: [(&str, &str, [f64; 6]); 6] = [
    ("beta_vae", "beta", [1.0, 2.0, 4.0, 6.0, 8.0, 16.0]),
    ("factor_vae", "gamma", [10.0, 20.0, 30.0, 40.0, 50.0, 100.0]),
    ("beta_tc_vae", "beta", [1.0, 2.0, 4.0, 6.0, 8.0, 10.0]),
    ("dip_vae_i", "lambda_od", [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]),
    ("dip_vae_ii", "lambda_od", [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]),
    ("annealed_vae", "c_max", [5.0, 10.0, 25.0, 50.0, 75.0, 100.0]),
];
const DATASETS: [&str; 3] = ["dsprites", "shapes3d_made", "xy_squares"];
const UNSUPERVISED: [&str; 7] = [
    "unsupervised",
    "unsupervised.wasserstein_correlation_norm",
    "unsupervised.mutual_information",
    "udr",
    "reconstruction",
    "kl",
    "elbo",
];

/// How large the study is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub datasets: usize,
    pub objectives: usize,
    pub strengths: usize,
    pub seeds: i64,
    pub metrics: usize,
}

/// The table of every combination.
pub fn table(size: Size) -> StudyTable {
    let mut runs = Vec::new();
    for dataset in 0..size.datasets {
        for objective in 0..size.objectives {
            for strength in 0..size.strengths {
                runs.extend((1..=size.seeds).map(|seed| run(size, dataset, objective, strength, seed)));
            }
        }
    }
    StudyTable::new(&runs).unwrap()
}

fn run(size: Size, dataset: usize, objective: usize, strength: usize, seed: i64) -> Run {
    let (framework, key, strengths) = OBJECTIVES[objective];
    let config = format!(
        "seed = {seed}\nrows = 10000\n[dataset]\nname = '{}'\n[framework]\nname = '{framework}'\n{key} = {:?}\n[model]\nlatents = 10\n\
         [training]\nlearning_rate = {{ from = 1e-3, to = 1e-4 }}\n[[metrics]]\nname = 'mig'\nbins = 20",
        DATASETS[dataset], strengths[strength]
    );
    let place = [dataset as u64, objective as u64, strength as u64, seed as u64];
    let quality = 0.25 * part(&[objective as u64, 7])
        + 0.3 * part(&place[..3])
        + 0.5 * part(&[1, 2, place[0], place[1], place[2], place[3]]);
    let supervised =
        METRICS.iter().filter(|entry| reads_factors(entry.name)).take(size.metrics).map(|entry| entry.name);
    let mut scores = Scores::new();
    for (number, name) in supervised.chain(UNSUPERVISED).enumerate() {
        let own = part(&[place[0], place[1], place[2], place[3], number as u64 + 100]);
        let weight = 1.0 - 0.03 * number as f64;
        let mixed = weight * quality + (1.0 - weight) * own + 0.15 * own;
        let value = if name == "reconstruction" { 40.0 - 90.0 * mixed } else { (0.45 + 0.3 * mixed).clamp(0.0, 1.0) };
        // A few are undefined, as after a collapse.
        scores = if part(&[place[0], place[1], place[2], place[3], number as u64, 5]) > 0.7 {
            scores.without(name, "every latent is constant")
        } else {
            scores.with(name, value)
        };
    }
    Run {
        name: format!("runs/{}/{framework}-{strength}-{seed}", DATASETS[dataset]),
        config: config.parse().unwrap(),
        scores,
    }
}

/// A number in [-1, 1] that looks random and is the same every time: splitmix64 of the numbers, three of them averaged.
fn part(numbers: &[u64]) -> f64 {
    let mut state =
        numbers.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |state, number| mixed(state ^ number.wrapping_add(1)));
    let mut draw = || {
        state = mixed(state);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    2.0 * (draw() + draw() + draw()) / 3.0 - 1.0
}

fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
