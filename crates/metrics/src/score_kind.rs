//! What a metric says of each kind of score that it gives: where it lies, and which way is better.

use std::fmt;

/// One kind of score, with its row in `Entry::scores`. Scores of the whole, of factors and of latents may be of one kind:
/// `mig` and `mig.shape`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreKind {
    /// The name of the score of the whole, for instance `dci.completeness`; where settings are part of names
    /// (`downstream.boosted_trees.100`), what they have in common.
    pub name: &'static str,
    /// At published settings no score is less; minus infinity where there is no such number.
    pub least: f64,
    /// At published settings no score is greater; infinity where there is no such number.
    pub greatest: f64,
    /// Which way is better.
    pub better: Better,
}

/// Which way a score is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The higher the better.
    High,
    /// The lower the better.
    Low,
    /// Neither way by itself: a count, an amount, a position.
    Neither,
}

impl ScoreKind {
    /// `0 to 1`, `from 0`, `up to 1`, or nothing where it may be any number.
    pub fn range(&self) -> String {
        match (self.least.is_finite(), self.greatest.is_finite()) {
            (true, true) => format!("{} to {}", self.least, self.greatest),
            (true, false) => format!("from {}", self.least),
            (false, true) => format!("up to {}", self.greatest),
            (false, false) => String::new(),
        }
    }

    /// Whether it is a share: from 0 to 1.
    pub fn is_share(&self) -> bool {
        (self.least, self.greatest) == (0.0, 1.0)
    }
}

impl Better {
    /// `high`, `low` or `neither`, as in files.
    pub fn word(self) -> &'static str {
        match self {
            Better::High => "high",
            Better::Low => "low",
            Better::Neither => "neither",
        }
    }
}

/// `0 to 1, higher is better`.
impl fmt::Display for ScoreKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let way = match self.better {
            Better::High => "higher is better",
            Better::Low => "lower is better",
            Better::Neither => "neither way is better",
        };
        match self.range() {
            range if range.is_empty() => formatter.write_str(way),
            range => write!(formatter, "{range}, {way}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_in_words() {
        let text = |least, greatest, better| ScoreKind { name: "a", least, greatest, better }.to_string();
        assert_eq!(text(0.0, 1.0, Better::High), "0 to 1, higher is better");
        assert_eq!(text(0.0, f64::INFINITY, Better::Neither), "from 0, neither way is better");
        assert_eq!(text(f64::NEG_INFINITY, 1.0, Better::High), "up to 1, higher is better");
        assert_eq!(text(f64::NEG_INFINITY, f64::INFINITY, Better::Low), "lower is better");
    }
}
