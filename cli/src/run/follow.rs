//! Follows the record of a run as it happens.

use std::fs::File;
use std::io::{self, Write};

use anchorhold_plan::RunResult;
use anchorhold_runner::record::{CallEnded, Content, Event, Line, RunEnded, ScriptEnded};

use super::show;

/// Calls that are shown; of those after them, only the ones that failed.
const SHOWN_CALLS: u64 = 20;

/// What a record told.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The result, as far as it is known.
    pub(super) result: RunResult,
    /// Calls that failed.
    pub(super) failed_calls: u64,
    pub(super) duration_ms: u64,
    /// The text of the script, from its own line: the last line cuts it when much else is on it.
    script_text: Option<String>,
}

impl Followed {
    /// The whole text, or as much of it as came.
    pub(super) fn text(&self) -> &str {
        match &self.script_text {
            Some(text) if text.len() > self.result.text.len() => text,
            _ => &self.result.text,
        }
    }
}

/// Takes lines: shows them, keeps them, and remembers what they told.
pub(super) struct Follower {
    /// Where the record is kept, with the name it is spoken of.
    pub(super) record: Option<File>,
    /// Whether calls are shown as they happen.
    pub(super) shows: bool,
    /// Calls seen.
    pub(super) calls: u64,
    pub(super) followed: Followed,
}

impl Follower {
    /// Takes a line, parsed where it is one of a kind we know.
    pub(super) fn take(&mut self, bytes: &[u8], line: Option<Line>) -> io::Result<()> {
        if let Some(record) = &mut self.record {
            record.write_all(bytes)?;
        }
        let Some(Line { event, .. }) = line else { return Ok(()) };
        if self.shows
            && self.is_shown(&event)
            && let Some(text) = show::line(&event)
        {
            // A terminal that went away is no reason to end the job.
            let _ = writeln!(io::stderr(), "{text}");
        }
        if self.shows && self.calls == SHOWN_CALLS + 1 && matches!(event, Event::Call(_)) {
            let _ = writeln!(io::stderr(), "  …");
        }
        match event {
            Event::Call(CallEnded { error: Some(_), .. }) => self.followed.failed_calls += 1,
            Event::ScriptEnded(ScriptEnded { output: Content { text, .. }, .. }) => self.followed.script_text = text,
            Event::RunEnded(RunEnded { duration_ms, result }) => {
                self.followed.duration_ms = duration_ms;
                self.followed.result = result;
            }
            _ => {}
        }
        Ok(())
    }

    fn is_shown(&mut self, event: &Event) -> bool {
        match event {
            Event::Call(CallEnded { error, .. }) => {
                self.calls += 1;
                self.calls <= SHOWN_CALLS || error.is_some()
            }
            _ => true,
        }
    }
}
