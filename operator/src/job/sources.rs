//! Whether each claim and each ConfigMap that a job names exists. Read only when a pod is about to be made of them.

use anchorhold_crds::{ConfigMapSource, JobReason};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};
use kube::Api;

use super::start::Blocked;
use super::validate::{SourceKind, ValidatedJob};
use crate::context::Context;
use crate::error::Error;

/// The first object that is missing, in the order of the spec.
pub(crate) async fn missing(ctx: &Context, job: &ValidatedJob) -> Result<Option<Blocked>, Error> {
    let sources = try_join_all(job.sources.iter().enumerate().map(async |(index, source)| match &source.kind {
        SourceKind::Claim(claim) => {
            let field = format!("spec.sources[{index}].persistentVolumeClaim.claimName");
            let problem = claim_problem(ctx, &job.namespace, &claim.claim_name, &field).await?;
            Ok::<_, Error>(problem.map(|problem| Blocked::reference(JobReason::SourceNotFound, problem)))
        }
        SourceKind::ConfigMap(source) => {
            let problem = config_map_problem(ctx, &job.namespace, source, index).await?;
            Ok(problem.map(|problem| Blocked::reference(JobReason::SourceNotFound, problem)))
        }
        // Only the kubelet can tell whether an image is there.
        SourceKind::Image(_) => Ok(None),
    }));
    if let Some(blocked) = sources.await?.into_iter().flatten().next() {
        return Ok(Some(blocked));
    }
    let Some(claim) = &job.output.claim else { return Ok(None) };
    let field = "spec.output.persistentVolumeClaim.claimName";
    let problem = claim_problem(ctx, &job.namespace, &claim.claim_name, field).await?;
    Ok(problem.map(|problem| Blocked::reference(JobReason::OutputNotFound, problem)))
}

async fn claim_problem(ctx: &Context, namespace: &str, name: &str, field: &str) -> Result<Option<String>, Error> {
    let api: Api<PersistentVolumeClaim> = Api::namespaced(ctx.client.clone(), namespace);
    let claim = api
        .get_opt(name)
        .await
        .map_err(|error| Error::api("get", "PersistentVolumeClaim", format!("{namespace}/{name}"), error))?;
    Ok(match claim {
        None => Some(format!("{field}: PersistentVolumeClaim {name} does not exist in this namespace; create it")),
        Some(claim) if claim.metadata.deletion_timestamp.is_some() => {
            Some(format!("{field}: PersistentVolumeClaim {name} is being deleted; create it anew"))
        }
        Some(claim) if claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Lost") => {
            Some(format!("{field}: PersistentVolumeClaim {name} has lost its volume; create it anew"))
        }
        Some(_) => None,
    })
}

async fn config_map_problem(
    ctx: &Context,
    namespace: &str,
    source: &ConfigMapSource,
    index: usize,
) -> Result<Option<String>, Error> {
    let name = &source.name;
    let api: Api<ConfigMap> = Api::namespaced(ctx.client.clone(), namespace);
    let found = api
        .get_opt(name)
        .await
        .map_err(|error| Error::api("get", "ConfigMap", format!("{namespace}/{name}"), error))?;
    let field = format!("spec.sources[{index}].configMap");
    let Some(config_map) = found else {
        return Ok(Some(format!("{field}.name: ConfigMap {name} does not exist in this namespace; create it")));
    };
    let has = |key: &str| {
        config_map.data.as_ref().is_some_and(|data| data.contains_key(key))
            || config_map.binary_data.as_ref().is_some_and(|data| data.contains_key(key))
    };
    let absent = source.items.iter().flatten().enumerate().find(|(_, item)| !has(&item.key));
    Ok(absent.map(|(place, item)| {
        format!("{field}.items[{place}].key: ConfigMap {name} has no key {}; add it, or name one it has", item.key)
    }))
}
