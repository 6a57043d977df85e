//! The kubelet's words about a pod that never started. They are in no status, only in the pod's Events, so they are read
//! once, when the job fails of it.

use anchorhold_crds::JobReason;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::ResourceExt;
use kube::api::{Api, ListParams};

use super::decide::Ending;
use crate::context::Context;
use crate::error::chain;

/// Adds to the end of a job what the kubelet last complained of, where its verdict has nobody's words, and takes from it
/// what it complained of. Without the Events, and without the permission to read them, the verdict stays as it is.
pub(crate) async fn explain(ctx: &Context, pod: Option<&Pod>, ending: Ending) -> Ending {
    let (Ending::Failed(mut verdict), Some(pod)) = (ending.clone(), pod) else { return ending };
    if !matches!(verdict.reason, JobReason::SourceNotMountable | JobReason::StartDeadlineExceeded) {
        return ending;
    }
    if let Some(Complaint { about, words }) = complaint(warnings(ctx, pod).await) {
        verdict.message = match about {
            // The image of a source is pulled as a volume: the container's state says nothing of it.
            Some(JobReason::ImagePullFailed) => format!("an image could not be pulled in time: {words}"),
            _ => format!("{}: {words}", verdict.message),
        };
        verdict.reason = about.unwrap_or(verdict.reason);
    }
    Ending::Failed(verdict)
}

async fn warnings(ctx: &Context, pod: &Pod) -> Vec<Event> {
    let (Some(uid), Some(namespace)) = (pod.uid(), pod.namespace()) else { return Vec::new() };
    let api: Api<Event> = Api::namespaced(ctx.client.clone(), &namespace);
    let of_pod = ListParams::default().fields(&format!("involvedObject.uid={uid},type=Warning")).limit(50);
    match api.list(&of_pod).await {
        Ok(events) => events.items,
        Err(error) => {
            tracing::warn!(object.name = %pod.name_any(), error = chain(&error), "failed to read the pod's Events");
            Vec::new()
        }
    }
}

/// What the kubelet last complained of, in its words.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    /// The reason it amounts to, where its words tell.
    about: Option<JobReason>,
    words: String,
}

fn complaint(mut events: Vec<Event>) -> Option<Complaint> {
    events.retain(|event| event.message.as_ref().is_some_and(|message| !message.is_empty()));
    events.sort_by_key(|event| {
        let last = event.last_timestamp.as_ref().map(|time| time.0);
        last.or(event.event_time.as_ref().map(|time| time.0)).or(event
            .metadata
            .creation_timestamp
            .as_ref()
            .map(|time| time.0))
    });
    let newest = events.last()?.message.clone()?;
    // The kubelet's words of one failed pull: "Failed to pull image …: why", then "Error: ErrImagePull" and, later,
    // "Error: ImagePullBackOff" (pkg/kubelet/images).
    let pull = |message: &str| {
        message.starts_with("Failed to pull image")
            || ["Error: ErrImagePull", "Error: ImagePullBackOff"].contains(&message)
    };
    if !pull(&newest) {
        // The kubelet's own trouble with our plan is no fault of a source.
        let about = newest.contains("volume \"plan\"").then_some(JobReason::StartDeadlineExceeded);
        return Some(Complaint { about, words: newest });
    }
    let why = events
        .into_iter()
        .rev()
        .filter_map(|event| event.message)
        .find(|words| words.starts_with("Failed to pull image"));
    Some(Complaint { about: Some(JobReason::ImagePullFailed), words: why.unwrap_or(newest) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(time: &str, message: &str) -> Event {
        serde_json::from_value(json!({"metadata": {}, "involvedObject": {}, "lastTimestamp": time, "message": message}))
            .unwrap()
    }

    #[test]
    fn the_newest_complaint_is_told() {
        let events = vec![event("2026-01-01T00:00:09Z", "second"), event("2026-01-01T00:00:01Z", "first")];
        assert_eq!(complaint(events), Some(Complaint { about: None, words: "second".into() }));
        assert_eq!(complaint(vec![]), None);
    }

    #[test]
    fn trouble_with_our_own_volume_is_no_fault_of_a_source() {
        let words = "MountVolume.SetUp failed for volume \"plan\" : failed to sync configmap cache";
        let about = Some(JobReason::StartDeadlineExceeded);
        assert_eq!(
            complaint(vec![event("2026-01-01T00:00:01Z", words)]),
            Some(Complaint { about, words: words.into() })
        );
    }

    #[test]
    fn a_sources_image_that_cannot_be_pulled_is_told_as_such_with_the_reason_why() {
        let events = vec![
            event(
                "2026-01-01T00:00:01Z",
                "MountVolume.SetUp failed for volume \"plan\" : failed to sync configmap cache",
            ),
            event("2026-01-01T00:00:02Z", "Failed to pull image \"code:1\": not found"),
            event("2026-01-01T00:00:03Z", "Error: ErrImagePull"),
            event("2026-01-01T00:00:04Z", "Error: ImagePullBackOff"),
        ];
        let words = "Failed to pull image \"code:1\": not found".into();
        assert_eq!(complaint(events), Some(Complaint { about: Some(JobReason::ImagePullFailed), words }));
    }
}
