//! The way to a pod: validate → references → canary → compile → build → apply.

use anchorhold_crds::{Agent, Job, JobReason, ResolvedJob, ResolvedTool};
use anchorhold_plan::{Gate, RunPlan};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;

use super::build::{Attempt, build};
use super::compile::compile;
use super::dereference::{AgentReference, References, servers};
use super::facts::Facts;
use super::start::Blocked;
use super::validate::{Refusal, ValidatedJob, validate};
use super::verdict::Verdict;
use super::{apply, sources};
use crate::context::Context;
use crate::error::{Error, chain};
use crate::settings::PolicyEnforcement;

/// What came of trying.
pub(crate) enum Created {
    /// The pod is there: just made, or made by a pass whose report did not come through.
    Pod {
        /// The pod.
        pod: Box<Pod>,
        /// What it was started with.
        resolved: ResolvedJob,
    },
    /// Not yet.
    Blocked(Blocked),
    /// Never.
    Refused(Verdict),
}

/// Makes the objects of an attempt, the pod last.
pub(crate) async fn create(
    ctx: &Context,
    job: &Job,
    references: &References,
    facts: &Facts,
    attempt: i32,
    now: Timestamp,
) -> Result<Created, Error> {
    let name = &job.spec.agent_ref.name;
    let agent = match &references.agent {
        AgentReference::Found(agent) => agent,
        AgentReference::Unreadable(problem) => return Ok(Created::Blocked(Blocked::agent_unreadable(name, problem))),
        AgentReference::Missing => return Ok(Created::Blocked(Blocked::agent_missing(name))),
    };
    let namespace = job.metadata.namespace.as_deref().unwrap_or_default();
    let validated = match validate(job, agent, &servers(ctx, agent, namespace)) {
        Ok(validated) => validated,
        Err(Refusal::Job(verdict)) => return Ok(Created::Refused(verdict)),
        Err(Refusal::Bug(error)) => return Err(error),
    };
    if let Some(blocked) = sources::missing(ctx, &validated).await? {
        return Ok(Created::Blocked(blocked));
    }
    let gate = match gate(ctx).await {
        Ok(gate) => gate,
        Err(blocked) => return Ok(Created::Blocked(blocked)),
    };
    let plan = match encode(&compile(&validated, gate)) {
        Ok(plan) => plan,
        Err(verdict) => return Ok(Created::Refused(verdict)),
    };
    let attempt = Attempt { number: attempt, seconds_left: seconds_left(facts, &validated, now) };
    let resources = build(&validated, plan, &ctx.settings, attempt);
    // A job that has come as far before has its policy and its plan.
    let waited = job.status.as_ref().and_then(|status| status.reason.as_deref());
    let expected = facts.history.next > 0 || waited == Some(JobReason::QuotaExceeded.as_str());
    Ok(match apply::apply(ctx, job, &resources, expected).await? {
        Ok(pod) => Created::Pod { pod: Box::new(pod), resolved: resolved(job, agent, &validated) },
        Err(fault) => match Blocked::of(fault) {
            Ok(blocked) => Created::Blocked(blocked),
            Err(verdict) => Created::Refused(verdict),
        },
    })
}

/// How the runner proves that its network is closed. The canaries must answer us now, or their silence towards the runner
/// proves nothing.
async fn gate(ctx: &Context) -> Result<Gate, Blocked> {
    match ctx.settings.enforcement {
        PolicyEnforcement::Probe => match ctx.canary.check().await {
            Ok(canaries) => Ok(ctx.settings.gate(&canaries)),
            Err(error) => Err(Blocked::canary(format!(
                "no pod is made while a network canary does not answer: {}",
                chain(&error)
            ))),
        },
        PolicyEnforcement::Assume => Ok(ctx.settings.gate(&[])),
    }
}

/// The plan as the runner will read it: what that would refuse is never sent.
fn encode(plan: &RunPlan) -> Result<String, Verdict> {
    let refused = |error| Verdict::new(JobReason::PlanRejected, chain(&error));
    let json = plan.to_json().map_err(refused)?;
    RunPlan::parse(json.as_bytes()).map_err(refused)?;
    Ok(json)
}

/// What is left of the job's time; all of it for the first pod.
fn seconds_left(facts: &Facts, job: &ValidatedJob, now: Timestamp) -> i64 {
    let whole = i64::try_from(job.limits.timeout_seconds).unwrap_or(i64::MAX);
    facts.ends_by().map_or(whole, |end| end.duration_since(now).as_secs()).max(1)
}

fn resolved(job: &Job, agent: &Agent, validated: &ValidatedJob) -> ResolvedJob {
    ResolvedJob {
        agent_generation: agent.metadata.generation,
        active_deadline_seconds: job.spec.active_deadline_seconds.or(Some(agent.spec.limits.timeout_seconds)),
        tools: validated.tools.iter().map(|tool| ResolvedTool { name: tool.name().to_owned(), sha256: None }).collect(),
        ..ResolvedJob::default()
    }
}
