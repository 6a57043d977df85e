//! What the end of an attempt means for its job. Pure.

use anchorhold_crds::JobReason;
use anchorhold_plan::{ExitCode, Outcome};

use super::observe::{Cause, Disruption, End};
use super::stop::StopReason;

/// What the end of an attempt means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The program ran to its end.
    Completed,
    /// The attempt was stopped because the job is to pause.
    Suspended,
    /// It failed.
    Failed {
        /// Why.
        verdict: Verdict,
        /// Whether another attempt may help.
        retry: Retry,
    },
}

/// Why a job or an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// In one word of the closed list.
    pub(crate) reason: JobReason,
    /// In a sentence.
    pub(crate) message: String,
}

/// Whether another attempt may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// It would end the same way, or somebody wanted the end.
    Never,
    /// It may, and this one counts against `backoffLimit`.
    Counted,
    /// The infrastructure failed before the program began: this one does not count.
    Uncounted,
    /// The network was not closed in time, and nothing began: as [`Retry::Uncounted`] where the policy engine works, else never.
    IfEngineWorks,
}

impl Verdict {
    pub(crate) fn new(reason: JobReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

/// Judges the end of an attempt. `cancel` is the reason that the job's spec gives for its cancellation.
pub(crate) fn judge(end: &End, stopped: Option<StopReason>, cancel: Option<&str>) -> Judgement {
    let outcome = end.result.as_ref().and_then(|result| result.outcome);
    if outcome == Some(Outcome::Completed) {
        return Judgement::Completed;
    }
    if let Some(stopped) = stopped
        && ended_by_stop(end, outcome)
    {
        return judge_stop(stopped, cancel);
    }
    let (reason, advice, retry) = match end.cause {
        Cause::Exit => match outcome {
            Some(outcome) => of_outcome(outcome),
            None => of_exit_code(end.exit_code),
        },
        Cause::OutOfMemory => (
            JobReason::OOMKilled,
            "the runner was killed at its memory limit; raise spec.sandbox.resources.limits.memory of the Agent",
            Retry::Counted,
        ),
        Cause::RunnerMissing => (
            JobReason::RunnerMissing,
            "the runner image holds no runner that can be executed; set the operator's runner image to the one of its release",
            Retry::Never,
        ),
        Cause::Deadline => (JobReason::DeadlineExceeded, "the job's deadline passed", Retry::Never),
        Cause::NodeRefused => (JobReason::PodRejected, "the node refused the pod", of_disruption(end)),
        // The kubelet names the volume; ours is the only one of that name.
        Cause::Disrupted(Disruption::Evicted) if end.message.contains("EmptyDir volume \"out\"") => (
            JobReason::OutputFull,
            "the job wrote more to /out than spec.output.sizeLimit; raise it, or write less",
            Retry::Counted,
        ),
        Cause::Disrupted(Disruption::Evicted) => (JobReason::Evicted, "the pod was evicted", of_disruption(end)),
        Cause::Disrupted(Disruption::Preempted) => {
            (JobReason::Preempted, "a pod of higher priority took the place", of_disruption(end))
        }
        Cause::Disrupted(Disruption::NodeLost) => {
            (JobReason::NodeLost, "the node of the pod does not answer or is gone", of_disruption(end))
        }
        Cause::Deleted => (JobReason::PodDeleted, "the pod was deleted by somebody else", of_disruption(end)),
    };
    Judgement::Failed { verdict: Verdict { reason, message: message(end, advice) }, retry }
}

/// What a stop means; used as well when a pod did not obey in time.
pub(crate) fn judge_stop(stopped: StopReason, cancel: Option<&str>) -> Judgement {
    let verdict = match stopped {
        StopReason::Suspended => return Judgement::Suspended,
        StopReason::Cancelled => cancelled(cancel.unwrap_or("the cancellation was taken back since")),
        StopReason::AgentSuspended => agent_suspended(),
        StopReason::DeadlineExceeded => deadline_exceeded(),
        StopReason::JobEnded => Verdict::new(JobReason::PodDeleted, "the pod was stopped as that of an ended job"),
    };
    Judgement::Failed { verdict, retry: Retry::Never }
}

/// `spec.cancel`, with the user's own words.
pub(crate) fn cancelled(why: &str) -> Verdict {
    Verdict::new(JobReason::Cancelled, why)
}

/// The agent's kill switch.
pub(crate) fn agent_suspended() -> Verdict {
    Verdict::new(
        JobReason::AgentSuspended,
        "the Agent was suspended; set its spec.suspend to false and create the job anew",
    )
}

/// The job's deadline.
pub(crate) fn deadline_exceeded() -> Verdict {
    Verdict::new(
        JobReason::DeadlineExceeded,
        "the job did not end within its activeDeadlineSeconds, or its agent's limits.timeoutSeconds",
    )
}

/// Whether what the runner reports fits being stopped from outside. A script that failed by itself while it was being
/// stopped keeps its own reason.
fn ended_by_stop(end: &End, outcome: Option<Outcome>) -> bool {
    match end.cause {
        Cause::Deadline | Cause::Deleted | Cause::Disrupted(_) => true,
        Cause::Exit => match outcome {
            None | Some(Outcome::Cancelled | Outcome::TimedOut | Outcome::Internal) => true,
            Some(
                Outcome::Completed
                | Outcome::Threw
                | Outcome::OutOfMemory
                | Outcome::Stalled
                | Outcome::Refused
                | Outcome::Killed
                | Outcome::PlanRejected
                | Outcome::SourceEmpty
                | Outcome::SourceUnreadable
                | Outcome::SandboxUnavailable
                | Outcome::NetworkPolicyNotEnforced,
            ) => false,
        },
        Cause::OutOfMemory | Cause::RunnerMissing | Cause::NodeRefused => false,
    }
}

fn of_outcome(outcome: Outcome) -> (JobReason, &'static str, Retry) {
    match outcome {
        Outcome::Completed => (JobReason::Completed, "", Retry::Never),
        Outcome::Threw => (JobReason::ScriptError, "the script threw", Retry::Counted),
        Outcome::OutOfMemory => (JobReason::ScriptError, "the script reached its heap limit", Retry::Counted),
        Outcome::Stalled => {
            (JobReason::ScriptError, "the script waited for something that can never come", Retry::Counted)
        }
        Outcome::Refused => (JobReason::ScriptError, "the script was refused before it ran", Retry::Never),
        Outcome::Killed => (JobReason::ScriptError, "the script's process was killed", Retry::Counted),
        Outcome::TimedOut => (JobReason::DeadlineExceeded, "the script's deadline passed", Retry::Counted),
        Outcome::Cancelled => {
            (JobReason::NodeLost, "the runner was told to stop, and nothing says by whom", Retry::Counted)
        }
        Outcome::PlanRejected => (
            JobReason::PlanRejected,
            "the runner refused its plan; use the runner image of the operator's release",
            Retry::Never,
        ),
        Outcome::SourceEmpty => (JobReason::SourceEmpty, "a source holds nothing", Retry::Never),
        Outcome::SourceUnreadable => (JobReason::SourceNotMountable, "a source could not be opened", Retry::Never),
        Outcome::SandboxUnavailable => {
            (JobReason::SandboxUnavailable, "the node cannot confine the script", Retry::Never)
        }
        Outcome::NetworkPolicyNotEnforced => (
            JobReason::NetworkPolicyNotEnforced,
            "the cluster does not enforce the job's NetworkPolicy, so nothing was started",
            Retry::IfEngineWorks,
        ),
        Outcome::Internal => (JobReason::InternalError, "the runner failed by a defect of its own", Retry::Counted),
    }
}

/// For a runner that ended without a word.
fn of_exit_code(code: Option<i32>) -> (JobReason, &'static str, Retry) {
    match code.and_then(ExitCode::from_status) {
        Some(ExitCode::Failed) => (JobReason::ScriptError, "the script failed", Retry::Counted),
        Some(ExitCode::Plan) => of_outcome(Outcome::PlanRejected),
        Some(ExitCode::Sandbox) => of_outcome(Outcome::SandboxUnavailable),
        Some(ExitCode::Deadline) => of_outcome(Outcome::TimedOut),
        Some(ExitCode::Cancelled) => of_outcome(Outcome::Cancelled),
        Some(ExitCode::NetworkPolicyNotEnforced) => of_outcome(Outcome::NetworkPolicyNotEnforced),
        Some(ExitCode::SourceEmpty) => of_outcome(Outcome::SourceEmpty),
        Some(ExitCode::Internal) => of_outcome(Outcome::Internal),
        // Success without a result is none: whatever ran there was not a run of the plan.
        Some(ExitCode::Completed | ExitCode::Broker) | None => {
            (JobReason::RunnerCrashed, "the runner ended without reporting a result", Retry::Counted)
        }
    }
}

const fn of_disruption(end: &End) -> Retry {
    if end.began { Retry::Counted } else { Retry::Uncounted }
}

/// The sentence of a verdict: what the runner says, else ours with what the cluster says.
fn message(end: &End, ours: &str) -> String {
    let reported = end.result.as_ref().map(|result| result.message.trim()).filter(|text| !text.is_empty());
    if let Some(reported) = reported {
        return if end.cause == Cause::Exit { reported.to_owned() } else { format!("{ours} (the runner: {reported})") };
    }
    let code = end.exit_code.filter(|_| end.cause == Cause::Exit).map(|code| format!(" (exit code {code})"));
    let theirs = Some(end.message.trim()).filter(|text| !text.is_empty()).map(|text| format!(": {text}"));
    format!("{ours}{}{}", code.unwrap_or_default(), theirs.unwrap_or_default())
}

#[cfg(test)]
mod tests;
