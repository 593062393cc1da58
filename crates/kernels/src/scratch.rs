//! Buffers that outlive a call, since fresh pages cost as much as a small layer.

use std::cell::Cell;
use std::thread::LocalKey;

use rustfft::num_complex::Complex32;

/// The buffers of a thread that nobody uses now.
type Store<T> = LocalKey<Cell<Vec<Vec<T>>>>;

thread_local! {
    static BUFFERS: Cell<Vec<Vec<f32>>> = const { Cell::new(Vec::new()) };
    static COMPLEX_BUFFERS: Cell<Vec<Vec<Complex32>>> = const { Cell::new(Vec::new()) };
}

/// Lends `job` a buffer of `len` values that this thread keeps. The values are whatever the last user left.
///
/// The buffer is taken out of the thread's store for as long as it is in use, so jobs may nest, and a job that rayon
/// starts on this thread while another waits gets a buffer of its own.
pub(crate) fn with_scratch<T>(len: usize, job: impl FnOnce(&mut [f32]) -> T) -> T {
    with_buffer_of(&BUFFERS, len, job)
}

/// The same with complex numbers.
pub(crate) fn with_complex_scratch<T>(len: usize, job: impl FnOnce(&mut [Complex32]) -> T) -> T {
    with_buffer_of(&COMPLEX_BUFFERS, len, job)
}

fn with_buffer_of<N: Clone + Default, T>(store: &'static Store<N>, len: usize, job: impl FnOnce(&mut [N]) -> T) -> T {
    let mut buffer = take_buffer(store);
    if buffer.len() < len {
        buffer.resize(len, N::default());
    }
    let result = job(&mut buffer[..len]);
    keep_buffer(store, buffer);
    result
}

fn take_buffer<N>(store: &'static Store<N>) -> Vec<N> {
    let mut buffers = store.take();
    let buffer = buffers.pop().unwrap_or_default();
    store.set(buffers);
    buffer
}

fn keep_buffer<N>(store: &'static Store<N>, buffer: Vec<N>) {
    let mut buffers = store.take();
    buffers.push(buffer);
    store.set(buffers);
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
