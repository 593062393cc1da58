//! Evaluation as a library: no terminal, inputs from memory and from files, several at once.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::path::PathBuf;

use ndarray::{Array2, Axis};
use tempfile::TempDir;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{FactorSpace, LabelledCodes, Result};
use unbraid_experiment::Watch;
use unbraid_experiment::evaluation::{Choice, Evaluation, Input, Reading, Which, evaluate, read_inputs};
use unbraid_experiment::watch::Nobody;

/// Factors of 3, 4 and 5 values, and codes that are these turned by an angle and bent a little.
fn labelled(angle: f64) -> LabelledCodes {
    let factors = Array2::from_shape_fn((60, 3), |(row, factor)| [row / 20, row / 5 % 4, row % 5][factor] as f64);
    let (cos, sin) = (angle.cos(), angle.sin());
    let codes = Array2::from_shape_fn((60, 3), |(row, latent)| {
        let [a, b, c] = [0, 1, 2].map(|factor| factors[[row, factor]]);
        [cos * a - sin * b, sin * a + cos * b, c + 0.1 * (a * b * c).sin()][latent]
    });
    let space = FactorSpace::grid([("shape", 3), ("scale", 4), ("angle", 5)]);
    LabelledCodes::new(codes, factors, space, Extras::default()).unwrap()
}

/// The same without the last row: codes of other images.
fn shorter(data: &LabelledCodes) -> LabelledCodes {
    let rows: Vec<usize> = (0..data.n_rows() - 1).collect();
    let [codes, factors] = [data.codes(), data.factors()].map(|table| table.select(Axis(0), &rows));
    LabelledCodes::new(codes, factors, FactorSpace::sample(data.space().factors().to_vec()), Extras::default()).unwrap()
}

fn named(names: &[&str]) -> Choice {
    Choice { metrics: Which::named(names), ..Choice::default() }
}

/// What is record of an evaluation.
#[derive(Default)]
struct Record {
    stages: Vec<(String, u64)>,
    items: Vec<String>,
}

impl Watch for Record {
    fn stage(&mut self, name: &str, total: u64) {
        self.stages.push((name.to_string(), total));
    }

    fn progress(&mut self, _done: u64) {}

    fn next_item(&mut self, name: &str) {
        self.items.push(name.to_string());
    }

    fn step(&mut self, _done: u64, _loss: f32, _images: u64) {}

    fn note(&mut self, _text: &str) {}

    fn should_stop(&self) -> bool {
        false
    }
}

fn evaluate_alone(data: LabelledCodes, choice: &Choice) -> Evaluation {
    evaluate(&[Input::in_memory("alone", data)], choice, &mut Nobody).unwrap().remove(0)
}

#[test]
fn inputs_stand_side_by_side_and_keep_their_own_scores() {
    let inputs = [0.0, 0.4].map(|angle| Input::in_memory("codes", labelled(angle)));
    let mut record = Record::default();
    let both = evaluate(&inputs, &named(&["mig", "udr"]), &mut record).unwrap();
    assert_eq!(both.iter().map(|of| of.name.as_str()).collect::<Vec<_>>(), ["codes", "codes (2)"]);
    assert_eq!(record.stages, [("measuring".to_string(), 4)]);
    assert_eq!(record.items, ["mig of codes", "udr of codes", "mig of codes (2)", "udr of codes (2)"]);
    for (evaluation, angle) in both.iter().zip([0.0, 0.4]) {
        let alone = evaluate_alone(labelled(angle), &named(&["mig", "udr"]));
        assert_eq!(evaluation.scores.value("mig"), alone.scores.value("mig"));
        // One model cannot be compared with others.
        assert_eq!(alone.scores.value("udr"), None);
        assert!(evaluation.scores.value("udr").is_some());
    }
    assert!(both[0].scores.value("mig") > both[1].scores.value("mig"), "turned codes score less");
}

#[test]
fn only_inputs_of_the_same_images_are_compared() {
    let mut inputs = vec![Input::in_memory("a", labelled(0.0)), Input::in_memory("b", labelled(0.4))];
    let two = evaluate(&inputs, &named(&["udr"]), &mut Nobody).unwrap();
    inputs.push(Input::in_memory("short", shorter(&labelled(0.2))));
    let three = evaluate(&inputs, &named(&["udr"]), &mut Nobody).unwrap();
    assert_eq!(three[0].scores.value("udr"), two[0].scores.value("udr"));
    assert_eq!(three[0].scores.notes[0].1, "compared with 1 of 2 inputs: the others show other images");
    assert_eq!(three[2].scores.value("udr"), None);
}

#[test]
fn files_are_read_and_how_is_handed_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("table.csv");
    let data = labelled(0.4);
    let mut text = "z0,z1,z2,shape,scale,angle\n".to_string();
    for (code, factors) in data.codes().rows().into_iter().zip(data.factors().rows()) {
        let cells: Vec<String> = code.iter().chain(factors).map(ToString::to_string).collect();
        text += &format!("{}\n", cells.join(","));
    }
    std::fs::write(&path, text).unwrap();
    let paths = std::slice::from_ref(&path);
    let choice = named(&["mig", "sap", "dci"]);
    let inputs = read_inputs(paths, &Reading::default()).unwrap();
    let read = evaluate(&inputs, &choice, &mut Nobody).unwrap();
    assert_eq!(
        read[0].notes,
        ["3 latents from z0 to z2; factors shape (3 values), scale (4 values), angle (5 values)"]
    );
    assert_eq!(read[0].name, path.to_str().unwrap());
    assert_eq!(read[0].scores, evaluate_alone(data, &choice).scores);
    let reading = Reading { factor_columns: Some(vec!["angle".to_string()]), ..Reading::default() };
    let inputs = read_inputs(paths, &reading).unwrap();
    assert_eq!(inputs[0].data.space().names().collect::<Vec<_>>(), ["angle"]);
    assert_eq!(
        inputs[0].notes,
        ["3 latents from z0 to z2; factors angle (5 values); left out shape, scale"],
        "what is left out is named"
    );
}

#[test]
fn settings_and_seed_are_chosen() {
    let mig = |choice: &Choice| evaluate_alone(labelled(0.4), choice).scores.value("mig");
    let changed = Choice { changes: vec!["mig.bins=3".to_string()], ..named(&["mig"]) };
    assert_ne!(mig(&changed), mig(&named(&["mig"])));
    let factor_vae = |seed| evaluate_alone(labelled(0.4), &Choice { seed, ..named(&["beta_vae"]) }).scores;
    assert_eq!(factor_vae(Some(1)), factor_vae(None), "the seed of an input in memory is 1");
    // An input brings its own metrics and seed, as a run does.
    let choice = named(&["mig"]);
    let mut input = Input::in_memory("mine", labelled(0.4));
    input.metrics = choice.metrics_of(&input).unwrap();
    let own = evaluate(std::slice::from_ref(&input), &Choice::default(), &mut Nobody).unwrap();
    assert_eq!(own[0].scores, evaluate_alone(labelled(0.4), &choice).scores);
}

#[test]
fn mistakes_are_found_before_any_metric_begins() {
    let refusal = |choice: &Choice| {
        let mut record = Record::default();
        let refused = evaluate(&[Input::in_memory("mine", labelled(0.0))], choice, &mut record);
        assert!(record.items.is_empty());
        refused.unwrap_err().to_string()
    };
    assert!(refusal(&named(&["mig", "sapp"])).contains("no metric is called \"sapp\"; did you mean \"sap\"?"));
    assert!(refusal(&named(&["mig", "mig"])).contains("metric \"mig\" is named twice"));
    let change = |change: &str| Choice { changes: vec![change.to_string()], ..named(&["mig"]) };
    assert!(refusal(&change("mig.bin=3")).contains("metric \"mig\" has no setting \"bin\""));
    assert!(refusal(&change("sap.k=3")).contains("a setting of metric \"sap\" is changed, which is not scored"));
    assert!(refusal(&change("bins")).contains("the change \"bins\" has no ="));
    let read = |paths: &[&str], reading: &Reading| -> Result<Vec<Input>> {
        read_inputs(&paths.iter().map(PathBuf::from).collect::<Vec<_>>(), reading)
    };
    let message = |paths: &[&str]| read(paths, &Reading::default()).unwrap_err().to_string();
    assert!(message(&["nowhere.npz"]).contains("there is no file nowhere.npz"));
    assert!(message(&["a.npz", "a.npz"]).contains("a.npz is named twice"));
    let reading = Reading { factors_file: Some(PathBuf::from("factors.npy")), ..Reading::default() };
    assert!(read(&["a.csv"], &reading).unwrap_err().to_string().contains("the factors are columns of the same file"));
}

#[test]
fn evaluations_at_the_same_time_do_not_touch_each_other() {
    let inputs = [0.1, 0.7].map(|angle| Input::in_memory("codes", labelled(angle)));
    let score = |input: &Input| {
        evaluate(std::slice::from_ref(input), &Choice::default(), &mut Nobody).unwrap().remove(0).scores
    };
    let alone = inputs.each_ref().map(score);
    for _ in 0..2 {
        let together = std::thread::scope(|scope| {
            let threads = inputs.each_ref().map(|input| scope.spawn(move || score(input)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(together == alone);
    }
    assert!(alone[0] != alone[1]);
}
