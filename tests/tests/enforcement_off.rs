//! A cluster whose policy engine is off: jobs fail closed. Runs alone, since it takes the engine away.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed expectation is a failed test"
)]

use anchorhold_cluster_tests::job::{script, status_of};
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Installation, node};
use serde_json::Value;
use tokio::sync::Mutex;

/// Both tests change the one installation: one after the other.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Starts the engine again whatever happens.
struct EngineOff;

impl EngineOff {
    fn now() -> Self {
        node::stop("kube-router");
        // The rules of the engine outlive it; a fresh pod has none of its own.
        Self
    }
}

impl Drop for EngineOff {
    fn drop(&mut self) {
        node::start("kube-router");
    }
}

#[tokio::test]
async fn without_a_policy_engine_a_job_fails_before_its_script_begins() {
    let _alone = ALONE.lock().await;
    let _ = Installation::with(&[]);
    let case = Case::new("engine-off").await;
    until("every sealed job of other tests to be gone", || async {
        let jobs = case.cluster.list("anchorhold.dev/v1alpha1", "Job", "").await;
        if jobs.is_empty() { Ok(()) } else { Err(jobs.len()) }
    })
    .await;
    {
        let _off = EngineOff::now();
        let job = script("open", "return 'ran'").create(&case.cluster, &case.namespace).await;
        let (reason, message, now) = job.failed().await;
        assert_eq!(reason, "NetworkPolicyNotEnforced");
        assert!(message.contains("NetworkPolicy"), "{message}");
        assert_eq!(status_of(&now, "NetworkPolicyEnforced"), "False");
        assert_eq!(now["status"]["usage"]["scripts"].as_u64().unwrap_or(0), 0, "{:#}", now["status"]);
        assert_eq!(now["status"]["attempts"].as_array().map(Vec::len), Some(1), "{:#}", now["status"]);
        assert_eq!(begun(&case.cluster.logs(&case.namespace, "open-0").await), (false, false));
    }
    // The control: with the engine back, the same job completes.
    let job = script("closed", "return 'ran'").create(&case.cluster, &case.namespace).await;
    job.completed().await;
}

#[tokio::test]
async fn a_script_waits_for_an_engine_that_is_late() {
    let _alone = ALONE.lock().await;
    let _ = Installation::with(&[]);
    let case = Case::new("engine-late").await;
    // That the engine works is known from another job.
    script("sealed", "return 1").create(&case.cluster, &case.namespace).await.completed().await;
    let off = EngineOff::now();
    let late = script("late", "return 'ran'").create(&case.cluster, &case.namespace).await;
    until("a second attempt, after the first waited in vain", || async {
        let pods = late.pods().await;
        let runs = |pod: &Value| pod["status"]["phase"] == "Running" && pod["metadata"]["name"] == "late-1";
        if pods.iter().any(runs) { Ok(()) } else { Err(late.get().await.unwrap_or_default()["status"].clone()) }
    })
    .await;
    drop(off);
    let done = late.completed().await;
    assert_eq!(done["status"]["attempts"][0]["reason"], "NetworkPolicyNotEnforced", "{:#}", done["status"]);
    assert_eq!(done["status"]["attempts"][0]["counted"], false, "{:#}", done["status"]);
    assert_eq!(status_of(&done, "NetworkPolicyEnforced"), "True");
    let last = done["status"]["podName"].as_str().unwrap();
    for pod in late.pods().await {
        let name = pod["metadata"]["name"].as_str().unwrap();
        let sealed_and_begun = (name == last, name == last);
        assert_eq!(begun(&case.cluster.logs(&case.namespace, name).await), sealed_and_begun, "{name}");
    }
}

/// Whether the gate opened, and whether the script began after that.
fn begun(log: &str) -> (bool, bool) {
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let events: Vec<Value> = log.lines().map(read).collect();
    let position = |name: &str| events.iter().position(|event| event["type"] == name);
    let (passed, started) = (position("gate.passed"), position("script.started"));
    assert!(started.is_none() || (passed.is_some() && passed < started), "{log}");
    (passed.is_some(), started.is_some())
}

#[tokio::test]
async fn an_administrator_who_vouches_for_the_cluster_is_quoted_on_every_job() {
    let _alone = ALONE.lock().await;
    let _ = Installation::with(&["networkPolicy.enforcement=Assume"]);
    let case = Case::new("assume").await;
    let job = script("assumed", "return 1").create(&case.cluster, &case.namespace).await;
    let done = job.completed().await;
    let (reason, message) = anchorhold_cluster_tests::job::reason_of(&done, "NetworkPolicyEnforced");
    assert_eq!(reason, "Assumed", "{:#}", done["status"]);
    assert!(message.contains("networkPolicy.enforcement"), "{message}");
}
