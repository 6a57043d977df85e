//! A Job's reconcile: one pass over what is, one decision, the writes that follow from it.
//!
//! ```text
//! dereference → observe → decide ─┬─ Create: validate → compile → build → apply ─┐
//!                                 └─ Stop, Remove, …                             ├─► new_status → report
//! ```
//! `decide`, `observe`, `verdict`, `validate`, `compile`, `build` and `status` are pure: they know neither client nor clock.

mod apply;
mod build;
mod compile;
mod create;
mod decide;
mod dereference;
mod explain;
mod facts;
mod history;
mod ledger;
mod observe;
mod report;
mod sources;
mod start;
mod status;
mod stop;
mod validate;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use anchorhold_crds::{Job, JobReason};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::runtime::controller::Action;

use self::create::{Created, create};
use self::decide::{Ending, Hold, Step, decide};
use self::explain::explain;
use self::facts::{Facts, gate_opened_lately};
use self::observe::{Observation, State, observe};
use self::start::Blocked;
use self::status::{News, SeenAttempt, new_status};
use self::stop::{StopReason, Stopped};
use crate::context::Context;
use crate::error::Error;
use crate::settings::PolicyEnforcement;

pub use self::ledger::Ledger;

/// Watches tell of every change; this is how long a job that goes on may wait for one that a watch lost.
const LOOK_AGAIN: Duration = Duration::from_mins(5);
/// Until we look at a pod that was just told to stop, should no watch tell.
const AFTER_STOP: Duration = Duration::from_secs(15);

/// Brings a Job one step further. The same state twice writes nothing twice; a crash at any point loses nothing.
///
/// # Errors
/// A request that did not come through. The next pass starts from what is then.
pub async fn reconcile(job: Arc<Job>, ctx: Arc<Context>) -> Result<Action, Error> {
    let now = Timestamp::now();
    let job = ctx.jobs.newest(job);
    if job.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let namespace = job.namespace().ok_or_else(|| Error::bug("Job", job.name_any(), "has no namespace"))?;
    let references = dereference::references(&ctx, &job, &namespace).await?;
    let mut facts = Facts::of(&job, references.agent.found());
    let mut pod = references.pod.clone();
    let mut seen = pod.as_deref().map(observe);
    // Looks through all jobs, so only when the answer matters.
    if seen.as_ref().is_some_and(Observation::gate_stayed_shut) {
        let jobs = ctx.stores.jobs.state();
        let readable = jobs.iter().filter_map(|job| job.readable().ok());
        facts.engine_works = gate_opened_lately(readable.map(AsRef::as_ref), now);
    }
    let mut resolved = None;

    let (news, until) = match decide(&facts, seen.as_ref(), now) {
        Step::Rest { until } => (News::Seen, until),
        Step::Remove => {
            apply::remove(&ctx, &job, &namespace).await?;
            return Ok(Action::await_change());
        }
        Step::StopLeftover => return stop(&ctx, pod.as_deref(), seen.as_ref(), StopReason::JobEnded, now).await,
        Step::Stop(reason) => return stop(&ctx, pod.as_deref(), seen.as_ref(), reason, now).await,
        Step::Hold(Hold::Suspended) => (News::Suspended, None),
        Step::Hold(Hold::AgentSuspended) => blocked(&facts, Blocked::agent_suspended(&job.spec.agent_ref.name), now),
        Step::BackOff { until } => (News::BackOff { until }, Some(until)),
        Step::Create { attempt } => match create(&ctx, &job, &references, &facts, attempt, now).await? {
            Created::Pod { pod: made, resolved: with } => {
                seen = Some(observe(&made));
                pod = Some(Arc::new(*made));
                resolved = Some(with);
                underway(&facts, seen.as_ref(), now)
            }
            Created::Blocked(why) => blocked(&facts, why, now),
            Created::Refused(verdict) => (News::Ended(Ending::Failed(verdict)), None),
        },
        Step::Track { waiting, until } => (News::Underway { waiting }, until),
        Step::Close(closed) => (News::Closed(closed), Some(now)),
        Step::Finish(ending) => (News::Ended(explain(&ctx, pod.as_deref(), ending).await), Some(now)),
    };

    let assumed = ctx.settings.enforcement == PolicyEnforcement::Assume;
    let attempt = seen_attempt(&facts, pod.as_deref(), seen.as_ref());
    let status = new_status(&job, attempt, resolved, assumed, &news, now);
    report::write(&ctx, &job, status).await?;
    Ok(action(&news, until, now))
}

/// What a job waits for, or that it has waited long enough.
fn blocked(facts: &Facts, why: Blocked, now: Timestamp) -> (News, Option<Timestamp>) {
    if let Some(verdict) = why.expired(facts, now) {
        return (News::Ended(Ending::Failed(verdict)), None);
    }
    let until = why.look_at(facts, now);
    (News::Blocked(why), until)
}

/// How a pod that was just made, or found, goes on.
fn underway(facts: &Facts, seen: Option<&Observation>, now: Timestamp) -> (News, Option<Timestamp>) {
    match decide(facts, seen, now) {
        Step::Track { waiting, until } => (News::Underway { waiting }, until),
        // It was there already and is further than we knew: the next pass, at once, takes that up.
        _ => (
            News::Underway { waiting: Some((JobReason::Starting, JobReason::Starting.meaning().to_owned())) },
            Some(now),
        ),
    }
}

async fn stop(
    ctx: &Context,
    pod: Option<&Pod>,
    seen: Option<&Observation>,
    reason: StopReason,
    now: Timestamp,
) -> Result<Action, Error> {
    if let (Some(pod), Some(seen)) = (pod, seen) {
        apply::stop(ctx, pod, !matches!(seen.state, State::Waiting(_)), Stopped { reason, at: now }).await?;
    }
    Ok(Action::requeue(AFTER_STOP))
}

fn seen_attempt<'a>(facts: &Facts, pod: Option<&'a Pod>, seen: Option<&'a Observation>) -> Option<SeenAttempt<'a>> {
    let (pod, observation) = (pod?, seen?);
    let runner = pod.status.as_ref().and_then(observe::runner_status);
    Some(SeenAttempt {
        number: facts.current_attempt(),
        pod_name: pod.metadata.name.as_deref()?,
        observation,
        runner_image: runner.map(|runner| runner.image_id.as_str()).filter(|image| !image.is_empty()),
    })
}

/// When to look again if no watch tells earlier.
fn action(news: &News, until: Option<Timestamp>, now: Timestamp) -> Action {
    let wait = until.map(|until| Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO));
    match (news, wait) {
        (News::Seen | News::Suspended, None) => Action::await_change(),
        // Never zero: what we just wrote comes back through a watch first.
        (_, Some(wait)) => Action::requeue(wait.clamp(Duration::from_millis(100), LOOK_AGAIN)),
        (_, None) => Action::requeue(LOOK_AGAIN),
    }
}
