use anchorhold_crds::JobSpec;
use anchorhold_plan::{Outcome, OutputFile, Stage, Usage};
use serde_json::{Value, json};

use super::*;
use crate::job::observe::{Cause, Wait};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + second).unwrap()
}

fn job(status: Option<JobStatus>) -> Job {
    let spec: JobSpec = serde_json::from_value(json!({"agentRef": {"name": "reader"}, "script": "return 1"})).unwrap();
    let mut job = Job::new("count", spec);
    job.metadata.generation = Some(1);
    job.status = status;
    job
}

fn observation(state: State) -> Observation {
    Observation { created: at(1), scheduled: true, stopped: None, leaving_by: None, disruption: None, state }
}

fn waiting() -> Observation {
    observation(State::Waiting(Wait::Creating))
}

fn ended(outcome: Outcome) -> Observation {
    let result = RunResult {
        stage: Stage::Ended,
        outcome: Some(outcome),
        message: "words".into(),
        text: "42".into(),
        text_bytes: 5,
        sha256: "ab".into(),
        enforcement: Enforcement::Enforced,
        usage: Usage { tool_calls: 3, scripts: 1, ..Usage::default() },
        files: vec![OutputFile { name: "a.txt".into(), size_bytes: 7, sha256: "cd".into() }],
        files_total: 1,
    };
    observation(State::Ended(End {
        cause: Cause::Exit,
        result: Some(Box::new(result)),
        exit_code: Some(0),
        message: String::new(),
        began: true,
        since: Some(at(3)),
        at: Some(at(73)),
    }))
}

/// Applies the news to what was before; the attempt is number 0 unless there is none.
fn next(before: Option<JobStatus>, seen: Option<&Observation>, news: &News, second: i64) -> JobStatus {
    let attempt = seen.map(|observation| SeenAttempt {
        number: 0,
        pod_name: "count-0",
        observation,
        runner_image: Some("r@sha256:1"),
    });
    let resolved = ResolvedJob { agent_generation: Some(4), ..ResolvedJob::default() };
    new_status(&job(before), attempt, attempt.map(|_| resolved), false, news, at(second))
}

fn starting() -> News {
    News::Underway { waiting: Some((JobReason::Starting, "containers are being created".into())) }
}

fn condition(status: &JobStatus, type_: ConditionType) -> (String, String) {
    find_condition(&status.conditions, type_)
        .map_or_else(Default::default, |condition| (condition.status.clone(), condition.reason.clone()))
}

fn pair(status: &str, reason: &str) -> (String, String) {
    (status.into(), reason.into())
}

#[test]
fn a_job_that_completes_reads_like_this() {
    let started = next(None, Some(&waiting()), &starting(), 1);
    let running =
        next(Some(started), Some(&observation(State::Running { since: at(3) })), &News::Underway { waiting: None }, 4);
    let done = next(Some(running), Some(&ended(Outcome::Completed)), &News::Ended(Ending::Complete), 75);
    let mut done = serde_json::to_value(&done).unwrap();
    for condition in done["conditions"].as_array_mut().unwrap() {
        condition.as_object_mut().unwrap().remove("message");
    }
    let condition = |type_: &str, status: &str, reason: &str, time: &str| json!({"type": type_, "status": status, "reason": reason, "observedGeneration": 1, "lastTransitionTime": time});
    let expected: Value = json!({
        "observedGeneration": 1,
        "conditions": [
            condition("Accepted", "True", "Accepted", "2026-01-01T00:00:01Z"),
            condition("ResolvedRefs", "True", "Resolved", "2026-01-01T00:00:01Z"),
            condition("NetworkPolicyEnforced", "True", "Enforced", "2026-01-01T00:01:15Z"),
            condition("Reconciling", "False", "Completed", "2026-01-01T00:01:15Z"),
            condition("Complete", "True", "Completed", "2026-01-01T00:01:15Z"),
        ],
        "state": "Complete",
        "startTime": "2026-01-01T00:00:01Z",
        "completionTime": "2026-01-01T00:01:13Z",
        "duration": "1m12s",
        "podName": "count-0",
        "attempts": [{
            "number": 0, "podName": "count-0", "startTime": "2026-01-01T00:00:01Z", "runTime": "2026-01-01T00:00:03Z",
            "completionTime": "2026-01-01T00:01:13Z", "exitCode": 0,
        }],
        "resolved": {"agentGeneration": 4, "images": [{"name": "runner", "digest": "r@sha256:1"}]},
        "usage": {"turns": 0, "inputTokens": 0, "outputTokens": 0, "toolCalls": 3, "blockedCalls": 0, "scripts": 1},
        "result": {"text": "42", "truncated": true, "sha256": "ab", "files": [{"name": "a.txt", "sizeBytes": 7, "sha256": "cd"}]},
    });
    assert_eq!(done, expected);
}

#[test]
fn the_same_news_twice_changes_nothing() {
    for (seen, news) in [
        (Some(waiting()), starting()),
        (Some(observation(State::Running { since: at(3) })), News::Underway { waiting: None }),
        (Some(ended(Outcome::Completed)), News::Ended(Ending::Complete)),
        (Some(ended(Outcome::Threw)), News::Ended(Ending::Failed(Verdict::new(JobReason::ScriptError, "x")))),
        (None, News::Suspended),
        (None, News::Blocked(Blocked::agent_missing("reader"))),
        (None, News::BackOff { until: at(99) }),
    ] {
        let once = next(None, seen.as_ref(), &news, 5);
        assert_eq!(next(Some(once.clone()), seen.as_ref(), &news, 50), once, "{news:?}");
    }
}

#[test]
fn an_ended_job_takes_note_of_a_new_generation_and_of_nothing_else() {
    let done = next(None, Some(&ended(Outcome::Completed)), &News::Ended(Ending::Complete), 75);
    let mut newer = job(Some(done.clone()));
    newer.metadata.generation = Some(2);
    let attempt = waiting();
    let seen = SeenAttempt { number: 7, pod_name: "other", observation: &attempt, runner_image: None };
    let after = new_status(&newer, Some(seen), None, false, &News::Seen, at(100));
    assert_eq!(after, JobStatus { observed_generation: Some(2), ..done });
}

#[test]
fn a_failed_job_is_stalled_and_keeps_what_it_had_so_far() {
    let verdict = Verdict::new(JobReason::ScriptError, "Error: not today");
    let failed = next(None, Some(&ended(Outcome::Threw)), &News::Ended(Ending::Failed(verdict)), 75);
    assert_eq!(condition(&failed, ConditionType::Failed), pair("True", "ScriptError"));
    assert_eq!(condition(&failed, ConditionType::Stalled), pair("True", "ScriptError"));
    assert_eq!(condition(&failed, ConditionType::Reconciling), pair("False", "ScriptError"));
    assert_eq!((failed.state, failed.reason.as_deref()), (Some(JobState::Failed), Some("ScriptError")));
    assert_eq!(failed.result.unwrap().text.as_deref(), Some("42"));
    assert_eq!(failed.attempts[0].message.as_deref(), Some("Error: not today"));
    assert_eq!(failed.attempts[0].counted, Some(true));
}

#[test]
fn attempts_add_up_and_each_keeps_its_reason() {
    let closed = Closed { verdict: Verdict::new(JobReason::Evicted, "gone"), counted: false };
    let first = next(None, Some(&ended(Outcome::Cancelled)), &News::Closed(closed), 75);
    assert_eq!((first.state, first.reason.as_deref()), (Some(JobState::Pending), Some("BackingOff")));
    assert_eq!((first.attempts[0].reason.as_deref(), first.attempts[0].counted), (Some("Evicted"), Some(false)));
    let second =
        SeenAttempt { number: 1, pod_name: "count-1", observation: &ended(Outcome::Completed), runner_image: None };
    let done = new_status(&job(Some(first)), Some(second), None, false, &News::Ended(Ending::Complete), at(80));
    assert_eq!(done.attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(done.usage.unwrap().tool_calls, 6);
    assert_eq!(done.pod_name.as_deref(), Some("count-1"));
}

#[test]
fn what_a_job_waits_for_is_a_condition_and_passes() {
    let blocked = next(None, None, &News::Blocked(Blocked::agent_missing("reader")), 5);
    assert_eq!(condition(&blocked, ConditionType::ResolvedRefs), pair("False", "AgentNotFound"));
    assert_eq!(condition(&blocked, ConditionType::Reconciling), pair("True", "AgentNotFound"));
    assert_eq!((blocked.state, blocked.reason.as_deref()), (Some(JobState::Pending), Some("AgentNotFound")));
    assert_eq!(blocked.start_time, None);
    let started = next(Some(blocked), Some(&waiting()), &starting(), 6);
    assert_eq!(condition(&started, ConditionType::ResolvedRefs), pair("True", "Resolved"));
}

#[test]
fn what_is_never_accepted_says_so_and_never_ran() {
    let verdict = Verdict::new(JobReason::NotImplemented, "spec.prompt is not implemented");
    let refused = next(None, None, &News::Ended(Ending::Failed(verdict)), 5);
    assert_eq!(condition(&refused, ConditionType::Accepted), pair("False", "NotImplemented"));
    assert_eq!(condition(&refused, ConditionType::Failed), pair("True", "NotImplemented"));
    assert_eq!((refused.start_time, refused.duration, refused.attempts), (None, None, vec![]));
}

#[test]
fn suspending_resets_the_start_and_resuming_is_told() {
    let started = next(None, Some(&waiting()), &starting(), 1);
    let suspended = next(Some(started), None, &News::Suspended, 10);
    assert_eq!(condition(&suspended, ConditionType::Suspended), pair("True", "Suspended"));
    assert_eq!((suspended.state, suspended.start_time.clone()), (Some(JobState::Suspended), None));
    let resumed = next(Some(suspended), Some(&waiting()), &starting(), 20);
    assert_eq!(condition(&resumed, ConditionType::Suspended), pair("False", "Resumed"));
}

#[test]
fn rephrased_trouble_is_not_written_again() {
    let trouble = |message: &str| News::Underway { waiting: Some((JobReason::PullingImage, message.into())) };
    let first = next(None, Some(&waiting()), &trouble("not found"), 1);
    assert_eq!(next(Some(first.clone()), Some(&waiting()), &trouble("Back-off pulling image"), 9), first);
}

#[test]
fn the_network_policy_is_vouched_for_or_shown_but_never_claimed() {
    let assumed = new_status(
        &job(None),
        Some(SeenAttempt { number: 0, pod_name: "count-0", observation: &waiting(), runner_image: None }),
        None,
        true,
        &starting(),
        at(1),
    );
    assert_eq!(condition(&assumed, ConditionType::NetworkPolicyEnforced), pair("Unknown", "Assumed"));
    let unknown = next(None, Some(&waiting()), &starting(), 1);
    assert_eq!(condition(&unknown, ConditionType::NetworkPolicyEnforced), pair("Unknown", "Unknown"));
}

#[test]
fn the_list_of_attempts_is_bounded_by_the_suspended_ones() {
    let attempt = |number, reason: &str| AttemptStatus {
        number,
        reason: Some(reason.into()),
        completion_time: Some(Time(at(0))),
        ..AttemptStatus::default()
    };
    let mut attempts = vec![attempt(0, "Evicted")];
    attempts.extend((1..40).map(|number| attempt(number, "Suspended")));
    let before = JobStatus { attempts, ..JobStatus::default() };
    let seen = SeenAttempt { number: 40, pod_name: "count-40", observation: &waiting(), runner_image: None };
    let after = new_status(&job(Some(before)), Some(seen), None, false, &starting(), at(1));
    assert_eq!(after.attempts.len(), 40);
    assert_eq!(after.attempts[0].number, 0, "a failure is kept");
    assert_eq!(after.attempts[1].number, 2, "the oldest suspended attempt went");
}

#[test]
fn a_duration_reads_as_kubectl_writes_it() {
    let written = |seconds| words(SignedDuration::from_secs(seconds));
    assert_eq!([0, 59, 60, 72, 3723, -1].map(written), ["0s", "59s", "1m0s", "1m12s", "1h2m3s", "0s"]);
}
