//! What the operator reports of a Job. The operator alone writes it; nothing in it holds a Secret's value.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a job is, and what came of it.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    /// The generation of the spec that this status speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted, `ResolvedRefs`, `NetworkPolicyEnforced`, Complete, Failed, Suspended; Reconciling until the job ends and
    /// Stalled when it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
    /// The conditions in one word, for people. Programs read the conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobState>,
    /// Why the job waits or why it failed: one of a closed list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When the first attempt's pod was created; set anew when a suspended job goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When the job ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
    /// Time from start to end, for people, such as `1m12s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// The pod of the newest attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_name: Option<String>,
    /// The attempts, oldest first; of many the first and the newest are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["number".into()]))]
    pub attempts: Vec<AttemptStatus>,
    /// What the newest attempt was started with, as it was then. It stays when an object it named changes or leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<ResolvedJob>,
    /// What the job used, all attempts together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<JobUsage>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
}

/// A job's conditions in one word. Printed, never branched on.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// No attempt runs yet.
    Pending,
    /// An attempt runs.
    Running,
    /// It ended well.
    Complete,
    /// It ended otherwise; `reason` says why.
    Failed,
    /// It is held back.
    Suspended,
}

impl JobState {
    /// The word itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Complete => "Complete",
            Self::Failed => "Failed",
            Self::Suspended => "Suspended",
        }
    }
}

/// One attempt: one pod.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct AttemptStatus {
    /// Counts from 0.
    pub number: i32,
    /// The attempt's pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_name: Option<String>,
    /// When the attempt's pod was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When the attempt's runner was started; the network gate is the first thing it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_time: Option<Time>,
    /// When the attempt ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
    /// Why it failed; absent while it runs and when it ended well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason in a sentence, with what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether it counts against backoffLimit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<bool>,
    /// The runner's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// What an attempt was started with.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedJob {
    /// The generation of the Agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_generation: Option<i64>,
    /// The seconds the job may take in all: its own `activeDeadlineSeconds`, or the agent's `limits.timeoutSeconds` as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_deadline_seconds: Option<i64>,
    /// Provider and model, such as `Anthropic/claude-x`; absent for a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools the job could call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub tools: Vec<ResolvedTool>,
    /// What its NetworkPolicy let it reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub egress: Vec<ResolvedEgress>,
    /// The images of its pod, as far as the kubelet tells their digests: it does for containers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ResolvedImage>,
}

/// A tool as the job could call it.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedTool {
    /// Its full name.
    pub name: String,
    /// SHA-256 of an MCP tool's definition; absent for a kernel tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// One thing the job could reach.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedEgress {
    /// Host as registered.
    pub host: String,
    /// TCP port.
    pub port: i32,
    /// The addresses it stood for when the job started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
}

/// An image of the job's pod.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedImage {
    /// The container or source that uses it.
    pub name: String,
    /// The image with its digest, as the kubelet reports it.
    pub digest: String,
}

/// What a job used.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct JobUsage {
    /// Turns of the model.
    #[serde(default)]
    pub turns: i64,
    /// Tokens sent to the model.
    #[serde(default)]
    pub input_tokens: i64,
    /// Tokens it answered.
    #[serde(default)]
    pub output_tokens: i64,
    /// Tool calls that were made, nested ones included.
    #[serde(default)]
    pub tool_calls: i64,
    /// Tool calls that were refused.
    #[serde(default)]
    pub blocked_calls: i64,
    /// Scripts that were run.
    #[serde(default)]
    pub scripts: i64,
}

/// What came of a job.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct JobResult {
    /// The result, at most 4 KiB of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub text: Option<String>,
    /// Whether `text` is only a part of what the job returned and printed.
    #[serde(default)]
    pub truncated: bool,
    /// SHA-256 of what the job returned and printed, within the script's budget of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// A ConfigMap that holds the result's files; not set by this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<String>,
    /// Files the job left in `/out`; of many the first are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ResultFile>,
}

/// A file of `/out`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ResultFile {
    /// Path below `/out`.
    pub name: String,
    /// Size, bytes.
    pub size_bytes: i64,
    /// SHA-256 of the content.
    pub sha256: String,
}
