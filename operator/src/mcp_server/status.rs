//! What an McpServer's status says.

use anchorhold_crds::{
    ConditionStatus, ConditionType, McpServer, McpServerReason, McpServerStatus, NewCondition, set_condition,
};
use jiff::Timestamp;
use url::Url;

use super::validate::Refusal;

const NOT_PROBED: &str = "this version does not probe servers, so it is not known whether this one answers";

/// The status that follows from the registration and from whether its CA bundle is missing.
pub(crate) fn new_status(
    server: &McpServer,
    ca_bundle_missing: Option<&str>,
    verdict: Result<Url, Refusal>,
    now: Timestamp,
) -> McpServerStatus {
    let host = verdict.as_ref().ok().and_then(Url::host_str).map(ToOwned::to_owned);
    let accepted = match verdict {
        Ok(_) => condition(ConditionStatus::True, McpServerReason::Accepted, "the registration is valid"),
        Err(Refusal { reason, message }) => condition(ConditionStatus::False, reason, message),
    };
    let resolved = resolved_refs(server, ca_bundle_missing);
    let reachable = condition(ConditionStatus::Unknown, McpServerReason::NotProbed, NOT_PROBED);
    let ready = ready(server, &accepted, &resolved);
    let old = server.status.clone().unwrap_or_default();
    let mut conditions = old.conditions;
    for (type_, Condition { status, reason, message }) in [
        (ConditionType::Accepted, accepted),
        (ConditionType::ResolvedRefs, resolved),
        (ConditionType::Reachable, reachable),
        (ConditionType::Ready, ready),
    ] {
        let observed_generation = server.metadata.generation;
        set_condition(&mut conditions, NewCondition { type_, status, reason, message, observed_generation }, now);
    }
    McpServerStatus { observed_generation: server.metadata.generation, conditions, host, ..McpServerStatus::default() }
}

struct Condition {
    status: ConditionStatus,
    reason: McpServerReason,
    message: String,
}

fn condition(status: ConditionStatus, reason: McpServerReason, message: impl Into<String>) -> Condition {
    Condition { status, reason, message: message.into() }
}

fn resolved_refs(server: &McpServer, ca_bundle_missing: Option<&str>) -> Condition {
    if let Some(missing) = ca_bundle_missing {
        return condition(ConditionStatus::False, McpServerReason::CaBundleNotFound, missing);
    }
    let secrets: Vec<String> = server
        .spec
        .headers
        .iter()
        .filter_map(|header| header.value_from.as_ref())
        .map(|from| format!("key \"{}\" of Secret \"{}\"", from.secret_key_ref.key, from.secret_key_ref.name))
        .collect();
    if secrets.is_empty() {
        return condition(ConditionStatus::True, McpServerReason::Resolved, "everything named exists");
    }
    let message = format!(
        "the operator reads no Secret, and this version does not probe servers: whether there is {} is not known",
        secrets.join(", ")
    );
    condition(ConditionStatus::Unknown, McpServerReason::NotProbed, message)
}

fn ready(server: &McpServer, accepted: &Condition, resolved: &Condition) -> Condition {
    let not = |reason, message: &str| condition(ConditionStatus::False, reason, message);
    if accepted.status != ConditionStatus::True {
        return not(McpServerReason::NotAccepted, "the condition Accepted says why");
    }
    if !server.spec.enabled {
        return not(
            McpServerReason::Disabled,
            "spec.enabled is false: nobody uses the server; set it to true to use it",
        );
    }
    if resolved.status == ConditionStatus::False {
        return not(McpServerReason::NotResolved, "the condition ResolvedRefs says why");
    }
    not(McpServerReason::NotProbed, NOT_PROBED)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::validate::validate;
    use super::*;

    fn status(spec: &serde_json::Value, ca_bundle_missing: Option<&str>) -> McpServerStatus {
        let server: McpServer = serde_json::from_value(json!({
            "metadata": {"name": "tracker", "namespace": "a", "generation": 2}, "spec": spec,
        }))
        .unwrap();
        new_status(&server, ca_bundle_missing, validate(&server.spec), Timestamp::UNIX_EPOCH)
    }

    fn words(status: &McpServerStatus) -> Vec<String> {
        status.conditions.iter().map(|c| format!("{}={} {}", c.type_, c.status, c.reason)).collect()
    }

    #[test]
    fn a_valid_server_is_accepted_and_never_called_ready_without_a_probe() {
        let status = status(&json!({"url": "https://tracker.example.com/mcp"}), None);
        assert_eq!(
            words(&status),
            [
                "Accepted=True Accepted",
                "ResolvedRefs=True Resolved",
                "Reachable=Unknown NotProbed",
                "Ready=False NotProbed"
            ]
        );
        assert_eq!((status.host.as_deref(), status.observed_generation), (Some("tracker.example.com"), Some(2)));
    }

    #[test]
    fn a_secret_is_not_said_to_exist() {
        let header = json!({"name": "Authorization", "valueFrom": {"secretKeyRef": {"name": "tracker", "key": "authorization"}}});
        let status = status(&json!({"url": "https://tracker.example.com/mcp", "headers": [header]}), None);
        assert_eq!(words(&status)[1], "ResolvedRefs=Unknown NotProbed");
        assert_eq!(
            status.conditions[1].message,
            "the operator reads no Secret, and this version does not probe servers: whether there is key \"authorization\" of Secret \"tracker\" is not known"
        );
    }

    #[test]
    fn what_keeps_a_server_from_being_ready_is_said_in_order() {
        let url = "https://tracker.example.com/mcp";
        let refused = status(&json!({"url": "http://127.0.0.1/", "enabled": false}), None);
        assert_eq!(words(&refused)[3], "Ready=False NotAccepted");
        assert_eq!(refused.host, None);
        assert_eq!(words(&status(&json!({"url": url, "enabled": false}), Some("gone")))[3], "Ready=False Disabled");
        let without = status(&json!({"url": url}), Some("gone"));
        assert_eq!(
            words(&without)[1..],
            ["ResolvedRefs=False CaBundleNotFound", "Reachable=Unknown NotProbed", "Ready=False NotResolved"]
        );
    }
}
