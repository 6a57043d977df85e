//! `cargo xtask cluster`: a real one-node Kubernetes, every component the upstream code, in namespaces of its own
//! without a way out. `keeper` has the picture; `tests/cluster` the sources and the configuration.

mod api;
mod build;
pub(crate) mod cache;
mod cgroups;
mod command;
mod components;
mod config;
mod down;
mod exec;
mod images;
mod keeper;
mod netns;
mod node;
mod packages;
mod pki;
mod processes;
mod progress;
mod state;
mod status;
mod up;
mod versions;
mod wait;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};

use components::Component;
use keeper::Keeper;
use node::Node;
use state::{Options, State};
use status::Status;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which node: nodes of different names run side by side [default: `$ANCHORHOLD_NODE`, else anchorhold]
    #[arg(long, global = true)]
    name: Option<String>,
    /// The node's folder [default: `$ANCHORHOLD_NODE_DIR`, else nodes/NAME in the cache folder]
    #[arg(long, global = true, conflicts_with = "name")]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Build the node's programs, unless they are built
    Build,
    /// Start the node, and return when a pod has run in it
    Up(UpArguments),
    /// Remove the node, or what is left of it after a crash
    Down,
    /// Run a command in the node's network with KUBECONFIG set and kubectl, helm and ctr on the PATH
    Exec {
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
    /// Print what runs. Exits with 1 when not everything does
    Status {
        #[arg(long, short, value_enum, default_value_t = Output::Text)]
        output: Output,
    },
    /// Import images: archives (OCI, docker save) or folders with an OCI image layout
    LoadImage {
        #[arg(required = true)]
        images: Vec<PathBuf>,
    },
    /// Stop one component of a running node
    StopComponent { component: Component },
    /// Start a component that was stopped
    StartComponent { component: Component },
}

#[derive(Args)]
struct UpArguments {
    /// How many pods the node takes
    #[arg(long, default_value_t = 250)]
    max_pods: u16,
    /// Enforce no NetworkPolicy
    #[arg(long)]
    no_network_policy: bool,
    /// A flag for a component: kube-controller-manager=--kube-api-qps=200
    #[arg(long = "component-arg", value_name = "COMPONENT=FLAG", value_parser = component_arg)]
    component_args: Vec<(Component, String)>,
    /// Install missing Debian packages; CI=true means the same
    #[arg(long)]
    install: bool,
    /// Seconds until a node that is not ready is given up
    #[arg(long, default_value_t = 120)]
    timeout: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    Text,
    Json,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    let node = chosen(arguments.name, arguments.dir)?;
    match arguments.action {
        Action::Build => println!("{}", build::ensure()?.display()),
        Action::Up(arguments) => bring_up(&node, arguments)?,
        Action::Down => {
            let there_was = down::down(&node)?;
            println!("{}", if there_was { "removed the node" } else { "there is no such node" });
        }
        Action::Exec { command } => {
            let (state, keeper) = running(&node)?;
            exec::exec(&node, &state, keeper, &command)?;
        }
        Action::Status { output } => {
            let status = Status::of(&node)?;
            match output {
                Output::Text => print!("{}", status.text()),
                Output::Json => println!("{}", status.json()?),
            }
            return Ok(if status.up { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Action::LoadImage { images } => {
            let (state, _) = running(&node)?;
            for image in images {
                print!("{}", images::load(&node, &state, &image)?);
            }
        }
        Action::StopComponent { component } => {
            let (state, keeper) = running(&node)?;
            let _lock = node.lock()?;
            let ran = component.stop(&state, keeper)?;
            println!("{component} {}", if ran { "is stopped" } else { "was not running" });
        }
        Action::StartComponent { component } => start_component(&node, component)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The node that the command line names, else the environment: a command inside `exec` so uses the node it runs in,
/// unless it is told another.
fn chosen(name: Option<String>, dir: Option<PathBuf>) -> Result<Node> {
    let cache = cache::folder()?;
    match (name, dir) {
        (None, Some(dir)) => Node::at(&dir),
        (Some(name), _) => Node::named(&cache, &name),
        (None, None) => match (env::var_os("ANCHORHOLD_NODE_DIR"), env::var("ANCHORHOLD_NODE")) {
            (Some(dir), _) => Node::at(Path::new(&dir)),
            (None, Ok(name)) => Node::named(&cache, &name),
            (None, Err(_)) => Node::named(&cache, "anchorhold"),
        },
    }
}

fn bring_up(node: &Node, arguments: UpArguments) -> Result<()> {
    let install = arguments.install || env::var("CI").is_ok_and(|value| value == "true");
    let options = Options {
        max_pods: arguments.max_pods,
        network_policy: !arguments.no_network_policy,
        component_args: arguments.component_args,
    };
    let started = up::up(node, options, install, Duration::from_secs(arguments.timeout))?;
    let (state, _) = running(node)?;
    match started {
        Some(seconds) => println!("the node {} is up after {seconds:.1} s", node.name()),
        None => println!("the node {} was already up", node.name()),
    }
    println!("{}", up::usage(node, &state.bin));
    Ok(())
}

fn start_component(node: &Node, component: Component) -> Result<()> {
    let (state, keeper) = running(node)?;
    let _lock = node.lock()?;
    if component.find(&state, keeper)?.is_some() {
        println!("{component} was already running");
        return Ok(());
    }
    if component == Component::KubeRouter {
        up::start_network_policy(node, &state, keeper, Instant::now() + Duration::from_mins(1))?;
    } else {
        component.start(node, &state, keeper)?;
    }
    println!("{component} is started");
    Ok(())
}

fn running(node: &Node) -> Result<(State, Keeper)> {
    match (State::read(node)?, Keeper::find(node)?) {
        (Some(state), Some(keeper)) => Ok((state, keeper)),
        _ => bail!("the node {} is not up; start it with `cargo xtask cluster {} up`", node.name(), node.option()),
    }
}

fn component_arg(text: &str) -> Result<(Component, String)> {
    let (component, flag) = text.split_once('=').context("must be COMPONENT=FLAG")?;
    let component = Component::from_str(component, false).map_err(anyhow::Error::msg)?;
    Ok((component, flag.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::component_arg;
    use super::components::Component;

    #[test]
    fn a_component_flag_keeps_its_own_equals_sign() {
        let parsed = component_arg("kube-controller-manager=--kube-api-qps=200").unwrap();
        assert_eq!(parsed, (Component::KubeControllerManager, "--kube-api-qps=200".to_owned()));
        assert!(component_arg("kubelet").is_err());
        assert!(component_arg("docker=--x").is_err());
    }
}
