//! Starting a node.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::api::Cluster;
use super::command::run;
use super::components::Component;
use super::keeper::Keeper;
use super::node::Node;
use super::state::{Options, State};
use super::{build, cgroups, config, down, images, netns, packages, pki, wait};

const FOLDERS: [&str; 7] = ["config", "log", "pki", "sysctl", "var-log", "volumes", "volume-plugins"];

/// What kube-router adds to the packet filter once it enforces.
const POLICY_CHAIN: &str = "KUBE-ROUTER-FORWARD";

/// Makes the node run with these options. Returns the programs' folder and whether the node was started now: a node
/// that already runs as asked is left alone.
pub(crate) fn up(node: &Node, options: Options, install: bool, patience: Duration) -> Result<bool> {
    if !rustix::process::geteuid().is_root() {
        bail!(
            "a node takes root (namespaces, mounts, cgroups); run this with sudo, or use another cluster by its KUBECONFIG"
        );
    }
    packages::ensure(install)?;
    let state = State { bin: build::ensure()?, options };
    let _lock = node.lock()?;
    if let (Some(keeper), Some(running)) = (Keeper::find(node)?, State::read(node)?)
        && Component::of(&running).all(|component| component.check(node, &running, keeper).is_ok())
    {
        if running == state {
            return Ok(false);
        }
        bail!(
            "the node {} runs with other options or programs; end it with `cargo xtask cluster down` first",
            node.name()
        );
    }
    if down::remains(node)? {
        eprintln!("removing what is left of the node {}", node.name());
        down::remove(node)?;
    }
    start(node, &state, Instant::now() + patience).with_context(|| {
        format!(
            "the node {} did not come up; its logs are in {}, `cargo xtask cluster down` removes it",
            node.name(),
            node.path("log").display()
        )
    })?;
    Ok(true)
}

fn start(node: &Node, state: &State, deadline: Instant) -> Result<()> {
    make_folder(node)?;
    // First, so that `down` knows the folder for a node's from here on.
    state.write(node)?;
    for folder in FOLDERS {
        let path = node.path(folder);
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
    }
    pki::write(&node.path("pki"))?;
    config::write(node, state)?;
    cgroups::create(node)?;
    let keeper = Keeper::start(node, &state.bin.join("pause"))?;
    netns::set_up(keeper)?;
    for component in [Component::Etcd, Component::KubeApiserver, Component::Containerd] {
        component.start(node, state, keeper)?;
    }
    thread::scope(|scope| {
        let image = scope.spawn(|| {
            wait::until("containerd", deadline, || {
                Component::Containerd.check(node, state, keeper)?;
                Ok(images::reachable(node).then_some(()))
            })?;
            images::import_pause(node, state)
        });
        netns::inside(keeper, || control_plane(node, state, keeper, deadline))?;
        image.join().map_err(|_| anyhow!("the thread that imports the sandbox image has panicked"))?
    })?;
    netns::inside(keeper, || pods(node, state, keeper, deadline))?;
    // Last, as kube-router above all ends by itself at times, and then nothing is enforced and nothing says so.
    Component::of(state).try_for_each(|component| component.check(node, state, keeper))
}

/// The node's folder, new or empty.
fn make_folder(node: &Node) -> Result<()> {
    let dir = node.dir();
    fs::create_dir_all(dir).with_context(|| format!("cannot make the node's folder {}", dir.display()))?;
    if fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?.next().is_some() {
        bail!("{} is not empty and not a node's; choose another folder with --dir", dir.display());
    }
    Ok(())
}

/// From a started API server to a registered node.
fn control_plane(node: &Node, state: &State, keeper: Keeper, deadline: Instant) -> Result<()> {
    let cluster = Cluster::connect(&node.kubeconfig())?;
    wait::until("the API server", deadline, || {
        Component::Etcd.check(node, state, keeper)?;
        Component::KubeApiserver.check(node, state, keeper)?;
        Ok(cluster.ready().then_some(()))
    })?;
    for component in
        [Component::Kubelet, Component::KubeControllerManager, Component::KubeScheduler, Component::KubeProxy]
    {
        component.start(node, state, keeper)?;
    }
    wait::until("the kubelet to register the node", deadline, || {
        Component::Kubelet.check(node, state, keeper)?;
        Ok(cluster.node_exists()?.then_some(()))
    })
}

/// From a registered node to one that has run a pod.
fn pods(node: &Node, state: &State, keeper: Keeper, deadline: Instant) -> Result<()> {
    let cluster = Cluster::connect(&node.kubeconfig())?;
    if state.options.network_policy {
        // Not before the node is registered: it would end at once.
        start_network_policy(node, state, keeper, deadline)?;
    }
    wait::until("the node to be ready", deadline, || {
        Component::Kubelet.check(node, state, keeper)?;
        Component::Containerd.check(node, state, keeper)?;
        Ok(cluster.node_ready()?.then_some(()))
    })?;
    wait::until("the service account default", deadline, || {
        Component::KubeControllerManager.check(node, state, keeper)?;
        Ok(cluster.default_service_account_exists()?.then_some(()))
    })?;
    cluster.run_a_pod(deadline)
}

/// Starts kube-router and waits until its chain is in the packet filter.
pub(crate) fn start_network_policy(node: &Node, state: &State, keeper: Keeper, deadline: Instant) -> Result<()> {
    Component::KubeRouter.start(node, state, keeper)?;
    wait::until("kube-router to set up the packet filter", deadline, || {
        Component::KubeRouter.check(node, state, keeper)?;
        let listed = run(keeper.enter().args(["iptables", "--wait", "--numeric", "--list", POLICY_CHAIN]));
        Ok(listed.is_ok().then_some(()))
    })
}

/// How to use the node that has come up.
pub(crate) fn usage(node: &Node, bin: &Path) -> String {
    format!(
        "KUBECONFIG {} (usable inside the node's network only)\n\
         programs   {}\n\
         use it     cargo xtask cluster --name {} exec -- kubectl get pods -A",
        node.kubeconfig().display(),
        bin.display(),
        node.name()
    )
}
