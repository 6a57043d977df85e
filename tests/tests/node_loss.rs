//! The node is lost under running jobs. Last of all, since everything of the cluster goes with it.
//!
//! The operator runs outside the node: the one inside is lost as well.

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
use anchorhold_cluster_tests::{Case, Cluster, Installation, command, node};
use serde_json::{Value, json};

#[tokio::test]
async fn a_job_whose_node_is_lost_says_so_and_one_that_had_not_begun_is_tried_again() {
    let _ = Installation::with(&["networkPolicy.enforcement=Assume"]);
    let case = Case::new("node-loss").await;
    let user = scale_to(0);
    let proxy = Proxy::start().await;
    let relay = Relay::start(proxy.address, &user, Moment::Never).await;
    let _operator = Operator::start(&relay, &case.namespace);

    let begun = script("begun", "for (;;) {}").create(&case.cluster, &case.namespace).await;
    begun.started().await;
    let absent =
        json!([{"name": "code", "image": {"reference": "localhost/absent:test", "pullPolicy": "IfNotPresent"}}]);
    let unborn = script("unborn", "return 1").with("sources", absent).create(&case.cluster, &case.namespace).await;
    until("the second pod to have a node", || async {
        let pods = unborn.pods().await;
        if pods.iter().any(|pod| pod["spec"]["nodeName"].is_string()) { Ok(()) } else { Err(pods) }
    })
    .await;

    let node = Node::lose();
    let (reason, message, lost) = begun.failed().await;
    assert_eq!(reason, "NodeLost", "{message}");
    assert_eq!(lost["status"]["attempts"].as_array().map(Vec::len), Some(1), "{:#}", lost["status"]);
    let again = until("a second attempt of the job that had not begun", || async {
        let status = unborn.get().await.unwrap_or_default()["status"].clone();
        if status["attempts"][1].is_object() { Ok(status) } else { Err(status) }
    })
    .await;
    assert_eq!(again["attempts"][0]["reason"], "NodeLost", "{again:#}");
    assert_eq!(again["attempts"][0]["counted"], false, "{again:#}");

    node.back(&case.cluster).await;
    scale_to(1);
}

/// The only node of the cluster, lost; it comes back whatever happens.
struct Node(String);

impl Node {
    /// Its kubelet falls silent, and somebody who knows that the machine is gone deletes its object.
    fn lose() -> Self {
        let name = command::run("kubectl", &["get", "nodes", "-o", "jsonpath={.items[0].metadata.name}"]);
        node::stop("kubelet");
        command::run("kubectl", &["delete", "node", &name, "--wait=false"]);
        Self(name)
    }

    async fn back(self, cluster: &Cluster) {
        let name = self.0.clone();
        drop(self);
        until("the node to be ready", || async {
            let node = cluster.get("v1", "Node", "", &name).await.unwrap_or_default();
            let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let ready = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
            if conditions.iter().any(ready) { Ok(()) } else { Err(conditions) }
        })
        .await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        node::start("kubelet");
    }
}
