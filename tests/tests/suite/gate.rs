//! The network gate holds the script back until the policy is enforced.

use anchorhold_cluster_tests::job::{script, status_of};
use anchorhold_cluster_tests::{Case, Installation};

#[tokio::test]
async fn the_script_starts_only_after_every_canary_refused_three_times_in_a_row() {
    Installation::ready();
    let case = Case::new("gate").await;
    let job = script("gate", "return 1").create(&case.cluster, &case.namespace).await;
    let done = job.completed().await;
    assert_eq!(status_of(&done, "NetworkPolicyEnforced"), "True");
    let log = case.cluster.logs(&case.namespace, "gate-0").await;
    let events: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let position = |name: &str| events.iter().position(|event| event["type"] == name);
    let (passed, started) = (position("gate.passed"), position("script.started"));
    assert!(passed.is_some() && passed < started, "{log}");
}
