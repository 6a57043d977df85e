//! The kind `Agent`: with which model, tools and limits jobs run.

use kube::core::Rule;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::agent_status::AgentStatus;
use crate::mcp_server::{Exposure, ToolExposure};
use crate::model::Model;
use crate::reference::ConfigMapKeyFrom;
use crate::rule;
use crate::sandbox::Sandbox;

/// How an agent works. Each attempt of a job takes it as it is when the attempt starts.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "anchorhold.dev",
    version = "v1alpha1",
    kind = "Agent",
    plural = "agents",
    singular = "agent",
    shortname = "aagent",
    category = "anchorhold",
    namespaced,
    status = "AgentStatus",
    derive = "PartialEq",
    // Uninstalling the chart must not delete every object of the kind.
    annotation("helm.sh/resource-policy", "keep"),
    label("app.kubernetes.io/part-of", "anchorhold"),
    doc = "A model, its instructions, its tools and its limits. In full: agents.anchorhold.dev; short: aagent.",
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Reason", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].reason"#),
    printcolumn(name = "Model", type_ = "string", json_path = ".spec.model.name"),
    printcolumn(name = "Tools", type_ = "integer", json_path = ".status.toolCount"),
    printcolumn(name = "Suspended", type_ = "boolean", json_path = ".spec.suspend"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = rule::short_name("an Agent")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rule::at_most_one(
    &["instructions", "instructionsFrom"],
    "an Agent takes instructions or instructionsFrom, not both: remove one",
))]
pub struct AgentSpec {
    /// The model. May be left out by an agent whose jobs only run scripts; a job with a prompt needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// What the model is told before the job's prompt; at most 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 262_144))]
    #[x_kube(validation = rule::not_blank("spec.instructions"))]
    #[x_kube(validation = rule::at_most_256_kib("spec.instructions"))]
    #[x_kube(validation = rule::printable("spec.instructions"))]
    pub instructions: Option<String>,
    /// The instructions, from a ConfigMap; read when a job starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions_from: Option<ConfigMapKeyFrom>,
    /// The tools, exactly these: kernel tools by name, MCP tools as `mcp__<server>__*` or `mcp__<server>__<tool>`. When
    /// left out: every kernel tool but `tool_search`, codemode included, and no MCP. An empty list grants nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 256)))]
    #[schemars(schema_with = "crate::crd::tool_patterns")]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub tools: Option<Vec<String>>,
    /// Narrows servers for this agent. An entry carries neither URL nor header and opts into nothing: `tools` does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["server".into()]))]
    pub mcp: Vec<AgentServer>,
    /// How much one job may use.
    #[serde(default)]
    pub limits: AgentLimits,
    /// Where and with what resources the pods run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// The kill switch: true stops the agent's running jobs and starts none.
    #[serde(default)]
    pub suspend: bool,
}

/// How one McpServer is seen by one agent: never wider than the server's own registration.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AgentServer {
    /// Name of the McpServer.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rule::dns_label("spec.mcp[].server"))]
    pub server: String,
    /// False hides the server from this agent. True enables nothing that the server itself has disabled.
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// Where its tools appear; as the server says when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<Exposure>,
    /// Where single tools appear: the exact name wins, then the first pattern that matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub tool_exposure: Vec<ToolExposure>,
    /// True makes a job fail when the server cannot be reached; otherwise the model is told and the job goes on.
    #[serde(default)]
    pub required: bool,
}

fn enabled() -> bool {
    true
}

/// How much one job may use. A script's calls beyond `toolCalls` fail; a job whose time is over ends with `DeadlineExceeded`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AgentLimits {
    /// Turns of the model; 1 to 10,000.
    #[serde(default = "AgentLimits::default_turns")]
    #[schemars(range(min = 1, max = 10_000))]
    pub turns: i64,
    /// Tokens sent to the model in all; no limit when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub input_tokens: Option<i64>,
    /// Tokens the model answers in all; no limit when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_i64))]
    pub output_tokens: Option<i64>,
    /// Tool calls in all, those of scripts included; 1 to 1,000,000, the runner's default of 100,000 when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub tool_calls: Option<i64>,
    /// Seconds a job may take that sets no activeDeadlineSeconds; 1 to 604,800 (a week). Its script then ends after 120.
    #[serde(default = "AgentLimits::default_timeout_seconds")]
    #[schemars(range(min = 1, max = 604_800))]
    pub timeout_seconds: i64,
}

impl AgentLimits {
    const fn default_turns() -> i64 {
        50
    }

    const fn default_timeout_seconds() -> i64 {
        3600
    }
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            turns: Self::default_turns(),
            input_tokens: None,
            output_tokens: None,
            tool_calls: None,
            timeout_seconds: Self::default_timeout_seconds(),
        }
    }
}

/// What an entry of `tools` may look like.
pub(crate) fn tool_pattern() -> Rule {
    Rule::new(
        r"self in ['read', 'ls', 'grep', 'find', 'write', 'edit', 'shell', 'git_log', 'git_show', 'git_blame', 'codemode', 'tool_search'] || self.matches('^mcp__[a-z0-9]([-a-z0-9]*[a-z0-9])?__([*]|[^*[:space:][:cntrl:]]+)$')",
    )
    .message(
        "a tool is one of read, ls, grep, find, write, edit, shell, git_log, git_show, git_blame, codemode, tool_search, or mcp__<server>__* or mcp__<server>__<tool>",
    )
}
