//! A table of named columns, as CSV and Parquet hold it, turned into labelled codes.
//!
//! Columns called `z0`, `latent_0` or `code_0` and so on are latents, in the order of their numbers; all others are
//! factors. Where the user names the factors, these are the factors, and where no column is then called like a latent, all
//! others are latents. A column of text called `split` tells train rows from test rows. Columns without a name and those
//! in which pandas keeps row numbers are left out. A factor of text takes its distinct values in sorted order, numbered
//! from 0.

use std::collections::BTreeSet;

use ndarray::Array2;
use unbraid_data::error::{Error, Result, did_you_mean};
use unbraid_data::factor_kinds::{FactorKinds, Stated, factor_space, number_texts};
use unbraid_data::labelled_codes::{Extras, LabelledCodes};

/// What the words before a latent's number may be.
const LATENT_WORDS: [&str; 3] = ["z", "latent", "code"];
/// The column that tells train rows from test rows.
const SPLIT: &str = "split";
/// Words that other programs write where a value is missing.
const MISSING: [&str; 6] = ["na", "n/a", "null", "none", "missing", "<na>"];

/// A table as it was read.
pub struct Table {
    /// The columns in order, all of the same length.
    pub columns: Vec<Column>,
    /// How many rows there are.
    pub n_rows: usize,
    /// The line of the file on which each row stands, where rows are lines.
    pub lines: Option<Vec<u64>>,
}

/// A named column.
pub struct Column {
    /// Its name; empty where it has none.
    pub name: String,
    /// Its values; or what is wrong with them, which is told where the column is needed.
    pub values: Result<Values>,
}

/// What a column holds, a value for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers, finite or not.
    Numbers(Vec<f64>),
    /// Text.
    Text(Vec<String>),
    /// Numbers in some rows, text in others: the first row of each, with what it holds.
    Mixed {
        /// The first number.
        number: (usize, String),
        /// The first text.
        text: (usize, String),
    },
}

impl Values {
    /// How many values there are; none where they are mixed, of which only the first are known.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Text(texts) => texts.len(),
            Self::Mixed { .. } => 0,
        }
    }
}

/// What the user says of the columns.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// The columns that are factors, in order; by their names where this is absent.
    pub factors: Option<Vec<String>>,
    /// Which factors are discrete and which continuous.
    pub kinds: FactorKinds,
}

/// Labelled codes, and how the columns were understood.
#[derive(Debug)]
pub struct Understood {
    /// The labelled codes.
    pub data: LabelledCodes,
    /// The columns that are latents, in order.
    pub latents: Vec<String>,
    /// The columns that are neither latents nor factors.
    pub left_out: Vec<String>,
}

impl Table {
    /// The codes and factors of the table.
    pub fn into_labelled_codes(mut self, roles: &Roles) -> Result<Understood> {
        self.check_names()?;
        let assigned = self.assign(roles)?;
        let mut extras = self.take_split(&assigned)?;
        let latents = self.take(&assigned.latents);
        let factors = self.take(&assigned.factors);
        let latent_names: Vec<String> = latents.iter().map(|column| column.name.clone()).collect();
        let codes = latents.into_iter().map(|column| self.numbers(column)).collect::<Result<Vec<_>>>()?;
        let mut stated = Vec::new();
        let mut labels = Vec::new();
        for (position, column) in factors.into_iter().enumerate() {
            let name = column.name.clone();
            if matches!(column.values, Ok(Values::Text(_))) {
                extras.text_factors.push(position);
            }
            let (values, kind) = self.factor(column, &roles.kinds)?;
            labels.push(values);
            stated.push((name, kind));
        }
        if self.n_rows == 0 {
            return Err(Error::new("wanted at least one row, but the table has only the names of its columns"));
        }
        let mut factors = side_by_side(&labels);
        let space = factor_space(&mut factors, stated, &roles.kinds)?;
        let data = LabelledCodes::new(side_by_side(&codes), factors, space, extras)?;
        Ok(Understood { data, latents: latent_names, left_out: assigned.left_out })
    }

    fn check_names(&self) -> Result<()> {
        let mut seen = BTreeSet::new();
        let twice = self.columns.iter().find(|column| !column.name.is_empty() && !seen.insert(&column.name));
        match twice {
            Some(column) => Err(Error::new(format!("two columns are called \"{}\"", column.name))),
            None => Ok(()),
        }
    }

    /// Which columns are what.
    fn assign(&self, roles: &Roles) -> Result<Assigned> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let chosen = roles.factors.as_ref().map(|factors| positions(factors, &names)).transpose()?;
        let is_chosen = |position: usize| chosen.as_ref().is_some_and(|chosen| chosen.contains(&position));
        let split = (0..names.len()).find(|&position| names[position] == SPLIT && !is_chosen(position));
        let split = split.filter(|&position| matches!(self.columns[position].values, Ok(Values::Text(_))));
        let free: Vec<usize> = (0..names.len())
            .filter(|&position| !is_chosen(position) && !holds_row_numbers(names[position]) && Some(position) != split)
            .collect();
        let (mut latents, mut others): (Vec<usize>, Vec<usize>) =
            free.iter().partition(|&&position| latent_number(names[position]).is_some());
        latents.sort_by_key(|&position| latent_number(names[position]));
        let factors = match chosen {
            None => std::mem::take(&mut others),
            Some(chosen) => {
                if latents.is_empty() {
                    latents = std::mem::take(&mut others);
                }
                chosen
            }
        };
        if latents.is_empty() || factors.is_empty() {
            return Err(missing(if latents.is_empty() { "latents" } else { "factors" }, &names));
        }
        let mut is_used = vec![false; names.len()];
        latents.iter().chain(&factors).chain(&split).for_each(|&position| is_used[position] = true);
        let left_out = (0..names.len()).filter(|&position| !is_used[position]);
        let left_out = left_out.map(|position| names[position].to_string()).collect();
        Ok(Assigned { latents, factors, split, left_out })
    }

    fn take(&mut self, positions: &[usize]) -> Vec<Column> {
        let empty = || Column { name: String::new(), values: Ok(Values::Numbers(Vec::new())) };
        positions.iter().map(|&position| std::mem::replace(&mut self.columns[position], empty())).collect()
    }

    /// The rows that the column `split` calls train and test.
    fn take_split(&mut self, assigned: &Assigned) -> Result<Extras> {
        let Some(position) = assigned.split else { return Ok(Extras::default()) };
        let Ok(Values::Text(texts)) = &self.columns[position].values else { return Ok(Extras::default()) };
        if let Some(row) = texts.iter().position(|text| !["train", "test"].contains(&text.as_str())) {
            let found = shortened(&texts[row]);
            return Err(Error::new(format!("column \"{SPLIT}\" holds \"{found}\" {}", self.place(row))).help(
                "wanted train or test; where it is a factor, name it among `--factors`, or give it another name",
            ));
        }
        let rows_called = |name: &str| -> Option<Vec<usize>> {
            let rows: Vec<usize> = (0..texts.len()).filter(|&row| texts[row] == name).collect();
            Some(rows).filter(|rows| !rows.is_empty())
        };
        Ok(Extras { train_rows: rows_called("train"), test_rows: rows_called("test"), ..Extras::default() })
    }

    /// The values of a column that has to hold finite numbers.
    fn numbers(&self, column: Column) -> Result<Vec<f64>> {
        let name = &column.name;
        match column.values? {
            Values::Numbers(numbers) => match numbers.iter().position(|number| !number.is_finite()) {
                Some(row) => Err(Error::new(format!("column \"{name}\" holds {} {}", numbers[row], self.place(row)))
                    .help("every value must be a finite number: leave such rows out")),
                None => Ok(numbers),
            },
            Values::Text(texts) => {
                let found = shortened(texts.first().map_or("", String::as_str));
                Err(Error::new(format!("column \"{name}\" holds text, \"{found}\" {}", self.place(0)))
                    .help("wanted numbers: latents and continuous factors are not text"))
            }
            Values::Mixed { text: (row, text), .. } => {
                let place = self.place(row);
                Err(Error::new(format!("column \"{name}\" holds \"{text}\" {place}, which is no number")).help(
                    "latents and continuous factors need a number in every row: correct it, or leave such rows out",
                ))
            }
        }
    }

    /// The values of a factor, and what is known of them: text is numbered by its distinct values in sorted order.
    fn factor(&self, column: Column, kinds: &FactorKinds) -> Result<(Vec<f64>, Stated)> {
        match column.values {
            Ok(Values::Text(texts)) if !kinds.continuous.contains(&column.name) => {
                let (numbers, size) = number_texts(&texts.iter().map(String::as_str).collect::<Vec<_>>());
                Ok((numbers, Stated::Size(size)))
            }
            Ok(Values::Mixed { number, text }) if !kinds.continuous.contains(&column.name) => {
                Err(self.mixed(&column.name, &number, &text))
            }
            values => Ok((self.numbers(Column { name: column.name, values })?, Stated::Nothing)),
        }
    }

    /// The error for a factor of numbers and text. What came later is likely the mistake, and so is a word for nothing.
    fn mixed(&self, name: &str, number: &(usize, String), text: &(usize, String)) -> Error {
        let is_missing = MISSING.iter().any(|word| word.eq_ignore_ascii_case(&text.1));
        let ((row, found), others) = if is_missing || text.0 > number.0 { (text, "numbers") } else { (number, "text") };
        let place = self.place(*row);
        let mistake = Error::new(format!("column \"{name}\" holds \"{found}\" {place}, and {others} in other rows"));
        mistake.help(if is_missing {
            format!("leave rows without a value out; `--discrete {name}` would take \"{found}\" for a value of its own")
        } else {
            format!("correct it; `--discrete {name}` takes all its values as text")
        })
    }

    fn place(&self, row: usize) -> String {
        match self.lines.as_ref().and_then(|lines| lines.get(row)) {
            Some(line) => format!("on line {line}"),
            None => format!("at row {row}"),
        }
    }
}

/// Positions of the columns by what they are.
struct Assigned {
    latents: Vec<usize>,
    factors: Vec<usize>,
    split: Option<usize>,
    left_out: Vec<String>,
}

/// The first letters of a cell, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST { text.to_string() } else { text.chars().take(MOST).chain(['…']).collect() }
}

/// The number of a latent, where the name is a latent's: `z3`, `latent_3`, `code_3`.
fn latent_number(name: &str) -> Option<u64> {
    let word = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let plain = word.strip_suffix(['_', '.']).unwrap_or(word);
    let is_word = LATENT_WORDS.iter().any(|known| known.eq_ignore_ascii_case(plain));
    name[word.len()..].parse().ok().filter(|_| is_word)
}

/// Whether the column is one in which pandas keeps the numbers of rows.
fn holds_row_numbers(name: &str) -> bool {
    name.is_empty() || name.starts_with("__index_level_") || name == "Unnamed: 0"
}

/// The positions of the columns with these names.
fn positions(wanted: &[String], names: &[&str]) -> Result<Vec<usize>> {
    let mut positions = Vec::new();
    for name in wanted {
        let position = names.iter().position(|column| column == name).ok_or_else(|| {
            let close = did_you_mean(name, names.iter().copied());
            Error::new(format!("no column is called \"{name}\"{close}")).help(columns_found(names))
        })?;
        if positions.contains(&position) {
            return Err(Error::new(format!("column \"{name}\" is named twice among the factors")).help("leave one out"));
        }
        positions.push(position);
    }
    Ok(positions)
}

fn missing(what: &str, names: &[&str]) -> Error {
    let rule = "call the latents z0, z1 and so on (or latent_0, code_0), or name the factors: `--factors shape,scale`";
    Error::new(format!("no column holds {what}; {}", columns_found(names))).help(rule)
}

/// The columns for a message; a table may have thousands.
fn columns_found(names: &[&str]) -> String {
    const MOST: usize = 30;
    let named: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    match named.len() {
        0 => "no column has a name".to_string(),
        1..=MOST => format!("the columns are {}", named.join(", ")),
        many => format!("the columns are {} and {} more", named[..MOST].join(", "), many - MOST),
    }
}

/// Columns `[columns][rows]` as a table `[rows, columns]`.
fn side_by_side(columns: &[Vec<f64>]) -> Array2<f64> {
    let n_rows = columns.first().map_or(0, Vec::len);
    Array2::from_shape_fn((n_rows, columns.len()), |(row, column)| columns[column][row])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(name: &str, values: &[f64]) -> Column {
        Column { name: name.to_string(), values: Ok(Values::Numbers(values.to_vec())) }
    }

    fn texts(name: &str, values: &[&str]) -> Column {
        let values = values.iter().map(ToString::to_string).collect();
        Column { name: name.to_string(), values: Ok(Values::Text(values)) }
    }

    fn understood(columns: Vec<Column>, factors: Option<&[&str]>) -> Result<Understood> {
        let factors = factors.map(|names| names.iter().map(ToString::to_string).collect());
        let roles = Roles { factors, kinds: FactorKinds::default() };
        let n_rows = columns.iter().map(|column| column.values.as_ref().map_or(0, Values::n_rows)).max().unwrap_or(0);
        Table { columns, n_rows, lines: None }.into_labelled_codes(&roles)
    }

    fn message(columns: Vec<Column>, factors: Option<&[&str]>) -> String {
        understood(columns, factors).unwrap_err().to_string()
    }

    #[test]
    fn latents_are_known_by_their_names() {
        for name in ["z0", "z_0", "Z12", "latent_3", "latent3", "code.4", "code_05"] {
            assert!(latent_number(name).is_some(), "{name}");
        }
        for name in ["z", "", "0", "zoom1", "latent_", "x0", "z0a", "code__1", "ü1"] {
            assert_eq!(latent_number(name), None, "{name}");
        }
    }

    #[test]
    fn columns_are_told_apart_and_latents_ordered_by_number() {
        let columns = || {
            vec![
                numbers("", &[0.0, 1.0]),
                numbers("z10", &[0.5, 0.6]),
                numbers("z2", &[1.5, 1.6]),
                numbers("x", &[0.1, 0.2]),
                numbers("id", &[7.0, 8.0]),
            ]
        };
        let all = understood(columns(), None).unwrap();
        assert_eq!(all.data.codes().row(0).to_vec(), [1.5, 0.5]);
        assert_eq!(all.latents, ["z2", "z10"]);
        assert_eq!(all.data.space().names().collect::<Vec<_>>(), ["x", "id"]);
        assert_eq!(all.left_out, [""]);
        let some = understood(columns(), Some(&["x"])).unwrap();
        assert_eq!(some.data.space().names().collect::<Vec<_>>(), ["x"]);
        assert_eq!(some.left_out, ["", "id"]);
        // Where no column is called like a latent, all that are no factors are latents.
        let rest = understood(columns().split_off(3), Some(&["x"])).unwrap();
        assert_eq!((rest.latents.as_slice(), rest.left_out.len()), (&["id".to_string()][..], 0));
    }

    #[test]
    fn text_is_numbered_in_sorted_order_and_a_split_names_rows() {
        let columns = vec![
            numbers("z0", &[1.0, 2.0, 3.0]),
            texts("shape", &["square", "heart", "square"]),
            texts("split", &["train", "test", "train"]),
        ];
        let data = understood(columns, None).unwrap().data;
        assert_eq!(data.factors().column(0).to_vec(), [1.0, 0.0, 1.0]);
        assert_eq!(data.space().factors()[0].size, Some(2));
        assert_eq!(data.extras().train_rows.as_deref(), Some(&[0, 2][..]));
        assert_eq!(data.extras().test_rows.as_deref(), Some(&[1][..]));
    }

    #[test]
    fn factors_that_were_text_are_named() {
        let columns = vec![
            numbers("z0", &[1.0, 2.0]),
            numbers("scale", &[0.0, 1.0]),
            texts("shape", &["square", "heart"]),
            numbers("angle", &[0.5, 1.0]),
            texts("colour", &["red", "red"]),
        ];
        assert_eq!(understood(columns, None).unwrap().data.extras().text_factors, [1, 3]);
    }

    #[test]
    fn tables_that_lack_something_are_refused_with_their_columns() {
        let found = "no column holds latents; the columns are x, y\n       call the latents z0";
        assert!(message(vec![numbers("x", &[1.0]), numbers("y", &[1.0])], None).starts_with(found));
        assert!(message(vec![numbers("z0", &[1.0])], None).starts_with("no column holds factors; the columns are z0"));
        assert!(message(Vec::new(), None).starts_with("no column holds latents; no column has a name"));
        let both = || vec![numbers("z0", &[1.0]), numbers("shape", &[1.0])];
        let unknown = "no column is called \"shap\"; did you mean \"shape\"?\n       the columns are z0, shape";
        assert_eq!(message(both(), Some(&["shap"])), unknown);
        assert!(message(both(), Some(&["shape", "shape"])).starts_with("column \"shape\" is named twice"));
        assert_eq!(message(vec![numbers("x", &[1.0]), numbers("x", &[1.0])], None), "two columns are called \"x\"");
        let nan = vec![numbers("z0", &[1.0, f64::NAN]), numbers("x", &[0.0, 1.0])];
        assert!(message(nan, None).starts_with("column \"z0\" holds NaN at row 1"));
        let text = vec![texts("z0", &["a"]), numbers("x", &[0.0])];
        assert!(message(text, None).starts_with("column \"z0\" holds text, \"a\" at row 0"));
        let split = vec![numbers("z0", &[1.0]), numbers("x", &[0.0]), texts("split", &["dev"])];
        assert!(
            message(split, None).starts_with("column \"split\" holds \"dev\" at row 0\n       wanted train or test")
        );
    }

    #[test]
    fn what_is_wrong_with_a_column_matters_only_where_it_is_needed() {
        let broken = || Column { name: "note".to_string(), values: Err(Error::new("is broken")) };
        assert_eq!(message(vec![numbers("z0", &[1.0]), broken()], None), "is broken");
        assert!(understood(vec![numbers("z0", &[1.0]), numbers("x", &[0.0]), broken()], Some(&["x"])).is_ok());
    }

    #[test]
    fn an_empty_table_is_refused() {
        assert!(message(vec![numbers("z0", &[]), numbers("x", &[])], None).starts_with("wanted at least one row"));
        assert!(message(vec![numbers("z0", &[]), texts("x", &[])], None).starts_with("wanted at least one row"));
    }

    #[test]
    fn numbers_among_text_are_told_by_what_the_column_is_for() {
        let mixed = |name: &str, number: usize, text: (usize, &str)| Column {
            name: name.to_string(),
            values: Ok(Values::Mixed { number: (number, "2".to_string()), text: (text.0, text.1.to_string()) }),
        };
        let latent = message(vec![mixed("z0", 1, (0, "NA")), numbers("x", &[0.0, 1.0])], None);
        assert!(latent.starts_with("column \"z0\" holds \"NA\" at row 0, which is no number\n"), "{latent}");
        assert!(!latent.contains("--discrete"), "{latent}");
        let factor = |number, text| message(vec![numbers("z0", &[0.0, 1.0]), mixed("x", number, text)], None);
        let found = factor(0, (1, "big"));
        assert!(found.starts_with("column \"x\" holds \"big\" at row 1, and numbers in other rows\n"), "{found}");
        let found = factor(1, (0, "big"));
        assert!(found.starts_with("column \"x\" holds \"2\" at row 1, and text in other rows\n"), "{found}");
        let found = factor(1, (0, "NA"));
        assert!(found.starts_with("column \"x\" holds \"NA\" at row 0, and numbers in other rows\n"), "{found}");
        assert!(found.contains("leave rows without a value out"), "{found}");
    }
}
