//! The programs of the operating system that a node needs, and how to get them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program and the Debian package it comes in.
const PROGRAMS: [(&str, &str); 9] = [
    ("runc", "runc"),
    ("iptables", "iptables"),
    ("ipset", "ipset"),
    ("conntrack", "conntrack"),
    ("ip", "iproute2"),
    ("mount", "mount"),
    ("nsenter", "util-linux"),
    ("setsid", "util-linux"),
    ("unshare", "util-linux"),
];

const CNI_PACKAGE: &str = "containernetworking-plugins";
/// Debian's place, then that of the upstream archive.
const CNI_FOLDERS: [&str; 2] = ["/usr/lib/cni", "/opt/cni/bin"];
const CNI_PLUGINS: [&str; 4] = ["bridge", "host-local", "loopback", "portmap"];

/// Where components look for programs, and no value of the caller's.
pub(crate) const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Makes sure that all are there, installing what is missing when `install` says so and root runs this.
pub(crate) fn ensure(install: bool) -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    if !install {
        bail!(
            "the node needs Debian packages that are not installed: {packages}\n\
             install them with: sudo apt-get install -y --no-install-recommends {packages}\n\
             (or run this again as root with --install)"
        );
    }
    if !rustix::process::geteuid().is_root() {
        bail!("installing packages takes root: sudo apt-get install -y --no-install-recommends {packages}");
    }
    eprintln!("installing Debian packages: {packages}");
    apt_get(&["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(&missing);
    apt_get(&arguments)?;
    let still = self::missing();
    if !still.is_empty() {
        bail!("apt-get installed them, and still these are missing: {}", still.join(" "));
    }
    Ok(())
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let status = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(std::io::stderr())
        .status()
        .context(
            "cannot start apt-get; on a system that is not Debian's, install the packages' programs by its own means",
        )?;
    if !status.success() {
        bail!("apt-get {} failed ({status})", arguments.join(" "));
    }
    Ok(())
}

/// The folder with the CNI plugins.
pub(crate) fn cni_plugins() -> Option<&'static str> {
    CNI_FOLDERS.into_iter().find(|folder| CNI_PLUGINS.iter().all(|plugin| Path::new(folder).join(plugin).is_file()))
}

/// The packages to install, each once.
fn missing() -> Vec<&'static str> {
    let mut packages: Vec<_> =
        PROGRAMS.into_iter().filter(|(program, _)| find(program).is_none()).map(|(_, package)| package).collect();
    if cni_plugins().is_none() {
        packages.push(CNI_PACKAGE);
    }
    packages.dedup();
    packages
}

/// A program of the system. `/usr/sbin` is looked into whatever the caller's PATH says: Debian's for users lacks it.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var("PATH").unwrap_or_default();
    path.split(':')
        .chain(SYSTEM_PATH.split(':'))
        .map(|folder| Path::new(folder).join(program))
        .find(|file| file.is_file())
}
