//! What a run leaves on disk, and every view of it.
