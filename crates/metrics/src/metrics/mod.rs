//! The list of metrics, and how one is made from its settings or all are run.

use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::{Result, Seed};

use crate::coarse_codes::without_rounding_noise;
use crate::input_notes::{WITHOUT_FACTORS, input_notes};
use crate::{Entry, Metric, ScoreKind, Scores, Subject, metric_of};

pub mod active_units;
pub mod axis_ratio;
pub mod beta_vae;
pub mod block_r2;
pub mod cbd;
pub mod consistency;
pub mod dci;
pub mod dci_es;
pub mod dci_forest;
pub mod dci_lasso;
pub mod dcimig;
pub mod distance_correlation;
pub mod downstream;
pub mod ds;
pub mod dto;
pub mod elbo;
pub mod explicitness;
pub mod factor_vae;
pub mod fairness;
pub mod flatness;
pub mod infomec;
pub mod irs;
pub mod jemmig;
pub mod kl;
pub mod linearity_ratio;
pub mod mcc;
pub mod mig;
pub mod mig_sup;
pub mod modularity;
pub mod orientation_ratio;
pub mod polarized;
pub mod reconstruction;
pub mod restrictiveness;
pub mod rmig;
pub mod sap;
pub mod udr;
pub mod unsupervised;
pub mod windin;
pub mod wsepin;
pub mod z_max_variance;

/// Every metric, in the order in which they are shown.
pub const METRICS: &[Entry] = &[
    beta_vae::ENTRY,
    factor_vae::ENTRY,
    z_max_variance::ENTRY,
    dci::ENTRY,
    dci_forest::ENTRY,
    dci_lasso::ENTRY,
    dci_es::ENTRY,
    mig::ENTRY,
    mig_sup::ENTRY,
    rmig::ENTRY,
    jemmig::ENTRY,
    dcimig::ENTRY,
    modularity::ENTRY,
    explicitness::ENTRY,
    infomec::ENTRY,
    sap::ENTRY,
    irs::ENTRY,
    consistency::ENTRY,
    restrictiveness::ENTRY,
    cbd::ENTRY,
    mcc::ENTRY,
    block_r2::ENTRY,
    ds::ENTRY,
    distance_correlation::ENTRY,
    linearity_ratio::ENTRY,
    axis_ratio::ENTRY,
    orientation_ratio::ENTRY,
    flatness::ENTRY,
    unsupervised::ENTRY,
    wsepin::ENTRY,
    windin::ENTRY,
    udr::ENTRY,
    downstream::ENTRY,
    fairness::ENTRY,
    reconstruction::ENTRY,
    kl::ENTRY,
    elbo::ENTRY,
    active_units::ENTRY,
    polarized::ENTRY,
    dto::ENTRY,
];

/// Why a metric of factors gives nothing where there are none.
const NO_FACTORS: &str = "needs factors, and the images have none";

/// The row of the metric called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let named = METRICS.iter().find(|entry| entry.name == name);
    named.ok_or_else(|| unknown_name("metric", name, METRICS.iter().map(|entry| entry.name)))
}

/// Makes the metric called `name` with the settings in `table`.
///
/// ```
/// use ndarray::array;
/// use unbraid_data::labelled_codes::Extras;
/// use unbraid_data::{FactorSpace, LabelledCodes, Seed};
/// use unbraid_metrics::Subject;
///
/// let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
/// let data = LabelledCodes::new(factors.clone(), factors, space, Extras::default())?;
/// let mig = unbraid_metrics::build("mig", &"bins = 2".parse()?)?;
/// let scores = mig.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("mig"));
/// assert!((scores.value("mig").unwrap() - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build(name: &str, table: &Table) -> Result<Box<dyn Metric>> {
    (find(name)?.build)(table)
}

/// All settings of the metric called `name`, those left out of `table` at their defaults.
pub fn complete(name: &str, table: &Table) -> Result<Table> {
    (find(name)?.complete)(table)
}

/// Whether the metric called `name` looks at factors, and is undefined where there are none.
pub fn reads_factors(name: &str) -> bool {
    METRICS.iter().any(|entry| entry.name == name) && !WITHOUT_FACTORS.contains(&name)
}

/// The score that the metric called `name` is known by, and that a model is selected by: its name, range and better way.
pub fn headline(name: &str) -> Result<&'static ScoreKind> {
    Ok(&find(name)?.scores[0])
}

/// The range and the better way of a kind of score (`Score::kind`), where a metric tells of it.
pub fn score_kind(kind: &str) -> Option<&'static ScoreKind> {
    find(metric_of(kind)).ok()?.scores.iter().find(|row| row.name == kind)
}

/// Runs named metrics one after another. Each draws from its own stream `metric/NAME`, so that its scores do not depend
/// on which others run. Notes on the input as a whole are called `input`.
pub fn score_all(metrics: &[(String, Box<dyn Metric>)], subject: &Subject, seed: Seed) -> Scores {
    score_all_heard(metrics, subject, seed, &mut |_| {})
}

/// The same; `starting` hears each metric's name before it begins. Latents that move by rounding alone count as constant.
pub fn score_all_heard(
    metrics: &[(String, Box<dyn Metric>)],
    subject: &Subject,
    seed: Seed,
    starting: &mut dyn FnMut(&str),
) -> Scores {
    match without_rounding_noise(subject.data()) {
        Some((data, note)) => score_each(metrics, &subject.with_data(&data), seed, starting).with_note("input", &note),
        None => score_each(metrics, subject, seed, starting),
    }
}

fn score_each(
    metrics: &[(String, Box<dyn Metric>)],
    subject: &Subject,
    seed: Seed,
    starting: &mut dyn FnMut(&str),
) -> Scores {
    let mut scores = Scores::new();
    for (name, metric) in metrics {
        starting(name);
        let reads_codes = METRICS.iter().any(|entry| entry.name == name && entry.reads_codes());
        if reads_factors(name) && subject.data().n_factors() == 0 {
            scores.extend(Scores::new().without(name, NO_FACTORS));
            continue;
        }
        scores.extend(match subject.why_too_coarse() {
            Some(reason) if reads_codes => Scores::new().without(name, reason),
            _ => metric.score(subject, &mut seed.stream(&format!("metric/{name}"))),
        });
    }
    let names: Vec<&str> = metrics.iter().map(|(name, _)| name.as_str()).collect();
    let notes = input_notes(subject, &names, &scores);
    notes.iter().fold(scores, |scores, note| scores.with_note("input", note))
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes};

    use super::*;
    use crate::Better;

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        let message = complete("migg", &Table::new()).unwrap_err().to_string();
        assert!(message.starts_with("no metric is called \"migg\"; did you mean \"mig\"?"), "{message}");
    }

    #[test]
    fn settings_left_out_take_the_published_value() {
        assert_eq!(complete("mig", &Table::new()).unwrap().to_string(), "bins = 20\nnormaliser = \"factor_entropy\"\n");
        assert!(build("mig", &"bin = 10".parse().unwrap()).is_err());
    }

    #[test]
    fn every_metric_is_made_by_its_own_name_and_names_are_unique() {
        for (position, entry) in METRICS.iter().enumerate() {
            assert!(build(entry.name, &Table::new()).is_ok(), "{}", entry.name);
            assert!(METRICS[..position].iter().all(|other| other.name != entry.name), "{}", entry.name);
        }
    }

    #[test]
    fn the_first_score_of_a_metric_has_its_name_and_all_others_begin_with_it() {
        for entry in METRICS {
            assert_eq!((entry.scores[0].name, metric_of(entry.name)), (entry.name, entry.name));
            for (position, kind) in entry.scores.iter().enumerate() {
                assert_eq!(metric_of(kind.name), entry.name);
                assert!(kind.least < kind.greatest, "{}", kind.name);
                assert!(entry.scores[..position].iter().all(|other| other.name != kind.name), "{} twice", kind.name);
                assert_eq!(score_kind(kind.name), Some(kind));
            }
        }
    }

    #[test]
    fn codes_without_factors_are_scored_by_what_needs_none() {
        let codes = Array2::from_shape_fn((30, 3), |(row, latent)| ((row * (latent + 2)) as f64).sin());
        let factors = Array2::zeros((30, 0));
        let data = LabelledCodes::new(codes, factors, FactorSpace::sample(vec![]), Extras::default()).unwrap();
        let all: Vec<(String, Box<dyn Metric>)> =
            METRICS.iter().map(|entry| (entry.name.to_string(), build(entry.name, &Table::new()).unwrap())).collect();
        let scores = score_all(&all, &Subject::new(&data, Seed(1)), Seed(1));
        for name in ["unsupervised", "active_units"] {
            assert!(scores.value(name).is_some(), "{name}");
        }
        for entry in METRICS.iter().filter(|entry| !WITHOUT_FACTORS.contains(&entry.name)) {
            let why = scores.undefined.iter().find(|undefined| undefined.name == entry.name);
            assert_eq!(why.map(|undefined| undefined.reason.as_str()), Some(NO_FACTORS), "{}", entry.name);
        }
    }

    #[test]
    fn what_a_model_is_selected_by_has_a_better_way() {
        let way = |name: &str| headline(name).unwrap().better;
        assert_eq!((way("mig"), way("dto"), way("kl")), (Better::High, Better::Low, Better::Neither));
        assert_eq!((way("unsupervised"), way("udr"), way("fairness")), (Better::Low, Better::High, Better::Low));
        assert_eq!((way("reconstruction"), way("elbo")), (Better::Low, Better::High));
        assert!(headline("migg").unwrap_err().to_string().contains("did you mean \"mig\"?"));
        assert_eq!(score_kind("mig.shape"), None);
    }
}
