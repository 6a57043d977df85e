//! What takes longer than a blink is said, with the time since the beginning.

use std::time::Instant;

/// Lines on standard error: standard output is for what a command was asked for.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    began: Instant,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now() }
    }

    /// Something is done.
    pub(crate) fn done(self, what: &str) {
        eprintln!("  {:>5.1} s  {what}", self.seconds());
    }

    pub(crate) fn seconds(self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}
