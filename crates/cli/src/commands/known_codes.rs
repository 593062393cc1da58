//! `unbraid known-codes`: what every metric says of codes whose quality is known.

use ndarray::Array2;
use toml::Table;
use unbraid_data::factor_space::values_of;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{Error, FactorSpace, LabelledCodes, Result, Seed};
use unbraid_experiment::Named;
use unbraid_experiment::measure::measure;
use unbraid_metrics::known_codes::KNOWN_CODES;
use unbraid_metrics::{METRICS, Scores};
use unbraid_report::headlines::headlines;
use unbraid_report::tables::{comparison_markdown, comparison_table};

use super::table_width;
use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

/// A larger grid would take minutes.
const MOST_ROWS: usize = 1_000_000;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many values each factor has, separated by commas; the rows are all combinations
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "3,4,6,8")]
    sizes: Vec<usize>,
    /// Print the table as Markdown, as in docs/metrics.md
    #[arg(long)]
    markdown: bool,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let sizes = &arguments.sizes;
    let n_rows = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    let Some(n_rows) = n_rows.filter(|rows| (1..=MOST_ROWS).contains(rows)) else {
        return Err(Error::new(format!("--sizes {sizes:?} makes no table of 1 to {MOST_ROWS} rows"))
            .help("wanted sizes of 1 or more whose product is the number of rows"));
    };
    let factors = Array2::from_shape_fn((n_rows, sizes.len()), |(row, factor)| values_of(row, sizes)[factor] as f64);
    let names: Vec<String> = (0..sizes.len()).map(|factor| format!("factor_{factor}")).collect();
    let mut columns: Vec<(&str, Scores)> = Vec::new();
    let mut progress = Progress::new();
    progress.stage("measuring", (KNOWN_CODES.len() * METRICS.len()) as u64);
    for known in KNOWN_CODES {
        let space = FactorSpace::grid(names.iter().map(String::as_str).zip(sizes.iter().copied()));
        let data = LabelledCodes::new((known.make)(&factors), factors.clone(), space, Extras::default())?;
        columns.push((known.name, scores_of_all(&data, known.name, &mut progress)?));
    }
    progress.clear();
    let columns: Vec<(&str, &Scores)> = columns.iter().map(|(name, scores)| (*name, scores)).collect();
    if arguments.markdown {
        print(comparison_markdown(&columns).trim_end())?;
    } else {
        print(comparison_table(&columns, table_width()).trim_end())?;
        print("")?;
        for known in KNOWN_CODES {
            print(format!("{:10} {}", known.name, known.about))?;
        }
    }
    Ok(Outcome::Done)
}

/// The scores of every metric, without those of single factors and latents.
fn scores_of_all(data: &LabelledCodes, codes: &str, progress: &mut Progress) -> Result<Scores> {
    let named = METRICS.iter().map(|entry| Named { name: entry.name.to_string(), settings: Table::new() });
    let scores = measure(&named.collect::<Vec<_>>(), data, Seed(1), &mut |metric| {
        progress.next_item(&format!("{metric} of {codes}"));
    })?;
    Ok(headlines(&scores).0)
}
