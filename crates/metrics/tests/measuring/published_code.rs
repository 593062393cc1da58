//! Metrics against the procedures that papers' authors published, and the other ones in use, on tables that a formula makes.
//! The values were printed by those procedures in Python, with numpy 2.4 and scikit-learn 1.9.1 on the same tables.

use ndarray::Array2;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{FactorSpace, LabelledCodes, Seed};
use unbraid_metrics::{Scores, Subject, build, score_all};

/// Whole numbers that look random, the same in any language: splitmix64 of the number.
fn mixed(number: usize) -> u64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut mixed = (number as u64).wrapping_mul(STEP).wrapping_add(STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A number in [0, 1).
fn unit(number: usize) -> f64 {
    mixed(number) as f64 / 2_f64.powi(64)
}

/// The codes and factors of each row; all rows are fitted and tested on.
fn table<const LATENTS: usize, const FACTORS: usize>(
    sizes: [(&str, usize); FACTORS],
    n_rows: usize,
    codes: impl Fn(usize, [usize; FACTORS]) -> [f64; LATENTS],
) -> LabelledCodes {
    // The last factor goes through its values first.
    let factors_of = |row: usize| {
        let mut left = row;
        let mut factors = [0; FACTORS];
        for (value, (_, size)) in factors.iter_mut().zip(sizes).rev() {
            (*value, left) = (left % size, left / size);
        }
        factors
    };
    let of_rows: Vec<[f64; LATENTS]> = (0..n_rows).map(|row| codes(row, factors_of(row))).collect();
    let codes = Array2::from_shape_fn((n_rows, LATENTS), |(row, latent)| of_rows[row][latent]);
    let factors = Array2::from_shape_fn((n_rows, FACTORS), |(row, factor)| factors_of(row)[factor] as f64);
    let rows: Vec<usize> = (0..n_rows).collect();
    let extras = Extras { train_rows: Some(rows.clone()), test_rows: Some(rows), ..Extras::default() };
    LabelledCodes::new(codes, factors, FactorSpace::grid(sizes), extras).expect("the table is well made")
}

fn scores(metric: &str, settings: &str, data: &LabelledCodes, others: &[&LabelledCodes]) -> Scores {
    let built = build(metric, &settings.parse().expect("settings are TOML")).expect("settings are accepted");
    score_all(&[(metric.to_string(), built)], &Subject::among(data, others, Seed(1)), Seed(1))
}

fn assert_scores(scores: &Scores, expected: &[(&str, f64)], tolerance: f64) {
    for (name, expected) in expected {
        let value = scores.value(name).unwrap_or_else(|| panic!("{name} is not reported: {:?}", scores.undefined));
        println!("{name} {value:.12}, off by {:.1e}", (value - expected).abs());
        assert!((value - expected).abs() < tolerance, "{name} is {value}, wanted {expected}");
    }
}

/// Seven latents of eight uneven values each: three follow a factor, two a mixture, one is noise and one of tiny range. In
/// none, one or two quarters of the rows a latent is noise instead.
fn quantised() -> LabelledCodes {
    const VALUES: [f64; 8] = [-3.0, -2.5, -1.0, -0.2, 0.1, 0.5, 2.0, 7.0];
    const SCALES: [f64; 7] = [1.0, 10.0, 0.5, 3.0, 1.0, 0.001, 1.0];
    const NOISY_QUARTERS: [u64; 7] = [1, 0, 0, 1, 0, 1, 2];
    table([("a", 4), ("b", 5), ("c", 6)], 1920, |row, [a, b, c]| -> [f64; 7] {
        let noise = |latent: usize| (mixed(7 * row + latent) % 8) as usize;
        let levels = [2 * a + noise(0) % 2, b + noise(1) % 4, c + noise(2) / 3, a + b, noise(4), c, (2 * b + c) % 8];
        std::array::from_fn(|latent| {
            let is_noise = mixed(7 * row + latent) / 8 % 4 < NOISY_QUARTERS[latent];
            VALUES[if is_noise { noise(latent) } else { levels[latent] }] * SCALES[latent]
        })
    })
}

#[test]
fn infomec_of_quantised_latents_is_that_of_the_authors() {
    // `compute_infomec` of Hsu et al. 2023 with `discrete_latents=True`, which few values choose, then `False`: there
    // noise against ties moves the second digit of information, so that only its explicitness is a number to compare with.
    let data = quantised();
    let expected = [
        ("infomec.modularity", 0.703_292_031_110),
        ("infomec.compactness", 0.577_187_413_295),
        ("infomec.explicitness", 0.648_588_570_323),
        ("infomec.explicitness.b", 0.508_219_505_441),
    ];
    for settings in ["", "latents = \"discrete\""] {
        assert_scores(&scores("infomec", settings, &data, &[]), &expected, 1e-6);
    }
    let continuous = scores("infomec", "latents = \"continuous\"", &data, &[]);
    assert_scores(&continuous, &[("infomec.explicitness", 0.369_826_097_089)], 1e-6);
}

/// Two models of three factors with eight values each, whose latents mix and correlate: four latents, and three.
fn two_models() -> [LabelledCodes; 2] {
    const SIZES: [(&str, usize); 3] = [("a", 8), ("b", 8), ("c", 8)];
    let noise = |row: usize, place: usize| 4.0 * (unit(16 * row + place) - 0.5);
    let centred = |factors: [usize; 3]| factors.map(|value| value as f64 - 3.5);
    let first = table(SIZES, 512, |row, factors| {
        let [c, b, a] = centred(factors);
        let noise = |place| noise(row, place);
        [a + 0.5 * noise(0), b + 0.3 * a + noise(1), c - b + noise(2), c + 2.0 * noise(3)]
    });
    let second = table(SIZES, 512, |row, factors| {
        let [c, b, a] = centred(factors);
        let noise = |place| noise(row, place);
        [b + 0.5 * noise(4), 0.6 * a - 0.8 * c + noise(5), c + 0.2 * noise(6)]
    });
    [first, second]
}

#[test]
fn completeness_of_the_lasso_is_the_plain_mean_over_factors() {
    // The authors' notebook (Eastwood and Williams 2018) and disentanglement_lib's weights, with scikit-learn's `Lasso`.
    let [data, _] = two_models();
    let parts = [("dci_lasso", 0.418_790_190_047), ("dci_lasso.completeness.a", 0.119_310_710_733)];
    for (settings, completeness) in
        [("", 0.427_510_135_352), ("completeness_weights = \"importance\"", 0.350_181_564_473)]
    {
        let scores = scores("dci_lasso", settings, &data, &[]);
        assert_scores(&scores, &[("dci_lasso.completeness", completeness)], 1e-9);
        assert_scores(&scores, &parts, 1e-9);
    }
}

#[test]
fn udr_counts_every_latent_of_both_models_alike() {
    // Equation 3 of Duan et al. 2020, and `udr_sklearn` of disentanglement_lib, with scikit-learn's `Lasso`.
    let [first, second] = two_models();
    let over_models = "mean_over = \"models\"";
    for (data, other, settings, udr, spearman) in [
        (&first, &second, "", 0.468_938_360_434, 0.402_097_528_561),
        (&first, &second, over_models, 0.463_653_531_259, 0.393_174_924_451),
        (&second, &first, "", 0.326_143_954_703, 0.402_097_528_561),
        (&second, &first, over_models, 0.322_909_609_082, 0.393_174_924_451),
        (&first, &first, "", 0.9, 0.605_397_595_586),
    ] {
        assert_scores(&scores("udr", settings, data, &[other]), &[("udr", udr), ("udr.spearman", spearman)], 1e-9);
    }
}

#[test]
fn irs_takes_values_as_they_are_or_in_bins() {
    // `scalable_disentanglement_score` of disentanglement_lib, on the factors and on what its discretizer with 20 bins makes of
    // them; 25 and 32 values are more than that.
    let data = table([("a", 4), ("b", 25), ("c", 32)], 3200, |row, [a, b, c]| {
        let (a, b, c) = (a as f64, b as f64, c as f64);
        [a + 0.5 * unit(3 * row), b / 8.0 + unit(3 * row + 1), c / 8.0 * (1.0 + a / 4.0) + 0.5 * unit(3 * row + 2)]
    });
    for (settings, expected) in [
        ("", 0.788_164_972_995),
        ("discrete_factors = \"bins\"", 0.781_471_004_677),
        ("quantile = 1.0", 0.785_087_129_689),
        ("quantile = 1.0\ndiscrete_factors = \"bins\"", 0.776_219_051_241),
    ] {
        assert_scores(&scores("irs", settings, &data, &[]), &[("irs", expected)], 1e-9);
    }
}
