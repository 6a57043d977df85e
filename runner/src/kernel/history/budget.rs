//! How long one call may take, and who may end it earlier.

use std::time::{Duration, Instant};

use super::super::Cancel;
use crate::tool::ToolError;

/// How long a walk goes on: long enough for the blame of an old file in a large history, and a quarter of what the router
/// gives a call, so that the call ends with what it has and not without an answer.
const WALK: Duration = Duration::from_secs(15);
/// How long anything may take: what a walk found has still to be read and shown.
const LONGEST: Duration = Duration::from_secs(20);

/// Checked by every walk.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    cancel: Cancel,
    begin: Instant,
}

impl Budget {
    pub(super) fn new(cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), begin: Instant::now() }
    }

    /// # Errors
    /// When the call was cancelled or its time is over.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        self.cancel.check()?;
        if self.begin.elapsed() >= LONGEST {
            return Err(ToolError::TimedOut(format!(
                "the history was not gone through within {} s; ask for less: a path, since, a smaller limit",
                LONGEST.as_secs()
            )));
        }
        Ok(())
    }

    /// Whether the time for walking is over.
    pub(super) fn is_over(&self) -> bool {
        self.begin.elapsed() >= WALK
    }

    /// The time in seconds, for what is said when it is over.
    pub(super) const fn seconds() -> u64 {
        WALK.as_secs()
    }
}
