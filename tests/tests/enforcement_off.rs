//! A cluster whose policy engine is off: jobs fail closed. Runs alone, since it takes the engine away.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

use anchorhold_cluster_tests::job::{script, status_of};
use anchorhold_cluster_tests::{Case, Installation, node};
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
    {
        let _off = EngineOff::now();
        let job = script("open", "return 'ran'").create(&case.cluster, &case.namespace).await;
        let (reason, message, now) = job.failed().await;
        assert_eq!(reason, "NetworkPolicyNotEnforced");
        assert!(message.contains("NetworkPolicy"), "{message}");
        assert_eq!(status_of(&now, "NetworkPolicyEnforced"), "False");
        assert_eq!(now["status"]["usage"]["scripts"].as_u64().unwrap_or(0), 0, "{:#}", now["status"]);
        let log = case.cluster.logs(&case.namespace, "open-0").await;
        assert!(!log.contains("script.started"), "{log}");
    }
    // The control: with the engine back, the same job completes.
    let job = script("closed", "return 'ran'").create(&case.cluster, &case.namespace).await;
    job.completed().await;
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
