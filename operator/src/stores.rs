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

use crate::object::Guarded;

/// The stores of all watched kinds.
#[derive(Clone)]
pub struct Stores {
    pub(crate) jobs: Store<Guarded<Job>>,
    pub(crate) agents: Store<Guarded<Agent>>,
    pub(crate) mcp_servers: Store<Guarded<McpServer>>,
    pub(crate) pods: Store<Pod>,
}

/// The writing ends of [`Stores`]; each belongs to one feed.
pub struct Writers {
    pub(crate) jobs: Writer<Guarded<Job>>,
    pub(crate) agents: Writer<Guarded<Agent>>,
    pub(crate) mcp_servers: Writer<Guarded<McpServer>>,
    pub(crate) pods: Writer<Pod>,
}

impl Stores {
    /// Empty stores that are not ready, and their writing ends.
    #[must_use]
    pub fn new() -> (Self, Writers) {
        let writers = Writers {
            jobs: Writer::new(()),
            agents: Writer::new(()),
            mcp_servers: Writer::new(()),
            pods: Writer::new(()),
        };
        let stores = Self {
            jobs: writers.jobs.as_reader(),
            agents: writers.agents.as_reader(),
            mcp_servers: writers.mcp_servers.as_reader(),
            pods: writers.pods.as_reader(),
        };
        (stores, writers)
    }

    /// Returns when every store holds what the API server had when the watches began. A reconcile before that would
    /// take what has not arrived for what does not exist.
    pub async fn ready(&self) -> bool {
        self.jobs.wait_until_ready().await.is_ok()
            && self.agents.wait_until_ready().await.is_ok()
            && self.mcp_servers.wait_until_ready().await.is_ok()
            && self.pods.wait_until_ready().await.is_ok()
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
pub(crate) fn replace<K>(writer: &mut Writer<K>, objects: impl IntoIterator<Item = K>)
where
    K: Resource + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    writer.apply_watcher_event(&Event::Init);
    for object in objects {
        writer.apply_watcher_event(&Event::InitApply(object));
    }
    writer.apply_watcher_event(&Event::InitDone);
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
