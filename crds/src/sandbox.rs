//! How an agent's pods run. There is no more of `PodSpec` than this: what is left out could loosen the sandbox.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::KubeSchema;
use kube::core::Rule;
use serde::{Deserialize, Serialize};

use crate::reference::SecretRef;
use crate::rule;

/// Where an agent's pods run and what they may use.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// What the runner's container asks for and may use. When left out: 100m CPU and 128Mi of memory requested, at most 1Gi of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// A `RuntimeClass`, such as one of gVisor or Kata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("runtimeClassName"))]
    pub runtime_class_name: Option<String>,
    /// Labels a node must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 32))]
    pub node_selector: BTreeMap<String, String>,
    /// Taints the pods tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub tolerations: Vec<Toleration>,
    /// A `PriorityClass`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("priorityClassName"))]
    pub priority_class_name: Option<String>,
    /// Secrets to pull images with; used by the kubelet alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub image_pull_secrets: Vec<SecretRef>,
}

/// Compute resources of the runner's container.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// What the scheduler reserves: cpu, memory, ephemeral-storage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "crate::crd::quantities")]
    #[x_kube(validation = known_resources("requests"))]
    pub requests: BTreeMap<String, Quantity>,
    /// What the container may use: cpu, memory, ephemeral-storage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "crate::crd::quantities")]
    #[x_kube(validation = known_resources("limits"))]
    pub limits: BTreeMap<String, Quantity>,
}

fn known_resources(field: &str) -> Rule {
    Rule::new(
        "self.all(name, name in ['cpu', 'memory', 'ephemeral-storage'] && isQuantity(string(self[name])) && quantity(string(self[name])).isGreaterThan(quantity('0')))",
    )
    .message(
        format!("{field} takes positive amounts of cpu, memory and ephemeral-storage, such as memory: 512Mi").as_str(),
    )
}
