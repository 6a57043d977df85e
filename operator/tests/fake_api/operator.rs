//! The operator over the fake: its stores hold what the fake holds, as if every watch had caught up, or had not.

use std::sync::Arc;

use anchorhold_crds::{Agent, Job};
use anchorhold_operator::canary::Canary;
use anchorhold_operator::context::Context;
use anchorhold_operator::error::Error;
use anchorhold_operator::job::reconcile;
use anchorhold_operator::metrics::Metrics;
use anchorhold_operator::settings::{ImagePullPolicy, PolicyEnforcement, Settings};
use anchorhold_operator::stores::{Stores, Writers};
use kube::runtime::controller::Action;
use serde_json::{Value, json};

use super::FakeApi;

/// One process of the operator.
pub struct Operator {
    fake: FakeApi,
    context: Arc<Context>,
    writers: Writers,
}

/// A Job of the name `count`, whose spec is a script and what is given.
pub fn job(spec: &Value) -> Value {
    let mut job = json!({
        "apiVersion": "anchorhold.dev/v1alpha1", "kind": "Job",
        "metadata": {"name": "count", "namespace": "team-a", "uid": "uid-of-count", "generation": 1,
            "creationTimestamp": format!("{:.0}", jiff::Timestamp::now())},
        "spec": {"agentRef": {"name": "reader"}, "script": "return 1"},
    });
    for (key, value) in spec.as_object().unwrap() {
        job["spec"][key] = value.clone();
    }
    job
}

/// The Agent of the name `reader`.
pub fn agent() -> Value {
    json!({"apiVersion": "anchorhold.dev/v1alpha1", "kind": "Agent",
        "metadata": {"name": "reader", "namespace": "team-a", "uid": "uid-of-reader", "generation": 3}, "spec": {}})
}

impl Operator {
    /// A process that starts now: whatever it knows, it knows from the fake.
    pub fn start(fake: &FakeApi, enforcement: PolicyEnforcement) -> Self {
        Self::start_with_canary(fake, enforcement, fake.address())
    }

    /// A process whose canary is at that address.
    pub fn start_with_canary(fake: &FakeApi, enforcement: PolicyEnforcement, canary: std::net::SocketAddr) -> Self {
        let (stores, writers) = Stores::new();
        let client = fake.client();
        let canary = Canary::new(client.clone(), vec![canary], None);
        let settings = Settings {
            runner_image: "localhost/anchorhold-runner:test".into(),
            runner_image_pull_policy: Some(ImagePullPolicy::IfNotPresent),
            enforcement,
        };
        let (metrics, _) = Metrics::new();
        let context = Arc::new(Context::new(client, settings, stores, canary, metrics, "test"));
        Self { fake: fake.clone(), context, writers }
    }

    /// What the watches would bring.
    pub fn catch_up(&mut self) {
        let read = |plural| self.fake.all(plural).into_iter();
        let jobs: Vec<Job> = read("jobs").map(|job| serde_json::from_value(job).unwrap()).collect();
        let agents: Vec<Agent> = read("agents").map(|agent| serde_json::from_value(agent).unwrap()).collect();
        let pods = read("pods").map(|pod| serde_json::from_value(pod).unwrap()).collect();
        self.writers.fill(jobs, agents, vec![], pods);
    }

    /// One reconcile with watches that have caught up.
    pub async fn pass(&mut self) -> Result<Action, Error> {
        self.catch_up();
        let job = self.fake.get("jobs/count").unwrap();
        self.pass_with(job).await
    }

    /// One reconcile of the Job as it was then, with stores as they are.
    pub async fn pass_with(&self, job: Value) -> Result<Action, Error> {
        let job: Job = serde_json::from_value(job).unwrap();
        reconcile(Arc::new(job), Arc::clone(&self.context)).await
    }
}
