//! What the world learns of a run: the termination message and the record.
//!
//! The termination message is written when the plan is accepted, when the program begins, and at the end, so that a runner that is killed
//! still tells how far it came. Nothing here can fail the run: what cannot be written is said on standard error, and nothing
//! else is: `kubectl logs` shows both as one, and a program that reads the record reads JSON lines.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use anchorhold_plan::{Enforcement, Outcome, OutputFile, RunResult, Stage, Usage};

use crate::record::{Event, Record, RunEnded, sha256};

/// The result of a run as it becomes known.
pub(super) struct Report {
    started: Instant,
    termination: Option<File>,
    pub(super) record: Record,
    recording: bool,
    result: RunResult,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    /// One sentence or error for a person; empty when the program completed.
    pub(super) message: String,
    /// What the program returned and printed, within its budget.
    pub(super) text: String,
    /// Bytes that would have had without a budget.
    pub(super) text_bytes: u64,
}

impl Ending {
    /// The end of a run whose program did not come to speak.
    pub(super) fn new(outcome: Outcome, message: impl Into<String>) -> Self {
        Self { outcome, message: message.into(), text: String::new(), text_bytes: 0 }
    }
}

impl Report {
    /// Opens the termination log, before the process confines itself.
    pub(super) fn open(started: Instant, termination_log: Option<&Path>) -> Self {
        let open = |path| OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let termination = termination_log.and_then(|path| match open(path) {
            Ok(file) => Some(file),
            Err(error) => {
                say(&format!("failed to open the termination log {}: {error}", path.display()));
                None
            }
        });
        Self { started, termination, record: Record::new(false), recording: false, result: RunResult::default() }
    }

    /// Says how far the run has come.
    pub(super) fn stage(&mut self, stage: Stage) {
        self.result.stage = stage;
        self.write_termination_message();
    }

    /// Says what is known of the network.
    pub(super) fn enforcement(&mut self, enforcement: Enforcement) {
        self.result.enforcement = enforcement;
    }

    /// Says what was used.
    pub(super) fn usage(&mut self, usage: Usage) {
        self.result.usage = usage;
    }

    /// Says what is in `/out`.
    pub(super) fn files(&mut self, files: Vec<OutputFile>, total: u64) {
        self.result.files = files;
        self.result.files_total = total;
    }

    /// Begins to write the record to standard output. Starts a thread: not to be called before the process has confined
    /// itself, unless nothing is run any more.
    pub(super) fn start_record(&mut self) {
        if !self.recording {
            match self.record.start(io::stdout()) {
                Ok(()) => self.recording = true,
                Err(error) => say(&format!("failed to start the thread that writes the record: {error}")),
            }
        }
    }

    /// Writes the end of the run everywhere. The termination message comes first: whoever told the run to stop may not
    /// wait for more.
    pub(super) fn end(mut self, ending: Ending) -> Outcome {
        let Ending { outcome, message, text, text_bytes } = ending;
        self.result.stage = Stage::Ended;
        self.result.outcome = Some(outcome);
        self.result.text_bytes = text_bytes;
        self.result.sha256 = sha256(text.as_bytes());
        self.result.text = text;
        self.result.message = message;
        self.write_termination_message();
        self.start_record();
        if self.recording {
            let duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.record.write(Event::RunEnded(RunEnded { duration_ms, result: self.result }));
            self.record.finish();
        } else if outcome != Outcome::Completed {
            say(&self.result.message);
        }
        outcome
    }

    fn write_termination_message(&self) {
        let Some(file) = &self.termination else { return };
        let message = self.result.to_termination_message();
        // Written over the earlier, shorter one and then cut: a kill in between leaves no empty file.
        let written = file.write_all_at(message.as_bytes(), 0).and_then(|()| file.set_len(message.len() as u64));
        if let Err(error) = written {
            say(&format!("failed to write the termination message: {error}"));
        }
    }
}

/// A line for a person who looks at standard error.
fn say(message: &str) {
    use io::Write;
    // Standard error may be closed; nothing depends on it.
    let _ = writeln!(io::stderr(), "anchorhold-runner: {message}");
}
