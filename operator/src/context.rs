//! What every reconciler is given.

use std::time::Duration;

use anchorhold_crds::names::FIELD_MANAGER;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};

use crate::backoff::Backoff;
use crate::canary::Canary;
use crate::error::chain;
use crate::job::Ledger;
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::stores::Stores;

/// events.k8s.io refuses a longer note.
const NOTE_MAX_BYTES: usize = 1024;
/// An Event is never worth holding a reconcile up.
const EVENT_DEADLINE: Duration = Duration::from_secs(5);

/// The shared state of all reconcilers. It holds no lock across an await and knows no clock: reconcilers take the time
/// once, at their start, and pass it on.
pub struct Context {
    /// The API server.
    pub client: Client,
    /// What the installation decided.
    pub settings: Settings,
    /// What the watches have seen.
    pub stores: Stores,
    /// Failures in a row, per object.
    pub backoff: Backoff,
    /// What is counted.
    pub metrics: Metrics,
    /// Whether the installation's canaries answer.
    pub canary: Canary,
    /// The newest version of each Job that this process wrote.
    pub jobs: Ledger,
    recorder: Recorder,
}

impl Context {
    /// A context over these parts. `identity` is the name under which this replica appears in Events.
    #[must_use]
    pub fn new(
        client: Client,
        settings: Settings,
        stores: Stores,
        canary: Canary,
        metrics: Metrics,
        identity: &str,
    ) -> Self {
        let reporter = Reporter { controller: FIELD_MANAGER.into(), instance: Some(identity.into()) };
        let recorder = Recorder::new(client.clone(), reporter);
        Self {
            client,
            settings,
            stores,
            backoff: Backoff::default(),
            metrics,
            canary,
            jobs: Ledger::default(),
            recorder,
        }
    }

    /// Publishes an Event about an object. A failure is logged and otherwise ignored: the condition says the same.
    pub async fn publish(&self, regarding: &ObjectReference, type_: EventType, reason: &str, action: &str, note: &str) {
        let event = Event {
            type_,
            reason: reason.into(),
            note: Some(cut(note, NOTE_MAX_BYTES).into()),
            action: action.into(),
            secondary: None,
        };
        match tokio::time::timeout(EVENT_DEADLINE, self.recorder.publish(&event, regarding)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(reason, error = chain(&error), "failed to publish an Event"),
            Err(_) => tracing::warn!(reason, "gave up publishing an Event"),
        }
    }
}

/// At most `bytes` of the text, cut between characters.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_cut_between_characters() {
        assert_eq!(cut("abc", 5), "abc");
        assert_eq!(cut("aéc", 2), "a");
    }
}
