//! Leader election over one Lease: at most one replica reconciles.
//!
//! As client-go does it: the holder renews, a replica that has seen no renewal for the Lease's whole duration takes it
//! over. Every write carries the version it was decided on, so of two that take over at once one meets a conflict; and
//! what counts is how long this process has seen no change, never a comparison of two machines' clocks.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

use crate::error::{api_status, chain};

/// Others wait this long after the last renewal they saw (client-go's default).
const DURATION: Duration = Duration::from_secs(15);
/// A holder that could not renew for this long stops; it must be less than [`DURATION`] (client-go's default).
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// Between two looks or renewals (client-go's default).
const RETRY: Duration = Duration::from_secs(2);
/// For one request.
const REQUEST_DEADLINE: Duration = Duration::from_secs(5);

/// One replica's part in the election.
pub struct Elector {
    api: Api<Lease>,
    name: String,
    identity: String,
    seen: Option<Seen>,
}

/// The newest Lease this process knows, and since when it is unchanged.
struct Seen {
    lease: Lease,
    since: Instant,
}

/// What to do about a Lease held by somebody, or nobody.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Create,
    /// Take it, or go on holding it.
    Write,
    Wait,
}

impl Elector {
    /// A replica that takes part, under this identity, in the election of the Lease of that name. No two processes alive may
    /// share an identity, and no two installations a Lease.
    #[must_use]
    pub fn new(client: Client, namespace: &str, name: String, identity: String) -> Self {
        Self { api: Api::namespaced(client, namespace), name, identity, seen: None }
    }

    /// Returns when this replica holds the Lease. `looked` is called whenever the API server has answered.
    pub async fn acquire(&mut self, looked: impl Fn()) {
        loop {
            match self.look().await {
                Ok(()) => {
                    looked();
                    match self.try_write().await {
                        Ok(true) => return,
                        Ok(false) => {}
                        Err(error) => tracing::warn!(error = format!("{error:#}"), "failed to take the Lease"),
                    }
                }
                Err(error) => tracing::warn!(error = format!("{error:#}"), "failed to look at the Lease"),
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Renews the Lease, and returns when it is lost: the caller must stop at once.
    pub async fn hold(&mut self) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(RETRY).await;
            let left = RENEW_DEADLINE.saturating_sub(renewed.elapsed());
            match tokio::time::timeout(left, self.renew()).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Ok(false)) => return,
                Ok(Err(error)) => tracing::warn!(error = format!("{error:#}"), "failed to renew the Lease"),
                Err(_) => {
                    tracing::error!(seconds = RENEW_DEADLINE.as_secs(), "could not renew the Lease in time");
                    return;
                }
            }
        }
    }

    /// Lets the next replica go on at once. Best effort: without it the others wait out the Lease.
    pub async fn release(&mut self) {
        let Some(Seen { lease, .. }) = &self.seen else { return };
        if holder(lease) != Some(self.identity.as_str()) {
            return;
        }
        let mut released = lease.clone();
        let spec = released.spec.get_or_insert_default();
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        spec.renew_time = Some(MicroTime(Timestamp::now()));
        match request(self.api.replace(&self.name, &PostParams::default(), &released)).await {
            Ok(lease) => self.saw(lease),
            Err(error) => tracing::warn!(error = format!("{error:#}"), "failed to release the Lease"),
        }
    }

    /// Whether the Lease is still ours after a renewal. A conflict means that somebody wrote it; it is looked at anew.
    async fn renew(&mut self) -> anyhow::Result<bool> {
        if self.try_write().await.is_ok_and(|held| held) {
            return Ok(true);
        }
        self.look().await?;
        match &self.seen {
            Some(seen) if holder(&seen.lease) == Some(self.identity.as_str()) => self.try_write().await,
            Some(_) | None => Ok(false),
        }
    }

    async fn look(&mut self) -> anyhow::Result<()> {
        match request(self.api.get_opt(&self.name)).await.context("failed to read the Lease")? {
            Some(lease) => self.saw(lease),
            None => self.seen = None,
        }
        Ok(())
    }

    /// Writes the Lease if it is ours to write; true when we then hold it.
    async fn try_write(&mut self) -> anyhow::Result<bool> {
        let step = match &self.seen {
            None => Step::Create,
            Some(seen) => decide(&seen.lease, seen.since.elapsed(), &self.identity),
        };
        let old = self.seen.as_ref().map(|seen| &seen.lease);
        let wanted = held_by(&self.name, &self.identity, old, Timestamp::now());
        let written = match step {
            Step::Create => request(self.api.create(&PostParams::default(), &wanted)).await,
            Step::Write => request(self.api.replace(&self.name, &PostParams::default(), &wanted)).await,
            Step::Wait => return Ok(false),
        };
        match written {
            Ok(lease) => {
                self.saw(lease);
                Ok(true)
            }
            Err(RequestError::Api(error)) if api_status(&error).is_some_and(|status| status.code == 409) => Ok(false),
            Err(error) => Err(error).context("failed to write the Lease"),
        }
    }

    fn saw(&mut self, lease: Lease) {
        match &mut self.seen {
            Some(seen) if seen.lease.spec == lease.spec => seen.lease = lease,
            Some(_) | None => self.seen = Some(Seen { lease, since: Instant::now() }),
        }
    }
}

fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

fn decide(lease: &Lease, unchanged_for: Duration, identity: &str) -> Step {
    let duration = lease
        .spec
        .as_ref()
        .and_then(|spec| spec.lease_duration_seconds)
        .and_then(|seconds| u64::try_from(seconds).ok());
    match holder(lease) {
        None => Step::Write,
        Some(holder) if holder == identity => Step::Write,
        Some(_) if unchanged_for > duration.map_or(DURATION, Duration::from_secs) => Step::Write,
        Some(_) => Step::Wait,
    }
}

/// The Lease as we want it, on top of the one we saw.
fn held_by(name: &str, identity: &str, old: Option<&Lease>, now: Timestamp) -> Lease {
    let old_spec = old.and_then(|lease| lease.spec.clone()).unwrap_or_default();
    let ours = old_spec.holder_identity.as_deref() == Some(identity);
    let metadata = match old {
        Some(lease) => lease.metadata.clone(),
        None => ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() },
    };
    let transitions = old_spec.lease_transitions.unwrap_or(0);
    let spec = LeaseSpec {
        holder_identity: Some(identity.into()),
        lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
        acquire_time: if ours { old_spec.acquire_time.clone() } else { Some(MicroTime(now)) },
        renew_time: Some(MicroTime(now)),
        lease_transitions: Some(if ours || old.is_none() { transitions } else { transitions.saturating_add(1) }),
        ..old_spec
    };
    Lease { metadata, spec: Some(spec) }
}

#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error("no answer within {} s", REQUEST_DEADLINE.as_secs())]
    TimedOut,
    #[error("{}", chain(.0))]
    Api(kube::Error),
}

async fn request<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, RequestError> {
    match tokio::time::timeout(REQUEST_DEADLINE, request).await {
        Ok(answer) => answer.map_err(RequestError::Api),
        Err(_) => Err(RequestError::TimedOut),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_lease_of_another_is_left_alone_until_it_ran_out() {
        let lease = held_by("lease", "other", None, at(0));
        assert_eq!(decide(&lease, Duration::from_secs(15), "me"), Step::Wait);
        assert_eq!(decide(&lease, Duration::from_secs(16), "me"), Step::Write);
        assert_eq!(decide(&lease, Duration::ZERO, "other"), Step::Write);
    }

    #[test]
    fn a_released_or_empty_lease_is_taken_at_once() {
        let mut lease = held_by("lease", "other", None, at(0));
        lease.spec.as_mut().unwrap().holder_identity = Some(String::new());
        assert_eq!(decide(&lease, Duration::ZERO, "me"), Step::Write);
        assert_eq!(decide(&Lease::default(), Duration::ZERO, "me"), Step::Write);
    }

    #[test]
    fn a_lease_that_names_no_duration_is_given_ours() {
        let mut lease = held_by("lease", "other", None, at(0));
        lease.spec.as_mut().unwrap().lease_duration_seconds = None;
        assert_eq!(decide(&lease, Duration::from_secs(14), "me"), Step::Wait);
        assert_eq!(decide(&lease, Duration::from_secs(16), "me"), Step::Write);
    }

    #[test]
    fn taking_over_counts_a_transition_and_renewing_does_not() {
        let first = held_by("lease", "a", None, at(1));
        let renewed = held_by("lease", "a", Some(&first), at(3));
        let taken = held_by("lease", "b", Some(&renewed), at(30));
        let times = |lease: &Lease| {
            let spec = lease.spec.clone().unwrap();
            (spec.acquire_time.unwrap().0, spec.renew_time.unwrap().0, spec.lease_transitions.unwrap())
        };
        assert_eq!(times(&first), (at(1), at(1), 0));
        assert_eq!(times(&renewed), (at(1), at(3), 0));
        assert_eq!(times(&taken), (at(30), at(30), 1));
    }
}
