//! The few scores that one looks at first, and how to read each of them.

use unbraid_metrics::{Better, ScoreKind, Scores, headline};

/// A score that a page and the terminal show first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyScore {
    /// Its name among the scores.
    pub name: &'static str,
    /// What it says, in a few words.
    pub says: &'static str,
}

/// How to read most of them.
pub const USUAL: &str = "0 to 1, higher is better";

/// The scores, those of disentangling first.
pub const KEY_SCORES: &[KeyScore] = &[
    KeyScore { name: "mig", says: "how far each factor's best latent is ahead of the next" },
    KeyScore { name: "dci", says: "whether each latent matters for one factor only" },
    KeyScore { name: "cbd", says: "whether one latent follows one factor, both ways" },
    KeyScore { name: "mcc", says: "how closely factors follow the latents matched to them" },
    KeyScore { name: "factor_vae", says: "how often the stillest latent tells which factor was held" },
    KeyScore { name: "axis_ratio", says: "how much of a factor's movement is along one latent" },
    KeyScore { name: "reconstruction", says: "loss of an image, summed over its pixels" },
    KeyScore { name: "kl", says: "how much a code tells of its image, in nats" },
];

/// Those that stand beside them where images have no factors, and nothing is known of disentangling.
const WITHOUT_FACTORS: &[KeyScore] = &[
    KeyScore { name: "active_units", says: "latents whose code varies over the images" },
    KeyScore { name: "unsupervised", says: "how far the latents are from independent of each other" },
];

impl KeyScore {
    /// Where it lies and which way is better: the score that its metric is known by.
    pub fn kind(&self) -> &'static ScoreKind {
        headline(self.name).expect("key scores are those of metrics in the list")
    }

    /// Whether it is from 0 to 1, and higher is better.
    pub fn is_usual(&self) -> bool {
        self.kind().is_share() && self.kind().better == Better::High
    }
}

/// Whether a note is shown with the key scores: one on the input, or on a metric among them.
pub fn is_key(of: &str) -> bool {
    of == "input" || KEY_SCORES.iter().any(|key| key.name == of)
}

/// The key scores that at least one of these has.
pub fn key_scores<'a>(runs: impl IntoIterator<Item = &'a Scores>) -> Vec<&'static KeyScore> {
    let runs: Vec<&Scores> = runs.into_iter().collect();
    let is_defined = |key: &&KeyScore| runs.iter().any(|scores| scores.value(key.name).is_some());
    let is_of_factors = |key: &&KeyScore| !["reconstruction", "kl"].contains(&key.name);
    let mut keys: Vec<&KeyScore> = KEY_SCORES.iter().filter(is_defined).collect();
    if !keys.iter().any(is_of_factors) {
        keys.extend(WITHOUT_FACTORS.iter().filter(is_defined));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_ones_are_told_as_such() {
        for key in KEY_SCORES {
            assert_eq!(key.is_usual(), key.kind().to_string() == USUAL, "{}", key.name);
        }
        let unusual: Vec<&str> = KEY_SCORES.iter().filter(|key| !key.is_usual()).map(|key| key.name).collect();
        assert_eq!(unusual, ["reconstruction", "kl"]);
    }

    #[test]
    fn what_no_run_has_is_left_out() {
        let scores = [Scores::new().with("cbd", 0.5).with("sap", 0.5), Scores::new().with("mig", 0.5)];
        let names: Vec<&str> = key_scores(&scores).iter().map(|key| key.name).collect();
        assert_eq!(names, ["mig", "cbd"]);
    }
}
