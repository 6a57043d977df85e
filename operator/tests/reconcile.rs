//! A job's reconcile against failures that a real API server does not show on request, and against restarts: every test
//! asserts what is there in the end and what was asked for, not in which order.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

mod fake_api;

use anchorhold_operator::error::Class;
use anchorhold_operator::settings::PolicyEnforcement;
use serde_json::{Value, json};

use self::fake_api::operator::{Operator, agent, job};
use self::fake_api::{FakeApi, Fault};

const DONE: &str =
    r#"{"stage":"Ended","outcome":"Completed","text":"1","textBytes":1,"sha256":"ab","enforcement":"Enforced"}"#;
const STARTED: &str = r#"{"stage":"Started"}"#;
const CANCELLED: &str = r#"{"stage":"Ended","outcome":"Cancelled"}"#;

/// A fake with the Job and its Agent.
async fn with(spec: Value) -> FakeApi {
    let fake = FakeApi::start().await;
    fake.put("agents", agent());
    fake.put("jobs", job(&spec));
    fake
}

fn operator(fake: &FakeApi) -> Operator {
    Operator::start(fake, PolicyEnforcement::Probe)
}

fn status(fake: &FakeApi) -> Value {
    fake.get("jobs/count").unwrap()["status"].clone()
}

fn condition(fake: &FakeApi, type_: &str) -> (String, String, String) {
    let status = status(fake);
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.into_iter().find(|condition| condition["type"] == type_).unwrap_or_default();
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"), text("message"))
}

fn failed(fake: &FakeApi) -> (String, String) {
    let (status, reason, message) = condition(fake, "Failed");
    assert_eq!(status, "True", "{:#}", self::status(fake));
    (reason, message)
}

fn pods(fake: &FakeApi) -> Vec<String> {
    fake.all("pods").iter().map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// What the scheduler and the kubelet write of a pod.
fn kubelet(fake: &FakeApi, pod: &str, phase: &str, reason: &str, state: &Value) {
    fake.change(&format!("pods/{pod}"), |pod| {
        pod["spec"]["nodeName"] = "node".into();
        pod["status"] = json!({"phase": phase, "reason": reason, "containerStatuses": [{"name": "runner", "image": "r",
            "imageID": "r@sha256:1", "ready": false, "restartCount": 0, "state": state}]});
    });
}

fn runs(fake: &FakeApi, pod: &str) {
    kubelet(fake, pod, "Running", "", &json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}));
}

fn ends(fake: &FakeApi, pod: &str, reason: &str, exit_code: i32, message: &str) {
    let phase = if exit_code == 0 { "Succeeded" } else { "Failed" };
    kubelet(
        fake,
        pod,
        phase,
        reason,
        &json!({"terminated": {"exitCode": exit_code, "reason": "x", "message": message,
            "startedAt": "2026-01-01T00:00:00Z", "finishedAt": format!("{:.0}", jiff::Timestamp::now())}}),
    );
}

const QUOTA: &str =
    r#"pods "count-0" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1"#;

fn fault(request: &'static str, code: u16, reason: &'static str, message: &'static str) -> Fault {
    Fault { request, code, reason, message, lost: false }
}

#[tokio::test]
async fn a_job_takes_few_requests_from_its_creation_to_its_end() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    let mut made = fake.log();
    made[..4].sort_unstable();
    assert_eq!(
        made,
        [
            "GET networkpolicies/anchorhold-jobs",
            "POST configmaps/count-plan",
            "POST networkpolicies/anchorhold-jobs",
            "POST networkpolicies/count",
            "POST pods/count-0",
            "PATCH jobs/count/status"
        ]
    );
    operator.pass().await.unwrap();
    assert_eq!(fake.log(), [""; 0], "a second pass over the same writes nothing");
    runs(&fake, "count-0");
    operator.pass().await.unwrap();
    operator.pass().await.unwrap();
    ends(&fake, "count-0", "", 0, DONE);
    operator.pass().await.unwrap();
    operator.pass().await.unwrap();
    assert_eq!(fake.log(), ["PATCH jobs/count/status", "PATCH jobs/count/status"]);
    assert_eq!(condition(&fake, "Complete").0, "True");
    assert_eq!(condition(&fake, "NetworkPolicyEnforced").0, "True");
    assert_eq!(status(&fake)["result"]["text"], "1");
    assert_eq!(status(&fake)["resolved"]["agentGeneration"], 3);
}

#[tokio::test]
async fn a_watch_that_lags_behind_neither_makes_a_second_pod_nor_writes_twice() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    operator.catch_up();
    let first_seen = fake.get("jobs/count").unwrap();
    operator.pass_with(first_seen.clone()).await.unwrap();
    let after_one = status(&fake);
    fake.log();
    // The stores still hold neither the pod nor the status; only the ledger knows better, and asks.
    operator.pass_with(first_seen).await.unwrap();
    assert_eq!(fake.log(), ["GET pods/count-0"]);
    assert_eq!((pods(&fake), status(&fake)), (vec!["count-0".to_owned()], after_one));
}

#[tokio::test]
async fn killed_at_any_step_the_next_process_takes_up_where_it_ended() {
    for lost in [
        "POST networkpolicies/count",
        "POST configmaps/count-plan",
        "POST pods/count-0",
        "POST networkpolicies/anchorhold-jobs",
        "PATCH jobs/count/status",
    ] {
        let fake = with(json!({})).await;
        fake.fail(Fault { request: lost, code: 500, reason: "InternalError", message: "cut off", lost: true });
        assert_eq!(operator(&fake).pass().await.unwrap_err().class(), Class::Transient, "{lost}");
        let mut next = operator(&fake);
        next.pass().await.unwrap();
        next.pass().await.unwrap();
        assert_eq!(pods(&fake), ["count-0"], "{lost}");
        ends(&fake, "count-0", "", 0, DONE);
        next.pass().await.unwrap();
        assert_eq!(condition(&fake, "Complete").0, "True", "{lost}");
        assert_eq!(status(&fake)["attempts"].as_array().unwrap().len(), 1, "{lost}");
        let baseline = fake.get("networkpolicies/anchorhold-jobs").unwrap();
        assert_eq!(baseline["metadata"]["ownerReferences"], Value::Null, "{lost}: it outlives every job");
    }
}

#[tokio::test]
async fn killed_before_its_end_was_reported_a_job_is_reported_by_the_next_process() {
    let fake = with(json!({})).await;
    operator(&fake).pass().await.unwrap();
    ends(&fake, "count-0", "", 0, DONE);
    fake.fail(Fault {
        request: "PATCH jobs/count/status",
        code: 500,
        reason: "InternalError",
        message: "",
        lost: false,
    });
    operator(&fake).pass().await.unwrap_err();
    operator(&fake).pass().await.unwrap();
    assert_eq!(condition(&fake, "Complete").0, "True");
}

#[tokio::test]
async fn a_status_computed_from_an_older_job_is_refused_and_computed_again() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    let old = fake.get("jobs/count").unwrap();
    fake.change("jobs/count", |job| job["metadata"]["labels"] = json!({"touched": "yes"}));
    runs(&fake, "count-0");
    operator.catch_up();
    let error = operator.pass_with(old).await.unwrap_err();
    assert_eq!(error.class(), Class::Transient);
    operator.pass().await.unwrap();
    assert_eq!(status(&fake)["state"], "Running");
    assert_eq!(fake.get("jobs/count").unwrap()["metadata"]["labels"]["touched"], "yes");
}

#[tokio::test]
async fn our_own_missing_permission_is_not_the_jobs_failure() {
    let fake = with(json!({})).await;
    fake.fail(fault(
        "POST pods/count-0",
        403,
        "Forbidden",
        r#"pods is forbidden: User "x" cannot create resource "pods" in API group """#,
    ));
    let error = operator(&fake).pass().await.unwrap_err();
    assert_eq!(error.class(), Class::Forbidden);
    assert_eq!(condition(&fake, "Failed").0, "");
}

#[tokio::test]
async fn a_pod_that_admission_refuses_fails_the_job_with_its_words() {
    let fake = with(json!({})).await;
    fake.fail(fault(
        "POST pods/count-0",
        403,
        "Forbidden",
        r#"pods "count-0" is forbidden: violates PodSecurity "none:latest""#,
    ));
    operator(&fake).pass().await.unwrap();
    let (reason, message) = failed(&fake);
    assert_eq!(reason, "PodRejected");
    assert!(message.contains("violates PodSecurity"), "{message}");
}

#[tokio::test]
async fn an_exceeded_quota_holds_the_job_until_there_is_room() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    for _ in 0..2 {
        fake.fail(fault("POST pods/count-0", 403, "Forbidden", QUOTA));
        operator.pass().await.unwrap();
        assert_eq!(condition(&fake, "Reconciling").1, "QuotaExceeded");
    }
    assert_eq!(condition(&fake, "Reconciling").2, QUOTA);
    operator.pass().await.unwrap();
    assert_eq!((pods(&fake), status(&fake)["reason"].clone()), (vec!["count-0".to_owned()], json!("Starting")));
}

#[tokio::test]
async fn an_exceeded_quota_ends_a_job_only_whose_user_set_a_deadline() {
    let old = "2026-01-01T00:00:00Z";
    for (spec, fails) in [(json!({}), false), (json!({"startDeadlineSeconds": 60}), true)] {
        let fake = with(spec).await;
        fake.change("jobs/count", |job| job["metadata"]["creationTimestamp"] = old.into());
        fake.fail(fault("POST pods/count-0", 403, "Forbidden", QUOTA));
        operator(&fake).pass().await.unwrap();
        let reason = if fails { "StartDeadlineExceeded" } else { "" };
        assert_eq!(condition(&fake, "Failed").1, reason);
    }
}

#[tokio::test]
async fn a_foreign_object_of_our_name_is_left_alone_and_named() {
    for (plural, name, kind) in [("networkpolicies", "count", "NetworkPolicy"), ("pods", "count-0", "Pod")] {
        let fake = with(json!({})).await;
        let foreign = json!({"metadata": {"name": name, "namespace": "team-a", "uid": "theirs"}});
        fake.put(plural, foreign);
        let before = fake.get(&format!("{plural}/{name}"));
        operator(&fake).pass().await.unwrap();
        let (reason, message) = failed(&fake);
        assert_eq!(reason, "NameConflict");
        assert!(message.contains(&format!("{kind} {name}")), "{message}");
        assert_eq!(fake.get(&format!("{plural}/{name}")), before);
    }
}

#[tokio::test]
async fn what_a_former_job_of_the_name_left_is_waited_for() {
    let fake = with(json!({})).await;
    let owner = json!([{"apiVersion": "anchorhold.dev/v1alpha1", "kind": "Job", "name": "count", "uid": "former", "controller": true}]);
    fake.put(
        "pods",
        json!({"metadata": {"name": "count-0", "namespace": "team-a", "uid": "p", "ownerReferences": owner}}),
    );
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    assert_eq!(condition(&fake, "Reconciling").1, "Pending");
    assert_eq!(condition(&fake, "Failed").0, "");
    fake.take("pods/count-0");
    operator.pass().await.unwrap();
    assert_eq!(status(&fake)["podName"], "count-0");
}

#[tokio::test]
async fn a_policy_that_somebody_opened_is_not_used() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    fake.fail(fault("POST pods/count-0", 403, "Forbidden", QUOTA));
    operator.pass().await.unwrap();
    fake.change("networkpolicies/count", |policy| policy["spec"]["egress"] = json!([{}]));
    operator.pass().await.unwrap();
    assert_eq!(pods(&fake), [""; 0]);
    assert_eq!(failed(&fake).0, "NameConflict");
}

#[tokio::test]
async fn a_pod_that_vanished_is_replaced_without_counting_unless_it_had_run() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    fake.take("pods/count-0");
    operator.pass().await.unwrap();
    assert_eq!(status(&fake)["attempts"][0]["counted"], false);
    assert_eq!(status(&fake)["attempts"][0]["reason"], "PodDeleted");
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    operator.pass().await.unwrap();
    assert_eq!(pods(&fake), ["count-1"]);
    runs(&fake, "count-1");
    operator.pass().await.unwrap();
    fake.take("pods/count-1");
    operator.pass().await.unwrap();
    assert_eq!(failed(&fake).0, "PodDeleted");
}

#[tokio::test]
async fn a_cancelled_job_is_stopped_by_its_deadline_and_keeps_its_pod() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    runs(&fake, "count-0");
    operator.pass().await.unwrap();
    fake.change("jobs/count", |job| job["spec"]["cancel"] = json!({"reason": "a better plan"}));
    fake.log();
    operator.pass().await.unwrap();
    operator.pass().await.unwrap();
    assert_eq!(fake.log(), ["PATCH pods/count-0"], "it is told once");
    assert_eq!(fake.get("pods/count-0").unwrap()["spec"]["activeDeadlineSeconds"], 1);
    ends(&fake, "count-0", "DeadlineExceeded", 6, CANCELLED);
    // Whoever looks now, a new process too, knows why the kubelet calls it a deadline.
    self::operator(&fake).pass().await.unwrap();
    assert_eq!(failed(&fake), ("Cancelled".to_owned(), "a better plan".to_owned()));
    assert_eq!(pods(&fake), ["count-0"]);
}

#[tokio::test]
async fn a_job_cancelled_while_its_pod_waits_ends_at_once_and_the_pod_never_runs() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    fake.change("jobs/count", |job| job["spec"]["cancel"] = json!({"reason": "not needed"}));
    operator.pass().await.unwrap();
    assert_eq!(failed(&fake).0, "Cancelled");
    operator.pass().await.unwrap();
    assert_eq!(pods(&fake), [""; 0], "no node had taken it, so it had no log to keep");
}

#[tokio::test]
async fn a_pod_that_a_node_takes_while_we_delete_it_is_looked_at_again() {
    let fake = with(json!({"suspend": false})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    fake.change("jobs/count", |job| job["spec"]["suspend"] = true.into());
    operator.catch_up();
    let seen = fake.get("jobs/count").unwrap();
    runs(&fake, "count-0");
    assert_eq!(operator.pass_with(seen).await.unwrap_err().class(), Class::Transient);
    operator.pass().await.unwrap();
    assert_eq!(fake.get("pods/count-0").unwrap()["spec"]["activeDeadlineSeconds"], 1);
}

#[tokio::test]
async fn a_suspended_job_goes_on_with_a_new_attempt() {
    let fake = with(json!({"backoffLimit": 0})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    runs(&fake, "count-0");
    operator.pass().await.unwrap();
    fake.change("jobs/count", |job| job["spec"]["suspend"] = true.into());
    operator.pass().await.unwrap();
    ends(&fake, "count-0", "DeadlineExceeded", 6, CANCELLED);
    operator.pass().await.unwrap();
    operator.pass().await.unwrap();
    assert_eq!(condition(&fake, "Suspended").0, "True");
    assert_eq!(status(&fake)["startTime"], Value::Null);
    fake.change("jobs/count", |job| job["spec"]["suspend"] = false.into());
    operator.pass().await.unwrap();
    assert_eq!(pods(&fake), ["count-0", "count-1"]);
    assert_eq!(condition(&fake, "Suspended").0, "False");
    ends(&fake, "count-1", "", 0, DONE);
    operator.pass().await.unwrap();
    assert_eq!(condition(&fake, "Complete").0, "True");
}

#[tokio::test]
async fn a_new_attempt_runs_what_the_agent_grants_by_then() {
    let fake = with(json!({"suspend": false})).await;
    operator(&fake).pass().await.unwrap();
    runs(&fake, "count-0");
    // Somebody pauses the job, and the agent's owner takes tools away meanwhile.
    fake.change("jobs/count", |job| job["spec"]["suspend"] = true.into());
    operator(&fake).pass().await.unwrap();
    ends(&fake, "count-0", "DeadlineExceeded", 6, CANCELLED);
    operator(&fake).pass().await.unwrap();
    fake.change("agents/reader", |agent| {
        agent["metadata"]["generation"] = 4.into();
        agent["spec"]["tools"] = json!(["codemode", "read"]);
        agent["spec"]["limits"] = json!({"turns": 1, "timeoutSeconds": 77});
    });
    fake.change("jobs/count", |job| job["spec"]["suspend"] = false.into());
    for _ in 0..3 {
        operator(&fake).pass().await.unwrap();
    }
    let mounted = |pod: &str| {
        let pod = fake.get(&format!("pods/{pod}")).unwrap();
        let plan = pod["spec"]["volumes"][0]["configMap"]["name"].as_str().unwrap().to_owned();
        let plan = fake.get(&format!("configmaps/{plan}")).unwrap();
        let plan: Value = serde_json::from_str(plan["data"]["plan.json"].as_str().unwrap()).unwrap();
        plan["tools"].clone()
    };
    assert_eq!(mounted("count-0"), json!(["read", "ls", "grep", "find", "codemode"]));
    assert_eq!(mounted("count-1"), json!(["read", "codemode"]));
    let resolved = &status(&fake)["resolved"];
    assert_eq!(resolved["tools"], json!([{"name": "read"}, {"name": "codemode"}]));
    assert_eq!((&resolved["agentGeneration"], &resolved["activeDeadlineSeconds"]), (&json!(4), &json!(77)));
}

#[tokio::test]
async fn an_evicted_attempt_counts_once_its_script_had_begun() {
    let fake = with(json!({"backoffLimit": 1})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    ends(&fake, "count-0", "Evicted", 137, STARTED);
    operator.pass().await.unwrap();
    assert_eq!(status(&fake)["attempts"][0]["counted"], true);
    assert_eq!(status(&fake)["reason"], "BackingOff");
    operator.pass().await.unwrap();
    assert_eq!(pods(&fake), ["count-0"], "ten seconds have not passed");
}

#[tokio::test]
async fn a_job_that_was_deleted_meanwhile_is_not_an_error_and_gets_nothing() {
    let fake = with(json!({})).await;
    let mut operator = operator(&fake);
    operator.catch_up();
    let seen = fake.take("jobs/count").unwrap();
    let error = operator.pass_with(seen).await.unwrap_err();
    assert_eq!(error.class(), Class::Gone, "its pod, if one was made, follows by its owner reference");

    let fake = with(json!({})).await;
    fake.change("jobs/count", |job| job["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into());
    self::operator(&fake).pass().await.unwrap();
    assert_eq!(fake.log(), [""; 0]);
}

#[tokio::test]
async fn an_ended_job_is_removed_when_its_time_is_over() {
    let fake = with(json!({"ttlSecondsAfterFinished": 0})).await;
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    ends(&fake, "count-0", "", 0, DONE);
    operator.pass().await.unwrap();
    operator.pass().await.unwrap();
    assert_eq!(fake.get("jobs/count"), None);
}

#[tokio::test]
async fn a_missing_agent_is_named_and_awaited_and_one_seen_late_is_not_missing() {
    let fake = FakeApi::start().await;
    fake.put("jobs", job(&json!({})));
    let mut operator = operator(&fake);
    operator.pass().await.unwrap();
    let (status, reason, message) = condition(&fake, "ResolvedRefs");
    assert_eq!((status.as_str(), reason.as_str()), ("False", "AgentNotFound"));
    assert!(message.starts_with("spec.agentRef.name: Agent reader"), "{message}");

    fake.put("agents", agent());
    let seen = fake.get("jobs/count").unwrap();
    operator.pass_with(seen).await.unwrap();
    assert_eq!(pods(&fake), ["count-0"], "the store has not seen the agent, the API server has");
    assert_eq!(condition(&fake, "ResolvedRefs").0, "True");
}

#[tokio::test]
async fn a_source_that_is_missing_is_named_by_its_field() {
    for (source, wanted) in [
        (
            json!({"name": "app", "configMap": {"name": "code"}}),
            "spec.sources[0].configMap.name: ConfigMap code does not exist",
        ),
        (
            json!({"name": "app", "persistentVolumeClaim": {"claimName": "disk"}}),
            "spec.sources[0].persistentVolumeClaim.claimName: ",
        ),
    ] {
        let fake = with(json!({"sources": [source]})).await;
        operator(&fake).pass().await.unwrap();
        let (_, reason, message) = condition(&fake, "ResolvedRefs");
        assert_eq!(reason, "SourceNotFound");
        assert!(message.starts_with(wanted), "{message}");
        assert_eq!(pods(&fake), [""; 0]);
    }
    let items = json!({"name": "code", "items": [{"key": "main.rs", "path": "main.rs"}]});
    let fake = with(json!({"sources": [{"name": "app", "configMap": items}]})).await;
    fake.put("configmaps", json!({"metadata": {"name": "code"}, "data": {"other": "x"}}));
    operator(&fake).pass().await.unwrap();
    let (_, _, message) = condition(&fake, "ResolvedRefs");
    assert!(
        message.starts_with("spec.sources[0].configMap.items[0].key: ConfigMap code has no key main.rs"),
        "{message}"
    );
}

#[tokio::test]
async fn without_a_canary_that_answers_no_pod_is_made_unless_the_installation_vouches() {
    let fake = with(json!({})).await;
    let mut closed = Operator::start_with_canary(&fake, PolicyEnforcement::Probe, "127.0.0.1:1".parse().unwrap());
    closed.pass().await.unwrap();
    assert_eq!(pods(&fake), [""; 0]);
    assert_eq!(condition(&fake, "Reconciling").1, "CanaryUnreachable");

    let mut vouched = Operator::start_with_canary(&fake, PolicyEnforcement::Assume, "127.0.0.1:1".parse().unwrap());
    vouched.pass().await.unwrap();
    assert_eq!(pods(&fake), ["count-0"]);
    let (status, reason, _) = condition(&fake, "NetworkPolicyEnforced");
    assert_eq!((status.as_str(), reason.as_str()), ("Unknown", "Assumed"));
}
