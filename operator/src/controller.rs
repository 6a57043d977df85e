//! Which change makes which object be looked at again, and the loops that look.
//!
//! ```text
//! Job ────────────► itself
//! Pod ────────────► the Job that owns it
//! Agent ──────────► itself, and its Jobs that have not ended
//! McpServer ──────► itself, and the Agents of its namespace that name it
//! ```

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anchorhold_crds::{Agent, Job, McpServer};
use futures::stream::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::applier;
use kube::runtime::controller::{Action, Config};
use kube::runtime::events::EventType;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::{Resource, ResourceExt as _};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::context::Context;
use crate::error::{Class, Error, chain};
use crate::feed::{Change, Feed, Scope, ended, slim, slim_job, slim_pod};
use crate::metrics::Kind;
use crate::object::{Guarded, OurKind};
use crate::stores::{StoreWriter, Writers, full_name};
use crate::{agent, job, mcp_server, unreadable};

/// Pods of jobs and nothing else.
const OUR_PODS: &str = "app.kubernetes.io/managed-by=anchorhold";
/// Triggers under way between a feed and its controller; a full queue slows the watch.
const QUEUE: usize = 1024;
/// One reconcile makes a few requests; one that takes longer hangs.
const RECONCILE_DEADLINE: Duration = Duration::from_mins(1);
/// Until we look again at what an administrator or a release has to mend.
const SLOW: Duration = Duration::from_mins(5);

type Trigger<K> = ObjectRef<Guarded<K>>;

/// Reconciles until `stop` becomes true, then finishes what is under way. Returns early only when a part ended that
/// must not end.
pub async fn run(
    ctx: Arc<Context>,
    writers: Writers,
    scopes: Vec<Scope>,
    concurrency: u16,
    stop: watch::Receiver<bool>,
) {
    let (job_tx, job_rx) = mpsc::channel(QUEUE);
    let (agent_tx, agent_rx) = mpsc::channel(QUEUE);
    let (mcp_server_tx, mcp_server_rx) = mpsc::channel(QUEUE);
    let Writers { jobs, agents, mcp_servers, pods } = writers;

    let mut feeds = JoinSet::new();
    let shared = Arc::clone(&ctx);
    let queue = job_tx.clone();
    feeds.spawn(feed(Kind::Job, &scopes, None, slim_job, jobs).run(
        ctx.client.clone(),
        ctx.metrics.clone(),
        async move |change| on_job(&shared, &queue, change).await,
    ));
    let queue = job_tx.clone();
    feeds.spawn(feed(Kind::Pod, &scopes, Some(OUR_PODS), slim_pod, pods).run(
        ctx.client.clone(),
        ctx.metrics.clone(),
        async move |change| on_pod(&queue, change).await,
    ));
    let shared = Arc::clone(&ctx);
    let queue = agent_tx.clone();
    feeds.spawn(feed(Kind::Agent, &scopes, None, slim, agents).run(
        ctx.client.clone(),
        ctx.metrics.clone(),
        async move |change| on_agent(&shared, &queue, &job_tx, change).await,
    ));
    let shared = Arc::clone(&ctx);
    feeds.spawn(feed(Kind::McpServer, &scopes, None, slim, mcp_servers).run(
        ctx.client.clone(),
        ctx.metrics.clone(),
        async move |change| on_mcp_server(&shared, &mcp_server_tx, &agent_tx, change).await,
    ));

    let mut controllers = JoinSet::new();
    let stores = &ctx.stores;
    controllers.spawn(control(
        Arc::clone(&ctx),
        stores.jobs.clone(),
        job_rx,
        concurrency,
        stop.clone(),
        job::reconcile,
    ));
    controllers.spawn(control(
        Arc::clone(&ctx),
        stores.agents.clone(),
        agent_rx,
        concurrency,
        stop.clone(),
        agent::reconcile,
    ));
    controllers.spawn(control(
        Arc::clone(&ctx),
        stores.mcp_servers.clone(),
        mcp_server_rx,
        concurrency,
        stop.clone(),
        mcp_server::reconcile,
    ));
    let controllers_end = async {
        while controllers.join_next().await.is_some() {
            if !*stop.borrow() {
                tracing::error!("a controller ended that must not end");
                break;
            }
        }
    };
    tokio::select! {
        () = controllers_end => {}
        _ = feeds.join_next() => tracing::error!("a watch ended that must not end"),
    }
}

fn feed<K>(
    kind: Kind,
    scopes: &[Scope],
    labels: Option<&'static str>,
    slim: fn(&mut K),
    writer: StoreWriter<K>,
) -> Feed<K>
where
    K: crate::feed::Watchable,
{
    Feed { kind, scopes: scopes.to_vec(), labels, slim, writer }
}

async fn on_job(ctx: &Context, jobs: &mpsc::Sender<Trigger<Job>>, change: Change<Guarded<Job>>) {
    match change {
        Change::Applied { new, .. } => send(jobs, ObjectRef::from_obj(&*new)).await,
        Change::Deleted(job) => {
            forget(ctx, &*job);
            if let Some(uid) = &job.meta().uid {
                ctx.jobs.forget(uid);
            }
        }
    }
}

async fn on_pod(jobs: &mpsc::Sender<Trigger<Job>>, change: Change<Pod>) {
    let (Change::Applied { new: pod, .. } | Change::Deleted(pod)) = change;
    if let Some(job) = job_of(&pod) {
        send(jobs, job).await;
    }
}

async fn on_agent(
    ctx: &Context,
    agents: &mpsc::Sender<Trigger<Agent>>,
    jobs: &mpsc::Sender<Trigger<Job>>,
    change: Change<Guarded<Agent>>,
) {
    let agent = match change {
        Change::Applied { new, old } => {
            send(agents, ObjectRef::from_obj(&*new)).await;
            if old.is_some_and(|old| old.meta().generation == new.meta().generation && old.meta().uid == new.meta().uid)
            {
                // Only its status changed, which no job depends on.
                return;
            }
            new
        }
        Change::Deleted(agent) => {
            forget(ctx, &*agent);
            agent
        }
    };
    for job in jobs_of(&ctx.stores.jobs, &agent) {
        send(jobs, job).await;
    }
}

async fn on_mcp_server(
    ctx: &Context,
    mcp_servers: &mpsc::Sender<Trigger<McpServer>>,
    agents: &mpsc::Sender<Trigger<Agent>>,
    change: Change<Guarded<McpServer>>,
) {
    let server = match change {
        Change::Applied { new, .. } => {
            send(mcp_servers, ObjectRef::from_obj(&*new)).await;
            new
        }
        Change::Deleted(server) => {
            forget(ctx, &*server);
            server
        }
    };
    for agent in agents_naming(&ctx.stores.agents, &server) {
        send(agents, agent).await;
    }
}

/// The Job that owns the pod.
fn job_of(pod: &Pod) -> Option<Trigger<Job>> {
    let namespace = pod.namespace()?;
    let owner = pod.owner_references().iter().find(|owner| {
        owner.controller == Some(true) && owner.kind == Job::kind(&()) && owner.api_version == Job::api_version(&())
    })?;
    Some(ObjectRef::new(&owner.name).within(&namespace))
}

/// The agent's Jobs that have not ended.
fn jobs_of(jobs: &Store<Guarded<Job>>, agent: &Guarded<Agent>) -> Vec<Trigger<Job>> {
    let of_agent = |job: &Guarded<Job>| {
        job.readable().is_ok_and(|job| {
            job.spec.agent_ref.name == agent.name_any() && job.namespace() == agent.namespace() && !ended(job)
        })
    };
    jobs.state_filter(of_agent).iter().map(|job| ObjectRef::from_obj(&**job)).collect()
}

/// The Agents of the server's namespace that name it.
fn agents_naming(agents: &Store<Guarded<Agent>>, server: &Guarded<McpServer>) -> Vec<Trigger<Agent>> {
    let name = server.name_any();
    let names_it = |agent: &Guarded<Agent>| {
        agent.namespace() == server.namespace()
            && agent.readable().is_ok_and(|agent| agent::servers_named(&agent.spec).any(|server| server == name))
    };
    agents.state_filter(names_it).iter().map(|agent| ObjectRef::from_obj(&**agent)).collect()
}

fn forget<K: Resource>(ctx: &Context, object: &K) {
    if let Some(uid) = &object.meta().uid {
        ctx.backoff.forget(uid);
    }
}

/// The receiver leaves only when its controller stops, and then nothing needs to be looked at again.
async fn send<K: OurKind>(queue: &mpsc::Sender<Trigger<K>>, trigger: Trigger<K>) {
    let _: Result<(), mpsc::error::SendError<_>> = queue.send(trigger).await;
}

/// Reconciles the objects of one kind as they are triggered, never one twice at once.
async fn control<K, F>(
    ctx: Arc<Context>,
    store: Store<Guarded<K>>,
    mut triggers: mpsc::Receiver<Trigger<K>>,
    concurrency: u16,
    mut stop: watch::Receiver<bool>,
    reconcile: impl Fn(Arc<K>, Arc<Context>) -> F + Copy + Send + Sync + 'static,
) where
    K: OurKind,
    F: Future<Output = Result<Action, Error>> + Send + 'static,
{
    let queue = futures::stream::poll_fn(move |cx| triggers.poll_recv(cx)).map(Ok::<_, Infallible>);
    let stopped = async move {
        // An error means that the sender is gone, which is a stop as well.
        let _: Result<_, watch::error::RecvError> = stop.wait_for(|stop| *stop).await;
    };
    let reconciler = move |object: Arc<Guarded<K>>, ctx: Arc<Context>| {
        Box::pin(async move { Ok::<_, Infallible>(look_at(&object, ctx, reconcile).await) })
    };
    applier(
        reconciler,
        |_, never: &Infallible, _| match *never {},
        ctx,
        store,
        queue.take_until(stopped),
        Config::default().concurrency(concurrency),
    )
    // What comes out is an object that left meanwhile, or the end; look_at has told everything else.
    .for_each(|_| std::future::ready(()))
    .await;
}

async fn look_at<K, F>(object: &Guarded<K>, ctx: Arc<Context>, reconcile: impl Fn(Arc<K>, Arc<Context>) -> F) -> Action
where
    K: OurKind,
    F: Future<Output = Result<Action, Error>>,
{
    if !ctx.stores.ready().await {
        // The feeds are gone: the process is stopping.
        return Action::await_change();
    }
    let started = Instant::now();
    let work = async {
        match object.readable() {
            Ok(readable) => reconcile(Arc::clone(readable), Arc::clone(&ctx)).await,
            Err(problem) => unreadable::report::<K>(problem, &ctx, jiff::Timestamp::now()).await,
        }
    };
    let outcome = tokio::time::timeout(RECONCILE_DEADLINE, work).await.unwrap_or_else(|_| {
        Err(Error::TimedOut { kind: K::KIND.name(), object: full_name(object), seconds: RECONCILE_DEADLINE.as_secs() })
    });
    ctx.metrics.reconciled(K::KIND, started.elapsed());
    let uid = object.meta().uid.as_deref().unwrap_or_default();
    match outcome {
        Ok(action) => {
            ctx.backoff.forget(uid);
            action
        }
        Err(error) => after(&error, object, uid, &ctx).await,
    }
}

/// What follows a reconcile that did not finish.
async fn after<K: OurKind>(error: &Error, object: &Guarded<K>, uid: &str, ctx: &Context) -> Action {
    let class = error.class();
    if class == Class::Gone {
        ctx.backoff.forget(uid);
        return Action::await_change();
    }
    ctx.metrics.reconcile_failed(K::KIND, error.reason());
    let message = chain(error);
    match class {
        Class::Transient => {
            let wait = ctx.backoff.failed(uid);
            tracing::warn!(error = message, seconds = wait.as_secs(), "a reconcile failed and is tried again");
            Action::requeue(wait)
        }
        Class::Forbidden | Class::Bug => {
            tracing::error!(error = message, reason = error.reason(), "a reconcile failed");
            ctx.publish(&object.object_ref(&()), EventType::Warning, error.reason(), "Reconcile", &message).await;
            Action::requeue(SLOW)
        }
        Class::Gone => Action::await_change(),
    }
}

#[cfg(test)]
mod tests {
    use anchorhold_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};
    use serde_json::json;

    use super::*;
    use crate::stores::Stores;

    fn job(name: &str, agent: &str, conditions: &serde_json::Value) -> Job {
        serde_json::from_value(json!({
            "metadata": {"namespace": "team-a", "name": name},
            "spec": {"agentRef": {"name": agent}, "script": "return 1"},
            "status": {"conditions": conditions},
        }))
        .unwrap()
    }

    fn agent(name: &str, tools: &[&str]) -> Agent {
        serde_json::from_value(json!({"metadata": {"namespace": "team-a", "name": name}, "spec": {"tools": tools}}))
            .unwrap()
    }

    fn names<K: OurKind>(mut triggers: Vec<Trigger<K>>) -> Vec<String> {
        triggers.sort_by(|a, b| a.name.cmp(&b.name));
        triggers
            .into_iter()
            .map(|trigger| format!("{}/{}", trigger.namespace.unwrap_or_default(), trigger.name))
            .collect()
    }

    #[test]
    fn the_watched_pods_are_those_that_carry_our_label() {
        assert_eq!(OUR_PODS, format!("{MANAGED_BY_LABEL}={MANAGED_BY}"));
    }

    #[test]
    fn a_pod_leads_to_the_job_that_controls_it_and_to_no_other() {
        let pod = |kind: &str, api_version: &str, controller: bool| -> Pod {
            serde_json::from_value(json!({"metadata": {"namespace": "team-a", "name": "p", "ownerReferences": [
                {"apiVersion": api_version, "kind": kind, "name": "count", "uid": "u", "controller": controller}
            ]}}))
            .unwrap()
        };
        assert_eq!(
            job_of(&pod("Job", "anchorhold.dev/v1alpha1", true)),
            Some(ObjectRef::new("count").within("team-a"))
        );
        assert_eq!(job_of(&pod("Job", "batch/v1", true)), None);
        assert_eq!(job_of(&pod("Job", "anchorhold.dev/v1alpha1", false)), None);
    }

    #[test]
    fn an_agent_leads_to_its_jobs_that_have_not_ended() {
        let (stores, mut writers) = Stores::new();
        let ended = |type_: &str| json!([{"type": type_, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
        let jobs = vec![
            job("new", "reader", &json!([])),
            job("other", "writer", &json!([])),
            job("done", "reader", &ended("Complete")),
            job("lost", "reader", &ended("Failed")),
            job("held", "reader", &ended("Suspended")),
        ];
        writers.fill(jobs, Vec::new(), Vec::new(), Vec::new());
        assert_eq!(names(jobs_of(&stores.jobs, &agent("reader", &[]).into())), ["team-a/held", "team-a/new"]);
    }

    #[test]
    fn a_server_leads_to_the_agents_that_name_it() {
        let (stores, mut writers) = Stores::new();
        let agents =
            vec![agent("a", &["read"]), agent("b", &["mcp__tracker__*"]), agent("c", &["mcp__tracker-two__x"])];
        writers.fill(Vec::new(), agents, Vec::new(), Vec::new());
        let server: McpServer = serde_json::from_value(json!({
            "metadata": {"namespace": "team-a", "name": "tracker"}, "spec": {"url": "https://tracker.example.com/mcp"},
        }))
        .unwrap();
        assert_eq!(names(agents_naming(&stores.agents, &server.into())), ["team-a/b"]);
    }
}
