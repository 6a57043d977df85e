//! The node under the cluster: its parts can be stopped and started. Only where `cargo xtask test` made the node.

use std::env;

use crate::command::run;

/// Stops a component (`kube-router`, `kubelet` …).
pub fn stop(component: &str) {
    xtask(&["cluster", "stop-component", component]);
}

/// Starts it again.
pub fn start(component: &str) {
    xtask(&["cluster", "start-component", component]);
}

/// What `cargo xtask cluster status` tells of the node: `nodeIP`, `volumes` and more.
#[must_use]
pub fn status() -> serde_json::Value {
    let text = xtask(&["cluster", "status", "--output", "json"]);
    serde_json::from_str(&text).expect("status prints JSON")
}

fn xtask(args: &[&str]) -> String {
    let program =
        env::var("ANCHORHOLD_XTASK").expect("ANCHORHOLD_XTASK is the path of xtask; run through `cargo xtask test`");
    run(&program, args)
}
