//! Buffers that outlive a call, since fresh pages cost as much as a small layer.

use std::cell::Cell;

thread_local! {
    static BUFFERS: Cell<Vec<Vec<f32>>> = const { Cell::new(Vec::new()) };
}

/// Lends `job` a buffer of `len` values that this thread keeps. The values are whatever the last user left.
///
/// The buffer is taken out of the thread's store for as long as it is in use, so jobs may nest, and a job that rayon
/// starts on this thread while another waits gets a buffer of its own.
pub(crate) fn with_scratch<T>(len: usize, job: impl FnOnce(&mut [f32]) -> T) -> T {
    let mut buffer = take_buffer();
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    let result = job(&mut buffer[..len]);
    keep_buffer(buffer);
    result
}

fn take_buffer() -> Vec<f32> {
    let mut buffers = BUFFERS.take();
    let buffer = buffers.pop().unwrap_or_default();
    BUFFERS.set(buffers);
    buffer
}

fn keep_buffer(buffer: Vec<f32>) {
    let mut buffers = BUFFERS.take();
    buffers.push(buffer);
    BUFFERS.set(buffers);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_jobs_get_buffers_of_their_own() {
        with_scratch(4, |outer| {
            outer.fill(1.0);
            with_scratch(8, |inner| inner.fill(2.0));
            assert_eq!(outer, [1.0; 4]);
        });
    }
}
