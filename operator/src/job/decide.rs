//! The whole life of a job, in one total and pure function.

use anchorhold_crds::JobReason;
use jiff::{SignedDuration, Timestamp};

use super::facts::{Facts, later};
use super::observe::{Cause, Disruption, End, Observation, State, Wait};
use super::stop::StopReason;
use super::verdict::{self, Judgement, Retry, Verdict, judge};

/// A node that was told to stop or to let go of a pod and has not by then does not answer.
const NODE_ANSWERS_WITHIN: SignedDuration = SignedDuration::from_secs(60);
/// The kubelet says who ended a pod a moment after it has ended: it looks at its containers once a second.
const EXPLAINED_WITHIN: SignedDuration = SignedDuration::from_secs(30);
/// Attempts that the infrastructure may take before their program began. Beyond this the cluster, not the job, is broken.
const UNCOUNTED_MAX: u32 = 10;
/// Of these, as many as a policy engine may spoil by being late: each took the gate's whole time.
const LATE_ENGINE_MAX: u32 = 2;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The job has ended. Nothing, until its time to leave.
    Rest {
        /// When that is.
        until: Option<Timestamp>,
    },
    /// The job's time to leave has come.
    Remove,
    /// The job has ended but its pod could still run: stop it.
    StopLeftover,
    /// No attempt is to be made for now.
    Hold(Hold),
    /// An attempt failed; the next one is not due yet.
    BackOff {
        /// When it is.
        until: Timestamp,
    },
    /// Make the pod of this attempt.
    Create {
        /// The attempt.
        attempt: i32,
    },
    /// The attempt goes its way.
    Track {
        /// What it waits for; `None` when it runs.
        waiting: Option<(JobReason, String)>,
        /// When to look again, whatever happens.
        until: Option<Timestamp>,
    },
    /// Tell the pod to stop.
    Stop(StopReason),
    /// The attempt has ended and another one may follow.
    Close(Closed),
    /// The job has ended.
    Finish(Ending),
}

/// Why no attempt is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// `spec.suspend`.
    Suspended,
    /// The agent's `spec.suspend`.
    AgentSuspended,
}

/// The end of an attempt that is not the end of its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// Why.
    pub(crate) verdict: Verdict,
    /// Whether it counts against `backoffLimit`.
    pub(crate) counted: bool,
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It ended well.
    Complete,
    /// It failed.
    Failed(Verdict),
}

/// Decides what a job needs. `seen` is the pod of [`Facts::current_attempt`]; when it is `None`, that pod does
/// not exist: whoever calls has asked the API server, not only a watch.
pub(crate) fn decide(facts: &Facts, seen: Option<&Observation>, now: Timestamp) -> Step {
    if let Some(finished) = &facts.finished {
        if seen.is_some_and(|seen| !matches!(seen.state, State::Ended(_)) && seen.stopped.is_none()) {
            return Step::StopLeftover;
        }
        return match finished.ttl.and_then(|ttl| later(finished.at, ttl)) {
            Some(leave) if leave <= now => Step::Remove,
            until => Step::Rest { until },
        };
    }
    match seen {
        Some(seen) => with_pod(facts, seen, now),
        None => without_pod(facts, now),
    }
}

fn without_pod(facts: &Facts, now: Timestamp) -> Step {
    if let Some(open) = &facts.history.open {
        if facts.suspend {
            // A pod that no node had taken is deleted to stop it.
            return act(facts, Judgement::Suspended);
        }
        let end = End {
            cause: Cause::Deleted,
            result: None,
            exit_code: None,
            message: String::new(),
            began: open.ran,
            since: None,
            at: None,
        };
        return conclude(facts, &end, None);
    }
    // Whether or not anything else is there: nothing that this job waits for would help.
    if let Some(verdict) = &facts.not_implemented {
        return Step::Finish(Ending::Failed(verdict.clone()));
    }
    if let Some(why) = &facts.cancel {
        return Step::Finish(Ending::Failed(verdict::cancelled(why)));
    }
    if facts.ends_by().is_some_and(|end| end <= now) {
        return Step::Finish(Ending::Failed(verdict::deadline_exceeded()));
    }
    if facts.suspend {
        return Step::Hold(Hold::Suspended);
    }
    if let Some(until) = facts.history.not_before.filter(|until| *until > now) {
        return Step::BackOff { until: earliest([Some(until), facts.ends_by()]).unwrap_or(until) };
    }
    if facts.agent_suspended {
        return Step::Hold(Hold::AgentSuspended);
    }
    Step::Create { attempt: facts.history.next }
}

fn with_pod(facts: &Facts, seen: &Observation, now: Timestamp) -> Step {
    let stopped = seen.stopped.map(|stopped| stopped.reason);
    match &seen.state {
        State::Ended(end) => return conclude(facts, end, stopped),
        State::Ending { end, since } => {
            return match later(*since, EXPLAINED_WITHIN) {
                Some(until) if until > now => Step::Track { waiting: None, until: Some(until) },
                _ => conclude(facts, end, stopped),
            };
        }
        State::Waiting(_) | State::Running { .. } => {}
    }
    if let Some(stopped) = seen.stopped {
        return match later(stopped.at, NODE_ANSWERS_WITHIN) {
            Some(until) if until > now => Step::Track { waiting: waiting(seen), until: Some(until) },
            // Whatever still runs there is stopped by its own deadline when the node comes back.
            _ => act(facts, verdict::judge_stop(stopped.reason, facts.cancel.as_deref())),
        };
    }
    let runs = matches!(seen.state, State::Running { .. });
    if let Some(why) = &facts.cancel {
        return stop_or_finish(runs, StopReason::Cancelled, || verdict::cancelled(why));
    }
    if facts.ends_by().is_some_and(|end| end <= now) {
        return stop_or_finish(runs, StopReason::DeadlineExceeded, verdict::deadline_exceeded);
    }
    if facts.agent_suspended {
        return stop_or_finish(runs, StopReason::AgentSuspended, verdict::agent_suspended);
    }
    if facts.suspend {
        return Step::Stop(StopReason::Suspended);
    }
    if let Some(leaving_by) = seen.leaving_by {
        return match later(leaving_by, NODE_ANSWERS_WITHIN) {
            Some(until) if until > now => Step::Track { waiting: waiting(seen), until: Some(until) },
            _ => {
                let cause = Cause::Disrupted(seen.disruption.unwrap_or(Disruption::NodeLost));
                let end = End {
                    cause,
                    result: None,
                    exit_code: None,
                    message: String::new(),
                    began: runs,
                    since: None,
                    at: None,
                };
                conclude(facts, &end, None)
            }
        };
    }
    match &seen.state {
        State::Waiting(wait) => wait_for_start(facts, seen, wait, now),
        State::Running { .. } | State::Ending { .. } | State::Ended(_) => {
            Step::Track { waiting: None, until: facts.ends_by() }
        }
    }
}

/// A pod that runs is stopped first, and its own result is awaited. One that never ran has nothing to tell: the job
/// ends at once, and [`Step::StopLeftover`] takes care of the pod.
fn stop_or_finish(runs: bool, reason: StopReason, verdict: impl FnOnce() -> Verdict) -> Step {
    if runs { Step::Stop(reason) } else { Step::Finish(Ending::Failed(verdict())) }
}

fn wait_for_start(facts: &Facts, seen: &Observation, wait: &Wait, now: Timestamp) -> Step {
    if let Wait::Image { message, permanent: true } = wait {
        return Step::Finish(Ending::Failed(Verdict::new(JobReason::ImagePullFailed, message.clone())));
    }
    match later(facts.waiting_since, facts.start_deadline) {
        Some(deadline) if deadline <= now => Step::Finish(Ending::Failed(not_started(wait, facts))),
        deadline => Step::Track { waiting: waiting(seen), until: earliest([deadline, facts.ends_by()]) },
    }
}

/// Why a pod did not start in time.
fn not_started(wait: &Wait, facts: &Facts) -> Verdict {
    let within = format!("within {} s (spec.startDeadlineSeconds)", facts.start_deadline.as_secs());
    match wait {
        Wait::Unscheduled => {
            Verdict::new(JobReason::Unschedulable, format!("the scheduler did not place the pod {within}"))
        }
        Wait::Unschedulable(message) => {
            Verdict::new(JobReason::Unschedulable, format!("no node took the pod {within}: {message}"))
        }
        Wait::Image { message, .. } => {
            Verdict::new(JobReason::ImagePullFailed, format!("an image could not be pulled {within}: {message}"))
        }
        Wait::Container(message) => Verdict::new(
            JobReason::ContainerNotCreated,
            format!("the container could not be created {within}: {message}"),
        ),
        Wait::Volumes => {
            let reason = if facts.mounts { JobReason::SourceNotMountable } else { JobReason::StartDeadlineExceeded };
            Verdict::new(reason, format!("the pod's volumes could not be mounted {within}"))
        }
        Wait::Creating => {
            Verdict::new(JobReason::StartDeadlineExceeded, format!("the container was not created {within}"))
        }
    }
}

/// What a pod waits for; `None` when it waits for nothing.
fn waiting(seen: &Observation) -> Option<(JobReason, String)> {
    let State::Waiting(wait) = &seen.state else { return None };
    Some(match wait {
        Wait::Unscheduled => (JobReason::Starting, "the pod waits for the scheduler".to_owned()),
        Wait::Unschedulable(message) => (JobReason::Scheduling, message.clone()),
        Wait::Image { message, .. } => (JobReason::PullingImage, message.clone()),
        Wait::Container(message) => (JobReason::Starting, message.clone()),
        Wait::Volumes | Wait::Creating => (JobReason::Starting, "the pod's containers are being created".to_owned()),
    })
}

fn conclude(facts: &Facts, end: &End, stopped: Option<StopReason>) -> Step {
    act(facts, judge(end, stopped, facts.cancel.as_deref()))
}

fn act(facts: &Facts, judgement: Judgement) -> Step {
    let (verdict, retry) = match judgement {
        Judgement::Completed => return Step::Finish(Ending::Complete),
        Judgement::Suspended => {
            let verdict = Verdict::new(JobReason::Suspended, "the attempt was stopped because spec.suspend was set");
            return Step::Close(Closed { verdict, counted: false });
        }
        Judgement::Failed { verdict, retry } => (verdict, retry),
    };
    let counted = match retry {
        Retry::Counted if facts.history.counted < facts.backoff_limit => true,
        Retry::Uncounted if facts.history.uncounted < UNCOUNTED_MAX => false,
        Retry::IfEngineWorks if facts.engine_works && facts.history.uncounted < LATE_ENGINE_MAX => false,
        Retry::Never | Retry::Counted | Retry::Uncounted | Retry::IfEngineWorks => {
            return Step::Finish(Ending::Failed(verdict));
        }
    };
    Step::Close(Closed { verdict, counted })
}

fn earliest<const N: usize>(times: [Option<Timestamp>; N]) -> Option<Timestamp> {
    times.into_iter().flatten().min()
}

#[cfg(test)]
mod tests;
