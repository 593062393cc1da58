//! The settings that every dataset takes beside its own, and what they make of it.
//!
//! They are applied in one order: images are resized, get their noise, and are then chosen, so that an image looks the same in
//! every part of a dataset; standardisation comes last, by the constants of the images that are left.

use toml::{Table, Value};

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::noisy::Noisy;
use crate::resized::{MOST_SIZE, Resized};
use crate::settings::{Setting, Values, check_range};
use crate::standardised::Standardised;
use crate::sub_grid::SubGrid;
use crate::subset::Subset;
use crate::told_factors::ToldFactors;

/// The settings that every dataset takes beside its own.
pub const SHARED_SETTINGS: &[Setting] = &[
    Setting {
        name: "size",
        values: Values::Whole(1, MOST_SIZE as u64),
        meaning: "rows and columns that images are resized to; where left out, what the network takes",
    },
    Setting {
        name: "noise",
        values: Values::Number(0.0, 1.0),
        meaning: "size of uniform noise on every pixel, fixed for each image; none where left out",
    },
    Setting { name: "noise_seed", values: Values::Whole(0, u64::MAX), meaning: "decides the noise; 1 where left out" },
    Setting {
        name: "fix",
        values: Values::Words("a table of factors and values, like { shape = 0 } or { pos_y = [5, 25] }"),
        meaning: "factors that are held at a value, numbered from 0, and leave the factor space, or within a first and a last value; none where left out",
    },
    Setting {
        name: "correlate",
        values: Values::Words(
            "a rule like { factors = [\"scale\", \"pos_x\"], sigma = 0.2, seed = 1 }, or band = 0.25",
        ),
        meaning: "keeps images in which two factors, scaled to [0, 1], are close: by chance, or within a band",
    },
    Setting {
        name: "subset",
        values: Values::Words("{ count = 1000, seed = 1 }, or the path of an .npy file of image numbers"),
        meaning: "some of the images; all where left out",
    },
    Setting {
        name: "factors",
        values: Values::Words("a list of names, like [\"shape\", \"scale\"]"),
        meaning: "the factors that are told; the others vary unseen; all where left out",
    },
    Setting {
        name: "continuous",
        values: Values::Words("a list of names, like [\"pos_x\"]"),
        meaning: "factors whose values count as numbers on a line instead of classes; none where left out",
    },
    Setting {
        name: "standardise",
        values: Values::Flag,
        meaning: "whether each channel has its mean taken away and is divided by its deviation; false where left out",
    },
];

/// The shared settings as they were given.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    size: Option<usize>,
    noise: Option<f64>,
    noise_seed: Option<u64>,
    fix: Option<Table>,
    correlate: Option<Table>,
    subset: Option<Value>,
    factors: Option<Vec<String>>,
    continuous: Option<Vec<String>>,
    standardise: bool,
}

impl Shared {
    /// Takes the shared settings out of `settings`; what is left is the dataset's own.
    pub(crate) fn take(settings: &Table) -> Result<(Table, Self)> {
        let mut own = settings.clone();
        let mut take = |name: &str| own.remove(name);
        let shared = Self {
            size: take("size").map(whole_of("size")).transpose()?.map(|size| size as usize),
            noise: take("noise").map(number).transpose()?,
            noise_seed: take("noise_seed").map(whole_of("noise_seed")).transpose()?,
            fix: take("fix").map(table_of("fix", "fix = { shape = 0, scale = 2 }")).transpose()?,
            correlate: take("correlate")
                .map(table_of("correlate", "correlate = { factors = [\"scale\", \"pos_x\"], sigma = 0.2 }"))
                .transpose()?,
            subset: take("subset"),
            factors: take("factors").map(names_of("factors")).transpose()?,
            continuous: take("continuous").map(names_of("continuous")).transpose()?,
            standardise: take("standardise").map(flag).transpose()?.unwrap_or(false),
        };
        if let (Some(seed), None) = (shared.noise_seed, shared.noise) {
            return Err(Error::new(format!("setting \"noise_seed\" is {seed}, but there is no noise"))
                .help("say how much: noise = 0.1"));
        }
        if let Some(size) = shared.size {
            check_range("size", size, 1, MOST_SIZE)?;
        }
        Ok((own, shared))
    }

    /// What was given, as a table; whether pixels are standardised is always said.
    pub(crate) fn to_table(&self) -> Table {
        let names = |names: &Vec<String>| Value::Array(names.iter().cloned().map(Value::String).collect());
        let given = [
            ("size", self.size.map(|size| Value::Integer(size as i64))),
            ("noise", self.noise.map(Value::Float)),
            ("noise_seed", self.noise_seed.map(|seed| Value::Integer(seed as i64))),
            ("fix", self.fix.clone().map(Value::Table)),
            ("correlate", self.correlate.clone().map(Value::Table)),
            ("subset", self.subset.clone()),
            ("factors", self.factors.as_ref().map(names)),
            ("continuous", self.continuous.as_ref().map(names)),
            ("standardise", Some(Value::Boolean(self.standardise))),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
    }

    /// What the settings make of a dataset; `fit` may name a size for images of bytes whose size was not set.
    pub(crate) fn apply(
        self,
        mut dataset: Box<dyn Dataset>,
        fit: &dyn Fn(ImageShape) -> Option<usize>,
    ) -> Result<Box<dyn Dataset>> {
        // Points in space are no pictures, also where they are bytes.
        let is_picture = dataset.holds_bytes() && dataset.image_shape().height * dataset.image_shape().width > 1;
        let fitting = || if is_picture { fit(dataset.image_shape()) } else { None };
        if let Some(size) = self.size.or_else(fitting) {
            let ImageShape { height, width, .. } = dataset.image_shape();
            if (height, width) != (size, size) && !dataset.resize_to(size) {
                dataset = Box::new(Resized::new(dataset, size)?);
            }
        }
        if let Some(noise) = self.noise {
            dataset = Box::new(Noisy::new(dataset, noise, self.noise_seed.unwrap_or(1))?);
        }
        if let Some(fix) = self.fix.filter(|fix| !fix.is_empty()) {
            dataset = Box::new(SubGrid::new(dataset, &fix)?);
        }
        if let Some(correlate) = self.correlate {
            dataset = Box::new(Subset::correlated(dataset, &correlate)?);
        }
        if let Some(subset) = self.subset {
            dataset = Box::new(Subset::drawn(dataset, &subset)?);
        }
        if self.factors.is_some() || self.continuous.is_some() {
            let continuous = self.continuous.unwrap_or_default();
            dataset = Box::new(ToldFactors::new(dataset, self.factors.as_deref(), &continuous)?);
        }
        if self.standardise {
            dataset = Box::new(Standardised::new(dataset)?);
        }
        Ok(dataset)
    }
}

fn wrong(name: &str, found: &Value, help: impl Into<String>) -> Error {
    Error::new(format!("setting \"{name}\" is {found}")).help(help)
}

fn whole_of(name: &str) -> impl Fn(Value) -> Result<u64> + '_ {
    move |value| match value {
        Value::Integer(whole) if whole >= 0 => Ok(whole as u64),
        other => Err(wrong(name, &other, "wanted a whole number of 0 or more")),
    }
}

fn number(value: Value) -> Result<f64> {
    match value {
        Value::Float(number) => Ok(number),
        Value::Integer(whole) => Ok(whole as f64),
        other => Err(wrong("noise", &other, "wanted a number from 0 to 1")),
    }
}

fn flag(value: Value) -> Result<bool> {
    match value {
        Value::Boolean(flag) => Ok(flag),
        other => Err(wrong("standardise", &other, "it takes true or false")),
    }
}

fn table_of<'a>(name: &'a str, example: &'a str) -> impl Fn(Value) -> Result<Table> + 'a {
    move |value| match value {
        Value::Table(table) => Ok(table),
        other => Err(Error::new(format!("setting \"{name}\" is {other}, which is not a table"))
            .help(format!("write it like {example}"))),
    }
}

fn names_of(name: &str) -> impl Fn(Value) -> Result<Vec<String>> + '_ {
    move |value| {
        let names = value.as_array().map(|all| all.iter().map(|name| name.as_str().map(String::from)).collect());
        let names: Option<Option<Vec<String>>> = names;
        names.flatten().ok_or_else(|| wrong(name, &value, "wanted a list of names, like [\"shape\", \"scale\"]"))
    }
}

#[cfg(test)]
mod tests {
    use crate::datasets::{build, build_fitting, complete};

    fn message(settings: &str) -> String {
        build("xy_object", &settings.parse().unwrap()).err().unwrap().to_string()
    }

    #[test]
    fn what_is_not_of_its_type_is_refused() {
        assert_eq!(message("size = 0"), "setting \"size\" is 0\n       wanted 1 to 1024");
        assert!(message("size = 'big'").starts_with("setting \"size\" is \"big\""));
        assert!(message("noise = 'much'").starts_with("setting \"noise\" is \"much\""));
        assert!(message("factors = 'x'").starts_with("setting \"factors\" is \"x\""));
        assert!(message("continuous = [1]").starts_with("setting \"continuous\" is [1]"));
        assert!(message("noise_seed = -1").starts_with("setting \"noise_seed\" is -1"));
        assert!(message("noise_seed = 3").contains("but there is no noise"));
    }

    #[test]
    fn what_is_given_is_written_back() {
        let text =
            "size = 32\nnoise = 0.1\nfix = { x = 1 }\nsubset = { count = 5 }\nfactors = ['y']\nstandardise = true";
        let settings = text.parse().unwrap();
        assert_eq!(complete("xy_object", &settings).unwrap(), settings);
        let dataset = build("xy_object", &settings).unwrap();
        assert_eq!((dataset.image_shape().height, dataset.n_images(), dataset.factors().n_factors()), (32, 5, 1));
    }

    #[test]
    fn a_size_that_is_set_is_not_fitted() {
        let height = |settings: &str, fit: Option<usize>| {
            let settings = settings.parse().unwrap();
            build_fitting("xy_object", &settings, &|_| fit).unwrap().image_shape().height
        };
        assert_eq!([height("", None), height("", Some(16)), height("size = 32", Some(16))], [64, 16, 32]);
    }
}
