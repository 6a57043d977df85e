//! What is printed when the run has ended.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anchorhold_plan::{Outcome, OutputFile, RunResult, Stage, Usage};
use serde::Serialize;

use super::child::Ended;
use super::follow::Followed;
use crate::args::Output;
use crate::exit::Exit;

/// What `-o json` prints. Fields are added, never changed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Summary<'r> {
    pub(super) job: &'r str,
    pub(super) outcome: Outcome,
    /// Whether the job was interrupted from outside.
    pub(super) interrupted: bool,
    /// One sentence or error; empty when the job completed.
    pub(super) message: &'r str,
    /// Where in the manifests the script's error stands, as `file:line:column`; null when that is not known.
    pub(super) place: Option<String>,
    /// What the program returned and printed.
    pub(super) text: &'r str,
    /// Whether `text` is not all of it, and how large all of it is.
    pub(super) text_cut: bool,
    pub(super) text_bytes: u64,
    pub(super) usage: Usage,
    /// Calls that were made and failed.
    pub(super) failed_calls: u64,
    pub(super) duration_ms: u64,
    /// Where the files are kept; null when they were not.
    pub(super) out: Option<&'r Path>,
    pub(super) files: &'r [OutputFile],
    pub(super) files_total: u64,
    /// Whether the kernel confined the job.
    pub(super) confined: bool,
}

/// The result to report: the runner's own, or what can be said in its place.
pub(super) fn complete(ended: &Ended, mut followed: Followed, last_words: &str) -> Followed {
    let result = &mut followed.result;
    if result.stage != Stage::Ended {
        let how = match ended.code {
            Some(code) => format!("exit code {code}"),
            None => "killed by a signal".to_owned(),
        };
        result.message = match () {
            () if ended.killed => "the run did not end within its deadline and was killed".to_owned(),
            () if last_words.is_empty() => format!("the runner ended without a result ({how})"),
            () => format!("the runner ended without a result ({how}): {last_words}"),
        };
        result.outcome = Some(if ended.killed {
            Outcome::TimedOut
        } else if ended.interrupted {
            Outcome::Cancelled
        } else {
            Outcome::Internal
        });
    }
    followed
}

/// How the command ends.
pub(super) fn exit(ended: &Ended, result: &RunResult) -> Exit {
    if ended.interrupted {
        return Exit::Interrupted;
    }
    match result.outcome.unwrap_or(Outcome::Internal) {
        Outcome::Completed => Exit::Completed,
        Outcome::SandboxUnavailable => Exit::CannotConfine,
        Outcome::PlanRejected | Outcome::SourceEmpty | Outcome::SourceUnreadable => Exit::Usage,
        Outcome::Threw
        | Outcome::TimedOut
        | Outcome::OutOfMemory
        | Outcome::Stalled
        | Outcome::Cancelled
        | Outcome::Refused
        | Outcome::Killed
        | Outcome::NetworkPolicyNotEnforced
        | Outcome::Internal => Exit::JobFailed,
    }
}

/// Prints the result: its text on standard output, everything else on standard error.
pub(super) fn print(summary: &Summary<'_>, output: Output) -> io::Result<()> {
    match output {
        Output::Json => {
            let mut out = io::stdout().lock();
            serde_json::to_writer_pretty(&mut out, summary)?;
            writeln!(out)
        }
        Output::Human => {
            let mut out = io::stdout().lock();
            // A pipe gets what the job printed; a terminal, what it shows without being steered.
            let text = if out.is_terminal() { on_terminal(summary.text) } else { Cow::Borrowed(summary.text) };
            out.write_all(text.as_bytes())?;
            if !summary.text.is_empty() && !summary.text.ends_with('\n') {
                writeln!(out)?;
            }
            out.flush()?;
            // That nobody reads them changes nothing of how the job ended.
            let _ = notes(&mut io::stderr().lock(), summary);
            Ok(())
        }
    }
}

/// Text without what a terminal would act on; lines and tabs stay.
fn on_terminal(text: &str) -> Cow<'_, str> {
    let acts = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let shown = |character: char| if acts(character) { '·' } else { character };
    Cow::Owned(text.chars().map(shown).collect())
}

fn notes(err: &mut impl Write, summary: &Summary<'_>) -> io::Result<()> {
    if summary.text_cut {
        writeln!(err, "note: the text was cut to {} of {} bytes", summary.text.len(), summary.text_bytes)?;
    }
    match (summary.out, summary.files_total) {
        (_, 0) => {}
        (Some(out), total) => writeln!(err, "note: {total} files are in {}", out.display())?,
        (None, total) => writeln!(err, "note: {total} files of /out were not kept; name a folder for them with --out")?,
    }
    if summary.message.is_empty() {
        return Ok(());
    }
    let place = summary.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let what = failure(summary.outcome);
    // The text begins with a script's error: who sees it needs no second copy.
    if io::stdout().is_terminal() && summary.text.contains(summary.message) {
        writeln!(err, "{place}{what}")
    } else {
        writeln!(err, "{place}{what}: {}", on_terminal(summary.message))?;
        if summary.outcome == Outcome::SandboxUnavailable {
            writeln!(
                err,
                "nothing was run; --unconfined runs it all the same, with what you yourself may see and reach"
            )?;
        }
        Ok(())
    }
}

/// What a person reads before the message.
fn failure(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "note",
        Outcome::Threw => "the script failed",
        Outcome::TimedOut => "the deadline passed",
        Outcome::OutOfMemory => "the script ran out of memory",
        Outcome::Stalled => "stalled",
        Outcome::Cancelled => "cancelled",
        Outcome::Refused => "the script was refused",
        Outcome::Killed => "the script's process was killed",
        Outcome::PlanRejected | Outcome::SourceEmpty | Outcome::SourceUnreadable => "error",
        Outcome::SandboxUnavailable => "this kernel cannot confine the job",
        Outcome::NetworkPolicyNotEnforced => "the network is not closed",
        Outcome::Internal => "a defect of the runner",
    }
}
