//! Two hundred jobs at once; alone, since it takes the whole node.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

use anchorhold_cluster_tests::job::{script, status_of};
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Installation};
use serde_json::Value;

const JOBS: usize = 200;

#[tokio::test]
async fn two_hundred_jobs_at_once_all_finish_each_with_exactly_one_pod() {
    Installation::ready();
    let case = Case::new("burst").await;
    case.cluster.create(&case.namespace, &script("burst", "").agent_manifest()).await;
    for batch in (0..JOBS).collect::<Vec<_>>().chunks(20) {
        let mut creating = tokio::task::JoinSet::new();
        for &number in batch {
            let (cluster, namespace) = (case.cluster.clone(), case.namespace.clone());
            creating.spawn(async move {
                let mut job: Value =
                    serde_json::from_str(&script(&format!("burst-{number}"), "return 1").manifest()).unwrap();
                job["spec"]["agentRef"]["name"] = "burst".into();
                cluster.create(&namespace, &job.to_string()).await;
            });
        }
        while let Some(created) = creating.join_next().await {
            created.unwrap();
        }
    }
    // Longer than one wait: the kubelet starts two to four pods a second here.
    let mut last = 0;
    loop {
        last = until("more jobs to complete", || async {
            let jobs = case.cluster.list("anchorhold.dev/v1alpha1", "Job", &case.namespace).await;
            let done = jobs.iter().filter(|job| status_of(job, "Complete") == "True").count();
            let failed: Vec<_> =
                jobs.iter().filter(|job| status_of(job, "Failed") == "True").map(|job| &job["status"]).collect();
            assert!(failed.is_empty(), "{failed:#?}");
            if done > last { Ok(done) } else { Err(done) }
        })
        .await;
        if last == JOBS {
            break;
        }
    }
    let pods = case.cluster.list("v1", "Pod", &case.namespace).await;
    let mut owners: Vec<_> =
        pods.iter().map(|pod| pod["metadata"]["ownerReferences"][0]["name"].as_str().unwrap()).collect();
    owners.sort_unstable();
    owners.dedup();
    assert_eq!((pods.len(), owners.len()), (JOBS, JOBS));
}
