//! How long one call may take, and who may end it earlier.

use std::time::{Duration, Instant};

use super::super::Cancel;
use crate::tool::ToolError;

/// Long enough for the blame of an old file in a large history; a third of what the router gives a call, so that a call
/// ends with what it has and not without an answer.
const LONGEST: Duration = Duration::from_secs(20);

/// Checked by every walk.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    cancel: Cancel,
    end: Instant,
}

impl Budget {
    pub(super) fn new(cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), end: Instant::now() + LONGEST }
    }

    /// # Errors
    /// When the call was cancelled or its time is over.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        self.cancel.check()?;
        if self.is_over() {
            return Err(ToolError::TimedOut(format!(
                "the history was not gone through within {} s; ask for less: a path, since, a smaller limit",
                LONGEST.as_secs()
            )));
        }
        Ok(())
    }

    /// Whether the time is over; a walk that has something to show stops with it.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// The time in seconds, for what is said when it is over.
    pub(super) const fn seconds() -> u64 {
        LONGEST.as_secs()
    }
}
