//! Keeps memory that was used once for the next step.
//!
//! glibc gives large buffers back to the system as soon as they are freed, and a training step frees and takes hundreds
//! of megabytes: a quarter of its time went into fetching the same pages again.

/// Tells glibc's allocator to keep what it has. Elsewhere there is nothing to do.
pub fn keep_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// The largest that glibc accepts for buffers taken from its own heap.
        const LARGEST: libc::c_int = 32 << 20;
        // SAFETY: mallopt only sets numbers of the allocator, and no other thread runs yet.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST);
            libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        }
    }
}
