//! What a job's status says next. Pure; [`super::report`] writes it.

use anchorhold_crds::{
    AttemptStatus, ConditionReason, ConditionStatus, ConditionType, Job, JobReason, JobResult, JobState, JobStatus,
    JobUsage, NewCondition, ResolvedJob, ResultFile, find_condition, is_true, set_condition,
};
use anchorhold_plan::{Enforcement, RunResult};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::decide::{Closed, Ending};
use super::observe::{End, Observation, State};
use super::start::Blocked;
use super::verdict::Verdict;

/// Attempts that suspending ended are of interest only while they are few; all others are bounded by themselves.
const ATTEMPTS_MAX: usize = 40;

/// What has happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum News {
    /// Nothing but a new generation of an ended job's spec.
    Seen,
    /// It is held back.
    Suspended,
    /// Its attempt cannot be made yet.
    Blocked(Blocked),
    /// Its next attempt is not due yet.
    BackOff {
        /// When it is.
        until: Timestamp,
    },
    /// Its attempt goes its way.
    Underway {
        /// What it waits for; `None` when it runs.
        waiting: Option<(JobReason, String)>,
    },
    /// Its attempt has ended and another one may follow.
    Closed(Closed),
    /// It has ended.
    Ended(Ending),
}

/// The pod of the current attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenAttempt<'a> {
    /// Its number.
    pub(crate) number: i32,
    /// Its pod.
    pub(crate) pod_name: &'a str,
    /// What that shows.
    pub(crate) observation: &'a Observation,
    /// The digest of the runner's image, once the kubelet has told.
    pub(crate) runner_image: Option<&'a str>,
}

/// The status after the news. The same news twice gives the same status.
pub(crate) fn new_status(
    job: &Job,
    attempt: Option<SeenAttempt<'_>>,
    resolved: Option<ResolvedJob>,
    assumed: bool,
    news: &News,
    now: Timestamp,
) -> JobStatus {
    let mut draft = Draft { status: job.status.clone().unwrap_or_default(), generation: job.metadata.generation, now };
    draft.status.observed_generation = draft.generation;
    if let Some(resolved) = resolved {
        draft.status.resolved = Some(resolved);
    }
    if let Some(attempt) = attempt
        && *news != News::Seen
    {
        draft.attempt_seen(attempt, assumed);
    }
    match news {
        News::Seen => {}
        News::Suspended => draft.suspended(),
        News::Blocked(blocked) => draft.blocked(blocked),
        News::BackOff { until } => draft.back_off(*until),
        News::Underway { waiting } => draft.underway(waiting.as_ref()),
        News::Closed(closed) => draft.closed(closed, attempt),
        News::Ended(ending) => draft.ended(ending, attempt),
    }
    draft.status
}

struct Draft {
    status: JobStatus,
    generation: Option<i64>,
    now: Timestamp,
}

impl Draft {
    fn set(&mut self, type_: ConditionType, status: ConditionStatus, reason: JobReason, message: impl Into<String>) {
        let new = NewCondition { type_, status, reason, message: message.into(), observed_generation: self.generation };
        set_condition(&mut self.status.conditions, new, self.now);
    }

    fn set_plain(&mut self, type_: ConditionType, status: ConditionStatus, reason: JobReason) {
        self.set(type_, status, reason, ConditionReason::meaning(reason));
    }

    /// The pod is there, so everything that had to hold before it does.
    fn attempt_seen(&mut self, attempt: SeenAttempt<'_>, assumed: bool) {
        let SeenAttempt { number, pod_name, observation, runner_image } = attempt;
        self.set_plain(ConditionType::Accepted, ConditionStatus::True, JobReason::Accepted);
        self.set_plain(ConditionType::ResolvedRefs, ConditionStatus::True, JobReason::Resolved);
        self.resumed();
        if find_condition(&self.status.conditions, ConditionType::NetworkPolicyEnforced).is_none() {
            let reason = if assumed { JobReason::Assumed } else { JobReason::Unknown };
            self.set_plain(ConditionType::NetworkPolicyEnforced, ConditionStatus::Unknown, reason);
        }
        self.status.pod_name = Some(pod_name.to_owned());
        self.status.start_time.get_or_insert(Time(observation.created));
        let place = self.attempt(number);
        place.pod_name = Some(pod_name.to_owned());
        place.start_time.get_or_insert(Time(observation.created));
        let ran = match &observation.state {
            State::Running { since } => Some(*since),
            State::Ending { end, .. } | State::Ended(end) => end.since,
            State::Waiting(_) => None,
        };
        if let Some(ran) = ran {
            place.run_time.get_or_insert(Time(ran));
        }
        if let (Some(digest), Some(resolved)) = (runner_image, &mut self.status.resolved) {
            let image = anchorhold_crds::ResolvedImage {
                name: anchorhold_plan::RUNNER_CONTAINER.into(),
                digest: digest.to_owned(),
            };
            match resolved.images.iter_mut().find(|known| known.name == image.name) {
                Some(known) => *known = image,
                None => resolved.images.push(image),
            }
        }
    }

    fn attempt(&mut self, number: i32) -> &mut AttemptStatus {
        let attempts = &mut self.status.attempts;
        let index = attempts.iter().position(|attempt| attempt.number == number).unwrap_or_else(|| {
            if attempts.len() >= ATTEMPTS_MAX
                && let Some(oldest) = attempts.iter().position(|old| old.reason.as_deref() == Some("Suspended"))
            {
                attempts.remove(oldest);
            }
            attempts.push(AttemptStatus { number, ..AttemptStatus::default() });
            attempts.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the index was found or made in this list just above")]
        &mut attempts[index]
    }

    fn resumed(&mut self) {
        if is_true(&self.status.conditions, ConditionType::Suspended) {
            self.set_plain(ConditionType::Suspended, ConditionStatus::False, JobReason::Resumed);
        }
    }

    fn suspended(&mut self) {
        self.set_plain(ConditionType::Accepted, ConditionStatus::True, JobReason::Accepted);
        self.set_plain(ConditionType::Suspended, ConditionStatus::True, JobReason::Suspended);
        self.pending(JobState::Suspended, JobReason::Suspended, JobReason::Suspended.meaning());
        // As in batch/v1: the time of the job starts anew when it goes on.
        self.status.start_time = None;
    }

    fn blocked(&mut self, blocked: &Blocked) {
        self.resumed();
        self.set_plain(ConditionType::Accepted, ConditionStatus::True, JobReason::Accepted);
        if let Some(type_) = blocked.condition {
            self.set(type_, ConditionStatus::False, blocked.reason, blocked.message.clone());
        } else if find_condition(&self.status.conditions, ConditionType::ResolvedRefs).is_some() {
            self.set_plain(ConditionType::ResolvedRefs, ConditionStatus::True, JobReason::Resolved);
        }
        self.pending(JobState::Pending, blocked.reason, &blocked.message);
    }

    fn back_off(&mut self, until: Timestamp) {
        self.resumed();
        self.pending(JobState::Pending, JobReason::BackingOff, &format!("the next attempt starts at {until:.0}"));
    }

    fn underway(&mut self, waiting: Option<&(JobReason, String)>) {
        if let Some((reason, message)) = waiting {
            return self.pending(JobState::Pending, *reason, message);
        }
        self.status.state = Some(JobState::Running);
        self.status.reason = None;
        self.set_plain(ConditionType::Reconciling, ConditionStatus::True, JobReason::Running);
    }

    fn pending(&mut self, state: JobState, reason: JobReason, message: &str) {
        self.status.state = Some(state);
        self.status.reason = Some(reason.as_str().to_owned());
        let known = find_condition(&self.status.conditions, ConditionType::Reconciling);
        // The kubelet rephrases the same trouble with every try; each wording would be a write.
        if known.is_none_or(|known| known.reason != reason.as_str() || known.status != "True") {
            self.set(ConditionType::Reconciling, ConditionStatus::True, reason, message);
        }
    }

    fn closed(&mut self, closed: &Closed, attempt: Option<SeenAttempt<'_>>) {
        self.end_attempt(Some(&closed.verdict), Some(closed.counted), attempt);
        let next =
            if closed.verdict.reason == JobReason::Suspended { JobReason::Suspended } else { JobReason::BackingOff };
        let state = if next == JobReason::Suspended { JobState::Suspended } else { JobState::Pending };
        self.pending(state, next, &closed.verdict.message);
    }

    fn ended(&mut self, ending: &Ending, attempt: Option<SeenAttempt<'_>>) {
        let now = self.now;
        self.resumed();
        // Of the last attempt alone: what one before it left behind is not what came of the job.
        let result = end_of(attempt).and_then(|end| end.result.as_deref()).filter(|result| result.outcome.is_some());
        self.status.result = result.map(result_of);
        match ending {
            Ending::Complete => {
                self.end_attempt(None, None, attempt);
                self.status.state = Some(JobState::Complete);
                self.status.reason = None;
                self.set_plain(ConditionType::Complete, ConditionStatus::True, JobReason::Completed);
                self.set_plain(ConditionType::Reconciling, ConditionStatus::False, JobReason::Completed);
            }
            Ending::Failed(verdict) => {
                self.end_attempt(Some(verdict), Some(true), attempt);
                self.refused(verdict);
                self.status.state = Some(JobState::Failed);
                self.status.reason = Some(verdict.reason.as_str().to_owned());
                self.set(ConditionType::Failed, ConditionStatus::True, verdict.reason, verdict.message.clone());
                self.set(ConditionType::Reconciling, ConditionStatus::False, verdict.reason, verdict.message.clone());
                self.set(ConditionType::Stalled, ConditionStatus::True, verdict.reason, verdict.message.clone());
            }
        }
        let end = end_of(attempt).and_then(|end| end.at).unwrap_or(now);
        self.status.completion_time.get_or_insert(Time(end));
        if let (Some(start), Some(end)) = (&self.status.start_time, &self.status.completion_time) {
            self.status.duration = Some(words(end.0.duration_since(start.0)));
        }
    }

    /// What was never accepted says so; what was, stays so.
    fn refused(&mut self, verdict: &Verdict) {
        let type_ = match verdict.reason {
            JobReason::NotImplemented | JobReason::InvalidSpec => ConditionType::Accepted,
            JobReason::McpServerMissing
            | JobReason::McpServerDisabled
            | JobReason::AgentInvalid
            | JobReason::ToolNotGranted => ConditionType::ResolvedRefs,
            _ => return,
        };
        if self.status.attempts.is_empty() {
            self.set(type_, ConditionStatus::False, verdict.reason, verdict.message.clone());
        }
    }

    /// Closes the open attempt, if there is one, and takes over what its runner reported.
    fn end_attempt(&mut self, verdict: Option<&Verdict>, counted: Option<bool>, seen: Option<SeenAttempt<'_>>) {
        let now = self.now;
        let end = end_of(seen);
        let Some(open) = self.status.attempts.iter_mut().find(|attempt| attempt.completion_time.is_none()) else {
            return;
        };
        open.completion_time = Some(Time(end.and_then(|end| end.at).unwrap_or(now)));
        open.reason = verdict.map(|verdict| verdict.reason.as_str().to_owned());
        open.message = verdict.map(|verdict| verdict.message.clone());
        open.counted = counted;
        open.exit_code = end.and_then(|end| end.exit_code);
        if let Some(result) = end.and_then(|end| end.result.as_deref()) {
            self.take_over(result);
        }
    }

    fn take_over(&mut self, result: &RunResult) {
        match result.enforcement {
            Enforcement::Enforced => {
                self.set_plain(ConditionType::NetworkPolicyEnforced, ConditionStatus::True, JobReason::Enforced);
            }
            Enforcement::Assumed => {
                self.set_plain(ConditionType::NetworkPolicyEnforced, ConditionStatus::Unknown, JobReason::Assumed);
            }
            Enforcement::NotEnforced => {
                self.set_plain(ConditionType::NetworkPolicyEnforced, ConditionStatus::False, JobReason::NotEnforced);
            }
            Enforcement::Unknown | Enforcement::NoCluster => {}
        }
        let usage = self.status.usage.get_or_insert_default();
        *usage = sum(usage, result);
    }
}

fn end_of(attempt: Option<SeenAttempt<'_>>) -> Option<&End> {
    match &attempt?.observation.state {
        State::Ended(end) | State::Ending { end, .. } => Some(end),
        State::Waiting(_) | State::Running { .. } => None,
    }
}

fn sum(before: &JobUsage, result: &RunResult) -> JobUsage {
    let anchorhold_plan::Usage { turns, input_tokens, output_tokens, tool_calls, blocked_calls, scripts } =
        result.usage;
    let add = |before: i64, used: u64| before.saturating_add(i64::try_from(used).unwrap_or(i64::MAX));
    JobUsage {
        turns: add(before.turns, turns),
        input_tokens: add(before.input_tokens, input_tokens),
        output_tokens: add(before.output_tokens, output_tokens),
        tool_calls: add(before.tool_calls, tool_calls),
        blocked_calls: add(before.blocked_calls, blocked_calls),
        scripts: add(before.scripts, scripts),
    }
}

fn result_of(result: &RunResult) -> JobResult {
    JobResult {
        text: Some(result.text.clone()).filter(|text| !text.is_empty()),
        truncated: result.is_cut(),
        sha256: Some(result.sha256.clone()).filter(|hash| !hash.is_empty()),
        config_map: None,
        files: result
            .files
            .iter()
            .map(|file| ResultFile {
                name: file.name.clone(),
                size_bytes: i64::try_from(file.size_bytes).unwrap_or(i64::MAX),
                sha256: file.sha256.clone(),
            })
            .collect(),
    }
}

/// `1h2m3s`, `1m12s`, `3s`: as `kubectl` writes durations.
fn words(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}

#[cfg(test)]
mod tests;
