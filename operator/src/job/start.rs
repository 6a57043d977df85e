//! Why an attempt cannot be made yet, and for how long it may wait. Pure.

use anchorhold_crds::{ConditionType, JobReason};
use jiff::{SignedDuration, Timestamp};

use super::apply::Fault;
use super::facts::{Facts, later};
use super::verdict::Verdict;

/// Why an attempt cannot be made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// In one word.
    pub(crate) reason: JobReason,
    /// In a sentence.
    pub(crate) message: String,
    /// The condition that is `False` for it, beside `Reconciling`.
    pub(crate) condition: Option<ConditionType>,
    /// The longest wait until the next look. `None`: a watch tells.
    pub(crate) look_every: Option<SignedDuration>,
}

impl Blocked {
    /// The Agent is not there; its watch tells when it comes.
    pub(crate) fn agent_missing(name: &str) -> Self {
        let message = format!("spec.agentRef.name: Agent {name} does not exist in this namespace; create it");
        Self {
            reason: JobReason::AgentNotFound,
            message,
            condition: Some(ConditionType::ResolvedRefs),
            look_every: None,
        }
    }

    /// The Agent holds what this operator does not know.
    pub(crate) fn agent_unreadable(name: &str, problem: &str) -> Self {
        let message = format!("spec.agentRef.name: Agent {name} cannot be used: {problem}");
        Self {
            reason: JobReason::AgentInvalid,
            message,
            condition: Some(ConditionType::ResolvedRefs),
            look_every: None,
        }
    }

    /// The Agent's kill switch is on; its watch tells when it is off.
    pub(crate) fn agent_suspended(name: &str) -> Self {
        let message = format!("Agent {name} is suspended; set its spec.suspend to false to let its jobs start");
        Self { reason: JobReason::AgentSuspended, message, condition: None, look_every: None }
    }

    /// An object that the spec names is not there, or lacks a key.
    pub(crate) fn reference(reason: JobReason, message: String) -> Self {
        let look_every = Some(SignedDuration::from_secs(10));
        Self { reason, message, condition: Some(ConditionType::ResolvedRefs), look_every }
    }

    /// The canaries do not answer: no runner could prove that its network is closed.
    pub(crate) fn canary(message: String) -> Self {
        let look_every = Some(SignedDuration::from_secs(5));
        Self { reason: JobReason::CanaryUnreachable, message, condition: None, look_every }
    }

    /// What a fault of creation means while there is hope; otherwise the end.
    pub(crate) fn of(fault: Fault) -> Result<Self, Verdict> {
        let waits = |reason, message, seconds| {
            Ok(Self { reason, message, condition: None, look_every: Some(SignedDuration::from_secs(seconds)) })
        };
        match fault {
            Fault::Quota(message) => waits(JobReason::QuotaExceeded, message, 30),
            Fault::NotYet(message) => waits(JobReason::Pending, message, 10),
            Fault::Rejected(message) => Err(Verdict::new(JobReason::PodRejected, message)),
            Fault::Taken(message) => Err(Verdict::new(JobReason::NameConflict, message)),
        }
    }

    /// The end of the wait, when its time is over. An exceeded quota ends a job only whose user set a deadline.
    pub(crate) fn expired(&self, facts: &Facts, now: Timestamp) -> Option<Verdict> {
        self.deadline(facts).filter(|deadline| *deadline <= now)?;
        let reason = match self.reason {
            JobReason::SourceNotFound => JobReason::SourceMissing,
            JobReason::QuotaExceeded | JobReason::Pending => JobReason::StartDeadlineExceeded,
            waited_for => waited_for,
        };
        let waited = facts.start_deadline.as_secs();
        Some(Verdict::new(reason, format!("{} (waited {waited} s, spec.startDeadlineSeconds)", self.message)))
    }

    /// When to look again: soon at first, then ever less often, and at the deadline.
    pub(crate) fn look_at(&self, facts: &Facts, now: Timestamp) -> Option<Timestamp> {
        let waited = now.duration_since(facts.waiting_since);
        let look = self.look_every.map(|every| (waited / 4).clamp(SignedDuration::from_secs(1), every));
        let look = look.and_then(|wait| later(now, wait));
        [look, self.deadline(facts), facts.ends_by()].into_iter().flatten().min()
    }

    fn deadline(&self, facts: &Facts) -> Option<Timestamp> {
        if self.reason == JobReason::QuotaExceeded && !facts.start_deadline_is_set {
            return None;
        }
        later(facts.waiting_since, facts.start_deadline)
    }
}
