//! The standard normal distribution.

use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::Rng;

/// The number that a standard normal variable stays below with probability `p`, for `p` strictly between 0 and 1, to
/// about 16 digits: Wichura 1988, "Algorithm AS 241: the percentage points of the normal distribution", PPND16.
pub fn normal_quantile(p: f64) -> f64 {
    let from_middle = p - 0.5;
    if from_middle.abs() <= 0.425 {
        let r = 0.180_625 - from_middle * from_middle;
        return from_middle * polynomial(&MIDDLE_OVER, r) / polynomial(&MIDDLE_UNDER, r);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let distance = if r <= 5.0 {
        polynomial(&TAIL_OVER, r - 1.6) / polynomial(&TAIL_UNDER, r - 1.6)
    } else {
        polynomial(&FAR_OVER, r - 5.0) / polynomial(&FAR_UNDER, r - 5.0)
    };
    distance.copysign(from_middle)
}

/// A draw from the standard normal distribution.
pub fn normal_noise(rng: &mut Rng) -> f64 {
    rng.sample(StandardNormal)
}

/// `sum_i coefficients[i] x^i`.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const MIDDLE_OVER: [f64; 8] = [
    3.387_132_872_796_366_5,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_3e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const MIDDLE_UNDER: [f64; 8] = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_659_7e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_854e3,
];
const TAIL_OVER: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const TAIL_UNDER: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const FAR_OVER: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const FAR_UNDER: [f64; 8] = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_7e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;

    #[test]
    fn quantiles_agree_with_those_of_scipy() {
        for (p, expected) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.05, -1.644_853_626_951_472_9),
            (0.001, -3.090_232_306_167_813),
            (1e-12, -7.034_483_825_301_131),
            (1e-300, -37.047_096_299_361_2),
        ] {
            assert!(
                (normal_quantile(p) - expected).abs() < 1e-13 * (1.0 + expected.abs()),
                "{p}: {}",
                normal_quantile(p)
            );
        }
    }

    #[test]
    fn noise_has_mean_0_and_variance_1() {
        let mut rng = Seed(1).stream("noise");
        let draws: Vec<f64> = (0..100_000).map(|_| normal_noise(&mut rng)).collect();
        // Standard errors are 0.0032 and 0.0045.
        assert!((draws.iter().sum::<f64>() / 1e5).abs() < 0.01);
        assert!((draws.iter().map(|draw| draw * draw).sum::<f64>() / 1e5 - 1.0).abs() < 0.015);
    }
}
