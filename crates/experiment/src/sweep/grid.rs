//! One grid of a sweep file: settings, each with the values that it goes through.

use toml::{Table, Value};
use unbraid_data::{Error, Result, Seed};

use super::draws::{Distribution, misspelt};

/// A setting by its path, `framework.beta`, and a value.
pub type Assignment = (String, Value);

/// Settings with the values that they go through, every combination of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    /// In the order of their paths, but for the seed: it comes first, and so changes last.
    lists: Vec<(String, Vec<Value>)>,
    drawn: Vec<(String, Distribution)>,
    n_draws: u64,
    draw_seed: u64,
}

impl Grid {
    /// Reads a grid. In it a list is gone through, anything else is set, and a distribution is drawn from.
    pub fn read(mut table: Table) -> Result<Self> {
        let mut whole =
            |key: &str, least: i64| match table.remove(key) {
                None => Ok(None),
                Some(Value::Integer(value)) if value >= least => Ok(Some(value as u64)),
                Some(other) => Err(Error::new(format!("\"{key}\" is {other}"))
                    .help(format!("wanted a whole number of {least} or more"))),
            };
        let (count, draw_seed) = (whole("count", 1)?, whole("draw_seed", 0)?);
        let mut grid = Self { n_draws: count.unwrap_or(1), draw_seed: draw_seed.unwrap_or(1), ..Self::default() };
        grid.read_section("", table)?;
        grid.lists.sort_by(|(one, _), (other, _)| (one != "seed", one).cmp(&(other != "seed", other)));
        match (grid.drawn.first(), count) {
            (Some((path, _)), None) => {
                Err(Error::new(format!("\"{path}\" is drawn at random, but how often is not said"))
                    .help("wanted count = 20, or a list in place of the distribution"))
            }
            (None, Some(count)) => {
                let wanted = "wanted a setting such as framework.beta = { log_uniform = [0.1, 10.0] }, or uniform, whole or choice";
                let meant = grid.paths().find_map(misspelt);
                Err(Error::new(format!("\"count\" is {count}, but nothing is drawn at random"))
                    .help(meant.unwrap_or(wanted.to_string())))
            }
            _ => Ok(grid),
        }
    }

    fn read_section(&mut self, within: &str, table: Table) -> Result<()> {
        for (key, value) in table {
            let path = if within.is_empty() { key } else { format!("{within}.{key}") };
            match value {
                Value::Table(table) => match Distribution::read(&path, &table)? {
                    Some(distribution) => self.drawn.push((path, distribution)),
                    None => self.read_section(&path, table)?,
                },
                Value::Array(values) if values.is_empty() => {
                    return Err(Error::new(format!("\"{path}\" is an empty list"))
                        .help("wanted the values that it goes through; an empty list as a value is [[]]"));
                }
                Value::Array(values) => self.lists.push((path, values)),
                value => self.lists.push((path, vec![value])),
            }
        }
        Ok(())
    }

    /// The first setting of this grid that the other sets too, or sets a part or the whole of, and what that is.
    pub fn first_common_paths<'a>(&'a self, other: &'a Self) -> Option<[&'a str; 2]> {
        let is_within = |part: &str, whole: &str| part.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'));
        let is_common = |one: &str, its: &str| one == its || is_within(one, its) || is_within(its, one);
        self.paths().find_map(|path| Some([path, other.paths().find(|its| is_common(path, its))?]))
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        let lists = self.lists.iter().map(|(path, _)| path.as_str());
        lists.chain(self.drawn.iter().map(|(path, _)| path.as_str()))
    }

    /// How many combinations there are.
    pub fn n_combinations(&self) -> u64 {
        self.lists.iter().fold(self.n_draws, |product, (_, values)| product.saturating_mul(values.len() as u64))
    }

    /// Every combination, the last setting changing first.
    pub fn combinations(&self) -> impl Iterator<Item = Vec<Assignment>> {
        let n_listed = self.n_combinations() / self.n_draws;
        (0..n_listed).flat_map(move |number| {
            (0..self.n_draws).map(move |draw| self.listed(number).into_iter().chain(self.draws(draw)).collect())
        })
    }

    fn listed(&self, number: u64) -> Vec<Assignment> {
        let mut left = number;
        let mut assignments: Vec<Assignment> = Vec::new();
        for (path, values) in self.lists.iter().rev() {
            assignments.push((path.clone(), values[(left % values.len() as u64) as usize].clone()));
            left /= values.len() as u64;
        }
        assignments.reverse();
        assignments
    }

    fn draws(&self, number: u64) -> Vec<Assignment> {
        let draw = |(path, distribution): &(String, Distribution)| {
            (path.clone(), distribution.draw(Seed(self.draw_seed), path, number))
        };
        self.drawn.iter().map(draw).collect()
    }
}

/// Puts assignments into a config. Names come first: where a section gets another name than it has, its other settings, which are those of
/// something else, fall away.
pub fn assign(table: &mut Table, assignments: &[Assignment]) -> Result<()> {
    let mut ordered: Vec<&Assignment> = assignments.iter().collect();
    // Of names those of whole sections: what is named within one falls away with the section's other settings.
    ordered.sort_by_key(|(path, _)| (!path.ends_with(".name"), path.matches('.').count()));
    for (path, value) in ordered {
        let mut keys: Vec<&str> = path.split('.').collect();
        let last = keys.pop().unwrap_or_default();
        let mut place = &mut *table;
        for key in keys {
            let next = place.entry(key).or_insert_with(|| Value::Table(Table::new()));
            if !next.is_table() {
                // A number may become a schedule: `beta = 4.0` in the base, `beta.from` in a grid.
                *next = Value::Table(Table::new());
            }
            place = next.as_table_mut().ok_or_else(|| Error::failure(format!("\"{path}\" cannot be set")))?;
        }
        if last == "name" && place.get("name").is_some_and(|name| name != value) {
            place.clear();
        }
        place.insert(last.to_string(), value.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Result<Grid> {
        Grid::read(text.parse().unwrap())
    }

    fn shown(grid: &Grid) -> Vec<String> {
        let combination = |assignments: Vec<Assignment>| {
            assignments.iter().map(|(path, value)| format!("{path}={value}")).collect::<Vec<_>>().join(" ")
        };
        grid.combinations().map(combination).collect()
    }

    #[test]
    fn lists_are_gone_through_and_the_seed_changes_last() {
        let grid =
            grid("seed = [1, 2]\nframework.beta = [1.0, 4.0]\nframework.name = 'beta_vae'\nmodel.encoder = [[8, 8]]")
                .unwrap();
        assert_eq!(
            shown(&grid),
            [
                "seed=1 framework.beta=1.0 framework.name=\"beta_vae\" model.encoder=[8, 8]",
                "seed=1 framework.beta=4.0 framework.name=\"beta_vae\" model.encoder=[8, 8]",
                "seed=2 framework.beta=1.0 framework.name=\"beta_vae\" model.encoder=[8, 8]",
                "seed=2 framework.beta=4.0 framework.name=\"beta_vae\" model.encoder=[8, 8]",
            ]
        );
    }

    #[test]
    fn more_draws_leave_the_first_as_they_were_and_lists_share_them() {
        let text = |count: u64| format!("count = {count}\nseed = [1, 2]\nframework.beta = {{ uniform = [0, 1] }}");
        let [few, many] = [2, 5].map(|count| shown(&grid(&text(count)).unwrap()));
        assert_eq!((few.len(), many.len()), (4, 10));
        assert_eq!(few[..2], many[..2]);
        assert_eq!(few[0].replace("seed=1", "seed=2"), few[2]);
        assert_ne!(few[0], few[1]);
    }

    #[test]
    fn draws_and_counts_belong_together_and_lists_have_values() {
        let message = |text: &str| grid(text).unwrap_err().to_string();
        assert!(message("framework.beta = { uniform = [0, 1] }").contains("how often is not said"));
        assert!(message("count = 3\nseed = [1]").contains("nothing is drawn at random"));
        assert!(message("seed = []").contains("\"seed\" is an empty list"));
        assert!(message("count = 0").contains("\"count\" is 0"));
    }

    #[test]
    fn two_grids_that_set_the_same_are_told_by_its_path() {
        let common = |one: &str, other: &str| -> Option<[String; 2]> {
            let (one, other) = (grid(one).unwrap(), grid(other).unwrap());
            one.first_common_paths(&other).map(|paths| paths.map(String::from))
        };
        let found = |one: &str, other: &str| Some([one.to_string(), other.to_string()]);
        assert_eq!(common("rows = 5\nseed = 1", "seed = [1, 2]"), found("seed", "seed"));
        assert_eq!(
            common("framework = [{ name = 'ae' }]", "framework.beta = 4.0"),
            found("framework", "framework.beta")
        );
        assert_eq!(
            common("framework.beta.from = 0.0", "framework.beta = [1.0]"),
            found("framework.beta.from", "framework.beta")
        );
        assert_eq!(common("framework.name = 'ae'", "framework.beta = 4.0\nframework.name_of = 1"), None);
    }

    #[test]
    fn what_all_grids_share_outlives_another_name() {
        let mut table: Table = "[framework]\nname = 'beta_vae'\nbeta = 4.0".parse().unwrap();
        let shared = ("framework.reconstruction.name".to_string(), Value::from("bce"));
        let named = ("framework.name".to_string(), Value::from("factor_vae"));
        assign(&mut table, &[shared, named]).unwrap();
        assert_eq!(table, "[framework]\nname = 'factor_vae'\nreconstruction = { name = 'bce' }".parse().unwrap());
    }

    #[test]
    fn another_name_clears_what_belongs_to_the_one_before() {
        let base = "[framework]\nname = 'beta_vae'\nbeta = 4.0\n[training]\nsteps = 5";
        let assigned = |assignments: &[(&str, &str)]| {
            let mut table: Table = base.parse().unwrap();
            let value = |text: &str| format!("v = {text}").parse::<Table>().unwrap()["v"].clone();
            let assignments: Vec<Assignment> =
                assignments.iter().map(|(path, text)| (path.to_string(), value(text))).collect();
            assign(&mut table, &assignments).unwrap();
            table["framework"].to_string()
        };
        let other = assigned(&[("framework.gamma", "10.0"), ("framework.name", "'factor_vae'")]);
        assert_eq!(other, "{ gamma = 10.0, name = \"factor_vae\" }");
        let same = assigned(&[("framework.name", "'beta_vae'")]);
        assert_eq!(same, "{ beta = 4.0, name = \"beta_vae\" }");
        let schedule = assigned(&[("framework.beta.from", "0.0"), ("framework.beta.to", "4.0")]);
        assert_eq!(schedule, "{ beta = { from = 0.0, to = 4.0 }, name = \"beta_vae\" }");
        assert_eq!(assigned(&[("framework", "{ name = 'ae' }")]), "{ name = \"ae\" }");
    }
}
