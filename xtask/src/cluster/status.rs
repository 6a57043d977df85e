//! What there is of a node, for people and for programs.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;

use super::components::Component;
use super::images::PAUSE;
use super::keeper::Keeper;
use super::node::{NODE_IP, NODE_NAME, Node, POD_CIDR, SERVER, SERVICE_CIDR};
use super::state::State;

/// A node as it is found.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    name: String,
    dir: PathBuf,
    /// The keeper lives and every component of the node runs.
    pub(crate) up: bool,
    components: Vec<ComponentStatus>,
    #[serde(flatten)]
    running: Option<Running>,
}

#[derive(Serialize)]
struct ComponentStatus {
    name: &'static str,
    alive: bool,
    pid: Option<u32>,
    log: PathBuf,
}

/// What is known of a node whose keeper lives.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    kubeconfig: PathBuf,
    server: &'static str,
    bin: PathBuf,
    containerd_socket: PathBuf,
    netns: PathBuf,
    keeper_pid: u32,
    node_name: &'static str,
    #[serde(rename = "nodeIP")]
    node_ip: &'static str,
    #[serde(rename = "serviceCIDR")]
    service_cidr: &'static str,
    #[serde(rename = "podCIDR")]
    pod_cidr: &'static str,
    volumes: PathBuf,
    pause_image: &'static str,
    network_policy: bool,
    max_pods: u16,
}

impl Status {
    pub(crate) fn of(node: &Node) -> Result<Self> {
        let (name, dir) = (node.name(), node.dir().to_owned());
        let (Some(keeper), Some(state)) = (Keeper::find(node)?, State::read(node)?) else {
            return Ok(Self { name, dir, up: false, components: Vec::new(), running: None });
        };
        let mut components = Vec::new();
        for component in Component::of(&state) {
            let pid = component.find(&state, keeper)?;
            let log = node.log(component.name());
            components.push(ComponentStatus { name: component.name(), alive: pid.is_some(), pid, log });
        }
        let up = components.iter().all(|component| component.alive);
        let running = Running {
            kubeconfig: node.kubeconfig(),
            server: SERVER,
            bin: state.bin,
            containerd_socket: node.containerd_socket(),
            netns: keeper.network(),
            keeper_pid: keeper.pid(),
            node_name: NODE_NAME,
            node_ip: NODE_IP,
            service_cidr: SERVICE_CIDR,
            pod_cidr: POD_CIDR,
            volumes: node.volumes(),
            pause_image: PAUSE,
            network_policy: state.options.network_policy,
            max_pods: state.options.max_pods,
        };
        Ok(Self { name, dir, up, components, running: Some(running) })
    }

    pub(crate) fn json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).context("cannot print the status")
    }

    /// One line a component.
    pub(crate) fn text(&self) -> String {
        let state = if self.up { "up" } else { "not up" };
        let mut text = format!("node {} is {state} ({})\n", self.name, self.dir.display());
        for component in &self.components {
            let alive = if component.alive { "alive" } else { "dead" };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {:<24}{alive:<7}{}", component.name, component.log.display());
        }
        text
    }
}
