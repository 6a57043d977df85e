//! The product, installed by the real helm from the charts of this repository.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::command::run;

/// The namespace of the operator.
pub const NAMESPACE: &str = "anchorhold-system";
/// The helm release of the operator.
pub const RELEASE: &str = "anchorhold";

/// An installation of both charts.
pub struct Installation;

impl Installation {
    /// Installs once a process, or brings what is installed to these defaults, and waits until the operator is ready.
    pub fn ready() -> &'static Self {
        static READY: OnceLock<Installation> = OnceLock::new();
        READY.get_or_init(|| Self::with(&[]))
    }

    /// Installs or upgrades with these `--set` values on top of the defaults, and waits until the operator is ready.
    #[must_use]
    pub fn with(values: &[&str]) -> Self {
        let charts = root().join("charts");
        let crds = charts.join("anchorhold-crds").display().to_string();
        let chart = charts.join("anchorhold").display().to_string();
        helm(&[
            "upgrade",
            "--install",
            "anchorhold-crds",
            &crds,
            "--namespace",
            NAMESPACE,
            "--create-namespace",
            "--wait",
            "--timeout",
            "120s",
        ]);
        let mut args = vec![
            "upgrade",
            "--install",
            RELEASE,
            &chart,
            "--namespace",
            NAMESPACE,
            "--wait",
            "--timeout",
            "180s",
            "--set",
            "image.repository=localhost/anchorhold-operator",
            "--set",
            "image.pullPolicy=Never",
            "--set",
            "runnerImage.repository=localhost/anchorhold-runner",
            "--set",
            "runnerImage.pullPolicy=Never",
        ];
        for value in values {
            args.extend(["--set", value]);
        }
        helm(&args);
        run("kubectl", &["--namespace", NAMESPACE, "rollout", "status", "deployment", "--timeout=180s"]);
        Self
    }
}

/// Runs helm; panics with its output when it fails.
pub fn helm(args: &[&str]) -> String {
    run("helm", args)
}

/// The repository's root.
#[must_use]
pub fn root() -> PathBuf {
    env::var_os("ANCHORHOLD_ROOT")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".."), PathBuf::from)
        .canonicalize()
        .expect("the repository is there")
}
