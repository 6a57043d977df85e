//! How a pod is stopped, and how it remembers why.
//!
//! A pod is stopped by shortening its `activeDeadlineSeconds`: the kubelet ends its containers, and its logs stay
//! readable. The kubelet then calls it `DeadlineExceeded`, whatever the reason was; so the same request writes the
//! reason into annotations, and an operator that starts in between still knows it.

use std::fmt;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde_json::{Value, json};

const REASON: &str = "anchorhold.dev/stopped-for";
const TIME: &str = "anchorhold.dev/stopped-at";

/// The shortest deadline a pod may have, seconds.
const NOW: i64 = 1;

/// Why we stopped a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// `spec.cancel`.
    Cancelled,
    /// `spec.suspend`.
    Suspended,
    /// The agent's `spec.suspend`.
    AgentSuspended,
    /// The job's deadline.
    DeadlineExceeded,
    /// The job has ended without it.
    JobEnded,
}

/// That we stopped a pod, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// Why.
    pub(crate) reason: StopReason,
    /// When the request was made.
    pub(crate) at: Timestamp,
}

impl StopReason {
    const ALL: [Self; 5] =
        [Self::Cancelled, Self::Suspended, Self::AgentSuspended, Self::DeadlineExceeded, Self::JobEnded];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "Cancelled",
            Self::Suspended => "Suspended",
            Self::AgentSuspended => "AgentSuspended",
            Self::DeadlineExceeded => "DeadlineExceeded",
            Self::JobEnded => "JobEnded",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Stopped {
    /// What the pod remembers.
    pub(crate) fn of(pod: &Pod) -> Option<Self> {
        let annotations = pod.annotations();
        let reason = annotations.get(REASON)?;
        let at = annotations.get(TIME)?.parse().ok()?;
        // Without the deadline that one request sets with them, somebody else wrote them.
        if pod.spec.as_ref()?.active_deadline_seconds != Some(NOW) {
            return None;
        }
        StopReason::ALL.into_iter().find(|known| known.as_str() == reason).map(|reason| Self { reason, at })
    }

    /// The merge patch that stops a pod.
    pub(crate) fn patch(self) -> Value {
        json!({
            "metadata": { "annotations": { REASON: self.reason.as_str(), TIME: self.at.to_string() } },
            "spec": { "activeDeadlineSeconds": NOW },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_pod_tells_why_and_when() {
        for reason in StopReason::ALL {
            let stopped = Stopped { reason, at: Timestamp::from_second(1_700_000_000).unwrap() };
            let pod: Pod = serde_json::from_value(stopped.patch()).unwrap();
            assert_eq!(Stopped::of(&pod), Some(stopped));
            assert_eq!(pod.spec.unwrap().active_deadline_seconds, Some(1));
        }
    }

    #[test]
    fn a_pod_with_other_annotations_was_not_stopped_by_us() {
        let pod: Pod =
            serde_json::from_value(json!({"metadata": {"annotations": {REASON: "Boredom", TIME: "x"}}})).unwrap();
        assert_eq!(Stopped::of(&pod), None);
        assert_eq!(Stopped::of(&Pod::default()), None);
    }
}
