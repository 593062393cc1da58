//! The line search of Moré and Thuente 1994, "Line search algorithms with guaranteed sufficient decrease": a step along
//! a direction of descent after which the function is low enough and flat enough.
//!
//! A step is accepted where `f(a) <= f(0) + 0.001 a f'(0)` and `|f'(a)| <= 0.9 |f'(0)|`, the constants of L-BFGS-B
//! (Zhu et al. 1997), or where the bracket around it has become too narrow to go on.

const SUFFICIENT_DECREASE: f64 = 1e-3;
const CURVATURE: f64 = 0.9;
const NARROWEST_BRACKET: f64 = 0.1;
const LONGEST_STEP: f64 = 1e10;

/// The function along the line, at one step.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// How far along the line.
    pub step: f64,
    /// The function's value there.
    pub value: f64,
    /// Its derivative along the line there.
    pub slope: f64,
}

/// A search under way: it is told the function at each step that it proposes, until it accepts one.
#[derive(Debug)]
pub struct LineSearch {
    start: Point,
    /// The best step so far.
    best: Point,
    /// The other end of the bracket around a minimum.
    other: Point,
    is_bracketed: bool,
    /// Whether a step has been seen that is low enough and from where the function rises.
    has_risen: bool,
    least: f64,
    most: f64,
    width: f64,
    width_before: f64,
}

impl LineSearch {
    /// A search that begins where the function has `value` and the negative `slope`, with `first_step` as its first try.
    pub fn new(value: f64, slope: f64, first_step: f64) -> Self {
        let start = Point { step: 0.0, value, slope };
        Self {
            start,
            best: start,
            other: start,
            is_bracketed: false,
            has_risen: false,
            least: 0.0,
            most: 5.0 * first_step,
            width: LONGEST_STEP,
            width_before: 2.0 * LONGEST_STEP,
        }
    }

    /// The next step to try after `tried`, or `None` where `tried` is accepted.
    pub fn after(&mut self, tried: Point) -> Option<f64> {
        let slope_wanted = SUFFICIENT_DECREASE * self.start.slope;
        let value_wanted = self.start.value + tried.step * slope_wanted;
        self.has_risen |= tried.value <= value_wanted && tried.slope >= 0.0;
        if self.accepts(tried, value_wanted, slope_wanted) {
            return None;
        }
        let proposed = if !self.has_risen && tried.value <= self.best.value && tried.value > value_wanted {
            // The step is not low enough yet: search the function less the decrease that is asked of it.
            let lowered = |point: Point, by: f64| Point {
                value: point.value - by * point.step * slope_wanted,
                slope: point.slope - by * slope_wanted,
                ..point
            };
            (self.best, self.other) = (lowered(self.best, 1.0), lowered(self.other, 1.0));
            let proposed = self.narrow(lowered(tried, 1.0));
            (self.best, self.other) = (lowered(self.best, -1.0), lowered(self.other, -1.0));
            proposed
        } else {
            self.narrow(tried)
        };
        Some(self.safeguard(proposed))
    }

    fn accepts(&self, tried: Point, value_wanted: f64, slope_wanted: f64) -> bool {
        let Point { step, value, slope } = tried;
        let is_low = value <= value_wanted;
        let is_stuck = self.is_bracketed
            && (step <= self.least || step >= self.most || self.most - self.least <= NARROWEST_BRACKET * self.most);
        let is_longest = step == LONGEST_STEP && is_low && slope <= slope_wanted;
        let is_shortest = step == 0.0 && (!is_low || slope >= slope_wanted);
        is_stuck || is_longest || is_shortest || (is_low && slope.abs() <= -CURVATURE * self.start.slope)
    }

    /// Keeps the proposed step within bounds, and halves a bracket that does not shrink.
    fn safeguard(&mut self, proposed: f64) -> f64 {
        let mut step = proposed;
        let (best, other) = (self.best.step, self.other.step);
        if self.is_bracketed {
            if (other - best).abs() >= 0.66 * self.width_before {
                step = best + 0.5 * (other - best);
            }
            self.width_before = self.width;
            self.width = (other - best).abs();
            (self.least, self.most) = (best.min(other), best.max(other));
        } else {
            self.least = step + 1.1 * (step - best);
            self.most = step + 4.0 * (step - best);
        }
        step = step.clamp(0.0, LONGEST_STEP);
        let is_spent = self.is_bracketed
            && (step <= self.least || step >= self.most || self.most - self.least <= NARROWEST_BRACKET * self.most);
        if is_spent { best } else { step }
    }

    /// Takes `tried` into the bracket and proposes the next step from cubics and parabolas through its points.
    fn narrow(&mut self, tried: Point) -> f64 {
        let (best, other) = (self.best, self.other);
        let turns = tried.slope * best.slope.signum() < 0.0;
        let proposed = if tried.value > best.value {
            self.is_bracketed = true;
            let cubic = best.step + cubic_share(best, tried) * (tried.step - best.step);
            let parabola = best.step + parabola_share(best, tried) * (tried.step - best.step);
            if (cubic - best.step).abs() < (parabola - best.step).abs() {
                cubic
            } else {
                cubic + (parabola - cubic) / 2.0
            }
        } else if turns {
            self.is_bracketed = true;
            let cubic = tried.step + cubic_share(tried, best) * (best.step - tried.step);
            let secant = secant(best, tried);
            if (cubic - tried.step).abs() > (secant - tried.step).abs() { cubic } else { secant }
        } else if tried.slope.abs() < best.slope.abs() {
            self.flatter(tried)
        } else if self.is_bracketed {
            tried.step + cubic_share(tried, other) * (other.step - tried.step)
        } else if tried.step > best.step {
            self.most
        } else {
            self.least
        };
        if tried.value > best.value {
            self.other = tried;
        } else {
            if turns {
                self.other = best;
            }
            self.best = tried;
        }
        proposed
    }

    /// The proposal where the function is lower, slopes the same way and less so.
    fn flatter(&self, tried: Point) -> f64 {
        let best = self.best;
        let secant = secant(best, tried);
        let theta = theta(best, tried);
        let unit = theta.abs().max(best.slope.abs()).max(tried.slope.abs());
        let square = (theta / unit).powi(2) - (best.slope / unit) * (tried.slope / unit);
        let root = unit * square.max(0.0).sqrt();
        let gamma = if tried.step > best.step { -root } else { root };
        let share = ((gamma - tried.slope) + theta) / ((gamma + (best.slope - tried.slope)) + gamma);
        let cubic = if share < 0.0 && gamma != 0.0 {
            tried.step + share * (best.step - tried.step)
        } else if tried.step > best.step {
            self.most
        } else {
            self.least
        };
        let cubic_is_nearer = (cubic - tried.step).abs() < (secant - tried.step).abs();
        if !self.is_bracketed {
            let further = if cubic_is_nearer { secant } else { cubic };
            return further.max(self.least).min(self.most);
        }
        let nearer = if cubic_is_nearer { cubic } else { secant };
        let limit = tried.step + 0.66 * (self.other.step - tried.step);
        if tried.step > best.step { nearer.min(limit) } else { nearer.max(limit) }
    }
}

fn theta(a: Point, b: Point) -> f64 {
    3.0 * (a.value - b.value) / (b.step - a.step) + a.slope + b.slope
}

/// Where the cubic through both points is least, as a share of the way from `from` to `to`.
fn cubic_share(from: Point, to: Point) -> f64 {
    let theta = theta(from, to);
    let unit = theta.abs().max(from.slope.abs()).max(to.slope.abs());
    let root = unit * ((theta / unit).powi(2) - (from.slope / unit) * (to.slope / unit)).max(0.0).sqrt();
    let gamma = if to.step < from.step { -root } else { root };
    ((gamma - from.slope) + theta) / (((gamma - from.slope) + gamma) + to.slope)
}

/// Where the parabola through both values and the slope at `from` is least, as a share of the way.
fn parabola_share(from: Point, to: Point) -> f64 {
    (from.slope / ((from.value - to.value) / (to.step - from.step) + from.slope)) / 2.0
}

/// Where the line through both slopes is 0.
fn secant(best: Point, tried: Point) -> f64 {
    tried.step + tried.slope / (tried.slope - best.slope) * (best.step - tried.step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps that are tried until one is accepted.
    fn steps(function: impl Fn(f64) -> (f64, f64), first: f64) -> Vec<f64> {
        let (value, slope) = function(0.0);
        let mut search = LineSearch::new(value, slope, first);
        let mut tried = vec![first];
        loop {
            let step = tried[tried.len() - 1];
            let (value, slope) = function(step);
            match search.after(Point { step, value, slope }) {
                Some(step) => tried.push(step),
                None => return tried,
            }
            assert!(tried.len() < 50);
        }
    }

    #[test]
    fn a_step_near_the_minimum_is_accepted_at_once() {
        // (a - 1)^2: at 1.5 the slope is 1, below 0.9 times the 2 at the start.
        assert_eq!(steps(|a| ((a - 1.0).powi(2), 2.0 * (a - 1.0)), 1.5), [1.5]);
    }

    #[test]
    fn a_step_too_far_comes_back_to_the_minimum_of_the_parabola() {
        // At 10 the function is higher than at 0; cubic and parabola both have their minimum at 1.
        let tried = steps(|a| ((a - 1.0).powi(2), 2.0 * (a - 1.0)), 10.0);
        assert_eq!(tried.len(), 2);
        assert!((tried[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_step_too_short_is_lengthened() {
        // The minimum of (a - 100)^2 is within the fivefold of 20, which is reached from 1 by way of 5.
        let tried = steps(|a| ((a - 100.0).powi(2), 2.0 * (a - 100.0)), 1.0);
        assert!(tried[1] > tried[0] && (tried[tried.len() - 1] - 100.0).abs() < 90.0, "{tried:?}");
    }
}
