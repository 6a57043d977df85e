//! What of a node could be left on the machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything machine-wide that a component is known to write to when it has no namespace of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    mounts: String,
    links: String,
    packet_filter: String,
    sets: String,
    settings: BTreeMap<String, String>,
    folders: Vec<&'static str>,
}

const FOLDERS: [&str; 11] = [
    "/etc/cni/net.d",
    "/opt/cni",
    "/opt/containerd",
    "/run/cni",
    "/run/containerd",
    "/run/flannel",
    "/run/netns",
    "/var/lib/cni",
    "/var/lib/kubelet",
    "/var/log/containers",
    "/var/log/pods",
];

const SETTINGS: [&str; 9] = [
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "net/bridge/bridge-nf-call-iptables",
    "net/ipv4/ip_forward",
    "net/netfilter/nf_conntrack_max",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
];

impl Machine {
    pub(crate) fn now() -> Self {
        let setting = |name: &str| fs::read_to_string(format!("/proc/sys/{name}")).unwrap_or_default();
        Self {
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap(),
            links: said("ip", &["-oneline", "link"]),
            packet_filter: said("iptables-save", &[]).lines().filter(|line| !line.starts_with('#')).collect(),
            sets: said("ipset", &["list", "-name"]),
            settings: SETTINGS.iter().map(|name| ((*name).to_owned(), setting(name))).collect(),
            folders: FOLDERS.into_iter().filter(|folder| Path::new(folder).exists()).collect(),
        }
    }
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The numbers of the machine's processes.
pub(crate) fn processes() -> Vec<u32> {
    fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).collect()
}

/// The processes whose command line names the folder.
pub(crate) fn processes_of(folder: &Path) -> Vec<u32> {
    let folder = folder.to_str().unwrap().as_bytes();
    let names = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(folder.len()).any(|window| window == folder)
    };
    processes().into_iter().filter(names).collect()
}

/// The processes in this network.
pub(crate) fn processes_in(network: &Path) -> Vec<u32> {
    let within = |pid: &u32| fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|link| link == network);
    processes().into_iter().filter(within).collect()
}

/// The cgroups whose names begin so, in every hierarchy.
pub(crate) fn cgroups(prefix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let root = Path::new("/sys/fs/cgroup");
    let mut folders = vec![root.to_owned()];
    folders.extend(fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()));
    for folder in folders {
        for entry in fs::read_dir(folder).unwrap().filter_map(Result::ok) {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)) {
                found.push(entry.path());
            }
        }
    }
    found
}
