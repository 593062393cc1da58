//! Several runs: whether latents that move images in directions of their own are the disentangled ones (T4 figure 3.4).

use ndarray::Array1;
use unbraid_data::words::counted;
use unbraid_metrics::statistics::spearman::spearman;

use super::{Inspection, verdict};

/// Fewer runs than this say nothing about an order.
const FEWEST: usize = 3;
/// A rank correlation below this, in size, is hardly one.
const CLEAR: f64 = 0.5;

/// How a score goes with the distance to orthogonality over runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// `ds` or `mig`.
    pub score: &'static str,
    /// Over how many runs, those that have both.
    pub n_runs: usize,
    /// Spearman's rank correlation of the score with DtO of all latents (T4 equation 3.25); below 0 where low DtO goes with a high score. Or why there is none.
    pub with_dto: Result<f64, String>,
    /// The same with DtO of the latents whose codes vary.
    pub with_active_dto: Result<f64, String>,
}

/// What was found in several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Several {
    /// Run by run.
    pub runs: Vec<Inspection>,
    /// Of DS and of MIG.
    pub agreements: Vec<Agreement>,
}

impl Several {
    /// Compares the runs.
    pub fn of(runs: Vec<Inspection>) -> Self {
        let agreements = ["ds", "mig"].map(|score| agreement(&runs, score)).to_vec();
        Self { runs, agreements }
    }

    /// The frameworks in the order in which the runs bring them up.
    pub fn frameworks(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.framework.as_str()) {
                names.push(&run.framework);
            }
        }
        names
    }

    /// DtO of all latents and a score, of each run of a framework that has both and can be compared.
    pub fn points(&self, framework: &str, score: &str) -> Vec<(f64, f64)> {
        let of_framework = self.runs.iter().filter(|run| run.framework == framework);
        of_framework.filter_map(|run| Some((run.compared_dto()?, run.score(score)?))).collect()
    }

    /// Why the runs can hardly be compared, where that is so.
    fn careful(&self) -> Option<String> {
        let differ = |of: &dyn Fn(&Inspection) -> String| self.runs.iter().any(|run| of(run) != of(&self.runs[0]));
        let latents = differ(&|run| run.latents.len().to_string())
            .then_some("runs have different numbers of latents, with which DtO grows whatever was learned");
        let datasets = differ(&|run| format!("{} {:?}", run.dataset, run.images))
            .then_some("they are of different datasets, whose scores differ anyway");
        let told: Vec<&str> = latents.into_iter().chain(datasets).collect();
        (!told.is_empty()).then(|| format!("{}.", told.join("; ")))
    }

    /// The run's name, or its path where another run has the same name.
    fn name_of(&self, run: &Inspection) -> String {
        match self.runs.iter().filter(|other| other.name == run.name).count() {
            1 => run.name.clone(),
            _ => run.path.display().to_string(),
        }
    }

    /// In one sentence, and run by run.
    pub fn verdict(&self) -> super::Verdict {
        let told: Vec<String> = self.agreements.iter().map(told).collect();
        let careful = self.careful().map(|text| ("Careful".to_string(), text));
        let parts =
            careful.into_iter().chain(self.runs.iter().map(|run| (self.name_of(run), verdict(run).summary))).collect();
        super::Verdict { summary: format!("{} runs: {}", self.runs.len(), told.join("; ")), parts }
    }
}

fn told(agreement: &Agreement) -> String {
    let Agreement { score, n_runs, with_dto, .. } = agreement;
    let score = score.to_uppercase();
    match with_dto {
        Err(why) => format!("nothing is known of DtO and {score}, {why}"),
        Ok(correlation) => {
            let how = match *correlation {
                weak if weak.abs() < CLEAR => "hardly goes with DtO",
                // So few runs have it by chance, in one of ten orders or more.
                close if close.abs() <= by_chance(*n_runs) => "may go with DtO by chance alone",
                below if below < 0.0 => "goes with low DtO",
                _ => "goes with high DtO",
            };
            format!("{score} {how} (rank correlation {correlation:.2} over {})", counted(*n_runs, "run"))
                .replace('-', "−")
        }
    }
}

/// The size of a rank correlation that one in ten random orders of so many runs passes: 1.64 standard deviations, each `1 / sqrt(n - 1)`.
fn by_chance(n_runs: usize) -> f64 {
    1.64 / (n_runs.saturating_sub(1) as f64).sqrt()
}

fn agreement(runs: &[Inspection], score: &'static str) -> Agreement {
    let of = |dto: &dyn Fn(&Inspection) -> Option<f64>| -> Vec<(f64, f64)> {
        runs.iter().filter_map(|run| Some((dto(run)?, run.score(score)?))).collect()
    };
    let (all, active) = (of(&Inspection::compared_dto), of(&Inspection::compared_active_dto));
    Agreement { score, n_runs: all.len(), with_dto: rank_correlation(&all), with_active_dto: rank_correlation(&active) }
}

fn rank_correlation(points: &[(f64, f64)]) -> Result<f64, String> {
    if points.len() < FEWEST {
        return Err(format!("with both known of {} runs, and {FEWEST} or more wanted", points.len()));
    }
    let (dto, scores): (Array1<f64>, Array1<f64>) =
        (points.iter().map(|point| point.0).collect(), points.iter().map(|point| point.1).collect());
    let is_constant = |values: &Array1<f64>| values.iter().all(|value| *value == values[0]);
    if is_constant(&dto) || is_constant(&scores) {
        return Err("one of which is the same for all runs".to_string());
    }
    Ok(spearman(&dto, &scores))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_runs_prove_nothing() {
        let words = |correlation: f64, n_runs| {
            told(&Agreement { score: "ds", n_runs, with_dto: Ok(correlation), with_active_dto: Ok(correlation) })
        };
        // 1.64 / sqrt(2) is above 1, 1.64 / sqrt(3) is 0.947 and 1.64 / sqrt(15) is 0.42.
        assert_eq!(words(-1.0, 3), "DS may go with DtO by chance alone (rank correlation −1.00 over 3 runs)");
        assert!(words(-0.8, 4).starts_with("DS may go with DtO by chance alone"));
        assert!(words(-1.0, 4).starts_with("DS goes with low DtO"));
        assert!(words(0.6, 16).starts_with("DS goes with high DtO"));
        assert!(words(-0.45, 16).starts_with("DS hardly goes with DtO"));
    }

    #[test]
    fn ranks_go_against_each_other_where_low_dto_is_good() {
        assert_eq!(rank_correlation(&[(0.1, 0.9), (0.5, 0.5), (1.5, 0.4)]), Ok(-1.0));
        assert!(rank_correlation(&[(0.1, 0.9), (0.5, 0.5)]).unwrap_err().contains("3 or more"));
        assert!(rank_correlation(&[(0.1, 0.9), (0.1, 0.5), (0.1, 0.4)]).unwrap_err().contains("the same"));
    }
}
