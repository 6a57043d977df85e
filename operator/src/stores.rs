//! What the watches have seen: one store per kind, written by [`crate::feed`], read by every reconciler.
//!
//! A store may lag behind the API server. Names are deterministic, so a create on top of a stale store meets
//! `AlreadyExists`; whoever concludes from an absence asks the API server first.

use std::hash::Hash;
use std::sync::Arc;

use anchorhold_crds::{Agent, Job, McpServer};
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt};
use tokio::sync::watch;

use crate::object::Guarded;

/// The stores of all watched kinds.
#[derive(Clone)]
pub struct Stores {
    pub(crate) jobs: Store<Guarded<Job>>,
    pub(crate) agents: Store<Guarded<Agent>>,
    pub(crate) mcp_servers: Store<Guarded<McpServer>>,
    pub(crate) pods: Store<Pod>,
    filled: [watch::Receiver<bool>; 4],
}

/// The writing ends of [`Stores`]; each belongs to one feed.
pub struct Writers {
    pub(crate) jobs: StoreWriter<Guarded<Job>>,
    pub(crate) agents: StoreWriter<Guarded<Agent>>,
    pub(crate) mcp_servers: StoreWriter<Guarded<McpServer>>,
    pub(crate) pods: StoreWriter<Pod>,
}

/// A store's writing end, and who waits for it to be filled.
///
/// `Store::wait_until_ready` of kube-runtime 5 wakes one of its waiters only, and the applier is that one: everybody else
/// waits for `filled`.
pub(crate) struct StoreWriter<K>
where
    K: Resource + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    pub(crate) objects: Writer<K>,
    filled: watch::Sender<bool>,
}

impl<K> StoreWriter<K>
where
    K: Resource + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone + Default,
{
    pub(crate) fn new() -> Self {
        Self { objects: Writer::new(K::DynamicType::default()), filled: watch::Sender::new(false) }
    }
}

impl Stores {
    /// Empty stores that are not ready, and their writing ends.
    #[must_use]
    pub fn new() -> (Self, Writers) {
        let writers = Writers {
            jobs: StoreWriter::new(),
            agents: StoreWriter::new(),
            mcp_servers: StoreWriter::new(),
            pods: StoreWriter::new(),
        };
        let stores = Self {
            jobs: writers.jobs.objects.as_reader(),
            agents: writers.agents.objects.as_reader(),
            mcp_servers: writers.mcp_servers.objects.as_reader(),
            pods: writers.pods.objects.as_reader(),
            filled: [
                writers.jobs.filled.subscribe(),
                writers.agents.filled.subscribe(),
                writers.mcp_servers.filled.subscribe(),
                writers.pods.filled.subscribe(),
            ],
        };
        (stores, writers)
    }

    /// Returns when every store holds what the API server had when the watches began. A reconcile before that would
    /// take what has not arrived for what does not exist.
    ///
    /// `false` when a writing end is gone: the process is stopping.
    pub async fn ready(&self) -> bool {
        for filled in &self.filled {
            if filled.clone().wait_for(|filled| *filled).await.is_err() {
                return false;
            }
        }
        true
    }

    /// The Job of that name.
    #[must_use]
    pub fn job(&self, namespace: &str, name: &str) -> Option<Guarded<Job>> {
        get(&self.jobs, namespace, name).map(|job| (*job).clone())
    }

    /// The Agent of that name.
    #[must_use]
    pub fn agent(&self, namespace: &str, name: &str) -> Option<Guarded<Agent>> {
        get(&self.agents, namespace, name).map(|agent| (*agent).clone())
    }

    /// The McpServer of that name.
    #[must_use]
    pub fn mcp_server(&self, namespace: &str, name: &str) -> Option<Guarded<McpServer>> {
        get(&self.mcp_servers, namespace, name).map(|server| (*server).clone())
    }

    /// The pod of that name, if it carries our label. Its spec is cut down to what [`crate::feed::slim_pod`] keeps.
    #[must_use]
    pub fn pod(&self, namespace: &str, name: &str) -> Option<Arc<Pod>> {
        get(&self.pods, namespace, name)
    }
}

impl Writers {
    /// Fills the stores once and marks them ready; for tests, which have no watches.
    pub fn fill(&mut self, jobs: Vec<Job>, agents: Vec<Agent>, mcp_servers: Vec<McpServer>, pods: Vec<Pod>) {
        replace(&mut self.jobs, jobs.into_iter().map(Guarded::from));
        replace(&mut self.agents, agents.into_iter().map(Guarded::from));
        replace(&mut self.mcp_servers, mcp_servers.into_iter().map(Guarded::from));
        replace(&mut self.pods, pods);
    }
}

/// Makes the store hold exactly these objects, and ready.
pub(crate) fn replace<K>(writer: &mut StoreWriter<K>, objects: impl IntoIterator<Item = K>)
where
    K: Resource + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    writer.objects.apply_watcher_event(&Event::Init);
    for object in objects {
        writer.objects.apply_watcher_event(&Event::InitApply(object));
    }
    writer.objects.apply_watcher_event(&Event::InitDone);
    writer.filled.send_replace(true);
}

fn get<K>(store: &Store<K>, namespace: &str, name: &str) -> Option<Arc<K>>
where
    K: Resource + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone + Default,
{
    store.get(&ObjectRef::new(name).within(namespace))
}

/// `namespace/name`, as logs and errors print an object.
#[must_use]
pub fn full_name<K: Resource>(object: &K) -> String {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name_any()),
        None => object.name_any(),
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn everybody_who_waits_for_the_stores_goes_on_when_they_are_filled() {
        let (stores, mut writers) = Stores::new();
        // As the applier of each controller does, beside all who call `ready`.
        let applier = stores.jobs.clone();
        let applier = tokio::spawn(async move { applier.wait_until_ready().await.is_ok() });
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let stores = stores.clone();
                tokio::spawn(async move { stores.ready().await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(stores.ready().now_or_never().is_none());
        writers.fill(Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for waiter in waiting.into_iter().chain([applier]) {
            let went_on = tokio::time::timeout(std::time::Duration::from_secs(10), waiter).await;
            assert!(went_on.expect("a waiter sleeps for ever").unwrap());
        }
    }
}
