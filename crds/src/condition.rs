//! Conditions: how every kind reports, and the one function that writes them.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

use crate::reason::ConditionReason;

/// The closed list of condition types, over all kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionType {
    /// The spec is valid and everything in it is implemented.
    Accepted,
    /// Every object the spec names exists.
    ResolvedRefs,
    /// The network policy was seen to hold before anything ran (Job).
    NetworkPolicyEnforced,
    /// The job ended well.
    Complete,
    /// The job ended otherwise.
    Failed,
    /// The job is held back.
    Suspended,
    /// kstatus: the operator still works on it (Job, until its end).
    Reconciling,
    /// kstatus: it will not get further by itself (Job, when it failed).
    Stalled,
    /// The server answered its last probe (McpServer).
    Reachable,
    /// It can be used (Agent, McpServer).
    Ready,
}

impl ConditionType {
    /// The word in `type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "Accepted",
            Self::ResolvedRefs => "ResolvedRefs",
            Self::NetworkPolicyEnforced => "NetworkPolicyEnforced",
            Self::Complete => "Complete",
            Self::Failed => "Failed",
            Self::Suspended => "Suspended",
            Self::Reconciling => "Reconciling",
            Self::Stalled => "Stalled",
            Self::Reachable => "Reachable",
            Self::Ready => "Ready",
        }
    }
}

impl fmt::Display for ConditionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It is not known yet.
    Unknown,
}

impl ConditionStatus {
    /// The word in `status`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// What [`set_condition`] writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCondition<R> {
    /// Which condition.
    pub type_: ConditionType,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, in one word of a closed list.
    pub reason: R,
    /// Why, in a sentence that says what to do. Cut to the 32,768 bytes the API allows.
    pub message: String,
    /// The generation of the spec it speaks of.
    pub observed_generation: Option<i64>,
}

/// The longest message of a condition, bytes (the limit of `metav1.Condition`).
const MESSAGE_MAX: usize = 32_768;

/// Sets one condition. Its `lastTransitionTime` becomes `now` only when the status changed, so that writing the same
/// thing twice changes nothing.
pub fn set_condition<R: ConditionReason>(conditions: &mut Vec<Condition>, new: NewCondition<R>, now: Timestamp) {
    let NewCondition { type_, status, reason, mut message, observed_generation } = new;
    message.truncate(message.floor_char_boundary(MESSAGE_MAX));
    let old = conditions.iter_mut().find(|condition| condition.type_ == type_.as_str());
    let last_transition_time = match &old {
        Some(condition) if condition.status == status.as_str() => condition.last_transition_time.clone(),
        _ => Time(now),
    };
    let condition = Condition {
        last_transition_time,
        message,
        observed_generation,
        reason: reason.as_str().to_owned(),
        status: status.as_str().to_owned(),
        type_: type_.as_str().to_owned(),
    };
    match old {
        Some(place) => *place = condition,
        None => conditions.push(condition),
    }
}

/// The condition of that type.
#[must_use]
pub fn find_condition(conditions: &[Condition], type_: ConditionType) -> Option<&Condition> {
    conditions.iter().find(|condition| condition.type_ == type_.as_str())
}

/// Whether the condition of that type is there and True.
#[must_use]
pub fn is_true(conditions: &[Condition], type_: ConditionType) -> bool {
    find_condition(conditions, type_).is_some_and(|condition| condition.status == ConditionStatus::True.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::JobReason;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn failed(status: ConditionStatus, reason: JobReason, message: &str) -> NewCondition<JobReason> {
        NewCondition {
            type_: ConditionType::Failed,
            status,
            reason,
            message: message.into(),
            observed_generation: Some(1),
        }
    }

    #[test]
    fn a_transition_time_moves_only_with_the_status() {
        let mut conditions = Vec::new();
        set_condition(&mut conditions, failed(ConditionStatus::Unknown, JobReason::Starting, "a"), at(1));
        set_condition(&mut conditions, failed(ConditionStatus::Unknown, JobReason::Running, "b"), at(2));
        assert_eq!(conditions[0].last_transition_time, Time(at(1)));
        assert_eq!((conditions[0].reason.as_str(), conditions[0].message.as_str()), ("Running", "b"));

        set_condition(&mut conditions, failed(ConditionStatus::True, JobReason::OOMKilled, "c"), at(3));
        assert_eq!(
            conditions,
            [Condition {
                type_: "Failed".into(),
                status: "True".into(),
                reason: "OOMKilled".into(),
                message: "c".into(),
                observed_generation: Some(1),
                last_transition_time: Time(at(3)),
            }]
        );
        assert!(is_true(&conditions, ConditionType::Failed));
        assert!(!is_true(&conditions, ConditionType::Complete));
    }

    #[test]
    fn a_message_is_cut_between_characters() {
        let mut conditions = Vec::new();
        let message = format!("x{}", "ü".repeat(MESSAGE_MAX));
        set_condition(&mut conditions, failed(ConditionStatus::True, JobReason::ScriptError, &message), at(1));
        assert_eq!(conditions[0].message.len(), MESSAGE_MAX - 1);
    }
}
