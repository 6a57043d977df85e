//! The kubelet's words about a pod that never started. They are in no status, only in the pod's Events, so they are read
//! once, when the job fails of it.

use anchorhold_crds::JobReason;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::{Api, ListParams};
use kube::ResourceExt;

use super::decide::Ending;
use crate::context::Context;
use crate::error::chain;

/// Adds to the end of a job what the kubelet last complained of, where its verdict has nobody's words. Without them, and
/// without the permission to read them, the verdict stays as it is.
pub(crate) async fn explain(ctx: &Context, pod: Option<&Pod>, ending: Ending) -> Ending {
    let (Ending::Failed(mut verdict), Some(pod)) = (ending.clone(), pod) else { return ending };
    if !matches!(verdict.reason, JobReason::SourceNotMountable | JobReason::StartDeadlineExceeded) {
        return ending;
    }
    if let Some(words) = last_warning(ctx, pod).await {
        verdict.message = format!("{}: {words}", verdict.message);
    }
    Ending::Failed(verdict)
}

async fn last_warning(ctx: &Context, pod: &Pod) -> Option<String> {
    let uid = pod.uid()?;
    let api: Api<Event> = Api::namespaced(ctx.client.clone(), &pod.namespace()?);
    let of_pod = ListParams::default().fields(&format!("involvedObject.uid={uid},type=Warning")).limit(50);
    let events = api
        .list(&of_pod)
        .await
        .inspect_err(|error| tracing::warn!(object.name = %pod.name_any(), error = chain(error), "failed to read the pod's Events"))
        .ok()?;
    newest(events.items)
}

fn newest(events: Vec<Event>) -> Option<String> {
    let time = |event: &Event| {
        let last = event.last_timestamp.as_ref().map(|time| time.0);
        last.or(event.event_time.as_ref().map(|time| time.0)).or(event.metadata.creation_timestamp.as_ref().map(|time| time.0))
    };
    events.into_iter().max_by_key(time)?.message.filter(|message| !message.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_complaint_is_told() {
        let event = |time: &str, message: &str| -> Event {
            serde_json::from_value(json!({"metadata": {}, "involvedObject": {}, "lastTimestamp": time, "message": message})).unwrap()
        };
        let events = vec![event("2026-01-01T00:00:09Z", "second"), event("2026-01-01T00:00:01Z", "first")];
        assert_eq!(newest(events).as_deref(), Some("second"));
        assert_eq!(newest(vec![]), None);
    }
}
