//! The operator is killed at each of its writes: no job is lost, and none gets a second pod.
//!
//! The operator runs as a process of this machine, as the service account of the installation, through a relay that kills
//! it (see `relay.rs`). The one in the cluster rests meanwhile.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed expectation is a failed test"
)]

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anchorhold_cluster_tests::installation::NAMESPACE;
use anchorhold_cluster_tests::job::script;
use anchorhold_cluster_tests::relay::{Moment, Relay};
use anchorhold_cluster_tests::wait::until;
use anchorhold_cluster_tests::{Case, Installation, command};
use serde_json::json;

/// More writes than one job causes; the loop ends at the first run in which the operator was not killed.
const WRITES: usize = 20;

#[tokio::test]
async fn an_operator_killed_at_any_write_makes_no_second_pod_and_loses_no_job() {
    let _ = Installation::with(&["networkPolicy.enforcement=Assume"]);
    let case = Case::new("killed").await;
    let user = scale_to(0);
    let proxy = Proxy::start().await;
    let mut survived = Vec::new();
    for number in 0..WRITES {
        for moment in [Moment::BeforeRequest(number), Moment::AfterRequest(number)] {
            let name = format!(
                "kill-{}",
                format!("{moment:?}")
                    .to_lowercase()
                    .replace(['(', ')'], "-")
                    .trim_end_matches('-')
                    .replace("request", "")
            );
            if !one(&case, &proxy, &user, &name, moment).await {
                survived.push(number);
            }
        }
        if survived.len() >= 2 {
            break;
        }
    }
    scale_to(1);
    let last = survived.first().copied().unwrap_or(WRITES);
    assert!(
        (4..WRITES).contains(&last),
        "a job takes at least four writes and fewer than {WRITES}; the operator survived at {survived:?}"
    );
}

/// One job with an operator that dies at the moment, and a second operator after it. Returns whether the first one died.
async fn one(case: &Case, proxy: &Proxy, user: &str, name: &str, moment: Moment) -> bool {
    let agent = script("kill", "").agent_manifest();
    // The agent is there, and settled by an operator of its own, so that the writes that are counted are the job's.
    if case.cluster.get("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "kill").await.is_none() {
        case.cluster.create(&case.namespace, &agent).await;
        let relay = Relay::start(proxy.address, user, Moment::Never).await;
        let _operator = Operator::start(&relay, &case.namespace);
        until("the agent to be settled", || async {
            let agent =
                case.cluster.get("anchorhold.dev/v1alpha1", "Agent", &case.namespace, "kill").await.unwrap_or_default();
            if anchorhold_cluster_tests::job::status_of(&agent, "Ready") == "True" { Ok(()) } else { Err(agent) }
        })
        .await;
    }
    let relay = Relay::start(proxy.address, user, moment).await;
    let mut first = Operator::start(&relay, &case.namespace);
    relay.aim(first.0.id());
    let mut job: serde_json::Value = serde_json::from_str(&script(name, "return 1").manifest()).unwrap();
    job["spec"]["agentRef"]["name"] = json!("kill");
    let created = case.cluster.create(&case.namespace, &job.to_string()).await;
    let uid = created["metadata"]["uid"].as_str().unwrap().to_owned();
    let finished = || async {
        let job = case.cluster.get("anchorhold.dev/v1alpha1", "Job", &case.namespace, name).await.unwrap_or_default();
        if anchorhold_cluster_tests::job::status_of(&job, "Complete") == "True" {
            Ok(job)
        } else {
            Err(job["status"].clone())
        }
    };
    until("the operator to be killed, or the job to complete without", || async {
        if relay.has_struck() { Ok(()) } else { finished().await.map(drop) }
    })
    .await;
    let died = relay.has_struck();
    if died {
        first.0.wait().unwrap();
        let calm = Relay::start(proxy.address, user, Moment::Never).await;
        let _second = Operator::start(&calm, &case.namespace);
        let done = until(&format!("{name} to complete under the second operator"), finished).await;
        assert_eq!(done["status"]["attempts"].as_array().map(Vec::len), Some(1), "{moment:?}: {:#}", done["status"]);
    }
    let pods = case.cluster.list("v1", "Pod", &case.namespace).await;
    let own = pods.iter().filter(|pod| pod["metadata"]["ownerReferences"][0]["uid"] == uid.as_str()).count();
    assert_eq!(own, 1, "{moment:?}");
    died
}

/// An operator process, killed when it goes out of scope.
struct Operator(Child);

impl Operator {
    fn start(relay: &Relay, namespace: &str) -> Self {
        let program = std::env::var("ANCHORHOLD_OPERATOR")
            .expect("ANCHORHOLD_OPERATOR is the operator's program; run through `cargo xtask test`");
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "relay",
            "contexts": [{"name": "relay", "context": {"cluster": "relay", "user": "relay"}}],
            "clusters": [{"name": "relay", "cluster": {"server": format!("http://{}", relay.address)}}],
            "users": [{"name": "relay", "user": {}}],
        });
        let file = std::env::temp_dir().join(format!("anchorhold-relay-{}.json", relay.address.port()));
        std::fs::write(&file, kubeconfig.to_string()).unwrap();
        let log = std::fs::File::create(
            std::env::temp_dir().join(format!("anchorhold-operator-{}.log", relay.address.port())),
        )
        .unwrap();
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
        Self(child)
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // It may have been killed already, which is what the test is about.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `kubectl proxy`: plain HTTP to the real API server, as the administrator who may impersonate.
struct Proxy {
    address: SocketAddr,
    child: Child,
}

impl Proxy {
    async fn start() -> Self {
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
fn scale_to(replicas: u32) -> String {
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
