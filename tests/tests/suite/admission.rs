//! The reserved label and the shape of a job's pod are kept by the API server, not by us.

use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::{Case, Installation};
use serde_json::{Value, json};

fn pod(name: &str, labels: &Value) -> String {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
        "spec": {
            "automountServiceAccountToken": false, "restartPolicy": "Never",
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "runner", "image": "localhost/anchorhold-runner:0", "imagePullPolicy": "Never",
                "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}}}],
        },
    })
    .to_string()
}

#[tokio::test]
async fn nobody_but_the_operator_makes_a_pod_with_the_reserved_label() {
    Installation::ready();
    let case = Case::new("reserved").await;
    let refused = case
        .cluster
        .try_create(&case.namespace, &pod("fake", &json!({"anchorhold.dev/job": "other"})))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("anchorhold.dev/job"), "{refused}");
    // The control: the same pod without the label is nobody's business.
    case.cluster.create(&case.namespace, &pod("ordinary", &json!({"app": "other"}))).await;
    let relabel = json!({"metadata": {"labels": {"anchorhold.dev/job": "other"}}});
    let refused = case.cluster.patch("v1", "Pod", &case.namespace, "ordinary", &relabel).await.unwrap_err();
    assert!(refused.to_string().contains("anchorhold.dev/job"), "{refused}");
}

#[tokio::test]
async fn the_policy_and_the_plan_of_a_running_job_cannot_be_changed_by_others() {
    Installation::ready();
    let case = Case::new("kept").await;
    let job = script("kept", "for (;;) {}").with("activeDeadlineSeconds", json!(600));
    let job = job.create(&case.cluster, &case.namespace).await;
    job.started().await;
    let open = json!({"spec": {"egress": [{}]}});
    let refused =
        case.cluster.patch("networking.k8s.io/v1", "NetworkPolicy", &case.namespace, "kept", &open).await.unwrap_err();
    assert!(refused.to_string().contains("denied"), "{refused}");
    let relabel = json!({"metadata": {"labels": {"anchorhold.dev/job": null}}});
    let refused = case.cluster.patch("v1", "Pod", &case.namespace, "kept-0", &relabel).await.unwrap_err();
    assert!(refused.to_string().contains("anchorhold.dev/job"), "{refused}");
    job.change(json!({"cancel": {"reason": "the test is over"}})).await;
    job.failed().await;
}
