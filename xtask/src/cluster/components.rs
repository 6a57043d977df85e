//! The programs that make up a node: how each is called, started, found and stopped.

use std::fmt;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::keeper::Keeper;
use super::node::{NODE_IP, NODE_NAME, Node, POD_CIDR, SERVICE_CIDR};
use super::packages::SYSTEM_PATH;
use super::processes::{Process, arguments};
use super::state::State;
use super::wait;

const START: Duration = Duration::from_secs(30);
/// What a component may take to stop by itself before it is killed.
const STOP: Duration = Duration::from_secs(10);
const LOG_LINES_SHOWN: usize = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Component {
    Etcd,
    KubeApiserver,
    Containerd,
    KubeControllerManager,
    KubeScheduler,
    Kubelet,
    KubeProxy,
    /// NetworkPolicy
    KubeRouter,
}

impl fmt::Display for Component {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Component {
    pub(crate) const ALL: [Self; 8] = [
        Self::Etcd,
        Self::KubeApiserver,
        Self::Containerd,
        Self::KubeControllerManager,
        Self::KubeScheduler,
        Self::Kubelet,
        Self::KubeProxy,
        Self::KubeRouter,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::Containerd => "containerd",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
            Self::Kubelet => "kubelet",
            Self::KubeProxy => "kube-proxy",
            Self::KubeRouter => "kube-router",
        }
    }

    /// The components of a node that was started with these options.
    pub(crate) fn of(state: &State) -> impl Iterator<Item = Self> {
        let network_policy = state.options.network_policy;
        Self::ALL.into_iter().filter(move |component| network_policy || *component != Self::KubeRouter)
    }

    /// The program and the argument that chooses the component, by which its process is known.
    fn call(self, bin: &Path) -> Vec<String> {
        let program = |name: &str| bin.join(name).to_string_lossy().into_owned();
        match self {
            Self::Containerd | Self::KubeRouter => vec![program(self.name())],
            _ => vec![program("kubenode"), self.name().to_owned()],
        }
    }

    fn flags(self, node: &Node) -> Vec<String> {
        let at = |relative: &str| node.path(relative).display().to_string();
        let kubeconfig = format!("--kubeconfig={}", at(&format!("config/{self}.kubeconfig")));
        match self {
            Self::Etcd => vec![format!("--data-dir={}", at("etcd"))],
            Self::Containerd => vec!["--config".to_owned(), at("config/containerd.toml")],
            Self::KubeApiserver => vec![
                "--etcd-servers=http://127.0.0.1:2379".to_owned(),
                format!("--service-cluster-ip-range={SERVICE_CIDR}"),
                "--secure-port=6443".to_owned(),
                format!("--advertise-address={NODE_IP}"),
                format!("--tls-cert-file={}", at("pki/apiserver.crt")),
                format!("--tls-private-key-file={}", at("pki/apiserver.key")),
                format!("--client-ca-file={}", at("pki/ca.crt")),
                format!("--cert-dir={}", at("apiserver")),
                "--authorization-mode=Node,RBAC".to_owned(),
                "--allow-privileged=true".to_owned(),
                format!("--service-account-key-file={}", at("pki/sa.pub")),
                format!("--service-account-signing-key-file={}", at("pki/sa.key")),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                "--enable-admission-plugins=NodeRestriction".to_owned(),
                "--feature-gates=ImageVolume=true".to_owned(),
                format!("--kubelet-client-certificate={}", at("pki/admin.crt")),
                format!("--kubelet-client-key={}", at("pki/admin.key")),
                format!("--kubelet-certificate-authority={}", at("pki/ca.crt")),
                // The node's name resolves nowhere.
                "--kubelet-preferred-address-types=InternalIP".to_owned(),
            ],
            Self::KubeControllerManager => vec![
                kubeconfig,
                format!("--service-account-private-key-file={}", at("pki/sa.key")),
                format!("--root-ca-file={}", at("pki/ca.crt")),
                "--use-service-account-credentials".to_owned(),
                "--leader-elect=false".to_owned(),
                // Its controllers start one after the other, each with requests of its own: the default of 30 makes the
                // start four seconds longer. What it does at length is left at the default of 20 a second.
                "--kube-api-burst=100".to_owned(),
                format!("--cluster-signing-cert-file={}", at("pki/ca.crt")),
                format!("--cluster-signing-key-file={}", at("pki/ca.key")),
            ],
            Self::KubeScheduler => vec![kubeconfig, "--leader-elect=false".to_owned()],
            Self::Kubelet => vec![
                kubeconfig,
                format!("--config={}", at("config/kubelet.yaml")),
                format!("--hostname-override={NODE_NAME}"),
                format!("--root-dir={}", at("kubelet")),
                format!("--cert-dir={}", at("kubelet/pki")),
                format!("--node-ip={NODE_IP}"),
            ],
            Self::KubeProxy => vec![
                kubeconfig,
                format!("--hostname-override={NODE_NAME}"),
                format!("--cluster-cidr={POD_CIDR}"),
                "--proxy-mode=iptables".to_owned(),
                // The limit of tracked connections is the machine's to set.
                "--conntrack-max-per-core=0".to_owned(),
            ],
            Self::KubeRouter => vec![
                kubeconfig,
                "--run-firewall=true".to_owned(),
                "--run-router=false".to_owned(),
                "--run-service-proxy=false".to_owned(),
                "--enable-cni=false".to_owned(),
                format!("--hostname-override={NODE_NAME}"),
                format!("--service-cluster-ip-range={SERVICE_CIDR}"),
                "--metrics-port=0".to_owned(),
                "--health-port=0".to_owned(),
            ],
        }
    }

    /// Starts the component, which must not be running, and waits until its program runs.
    pub(crate) fn start(self, node: &Node, state: &State, keeper: Keeper) -> Result<()> {
        let log = node.log(self.name());
        let output = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| format!("cannot open {}", log.display()))?;
        let errors = output.try_clone().with_context(|| format!("cannot open {}", log.display()))?;
        let extra =
            state.options.component_args.iter().filter(|(component, _)| *component == self).map(|(_, flag)| flag);
        // `setsid --fork` leaves the component to the keeper, which collects it when it ends.
        let status = keeper
            .enter()
            .args(["setsid", "--fork"])
            .args(self.call(&state.bin))
            .args(self.flags(node))
            .args(extra)
            .current_dir("/")
            // Nothing of the caller's: a proxy in its environment would be used for the API server.
            .env_clear()
            .env("PATH", format!("{}:{SYSTEM_PATH}", state.bin.display()))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .status()
            .with_context(|| format!("cannot start {self}"))?;
        if !status.success() {
            bail!("cannot start {self} ({status})\n{}", self.last_words(node));
        }
        wait::until(&format!("{self} to run"), Instant::now() + START, || self.find(state, keeper))
            .map_err(|error| error.context(self.last_words(node)))?;
        Ok(())
    }

    /// Its process, if it runs.
    pub(crate) fn find(self, state: &State, keeper: Keeper) -> Result<Option<u32>> {
        Ok(keeper.processes()?.into_iter().find(|pid| self.is(*pid, state)))
    }

    fn is(self, pid: u32, state: &State) -> bool {
        let call = self.call(&state.bin);
        let arguments = arguments(pid);
        arguments.len() >= call.len() && arguments.iter().zip(&call).all(|(ours, expected)| ours == expected.as_str())
    }

    /// Stops the component, by force when it does not stop when asked. Returns whether it ran.
    pub(crate) fn stop(self, state: &State, keeper: Keeper) -> Result<bool> {
        let Some(pid) = self.find(state, keeper)? else {
            return Ok(false);
        };
        let Some(process) = Process::open(pid, |pid| self.is(pid, state))? else {
            return Ok(false);
        };
        process.signal(Signal::TERM)?;
        if !process.ended_before(Instant::now() + STOP)? {
            process.signal(Signal::KILL)?;
            if !process.ended_before(Instant::now() + STOP)? {
                bail!("{self} (process {pid}) does not end");
            }
        }
        Ok(true)
    }

    /// An error when it no longer runs.
    pub(crate) fn check(self, node: &Node, state: &State, keeper: Keeper) -> Result<()> {
        if self.find(state, keeper)?.is_none() {
            bail!("{self} has ended\n{}", self.last_words(node));
        }
        Ok(())
    }

    /// The end of its log, for an error message.
    fn last_words(self, node: &Node) -> String {
        let path = node.log(self.name());
        let text = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let shown = lines.get(lines.len().saturating_sub(LOG_LINES_SHOWN)..).unwrap_or_default();
        format!("the end of {}:\n{}", path.display(), shown.join("\n"))
    }
}
