//! The node's network: one bridge that leads nowhere.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow};
use rustix::fd::AsFd;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::command::{run, run_with_input};
use super::keeper::Keeper;
use super::node::NODE_IP;

/// Runs `work` on a thread of its own that is in the node's network. Sockets it opens stay there; the rest of this
/// program stays where it is.
pub(crate) fn inside<T: Send>(keeper: Keeper, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let path = keeper.network();
    let namespace = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
                .context("cannot enter the node's network")?;
            work()
        });
        thread.join().map_err(|_| anyhow!("a thread in the node's network has panicked"))?
    })
}

/// Sets up the new network. There is a default route, for Service addresses have to leave through some interface
/// before they are translated, but nothing at the other end of it.
pub(crate) fn set_up(keeper: Keeper) -> Result<()> {
    let links = format!(
        "link set lo up\n\
         link add uplink type bridge\n\
         addr add {NODE_IP}/24 dev uplink\n\
         link set uplink up\n\
         route add default dev uplink\n"
    );
    run_with_input(keeper.enter_network().args(["ip", "-batch", "-"]), links.as_bytes())?;
    if !Path::new("/proc/sys/net/bridge").is_dir() {
        run(Command::new("modprobe").arg("br_netfilter")).context("the node needs the kernel module br_netfilter")?;
    }
    inside(keeper, || {
        // Bridged packets between pods pass the packet filter only with the second.
        for setting in ["ipv4/ip_forward", "bridge/bridge-nf-call-iptables"] {
            let path = format!("/proc/sys/net/{setting}");
            fs::write(&path, "1\n").with_context(|| format!("cannot write {path}"))?;
        }
        Ok(())
    })
}
