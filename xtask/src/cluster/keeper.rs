//! The node's first process, and with it the node's namespaces.
//!
//! A node has its own network, mounts and process numbers, all held by one small process, the keeper; every component
//! joins them. Nothing names these namespaces but that process: when it ends, by `down`, a crash or a kill, the kernel
//! ends every other process of the node with it (components, shims, pods, whatever they started), and takes the
//! mounts, the interfaces, the packet filter and the sockets along. So nothing has to be recorded to be cleaned up.
//!
//! - network: no interface but a bridge that leads nowhere, so nothing in the node reaches the machine or beyond;
//! - mounts: `/run`, `/var/lib` and `/var/log` are the node's own, because containerd, runc, CNI, iptables and the
//!   kubelet write there whatever they are told, and two nodes would meet; the machine-wide kernel settings that a
//!   kubelet insists on read as it wants them, so that it changes none;
//! - `/sys` stays the machine's: with another one the kubelet finds no cgroups (`ip netns exec` would do that).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::command::run;
use super::node::Node;
use super::processes::{Process, arguments, namespace, of_root};
use super::wait;

const START: Duration = Duration::from_secs(30);
/// How long the kernel may take to end a node: two hundred pods take about two seconds on two cores.
const END: Duration = Duration::from_mins(1);

/// What a kubelet sets, machine-wide, unless it already is so (component-helpers, `node/util/sysctl`).
const KUBELET_SYSCTLS: [(&str, &str); 6] = [
    ("vm/overcommit_memory", "1"),
    ("vm/panic_on_oom", "0"),
    ("kernel/panic", "10"),
    ("kernel/panic_on_oops", "1"),
    ("kernel/keys/root_maxkeys", "1000000"),
    ("kernel/keys/root_maxbytes", "25000000"),
];

/// A running node's first process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeper {
    pid: u32,
}

impl Keeper {
    /// The keeper of this node, if the node is there.
    pub(crate) fn find(node: &Node) -> Result<Option<Self>> {
        // Exactly these arguments: `unshare`, which started it and waits for it, has them too, after its own.
        Ok(holders(node.dir())?.into_iter().find(|pid| arguments(*pid).len() == 3).map(|pid| Self { pid }))
    }

    /// Starts the keeper of a node that is not there.
    pub(crate) fn start(node: &Node, pause: &Path) -> Result<Self> {
        // A session of its own: neither a terminal's end nor Ctrl-C is for the node.
        Command::new("setsid")
            .args(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"])
            // What is mounted on the machine later appears in the node, nothing of the node appears on the machine.
            .args(["--propagation", "slave", "--"])
            .arg(pause)
            .arg("hold")
            .arg(node.dir())
            .current_dir("/")
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(node.log("keeper")).context("cannot make the keeper's log")?)
            .spawn()
            .context("cannot start setsid and unshare (Debian package util-linux)")?;
        let keeper = wait::until("the node's first process", Instant::now() + START, || Self::find(node))
            .with_context(|| format!("see {}", node.log("keeper").display()))?;
        keeper.mount_what_is_its_own(node)?;
        Ok(keeper)
    }

    fn mount_what_is_its_own(self, node: &Node) -> Result<()> {
        let mount = |arguments: &[&str], target: &str| run(self.enter().arg("mount").args(arguments).arg(target));
        mount(&["-t", "tmpfs", "-o", "mode=0755,size=256m", "tmpfs"], "/run")?;
        mount(&["-t", "tmpfs", "-o", "mode=0755,size=64m", "tmpfs"], "/var/lib")?;
        mount(&["--bind", &node.path("var-log").to_string_lossy()], "/var/log")?;
        for (setting, value) in KUBELET_SYSCTLS {
            let file = node.path(&format!("sysctl/{}", setting.replace('/', ".")));
            fs::write(&file, format!("{value}\n")).with_context(|| format!("cannot write {}", file.display()))?;
            mount(&["--bind", &file.to_string_lossy()], &format!("/proc/sys/{setting}"))?;
        }
        Ok(())
    }

    /// Ends the node, or what is there of one. Returns whether anything was.
    pub(crate) fn end(node: &Node) -> Result<bool> {
        let mut found = false;
        let deadline = Instant::now() + END;
        loop {
            let is_holder = |pid: u32| holds(pid, node.dir());
            let mut holders: Vec<Process> = Vec::new();
            for pid in self::holders(node.dir())? {
                holders.extend(Process::open(pid, is_holder)?);
            }
            if holders.is_empty() {
                return Ok(found);
            }
            found = true;
            for holder in &holders {
                holder.signal(Signal::KILL)?;
            }
            for holder in &holders {
                if !holder.ended_before(deadline)? {
                    bail!("process {} of the node {} does not end", holder.pid(), node.name());
                }
            }
        }
    }

    /// Its number on this machine.
    pub(crate) fn pid(self) -> u32 {
        self.pid
    }

    /// A file that stands for the node's network, for `nsenter --net=`.
    pub(crate) fn network(self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns/net", self.pid))
    }

    /// The beginning of a command that runs in all of the node's namespaces. Paths in it must be absolute.
    pub(crate) fn enter(self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.pid.to_string(), "--mount", "--net", "--pid", "--"]);
        command
    }

    /// The beginning of a command that runs on this machine, but in the node's network.
    pub(crate) fn enter_network(self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.network().display())).arg("--");
        command
    }

    /// The processes of the node itself: not its pods', which have namespaces of their own.
    pub(crate) fn processes(self) -> Result<Vec<u32>> {
        let Some(mine) = namespace(self.pid, "pid") else {
            return Ok(Vec::new());
        };
        Ok(of_root()?.into_iter().filter(|pid| namespace(*pid, "pid").as_ref() == Some(&mine)).collect())
    }
}

fn holds(pid: u32, dir: &Path) -> bool {
    let arguments = arguments(pid);
    matches!(arguments.as_slice(), [.., program, verb, folder]
        if Path::new(program).ends_with("pause") && verb == "hold" && Path::new(folder) == dir)
}

fn holders(dir: &Path) -> Result<Vec<u32>> {
    Ok(of_root()?.into_iter().filter(|pid| holds(*pid, dir)).collect())
}
