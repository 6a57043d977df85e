//! What the operator reports of an Agent.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the agent can be used, and what its jobs can call.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatus {
    /// The generation of the spec that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted, `ResolvedRefs`, Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
    /// How many tools its jobs can call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_count: Option<i64>,
    /// The effective list: each tool, where it appears and why; of many the first are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub tools: Vec<EffectiveTool>,
}

/// A tool as the agent's jobs see it.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveTool {
    /// Its full name, or the pattern that stands for it until its server was probed.
    pub name: String,
    /// Who runs it.
    pub origin: ToolOrigin,
    /// Where it appears.
    pub place: ToolPlace,
    /// Why: the entry of the spec that grants it, or the rule that takes it away.
    pub why: String,
}

/// Who runs a tool.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOrigin {
    /// The runner itself.
    Kernel,
    /// An McpServer.
    Mcp,
}

/// Where a tool appears.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolPlace {
    /// Declared to the model.
    Model,
    /// Callable from scripts.
    Scripts,
    /// Declared to the model and callable from scripts.
    ModelAndScripts,
    /// Found with `tool_search`.
    Search,
    /// Nowhere.
    Nowhere,
}
