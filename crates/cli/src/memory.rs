//! Keeps memory that was used once for the next step.
//!
//! glibc gives large buffers back to the system as soon as they are freed, and a training step frees and takes hundreds
//! of megabytes: fetching the same pages again would take a good part of its time.
#![allow(unsafe_code, reason = "the allocator's settings are a C function")]

/// Tells glibc's allocator to keep what it has. Elsewhere there is nothing to do.
pub fn keep_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: mallopt only sets numbers of the allocator, and no other thread runs yet.
        unsafe {
            libc::mallopt(libc::M_MMAP_MAX, 0);
            libc::mallopt(libc::M_ARENA_MAX, 1);
            libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        }
    }
}
