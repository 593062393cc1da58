//! The frameworks that T4 trains on original, altered and noisy data, with their main settings (table 4.1) and published scores (tables 4.2 to 4.5), both
//! of dSprites.

use unbraid_data::error::did_you_mean;
use unbraid_data::{Error, Result};

/// A mean over ten seeds and its standard deviation.
pub type Published = (f64, f64);

/// A framework that is trained again.
#[derive(Debug, PartialEq)]
pub struct Retrained {
    /// Its name in configs.
    pub name: &'static str,
    /// Its main setting and the value of table 4.1.
    pub main: Option<(&'static str, f64)>,
    /// Whether it is told the reconstruction loss of the runs. The weakly supervised GAN only draws by its own.
    pub takes_loss: bool,
    /// For each of [`SCORES`] the published numbers of original, altered and noisy dSprites.
    pub published: [Option<[Published; 3]>; 4],
}

/// The scores of tables 4.2 to 4.5.
pub const SCORES: [&str; 4] = ["mig", "dci", "factor_vae", "sap"];
/// The same as headings.
pub const SCORE_TITLES: [&str; 4] = ["MIG", "DCI disentanglement", "FactorVAE score", "SAP"];

/// Those of table 4.2, in its order, and the adaptive VAE, which it does not have.
pub const FRAMEWORKS: &[Retrained] = &[
    Retrained {
        name: "ae",
        main: None,
        takes_loss: true,
        published: [Some([(0.09, 0.06), (0.05, 0.02), (0.06, 0.03)]), None, None, None],
    },
    Retrained {
        name: "beta_vae",
        main: Some(("beta", 8.0)),
        takes_loss: true,
        published: [
            Some([(0.23, 0.08), (0.07, 0.09), (0.14, 0.07)]),
            Some([(0.11, 0.03), (0.08, 0.11), (0.14, 0.07)]),
            Some([(0.47, 0.07), (0.38, 0.13), (0.50, 0.10)]),
            Some([(0.04, 0.01), (0.02, 0.02), (0.03, 0.03)]),
        ],
    },
    Retrained {
        name: "factor_vae",
        main: Some(("gamma", 35.0)),
        takes_loss: true,
        published: [
            Some([(0.27, 0.11), (0.20, 0.12), (0.16, 0.08)]),
            Some([(0.37, 0.10), (0.27, 0.11), (0.24, 0.09)]),
            Some([(0.67, 0.11), (0.62, 0.14), (0.60, 0.11)]),
            Some([(0.07, 0.03), (0.06, 0.03), (0.08, 0.01)]),
        ],
    },
    Retrained {
        name: "beta_tc_vae",
        main: Some(("beta", 6.0)),
        takes_loss: true,
        published: [
            Some([(0.25, 0.08), (0.14, 0.10), (0.20, 0.04)]),
            Some([(0.34, 0.06), (0.19, 0.10), (0.27, 0.03)]),
            Some([(0.68, 0.09), (0.53, 0.15), (0.60, 0.12)]),
            Some([(0.08, 0.01), (0.06, 0.03), (0.05, 0.02)]),
        ],
    },
    Retrained {
        name: "slow_vae",
        main: Some(("beta", 1.0)),
        takes_loss: true,
        published: [
            Some([(0.39, 0.08), (0.27, 0.08), (0.37, 0.09)]),
            Some([(0.47, 0.07), (0.40, 0.07), (0.47, 0.08)]),
            Some([(0.77, 0.03), (0.77, 0.04), (0.76, 0.07)]),
            Some([(0.08, 0.01), (0.07, 0.01), (0.07, 0.01)]),
        ],
    },
    Retrained {
        name: "pcl",
        main: None,
        takes_loss: false,
        published: [
            Some([(0.21, 0.03), (0.24, 0.07), (0.24, 0.07)]),
            Some([(0.28, 0.03), (0.30, 0.03), (0.29, 0.06)]),
            Some([(0.77, 0.09), (0.82, 0.05), (0.77, 0.08)]),
            Some([(0.07, 0.03), (0.10, 0.03), (0.10, 0.03)]),
        ],
    },
    Retrained {
        name: "weak_gan",
        main: None,
        takes_loss: false,
        published: [Some([(0.45, 0.05), (0.36, 0.02), (0.36, 0.01)]), None, None, None],
    },
    Retrained { name: "ada_gvae", main: Some(("beta", 1.0)), takes_loss: true, published: [None; 4] },
];

/// The frameworks with these names, in the order of the table; those of table 4.2 where none is named.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Retrained>> {
    if names.is_empty() {
        return Ok(FRAMEWORKS.iter().filter(|row| row.published[0].is_some()).collect());
    }
    for (position, name) in names.iter().enumerate() {
        if !FRAMEWORKS.iter().any(|row| row.name == name) {
            let names: Vec<&str> = FRAMEWORKS.iter().map(|row| row.name).collect();
            let close = did_you_mean(name, names.iter().copied());
            return Err(Error::new(format!("--frameworks: \"{name}\" is none that is trained again{close}"))
                .help(format!("wanted some of {}", names.join(", "))));
        }
        if names[..position].contains(name) {
            return Err(Error::new(format!("framework \"{name}\" is named twice")).help("leave one out"));
        }
    }
    Ok(FRAMEWORKS.iter().filter(|row| names.iter().any(|name| name == row.name)).collect())
}

#[cfg(test)]
mod tests {
    use unbraid_learn::frameworks;

    use super::*;

    #[test]
    fn every_row_is_a_framework_and_has_its_main_setting() {
        for row in FRAMEWORKS {
            let complete = frameworks::complete(row.name, &toml::Table::new()).unwrap();
            assert!(row.main.is_none_or(|(setting, _)| complete.contains_key(setting)), "{}", row.name);
            assert!(!row.takes_loss || complete.contains_key("reconstruction"), "{}", row.name);
        }
    }

    #[test]
    fn table_4_2_is_trained_where_nothing_is_named() {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            chosen(&names).map(|rows| rows.iter().map(|row| row.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), 7);
        assert_eq!(names(&["ada_gvae", "ae"]).unwrap(), ["ae", "ada_gvae"]);
        let message = names(&["beta_vea"]).unwrap_err().to_string();
        assert!(
            message.contains("did you mean \"beta_vae\"?") && message.contains("some of ae, beta_vae,"),
            "{message}"
        );
        assert!(names(&["ae", "ae"]).is_err());
    }
}
