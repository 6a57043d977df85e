//! The kind `Job`: one run of an agent, or of one script.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::job_status::JobStatus;
use crate::reference::{AgentRef, ConfigMapKeyFrom};
use crate::rule;
use crate::source::{ClaimSource, Source};

/// What to run. Everything but suspend, cancel and ttlSecondsAfterFinished is immutable, so that an attempt, its record
/// and its result always belong to the spec one reads.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "anchorhold.dev",
    version = "v1alpha1",
    kind = "Job",
    plural = "jobs",
    singular = "job",
    shortname = "ajob",
    category = "anchorhold",
    namespaced,
    status = "JobStatus",
    derive = "PartialEq",
    // Uninstalling the chart must not delete every object of the kind.
    annotation("helm.sh/resource-policy", "keep"),
    label("app.kubernetes.io/part-of", "anchorhold"),
    doc = "Runs an agent, or one script, once, in a sandbox of its own. In full: jobs.anchorhold.dev; short: ajob.",
    selectable = ".spec.agentRef.name",
    printcolumn(name = "Status", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.reason"),
    printcolumn(name = "Agent", type_ = "string", json_path = ".spec.agentRef.name"),
    printcolumn(name = "Turns", type_ = "integer", json_path = ".status.usage.turns"),
    printcolumn(name = "Tools", type_ = "integer", json_path = ".status.usage.toolCalls"),
    printcolumn(name = "Started", type_ = "date", json_path = ".status.startTime"),
    printcolumn(name = "Duration", type_ = "string", json_path = ".status.duration"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = rule::short_name("a Job")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rule::exactly_one(
    &["prompt", "promptFrom", "script"],
    "a Job needs exactly one of prompt, promptFrom and script: set one and remove the others",
))]
#[x_kube(validation = rule::unchanged("agentRef"))]
#[x_kube(validation = rule::unchanged("prompt"))]
#[x_kube(validation = rule::unchanged("promptFrom"))]
#[x_kube(validation = rule::unchanged("script"))]
#[x_kube(validation = rule::unchanged("sources"))]
#[x_kube(validation = rule::unchanged("output"))]
#[x_kube(validation = rule::unchanged("activeDeadlineSeconds"))]
#[x_kube(validation = rule::unchanged("startDeadlineSeconds"))]
#[x_kube(validation = rule::unchanged("backoffLimit"))]
#[x_kube(validation = Rule::new(
    "!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)"
).message("spec.cancel cannot be taken back or changed: create a Job of another name to run it again"))]
pub struct JobSpec {
    /// The Agent that says with which model, tools and limits to run.
    pub agent_ref: AgentRef,
    /// What the agent is asked to do; at most 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 262_144))]
    #[x_kube(validation = rule::not_blank("spec.prompt"))]
    #[x_kube(validation = rule::at_most_256_kib("spec.prompt"))]
    #[x_kube(validation = rule::printable("spec.prompt"))]
    pub prompt: Option<String>,
    /// The prompt, from a ConfigMap; read once, when the job starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_from: Option<ConfigMapKeyFrom>,
    /// One codemode script to run without a model: for deterministic jobs, smoke tests and scheduled work; at most 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 262_144))]
    #[x_kube(validation = rule::not_blank("spec.script"))]
    #[x_kube(validation = rule::at_most_256_kib("spec.script"))]
    #[x_kube(validation = rule::printable("spec.script"))]
    pub script: Option<String>,
    /// What the job may look at, each mounted read-only at `/workspace/<name>`; at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub sources: Vec<Source>,
    /// `/out`, the only writable place besides a bounded `/tmp`.
    #[serde(default)]
    pub output: Output,
    /// Seconds the job may take over all its attempts, from status.startTime (the first pod; set anew when a suspended
    /// job goes on); 1 to 604,800 (a week). When left out: the agent's limits.timeoutSeconds as it was at the attempt's start, and
    /// 120 for the script itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800))]
    pub active_deadline_seconds: Option<i64>,
    /// Seconds an attempt may wait in all before its runner starts: for what the spec names, a node, an image; 1 to 604,800; 600
    /// when left out. Time while suspended does not count, and time in an exceeded quota counts only when this field is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800))]
    pub start_deadline_seconds: Option<i64>,
    /// How many failed attempts are tried again; 0 to 10. A failure of the infrastructure before the run began is tried
    /// again without counting.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    pub backoff_limit: i32,
    /// True holds the job back, or stops its running attempt; false lets it go on with a new attempt.
    #[serde(default)]
    pub suspend: bool,
    /// Ends the job for good; its logs stay readable until it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancel>,
    /// Seconds after its end until the job is deleted with everything it made; 0 to 31,536,000 (a year). It stays when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 31_536_000))]
    pub ttl_seconds_after_finished: Option<i64>,
}

/// Where results go, and how much.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// How much `/out` may hold. The kubelet ends a job whose own volume holds more; with a claim, the claim's size is the limit
    /// that holds, and this one what the tools that write keep to.
    #[serde(default = "Output::default_size_limit")]
    #[schemars(schema_with = "crate::crd::quantity")]
    #[x_kube(validation = rule::positive_quantity("spec.output.sizeLimit"))]
    pub size_limit: Quantity,
    /// A claim that keeps `/out`. Without it, what is in `/out` leaves with the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim: Option<ClaimSource>,
}

impl Output {
    fn default_size_limit() -> Quantity {
        Quantity("1Gi".into())
    }
}

impl Default for Output {
    fn default() -> Self {
        Self { size_limit: Self::default_size_limit(), persistent_volume_claim: None }
    }
}

/// Ends a job.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// Why; shown in the job's status.
    #[schemars(length(min = 1, max = 1024))]
    #[x_kube(validation = rule::not_blank("spec.cancel.reason"))]
    pub reason: String,
}
