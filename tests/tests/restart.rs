//! The operator is killed at each of its writes: no job is lost, and none gets a second pod.
//!
//! The operator runs as a process of this machine, as the service account of the installation, through a relay that kills
//! it (see `relay.rs`). The one in the cluster rests meanwhile.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::operator::{Operator, Proxy, scale_to};
use anchorhold_cluster_tests::relay::{Moment, Relay};
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Installation};
use serde_json::json;

/// More writes than one job causes; the loop ends at the first run in which the operator was not killed.
const WRITES: usize = 20;

#[tokio::test]
async fn an_operator_killed_at_any_write_makes_no_second_pod_and_loses_no_job() {
    let _ = Installation::with(&["networkPolicy.enforcement=Assume"]);
    let case = Case::new("killed").await;
    let user = scale_to(0);
    let proxy = Proxy::start().await;
    let mut survived = Vec::new();
    for number in 0..WRITES {
        for moment in [Moment::BeforeRequest(number), Moment::AfterRequest(number)] {
            let name = format!(
                "kill-{}",
                format!("{moment:?}")
                    .to_lowercase()
                    .replace(['(', ')'], "-")
                    .trim_end_matches('-')
                    .replace("request", "")
            );
            if !one(&case, &proxy, &user, &name, moment).await {
                survived.push(number);
            }
        }
        if survived.len() >= 2 {
            break;
        }
    }
    scale_to(1);
    let last = survived.first().copied().unwrap_or(WRITES);
    assert!(
        (4..WRITES).contains(&last),
        "a job takes at least four writes and fewer than {WRITES}; the operator survived at {survived:?}"
    );
}

/// One job with an operator that dies at the moment, and a second operator after it. Returns whether the first one died.
async fn one(case: &Case, proxy: &Proxy, user: &str, name: &str, moment: Moment) -> bool {
    let agent = script("kill", "").agent_manifest();
    // The agent is there, and settled by an operator of its own, so that the writes that are counted are the job's.
    if case.cluster.get("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "kill").await.is_none() {
        case.cluster.create(&case.namespace, &agent).await;
        let relay = Relay::start(proxy.address, user, Moment::Never).await;
        let _operator = Operator::start(&relay, &case.namespace);
        until("the agent to be settled", || async {
            let agent =
                case.cluster.get("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "kill").await.unwrap_or_default();
            if anchorhold_cluster_tests::job::status_of(&agent, "Ready") == "True" { Ok(()) } else { Err(agent) }
        })
        .await;
    }
    let relay = Relay::start(proxy.address, user, moment).await;
    let mut first = Operator::start(&relay, &case.namespace);
    relay.aim(first.id());
    let mut job: serde_json::Value = serde_json::from_str(&script(name, "return 1").manifest()).unwrap();
    job["spec"]["agentRef"]["name"] = json!("kill");
    let created = case.cluster.create(&case.namespace, &job.to_string()).await;
    let uid = created["metadata"]["uid"].as_str().unwrap().to_owned();
    let finished = || async {
        let job = case.cluster.get("anchorhold.dev/v1alpha1", "Job", &case.namespace, name).await.unwrap_or_default();
        if anchorhold_cluster_tests::job::status_of(&job, "Complete") == "True" {
            Ok(job)
        } else {
            Err(job["status"].clone())
        }
    };
    until("the operator to be killed, or the job to complete without", || async {
        if relay.has_struck() { Ok(()) } else { finished().await.map(drop) }
    })
    .await;
    let died = relay.has_struck();
    if died {
        first.wait();
        let calm = Relay::start(proxy.address, user, Moment::Never).await;
        let _second = Operator::start(&calm, &case.namespace);
        let done = until(&format!("{name} to complete under the second operator"), finished).await;
        assert_eq!(done["status"]["attempts"].as_array().map(Vec::len), Some(1), "{moment:?}: {:#}", done["status"]);
    }
    let pods = case.cluster.list("v1", "Pod", &case.namespace).await;
    let own = pods.iter().filter(|pod| pod["metadata"]["ownerReferences"][0]["uid"] == uid.as_str()).count();
    assert_eq!(own, 1, "{moment:?}");
    died
}
