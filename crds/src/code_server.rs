//! The managed code server: repositories for agents to read, without the server they live on.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretRef;
use crate::rule;

/// Which repositories a managed code server keeps, and how fresh.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CodeServer {
    /// The repositories; 1 to 64.
    #[schemars(length(min = 1, max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub repositories: Vec<GitRepository>,
    /// Seconds between two refreshes; 300 to 604,800 (a week).
    #[serde(default = "CodeServer::default_refresh_interval_seconds")]
    #[schemars(range(min = 300, max = 604_800))]
    pub refresh_interval_seconds: i64,
    /// Files removed after each refresh, beside local configuration (`.env`, `*.local`, keys): patterns as in .gitignore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "crate::crd::file_patterns")]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub exclude_patterns: Vec<String>,
    /// Files kept although a pattern removes them, beside templates such as `.env.example`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "crate::crd::file_patterns")]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub keep_patterns: Vec<String>,
    /// How much the copies may take in all.
    #[serde(default = "CodeServer::default_size_limit")]
    #[schemars(schema_with = "crate::crd::quantity")]
    #[x_kube(validation = rule::positive_quantity("spec.code.sizeLimit"))]
    pub size_limit: Quantity,
    /// The `StorageClass` of the copies' claim; the cluster's default when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("storageClassName"))]
    pub storage_class_name: Option<String>,
}

impl CodeServer {
    const fn default_refresh_interval_seconds() -> i64 {
        // Four hours: agents read, and freshness is reported with every answer.
        14_400
    }

    fn default_size_limit() -> Quantity {
        Quantity("10Gi".into())
    }
}

/// A repository to keep a copy of.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GitRepository {
    /// Name that agents and sources know it by: a DNS label, unique.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rule::dns_label("the name of a repository"))]
    pub name: String,
    /// Where it lives: https:// or ssh://, without a password.
    #[schemars(length(min = 1, max = 2048))]
    #[x_kube(validation = Rule::new(
        r"self.matches('^(https://[^@/?#[:space:][:cntrl:]]+|ssh://([^@:/?#[:space:][:cntrl:]]+@)?[^@/?#[:space:][:cntrl:]]+)/[^#[:space:][:cntrl:]]+$')"
    ).message(
        "the URL of a repository is https://host/path or ssh://user@host/path, without a password: put credentials into secretRef"
    ))]
    pub url: String,
    /// Branch, tag or full commit; the default branch when left out.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "ref")]
    #[schemars(length(min = 1, max = 255))]
    #[x_kube(validation = Rule::new(r"self.matches('^[A-Za-z0-9][-A-Za-z0-9._/]*$') && !self.contains('..')").message(
        "ref is a branch, a tag or a full commit: letters, digits, '.', '_', '-' and '/', not starting with '-' and without '..'"
    ))]
    pub reference: Option<String>,
    /// The Secret with the credentials: `username` and `password`, or `ssh-privatekey` and `known_hosts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretRef>,
}
