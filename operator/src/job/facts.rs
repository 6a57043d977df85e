//! What the objects say about a job, as far as a decision needs it. Pure.

use anchorhold_crds::{Agent, ConditionType, Job, find_condition, is_true};
use jiff::{SignedDuration, Timestamp};

use super::history::History;
use super::validate::not_implemented;
use super::verdict::Verdict;

/// How long an attempt may wait before its runner starts, when the job does not say.
const START_DEADLINE: SignedDuration = SignedDuration::from_secs(600);

/// For so long after a gate has opened for some job, one that stays shut means an engine that is late, not one that is missing.
const ENGINE_TRUSTED_FOR: SignedDuration = SignedDuration::from_mins(10);

/// What the Job and its Agent say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, answered by one field of the spec")]
pub(crate) struct Facts {
    /// Set once the job has ended.
    pub(crate) finished: Option<Finished>,
    /// `spec.cancel.reason`.
    pub(crate) cancel: Option<String>,
    /// `spec.suspend`.
    pub(crate) suspend: bool,
    /// The agent's `spec.suspend`.
    pub(crate) agent_suspended: bool,
    /// When the first pod was made, since the job was resumed last.
    pub(crate) started: Option<Timestamp>,
    /// How long the job may take from there.
    pub(crate) active_deadline: Option<SignedDuration>,
    /// Since when the job waits for its next pod.
    pub(crate) waiting_since: Timestamp,
    /// How long it may.
    pub(crate) start_deadline: SignedDuration,
    /// Whether the user set that, so that an exceeded quota ends the job as well.
    pub(crate) start_deadline_is_set: bool,
    /// Whether something of the user's is mounted that could be missing.
    pub(crate) mounts: bool,
    /// How many counted failures are tried again.
    pub(crate) backoff_limit: u32,
    /// What the spec asks for and this version does not do.
    pub(crate) not_implemented: Option<Verdict>,
    /// The attempts so far.
    pub(crate) history: History,
    /// Whether the policy engine sealed a job lately: [`gate_opened_lately`].
    pub(crate) engine_works: bool,
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    /// When.
    pub(crate) at: Timestamp,
    /// How long it stays.
    pub(crate) ttl: Option<SignedDuration>,
}

impl Facts {
    /// Reads a job and its agent, if that exists.
    pub(crate) fn of(job: &Job, agent: Option<&Agent>) -> Self {
        let spec = &job.spec;
        let status = job.status.as_ref();
        let conditions = status.map(|status| status.conditions.as_slice()).unwrap_or_default();
        let created = job.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
        let ended =
            [ConditionType::Complete, ConditionType::Failed].into_iter().any(|type_| is_true(conditions, type_));
        let finished = ended.then(|| Finished {
            at: status.and_then(|status| status.completion_time.as_ref()).map_or(created, |time| time.0),
            ttl: spec.ttl_seconds_after_finished.map(SignedDuration::from_secs),
        });
        let resumed = find_condition(conditions, ConditionType::Suspended)
            .filter(|condition| condition.status == "False")
            .map(|condition| condition.last_transition_time.0);
        let history = History::of(status);
        Self {
            finished,
            cancel: spec.cancel.as_ref().map(|cancel| cancel.reason.clone()),
            suspend: spec.suspend,
            agent_suspended: agent.is_some_and(|agent| agent.spec.suspend),
            started: status.and_then(|status| status.start_time.as_ref()).map(|time| time.0),
            active_deadline: spec
                .active_deadline_seconds
                .or(status.and_then(|status| status.resolved.as_ref()?.active_deadline_seconds))
                .or(agent.map(|agent| agent.spec.limits.timeout_seconds))
                .map(SignedDuration::from_secs),
            waiting_since: [resumed, history.not_before].into_iter().flatten().fold(created, Timestamp::max),
            start_deadline: spec.start_deadline_seconds.map_or(START_DEADLINE, SignedDuration::from_secs),
            start_deadline_is_set: spec.start_deadline_seconds.is_some(),
            mounts: spec.output.persistent_volume_claim.is_some() || !spec.sources.is_empty(),
            backoff_limit: u32::try_from(spec.backoff_limit).unwrap_or(0),
            not_implemented: not_implemented(job),
            history,
            engine_works: false,
        }
    }

    /// The attempt whose pod is to be looked at: the last one of an ended job, else the open one, else the next, whose pod
    /// may exist without the status knowing it yet.
    pub(crate) fn current_attempt(&self) -> i32 {
        match (&self.finished, &self.history.open) {
            (Some(_), _) => self.history.last.unwrap_or(self.history.next),
            (None, Some(open)) => open.number,
            (None, None) => self.history.next,
        }
    }

    /// When the job's time is over, if that is known yet.
    pub(crate) fn ends_by(&self) -> Option<Timestamp> {
        later(self.started?, self.active_deadline?)
    }
}

/// Whether the network gate of any of these jobs has opened within the last minutes.
pub(crate) fn gate_opened_lately<'j>(mut jobs: impl Iterator<Item = &'j Job>, now: Timestamp) -> bool {
    jobs.any(|job| {
        let conditions = job.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
        find_condition(conditions, ConditionType::NetworkPolicyEnforced).is_some_and(|condition| {
            condition.status == "True" && now.duration_since(condition.last_transition_time.0) <= ENGINE_TRUSTED_FOR
        })
    })
}

/// `None` when that is beyond what a clock can show: never.
pub(crate) fn later(time: Timestamp, by: SignedDuration) -> Option<Timestamp> {
    time.checked_add(by).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at each call reads better")]
    fn job(spec: serde_json::Value, status: serde_json::Value) -> Job {
        let mut job = json!({
            "apiVersion": "anchorhold.dev/v1alpha1", "kind": "Job",
            "metadata": {"name": "count", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"agentRef": {"name": "a"}, "script": "return 1"},
            "status": status,
        });
        for (key, value) in spec.as_object().unwrap() {
            job["spec"][key] = value.clone();
        }
        serde_json::from_value(job).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_new_job_waits_since_it_was_created_and_for_ten_minutes() {
        let facts = Facts::of(&job(json!({}), json!({})), None);
        assert_eq!(facts.waiting_since, at("2026-01-01T00:00:00Z"));
        assert_eq!((facts.start_deadline, facts.start_deadline_is_set), (SignedDuration::from_mins(10), false));
        assert_eq!((facts.finished, facts.active_deadline), (None, None));
    }

    #[test]
    fn the_agents_time_holds_unless_the_job_has_its_own() {
        let agent = Agent::new("a", anchorhold_crds::AgentSpec::default());
        let started = json!({"startTime": "2026-01-01T00:01:00Z"});
        assert_eq!(
            Facts::of(&job(json!({}), started.clone()), Some(&agent)).ends_by(),
            Some(at("2026-01-01T01:01:00Z"))
        );
        let own = job(json!({"activeDeadlineSeconds": 5}), started);
        assert_eq!(Facts::of(&own, Some(&agent)).ends_by(), Some(at("2026-01-01T00:01:05Z")));
    }

    #[test]
    fn time_spent_suspended_is_not_spent_waiting() {
        let resumed = json!({"conditions": [{"type": "Suspended", "status": "False", "reason": "Resumed", "message": "",
            "lastTransitionTime": "2026-01-02T00:00:00Z"}]});
        assert_eq!(Facts::of(&job(json!({}), resumed), None).waiting_since, at("2026-01-02T00:00:00Z"));
    }

    #[test]
    fn the_current_attempt_of_an_ended_job_is_its_last() {
        let current = |status| Facts::of(&job(json!({}), status), None).current_attempt();
        let closed = json!([{"number": 0, "completionTime": "2026-01-01T00:01:00Z", "reason": "Evicted"}]);
        let failed = json!([{"type": "Failed", "status": "True", "reason": "Evicted", "message": "",
            "lastTransitionTime": "2026-01-01T00:05:00Z"}]);
        assert_eq!(current(json!({})), 0);
        assert_eq!(current(json!({"attempts": [{"number": 0}]})), 0);
        assert_eq!(current(json!({"attempts": closed})), 1);
        assert_eq!(current(json!({"attempts": closed, "conditions": failed})), 0);
    }

    #[test]
    fn an_engine_that_sealed_a_job_ten_minutes_ago_still_counts_as_working() {
        let sealed = |status| {
            let condition = json!({"type": "NetworkPolicyEnforced", "status": status, "reason": "Enforced", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z"});
            job(json!({}), json!({"conditions": [condition]}))
        };
        let lately = |jobs: &[Job], now| gate_opened_lately(jobs.iter(), at(now));
        assert!(lately(&[sealed("False"), sealed("True")], "2026-01-01T00:10:00Z"));
        assert!(!lately(&[sealed("True")], "2026-01-01T00:10:01Z"));
        assert!(!lately(&[sealed("Unknown"), sealed("False"), job(json!({}), json!({}))], "2026-01-01T00:00:01Z"));
    }

    #[test]
    fn an_ended_job_knows_how_long_it_stays() {
        let ended = json!({"completionTime": "2026-01-01T00:05:00Z", "conditions": [{"type": "Failed", "status": "True",
            "reason": "ScriptError", "message": "", "lastTransitionTime": "2026-01-01T00:05:00Z"}]});
        assert_eq!(
            Facts::of(&job(json!({"ttlSecondsAfterFinished": 60}), ended), None).finished,
            Some(Finished { at: at("2026-01-01T00:05:00Z"), ttl: Some(SignedDuration::from_secs(60)) })
        );
    }
}
