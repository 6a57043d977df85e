//! Checks what the API server's schema cannot: everything after this step is total. Pure.

use anchorhold_crds::{
    Agent, ClaimSource, ConfigMapSource, ImageSource, Job, JobReason, NotImplemented, Resources, Sandbox, quantity,
};
use anchorhold_plan::{KernelTool, Limits, PLAN_MAX_BYTES};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;

use super::dereference::{ServerState, Servers};
use super::verdict::Verdict;
use crate::error::Error;

/// What a plan holds beside the script: names, paths, limits and canaries, generously.
const PLAN_REST_BYTES: usize = 64 * 1024;

/// A job that can be run: every value checked, every name resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValidatedJob {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) owner: OwnerReference,
    pub(crate) agent: String,
    pub(crate) script: String,
    pub(crate) sources: Vec<ValidatedSource>,
    pub(crate) output: ValidatedOutput,
    pub(crate) tools: Vec<KernelTool>,
    pub(crate) limits: Limits,
    pub(crate) resources: Resources,
    pub(crate) sandbox: Sandbox,
}

/// One source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValidatedSource {
    pub(crate) name: String,
    pub(crate) kind: SourceKind,
}

/// Where a source's files come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    Claim(ClaimSource),
    ConfigMap(ConfigMapSource),
    Image(ImageSource),
}

/// Where results go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValidatedOutput {
    pub(crate) size_limit: Quantity,
    pub(crate) size_limit_bytes: u64,
    pub(crate) claim: Option<ClaimSource>,
}

/// Why a job is not run.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The user has to write it anew.
    Job(Verdict),
    /// The API server sent what it never sends.
    Bug(Error),
}

impl Refusal {
    fn new(reason: JobReason, message: impl Into<String>) -> Self {
        Self::Job(Verdict::new(reason, message))
    }
}

/// Checks a job against its agent and the servers that one names.
pub(crate) fn validate(job: &Job, agent: &Agent, servers: &Servers) -> Result<ValidatedJob, Refusal> {
    let metadata = job.meta();
    let missing = |what| Refusal::Bug(Error::bug("Job", metadata.name.clone().unwrap_or_default(), what));
    let owner = job.controller_owner_ref(&()).ok_or_else(|| missing("has no name or no uid"))?;
    let namespace = metadata.namespace.clone().ok_or_else(|| missing("has no namespace"))?;
    let script = script(job)?;
    check_servers(agent, &job.spec.agent_ref.name, servers)?;
    let tools = tools(agent, &job.spec.agent_ref.name)?;
    let sandbox = agent.spec.sandbox.clone().unwrap_or_default();
    let resources = resources(sandbox.resources.clone().unwrap_or_default())?;
    Ok(ValidatedJob {
        namespace,
        name: owner.name.clone(),
        uid: owner.uid.clone(),
        owner,
        agent: job.spec.agent_ref.name.clone(),
        script,
        sources: sources(job)?,
        output: output(job)?,
        tools,
        limits: limits(job, agent)?,
        resources,
        sandbox,
    })
}

/// What the spec asks for and this version does not do.
pub(crate) fn not_implemented(job: &Job) -> Option<Verdict> {
    let NotImplemented { field, message } = job.spec.not_implemented()?;
    Some(Verdict::new(JobReason::NotImplemented, format!("{field} {message}")))
}

fn script(job: &Job) -> Result<String, Refusal> {
    if let Some(verdict) = not_implemented(job) {
        return Err(Refusal::Job(verdict));
    }
    let Some(script) = &job.spec.script else {
        return Err(Refusal::new(JobReason::InvalidSpec, "spec needs exactly one of prompt, promptFrom and script"));
    };
    let escaped = serde_json::to_string(script).map_or(usize::MAX, |text| text.len());
    if escaped > PLAN_MAX_BYTES - PLAN_REST_BYTES {
        let message = format!(
            "spec.script has {escaped} bytes once written as JSON; at most {} fit into a ConfigMap: shorten it, or escape fewer characters",
            PLAN_MAX_BYTES - PLAN_REST_BYTES
        );
        return Err(Refusal::new(JobReason::InvalidSpec, message));
    }
    Ok(script.clone())
}

fn sources(job: &Job) -> Result<Vec<ValidatedSource>, Refusal> {
    job.spec
        .sources
        .iter()
        .enumerate()
        .map(|(index, source)| {
            let kind = match (&source.persistent_volume_claim, &source.config_map, &source.image) {
                (Some(claim), None, None) => SourceKind::Claim(claim.clone()),
                (None, Some(config_map), None) => SourceKind::ConfigMap(config_map.clone()),
                (None, None, Some(image)) => SourceKind::Image(image.clone()),
                _ => {
                    let message = format!(
                        "spec.sources[{index}] needs exactly one of persistentVolumeClaim, configMap, image and repository"
                    );
                    return Err(Refusal::new(JobReason::InvalidSpec, message));
                }
            };
            Ok(ValidatedSource { name: source.name.clone(), kind })
        })
        .collect()
}

fn output(job: &Job) -> Result<ValidatedOutput, Refusal> {
    let output = &job.spec.output;
    let Some(size_limit_bytes) = quantity::whole(&output.size_limit).filter(|bytes| *bytes > 0) else {
        let message =
            format!("spec.output.sizeLimit is \"{}\"; it must be a positive amount such as 1Gi", output.size_limit.0);
        return Err(Refusal::new(JobReason::InvalidSpec, message));
    };
    Ok(ValidatedOutput {
        size_limit: output.size_limit.clone(),
        size_limit_bytes,
        claim: output.persistent_volume_claim.clone(),
    })
}

fn check_servers(agent: &Agent, name: &str, servers: &Servers) -> Result<(), Refusal> {
    for (server, state) in servers {
        match state {
            ServerState::Enabled => {}
            ServerState::Missing => {
                let message = format!(
                    "Agent {name} names McpServer {server}, which does not exist: register it, or take it out of the agent's spec.tools and spec.mcp"
                );
                return Err(Refusal::new(JobReason::McpServerMissing, message));
            }
            ServerState::Disabled => {
                let message = format!(
                    "Agent {name} names McpServer {server}, which is disabled: enable it, or take it out of the agent's spec.tools and spec.mcp"
                );
                return Err(Refusal::new(JobReason::McpServerDisabled, message));
            }
        }
    }
    if let Some(NotImplemented { field, message }) = agent.spec.not_implemented() {
        return Err(Refusal::new(JobReason::NotImplemented, format!("{field} of Agent {name} {message}")));
    }
    if let Err(refusal) = crate::agent::validate(&agent.spec) {
        return Err(Refusal::new(JobReason::AgentInvalid, format!("Agent {name} cannot be used: {}", refusal.message)));
    }
    Ok(())
}

fn tools(agent: &Agent, name: &str) -> Result<Vec<KernelTool>, Refusal> {
    let tools = KernelTool::granted(agent.spec.tools.as_deref());
    if !tools.contains(&KernelTool::Codemode) {
        let message = format!(
            "spec.script needs the tool codemode, which spec.tools of Agent {name} does not grant: add it there"
        );
        return Err(Refusal::new(JobReason::ToolNotGranted, message));
    }
    Ok(tools)
}

fn limits(job: &Job, agent: &Agent) -> Result<Limits, Refusal> {
    let unsigned = |value: i64| u64::try_from(value).unwrap_or(0);
    let limits = Limits::of_script_job(
        unsigned(agent.spec.limits.timeout_seconds),
        agent.spec.limits.tool_calls.map(unsigned),
        job.spec.active_deadline_seconds.map(unsigned),
    );
    if let Some((field, value, lowest, highest)) = limits.out_of_bounds() {
        let message = format!("{field} is {value}; it must be between {lowest} and {highest}");
        return Err(Refusal::new(JobReason::InvalidSpec, message));
    }
    Ok(limits)
}

/// Fills in what the agent leaves out, resource by resource, so that a job is never without a memory limit:
/// 100m CPU and 128Mi memory requested, 1Gi memory at most, CPU without a limit (a throttled runner only takes longer).
fn resources(mut resources: Resources) -> Result<Resources, Refusal> {
    for (field, amounts) in [("requests", &resources.requests), ("limits", &resources.limits)] {
        if let Some((name, amount)) = amounts.iter().find(|(_, amount)| quantity::whole(amount).is_none()) {
            let message = format!(
                "the agent's spec.sandbox.resources.{field}.{name} is \"{}\"; it must be an amount such as 512Mi",
                amount.0
            );
            return Err(Refusal::new(JobReason::AgentInvalid, message));
        }
    }
    if !resources.limits.contains_key("memory") {
        let default = Quantity("1Gi".into());
        let requested =
            resources.requests.get("memory").filter(|requested| quantity::whole(requested) > quantity::whole(&default));
        let limit = requested.cloned().unwrap_or(default);
        resources.limits.insert("memory".into(), limit);
        resources.requests.entry("memory".into()).or_insert_with(|| Quantity("128Mi".into()));
    }
    if !resources.limits.contains_key("cpu") {
        resources.requests.entry("cpu".into()).or_insert_with(|| Quantity("100m".into()));
    }
    Ok(resources)
}

#[cfg(test)]
mod tests;
