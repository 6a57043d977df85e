//! The charts, by the real helm, on a cluster that has never seen them.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

use anchorhold_cluster_tests::installation::{NAMESPACE, RELEASE, helm, root};
use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Cluster, Installation, command};
use tokio::sync::Mutex;

/// Helm's releases are one state: one test after the other.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Names of the objects of a kind that carry the release's label.
async fn of_the_release(cluster: &Cluster, api_version: &str, kind: &str) -> Vec<String> {
    let all = cluster.list(api_version, kind, "").await;
    all.iter()
        .filter(|object| object["metadata"]["labels"]["app.kubernetes.io/instance"] == RELEASE)
        .filter_map(|object| object["metadata"]["name"].as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn both_charts_install_upgrade_and_uninstall_with_helm() {
    let _alone = ALONE.lock().await;
    let _ = Installation::with(&[]);
    let case = Case::new("chart").await;
    let job = script("first", "return 1").create(&case.cluster, &case.namespace).await;
    job.completed().await;

    let _ = Installation::with(&["replicas=2"]);
    let deployments = case.cluster.list("apps/v1", "Deployment", NAMESPACE).await;
    assert_eq!(deployments[0]["status"]["readyReplicas"], 2);
    script("second", "return 1").create(&case.cluster, &case.namespace).await.completed().await;

    helm(&["uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", "--timeout", "120s"]);
    until("the operator's pods to be gone", || async {
        let pods = case.cluster.list("v1", "Pod", NAMESPACE).await;
        if pods.is_empty() { Ok(()) } else { Err(pods.len()) }
    })
    .await;
    for (api_version, kind) in [
        ("rbac.authorization.k8s.io/v1", "ClusterRole"),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding"),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
        ("v1", "ServiceAccount"),
        ("policy/v1", "PodDisruptionBudget"),
    ] {
        assert_eq!(of_the_release(&case.cluster, api_version, kind).await, Vec::<String>::new(), "{kind} left behind");
    }
    // People's objects outlive the operator.
    assert!(job.get().await.is_some());
}

#[tokio::test]
async fn registering_a_server_is_nobodys_by_aggregation() {
    let _alone = ALONE.lock().await;
    let _ = Installation::with(&[]);
    let case = Case::new("roles").await;
    let edit = "--as=system:serviceaccount:t-roles:editor";
    command::run("kubectl", &["create", "serviceaccount", "editor", "-n", &case.namespace]);
    command::run(
        "kubectl",
        &[
            "create",
            "rolebinding",
            "editor",
            "--clusterrole=edit",
            "--serviceaccount=t-roles:editor",
            "-n",
            &case.namespace,
        ],
    );
    let can = |verb: &'static str, kind: &'static str| {
        let namespace = case.namespace.clone();
        async move {
            let output = command::attempt("kubectl", &["auth", "can-i", verb, kind, "-n", &namespace, edit], None);
            String::from_utf8_lossy(&output.stdout).trim() == "yes"
        }
    };
    // The controller manager aggregates roles a moment after they are made.
    until("edit to hold jobs", || async {
        if can("create", "jobs.anchorhold.dev").await { Ok(()) } else { Err("not yet") }
    })
    .await;
    assert!(can("create", "agents.anchorhold.dev").await);
    assert!(can("get", "mcpservers.anchorhold.dev").await);
    assert!(!can("create", "mcpservers.anchorhold.dev").await);
    assert!(!can("patch", "mcpservers.anchorhold.dev").await);
}

#[tokio::test]
async fn every_example_passes_a_server_side_dry_run() {
    let _alone = ALONE.lock().await;
    let _ = Installation::with(&[]);
    let case = Case::new("examples").await;
    let examples = root().join("examples").display().to_string();
    let printed = command::run(
        "kubectl",
        &["apply", "--server-side", "--dry-run=server", "--recursive", "-n", &case.namespace, "-f", &examples],
    );
    assert!(
        printed.lines().count() >= 2
            && printed.lines().all(|line| line.ends_with("serverside-applied (server dry run)")),
        "{printed}"
    );
}
