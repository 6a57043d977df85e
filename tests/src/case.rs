//! One test: a namespace of its own, taken away at the end, and what a person would look at when it fails.

use std::process::Command;

use crate::cluster::Cluster;
use crate::wait::until;

/// A test's place in the cluster.
pub struct Case {
    /// The API server.
    pub cluster: Cluster,
    /// A namespace for this test alone.
    pub namespace: String,
}

impl Case {
    /// A namespace named after the test.
    pub async fn new(name: &str) -> Self {
        let cluster = Cluster::connect().await;
        let namespace = format!("t-{name}");
        // What an earlier, failed run on a kept node left to look at.
        cluster.delete("v1", "Namespace", "", &namespace).await;
        until("an earlier run's namespace to be gone", || async {
            cluster.get("v1", "Namespace", "", &namespace).await.map_or(Ok(()), |_| Err("still there"))
        })
        .await;
        cluster.make_namespace(&namespace).await;
        Self { cluster, namespace }
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for args in [
                &["get", "jobs.anchorhold.dev,pods,configmaps,networkpolicies", "-o", "wide", "-n", &self.namespace][..],
                &["describe", "jobs.anchorhold.dev,pods", "-n", &self.namespace],
                &["logs", "-n", crate::installation::NAMESPACE, "-l", "app.kubernetes.io/name=anchorhold", "--tail=40"],
            ] {
                show(args);
            }
        } else {
            // Without waiting: the namespace controller does it while other tests run.
            show(&["delete", "namespace", &self.namespace, "--wait=false"]);
        }
    }
}

fn show(args: &[&str]) {
    match Command::new("timeout").arg("30").arg("kubectl").args(args).output() {
        Ok(output) => eprintln!(
            "$ kubectl {}\n{}{}",
            args.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => eprintln!("$ kubectl {}: {error}", args.join(" ")),
    }
}
