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
use super::progress::Progress;
use super::state::{Options, State};
use super::{build, cgroups, config, down, images, netns, packages, pki, wait};

const FOLDERS: [&str; 7] = ["config", "log", "pki", "sysctl", "var-log", "volumes", "volume-plugins"];

/// What kube-router adds to the packet filter once it enforces.
const POLICY_CHAIN: &str = "KUBE-ROUTER-FORWARD";

/// Makes the node run with these options. Returns the seconds that took, or nothing when it already ran as asked and
/// was left alone.
pub(crate) fn up(node: &Node, options: Options, install: bool, patience: Duration) -> Result<Option<f64>> {
    if !rustix::process::geteuid().is_root() {
        bail!(
            "a node takes root (namespaces, mounts, cgroups); run this with sudo, or use another cluster by its KUBECONFIG"
        );
    }
    packages::ensure(install)?;
    let state = State { bin: build::ensure()?, options };
    let _lock = node.lock()?;
    let progress = Progress::begin();
    if let Some(keeper) = Keeper::find(node)? {
        let running = State::read(node)?.context("the node has a first process, but no state")?;
        if Component::of(&running).all(|component| component.check(node, &running, keeper).is_ok()) {
            if running == state {
                return Ok(None);
            }
            bail!(
                "the node {} runs with other options or programs; end it with `cargo xtask cluster {} down` first",
                node.name(),
                node.option()
            );
        }
    }
    if down::remove(node)? {
        progress.done("removed what was left of an earlier node");
    }
    make_folder(node, &state)?;
    start(node, &state, Instant::now() + patience, progress).with_context(|| {
        format!(
            "the node {} did not come up; its logs are in {}, `cargo xtask cluster {} down` removes it",
            node.name(),
            node.path("log").display(),
            node.option()
        )
    })?;
    Ok(Some(progress.seconds()))
}

fn start(node: &Node, state: &State, deadline: Instant, progress: Progress) -> Result<()> {
    pki::write(&node.path("pki"))?;
    config::write(node, state)?;
    cgroups::create(node)?;
    let keeper = Keeper::start(node, &state.bin.join("pause"))?;
    netns::set_up(keeper)?;
    let startup = Startup { node, state, keeper, deadline, progress };
    for component in [Component::Etcd, Component::KubeApiserver, Component::Containerd] {
        startup.start(component)?;
    }
    thread::scope(|scope| {
        let image = scope.spawn(|| startup.import_pause());
        netns::inside(keeper, || startup.control_plane())?;
        image.join().map_err(|_| anyhow!("the thread that imports the sandbox image has panicked"))?
    })?;
    netns::inside(keeper, || startup.pods())?;
    // Last, as kube-router above all ends by itself at times, and then nothing is enforced and nothing says so.
    Component::of(state).try_for_each(|component| startup.check(component))
}

/// The node's folder, which must be new or empty, with its sub-folders.
fn make_folder(node: &Node, state: &State) -> Result<()> {
    let dir = node.dir();
    fs::create_dir_all(dir).with_context(|| format!("cannot make the node's folder {}", dir.display()))?;
    if fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?.next().is_some() {
        bail!("{} is not empty and not a node's; choose another folder with --dir", dir.display());
    }
    // First, so that `down` knows the folder for a node's from here on.
    state.write(node)?;
    for folder in FOLDERS {
        let path = node.path(folder);
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
    }
    Ok(())
}

/// A node on its way up.
struct Startup<'a> {
    node: &'a Node,
    state: &'a State,
    keeper: Keeper,
    deadline: Instant,
    progress: Progress,
}

impl Startup<'_> {
    fn start(&self, component: Component) -> Result<()> {
        component.start(self.node, self.state, self.keeper)
    }

    fn check(&self, component: Component) -> Result<()> {
        component.check(self.node, self.state, self.keeper)
    }

    fn import_pause(&self) -> Result<()> {
        wait::until("containerd", self.deadline, || {
            self.check(Component::Containerd)?;
            Ok(images::reachable(self.node).then_some(()))
        })?;
        images::import_pause(self.node, self.state)
    }

    /// From a started API server to a registered node.
    fn control_plane(&self) -> Result<()> {
        let cluster = Cluster::connect(&self.node.kubeconfig())?;
        wait::until("the API server", self.deadline, || {
            self.check(Component::Etcd)?;
            self.check(Component::KubeApiserver)?;
            Ok(cluster.ready().then_some(()))
        })?;
        self.progress.done("the API server is ready");
        for component in
            [Component::Kubelet, Component::KubeControllerManager, Component::KubeScheduler, Component::KubeProxy]
        {
            self.start(component)?;
        }
        wait::until("the kubelet to register the node", self.deadline, || {
            self.check(Component::Kubelet)?;
            Ok(cluster.node_exists().then_some(()))
        })?;
        self.progress.done("the node is registered");
        Ok(())
    }

    /// From a registered node to one that has run a pod.
    fn pods(&self) -> Result<()> {
        let cluster = Cluster::connect(&self.node.kubeconfig())?;
        if self.state.options.network_policy {
            // Not before the node is registered: it would end at once.
            start_network_policy(self.node, self.state, self.keeper, self.deadline)?;
            self.progress.done("kube-router enforces NetworkPolicy");
        }
        wait::until("the node to be ready", self.deadline, || {
            self.check(Component::Kubelet)?;
            self.check(Component::Containerd)?;
            Ok(cluster.node_ready().then_some(()))
        })?;
        wait::until("the service account default", self.deadline, || {
            self.check(Component::KubeControllerManager)?;
            Ok(cluster.default_service_account_exists().then_some(()))
        })?;
        self.progress.done("the node is ready and pods can be created");
        cluster.run_a_pod(self.deadline)?;
        self.progress.done("a pod has run");
        Ok(())
    }
}

/// Starts kube-router and waits until it has written its rules.
pub(crate) fn start_network_policy(node: &Node, state: &State, keeper: Keeper, deadline: Instant) -> Result<()> {
    let iptables = |arguments: [&str; 2]| run(keeper.enter().args(["iptables", "--wait"]).args(arguments));
    // What an earlier kube-router left is no sign of this one. The first time there is no chain to empty.
    let _ = iptables(["--flush", POLICY_CHAIN]);
    Component::KubeRouter.start(node, state, keeper)?;
    wait::until("kube-router to write its rules", deadline, || {
        Component::KubeRouter.check(node, state, keeper)?;
        // The chain always ends with a rule of its own, whatever policies there are.
        let rules = iptables(["--list-rules", POLICY_CHAIN]).unwrap_or_default();
        Ok(rules.lines().any(|rule| rule.starts_with("-A")).then_some(()))
    })
}

/// How to use the node that has come up.
pub(crate) fn usage(node: &Node, bin: &Path) -> String {
    format!(
        "KUBECONFIG {} (for commands in the node's network)\n\
         programs   {}\n\
         use it     cargo xtask cluster {} exec -- kubectl get pods -A",
        node.kubeconfig().display(),
        bin.display(),
        node.option()
    )
}
