//! The few scores that one looks at first, and how to read each of them.

use unbraid_metrics::Scores;

/// A score that a page and the terminal show first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyScore {
    /// Its name among the scores.
    pub name: &'static str,
    /// What it says, in a few words.
    pub says: &'static str,
    /// Where it lies and which way is better.
    pub scale: Scale,
}

/// Where a score lies and which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// From 0 to 1, and 1 is best.
    UpToOne,
    /// A loss: the lower the better.
    Loss,
    /// From 0 up, and neither more nor less is better by itself.
    Amount,
}

/// The scores, those of disentangling first.
pub const KEY_SCORES: &[KeyScore] = &[
    KeyScore { name: "mig", says: "how far each factor's best latent is ahead of the next", scale: Scale::UpToOne },
    KeyScore { name: "dci", says: "whether each latent matters for one factor only", scale: Scale::UpToOne },
    KeyScore { name: "cbd", says: "whether one latent follows one factor, both ways", scale: Scale::UpToOne },
    KeyScore { name: "mcc", says: "how closely factors follow the latents matched to them", scale: Scale::UpToOne },
    KeyScore {
        name: "factor_vae",
        says: "how often the stillest latent tells which factor was held",
        scale: Scale::UpToOne,
    },
    KeyScore { name: "axis_ratio", says: "how much of a factor's movement is along one latent", scale: Scale::UpToOne },
    KeyScore { name: "reconstruction", says: "loss of an image, summed over its pixels", scale: Scale::Loss },
    KeyScore { name: "kl", says: "how much a code tells of its image, in nats", scale: Scale::Amount },
];

impl Scale {
    /// `0 to 1, higher is better`.
    pub fn text(self) -> &'static str {
        match self {
            Scale::UpToOne => "0 to 1, higher is better",
            Scale::Loss => "lower is better",
            Scale::Amount => "from 0, neither way is better",
        }
    }
}

/// Whether a note is shown with the key scores: one on the input, or on a metric among them.
pub fn is_key(of: &str) -> bool {
    of == "input" || KEY_SCORES.iter().any(|key| key.name == of)
}

/// The key scores that at least one of these has.
pub fn key_scores<'a>(runs: impl IntoIterator<Item = &'a Scores>) -> Vec<&'static KeyScore> {
    let runs: Vec<&Scores> = runs.into_iter().collect();
    KEY_SCORES.iter().filter(|key| runs.iter().any(|scores| scores.value(key.name).is_some())).collect()
}

#[cfg(test)]
mod tests {
    use unbraid_metrics::METRICS;

    use super::*;

    #[test]
    fn the_ranges_are_those_of_the_metrics() {
        for key in KEY_SCORES {
            let metric = METRICS.iter().find(|metric| metric.name == key.name).unwrap();
            let (_, least, most) = metric.ranges.iter().find(|(name, ..)| *name == key.name).unwrap();
            let wanted = match key.scale {
                Scale::UpToOne => (0.0, 1.0),
                Scale::Amount => (0.0, f64::INFINITY),
                Scale::Loss => (f64::NEG_INFINITY, f64::INFINITY),
            };
            assert_eq!((*least, *most), wanted, "{}", key.name);
        }
    }

    #[test]
    fn what_no_run_has_is_left_out() {
        let scores = [Scores::new().with("cbd", 0.5).with("sap", 0.5), Scores::new().with("mig", 0.5)];
        let names: Vec<&str> = key_scores(&scores).iter().map(|key| key.name).collect();
        assert_eq!(names, ["mig", "cbd"]);
    }
}
