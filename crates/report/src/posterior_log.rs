//! `posteriors.csv`: what the posteriors of some images were like at each checkpoint of a run.

use unbraid_data::{Error, Result};

const COLUMNS: [&str; 4] = ["step", "kl", "kl_polarized", "relative_error"];

/// A relative error below which a model is polarized (T4 3.3.2).
pub const POLARIZED_BELOW: f64 = 0.03;

/// The posteriors after one step.
#[derive(Debug, Clone, PartialEq)]
pub struct PosteriorRow {
    /// The step.
    pub step: u64,
    /// The mean divergence from the prior.
    pub kl: f64,
    /// The same where latents count as wholly active or passive (T4 equation 3.5).
    pub kl_polarized: f64,
    /// Their relative difference (T4 equation 3.38); none where there is no divergence.
    pub relative_error: Option<f64>,
    /// For each latent the standard deviation of its means over the images.
    pub deviations: Vec<f64>,
    /// For each latent the mean of its posterior variance over the images.
    pub variances: Vec<f64>,
}

/// From when on latents were polarized to the end: the step of the first of the last rows whose errors are all below [`POLARIZED_BELOW`], and the share of all
/// rows that these are (T4 table 3.2); nothing where the last row is not one of them. A row without divergence has no error, and is none.
pub fn polarized_at_end(rows: &[PosteriorRow]) -> Option<(u64, f64)> {
    let is_polarized = |row: &&PosteriorRow| row.relative_error.is_some_and(|error| error < POLARIZED_BELOW);
    let n_polarized = rows.iter().rev().take_while(is_polarized).count();
    let first = rows.get(rows.len() - n_polarized)?;
    Some((first.step, n_polarized as f64 / rows.len() as f64))
}

/// The rows as text: numbers in the shortest form that reads back the same, nothing where there is none.
pub(crate) fn posteriors_csv(rows: &[PosteriorRow]) -> String {
    let n_latents = rows.first().map_or(0, |row| row.deviations.len());
    let of_latents = ["deviation", "variance"]
        .into_iter()
        .flat_map(|name| (0..n_latents).map(move |latent| format!(",{name}_z{latent}")));
    let header: String = [COLUMNS.join(",")].into_iter().chain(of_latents).chain(["\n".to_string()]).collect();
    let lines = rows.iter().map(|row| {
        let error = row.relative_error.map_or(String::new(), |error| format!("{error:?}"));
        let latents: String = row.deviations.iter().chain(&row.variances).map(|value| format!(",{value:?}")).collect();
        format!("{},{:?},{:?},{error}{latents}\n", row.step, row.kl, row.kl_polarized)
    });
    std::iter::once(header).chain(lines).collect()
}

/// Reads what `posteriors_csv` wrote.
pub(crate) fn parse_posteriors(text: &str) -> Result<Vec<PosteriorRow>> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let n_columns = header.split(',').count();
    if !header.starts_with(&COLUMNS.join(",")) || !n_columns.is_multiple_of(2) {
        return Err(Error::new(format!("the first line does not begin with \"{}\"", COLUMNS.join(","))));
    }
    let n_latents = (n_columns - COLUMNS.len()) / 2;
    let row = |(line_index, line): (usize, &str)| {
        let malformed =
            || Error::new(format!("line {} is \"{line}\"", line_index + 2)).help("wanted one number per column");
        let cells: Vec<&str> = line.split(',').collect();
        if cells.len() != n_columns {
            return Err(malformed());
        }
        let number = |cell: &&str| cell.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(malformed);
        let values = cells[COLUMNS.len()..].iter().map(number).collect::<Result<Vec<f64>>>()?;
        Ok(PosteriorRow {
            step: cells[0].parse().map_err(|_| malformed())?,
            kl: number(&cells[1])?,
            kl_polarized: number(&cells[2])?,
            relative_error: if cells[3].is_empty() { None } else { Some(number(&cells[3])?) },
            deviations: values[..n_latents].to_vec(),
            variances: values[n_latents..].to_vec(),
        })
    };
    lines.enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_training_counts_from_the_last_rise() {
        let found = |errors: &[Option<f64>]| {
            let row = |(index, error): (usize, &Option<f64>)| PosteriorRow {
                step: 100 * (index as u64 + 1),
                kl: 1.0,
                kl_polarized: 1.0,
                relative_error: *error,
                deviations: vec![],
                variances: vec![],
            };
            polarized_at_end(&errors.iter().enumerate().map(row).collect::<Vec<_>>())
        };
        // The fourth of five is too large: one of five is left.
        assert_eq!(found(&[Some(0.5), Some(0.01), Some(0.02), Some(0.03), Some(0.029)]), Some((500, 0.2)));
        assert_eq!(found(&[Some(0.5), Some(0.01), Some(0.01), Some(0.02)]), Some((200, 0.75)));
        assert_eq!(found(&[Some(0.01), None, Some(0.01), Some(0.01)]), Some((300, 0.5)));
        assert_eq!(found(&[Some(0.0); 10]), Some((100, 1.0)));
        for none in [vec![], vec![Some(0.01), Some(0.5)], vec![Some(0.01), Some(0.03)], vec![Some(0.01), None]] {
            assert_eq!(found(&none), None, "{none:?}");
        }
    }

    #[test]
    fn rows_come_back_and_damage_is_named() {
        let row = |step, relative_error| PosteriorRow {
            step,
            kl: 0.1 + 0.2,
            kl_polarized: -1e-9,
            relative_error,
            deviations: vec![1.0, 0.25],
            variances: vec![0.01, 1.0],
        };
        let rows = [row(500, Some(0.03)), row(1000, None)];
        let text = posteriors_csv(&rows);
        let header = "step,kl,kl_polarized,relative_error,deviation_z0,deviation_z1,variance_z0,variance_z1\n";
        assert!(text.starts_with(&format!("{header}500,0.30000000000000004,-1e-9,0.03,1.0,0.25,0.01,1.0\n")), "{text}");
        assert_eq!(parse_posteriors(&text).unwrap(), rows);
        let message = |text: &str| parse_posteriors(text).unwrap_err().to_string();
        assert!(message("step,loss\n").starts_with("the first line does not begin"));
        assert!(message(&format!("{header}500,1.0,NaN,0.1,1,1,1,1\n")).starts_with("line 2 is"));
        assert!(message(&format!("{header}500,1.0,0.9,0.1,1,1,1\n")).starts_with("line 2 is"));
    }
}
