//! Every way a job can end badly has its own reason, and its logs stay readable.

use anchorhold_cluster_tests::job::{JobHandle, reason_of, script, status_of};
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Installation};
use serde_json::json;

const FOREVER: &str = "for (;;) {}";

async fn logs_are_readable(case: &Case, job: &JobHandle) {
    let pods = job.pods().await;
    let pod = pods[0]["metadata"]["name"].as_str().unwrap();
    let log = case.cluster.logs(&case.namespace, pod).await;
    assert!(log.contains("run.started"), "the record is not in the log of {pod}: {log}");
}

#[tokio::test]
async fn a_script_that_throws_fails_with_its_error_and_line() {
    Installation::ready();
    let case = Case::new("throws").await;
    let job =
        script("throws", "const x = 1\nthrow new Error('not today')").create(&case.cluster, &case.namespace).await;
    let (reason, message, job_now) = job.failed().await;
    assert_eq!(reason, "ScriptError");
    assert!(message.contains("not today") && message.contains('2'), "{message}");
    assert_eq!(job_now["status"]["reason"], "ScriptError");
    assert_eq!(status_of(&job_now, "Stalled"), "True");
    logs_are_readable(&case, &job).await;
}

#[tokio::test]
async fn a_deadline_ends_the_job_and_keeps_its_logs() {
    Installation::ready();
    let case = Case::new("deadline").await;
    let job =
        script("slow", FOREVER).with("activeDeadlineSeconds", json!(12)).create(&case.cluster, &case.namespace).await;
    assert_eq!(job.failed().await.0, "DeadlineExceeded");
    logs_are_readable(&case, &job).await;
}

#[tokio::test]
async fn a_cancelled_job_stops_says_why_and_keeps_its_logs() {
    Installation::ready();
    let case = Case::new("cancel").await;
    let job = script("endless", FOREVER)
        .with("activeDeadlineSeconds", json!(600))
        .create(&case.cluster, &case.namespace)
        .await;
    job.started().await;
    job.change(json!({"cancel": {"reason": "a better plan"}})).await;
    let (reason, message, _) = job.failed().await;
    assert_eq!(reason, "Cancelled");
    assert!(message.contains("a better plan"), "{message}");
    until("the pod to have stopped", || async {
        let phase = job.pods().await[0]["status"]["phase"].clone();
        if phase == "Failed" || phase == "Succeeded" { Ok(()) } else { Err(phase) }
    })
    .await;
    logs_are_readable(&case, &job).await;
}

#[tokio::test]
async fn a_job_cancelled_before_it_started_makes_no_pod() {
    Installation::ready();
    let case = Case::new("cancel-early").await;
    let job = script("never", FOREVER).with("suspend", json!(true)).create(&case.cluster, &case.namespace).await;
    job.wait_for("Suspended").await;
    job.change(json!({"cancel": {"reason": "not needed"}})).await;
    assert_eq!(job.failed().await.0, "Cancelled");
    assert_eq!(job.pods().await.len(), 0);
}

#[tokio::test]
async fn an_agent_that_is_suspended_stops_its_running_jobs() {
    Installation::ready();
    let case = Case::new("kill-switch").await;
    let job =
        script("runs", FOREVER).with("activeDeadlineSeconds", json!(600)).create(&case.cluster, &case.namespace).await;
    job.started().await;
    let patch = json!({"spec": {"suspend": true}});
    case.cluster.patch("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "runs", &patch).await.unwrap();
    assert_eq!(job.failed().await.0, "AgentSuspended");
}

#[tokio::test]
async fn a_script_that_needs_more_memory_than_the_pod_has_is_oom_killed() {
    Installation::ready();
    let case = Case::new("oom").await;
    let eat = "const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1))";
    let job = script("eats", eat)
        .agent(
            "sandbox",
            json!({"resources": {"limits": {"memory": "64Mi"}, "requests": {"memory": "16Mi", "cpu": "10m"}}}),
        )
        .create(&case.cluster, &case.namespace)
        .await;
    assert_eq!(job.failed().await.0, "OOMKilled");
    logs_are_readable(&case, &job).await;
}

#[tokio::test]
async fn a_pod_that_fits_no_node_fails_as_unschedulable_when_the_start_deadline_passes() {
    Installation::ready();
    let case = Case::new("unschedulable").await;
    let job = script("nowhere", "return 1")
        .agent("sandbox", json!({"nodeSelector": {"kubernetes.io/hostname": "no-such-node"}}))
        .with("startDeadlineSeconds", json!(3))
        .create(&case.cluster, &case.namespace)
        .await;
    let (reason, message, _) = job.failed().await;
    assert_eq!(reason, "Unschedulable");
    assert!(message.contains("0/1 nodes are available"), "{message}");
}

#[tokio::test]
async fn an_image_that_cannot_be_pulled_is_named() {
    Installation::ready();
    let case = Case::new("bad-image").await;
    let job = script("pull", "return 1")
        .with(
            "sources",
            json!([{"name": "app", "image": {"reference": "localhost/no-such-image:1", "pullPolicy": "IfNotPresent"}}]),
        )
        .with("startDeadlineSeconds", json!(5))
        .create(&case.cluster, &case.namespace)
        .await;
    let (reason, message, _) = job.failed().await;
    assert_eq!(reason, "ImagePullFailed");
    assert!(message.contains("localhost/no-such-image:1"), "{message}");
}

#[tokio::test]
async fn an_exceeded_quota_keeps_the_job_pending_until_there_is_room() {
    Installation::ready();
    let case = Case::new("quota").await;
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}});
    case.cluster.create(&case.namespace, &quota.to_string()).await;
    until("the quota to be in force", || async {
        let quota = case.cluster.get("v1", "ResourceQuota", &case.namespace, "none").await.unwrap_or_default();
        if quota["status"]["hard"]["pods"] == "0" { Ok(()) } else { Err(quota) }
    })
    .await;
    let job = script("waits", "return 1").create(&case.cluster, &case.namespace).await;
    until("the job to say that the quota is exceeded", || async {
        let job = job.get().await.unwrap_or_default();
        if reason_of(&job, "Reconciling").0 == "QuotaExceeded" { Ok(()) } else { Err(job["status"].clone()) }
    })
    .await;
    let room = json!({"spec": {"hard": {"pods": "5"}}});
    case.cluster.patch("v1", "ResourceQuota", &case.namespace, "none", &room).await.unwrap();
    job.completed().await;
}

#[tokio::test]
async fn a_finished_job_keeps_its_verdict_when_its_agent_and_pod_leave() {
    Installation::ready();
    let case = Case::new("verdict").await;
    let job = script("done", "return 1").create(&case.cluster, &case.namespace).await;
    let before = job.completed().await;
    case.cluster.delete("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "done").await;
    case.cluster.delete("v1", "Pod", &case.namespace, "done-0").await;
    until("the pod to be gone", || async { if job.pods().await.is_empty() { Ok(()) } else { Err("still there") } })
        .await;
    // A label makes the operator look at the job once more, whatever it watches.
    let touch = json!({"metadata": {"labels": {"touched": "yes"}}});
    case.cluster.patch("anchorhold.dev/v1alpha1", "Job", &case.namespace, "done", &touch).await.unwrap();
    let fresh = script("fresh", "return 2").create(&case.cluster, &case.namespace).await;
    fresh.completed().await;
    assert_eq!(job.get().await.unwrap()["status"], before["status"]);
}
