//! Reads what a job names. The only step that asks the API server for something; it judges nothing.

use std::sync::Arc;

use anchorhold_crds::{Agent, Job, McpServer, names};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, ResourceExt};

use super::facts::Facts;
use crate::agent::servers_named;
use crate::context::Context;
use crate::error::Error;
use crate::object::Guarded;

/// What a job names, as it is now.
pub(crate) struct References {
    /// The pod of the current attempt. `None` means that the API server has none, not that a watch has not seen it.
    pub(crate) pod: Option<Arc<Pod>>,
    /// The job's agent.
    pub(crate) agent: AgentReference,
}

/// The Agent a job names.
pub(crate) enum AgentReference {
    /// It is there.
    Found(Arc<Agent>),
    /// It is there, but holds a field this operator does not know.
    Unreadable(String),
    /// It is not there.
    Missing,
}

impl AgentReference {
    /// The Agent, if it can be used.
    pub(crate) fn found(&self) -> Option<&Agent> {
        match self {
            Self::Found(agent) => Some(agent),
            Self::Unreadable(_) | Self::Missing => None,
        }
    }
}

/// The `McpServers` that an agent names, each with whether it may be used.
pub(crate) type Servers = Vec<(String, ServerState)>;

/// Whether an McpServer may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    /// Registered and enabled.
    Enabled,
    /// Registered and switched off.
    Disabled,
    /// Not registered.
    Missing,
}

/// Reads the pod of the current attempt and the agent.
pub(crate) async fn references(ctx: &Context, job: &Job, namespace: &str) -> Result<References, Error> {
    // What the agent says does not matter for which pod is the current one.
    let facts = Facts::of(job, None);
    let name = names::pod(&job.name_any(), facts.current_attempt());
    let ended = facts.finished.is_some();
    let mut pod = ctx.stores.pod(namespace, &name).filter(|pod| owns(job, pod.as_ref()));
    if pod.is_none() && !ended && facts.history.open.is_some() {
        // The watch may not have seen it yet; only the API server knows that it is gone.
        let api: Api<Pod> = Api::namespaced(ctx.client.clone(), namespace);
        let found =
            api.get_opt(&name).await.map_err(|error| Error::api("get", "Pod", format!("{namespace}/{name}"), error))?;
        pod = found.filter(|pod| owns(job, pod) && pod.labels().contains_key(names::JOB_LABEL)).map(Arc::new);
    }
    let mut agent = ctx.stores.agent(namespace, &job.spec.agent_ref.name);
    if agent.is_none() && !ended && facts.history.open.is_none() {
        // Applied together, a job is often seen before its agent.
        let name = &job.spec.agent_ref.name;
        let api: Api<Guarded<Agent>> = Api::namespaced(ctx.client.clone(), namespace);
        agent = api
            .get_opt(name)
            .await
            .map_err(|error| Error::api("get", "Agent", format!("{namespace}/{name}"), error))?;
    }
    let agent = match agent {
        Some(Guarded::Readable(agent)) => AgentReference::Found(agent),
        Some(Guarded::Unreadable(unreadable)) => AgentReference::Unreadable(unreadable.problem.clone()),
        None => AgentReference::Missing,
    };
    Ok(References { pod, agent })
}

/// Looks up every server that the agent's tools and entries name.
pub(crate) fn servers(ctx: &Context, agent: &Agent, namespace: &str) -> Servers {
    let mut names: Vec<&str> = servers_named(&agent.spec).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (name.to_owned(), server(ctx.stores.mcp_server(namespace, name)))).collect()
}

fn server(found: Option<Guarded<McpServer>>) -> ServerState {
    match found {
        Some(Guarded::Readable(server)) if server.spec.enabled => ServerState::Enabled,
        // One that cannot be read in full is not used in part.
        Some(Guarded::Readable(_) | Guarded::Unreadable(_)) => ServerState::Disabled,
        None => ServerState::Missing,
    }
}

/// Whether the job, and not another one of its name, is the controller of the object.
pub(crate) fn owns<K: ResourceExt>(job: &Job, object: &K) -> bool {
    let controller = object.owner_references().iter().find(|owner| owner.controller == Some(true));
    controller.is_some_and(|owner| Some(&owner.uid) == job.metadata.uid.as_ref())
}
