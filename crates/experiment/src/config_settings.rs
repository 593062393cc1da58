//! What the keys of a config are, take and mean, apart from those of the lists: what `unbraid list config` tells.

use toml::Value;
use unbraid_data::settings::{self, Setting, Values};
use unbraid_data::split::Fractions;

use crate::config::{Config, MOST_LEARNING_RATE};
use crate::log::Log;
use crate::selection::Selection;

/// The keys as `--set` takes them, in the order of a config.
pub const CONFIG_SETTINGS: &[Setting] = &[
    Setting { name: "seed", values: Values::Whole(0, u64::MAX), meaning: "where all randomness of the run comes from" },
    Setting {
        name: "rows",
        values: Values::Whole(1, u64::MAX),
        meaning: "how many images the final scores are of; where left out, all, or all test images of a split",
    },
    Setting {
        name: "rows_seed",
        values: Values::Whole(0, i64::MAX as u64),
        meaning: "which rows these are; the same for every seed, so that runs can be compared",
    },
    Setting {
        name: "dataset.name",
        values: Values::Words("a name; has to be there"),
        meaning: "what is learned from: `unbraid list datasets`",
    },
    Setting {
        name: "split.train",
        values: Values::Number(0.0, 1.0),
        meaning: "share of the images that is learned from; at least one image",
    },
    Setting {
        name: "split.validation",
        values: Values::Number(0.0, 1.0),
        meaning: "share of the images that is scored while training, by [selection]",
    },
    Setting {
        name: "split.test",
        values: Values::Number(0.0, 1.0),
        meaning: "share of the images that the final scores are of; all images where it is 0",
    },
    Setting {
        name: "split.seed",
        values: Values::Whole(0, u64::MAX),
        meaning: "which images belong to which part; the same for every seed of a run",
    },
    Setting {
        name: "sampler.name",
        values: Values::Words("a name"),
        meaning: "which images are seen together: `unbraid list samplers`; the framework's own where left out",
    },
    Setting {
        name: "framework.name",
        values: Values::Words("a name; has to be there"),
        meaning: "what is minimised: `unbraid list frameworks`",
    },
    Setting { name: "model.name", values: Values::Words("a name"), meaning: "the network: `unbraid list models`" },
    Setting {
        name: "optimiser.name",
        values: Values::Words("a name"),
        meaning: "how gradients change the network: `unbraid list optimisers`",
    },
    Setting {
        name: "training.steps",
        values: Values::Whole(1, u64::MAX),
        meaning: "how many batches are learned from",
    },
    Setting {
        name: "training.batch_size",
        values: Values::Whole(1, u64::MAX),
        meaning: "how many examples a batch has; at most the images that are learned from",
    },
    Setting {
        name: "training.learning_rate",
        values: Values::Schedule(0.0, MOST_LEARNING_RATE),
        meaning: "the optimiser's step size",
    },
    Setting {
        name: "training.checkpoint_every",
        values: Values::Whole(1, u64::MAX),
        meaning: "steps between checkpoints",
    },
    Setting {
        name: "selection.metric",
        values: Values::Words("the name of a metric"),
        meaning: "what validation images are scored by while training; needs split.validation",
    },
    Setting {
        name: "selection.every",
        values: Values::Whole(1, u64::MAX),
        meaning: "steps between two scores of the validation images; at most training.steps",
    },
    Setting {
        name: "selection.checkpoint",
        values: Values::OneOf(&["best", "last"]),
        meaning: "which checkpoint the final scores and pictures are of",
    },
    Setting {
        name: "log.tensorboard",
        values: Values::Flag,
        meaning: "whether losses, scores and figures are also written as an event file: `tensorboard --logdir runs`",
    },
    Setting {
        name: "metrics",
        values: Values::Words("[[metrics]] sections, each with a name"),
        meaning: "what is measured at the end: `unbraid list metrics`; all of them where left out",
    },
];

/// What a key of a config is where it is left out; nothing where it has to be there, or follows from the rest of the config.
pub fn config_default(name: &str) -> Option<Value> {
    let (section, key) = name.split_once('.').unwrap_or((name, ""));
    if ["dataset", "framework", "sampler", "metrics"].contains(&section) {
        return None;
    }
    match section {
        "split" => return settings::as_table(&Fractions::default()).remove(key),
        "selection" => return settings::as_table(&Selection::default()).remove(key),
        "log" => return settings::as_table(&Log::default()).remove(key),
        _ => {}
    }
    let config = Config::parse(SHORTEST, &[]).expect("the shortest config is one");
    match config.to_table().remove(section)? {
        Value::Table(mut of_section) => of_section.remove(key),
        value => Some(value),
    }
}

/// All that a config has to say.
const SHORTEST: &str = "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'vae'";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{KEYS, Training};
    use crate::prepare::prepare;

    fn accepts(name: &str, value: &str) -> bool {
        let mut small = vec!["dataset.squares=1".to_string(), "model.name=mlp".to_string()];
        match name.split_once('.') {
            // Validation images are needed, and train images have to be left.
            Some(("selection", _)) => {
                small.extend(["split.validation=0.5", "split.train=0.5", "training.batch_size=1"].map(String::from))
            }
            Some(("split", "validation" | "test")) => {
                small.extend(["split.train=0.5", "training.batch_size=1"].map(String::from))
            }
            _ => {}
        }
        small.push(format!("{name}={value}"));
        Config::parse(SHORTEST, &small).and_then(|config| prepare(&config).map(|_| ())).is_ok()
    }

    #[test]
    fn every_key_is_listed_and_nothing_else() {
        let mut listed: Vec<&str> = CONFIG_SETTINGS.iter().map(|setting| setting.name).collect();
        let mut wanted = Vec::new();
        for key in KEYS {
            match *key {
                "seed" | "rows" | "rows_seed" | "metrics" => wanted.push(key.to_string()),
                "training" => {
                    wanted.extend(settings::as_table(&Training::default()).keys().map(|key| format!("training.{key}")));
                }
                "split" => {
                    wanted.extend(settings::as_table(&Fractions::default()).keys().map(|key| format!("split.{key}")));
                }
                "selection" => {
                    let keys = settings::as_table(&Selection::default());
                    wanted.extend(keys.keys().map(|key| format!("selection.{key}")));
                }
                "log" => wanted.extend(settings::as_table(&Log::default()).keys().map(|key| format!("log.{key}"))),
                section => wanted.push(format!("{section}.name")),
            }
        }
        listed.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(listed, wanted);
    }

    #[test]
    fn what_is_told_of_numbers_is_what_is_taken() {
        for setting in CONFIG_SETTINGS {
            let (least, below) = match setting.values {
                Values::Whole(least, _) => (least.to_string(), (least as i64 - 1).to_string()),
                Values::Schedule(least, most) => {
                    assert!(accepts(setting.name, &format!("{most:?}")), "{}", setting.name);
                    assert!(!accepts(setting.name, &format!("{:?}", most.next_up())), "{}", setting.name);
                    (format!("{least:?}"), format!("{:?}", least.next_down()))
                }
                _ => continue,
            };
            assert!(accepts(setting.name, &least), "{} = {least}", setting.name);
            assert!(!accepts(setting.name, &below), "{} = {below}", setting.name);
        }
    }

    #[test]
    fn defaults_are_those_of_a_config_that_says_nothing_else() {
        assert_eq!(config_default("seed"), Some(Value::Integer(1)));
        assert_eq!(config_default("model.name"), Some(Value::String("conv64".to_string())));
        assert_eq!(config_default("training.learning_rate"), Some(Value::Float(0.001)));
        assert_eq!(
            [config_default("rows"), config_default("dataset.name"), config_default("metrics")],
            [None, None, None]
        );
    }
}
