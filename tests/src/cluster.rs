//! The API server, spoken to with YAML and JSON.

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{Api, DeleteParams, ListParams, LogParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, Config};
use serde_json::{Value, json};

use crate::wait::until;

/// A client of the cluster that `KUBECONFIG` names.
#[derive(Clone)]
pub struct Cluster {
    /// The client itself, for what is not spelled out here.
    pub client: Client,
}

impl Cluster {
    /// Connects.
    pub async fn connect() -> Self {
        // The second test of a process finds the provider installed; that is no error.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = Config::infer().await.expect("KUBECONFIG names a cluster");
        Self { client: Client::try_from(config).expect("the kubeconfig is complete") }
    }

    /// An untyped API of one kind in one namespace. `kind` is the kind's name, found by its group and version.
    #[must_use]
    pub fn api(&self, api_version: &str, kind: &str, namespace: &str) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        if namespace.is_empty() {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), namespace, &resource)
        }
    }

    /// Creates every document of a YAML text in the namespace and returns the last as the server stored it.
    pub async fn create(&self, namespace: &str, yaml: &str) -> Value {
        self.try_create(namespace, yaml).await.unwrap_or_else(|error| panic!("the server refused:\n{yaml}\n{error}"))
    }

    /// As [`Cluster::create`]; the server's refusal is returned.
    pub async fn try_create(&self, namespace: &str, yaml: &str) -> Result<Value, kube::Error> {
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(yaml).unwrap_or_else(|error| panic!("{error}:\n{yaml}"));
        let mut last = Value::Null;
        for document in documents {
            let text = |field: &str| document[field].as_str().unwrap_or_default().to_owned();
            let api = self.api(&text("apiVersion"), &text("kind"), namespace);
            let object: DynamicObject = serde_json::from_value(document).expect("a Kubernetes object");
            last = to_value(&api.create(&strict(), &object).await?);
        }
        Ok(last)
    }

    /// One object as JSON.
    pub async fn get(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        let found = self.api(api_version, kind, namespace).get_opt(name).await.expect("the API server answers");
        found.as_ref().map(to_value)
    }

    /// Every object of a kind in a namespace.
    pub async fn list(&self, api_version: &str, kind: &str, namespace: &str) -> Vec<Value> {
        let list = self.api(api_version, kind, namespace).list(&ListParams::default()).await;
        list.expect("the API server lists").items.iter().map(to_value).collect()
    }

    /// A merge patch.
    pub async fn patch(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<Value, kube::Error> {
        let patched =
            self.api(api_version, kind, namespace).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(to_value(&patched))
    }

    /// Deletes one object; nothing happens when it is gone already.
    pub async fn delete(&self, api_version: &str, kind: &str, namespace: &str, name: &str) {
        match self.api(api_version, kind, namespace).delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            result => drop(result.expect("the API server deletes")),
        }
    }

    /// What a pod's container printed.
    pub async fn logs(&self, namespace: &str, pod: &str) -> String {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        api.logs(pod, &LogParams::default()).await.expect("the kubelet returns the log")
    }

    /// Makes a namespace that enforces the restricted Pod Security level, with its service account there.
    pub async fn make_namespace(&self, name: &str) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = serde_json::from_value(json!({
            "metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": "restricted", "anchorhold-tests": "true"}}
        }));
        match namespaces.create(&PostParams::default(), &namespace.expect("a namespace")).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            result => drop(result.expect("the namespace is created")),
        }
        until("the default service account", || async {
            self.get("v1", "ServiceAccount", name, "default").await.ok_or("absent")
        })
        .await;
    }
}

/// Unknown and duplicate fields are refused, as kubectl asks by default.
fn strict() -> PostParams {
    PostParams { field_manager: Some("tests".into()), ..PostParams::default() }
}

fn to_value(object: &DynamicObject) -> Value {
    serde_json::to_value(object).expect("an object is serialisable")
}
