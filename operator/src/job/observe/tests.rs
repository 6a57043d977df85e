use serde_json::{Value, json};

use super::*;
use crate::job::stop::StopReason;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn pod(status: &Value) -> Pod {
    serde_json::from_value(json!({
        "metadata": {"name": "count-0", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "node", "containers": []},
        "status": status,
    }))
    .unwrap()
}

fn runner(state: &Value) -> Value {
    json!([{"name": "runner", "image": "r", "imageID": "r@sha256:1", "ready": false, "restartCount": 0, "state": state}])
}

fn terminated(exit_code: i32, reason: &str, message: &str) -> Value {
    runner(&json!({"terminated": {"exitCode": exit_code, "reason": reason, "message": message,
        "startedAt": "2026-01-01T00:00:02Z", "finishedAt": "2026-01-01T00:00:05Z"}}))
}

fn state_of(status: &Value) -> State {
    observe(&pod(status)).state
}

fn end_of(status: &Value) -> (Cause, bool) {
    match state_of(status) {
        State::Ended(end) => (end.cause, end.began),
        other => panic!("{other:?}"),
    }
}

fn result(outcome: Option<Outcome>, stage: Stage) -> String {
    RunResult { stage, outcome, ..RunResult::default() }.to_termination_message()
}

#[test]
fn a_new_pod_waits_for_the_scheduler() {
    let mut new = pod(&json!({"phase": "Pending"}));
    new.spec.as_mut().unwrap().node_name = None;
    assert_eq!(
        observe(&new),
        Observation {
            created: at("2026-01-01T00:00:00Z"),
            scheduled: false,
            stopped: None,
            leaving_by: None,
            disruption: None,
            state: State::Waiting(Wait::Unscheduled),
        }
    );
}

#[test]
fn what_a_pod_waits_for_is_told_in_the_words_of_who_knows() {
    let mut unschedulable = pod(&json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}]}));
    unschedulable.spec.as_mut().unwrap().node_name = None;
    assert_eq!(observe(&unschedulable).state, State::Waiting(Wait::Unschedulable("0/1 nodes are available".into())));

    let waiting = |reason: &str, message: &str| {
        state_of(
            &json!({"phase": "Pending", "containerStatuses": runner(&json!({"waiting": {"reason": reason, "message": message}}))}),
        )
    };
    let image = |message: &str, permanent| State::Waiting(Wait::Image { message: message.into(), permanent });
    assert_eq!(waiting("ErrImagePull", "not found"), image("not found", false));
    assert_eq!(waiting("ImagePullBackOff", ""), image("ImagePullBackOff", false));
    assert_eq!(waiting("ErrImageNeverPull", "not present"), image("not present", true));
    assert_eq!(waiting("InvalidImageName", "bad"), image("bad", true));
    assert_eq!(
        waiting("CreateContainerConfigError", "no subPath"),
        State::Waiting(Wait::Container("no subPath".into()))
    );
    assert_eq!(waiting("ContainerCreating", ""), State::Waiting(Wait::Creating));
}

#[test]
fn a_pod_whose_volumes_are_not_there_yet_says_so() {
    let ready = |status: &str| {
        state_of(&json!({"phase": "Pending", "conditions": [{"type": "PodReadyToStartContainers", "status": status}],
            "containerStatuses": runner(&json!({"waiting": {"reason": "ContainerCreating"}}))}))
    };
    assert_eq!(ready("False"), State::Waiting(Wait::Volumes));
    assert_eq!(ready("True"), State::Waiting(Wait::Creating));
}

#[test]
fn a_runner_that_runs_tells_since_when() {
    let running = json!({"phase": "Running", "containerStatuses": runner(&json!({"running": {"startedAt": "2026-01-01T00:00:02Z"}}))});
    assert_eq!(state_of(&running), State::Running { since: at("2026-01-01T00:00:02Z") });
}

#[test]
fn the_end_of_the_runner_is_the_end_of_the_attempt_whatever_the_pod_says() {
    let message = result(Some(Outcome::Completed), Stage::Ended);
    let status = json!({"phase": "Running", "containerStatuses": terminated(0, "Completed", &message)});
    assert_eq!(
        state_of(&status),
        State::Ended(End {
            cause: Cause::Exit,
            result: RunResult::parse(&message).map(Box::new),
            exit_code: Some(0),
            message: String::new(),
            began: true,
            since: Some(at("2026-01-01T00:00:02Z")),
            at: Some(at("2026-01-01T00:00:05Z")),
        })
    );
}

#[test]
fn each_way_to_end_is_told_apart() {
    let started = result(None, Stage::Started);
    let preparing = result(None, Stage::Preparing);
    let cancelled = result(Some(Outcome::Cancelled), Stage::Ended);
    let threw = result(Some(Outcome::Threw), Stage::Ended);
    let failed =
        |reason: &str, statuses: Value| json!({"phase": "Failed", "reason": reason, "containerStatuses": statuses});
    let evicted = Cause::Disrupted(Disruption::Evicted);
    for (row, status, wanted) in [
        ("threw", json!({"phase": "Failed", "containerStatuses": terminated(1, "Error", &threw)}), (Cause::Exit, true)),
        ("threw, then evicted", failed("Evicted", terminated(1, "Error", &threw)), (Cause::Exit, true)),
        (
            "oom",
            json!({"phase": "Failed", "containerStatuses": terminated(137, "OOMKilled", &started)}),
            (Cause::OutOfMemory, true),
        ),
        ("deadline", failed("DeadlineExceeded", terminated(6, "Error", &cancelled)), (Cause::Deadline, true)),
        ("deadline, killed", failed("DeadlineExceeded", terminated(137, "Error", &started)), (Cause::Deadline, true)),
        ("deadline before it started", failed("DeadlineExceeded", json!(null)), (Cause::Deadline, false)),
        ("evicted while it prepared", failed("Evicted", terminated(137, "Error", &preparing)), (evicted, false)),
        ("evicted after it began", failed("Evicted", terminated(137, "Error", &started)), (evicted, true)),
        ("evicted without a word", failed("Evicted", terminated(137, "Error", "")), (evicted, true)),
        ("evicted before it started", failed("Evicted", json!(null)), (evicted, false)),
        ("node shut down", failed("Terminated", terminated(143, "Error", "")), (evicted, true)),
        ("node refused", failed("OutOfcpu", json!(null)), (Cause::NodeRefused, false)),
        ("unknown to the node", failed("", terminated(137, "ContainerStatusUnknown", "")), (Cause::Exit, true)),
    ] {
        assert_eq!(end_of(&status), wanted, "{row}");
    }
}

#[test]
fn a_runner_that_is_not_in_its_image_is_told_from_another_start_error() {
    let start_error = |message: &str| {
        json!({"phase": "Failed", "containerStatuses": runner(&json!({"terminated": {"exitCode": 128, "reason": "StartError",
            "message": message, "startedAt": "1970-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:05Z"}}))})
    };
    let missing = r#"exec: "/anchorhold-runner": stat /anchorhold-runner: no such file or directory"#;
    assert_eq!(end_of(&start_error(missing)), (Cause::RunnerMissing, false));
    assert_eq!(end_of(&start_error("cannot set up the cgroup")), (Cause::NodeRefused, false));
}

#[test]
fn who_disrupted_a_pod_is_read_from_its_condition() {
    let disrupted = |reason: &str| {
        let condition = json!([{"type": "DisruptionTarget", "status": "True", "reason": reason}]);
        let status =
            json!({"phase": "Failed", "conditions": condition, "containerStatuses": terminated(137, "Error", "")});
        end_of(&status).0
    };
    assert_eq!(disrupted("PreemptionByScheduler"), Cause::Disrupted(Disruption::Preempted));
    assert_eq!(disrupted("DeletionByTaintManager"), Cause::Disrupted(Disruption::NodeLost));
    assert_eq!(disrupted("DeletionByPodGC"), Cause::Disrupted(Disruption::NodeLost));
    assert_eq!(disrupted("EvictionByEvictionAPI"), Cause::Disrupted(Disruption::Evicted));
    assert_eq!(disrupted("SomethingNewer"), Cause::Disrupted(Disruption::Evicted));
}

#[test]
fn a_pod_that_was_deleted_is_told_as_that() {
    let message = result(Some(Outcome::Cancelled), Stage::Ended);
    let mut deleted = pod(&json!({"phase": "Running", "containerStatuses": terminated(6, "Error", &message)}));
    deleted.metadata.deletion_timestamp =
        Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(at("2026-01-01T00:00:14Z")));
    let seen = observe(&deleted);
    assert_eq!(seen.leaving_by, Some(at("2026-01-01T00:00:14Z")));
    // Not explained yet: an eviction writes its condition before it deletes, but the pod may still be told apart by its phase.
    assert!(matches!(seen.state, State::Ended(End { cause: Cause::Deleted, began: true, .. })), "{:?}", seen.state);
}

#[test]
fn a_runner_that_was_told_to_stop_is_not_judged_before_the_pod_says_by_whom() {
    let message = result(Some(Outcome::Cancelled), Stage::Ended);
    let status = json!({"phase": "Running", "containerStatuses": terminated(6, "Error", &message)});
    assert!(matches!(state_of(&status), State::Ending { .. }));

    let mut stopped = pod(&status);
    let stop = Stopped { reason: StopReason::Cancelled, at: at("2026-01-01T00:00:04Z") };
    let marks: Pod = serde_json::from_value(stop.patch()).unwrap();
    stopped.metadata.annotations = marks.metadata.annotations;
    assert_eq!(observe(&stopped).stopped, None, "marks that came without the deadline are somebody else's");
    stopped.spec.get_or_insert_default().active_deadline_seconds = Some(1);
    assert_eq!(observe(&stopped).stopped, Some(stop));
    assert!(matches!(observe(&stopped).state, State::Ended(_)));
}
