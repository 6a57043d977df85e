//! The answer to an object that cannot be read in full: a condition that names the field, and nothing else.

use anchorhold_crds::names::API_VERSION;
use anchorhold_crds::{AgentReason, ConditionStatus, ConditionType, NewCondition, set_condition};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::runtime::controller::Action;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::metrics::Kind;
use crate::object::{OurKind, Unreadable};

/// Says on the object what is wrong with it. It is looked at again when it changes.
pub async fn report<K: OurKind>(unreadable: &Unreadable, ctx: &Context, now: Timestamp) -> Result<Action, Error> {
    let (Some(namespace), Some(name)) = (&unreadable.metadata.namespace, &unreadable.metadata.name) else {
        return Err(Error::bug(K::KIND.name(), "", "has no namespace or no name"));
    };
    let conditions = new_conditions(K::KIND, unreadable, now);
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

fn new_conditions(kind: Kind, unreadable: &Unreadable, now: Timestamp) -> Vec<Condition> {
    let mut conditions = unreadable.conditions.clone();
    // The words are the same in the lists of all kinds.
    let mut refuse = |type_, reason: AgentReason, message: &str| {
        let observed_generation = unreadable.metadata.generation;
        let status = ConditionStatus::False;
        let condition = NewCondition { type_, status, reason, message: message.into(), observed_generation };
        set_condition(&mut conditions, condition, now);
    };
    refuse(ConditionType::Accepted, AgentReason::InvalidSpec, &unreadable.problem);
    match kind {
        Kind::Agent | Kind::McpServer => {
            refuse(ConditionType::Ready, AgentReason::NotAccepted, "the condition Accepted says why");
        }
        // A Job has no such condition.
        Kind::Job | Kind::Pod => {}
    }
    conditions
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use serde_json::json;

    use super::*;

    fn words(kind: Kind) -> Vec<String> {
        let resolved = json!([{
            "type": "ResolvedRefs", "status": "True", "reason": "Resolved", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }]);
        let unreadable = Unreadable {
            metadata: ObjectMeta { generation: Some(3), ..ObjectMeta::default() },
            conditions: serde_json::from_value(resolved).unwrap(),
            problem: "spec.energy is not known to this operator".into(),
        };
        new_conditions(kind, &unreadable, Timestamp::UNIX_EPOCH)
            .iter()
            .map(|c| format!("{}={} {} {}", c.type_, c.status, c.reason, c.message))
            .collect()
    }

    #[test]
    fn an_unreadable_object_is_refused_and_keeps_its_other_conditions() {
        let job = [
            "ResolvedRefs=True Resolved ",
            "Accepted=False InvalidSpec spec.energy is not known to this operator",
            "Ready=False NotAccepted the condition Accepted says why",
        ];
        assert_eq!(words(Kind::Agent), job);
        assert_eq!(words(Kind::Job), job[..2]);
    }
}
