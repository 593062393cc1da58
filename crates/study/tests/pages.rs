//! The page of studies of every size: what there are too few runs for is told in a sentence, and nothing is ever NaN.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod made_up;

use made_up::{Size, table};
use unbraid_metrics::Scores;
use unbraid_study::{Run, StudyTable, study_page};

fn page(size: Size) -> String {
    study_page(&table(size), "A study", &[], &[]).unwrap()
}

/// What a reader sees: the page without its pictures, style and script.
fn words(page: &str) -> String {
    let body = &page[page.find("<main>").unwrap()..page.find("<script>").unwrap()];
    let mut words = String::new();
    for (place, part) in body.split("base64,").enumerate() {
        words.push_str(if place == 0 { part } else { &part[part.find('"').unwrap()..] });
    }
    words
}

#[test]
fn two_runs_are_shown_with_what_is_missing_for_the_rest() {
    let page = words(&page(Size { datasets: 1, objectives: 1, strengths: 1, seeds: 2, metrics: 4 }));
    for wanted in [
        "2 runs of 1 objective (beta_vae) in 1 setting with 2 seeds, on 1 dataset (dsprites).",
        "Scores by objective on dsprites, 2 runs",
        "needs a setting that differs between runs, and all are the same.",
        "explain: needs two groups with two runs each, and there is 1.",
        "needs 5 runs in which two scores are defined and vary, and there are 2 runs in all.",
        "Needs two that share 5 settings whose scores differ, of 1 setting in all for ",
        "needs at least 2 settings that share a seed",
        "<summary>All 2 runs</summary>",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    assert_eq!(page.matches("<img ").count(), 1);
}

#[test]
fn five_runs_have_correlations_and_no_shares_of_variance() {
    let page = words(&page(Size { datasets: 1, objectives: 5, strengths: 1, seeds: 1, metrics: 6 }));
    assert!(page.contains("needs two groups with two runs each, and there are 0."), "{page}");
    assert!(page.contains("agree most (rank correlation"), "{page}");
    assert!(!page.contains("NaN") && !page.contains("inf "));
}

#[test]
fn a_whole_study_answers_every_question() {
    let page = words(&page(Size { datasets: 2, objectives: 3, strengths: 3, seeds: 3, metrics: 8 }));
    for wanted in [
        "54 runs of 3 objectives (beta_tc_vae, beta_vae, factor_vae) in 9 settings with 3 seeds, on 2 datasets",
        "<dt>What decides a score</dt>",
        "<dt>Which metrics agree</dt>",
        "<dt>Selecting without factors</dt>",
        "<dt>How far a good setting carries</dt>",
        "<dt>Best settings</dt>",
        "Scores by framework.gamma on dsprites, 9 runs",
        "<h2>Do metrics agree?</h2>",
        "Do settings that are good by mig stay good on another dataset?",
        "over all draws from 54 runs",
        "The setting of each objective with the best mean mig over seeds",
        "<summary>Selected by udr</summary>",
        "every latent is constant",
        "<tr><th>training.learning_rate.to</th><td>0.0001</td></tr>",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    assert!(!page.contains("NaN") && !page.contains(": needs ") && !page.contains(" Needs "), "{page}");
}

#[test]
fn runs_without_factors_or_without_any_score_have_a_page_too() {
    let run = |seed: i64, scores: Scores| Run {
        name: format!("runs/<{seed}>"),
        config: format!("seed = {seed}\ndataset.name = 'folder'\nframework.name = 'vae'").parse().unwrap(),
        scores,
    };
    let bare = StudyTable::new(&[run(1, Scores::new())]).unwrap();
    let page = words(&study_page(&bare, "Bare", &[], &[]).unwrap());
    assert!(page.contains("Scores by objective on folder: no run has a score.") && !page.contains("<img"), "{page}");
    let runs: Vec<Run> = (1..=6)
        .map(|seed| {
            run(seed, Scores::new().with("reconstruction", seed as f64).with("elbo", 1.0).without("mig", "no factors"))
        })
        .collect();
    let page = words(
        &study_page(&StudyTable::new(&runs).unwrap(), "No factors", &["2 runs left out: failed".to_string()], &[])
            .unwrap(),
    );
    for wanted in [
        "No run has a metric of factors",
        "2 runs left out: failed.",
        "By reconstruction on folder: vae 3.5000",
        "runs/&lt;6&gt;",
        "no factors",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    assert!(!page.contains("NaN"));
}

#[test]
fn the_same_runs_make_the_same_page() {
    let size = Size { datasets: 1, objectives: 2, strengths: 2, seeds: 2, metrics: 4 };
    assert_eq!(page(size), page(size));
}
