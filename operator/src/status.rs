//! The one way the status of an Agent or McpServer is written.

use anchorhold_crds::names::{API_VERSION, FIELD_MANAGER};
use anchorhold_crds::{ConditionStatus, ConditionType, find_condition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::events::EventType;
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::object::OurKind;
use crate::stores::full_name;

/// Applies the whole status: what it leaves out and we once set is taken away.
pub async fn apply<K>(ctx: &Context, object: &K, status: &impl Serialize) -> Result<(), Error>
where
    K: OurKind + Resource<Scope = NamespaceResourceScope>,
{
    let Some(namespace) = object.namespace() else {
        return Err(Error::bug(K::KIND.name(), full_name(object), "has no namespace"));
    };
    let api: Api<K> = Api::namespaced(ctx.client.clone(), &namespace);
    let name = object.name_any();
    let patch = json!({
        "apiVersion": API_VERSION,
        "kind": K::KIND.name(),
        // The version makes a status that was computed from an older object fail and be computed anew.
        "metadata": {"name": name, "uid": object.uid(), "resourceVersion": object.resource_version()},
        "status": status,
    });
    api.patch_status(&name, &PatchParams::apply(FIELD_MANAGER).force(), &Patch::Apply(&patch))
        .await
        .map_err(|source| Error::api("apply the status of", K::KIND.name(), full_name(object), source))?;
    tracing::info!(kind = K::KIND.name(), namespace, name, "wrote the status");
    Ok(())
}

/// Publishes an Event when the object was refused, or for another reason than before.
pub async fn tell_refusal<K: OurKind>(ctx: &Context, object: &K, old: &[Condition], new: &[Condition]) {
    if let Some(refusal) = new_refusal(old, new) {
        ctx.publish(&object.object_ref(&()), EventType::Warning, &refusal.reason, "Validate", &refusal.message).await;
    }
}

fn new_refusal<'a>(old: &[Condition], new: &'a [Condition]) -> Option<&'a Condition> {
    let refusal = find_condition(new, ConditionType::Accepted)
        .filter(|condition| condition.status == ConditionStatus::False.as_str())?;
    let told = find_condition(old, ConditionType::Accepted).is_some_and(|old| {
        old.status == refusal.status && old.reason == refusal.reason && old.message == refusal.message
    });
    (!told).then_some(refusal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn accepted(status: &str, message: &str) -> Vec<Condition> {
        vec![
            serde_json::from_value(json!({
                "type": "Accepted", "status": status, "reason": "R", "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
            }))
            .unwrap(),
        ]
    }

    #[test]
    fn a_refusal_is_told_once() {
        let refused = accepted("False", "a");
        assert_eq!(new_refusal(&[], &refused), refused.first());
        assert_eq!(new_refusal(&refused, &refused), None);
        assert_eq!(new_refusal(&refused, &accepted("False", "b")).map(|told| told.message.as_str()), Some("b"));
        assert_eq!(new_refusal(&refused, &accepted("True", "")), None);
    }
}
