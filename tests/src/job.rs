//! A Job and the objects around it, in words.

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::wait::until;

const GROUP: &str = "anchorhold.dev/v1alpha1";

/// A script job: a Job, and the Agent it names.
#[derive(Clone)]
pub struct ScriptJob {
    spec: Value,
    agent: Value,
    name: String,
}

/// A job of that name, whose script is that text.
#[must_use]
pub fn script(name: &str, text: &str) -> ScriptJob {
    ScriptJob { name: name.into(), spec: json!({"agentRef": {"name": name}, "script": text}), agent: json!({}) }
}

impl ScriptJob {
    /// Sets a field of the Job's spec.
    #[must_use]
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.spec[field] = value;
        self
    }

    /// Sets a field of the Agent's spec.
    #[must_use]
    pub fn agent(mut self, field: &str, value: Value) -> Self {
        self.agent[field] = value;
        self
    }

    /// The Agent alone.
    #[must_use]
    pub fn agent_manifest(&self) -> String {
        json!({"apiVersion": GROUP, "kind": "Agent", "metadata": {"name": self.spec["agentRef"]["name"]}, "spec": self.agent}).to_string()
    }

    /// The Job alone.
    #[must_use]
    pub fn manifest(&self) -> String {
        json!({"apiVersion": GROUP, "kind": "Job", "metadata": {"name": self.name}, "spec": self.spec}).to_string()
    }

    /// Creates both.
    pub async fn create(&self, cluster: &Cluster, namespace: &str) -> JobHandle {
        cluster.create(namespace, &self.agent_manifest()).await;
        self.create_job(cluster, namespace).await
    }

    /// Creates the Job alone; its Agent is there or is missing on purpose.
    pub async fn create_job(&self, cluster: &Cluster, namespace: &str) -> JobHandle {
        let created = cluster.create(namespace, &self.manifest()).await;
        let uid = created["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        JobHandle { cluster: cluster.clone(), namespace: namespace.into(), name: self.name.clone(), uid }
    }
}

/// A Job that was created.
#[derive(Clone)]
pub struct JobHandle {
    cluster: Cluster,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

impl JobHandle {
    /// The object now; `None` when it is gone.
    pub async fn get(&self) -> Option<Value> {
        self.cluster.get(GROUP, "Job", &self.namespace, &self.name).await
    }

    /// Waits until the condition is `True` and returns the whole object.
    pub async fn wait_for(&self, condition: &str) -> Value {
        until(&format!("job {} to be {condition}", self.name), || async {
            let job = self.get().await.unwrap_or_default();
            if status_of(&job, condition) == "True" { Ok(job) } else { Err(job["status"].clone()) }
        })
        .await
    }

    /// Waits until it is Complete or Failed and returns the whole object.
    pub async fn finished(&self) -> Value {
        until(&format!("job {} to finish", self.name), || async {
            let job = self.get().await.unwrap_or_default();
            if status_of(&job, "Complete") == "True" || status_of(&job, "Failed") == "True" {
                Ok(job)
            } else {
                Err(job["status"].clone())
            }
        })
        .await
    }

    /// Waits until it is Complete; panics when it failed.
    pub async fn completed(&self) -> Value {
        let job = self.finished().await;
        assert_eq!(status_of(&job, "Complete"), "True", "{:#}", job["status"]);
        job
    }

    /// Waits until it failed and returns `(reason, message, object)`.
    pub async fn failed(&self) -> (String, String, Value) {
        let job = self.finished().await;
        assert_eq!(status_of(&job, "Failed"), "True", "{:#}", job["status"]);
        let (reason, message) = reason_of(&job, "Failed");
        (reason, message, job)
    }

    /// Waits until a condition gives this reason and returns its message.
    pub async fn reason(&self, condition: &str, reason: &str) -> String {
        until(&format!("job {}: {condition} with reason {reason}", self.name), || async {
            let job = self.get().await.unwrap_or_default();
            let (seen, message) = reason_of(&job, condition);
            if seen == reason { Ok(message) } else { Err(job["status"].clone()) }
        })
        .await
    }

    /// Waits until an attempt's script prints this line into the record; returns the pod's name.
    pub async fn started(&self) -> String {
        until(&format!("the script of job {} to start", self.name), || async {
            for pod in self.pods().await {
                let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                let running = pod["status"]["containerStatuses"][0]["state"]["running"].is_object();
                if running && self.cluster.logs(&self.namespace, &name).await.contains("script.started") {
                    return Ok(name);
                }
            }
            Err(self.get().await.unwrap_or_default()["status"].clone())
        })
        .await
    }

    /// The pods that belong to it, finished ones included.
    pub async fn pods(&self) -> Vec<Value> {
        self.owned("v1", "Pod").await
    }

    /// The objects of a kind that it owns.
    pub async fn owned(&self, api_version: &str, kind: &str) -> Vec<Value> {
        let mut all = self.cluster.list(api_version, kind, &self.namespace).await;
        all.retain(|object| object["metadata"]["ownerReferences"][0]["uid"] == self.uid.as_str());
        all
    }

    /// Changes its spec by a merge patch.
    pub async fn change(&self, spec: Value) {
        let patched = self.cluster.patch(GROUP, "Job", &self.namespace, &self.name, &json!({"spec": spec})).await;
        patched.expect("the change is allowed");
    }

    /// The reasons of the Events about it.
    pub async fn events(&self) -> Vec<String> {
        let all = self.cluster.list("events.k8s.io/v1", "Event", &self.namespace).await;
        all.iter()
            .filter(|event| event["regarding"]["uid"] == self.uid.as_str())
            .filter_map(|event| event["reason"].as_str().map(str::to_owned))
            .collect()
    }
}

/// The status of a condition, or the empty string.
#[must_use]
pub fn status_of(object: &Value, condition: &str) -> String {
    field(object, condition, "status")
}

/// Reason and message of a condition.
#[must_use]
pub fn reason_of(object: &Value, condition: &str) -> (String, String) {
    (field(object, condition, "reason"), field(object, condition, "message"))
}

fn field(object: &Value, condition: &str, name: &str) -> String {
    let conditions = object["status"]["conditions"].as_array();
    let found = conditions.and_then(|all| all.iter().find(|one| one["type"] == condition));
    found.and_then(|one| one[name].as_str()).unwrap_or_default().to_owned()
}
