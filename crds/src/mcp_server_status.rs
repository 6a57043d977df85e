//! What the operator reports of an McpServer.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp_server::Exposure;

/// Whether the server can be used, and the newest good list of its tools.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    /// The generation of the spec that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted, `ResolvedRefs`, Reachable, Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
    /// The host of the server's URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What the server calls itself. It says so of itself; nothing is decided by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<ServerIdentity>,
    /// The protocol version that was agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// When the server was last probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_probe_time: Option<Time>,
    /// Milliseconds of the last probe, from connection to the end of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_milliseconds: Option<i64>,
    /// The addresses its host stands for, as jobs may reach them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// How many tools are callable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_count: Option<i64>,
    /// The tools of the newest good list; of many the first are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub tools: Vec<ServerTool>,
    /// SHA-256 over all tool definitions: it changes when any of them does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_hash: Option<String>,
}

/// What a server calls itself.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServerIdentity {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A tool of a server.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ServerTool {
    /// Its name as the server knows it.
    pub name: String,
    /// Whether the server marks it read-only.
    pub read_only: ReadOnly,
    /// Whether it may run.
    pub callable: bool,
    /// Why it may or may not.
    pub why: String,
    /// Where it appears.
    pub exposure: Exposure,
    /// SHA-256 of its definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// What a server says of a tool.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOnly {
    /// `readOnlyHint` is true.
    #[serde(rename = "true")]
    True,
    /// `readOnlyHint` is false.
    #[serde(rename = "false")]
    False,
    /// There is no hint; it counts as not read-only.
    #[serde(rename = "unknown")]
    Unknown,
}
