//! The operator as a process of this machine, as the service account of the installation: where it is to be killed, or to go
//! on while the node is gone.

#![expect(clippy::unwrap_used, reason = "a failed expectation here is a failed test")]

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::command;
use crate::installation::NAMESPACE;
use crate::relay::Relay;
use crate::wait::until;

/// An operator process, killed when it goes out of scope.
pub struct Operator {
    child: Child,
    /// Its kubeconfig and its log, which is shown when a test fails.
    folder: TempDir,
}

impl Operator {
    /// Starts it for one namespace, with the relay as its API server and the gate assumed.
    #[must_use]
    pub fn start(relay: &Relay, namespace: &str) -> Self {
        let program = std::env::var("ANCHORHOLD_OPERATOR")
            .expect("ANCHORHOLD_OPERATOR is the operator's program; run through `cargo xtask test`");
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "relay",
            "contexts": [{"name": "relay", "context": {"cluster": "relay", "user": "relay"}}],
            "clusters": [{"name": "relay", "cluster": {"server": format!("http://{}", relay.address)}}],
            "users": [{"name": "relay", "user": {}}],
        });
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("kubeconfig.json");
        std::fs::write(&file, kubeconfig.to_string()).unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let child = Command::new(program)
            .args(["--runner-image", "localhost/anchorhold-runner:0.1.0", "--runner-image-pull-policy", "Never"])
            .args([
                "--leader-election=false",
                "--network-policy-enforcement",
                "Assume",
                "--namespace",
                namespace,
                "--listen",
                "127.0.0.1:0",
            ])
            .env("KUBECONFIG", file)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { child, folder }
    }

    /// Its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) {
        self.child.wait().unwrap();
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // It may have been killed already, which is what the test is about.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default());
        }
    }
}

/// `kubectl proxy`: plain HTTP to the real API server, as the administrator who may impersonate.
pub struct Proxy {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
}

impl Proxy {
    /// Starts it and waits until it listens.
    pub async fn start() -> Self {
        let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let child =
            Command::new("kubectl").args(["proxy", "--port", &port.to_string()]).stdout(Stdio::null()).spawn().unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        until("kubectl proxy to listen", || async {
            tokio::net::TcpStream::connect(address).await.map(drop).map_err(|error| error.to_string())
        })
        .await;
        Self { address, child }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Scales the installed operator and returns the user its service account is.
pub fn scale_to(replicas: u32) -> String {
    let name =
        command::run("kubectl", &["get", "deployment", "-n", NAMESPACE, "-o", "jsonpath={.items[0].metadata.name}"]);
    command::run("kubectl", &["scale", "deployment", &name, "-n", NAMESPACE, &format!("--replicas={replicas}")]);
    command::run("kubectl", &["rollout", "status", "deployment", &name, "-n", NAMESPACE, "--timeout=120s"]);
    let account = command::run(
        "kubectl",
        &["get", "deployment", &name, "-n", NAMESPACE, "-o", "jsonpath={.spec.template.spec.serviceAccountName}"],
    );
    format!("system:serviceaccount:{NAMESPACE}:{account}")
}
