//! Writes a job's objects. Names are deterministic and everything is made by `create`: on top of a stale watch, the API
//! server's `AlreadyExists` keeps a second pod from being made.

use std::fmt::Debug;

use anchorhold_crds::{Job, names};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{NamespaceResourceScope, Status};
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::build::{Resources, baseline};
use super::dereference::owns;
use super::stop::Stopped;
use crate::context::Context;
use crate::error::Error;

/// Why an object could not be made although every request was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A `ResourceQuota` leaves no room.
    Quota(String),
    /// Admission refused it.
    Rejected(String),
    /// Somebody else's object has the name.
    Taken(String),
    /// It passes by itself: what an earlier job of the name left is being removed, or the namespace is not set up yet.
    NotYet(String),
}

/// Makes the policies and the plan, and then, strictly after both, the pod. What is there already and is ours stays as it is.
/// `expected` says that the policy and the plan are probably there, so that asking comes before creating.
pub(crate) async fn apply(
    ctx: &Context,
    job: &Job,
    resources: &Resources,
    expected: bool,
) -> Result<Result<Pod, Fault>, Error> {
    let Resources { network_policy, plan, pod } = resources;
    let namespace = pod.namespace().unwrap_or_default();
    let (baseline, network_policy, plan) = tokio::try_join!(
        ensure_baseline(ctx, &namespace),
        ensure(ctx, job, network_policy, expected, same_policy),
        ensure(ctx, job, plan, expected, same_plan)
    )?;
    if let Err(fault) = baseline.and(network_policy.map(drop)).and(plan.map(drop)) {
        return Ok(Err(fault));
    }
    ensure(ctx, job, pod, false, same_attempt).await
}

/// Makes sure that the namespace has the policy beneath all jobs' own.
async fn ensure_baseline(ctx: &Context, namespace: &str) -> Result<Result<(), Fault>, Error> {
    let wanted = baseline(namespace);
    let name = wanted.name_any();
    let full_name = format!("{namespace}/{name}");
    let api: Api<NetworkPolicy> = Api::namespaced(ctx.client.clone(), namespace);
    let read = async || api.get_opt(&name).await.map_err(|error| Error::api("get", "NetworkPolicy", &full_name, error));
    let mut found = read().await?;
    if found.is_none() {
        let params = PostParams { field_manager: Some(names::FIELD_MANAGER.into()), ..PostParams::default() };
        found = match api.create(&params, &wanted).await {
            Ok(created) => {
                tracing::info!(object.kind = "NetworkPolicy", object.name = %full_name, "created object");
                Some(created)
            }
            Err(kube::Error::Api(status)) if status.is_already_exists() => read().await?,
            Err(kube::Error::Api(status)) => match fault(&status) {
                Some(fault) => return Ok(Err(fault)),
                None => return Err(Error::api("create", "NetworkPolicy", full_name, kube::Error::Api(status))),
            },
            Err(error) => return Err(Error::api("create", "NetworkPolicy", full_name, error)),
        };
    }
    let holds = found.is_some_and(|found| {
        found.spec == wanted.spec
            && found.metadata.deletion_timestamp.is_none()
            && found.labels().contains_key(names::JOB_LABEL)
    });
    Ok(holds.then_some(()).ok_or_else(|| {
        let what = "is not the one that seals every job of the namespace";
        Fault::NotYet(format!("NetworkPolicy {name} {what}: delete it, and the operator makes it anew"))
    }))
}

/// Whoever changed the policy meanwhile may have opened it.
fn same_policy(existing: &NetworkPolicy, wanted: &NetworkPolicy) -> bool {
    existing.spec == wanted.spec
}

/// It is named by what it holds, and immutable.
fn same_plan(existing: &ConfigMap, wanted: &ConfigMap) -> bool {
    existing.data == wanted.data
}

/// A pod of ours is the attempt, whatever has become of it. The labels are reserved to the operator, an owner reference is not.
fn same_attempt(existing: &Pod, wanted: &Pod) -> bool {
    [names::JOB_LABEL, names::ATTEMPT_LABEL]
        .iter()
        .all(|label| existing.labels().get(*label) == wanted.labels().get(*label))
}

async fn ensure<K>(
    ctx: &Context,
    job: &Job,
    wanted: &K,
    expected: bool,
    same: fn(&K, &K) -> bool,
) -> Result<Result<K, Fault>, Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Serialize,
{
    let (namespace, name) = (wanted.namespace().unwrap_or_default(), wanted.name_any());
    let full_name = format!("{namespace}/{name}");
    let kind = kind_of::<K>();
    let api: Api<K> = Api::namespaced(ctx.client.clone(), &namespace);
    let read = async || api.get_opt(&name).await.map_err(|error| Error::api("get", kind, &full_name, error));
    if expected && let Some(existing) = read().await? {
        return Ok(adopt(job, existing, wanted, same));
    }
    let params = PostParams { field_manager: Some(names::FIELD_MANAGER.into()), ..PostParams::default() };
    match api.create(&params, wanted).await {
        Ok(created) => {
            tracing::info!(object.kind = kind, object.name = %full_name, "created object");
            Ok(Ok(created))
        }
        Err(kube::Error::Api(status)) if status.is_already_exists() => match read().await? {
            Some(existing) => Ok(adopt(job, existing, wanted, same)),
            // It left between the two requests: the conflict is retried.
            None => Err(Error::api("create", kind, full_name, kube::Error::Api(status))),
        },
        Err(kube::Error::Api(status)) => match fault(&status) {
            Some(fault) => Ok(Err(fault)),
            None => Err(Error::api("create", kind, full_name, kube::Error::Api(status))),
        },
        Err(error) => Err(Error::api("create", kind, full_name, error)),
    }
}

/// The name of the kind, for errors and logs.
fn kind_of<K: Resource<DynamicType = ()>>() -> &'static str {
    match K::kind(&()) {
        std::borrow::Cow::Borrowed(kind) => kind,
        std::borrow::Cow::Owned(_) => "object",
    }
}

fn adopt<K>(job: &Job, existing: K, wanted: &K, same: fn(&K, &K) -> bool) -> Result<K, Fault>
where
    K: Resource<DynamicType = ()>,
{
    let what = || format!("{} {}", K::kind(&()), existing.name_any());
    if owns(job, &existing) {
        if same(&existing, wanted) {
            return Ok(existing);
        }
        return Err(Fault::Taken(format!(
            "{} is no longer as the operator made it, so nothing is started; create the job anew",
            what()
        )));
    }
    let leaves = existing.meta().deletion_timestamp.is_some();
    if leaves || of_namesake(job, &existing) {
        return Err(Fault::NotYet(format!("{} of an earlier job of this name is being removed", what())));
    }
    Err(Fault::Taken(format!(
        "{} exists and is not the job's; delete it, or create the job under another name",
        what()
    )))
}

/// Whether the object belongs to a former Job of the same name; the garbage collector is about to remove it.
fn of_namesake<K: ResourceExt>(job: &Job, object: &K) -> bool {
    object.owner_references().iter().any(|owner| {
        owner.controller == Some(true)
            && owner.kind == Job::kind(&())
            && owner.api_version == Job::api_version(&())
            && Some(&owner.name) == job.metadata.name.as_ref()
    })
}

/// What a refusal means, when it is not a matter between us and the API server.
fn fault(status: &Status) -> Option<Fault> {
    let message = status.message.clone();
    let forbidden = status.is_forbidden();
    if forbidden && message.contains("exceeded quota") {
        return Some(Fault::Quota(message));
    }
    // Our own permissions, which the user cannot mend.
    if forbidden && message.contains("cannot create resource") {
        return None;
    }
    let causes = status.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    let terminating = causes.iter().any(|cause| cause.reason == "NamespaceTerminating");
    if forbidden && (terminating || message.contains("error looking up service account")) {
        return Some(Fault::NotYet(message));
    }
    (forbidden || status.is_invalid() || status.code == 400).then_some(Fault::Rejected(message))
}

/// Stops a pod: one whose runner has started by shortening its deadline, so that its logs stay; one whose runner has not by
/// deleting it, unless it has in the meantime: a shortened deadline would not keep the kubelet from starting it.
pub(crate) async fn stop(ctx: &Context, pod: &Pod, started: bool, stopped: Stopped) -> Result<(), Error> {
    let (namespace, name) = (pod.namespace().unwrap_or_default(), pod.name_any());
    let full_name = format!("{namespace}/{name}");
    let api: Api<Pod> = Api::namespaced(ctx.client.clone(), &namespace);
    let (verb, answer) = if started {
        let params = PatchParams { field_manager: Some(names::FIELD_MANAGER.into()), ..PatchParams::default() };
        ("patch", api.patch(&name, &params, &Patch::Merge(stopped.patch())).await.map(drop))
    } else {
        let unchanged = Preconditions { uid: pod.uid(), resource_version: pod.resource_version() };
        ("delete", api.delete(&name, &DeleteParams::default().preconditions(unchanged)).await.map(drop))
    };
    match answer {
        Ok(()) => {
            tracing::info!(object.name = %full_name, reason = %stopped.reason, verb, "stopped pod");
            Ok(())
        }
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(Error::api(verb, "Pod", full_name, error)),
    }
}

/// Deletes the job; what it owns follows.
pub(crate) async fn remove(ctx: &Context, job: &Job, namespace: &str) -> Result<(), Error> {
    let name = job.name_any();
    let api: Api<Job> = Api::namespaced(ctx.client.clone(), namespace);
    let this_one = Preconditions { uid: job.uid(), resource_version: None };
    match api.delete(&name, &DeleteParams::background().preconditions(this_one)).await {
        Ok(_) => {
            tracing::info!(object.name = %format!("{namespace}/{name}"), "deleted job whose time was over");
            Ok(())
        }
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        Err(error) => Err(Error::api("delete", "Job", format!("{namespace}/{name}"), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, reason: &str, message: &str) -> Status {
        Status::failure(message, reason).with_code(code)
    }

    #[test]
    fn a_refusal_is_told_apart_by_who_can_mend_it() {
        let quota =
            r#"pods "a-0" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0"#;
        assert_eq!(fault(&status(403, "Forbidden", quota)), Some(Fault::Quota(quota.into())));
        let rbac =
            r#"pods is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods" in API group """#;
        assert_eq!(fault(&status(403, "Forbidden", rbac)), None);
        let account = r#"pods "a-0" is forbidden: error looking up service account a/default: serviceaccount "default" not found"#;
        assert_eq!(fault(&status(403, "Forbidden", account)), Some(Fault::NotYet(account.into())));
        let security = r#"pods "a-0" is forbidden: violates PodSecurity "restricted:latest": hostPath"#;
        assert_eq!(fault(&status(403, "Forbidden", security)), Some(Fault::Rejected(security.into())));
        assert_eq!(fault(&status(422, "Invalid", "x")), Some(Fault::Rejected("x".into())));
        assert_eq!(
            fault(&status(400, "BadRequest", "denied by webhook")),
            Some(Fault::Rejected("denied by webhook".into()))
        );
        assert_eq!(fault(&status(500, "InternalError", "failed calling webhook")), None);
        assert_eq!(fault(&status(429, "TooManyRequests", "later")), None);
    }
}
