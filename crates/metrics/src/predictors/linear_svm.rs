//! Linear support vector machine on one feature, one class against the others.
//!
//! As scikit-learn's `LinearSVC(C, class_weight="balanced")`, which is liblinear's primal machine with squared hinge loss
//! (Fan et al. 2008): for each class the minimum over weight `w` and intercept `b`, which is penalised like the weight, of
//!
//! `1/2 (w^2 + b^2) + sum_r C_r max(0, 1 - y_r (w x_r + b))^2`, with `y_r` 1 for rows of the class and -1 for others.
//!
//! `C_r` is `C n / (K n_k)` for the `n_k` rows of the class and plain `C` for the others, as liblinear has it; for two
//! classes, which have one machine between them, both are weighted so.
//!
//! With a single feature the rows inside the margin are the first or the last of the sorted ones, so that sums over them
//! are differences of running sums, and a step of Newton's method costs two binary searches. Unlike liblinear, which
//! stops at a tolerance, the method ends at the minimum itself.

use std::cmp::Ordering;

use crate::statistics::classes::Classes;

const MOST_STEPS: usize = 200;
const MOST_HALVINGS: usize = 60;
/// Beyond this the penalty on the weight stands for any larger one; its square is still a number.
const STEEPEST: f64 = 1e150;

/// A fitted classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSvm {
    unit: Unit,
    /// One for two classes, which is for the second of them; else one for each class.
    machines: Vec<Machine>,
}

/// The decision value `slope t + height` for a feature `t` in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Machine {
    slope: f64,
    height: f64,
}

impl Machine {
    fn decision(self, t: f64) -> f64 {
        self.slope * t + self.height
    }

    fn moved(self, step: Machine, share: f64) -> Self {
        Self { slope: self.slope + share * step.slope, height: self.height + share * step.height }
    }
}

/// A feature's middle and size: `t = (x - middle) / size` is at most 1 or so in size on the rows fitted on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    middle: f64,
    size: f64,
}

impl Unit {
    fn of(feature: &[f64]) -> Self {
        let low = feature.iter().fold(f64::INFINITY, |low, &x| low.min(x));
        let high = feature.iter().fold(f64::NEG_INFINITY, |high, &x| high.max(x));
        let middle = low / 2.0 + high / 2.0;
        let size = high / 2.0 - low / 2.0;
        // A feature that does not move is measured by how far from 0 it is, which keeps the penalty's numbers small.
        Self { middle, size: if size > 0.0 { size } else { middle.abs().max(1.0) } }
    }

    fn measure(self, x: f64) -> f64 {
        let halves = x / 2.0 - self.middle / 2.0;
        (halves / (self.size / 2.0).max(f64::MIN_POSITIVE)).clamp(-f64::MAX, f64::MAX)
    }

    /// The penalty `1/2 (w^2 + b^2)` for `w = slope / size` and `b = height - slope middle / size`.
    fn penalty(self) -> Penalty {
        let steepness = (1.0 / self.size).min(STEEPEST);
        Penalty { steepness, shift: (self.middle / self.size).clamp(-STEEPEST, STEEPEST) }
    }
}

/// `1/2 ((steepness slope)^2 + (height - shift slope)^2)`
#[derive(Debug, Clone, Copy)]
struct Penalty {
    steepness: f64,
    shift: f64,
}

/// Second derivatives by slope twice, by slope and height, and by height twice.
#[derive(Debug, Clone, Copy)]
struct Quadratic {
    squares: f64,
    products: f64,
    heights: f64,
}

/// Number, sum and sum of squares of some sorted values.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn minus(self, other: Self) -> Self {
        Self { count: self.count - other.count, sum: self.sum - other.sum, squares: self.squares - other.squares }
    }
}

/// Sorted values and their running sums.
#[derive(Debug, Clone)]
struct Sorted {
    values: Vec<f64>,
    /// One longer than the values: the sums before each of them, and of all.
    running: Vec<Sums>,
}

impl Sorted {
    fn new(values: Vec<f64>) -> Self {
        let mut running = vec![Sums::default()];
        for t in &values {
            let last = running[running.len() - 1];
            running.push(Sums { count: last.count + 1.0, sum: last.sum + t, squares: last.squares + t * t });
        }
        Self { values, running }
    }

    /// The sums over the values whose decision is below `bound`.
    fn below(&self, machine: Machine, bound: f64) -> Sums {
        let is_below = |t: &f64| machine.decision(*t) < bound;
        let all = self.running[self.values.len()];
        match machine.slope.partial_cmp(&0.0) {
            Some(Ordering::Less) => {
                let place = self.values.partition_point(|t| !is_below(t));
                all.minus(self.running[place])
            }
            _ => self.running[self.values.partition_point(is_below)],
        }
    }

    /// The sums over the values whose decision is above `bound`.
    fn above(&self, machine: Machine, bound: f64) -> Sums {
        self.below(Machine { slope: -machine.slope, height: -machine.height }, -bound)
    }
}

impl LinearSvm {
    /// Fits one `feature` to the classes of its rows, each of which occurs, and at least two.
    pub fn fit(feature: &[f64], classes: &Classes, c: f64) -> Self {
        let unit = Unit::of(feature);
        let measured: Vec<f64> = feature.iter().map(|&x| unit.measure(x)).collect();
        let mut order: Vec<usize> = (0..feature.len()).collect();
        order.sort_by(|&a, &b| measured[a].total_cmp(&measured[b]));
        Self::fit_sorted(unit, &measured, &order, classes, c)
    }

    fn fit_sorted(unit: Unit, measured: &[f64], order: &[usize], classes: &Classes, c: f64) -> Self {
        let mut by_class = vec![Vec::new(); classes.n_classes];
        order.iter().for_each(|&row| by_class[classes.of_rows[row]].push(measured[row]));
        let all = Sorted::new(order.iter().map(|&row| measured[row]).collect());
        let balanced = |of_class: &Sorted| {
            c * measured.len() as f64 / (classes.n_classes as f64 * of_class.values.len().max(1) as f64)
        };
        let by_class: Vec<Sorted> = by_class.into_iter().map(Sorted::new).collect();
        let machines = match &by_class[..] {
            [first, second] => {
                let (cost, cost_of_others) = (balanced(second), balanced(first));
                vec![Problem { penalty: unit.penalty(), own: second, all: &all, cost, cost_of_others }.minimise()]
            }
            _ => {
                let problem =
                    |own| Problem { penalty: unit.penalty(), own, all: &all, cost: balanced(own), cost_of_others: c };
                by_class.iter().map(|own| problem(own).minimise()).collect()
            }
        };
        Self { unit, machines }
    }

    /// The class with the largest decision value, the first of several; for two classes the second where it is above 0.
    pub fn predict(&self, x: f64) -> usize {
        let t = self.unit.measure(x);
        if let [machine] = self.machines[..] {
            return usize::from(machine.decision(t) > 0.0);
        }
        let mut best = (0, f64::NEG_INFINITY);
        for (class, machine) in self.machines.iter().enumerate() {
            let decision = machine.decision(t);
            if decision > best.1 {
                best = (class, decision);
            }
        }
        best.0
    }

    /// Weight and intercept of each machine, in the feature's own unit.
    pub fn weights(&self) -> Vec<(f64, f64)> {
        let Unit { middle, size } = self.unit;
        let of_machine = |machine: &Machine| (machine.slope / size, machine.height - machine.slope * (middle / size));
        self.machines.iter().map(of_machine).collect()
    }
}

/// One class against the others.
struct Problem<'a> {
    penalty: Penalty,
    /// The class's rows.
    own: &'a Sorted,
    /// All rows, the class's own among them.
    all: &'a Sorted,
    cost: f64,
    cost_of_others: f64,
}

/// First and second derivatives at some machine.
struct Derivatives {
    slope: f64,
    height: f64,
    second: Quadratic,
    /// The determinant of the second derivatives.
    determinant: f64,
    /// How many rows of the class and how many others are inside the margin.
    n_inside: (f64, f64),
}

impl Problem<'_> {
    /// Newton's method with an exact search along each step; it is done where a whole step moves no row across a margin,
    /// since the function is one parabola between such moves.
    fn minimise(&self) -> Machine {
        let mut machine = Machine { slope: 0.0, height: 0.0 };
        let mut here = self.derivatives(machine);
        for _ in 0..MOST_STEPS {
            let Derivatives { slope, height, second, determinant, .. } = here;
            let step = Machine {
                slope: (second.products * height - second.heights * slope) / determinant,
                height: (second.products * slope - second.squares * height) / determinant,
            };
            if !step.slope.is_finite() || !step.height.is_finite() {
                break;
            }
            let whole = machine.moved(step, 1.0);
            let is_minimum = self.same_rows(machine, whole);
            let next = if is_minimum { whole } else { self.along(machine, step) };
            if is_minimum || next == machine {
                return next;
            }
            machine = next;
            here = self.derivatives(machine);
        }
        machine
    }

    /// Whether both machines have the same rows inside their margins.
    fn same_rows(&self, a: Machine, b: Machine) -> bool {
        // As many rows are the same rows where both slopes point the same way, or where one is flat, which has all or none.
        a.slope * b.slope >= 0.0 && self.derivatives(a).n_inside == self.derivatives(b).n_inside
    }

    /// The whole step where the function still falls at its end, else the part of it after which it no longer does.
    fn along(&self, from: Machine, step: Machine) -> Machine {
        let rises = |share: f64| {
            let Derivatives { slope, height, .. } = self.derivatives(from.moved(step, share));
            slope * step.slope + height * step.height > 0.0
        };
        if !rises(1.0) {
            return from.moved(step, 1.0);
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..MOST_HALVINGS {
            let middle = 0.5 * (low + high);
            if rises(middle) { high = middle } else { low = middle }
        }
        from.moved(step, high)
    }

    fn derivatives(&self, machine: Machine) -> Derivatives {
        let own = self.own.below(machine, 1.0);
        let others = self.all.above(machine, -1.0).minus(self.own.above(machine, -1.0));
        let Penalty { steepness, shift } = self.penalty;
        let steep = steepness * steepness;
        let (a, b) = (2.0 * self.cost, 2.0 * self.cost_of_others);
        let hinges = Sums {
            count: a * own.count + b * others.count,
            sum: a * own.sum + b * others.sum,
            squares: a * own.squares + b * others.squares,
        };
        let second = Quadratic {
            squares: steep + shift * shift + hinges.squares,
            products: hinges.sum - shift,
            heights: 1.0 + hinges.count,
        };
        // The determinant from parts that are none of them negative, since a large shift would drown the difference.
        let spread = hinges.squares * hinges.count - hinges.sum * hinges.sum;
        let shifted = shift * shift * hinges.count + 2.0 * shift * hinges.sum + hinges.squares;
        let Machine { slope, height } = machine;
        Derivatives {
            slope: second.squares * slope + second.products * height - a * own.sum + b * others.sum,
            height: second.products * slope + second.heights * height - a * own.count + b * others.count,
            second,
            determinant: steep * (1.0 + hinges.count) + spread.max(0.0) + shifted.max(0.0),
            n_inside: (own.count, others.count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(of_rows: &[usize]) -> Classes {
        Classes { of_rows: of_rows.to_vec(), n_classes: of_rows.iter().max().unwrap() + 1 }
    }

    fn assert_close(machines: &[(f64, f64)], expected: &[(f64, f64)], tolerance: f64) {
        assert_eq!(machines.len(), expected.len());
        for (machine, expected) in machines.iter().zip(expected) {
            let off = (machine.0 - expected.0).abs().max((machine.1 - expected.1).abs());
            assert!(off < tolerance, "{machines:?}");
        }
    }

    #[test]
    fn two_rows_worked_by_hand() {
        // x = -1 and 1, C = 1, balanced weights 1: 1/2 w^2 + 2 (1 - w)^2 is least at w = 4/5, and b is 0.
        let fitted = LinearSvm::fit(&[-1.0, 1.0], &classes(&[0, 1]), 1.0);
        assert_close(&fitted.weights(), &[(0.8, 0.0)], 1e-12);
        assert_eq!((fitted.predict(-0.1), fitted.predict(0.0), fitted.predict(0.1)), (0, 0, 1));
    }

    #[test]
    fn constant_features_leave_the_intercepts() {
        // x = 0: each class has b alone. 1/2 b^2 + C_k (1 - b)^2 + C m (1 + b)^2 with C = 0.01, rows 2, 1, 1: balanced
        // C_0 = 0.01 * 4/6 on two rows, C_1 = 0.01 * 4/3 on one. b_0 = (4/300 - 2/100) 2 / (1 + 2 (4/300 + 2/100)).
        let fitted = LinearSvm::fit(&[0.0; 4], &classes(&[0, 0, 1, 2]), 0.01);
        let b_0 = 2.0 * (0.04 / 3.0 - 0.02) / (1.0 + 2.0 * (0.04 / 3.0 + 0.02));
        let b_1 = 2.0 * (0.04 / 3.0 - 0.03) / (1.0 + 2.0 * (0.04 / 3.0 + 0.03));
        assert_close(&fitted.weights(), &[(0.0, b_0), (0.0, b_1), (0.0, b_1)], 1e-12);
        assert_eq!(fitted.predict(0.0), 0);
        assert_eq!(fitted.predict(f64::MAX), 0);
    }

    #[test]
    fn any_scale_has_a_minimum() {
        let (of_rows, x) = (classes(&[0, 1, 2, 0, 1, 2]), [0.0, 1.0, 2.0, 0.1, 1.1, 2.1]);
        for scale in [5e-324, 1e-310, 1e-160, 1e-3, 1.0, 1e160, 8e307] {
            for shift in [0.0, 1.0, -1e300] {
                let scaled: Vec<f64> = x.iter().map(|x| (x - 1.0) * scale + shift).collect();
                let fitted = LinearSvm::fit(&scaled, &of_rows, 0.01);
                let is_finite = |machine: &Machine| machine.slope.is_finite() && machine.height.is_finite();
                assert!(fitted.machines.iter().all(is_finite), "{scale} {shift}: {fitted:?}");
                scaled.iter().for_each(|&x| assert!(fitted.predict(x) < 3));
            }
        }
    }
}
