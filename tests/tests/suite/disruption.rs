//! Pods that are taken away: before the script began it is tried again without counting, after it began it counts.

use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Installation};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, EvictParams};
use serde_json::json;

const FOREVER: &str = "for (;;) {}";

#[tokio::test]
async fn an_evicted_job_fails_as_evicted_and_keeps_the_attempt() {
    Installation::ready();
    let case = Case::new("evicted").await;
    let job = script("evicted", FOREVER)
        .with("activeDeadlineSeconds", json!(600))
        .create(&case.cluster, &case.namespace)
        .await;
    let pod = job.started().await;
    let pods: Api<Pod> = Api::namespaced(case.cluster.client.clone(), &case.namespace);
    pods.evict(&pod, &EvictParams::default()).await.unwrap();
    let (reason, _, now) = job.failed().await;
    assert_eq!(reason, "Evicted");
    assert_eq!(now["status"]["attempts"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_pod_deleted_from_outside_is_replaced_as_often_as_backoff_limit_allows() {
    Installation::ready();
    let case = Case::new("deleted").await;
    let job = script("deleted", FOREVER).with("activeDeadlineSeconds", json!(600)).with("backoffLimit", json!(1));
    let job = job.create(&case.cluster, &case.namespace).await;
    let first = job.started().await;
    case.cluster.delete("v1", "Pod", &case.namespace, &first).await;
    let second = until("a second attempt", || async {
        let name = job.started().await;
        if name == first { Err(name) } else { Ok(name) }
    })
    .await;
    assert_eq!((first.as_str(), second.as_str()), ("deleted-0", "deleted-1"));
    case.cluster.delete("v1", "Pod", &case.namespace, &second).await;
    let (reason, _, now) = job.failed().await;
    assert_eq!(reason, "PodDeleted");
    assert_eq!(now["status"]["attempts"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_pod_that_leaves_before_its_script_began_is_replaced_without_counting() {
    Installation::ready();
    let case = Case::new("uncounted").await;
    // A node selector holds the pod back, so that it is certain that nothing ran.
    let job = script("early", "return 1").agent("sandbox", json!({"nodeSelector": {"anchorhold-tests/early": "yes"}}));
    let job = job.create(&case.cluster, &case.namespace).await;
    until("the first pod", || async { if job.pods().await.is_empty() { Err("none") } else { Ok(()) } }).await;
    case.cluster.delete("v1", "Pod", &case.namespace, "early-0").await;
    until("the second pod", || async {
        let names: Vec<_> = job.pods().await.iter().map(|pod| pod["metadata"]["name"].clone()).collect();
        if names == ["early-1"] { Ok(()) } else { Err(names) }
    })
    .await;
    let nodes = case.cluster.list("v1", "Node", "").await;
    let node = nodes[0]["metadata"]["name"].as_str().unwrap();
    case.cluster
        .patch("v1", "Node", "", node, &json!({"metadata": {"labels": {"anchorhold-tests/early": "yes"}}}))
        .await
        .unwrap();
    let done = job.completed().await;
    let attempts = done["status"]["attempts"].as_array().unwrap().clone();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0]["counted"], false, "{attempts:#?}");
}

#[tokio::test]
async fn a_failing_script_is_tried_again_and_every_attempt_is_kept() {
    Installation::ready();
    let case = Case::new("retries").await;
    let job = script("retries", "throw new Error('again')")
        .with("backoffLimit", json!(1))
        .create(&case.cluster, &case.namespace)
        .await;
    let (reason, _, now) = job.failed().await;
    assert_eq!(reason, "ScriptError");
    let attempts = now["status"]["attempts"].as_array().unwrap().clone();
    let pods: Vec<_> = attempts.iter().map(|attempt| attempt["podName"].as_str().unwrap()).collect();
    assert_eq!(pods, ["retries-0", "retries-1"]);
    assert_eq!(job.pods().await.len(), 2);
}
