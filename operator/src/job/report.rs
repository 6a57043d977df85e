//! Tells what has happened: the status, and an Event where a person would want one. The one writer of a job's status.

use std::sync::Arc;

use anchorhold_crds::{ConditionType, Job, JobState, JobStatus, find_condition, names};
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::events::EventType;
use kube::{Resource, ResourceExt};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;

/// Writes the status if it differs from the job's, and publishes what it means. The job's resource version goes along, so
/// that a status computed from an older object, or by a replica that is no longer the leader, is refused.
pub(crate) async fn write(ctx: &Context, job: &Job, status: JobStatus) -> Result<(), Error> {
    let old = job.status.clone().unwrap_or_default();
    if old == status {
        return Ok(());
    }
    let (namespace, name) = (job.namespace().unwrap_or_default(), job.name_any());
    let api: Api<Job> = Api::namespaced(ctx.client.clone(), &namespace);
    let body = json!({
        "apiVersion": Job::api_version(&()),
        "kind": Job::kind(&()),
        "metadata": { "name": name, "uid": job.uid(), "resourceVersion": job.resource_version() },
        "status": status,
    });
    let mut written = api
        .patch_status(&name, &PatchParams::apply(names::FIELD_MANAGER).force(), &Patch::Apply(&body))
        .await
        .map_err(|error| Error::api("patch the status of", "Job", format!("{namespace}/{name}"), error))?;
    written.metadata.managed_fields = None;
    ctx.jobs.wrote(Arc::new(written));
    count(ctx, &old, &status);
    if let Some(condition) = ended(&status).filter(|_| ended(&old).is_none()) {
        tracing::info!(object.name = %format!("{namespace}/{name}"), reason = condition.reason, "job ended");
    }
    if let Some(Event { type_, reason, action, note }) = event(&old, &status) {
        ctx.publish(&job.object_ref(&()), type_, &reason, action, &note).await;
    }
    Ok(())
}

fn count(ctx: &Context, old: &JobStatus, new: &JobStatus) {
    if new.attempts.len() > old.attempts.len() {
        ctx.metrics.attempt_started();
    }
    if let Some(condition) = ended(new).filter(|_| ended(old).is_none())
        && let Some(reason) = anchorhold_crds::JobReason::from_word(&condition.reason)
    {
        ctx.metrics.job_finished(reason.as_str());
    }
}

/// What is worth an Event.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    type_: EventType,
    reason: String,
    action: &'static str,
    note: String,
}

/// At most one Event a change: the end, else an attempt's end, else what the job waits for. A start has none: the
/// scheduler and the kubelet publish theirs about the pod, and the status names it.
fn event(old: &JobStatus, new: &JobStatus) -> Option<Event> {
    if let Some(condition) = ended(new).filter(|_| ended(old).is_none()) {
        let complete = condition.type_ == ConditionType::Complete.as_str();
        let note = match (complete, &new.duration) {
            (true, Some(duration)) => format!("completed after {duration}"),
            (true, None) => "completed".to_owned(),
            (false, _) => condition.message.clone(),
        };
        let type_ = if complete { EventType::Normal } else { EventType::Warning };
        return Some(Event { type_, reason: condition.reason.clone(), action: "Finish", note });
    }
    let closed =
        |status: &JobStatus| status.attempts.iter().filter(|attempt| attempt.completion_time.is_some()).count();
    if closed(new) > closed(old)
        && let Some(attempt) = new.attempts.iter().rfind(|attempt| attempt.completion_time.is_some())
    {
        let suspended = new.state == Some(JobState::Suspended);
        return Some(Event {
            type_: if suspended { EventType::Normal } else { EventType::Warning },
            reason: attempt.reason.clone().unwrap_or_default(),
            action: "EndAttempt",
            note: format!("attempt {} ended: {}", attempt.number, attempt.message.as_deref().unwrap_or_default()),
        });
    }
    let waits = find_condition(&new.conditions, ConditionType::Reconciling)?;
    let quiet = matches!(waits.reason.as_str(), "Pending" | "Starting" | "Running" | "BackingOff");
    if new.reason == old.reason || quiet || waits.status != "True" {
        return None;
    }
    let type_ = if new.state == Some(JobState::Suspended) { EventType::Normal } else { EventType::Warning };
    Some(Event { type_, reason: waits.reason.clone(), action: "Wait", note: waits.message.clone() })
}

fn ended(status: &JobStatus) -> Option<&k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition> {
    [ConditionType::Complete, ConditionType::Failed]
        .into_iter()
        .filter_map(|type_| find_condition(&status.conditions, type_))
        .find(|condition| condition.status == "True")
}
