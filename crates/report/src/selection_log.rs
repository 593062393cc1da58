//! `selection.csv`: the scores of validation images that a run took while training.

use unbraid_data::{Error, Result};

const HEADER: &str = "step,score,value";

/// One score.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectionRow {
    /// The step after which it was taken.
    pub step: u64,
    /// Its name.
    pub score: String,
    /// The number; none where it was not defined.
    pub value: Option<f64>,
}

/// The rows as text: a number in the shortest form that reads back the same, nothing where there is none.
pub(crate) fn selection_csv(rows: &[SelectionRow]) -> String {
    let lines = rows.iter().map(|row| {
        let value = row.value.map_or(String::new(), |value| format!("{value:?}"));
        format!("{},{},{value}\n", row.step, row.score)
    });
    std::iter::once(format!("{HEADER}\n")).chain(lines).collect()
}

/// Reads what `selection_csv` wrote.
pub(crate) fn parse_selection(text: &str) -> Result<Vec<SelectionRow>> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(Error::new(format!("the first line is not \"{HEADER}\"")));
    }
    let row = |(line_index, line): (usize, &str)| {
        let malformed =
            || Error::new(format!("line {} is \"{line}\"", line_index + 2)).help("wanted a step, a name and a number");
        let [step, score, value] = line.splitn(3, ',').collect::<Vec<_>>()[..] else { return Err(malformed()) };
        let value = match value {
            "" => None,
            number => Some(number.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(malformed)?),
        };
        Ok(SelectionRow { step: step.parse().map_err(|_| malformed())?, score: score.to_string(), value })
    };
    lines.enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_back_and_so_do_those_that_are_not_defined() {
        let row = |step, value| SelectionRow { step, score: "dci.disentanglement".to_string(), value };
        let rows = [row(1000, Some(0.1 + 0.2)), row(2000, None), row(3000, Some(-1e-9))];
        let text = selection_csv(&rows);
        assert!(text.starts_with("step,score,value\n1000,dci.disentanglement,0.30000000000000004\n2000,"), "{text}");
        assert_eq!(parse_selection(&text).unwrap(), rows);
    }

    #[test]
    fn damage_is_named() {
        let message = |text: &str| parse_selection(text).unwrap_err().to_string();
        assert_eq!(message("step,loss\n"), "the first line is not \"step,score,value\"");
        assert!(message("step,score,value\n1000,mig,NaN\n").starts_with("line 2 is \"1000,mig,NaN\""));
        assert!(message("step,score,value\n1000,mig\n").starts_with("line 2 is \"1000,mig\""));
    }
}
