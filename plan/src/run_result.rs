//! What came of a run: the runner's termination message, read by the operator and printed by the command line.

use serde::{Deserialize, Serialize};

use crate::{ExitCode, TERMINATION_MESSAGE_MAX_BYTES};

/// How far a run came. Written early and again at the end, so that a runner that is killed from outside (out of memory,
/// eviction) still tells whether its program had begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stage {
    /// Nothing of the program has run: it can be tried again without harm.
    #[default]
    Preparing,
    /// The program has begun.
    Started,
    /// The run has ended and this is its result.
    Ended,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The program ran to its end.
    Completed,
    /// The script threw.
    Threw,
    /// The deadline passed.
    TimedOut,
    /// The script's heap limit was reached.
    OutOfMemory,
    /// The script waited for something that can never come.
    Stalled,
    /// The run was told to stop.
    Cancelled,
    /// The script's text was refused before anything ran.
    Refused,
    /// The script's process ended without an answer: the engine crashed or the kernel killed it.
    Killed,
    /// The plan was refused.
    PlanRejected,
    /// A source holds nothing.
    SourceEmpty,
    /// A source, or the output folder, could not be opened.
    SourceUnreadable,
    /// The program could not be confined.
    SandboxUnavailable,
    /// The network gate stayed open.
    NetworkPolicyNotEnforced,
    /// A defect of the runner.
    Internal,
}

impl Outcome {
    /// The exit code the runner's process ends with.
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        match self {
            Self::Completed => ExitCode::Completed,
            Self::Threw | Self::OutOfMemory | Self::Stalled | Self::Refused | Self::Killed => ExitCode::Failed,
            Self::TimedOut => ExitCode::Deadline,
            Self::Cancelled => ExitCode::Cancelled,
            Self::PlanRejected => ExitCode::Plan,
            Self::SourceEmpty | Self::SourceUnreadable => ExitCode::SourceEmpty,
            Self::SandboxUnavailable => ExitCode::Sandbox,
            Self::NetworkPolicyNotEnforced => ExitCode::NetworkPolicyNotEnforced,
            Self::Internal => ExitCode::Internal,
        }
    }
}

/// What is known of the network's closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Enforcement {
    /// Not looked at yet.
    #[default]
    Unknown,
    /// Every canary refused new connections as often as asked.
    Enforced,
    /// The administrator vouched for it; nothing was probed.
    Assumed,
    /// A canary still answered when the time-out passed.
    NotEnforced,
    /// There is no cluster.
    NoCluster,
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Model turns.
    pub turns: u64,
    /// Tokens sent to the model.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// Tool calls that were made.
    pub tool_calls: u64,
    /// Calls that the policy refused.
    pub blocked_calls: u64,
    /// Scripts that were started.
    pub scripts: u64,
}

/// A file the run left in `/out`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputFile {
    /// Path relative to `/out`.
    pub name: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 of its content, in lower-case hexadecimal.
    pub sha256: String,
}

/// The result of a run. Readers accept fields they do not know: a result may come from a newer runner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunResult {
    /// How far the run came.
    pub stage: Stage,
    /// How it ended; set when `stage` is [`Stage::Ended`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// One sentence or error for a person; empty when the program completed.
    pub message: String,
    /// What the program returned and printed, as the model or user would see it; cut to fit.
    pub text: String,
    /// Size of the text in bytes, before it was cut to the script's budget and to what fits here.
    pub text_bytes: u64,
    /// SHA-256, in lower-case hexadecimal, of the text within the script's budget, before it was cut to what fits here.
    pub sha256: String,
    /// What is known of the network's closure.
    pub enforcement: Enforcement,
    /// What was used.
    pub usage: Usage,
    /// Files in `/out`; as many as fit.
    pub files: Vec<OutputFile>,
    /// How many files there are in all.
    pub files_total: u64,
}

impl RunResult {
    /// Whether `text` is not the whole text.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.text_bytes > self.text.len() as u64
    }

    /// The result as JSON of at most [`TERMINATION_MESSAGE_MAX_BYTES`] bytes. What does not fit is left out from the end:
    /// files first, then text, then message; sizes, hash and totals always stay.
    #[must_use]
    pub fn to_termination_message(&self) -> String {
        let mut shown = self.clone();
        loop {
            let json = serde_json::to_string(&shown).unwrap_or_default();
            let Some(excess) = json.len().checked_sub(TERMINATION_MESSAGE_MAX_BYTES).filter(|excess| *excess > 0)
            else {
                return json;
            };
            if !shown.files.is_empty() {
                shown.files.truncate(shown.files.len() / 2);
            } else if shown.text.len() > shown.message.len() {
                shorten(&mut shown.text, excess);
            } else {
                shorten(&mut shown.message, excess);
            }
        }
    }

    /// Reads a termination message. `None` when it is not one: the container ended before our program could write.
    #[must_use]
    pub fn parse(message: &str) -> Option<Self> {
        serde_json::from_str(message).ok()
    }
}

/// Cuts at least one character and at most `excess` bytes from the end. An escape in JSON takes up to six bytes for one,
/// so cutting a sixth of the excess at a time never cuts more than needed by more than a character.
fn shorten(text: &mut String, excess: usize) {
    let mut end = text.len().saturating_sub((excess / 6).max(1));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_small_result_crosses_whole() {
        let result = RunResult {
            stage: Stage::Ended,
            outcome: Some(Outcome::Completed),
            text: "42".into(),
            text_bytes: 2,
            ..RunResult::default()
        };
        assert_eq!(RunResult::parse(&result.to_termination_message()), Some(result));
    }

    #[test]
    fn an_early_message_tells_that_the_program_had_begun() {
        let early = RunResult { stage: Stage::Started, ..RunResult::default() };
        let read = RunResult::parse(&early.to_termination_message()).unwrap();
        assert_eq!((read.stage, read.outcome), (Stage::Started, None));
    }

    #[test]
    fn what_a_shell_prints_is_no_result() {
        assert_eq!(RunResult::parse("exec: no such file"), None);
        assert_eq!(RunResult::parse(""), None);
    }

    proptest! {
        #[test]
        fn a_termination_message_fits_parses_and_keeps_a_prefix(text in "\\PC{0,3000}", controls in "[\\x00-\\x1f]{0,2000}", files in 0_usize..60) {
            let text = format!("{text}{controls}");
            let file = OutputFile { name: "a/b.txt".into(), size_bytes: 1, sha256: "0".repeat(64) };
            let result = RunResult {
                stage: Stage::Ended,
                outcome: Some(Outcome::Threw),
                message: controls,
                text_bytes: text.len() as u64,
                text,
                files: vec![file; files],
                files_total: files as u64,
                ..RunResult::default()
            };
            let message = result.to_termination_message();
            prop_assert!(message.len() <= TERMINATION_MESSAGE_MAX_BYTES);
            let read = RunResult::parse(&message).unwrap();
            prop_assert!(result.text.starts_with(&read.text));
            prop_assert!(result.message.starts_with(&read.message));
            prop_assert_eq!(read.is_cut(), read.text.len() < result.text.len());
            prop_assert_eq!(read.files_total, result.files_total);
        }
    }
}
