//! The answer to an object that cannot be read in full: a condition that names the field, and nothing else.

use anchorhold_crds::names::API_VERSION;
use anchorhold_crds::{ConditionStatus, ConditionType, JobReason, NewCondition, set_condition};
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::runtime::controller::Action;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::object::{OurKind, Unreadable};

/// Says on the object what is wrong with it. It is looked at again when it changes.
pub async fn report<K: OurKind>(unreadable: &Unreadable, ctx: &Context, now: Timestamp) -> Result<Action, Error> {
    let (Some(namespace), Some(name)) = (&unreadable.metadata.namespace, &unreadable.metadata.name) else {
        return Err(Error::bug(K::KIND.name(), "", "has no namespace or no name"));
    };
    let mut conditions = unreadable.conditions.clone();
    let condition = NewCondition {
        type_: ConditionType::Accepted,
        status: ConditionStatus::False,
        // The word is the same in the lists of all kinds.
        reason: JobReason::InvalidSpec,
        message: unreadable.problem.clone(),
        observed_generation: unreadable.metadata.generation,
    };
    set_condition(&mut conditions, condition, now);
    if conditions == unreadable.conditions {
        return Ok(Action::await_change());
    }
    // Untyped: K is what this object cannot be read as.
    let resource = ApiResource::erase::<K>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(ctx.client.clone(), namespace, &resource);
    let patch = json!({
        "apiVersion": API_VERSION,
        "kind": K::KIND.name(),
        "metadata": {"resourceVersion": unreadable.metadata.resource_version},
        "status": {"conditions": conditions, "observedGeneration": unreadable.metadata.generation},
    });
    match api.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await {
        Ok(_) => {
            tracing::info!(kind = K::KIND.name(), namespace, name, problem = unreadable.problem, "refused an object");
            Ok(Action::await_change())
        }
        Err(source) => Err(Error::api("patch the status of", K::KIND.name(), format!("{namespace}/{name}"), source)),
    }
}
