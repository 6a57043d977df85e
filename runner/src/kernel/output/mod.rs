//! What the tools that write share: one writes at a time, and `/out` never gets more than the plan allows.
//!
//! The volume's own limit lies beneath this one. Reaching it may end the whole job, so a tool refuses first, with numbers.

mod usage;

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use anchorhold_plan::OUT;

use super::roots::{Destination, PathError, Roots};
use super::{Cancel, display};
use crate::tool::ToolError;

/// How long a write sleeps before it looks again whether another one has ended.
const PAUSE: Duration = Duration::from_millis(2);
/// How often a place is looked for that changed between the look and the write.
const ATTEMPTS: usize = 3;

/// Whose turn it is to write.
#[derive(Debug, Default)]
pub(super) struct Output {
    turn: Mutex<()>,
}

/// Why nothing was written.
pub(super) enum Unwritten {
    /// The place is to blame; if it only changed it is looked for again.
    Place(PathError),
    /// Anything else.
    Refused(ToolError),
}

impl Output {
    /// Writes one file: `prepare` makes its content and an answer of what it finds at the place.
    ///
    /// `prepare` is called again when the place changed meanwhile, three times in all. Another write waits until this one
    /// has ended, or until its call is cancelled.
    pub(super) fn write<'c, A>(
        &self,
        roots: &Roots,
        path: &str,
        cancel: &Cancel,
        prepare: impl Fn(&Destination<'_>) -> Result<(Cow<'c, [u8]>, A), Unwritten>,
    ) -> Result<A, ToolError> {
        let _turn = self.take_turn(cancel)?;
        let once = || -> Result<A, Unwritten> {
            let destination = roots.destination(path)?;
            let (content, answer) = prepare(&destination)?;
            admit(roots, &destination.named, content.len() as u64, cancel)?;
            cancel.check()?;
            destination.replace(&content)?;
            Ok(answer)
        };
        let mut attempt = 1;
        loop {
            match once() {
                Ok(answer) => return Ok(answer),
                Err(Unwritten::Place(PathError::Changed { .. })) if attempt < ATTEMPTS => attempt += 1,
                Err(Unwritten::Place(error)) => return Err(error.into()),
                Err(Unwritten::Refused(error)) => return Err(error),
            }
        }
    }

    fn take_turn(&self, cancel: &Cancel) -> Result<MutexGuard<'_, ()>, ToolError> {
        loop {
            match self.turn.try_lock() {
                Ok(turn) => return Ok(turn),
                // It guards no data that a panic could have left half done.
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            // The deadline of the call sets this flag.
            cancel.check()?;
            std::thread::sleep(PAUSE);
        }
    }
}

/// Refuses what does not fit in `/out`. A file that is replaced counts until it is: for a moment both are there.
fn admit(roots: &Roots, named: &str, new: u64, cancel: &Cancel) -> Result<(), ToolError> {
    let limit = roots.out_limit();
    let held = usage::bytes(roots.out(), cancel)?;
    if held.saturating_add(new) <= limit {
        return Ok(());
    }
    Err(ToolError::LimitReached(format!(
        "{named} was not written: it has {}, {OUT} holds {} and may hold {}; write less, or remove files first",
        display::count(new, "byte", "bytes"),
        display::grouped(held),
        display::grouped(limit),
    )))
}

impl From<PathError> for Unwritten {
    fn from(error: PathError) -> Self {
        Self::Place(error)
    }
}

impl From<ToolError> for Unwritten {
    fn from(error: ToolError) -> Self {
        Self::Refused(error)
    }
}
