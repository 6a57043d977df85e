//! From watches to stores: one feed per kind is the only writer of that kind's store, and tells what changed.
//!
//! kube's own shared streams keep deletions to themselves, and a pod that somebody deleted is exactly what a job must
//! hear of. So the feed applies each event itself; what left while a watch was broken is reported as deleted, too.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;

use anchorhold_crds::{ConditionType, Job, is_true};
use futures::stream::{SelectAll, StreamExt as _};
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::reflector::store::Store;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

use crate::metrics::{Kind, Metrics};
use crate::object::Guarded;
use crate::stores::{StoreWriter, replace};

/// What is watched of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every namespace.
    All,
    /// One namespace.
    Namespace(String),
}

impl Scope {
    /// Every namespace if none is named.
    #[must_use]
    pub fn all_of(namespaces: &[String]) -> Vec<Self> {
        if namespaces.is_empty() {
            return vec![Self::All];
        }
        let mut names = namespaces.to_vec();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(Self::Namespace).collect()
    }

    fn holds(&self, namespace: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(name) => namespace == Some(name),
        }
    }
}

/// What an event meant for the store.
#[derive(Debug)]
pub enum Change<K> {
    /// An object is there, with what was there before it.
    Applied {
        /// As it is now.
        new: Arc<K>,
        /// As the store had it.
        old: Option<Arc<K>>,
    },
    /// An object left.
    Deleted(Arc<K>),
}

/// What can be watched.
pub trait Watchable: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static {}

impl<K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static> Watchable for K {}

/// How a kind is watched.
pub struct Feed<K: Watchable> {
    /// The kind, for logs and metrics.
    pub kind: Kind,
    /// Where.
    pub scopes: Vec<Scope>,
    /// Only objects with these labels.
    pub labels: Option<&'static str>,
    /// Takes from an object what nobody reads, before it is stored.
    pub slim: fn(&mut K),
    /// The store's writing end.
    pub(crate) writer: StoreWriter<K>,
}

impl<K> Feed<K>
where
    K: Watchable + Resource<Scope = kube::core::NamespaceResourceScope>,
{
    /// Watches until dropped. Broken watches are resumed with a back-off. `changed` is awaited after the store holds the
    /// change, so a slow listener slows the watch and not the memory.
    pub async fn run(self, client: Client, metrics: Metrics, mut changed: impl AsyncFnMut(Change<K>)) {
        let Self { kind, scopes, labels, slim, writer } = self;
        let mut events: SelectAll<_> = scopes
            .iter()
            .enumerate()
            .map(|(index, scope)| {
                let api = match scope {
                    Scope::All => Api::all(client.clone()),
                    Scope::Namespace(name) => Api::namespaced(client.clone(), name),
                };
                let config = watcher::Config::default().streaming_lists();
                let config = match labels {
                    Some(labels) => config.labels(labels),
                    None => config,
                };
                watcher(api, config).default_backoff().map(move |event| (index, event)).boxed()
            })
            .collect();
        let mut mirror = Mirror::new(scopes, writer);
        while let Some((scope, event)) = events.next().await {
            match event {
                Ok(event) => {
                    for change in mirror.apply(scope, event.modify(slim)) {
                        changed(change).await;
                    }
                    metrics.set_objects(kind, mirror.store.len());
                }
                Err(error) => {
                    metrics.watch_failed(kind);
                    tracing::warn!(kind = kind.name(), error = crate::error::chain(&error), "a watch broke");
                }
            }
        }
    }
}

/// One store fed by the watches of several scopes.
struct Mirror<K: Watchable> {
    scopes: Vec<ScopeState<K>>,
    writer: StoreWriter<K>,
    store: Store<K>,
    ready: bool,
}

struct ScopeState<K> {
    scope: Scope,
    /// The objects of a list that is not complete yet.
    listing: Vec<K>,
    listed: bool,
}

impl<K: Watchable> Mirror<K> {
    fn new(scopes: Vec<Scope>, writer: StoreWriter<K>) -> Self {
        let scopes = scopes.into_iter().map(|scope| ScopeState { scope, listing: Vec::new(), listed: false }).collect();
        Self { scopes, store: writer.objects.as_reader(), writer, ready: false }
    }

    fn apply(&mut self, scope: usize, event: Event<K>) -> Vec<Change<K>> {
        let Some(state) = self.scopes.get_mut(scope) else { return Vec::new() };
        match event {
            Event::Init => {
                state.listing = Vec::new();
                Vec::new()
            }
            Event::InitApply(object) => {
                state.listing.push(object);
                Vec::new()
            }
            Event::InitDone => {
                let listing = std::mem::take(&mut state.listing);
                state.listed = true;
                let scope = state.scope.clone();
                self.listed(&scope, listing)
            }
            Event::Apply(object) => vec![self.put(object)],
            Event::Delete(object) => {
                let old = self.store.get(&ObjectRef::from_obj(&object));
                self.writer.objects.apply_watcher_event(&Event::Delete(object.clone()));
                vec![Change::Deleted(old.unwrap_or_else(|| Arc::new(object)))]
            }
        }
    }

    fn put(&mut self, object: K) -> Change<K> {
        let reference = ObjectRef::from_obj(&object);
        let old = self.store.get(&reference);
        self.writer.objects.apply_watcher_event(&Event::Apply(object.clone()));
        // The store has it: it was just applied, and nobody else writes.
        let new = self.store.get(&reference).unwrap_or_else(|| Arc::new(object));
        Change::Applied { new, old }
    }

    /// A complete list: what is in the store and not in the list has left.
    fn listed(&mut self, scope: &Scope, listing: Vec<K>) -> Vec<Change<K>> {
        let there: HashSet<ObjectRef<K>> = listing.iter().map(ObjectRef::from_obj).collect();
        let gone = self.store.state_filter(|object| {
            scope.holds(object.meta().namespace.as_deref()) && !there.contains(&ObjectRef::from_obj(object))
        });
        let mut changes = Vec::with_capacity(listing.len() + gone.len());
        for object in gone {
            self.writer.objects.apply_watcher_event(&Event::Delete((*object).clone()));
            changes.push(Change::Deleted(object));
        }
        changes.extend(listing.into_iter().map(|object| self.put(object)));
        if !self.ready && self.scopes.iter().all(|state| state.listed) {
            self.ready = true;
            let all: Vec<K> = self.store.state().iter().map(|object| (**object).clone()).collect();
            replace(&mut self.writer, all);
        }
        changes
    }
}

/// Takes the bookkeeping of other writers away: it is often the larger half of an object and nobody here reads it.
pub fn slim<K: Resource>(object: &mut K) {
    let metadata = object.meta_mut();
    metadata.managed_fields = None;
    if let Some(annotations) = &mut metadata.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// Takes from a Job that has ended its program as well: up to 256 KiB that never run again, times as many Jobs as people
/// keep. An empty program stays in its place.
pub fn slim_job(job: &mut Guarded<Job>) {
    slim(job);
    if let Guarded::Readable(job) = job
        && ended(job)
    {
        let spec = &mut Arc::make_mut(job).spec;
        for program in [&mut spec.script, &mut spec.prompt].into_iter().flatten() {
            *program = String::new();
        }
    }
}

/// Whether the Job has its verdict.
#[must_use]
pub fn ended(job: &Job) -> bool {
    job.status.as_ref().is_some_and(|status| {
        is_true(&status.conditions, ConditionType::Complete) || is_true(&status.conditions, ConditionType::Failed)
    })
}

/// Keeps of a pod its metadata, its status, our own annotations (why we stopped it), and of its spec the node and the deadline.
pub fn slim_pod(pod: &mut Pod) {
    slim(pod);
    if let Some(annotations) = &mut pod.metadata.annotations {
        annotations.retain(|name, _| name.starts_with("anchorhold.dev/"));
    }
    pod.spec = pod.spec.take().map(|spec| PodSpec {
        node_name: spec.node_name,
        active_deadline_seconds: spec.active_deadline_seconds,
        ..PodSpec::default()
    });
}

#[cfg(test)]
mod tests {
    use kube::ResourceExt as _;
    use serde_json::json;

    use super::*;

    fn pod(namespace: &str, name: &str) -> Pod {
        serde_json::from_value(json!({"metadata": {"namespace": namespace, "name": name}})).unwrap()
    }

    fn told(changes: &[Change<Pod>]) -> Vec<String> {
        changes
            .iter()
            .map(|change| match change {
                Change::Applied { new, old: None } => format!("+{}", new.name_any()),
                Change::Applied { new, old: Some(_) } => format!("~{}", new.name_any()),
                Change::Deleted(old) => format!("-{}", old.name_any()),
            })
            .collect()
    }

    fn list(mirror: &mut Mirror<Pod>, scope: usize, pods: Vec<Pod>) -> Vec<String> {
        let mut changes = mirror.apply(scope, Event::Init);
        for pod in pods {
            changes.extend(mirror.apply(scope, Event::InitApply(pod)));
        }
        changes.extend(mirror.apply(scope, Event::InitDone));
        told(&changes)
    }

    #[test]
    fn what_left_while_the_watch_was_broken_is_told_as_deleted() {
        let mut mirror = Mirror::new(vec![Scope::All], StoreWriter::new());
        assert_eq!(list(&mut mirror, 0, vec![pod("a", "one"), pod("a", "two")]), ["+one", "+two"]);
        assert_eq!(list(&mut mirror, 0, vec![pod("a", "two"), pod("a", "three")]), ["-one", "~two", "+three"]);
        assert_eq!(told(&mirror.apply(0, Event::Delete(pod("a", "two")))), ["-two"]);
        assert_eq!(mirror.store.len(), 1);
    }

    #[test]
    fn a_list_of_one_namespace_leaves_the_others_alone() {
        let scopes = Scope::all_of(&["a".into(), "b".into(), "a".into()]);
        let mut mirror = Mirror::new(scopes, StoreWriter::new());
        list(&mut mirror, 0, vec![pod("a", "one")]);
        list(&mut mirror, 1, vec![pod("b", "two")]);
        assert_eq!(list(&mut mirror, 0, vec![]), ["-one"]);
        assert_eq!(mirror.store.state().iter().map(|pod| pod.name_any()).collect::<Vec<_>>(), ["two"]);
    }

    #[tokio::test]
    async fn a_store_is_ready_when_every_namespace_was_listed() {
        use futures::FutureExt as _;

        let mut mirror = Mirror::new(Scope::all_of(&["a".into(), "b".into()]), StoreWriter::new());
        list(&mut mirror, 0, vec![pod("a", "one")]);
        assert!(mirror.store.wait_until_ready().now_or_never().is_none());
        list(&mut mirror, 1, vec![pod("b", "two")]);
        assert!(mirror.store.wait_until_ready().now_or_never().is_some());
        assert_eq!(mirror.store.len(), 2);
    }

    #[test]
    fn a_stored_pod_keeps_its_status_and_loses_what_nobody_reads() {
        let mut full: Pod = serde_json::from_value(json!({
            "metadata": {"name": "a", "labels": {"x": "y"}, "annotations": {"b": "c", "anchorhold.dev/x": "d"}, "managedFields": [{"manager": "m"}]},
            "spec": {"nodeName": "n", "activeDeadlineSeconds": 5, "containers": [{"name": "runner"}]},
            "status": {"phase": "Running"},
        }))
        .unwrap();
        slim_pod(&mut full);
        assert_eq!(
            serde_json::to_value(full).unwrap(),
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "a", "labels": {"x": "y"}, "annotations": {"anchorhold.dev/x": "d"}},
                "spec": {"nodeName": "n", "activeDeadlineSeconds": 5, "containers": []},
                "status": {"phase": "Running"},
            })
        );
    }

    #[test]
    fn a_stored_job_loses_its_program_when_it_has_ended() {
        let job = |condition: &str| -> Guarded<Job> {
            serde_json::from_value(json!({
                "apiVersion": "anchorhold.dev/v1alpha1", "kind": "Job",
                "metadata": {"namespace": "a", "name": "count"},
                "spec": {"agentRef": {"name": "reader"}, "script": "return 1"},
                "status": {"conditions": [
                    {"type": condition, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                ]},
            }))
            .unwrap()
        };
        for (condition, script) in [("Suspended", "return 1"), ("Complete", ""), ("Failed", "")] {
            let mut job = job(condition);
            slim_job(&mut job);
            assert_eq!(job.readable().unwrap().spec.script.as_deref(), Some(script), "{condition}");
        }
    }
}
