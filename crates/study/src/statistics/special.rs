//! The distributions that tests rest on: Student's t, F and the normal, by the incomplete beta function and continued fractions.
//!
//! They are a page of code; a crate for them would bring dozens of distributions that nothing here needs.

use std::f64::consts::PI;

/// Where continued fractions and series end: the next term changes nothing that a double can hold.
const PRECISION: f64 = 3e-16;
/// More terms than any argument of ours needs.
const MOST_TERMS: usize = 100_000;
/// In place of a divisor that is exactly 0 (Lentz 1976).
const TINY: f64 = 1e-300;

/// The natural logarithm of the gamma function for positive `x`: Lanczos' approximation with g = 7 and nine terms.
pub fn ln_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = TERMS[1..].iter().zip(1..).fold(TERMS[0], |sum, (term, place)| sum + term / (x + f64::from(place)));
    let base = x + G + 0.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}

/// The regularised incomplete beta function `I_x(a, b)` for positive `a` and `b` and `x` in [0, 1] (DLMF 8.17.22). It takes `1 - x` beside `x`,
/// of which a number close to 1 would keep few digits.
pub fn incomplete_beta(a: f64, b: f64, (x, rest): (f64, f64)) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * rest.ln()).exp();
    // The fraction converges fast below this place, and the other tail is taken above it.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, rest) / b
    }
}

/// The shares that two positive numbers have in their sum.
fn shares(one: f64, other: f64) -> (f64, f64) {
    let sum = one + other;
    (one / sum, other / sum)
}

/// The continued fraction of the incomplete beta function, by Lentz' method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut over = 1.0;
    let mut under = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = under;
    for term in 1..MOST_TERMS {
        let m = term as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for part in [even, odd] {
            under = 1.0 / away_from_zero(1.0 + part * under);
            over = away_from_zero(1.0 + part / over);
            change = under * over;
            value *= change;
        }
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

/// The probability that Student's t with so many degrees of freedom is further from 0 than `t`.
pub fn student_two_sided(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / 2.0, 0.5, shares(degrees, t * t))
}

/// The number that Student's t stays within, on both sides of 0, with probability `level` in (0, 1).
pub fn student_quantile(level: f64, degrees: f64) -> f64 {
    let outside = 1.0 - level;
    let mut high = 1.0;
    while student_two_sided(high, degrees) > outside && high < 1e300 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Halving ends where the two are neighbouring numbers.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if student_two_sided(middle, degrees) > outside { low = middle } else { high = middle }
    }
}

/// The probability that F with these degrees of freedom is above `f`.
pub fn f_above(f: f64, degrees_over: f64, degrees_under: f64) -> f64 {
    incomplete_beta(degrees_under / 2.0, degrees_over / 2.0, shares(degrees_under, degrees_over * f))
}

/// The probability that a standard normal number is further from 0 than `z`.
pub fn normal_two_sided(z: f64) -> f64 {
    let x = z.abs() / 2.0_f64.sqrt();
    if x < 2.0 { 1.0 - error_function_series(x) } else { complementary_fraction(x) }
}

/// `erf(x)` by its series (DLMF 7.6.2), all of whose terms are positive.
fn error_function_series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for place in 1..MOST_TERMS {
        term *= 2.0 * x * x / (2 * place + 1) as f64;
        sum += term;
        if term < sum * PRECISION {
            break;
        }
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

/// `erfc(x)` for large `x` by its continued fraction (DLMF 7.9.1), from the far end.
fn complementary_fraction(x: f64) -> f64 {
    let below = (1..=300).rev().fold(x, |below, term| x + f64::from(term) / 2.0 / below);
    (-x * x).exp() / PI.sqrt() / below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-3), "{found} is not {expected}");
    }

    #[test]
    fn gamma_of_whole_numbers_is_a_factorial() {
        assert_close(ln_gamma(5.0), 24.0_f64.ln());
        assert_close(ln_gamma(0.5), PI.sqrt().ln());
        // 170! by Stirling's series, which is exact to all digits here.
        let n = 171.0_f64;
        let stirling = (n - 0.5) * n.ln() - n + 0.5 * (2.0 * PI).ln() + 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3));
        assert_close(ln_gamma(n), stirling);
    }

    #[test]
    fn beta_has_closed_forms() {
        // I_x(1, b) = 1 - (1 - x)^b and I_x(a, 1) = x^a.
        assert_close(incomplete_beta(1.0, 3.5, (0.3, 0.7)), 1.0 - 0.7_f64.powf(3.5));
        assert_close(incomplete_beta(2.5, 1.0, (0.9, 0.1)), 0.9_f64.powf(2.5));
        assert_eq!([incomplete_beta(2.0, 3.0, (0.0, 1.0)), incomplete_beta(2.0, 3.0, (1.0, 0.0))], [0.0, 1.0]);
    }

    #[test]
    fn students_t_with_one_degree_is_cauchys() {
        // P(|t| > 1) = 1/2, and P(|t| > x) = 1 - 2 atan(x) / pi.
        assert_close(student_two_sided(1.0, 1.0), 0.5);
        assert_close(student_two_sided(12.0, 1.0), 1.0 - 2.0 * 12.0_f64.atan() / PI);
        // tan(0.475 pi)
        assert_close(student_quantile(0.95, 1.0), (0.475 * PI).tan());
    }

    #[test]
    fn tails_of_the_normal_meet() {
        assert_close(normal_two_sided(0.0), 1.0);
        assert_close(normal_two_sided(1.959_963_984_540_054), 0.05);
        // Where one formula gives way to the other.
        let border = 2.0 * 2.0_f64.sqrt();
        assert!((normal_two_sided(border * (1.0 - 1e-12)) - normal_two_sided(border * (1.0 + 1e-12))).abs() < 1e-13);
    }
}
