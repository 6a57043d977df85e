//! What an installation decided, as plain data: every reconciler reads it, nobody changes it.

use std::net::SocketAddr;

use anchorhold_plan::Gate;

/// The installation's decisions that reach an object, made once from the flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The image of the runner container.
    pub runner_image: String,
    /// The runner container's `imagePullPolicy`; `None` leaves Kubernetes its default.
    pub runner_image_pull_policy: Option<ImagePullPolicy>,
    /// Whether each job proves that its NetworkPolicy is enforced.
    pub enforcement: PolicyEnforcement,
}

/// Kubernetes' own three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum ImagePullPolicy {
    /// Ask the image registry each time.
    Always,
    /// Pull what the node lacks.
    IfNotPresent,
    /// Use what the node has.
    Never,
}

impl ImagePullPolicy {
    /// The word as a pod spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "Always",
            Self::IfNotPresent => "IfNotPresent",
            Self::Never => "Never",
        }
    }
}

/// How an installation makes sure that NetworkPolicies are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum PolicyEnforcement {
    /// Every runner proves it against the canaries before it starts anything, and fails closed.
    #[default]
    Probe,
    /// The administrator vouches for the cluster. Every job says so in its conditions.
    Assume,
}

/// New connections to every canary must fail this many times in a row (design §2).
pub const GATE_ROUNDS: u32 = 3;
/// Milliseconds until the runner's gate gives up (design §2).
pub const GATE_TIMEOUT_MS: u64 = 30_000;

impl Settings {
    /// The gate of a job's plan. The canaries are those that [`crate::canary::Canary::check`] returned.
    #[must_use]
    pub fn gate(&self, canaries: &[SocketAddr]) -> Gate {
        match self.enforcement {
            PolicyEnforcement::Probe => {
                Gate::Probe { canaries: canaries.to_vec(), rounds: GATE_ROUNDS, timeout_ms: GATE_TIMEOUT_MS }
            }
            PolicyEnforcement::Assume => Gate::Assume,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(enforcement: PolicyEnforcement) -> Settings {
        Settings { runner_image: "runner:test".into(), runner_image_pull_policy: None, enforcement }
    }

    #[test]
    fn a_probing_installation_hands_its_canaries_to_the_runner() {
        let canary: SocketAddr = "10.0.0.1:443".parse().unwrap();
        assert_eq!(
            settings(PolicyEnforcement::Probe).gate(&[canary]),
            Gate::Probe { canaries: vec![canary], rounds: 3, timeout_ms: 30_000 }
        );
    }

    #[test]
    fn an_assuming_installation_says_so_in_the_plan() {
        assert_eq!(settings(PolicyEnforcement::Assume).gate(&[]), Gate::Assume);
    }
}
