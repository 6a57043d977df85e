use std::time::Duration;

use anchorhold_plan::Outcome;

use super::wire::Image;

/// What came of one script.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptResult {
    /// How it ended.
    pub outcome: Outcome,
    /// The error with its frames, or one sentence; empty when the script completed. Within 16 KiB.
    pub message: String,
    /// All that the model or user sees: error, return value, output and notes, within the budget.
    pub text: String,
    /// Bytes the text would have had without a budget.
    pub text_bytes: u64,
    /// The images the script returned, at most eight.
    pub images: Vec<Image>,
    /// The calls the script made, in the order in which they came.
    pub calls: Vec<CallSummary>,
    /// How many of the calls the policy refused.
    pub blocked_calls: u64,
    /// Time from the request to the start of the process.
    pub waited: Duration,
    /// Time from the request to the result.
    pub duration: Duration,
}

impl ScriptResult {
    /// Whether the script's process was started at all.
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.outcome != Outcome::Refused && self.duration > self.waited
    }
}

/// One call of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSummary {
    /// The exact name that was called.
    pub tool: String,
    /// What came of it.
    pub outcome: CallOutcome,
    /// How long it took.
    pub duration: Duration,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It returned.
    Completed,
    /// It failed, with the code of its error.
    Failed(&'static str),
    /// It was still running when the script ended.
    Cancelled,
}
