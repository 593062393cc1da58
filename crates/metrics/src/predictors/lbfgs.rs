//! Limited-memory BFGS: minimises a smooth function of many unknowns from its values and gradients.
//!
//! Byrd et al. 1995, "A limited memory algorithm for bound constrained optimization", without bounds, in the steps of
//! L-BFGS-B as scikit-learn calls it: 10 pairs of differences, the line search of Moré and Thuente, a first step of
//! length 1. Where a fit stops before it has converged its scores depend on the way there, so the way is followed too.

use std::collections::VecDeque;

use super::line_search::{LineSearch, Point};

const MEMORY: usize = 10;
const MOST_STEPS_ON_A_LINE: usize = 50;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// At most so many iterations.
    pub iterations: usize,
    /// Where no entry of the gradient is larger than this.
    pub gradient: f64,
    /// Where an iteration lowers the function by less than this, relative to its value or 1.
    pub decrease: f64,
}

impl Default for Stop {
    /// As scikit-learn's `LogisticRegression`: 100 iterations, gradient 1e-4, decrease of 64 roundings.
    fn default() -> Self {
        Self { iterations: 100, gradient: 1e-4, decrease: 64.0 * f64::EPSILON }
    }
}

/// The place, value and gradient that the search has come to.
struct Place {
    unknowns: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// A step that was taken and by how much the gradient changed over it.
struct Difference {
    step: Vec<f64>,
    gradient: Vec<f64>,
    product: f64,
}

/// Minimises `function`, which gives its value and gradient, from `start`. Returns the best unknowns found; a function
/// that is no longer finite ends the search where it was before.
pub fn minimise(mut function: impl FnMut(&[f64]) -> (f64, Vec<f64>), start: Vec<f64>, stop: Stop) -> Vec<f64> {
    let (value, gradient) = function(&start);
    let mut place = Place { unknowns: start, value, gradient };
    let mut memory: VecDeque<Difference> = VecDeque::new();
    let mut n_iterations = 0;
    while largest(&place.gradient) > stop.gradient && n_iterations < stop.iterations {
        let direction = direction(&place.gradient, &memory);
        let first_step = if n_iterations == 0 { 1.0 / dot(&direction, &direction).sqrt() } else { 1.0 };
        let Some((step, next)) = along(&mut function, &place, &direction, first_step) else {
            // A memory that leads nowhere is given up; without one there is nothing left to try.
            if memory.is_empty() {
                break;
            }
            memory.clear();
            continue;
        };
        n_iterations += 1;
        let decrease = place.value - next.value;
        let scale = place.value.abs().max(next.value.abs()).max(1.0);
        if decrease <= stop.decrease * scale {
            return next.unknowns;
        }
        remember(&mut memory, &place, &next, &direction, step);
        place = next;
    }
    place.unknowns
}

/// A step along the direction that the line search accepts; `None` where it finds none.
fn along(
    function: &mut impl FnMut(&[f64]) -> (f64, Vec<f64>),
    from: &Place,
    direction: &[f64],
    first_step: f64,
) -> Option<(f64, Place)> {
    let slope = dot(&from.gradient, direction);
    if slope.is_nan() || slope >= 0.0 {
        return None;
    }
    let mut search = LineSearch::new(from.value, slope, first_step);
    let mut step = first_step;
    for _ in 0..MOST_STEPS_ON_A_LINE {
        let unknowns: Vec<f64> = from.unknowns.iter().zip(direction).map(|(x, d)| x + step * d).collect();
        let (value, gradient) = function(&unknowns);
        let slope = dot(&gradient, direction);
        if !value.is_finite() || !slope.is_finite() {
            return None;
        }
        match search.after(Point { step, value, slope }) {
            Some(next) => step = next,
            None => return Some((step, Place { unknowns, value, gradient })),
        }
    }
    None
}

/// Keeps the differences of the latest iterations; one along which the gradient does not grow would spoil the memory.
fn remember(memory: &mut VecDeque<Difference>, before: &Place, after: &Place, direction: &[f64], step: f64) {
    let taken: Vec<f64> = direction.iter().map(|d| step * d).collect();
    let gradient: Vec<f64> = after.gradient.iter().zip(&before.gradient).map(|(a, b)| a - b).collect();
    let product = dot(&taken, &gradient);
    if product > -f64::EPSILON * dot(&before.gradient, &taken) {
        if memory.len() == MEMORY {
            memory.pop_front();
        }
        memory.push_back(Difference { step: taken, gradient, product });
    }
}

/// Minus the gradient times the inverse Hessian that the memory stands for (the two loops of Nocedal 1980).
fn direction(gradient: &[f64], memory: &VecDeque<Difference>) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for difference in memory.iter().rev() {
        let share = dot(&difference.step, &direction) / difference.product;
        add(&mut direction, -share, &difference.gradient);
        shares.push(share);
    }
    if let Some(latest) = memory.back() {
        let scale = latest.product / dot(&latest.gradient, &latest.gradient);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for (difference, share) in memory.iter().zip(shares.iter().rev()) {
        let back = dot(&difference.gradient, &direction) / difference.product;
        add(&mut direction, share - back, &difference.step);
    }
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn add(to: &mut [f64], share: f64, of: &[f64]) {
    to.iter_mut().zip(of).for_each(|(x, y)| *x += share * y);
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rosenbrock_is_minimised() {
        // 100 (y - x^2)^2 + (1 - x)^2 has its minimum at (1, 1), at the end of a curved valley.
        let function = |p: &[f64]| {
            let (x, y) = (p[0], p[1]);
            let bend = y - x * x;
            let gradient = vec![-400.0 * x * bend - 2.0 * (1.0 - x), 200.0 * bend];
            (100.0 * bend * bend + (1.0 - x).powi(2), gradient)
        };
        let found = minimise(function, vec![-1.2, 1.0], Stop { gradient: 1e-9, ..Stop::default() });
        assert!((found[0] - 1.0).abs() < 1e-8 && (found[1] - 1.0).abs() < 1e-8, "{found:?}");
    }

    #[test]
    fn a_flat_start_is_left_as_it_is() {
        assert_eq!(minimise(|_| (1.0, vec![0.0]), vec![3.0], Stop::default()), [3.0]);
    }

    #[test]
    fn what_is_not_finite_ends_the_search() {
        assert_eq!(minimise(|_| (f64::NAN, vec![f64::NAN]), vec![3.0], Stop::default()), [3.0]);
    }
}
