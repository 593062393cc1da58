//! Buffers that go from one step to the next: fresh ones would have to be zeroed, and their pages fetched from the system,
//! at every step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most buffers that wait to be used again: a step needs one for each parameter, and one or two for each half of the
/// network.
const MOST_WAITING: usize = 64;

static WAITING: Mutex<Vec<Vec<f32>>> = Mutex::new(Vec::new());

/// A buffer of `len` values, which are whatever the last user left.
pub(super) fn take(len: usize) -> Vec<f32> {
    let mut buffer = closest(len);
    buffer.resize(len, 0.0);
    buffer
}

/// Keeps a buffer for the next user.
pub(crate) fn give_back(buffer: Vec<f32>) {
    let mut waiting = waiting();
    if waiting.len() < MOST_WAITING {
        waiting.push(buffer);
    }
}

/// The waiting buffer whose capacity is closest to `len`, from `len` to twice as much.
fn closest(len: usize) -> Vec<f32> {
    let mut waiting = waiting();
    let suits = |buffer: &Vec<f32>| buffer.capacity() >= len && buffer.capacity() / 2 <= len;
    let suited = (0..waiting.len()).filter(|&index| suits(&waiting[index]));
    let closest = suited.min_by_key(|&index| waiting[index].capacity());
    closest.map_or(Vec::new(), |index| waiting.swap_remove(index))
}

fn waiting() -> MutexGuard<'static, Vec<Vec<f32>>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer that is given back when the last holder drops it.
#[derive(Debug, Clone)]
pub(super) struct Buffer(Arc<Held>);

#[derive(Debug)]
struct Held(Vec<f32>);

impl Buffer {
    /// A buffer of `len` values, filled in by `fill`.
    pub(super) fn filled(len: usize, fill: impl FnOnce(&mut [f32])) -> Self {
        let mut values = take(len);
        fill(&mut values);
        Self(Arc::new(Held(values)))
    }

    pub(super) fn values(&self) -> &[f32] {
        &self.0.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        give_back(std::mem::take(&mut self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_for_what_is_about_as_long() {
        // A length that no other test asks for.
        let mut first = take(12_345_677);
        first.fill(7.0);
        let place = first.as_ptr();
        give_back(first);
        let shorter = take(5_000_011);
        assert_ne!(shorter.as_ptr(), place);
        let second = take(12_345_601);
        assert_eq!((second.as_ptr(), second.len(), second[0]), (place, 12_345_601, 7.0));
    }
}
