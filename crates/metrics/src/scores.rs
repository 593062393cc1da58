//! What a metric returns: named numbers, named matrices, and named reasons why a number is not defined.

use ndarray::Array2;
use unbraid_data::LabelledCodes;

/// The outcome of one metric or of several. A name is either in `values` or in `undefined`, never in both.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// Dotted names and finite numbers, in the order in which they should be shown.
    pub values: Vec<(String, f64)>,
    /// Names of scores that are not defined for this input, and why.
    pub undefined: Vec<(String, String)>,
    /// What one has to know to read the numbers: the metric (or `input`, for what holds for many), and a sentence.
    pub notes: Vec<(String, String)>,
    /// The matrices behind the numbers, for those who plot them.
    pub matrices: Vec<Matrix>,
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
        let taken = |name: &str| self.value(name).is_some() || self.undefined.iter().any(|(known, _)| known == name);
        let numbered = (2..).map(|number| format!("{name}.{number}"));
        std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).expect("numbers do not end")
    }

    /// Adds a number; one that is not finite is recorded as undefined instead, so that no table ever shows NaN.
    pub fn with(mut self, name: &str, value: f64) -> Self {
        if value.is_finite() {
            let name = self.free_name(name);
            self.values.push((name, value));
            self
        } else {
            self.without(name, &format!("it came out as {value}"))
        }
    }

    /// Records that `name` is not defined, and why.
    pub fn without(mut self, name: &str, reason: &str) -> Self {
        let name = self.free_name(name);
        self.undefined.push((name, reason.to_string()));
        self
    }

    /// Records that none of `names` is defined, for the same reason.
    pub fn without_all<Name: AsRef<str>>(self, names: impl IntoIterator<Item = Name>, reason: &str) -> Self {
        names.into_iter().fold(self, |scores, name| scores.without(name.as_ref(), reason))
    }

    /// Adds a number, or the reason why there is none.
    pub fn with_outcome<Reason: AsRef<str>>(self, name: &str, outcome: Result<f64, Reason>) -> Self {
        match outcome {
            Ok(value) => self.with(name, value),
            Err(reason) => self.without(name, reason.as_ref()),
        }
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
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
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
        assert_eq!(scores.undefined, [("elbo".to_string(), "it came out as NaN".to_string())]);
    }
}
