//! What is measured, and how.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anchorhold_cluster_tests::job::{script, status_of};
use anchorhold_cluster_tests::{Cluster, command};
use serde_json::{Value, json};

const NAMESPACE: &str = "bench-job-start";
const STAMP: &str = "localhost/anchorhold-test-stamp:test";

/// What is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    PodOfOne,
    PodOfTwo,
    BatchJob,
    Job,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PodOfOne => "bare pod, one container",
            Self::PodOfTwo => "bare pod, two containers",
            Self::BatchJob => "batch/v1 Job",
            Self::Job => "anchorhold Job",
        }
    }

    fn manifest(self, name: &str) -> String {
        let container = |name: &str| json!({"name": name, "image": STAMP, "imagePullPolicy": "Never", "command": ["/anchorhold-runner"]});
        let pod = |containers: Vec<Value>| json!({"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": containers});
        match self {
            Self::PodOfOne => json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": pod(vec![container("a")])}),
            Self::PodOfTwo => {
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": pod(vec![container("a"), container("b")])})
            }
            Self::BatchJob => {
                json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": {"spec": pod(vec![container("a")])}}})
            }
            Self::Job => {
                let mut job: Value = serde_json::from_str(&script(name, "return 1").manifest()).unwrap();
                job["spec"]["agentRef"]["name"] = "bench".into();
                job
            }
        }
        .to_string()
    }

    const fn resource(self) -> (&'static str, &'static str) {
        match self {
            Self::PodOfOne | Self::PodOfTwo => ("v1", "Pod"),
            Self::BatchJob => ("batch/v1", "Job"),
            Self::Job => ("anchorhold.dev/v1alpha1", "Job"),
        }
    }

    fn done(self, object: &Value) -> bool {
        match self {
            Self::PodOfOne | Self::PodOfTwo => object["status"]["phase"] == "Succeeded",
            Self::BatchJob | Self::Job => status_of(object, "Complete") == "True",
        }
    }
}

pub(crate) struct Bench {
    cluster: Cluster,
    numbers: std::cell::Cell<usize>,
}

impl Bench {
    pub(crate) async fn new(cluster: Cluster) -> Self {
        command::attempt("kubectl", &["delete", "namespace", NAMESPACE, "--ignore-not-found"], None);
        command::run("kubectl", &["create", "namespace", NAMESPACE]);
        tokio::time::sleep(Duration::from_secs(2)).await;
        cluster.create(NAMESPACE, &script("bench", "").agent_manifest()).await;
        Self { cluster, numbers: std::cell::Cell::new(0) }
    }

    /// Until the operator and the node have nothing left to do.
    pub(crate) async fn settle(&self) {
        tokio::time::sleep(Duration::from_secs(15)).await;
    }

    /// Milliseconds from create to the first line, by the wall clock that node and client share.
    pub(crate) async fn start_of(&self, kind: Kind) -> u64 {
        let number = self.numbers.replace(self.numbers.get() + 1);
        let name = format!("n{number}");
        tokio::time::sleep(Duration::from_millis(
            200 + u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()) % 1000,
        ))
        .await;
        let created = now_ms();
        self.cluster.create(NAMESPACE, &kind.manifest(&name)).await;
        let started = self.first_line(kind, &name).await;
        let (api_version, resource) = kind.resource();
        self.cluster.delete(api_version, resource, NAMESPACE, &name).await;
        if kind == Kind::BatchJob {
            command::attempt("kubectl", &["delete", "pods", "-n", NAMESPACE, "--all", "--wait=false"], None);
        }
        self.until_no_pod().await;
        started.saturating_sub(created)
    }

    async fn first_line(&self, kind: Kind, name: &str) -> u64 {
        let end = Instant::now() + Duration::from_mins(2);
        loop {
            for pod in self.cluster.list("v1", "Pod", NAMESPACE).await {
                let pod_name = pod["metadata"]["name"].as_str().unwrap_or_default();
                let terminated = &pod["status"]["containerStatuses"][0]["state"]["terminated"];
                if !pod_name.starts_with(name) || !terminated.is_object() {
                    continue;
                }
                if kind == Kind::Job {
                    let log = self.cluster.logs(NAMESPACE, pod_name).await;
                    return script_started(&log);
                }
                // Of two containers, the later one: that is when the pod can begin its work.
                let times = pod["status"]["containerStatuses"].as_array().unwrap().iter().map(|status| {
                    let message = status["state"]["terminated"]["message"].as_str().unwrap_or("{}");
                    serde_json::from_str::<Value>(message).unwrap_or_default()["startedMs"].as_u64()
                });
                if let Some(times) = times.collect::<Option<Vec<_>>>() {
                    return times.into_iter().max().unwrap();
                }
            }
            assert!(Instant::now() < end, "{name} did not start");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn until_no_pod(&self) {
        while !self.cluster.list("v1", "Pod", NAMESPACE).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// API requests each of some objects takes, of all clients, from its creation to its end, one after the other. Nobody looks
    /// meanwhile.
    pub(crate) async fn requests_of(&self, kind: Kind, count: u32) -> f64 {
        self.settle().await;
        let before = requests();
        for number in 0..count {
            self.cluster.create(NAMESPACE, &kind.manifest(&format!("r{number}"))).await;
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
        self.settle().await;
        let made = requests() - before;
        let (api_version, resource) = kind.resource();
        let objects = self.cluster.list(api_version, resource, NAMESPACE).await;
        assert!(objects.iter().all(|object| kind.done(object)), "not every {} was done", kind.name());
        self.remove_all(kind).await;
        made / f64::from(count)
    }

    async fn remove_all(&self, kind: Kind) {
        let plural = if kind == Kind::Job { "jobs.anchorhold.dev" } else { "jobs.batch" };
        command::attempt("kubectl", &["delete", plural, "-n", NAMESPACE, "--all"], None);
        self.until_no_pod().await;
    }

    /// Seconds until all of a burst are done, and API requests each, of all clients, our own looking not counted.
    pub(crate) async fn burst(&self, kind: Kind, count: usize) -> (f64, f64) {
        self.settle().await;
        let before = requests();
        let began = Instant::now();
        let mut creating = tokio::task::JoinSet::new();
        for number in 0..count {
            let cluster = self.cluster.clone();
            creating.spawn(async move { cluster.create(NAMESPACE, &kind.manifest(&format!("b{number}"))).await });
            if creating.len() >= 32 {
                creating.join_next().await.unwrap().unwrap();
            }
        }
        while creating.join_next().await.is_some() {}
        let (api_version, resource) = kind.resource();
        let mut looks = 0;
        let end = Instant::now() + Duration::from_mins(15);
        loop {
            looks += 1;
            let objects = self.cluster.list(api_version, resource, NAMESPACE).await;
            if objects.iter().filter(|object| kind.done(object)).count() == count {
                break;
            }
            assert!(Instant::now() < end, "the burst of {} did not end", kind.name());
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let seconds = began.elapsed().as_secs_f64();
        let made = requests() - before - f64::from(looks);
        self.remove_all(kind).await;
        (seconds, made / u32::try_from(count).map_or(1.0, f64::from))
    }
}

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// The time of the record's `script.started`, in milliseconds since 1970.
fn script_started(log: &str) -> u64 {
    let event: Value = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|event| event["type"] == "script.started")
        .unwrap_or_else(|| panic!("no script.started in {log}"));
    let time: k8s_openapi::jiff::Timestamp = event["time"].as_str().unwrap().parse().unwrap();
    u64::try_from(time.as_millisecond()).unwrap()
}

/// Requests the API server has answered, watches and the looks of its own loopback left out.
fn requests() -> f64 {
    let metrics = command::run("kubectl", &["get", "--raw", "/metrics"]);
    metrics
        .lines()
        .filter(|line| {
            line.starts_with("apiserver_request_total{")
                && !line.contains("verb=\"WATCH\"")
                && !line.contains("resource=\"leases\"")
        })
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
        .sum()
}

/// Resident megabytes of the operator's process, as the kernel counts them.
pub(crate) fn operator_resident_mb() -> f64 {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let kilobytes = processes
        .filter(|entry| {
            std::fs::read_to_string(entry.path().join("cmdline"))
                .is_ok_and(|line| line.starts_with("/anchorhold-operator"))
        })
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok())
        .filter_map(|status| {
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<f64>().ok())
        })
        .fold(0.0, f64::max);
    kilobytes / 1024.0
}
