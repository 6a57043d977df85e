//! The flags. Each is documented here and has an environment variable; nothing else reads the environment.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context as _, bail};
use clap::Parser;

use crate::canary::CanaryService;
use crate::settings::{ImagePullPolicy, PolicyEnforcement, Settings};

/// Runs Jobs of anchorhold.dev: each in a sandbox that can look at code, write into one folder and reach nothing else.
#[derive(Clone, Debug, Parser)]
#[command(name = "anchorhold-operator", version)]
pub struct Args {
    /// Image of the runner container
    #[arg(long, env = "ANCHORHOLD_RUNNER_IMAGE", value_parser = not_blank)]
    pub runner_image: String,

    /// imagePullPolicy of the runner container; Kubernetes' own default when left out
    #[arg(long, env = "ANCHORHOLD_RUNNER_IMAGE_PULL_POLICY", value_enum)]
    pub runner_image_pull_policy: Option<ImagePullPolicy>,

    /// Whether every job proves that its NetworkPolicy is enforced, or the administrator vouches for the cluster
    #[arg(long, env = "ANCHORHOLD_NETWORK_POLICY_ENFORCEMENT", value_enum, default_value_t)]
    pub network_policy_enforcement: PolicyEnforcement,

    /// ADDRESS:PORT that any unrestricted pod reaches; repeatable. Instead of the API server's cluster address
    #[arg(long, env = "ANCHORHOLD_CANARY", value_name = "ADDRESS:PORT", value_delimiter = ',')]
    pub canary: Vec<SocketAddr>,

    /// The Service in front of this operator's canary listener; its cluster address is one more canary
    #[arg(long, env = "ANCHORHOLD_CANARY_SERVICE", value_name = "NAMESPACE/NAME", value_parser = canary_service)]
    pub canary_service: Option<CanaryService>,

    /// Where this operator answers as a canary: it accepts each connection and closes it at once
    #[arg(long, env = "ANCHORHOLD_CANARY_LISTEN", value_name = "ADDRESS:PORT")]
    pub canary_listen: Option<SocketAddr>,

    /// A namespace to watch; repeatable. All namespaces when left out
    #[arg(long, env = "ANCHORHOLD_NAMESPACE", value_delimiter = ',', value_parser = not_blank)]
    pub namespace: Vec<String>,

    /// Where /healthz, /readyz and /metrics are served
    #[arg(long, env = "ANCHORHOLD_LISTEN", value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8080")]
    pub listen: SocketAddr,

    /// Whether to reconcile only while holding the Lease; needed as soon as there are two replicas, also during an update
    #[arg(
        long,
        env = "ANCHORHOLD_LEADER_ELECTION",
        default_value_t = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = clap::ArgAction::Set
    )]
    pub leader_election: bool,

    /// Namespace of the Lease; the operator's own when left out
    #[arg(long, env = "ANCHORHOLD_LEASE_NAMESPACE")]
    pub lease_namespace: Option<String>,

    /// Name of the Lease; installations in one namespace need one each
    #[arg(long, env = "ANCHORHOLD_LEASE_NAME", default_value = "anchorhold-operator", value_parser = not_blank)]
    pub lease_name: String,

    /// Name of this process in the Lease and in Events. No two processes alive may share it; a pod's name fits, and
    /// lets a restarted container go on at once. A random one when left out
    #[arg(long, env = "ANCHORHOLD_IDENTITY", value_parser = not_blank)]
    pub identity: Option<String>,

    /// Objects of one kind that are reconciled at once
    #[arg(long, env = "ANCHORHOLD_CONCURRENCY", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,

    /// What is logged: a level, or directives such as "info,kube=debug"
    #[arg(long, env = "ANCHORHOLD_LOG_LEVEL", default_value = "info")]
    pub log_level: String,

    /// How it is logged
    #[arg(long, env = "ANCHORHOLD_LOG_FORMAT", value_enum, default_value_t)]
    pub log_format: LogFormat,

    /// Set by Kubernetes in every pod
    #[arg(long, env = "KUBERNETES_SERVICE_HOST", hide = true)]
    pub kubernetes_service_host: Option<String>,

    /// Set by Kubernetes in every pod
    #[arg(long, env = "KUBERNETES_SERVICE_PORT", hide = true, default_value_t = 443)]
    pub kubernetes_service_port: u16,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Args {
    /// The decisions that reach an object.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            runner_image: self.runner_image.clone(),
            runner_image_pull_policy: self.runner_image_pull_policy,
            enforcement: self.network_policy_enforcement,
        }
    }

    /// The canaries at fixed addresses: the given ones, or the API server as pods see it. An installation that probes
    /// without any canary is refused.
    pub fn fixed_canaries(&self) -> anyhow::Result<Vec<SocketAddr>> {
        if !self.canary.is_empty() || self.network_policy_enforcement == PolicyEnforcement::Assume {
            return Ok(self.canary.clone());
        }
        match &self.kubernetes_service_host {
            Some(host) => {
                let address: IpAddr = host.parse().with_context(|| {
                    format!("KUBERNETES_SERVICE_HOST is \"{host}\", not an address: pass the API server's cluster address with --canary")
                })?;
                Ok(vec![SocketAddr::new(address, self.kubernetes_service_port)])
            }
            None if self.canary_service.is_some() => Ok(Vec::new()),
            None => bail!(
                "no canary to prove network policies against: pass --canary or --canary-service, or --network-policy-enforcement Assume"
            ),
        }
    }
}

fn not_blank(value: &str) -> Result<String, &'static str> {
    if value.trim().is_empty() { Err("must not be empty") } else { Ok(value.to_owned()) }
}

fn canary_service(value: &str) -> Result<CanaryService, &'static str> {
    match value.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(CanaryService { namespace: namespace.into(), name: name.into() })
        }
        _ => Err("must be NAMESPACE/NAME"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(more: &[&str]) -> Args {
        Args::try_parse_from(["anchorhold-operator", "--runner-image", "runner:test"].iter().chain(more)).unwrap()
    }

    fn refusal(more: &[&str]) -> String {
        Args::try_parse_from(["anchorhold-operator"].iter().chain(more)).unwrap_err().to_string()
    }

    #[test]
    fn the_flags_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_flag_has_an_environment_variable() {
        for argument in Args::command().get_arguments() {
            assert!(argument.get_env().is_some(), "--{} has none", argument.get_id());
        }
    }

    #[test]
    fn leader_election_is_on_unless_it_is_turned_off() {
        assert!(parse(&[]).leader_election);
        assert!(parse(&["--leader-election"]).leader_election);
        assert!(!parse(&["--leader-election=false"]).leader_election);
    }

    #[test]
    fn a_bad_value_says_what_is_wanted() {
        let image = ["--runner-image", "runner:test"];
        assert!(refusal(&[]).contains("--runner-image <RUNNER_IMAGE>"));
        assert!(refusal(&[&image[..], &["--canary-service", "canary"]].concat()).contains("must be NAMESPACE/NAME"));
        assert!(refusal(&[&image[..], &["--concurrency", "0"]].concat()).contains("0 is not in 1..=256"));
        assert!(refusal(&["--runner-image", " "]).contains("must not be empty"));
    }

    #[test]
    fn the_api_servers_cluster_address_is_the_canary_unless_others_are_given() {
        let inside = ["--kubernetes-service-host", "10.96.0.1", "--kubernetes-service-port", "443"];
        assert_eq!(parse(&inside).fixed_canaries().unwrap(), ["10.96.0.1:443".parse().unwrap()]);
        let given = [&inside[..], &["--canary", "10.0.0.9:80", "--canary", "[fd00::1]:80"]].concat();
        let canaries: [SocketAddr; 2] = ["10.0.0.9:80".parse().unwrap(), "[fd00::1]:80".parse().unwrap()];
        assert_eq!(parse(&given).fixed_canaries().unwrap(), canaries);
    }

    #[test]
    fn probing_without_a_canary_is_refused_and_assuming_without_one_is_not() {
        // The test itself may run in a pod.
        let mut args = Args { kubernetes_service_host: None, ..parse(&[]) };
        let refusal = args.fixed_canaries().unwrap_err().to_string();
        assert!(refusal.starts_with("no canary to prove network policies against: pass --canary"), "{refusal}");
        args.canary_service = Some(CanaryService { namespace: "a".into(), name: "b".into() });
        assert_eq!(args.fixed_canaries().unwrap(), []);
        args = Args { canary_service: None, network_policy_enforcement: PolicyEnforcement::Assume, ..args };
        assert_eq!(args.fixed_canaries().unwrap(), []);
    }

    #[test]
    fn a_name_instead_of_the_api_servers_address_asks_for_a_canary() {
        let args = parse(&["--kubernetes-service-host", "kubernetes.example.com"]);
        assert!(
            args.fixed_canaries()
                .unwrap_err()
                .to_string()
                .ends_with("pass the API server's cluster address with --canary")
        );
    }
}
