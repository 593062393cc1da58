//! What a metric returns: named numbers, named matrices, and named reasons why a number is not defined.

use ndarray::Array2;
use unbraid_data::LabelledCodes;

/// The outcome of one metric or of several. A name is either in `values` or in `undefined`, never in both.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// Finite numbers, in the order in which they should be shown.
    pub values: Vec<Score>,
    /// Scores that are not defined for this input, and why.
    pub undefined: Vec<Undefined>,
    /// What one has to know to read the numbers: the metric (or `input`, for what holds for many), and a sentence.
    pub notes: Vec<(String, String)>,
    /// The matrices behind the numbers, for those who plot them.
    pub matrices: Vec<Matrix>,
}

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The name in tables and files, for instance `mig.shape`; no other score of the input has it.
    pub name: String,
    /// The name of its row in the metric's `Entry::scores`, for instance `mig`, also where it is of a factor.
    pub kind: String,
    /// What it is of.
    pub of: ScoreOf,
    /// A finite number.
    pub value: f64,
}

/// One number that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undefined {
    /// As in `Score`.
    pub name: String,
    /// As in `Score`.
    pub kind: String,
    /// As in `Score`.
    pub of: ScoreOf,
    /// Why it is not defined.
    pub reason: String,
}

/// What a score is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreOf {
    /// All codes.
    Whole,
    /// The factor of this name, which may be any text.
    Factor(String),
    /// The latent of this number, from 0.
    Latent(usize),
}

/// A named matrix with a name for each row and column.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Dotted name, for instance `cbd.correlation`.
    pub name: String,
    /// What the rows are, for instance `latent`.
    pub rows: Vec<String>,
    /// What the columns are, for instance factor names.
    pub columns: Vec<String>,
    /// `[rows, columns]`.
    pub values: Array2<f64>,
}

impl Matrix {
    /// A matrix with a row for each latent and a column for each factor of `data`.
    pub fn of_latents_and_factors(name: &str, data: &LabelledCodes, values: Array2<f64>) -> Self {
        let rows = (0..data.n_latents()).map(latent_name).collect();
        let columns = data.space().names().map(str::to_string).collect();
        Self { name: name.to_string(), rows, columns, values }
    }
}

/// The metric that the score called `name` is of. No metric has a point in its name, and the names of all its scores begin
/// with it, so that this is what stands before the first point.
pub fn metric_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(metric, _)| metric)
}

/// How a latent is called in the names of scores and in matrices: `z0`, `z1`, ...
pub fn latent_name(latent: usize) -> String {
    format!("z{latent}")
}

impl Scores {
    /// No scores yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `name`, or the first of `name.2`, `name.3` and so on that no score has yet: a factor may be called like a variant
    /// of the score, and neither may take the other's place.
    fn free_name(&self, name: &str) -> String {
        let taken = |name: &str| self.value(name).is_some() || self.reason(name).is_some();
        let numbered = (2..).map(|number| format!("{name}.{number}"));
        std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).expect("numbers do not end")
    }

    /// Adds a number of the whole input. One that is not finite is recorded as undefined instead, here and below, so that no
    /// table ever shows NaN.
    pub fn with(self, name: &str, value: f64) -> Self {
        self.with_outcome(name, Ok::<f64, &str>(value))
    }

    /// Records that `name`, a score of the whole input, is not defined, and why.
    pub fn without(self, name: &str, reason: &str) -> Self {
        self.with_outcome(name, Err(reason))
    }

    /// Records that none of `names` is defined, for the same reason.
    pub fn without_all<Name: AsRef<str>>(self, names: impl IntoIterator<Item = Name>, reason: &str) -> Self {
        names.into_iter().fold(self, |scores, name| scores.without(name.as_ref(), reason))
    }

    /// Adds a number of the whole input, or the reason why there is none.
    pub fn with_outcome<Reason: AsRef<str>>(self, name: &str, outcome: Result<f64, Reason>) -> Self {
        self.with_score(name, name, ScoreOf::Whole, outcome)
    }

    /// Adds `KIND.FACTOR`, the number of one factor, or the reason why there is none.
    pub fn with_factor<Reason: AsRef<str>>(self, kind: &str, factor: &str, outcome: Result<f64, Reason>) -> Self {
        self.with_score(&format!("{kind}.{factor}"), kind, ScoreOf::Factor(factor.to_string()), outcome)
    }

    /// Adds `KIND.zI`, the number of one latent, or the reason why there is none.
    pub fn with_latent<Reason: AsRef<str>>(self, kind: &str, latent: usize, outcome: Result<f64, Reason>) -> Self {
        self.with_score(&format!("{kind}.{}", latent_name(latent)), kind, ScoreOf::Latent(latent), outcome)
    }

    /// Adds a number, or the reason why there is none, whose name its kind and what it is of do not tell.
    pub fn with_score<Reason: AsRef<str>>(
        mut self,
        name: &str,
        kind: &str,
        of: ScoreOf,
        outcome: Result<f64, Reason>,
    ) -> Self {
        let (name, kind) = (self.free_name(name), kind.to_string());
        match outcome {
            Ok(value) if value.is_finite() => self.values.push(Score { name, kind, of, value }),
            Ok(value) => {
                self.undefined.push(Undefined { name, kind, of, reason: format!("it came out as {value}") });
            }
            Err(reason) => self.undefined.push(Undefined { name, kind, of, reason: reason.as_ref().to_string() }),
        }
        self
    }

    /// Adds a sentence that one has to know to read the numbers of a metric (or of `input`); the same one only once.
    pub fn with_note(mut self, of: &str, note: &str) -> Self {
        self.add_note((of.to_string(), note.to_string()));
        self
    }

    fn add_note(&mut self, note: (String, String)) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds a matrix.
    pub fn with_matrix(mut self, matrix: Matrix) -> Self {
        self.matrices.push(matrix);
        self
    }

    /// The number called `name`, where it is defined.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|score| score.name == name).map(|score| score.value)
    }

    /// Why the number called `name` is not defined, where it is not.
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.undefined.iter().find(|score| score.name == name).map(|score| score.reason.as_str())
    }

    /// Adds all that `other` holds.
    pub fn extend(&mut self, other: Scores) {
        self.values.extend(other.values);
        self.undefined.extend(other.undefined);
        self.matrices.extend(other.matrices);
        other.notes.into_iter().for_each(|note| self.add_note(note));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_kept_once() {
        let noted = || Scores::new().with_note("input", "few rows");
        let mut scores = noted();
        scores.extend(noted().with_note("sap", "few rows"));
        let expected = [("input", "few rows"), ("sap", "few rows")].map(|(of, note)| (of.into(), note.into()));
        assert_eq!(scores.notes, expected);
    }

    #[test]
    fn what_is_not_finite_is_undefined() {
        let scores = Scores::new().with("kl", 1.5).with("elbo", f64::NAN);
        assert_eq!(scores.value("kl"), Some(1.5));
        assert_eq!(scores.value("elbo"), None);
        assert_eq!(scores.reason("elbo"), Some("it came out as NaN"));
    }
}
