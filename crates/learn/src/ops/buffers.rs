//! Buffers that go from the forward to the backward pass, and on to the next step: fresh ones would have to be zeroed, and
//! their pages fetched from the system, at every step.

use std::sync::{Arc, Mutex, PoisonError};

/// Most buffers that wait to be used again; a step uses one or two for each half of the network.
const MOST_WAITING: usize = 8;

static WAITING: Mutex<Vec<Vec<f32>>> = Mutex::new(Vec::new());

/// A buffer that is handed on to the next user when the last holder drops it.
#[derive(Debug, Clone)]
pub(super) struct Buffer(Arc<Held>);

#[derive(Debug)]
struct Held(Vec<f32>);

impl Buffer {
    /// A buffer of `len` values, filled in by `fill`, which finds whatever the last user left.
    pub(super) fn filled(len: usize, fill: impl FnOnce(&mut [f32])) -> Self {
        let mut values = take(len);
        values.resize(len, 0.0);
        fill(&mut values);
        Self(Arc::new(Held(values)))
    }

    pub(super) fn values(&self) -> &[f32] {
        &self.0.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_WAITING {
            waiting.push(std::mem::take(&mut self.0));
        }
    }
}

/// The waiting buffer that is closest to `len` in length, or an empty one.
fn take(len: usize) -> Vec<f32> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let closest = (0..waiting.len()).min_by_key(|&index| waiting[index].len().abs_diff(len));
    closest.map_or(Vec::new(), |index| waiting.swap_remove(index))
}
