//! A node comes, is used, and goes without a trace, whatever happens to it. Needs root and what a node needs:
//! `cargo test -p xtask --features cluster`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod machine;
mod node;

use machine::Machine;
use node::{Node, kill, said, until};

/// One test, as each of its parts looks at the whole machine. Others' nodes on the machine do not disturb it.
#[test]
fn nodes_come_and_go_without_a_trace() {
    let before = Machine::now();

    two_nodes_run_side_by_side();
    assert_eq!(Machine::now(), before);

    a_node_whose_processes_were_killed_is_removed();
    assert_eq!(Machine::now(), before);

    a_node_whose_start_was_cut_off_is_removed();
    assert_eq!(Machine::now(), before);
}

fn two_nodes_run_side_by_side() {
    let (one, two) = (Node::new("one"), Node::new("two"));
    let mut starts = [one.begin(), two.begin()];
    for start in &mut starts {
        assert!(start.wait().unwrap().success());
    }
    assert_eq!(one.status()["up"], true);
    let networks = [one.network(), two.network()];
    assert_ne!(networks[0], networks[1]);

    one.run_a_pod("first");
    two.run_a_pod("second");
    assert_eq!(one.kubectl(&["get", "pods", "-o", "name"]), "pod/first\n");
    assert_eq!(two.kubectl(&["get", "pods", "-o", "name"]), "pod/second\n");

    a_running_node_is_left_alone(&two);
    a_command_passes_its_exit_status_on(&two);
    a_component_stops_and_starts_again(&two);

    assert_eq!(one.run(&["down"]), "removed the node\n");
    one.assert_gone(Some(&networks[0]));

    // The other has noticed nothing: the same pod still runs, and a new one does.
    two.run_a_pod("third");
    let restarts = "jsonpath={.items[*].status.containerStatuses[*].restartCount} {.items[*].status.phase}";
    assert_eq!(two.kubectl(&["get", "pods", "-o", restarts]), "0 0 Running Running");

    assert_eq!(two.run(&["down"]), "removed the node\n");
    two.assert_gone(Some(&networks[1]));
    assert_eq!(two.run(&["down"]), "there is no such node\n");
}

fn a_running_node_is_left_alone(node: &Node) {
    let network = node.network();
    assert!(node.run(&["up"]).contains("was already up"));
    assert_eq!(node.network(), network);
    let refused = node.attempt(&["up", "--max-pods=10"]);
    assert!(!refused.status.success() && said(&refused).contains("runs with other options"), "{}", said(&refused));
}

fn a_command_passes_its_exit_status_on(node: &Node) {
    assert_eq!(node.attempt(&["exec", "--", "sh", "-c", "exit 42"]).status.code(), Some(42));
    assert_eq!(node.run(&["exec", "--", "sh", "-c", "basename \"$KUBECONFIG\""]), "kubeconfig\n");
    // There is no way out: not to the machine's own loopback, either.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let reach = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    assert!(!node.attempt(&["exec", "--", "bash", "-c", &reach]).status.success());
    let control = std::process::Command::new("bash").args(["-c", &reach]).status().unwrap();
    assert!(control.success(), "outside the node, the same connection is made");
}

fn a_component_stops_and_starts_again(node: &Node) {
    assert_eq!(node.run(&["stop-component", "kube-router"]), "kube-router is stopped\n");
    let status = node.attempt(&["status"]);
    assert_eq!(status.status.code(), Some(1));
    assert!(said(&status).contains("kube-router             dead"), "{}", said(&status));
    assert_eq!(node.run(&["stop-component", "kube-router"]), "kube-router was not running\n");
    assert_eq!(node.run(&["start-component", "kube-router"]), "kube-router is started\n");
    assert_eq!(node.status()["up"], true);
}

fn a_node_whose_processes_were_killed_is_removed() {
    let node = Node::new("killed");
    node.run(&["up"]);
    node.run_a_pod("pod");
    let network = node.network();

    // Components without a chance to clean up, while their pods run on.
    for component in ["kubelet", "containerd", "etcd"] {
        kill(node.component(component).unwrap());
    }
    until("the components to be dead", || node.status()["up"] == false);
    node.run(&["down"]);
    node.assert_gone(Some(&network));

    // The first process of all: nothing of the node outlives it, and the next `up` finds only files and cgroups.
    node.run(&["up"]);
    node.run_a_pod("pod");
    let network = node.network();
    kill(node.status()["keeperPid"].as_u64().unwrap().try_into().unwrap());
    until("every process to end", || machine::processes_in(&network).is_empty());
    until("every pod to end", || machine::processes_of(&node.folder).is_empty());
    assert_eq!(node.status()["up"], false);
    node.run(&["up"]);
    assert_eq!(node.kubectl(&["get", "pods", "-o", "name"]), "", "the node is a new one");
    node.run(&["down"]);
    node.assert_gone(None);
}

fn a_node_whose_start_was_cut_off_is_removed() {
    // The moments: a folder without a process, processes without a cluster, a cluster without a pod.
    for moment in ["state.json", "log/keeper.log", "log/kube-apiserver.log", "log/kubelet.log", "log/kube-router.log"] {
        let node = Node::new("cut");
        let mut start = node.begin();
        until(moment, || node.folder.join(moment).exists());
        start.kill().unwrap();
        start.wait().unwrap();
        node.run(&["down"]);
        node.assert_gone(None);
    }
    let node = Node::new("again");
    let mut start = node.begin();
    until("the kubelet", || node.folder.join("log/kubelet.log").exists());
    start.kill().unwrap();
    start.wait().unwrap();
    node.run(&["up"]);
    assert_eq!(node.status()["up"], true);
    node.run(&["down"]);
    node.assert_gone(None);
}
