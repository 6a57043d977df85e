//! Reads what an Agent names. No judgement here.

use std::collections::BTreeMap;

use anchorhold_crds::Agent;
use kube::ResourceExt as _;

use super::servers_named;
use crate::context::Context;
use crate::error::Error;
use crate::object::Guarded;
use crate::reference;
use crate::stores::full_name;

/// What stands behind an Agent's names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct References {
    /// Each named server.
    pub(crate) servers: BTreeMap<String, ServerState>,
    /// What is missing of `instructionsFrom`, as a sentence.
    pub(crate) instructions_missing: Option<String>,
}

/// How a named server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    /// Registered and enabled.
    Enabled,
    /// Registered and turned off, or not readable, which is used no more than that.
    Disabled,
    /// Not registered in this namespace.
    Missing,
}

pub(crate) async fn references(ctx: &Context, agent: &Agent) -> Result<References, Error> {
    let Some(namespace) = agent.namespace() else {
        return Err(Error::bug("Agent", full_name(agent), "has no namespace"));
    };
    let servers = servers_named(&agent.spec)
        .map(|name| {
            let state = match ctx.stores.mcp_server(&namespace, name) {
                Some(Guarded::Readable(server)) if server.spec.enabled => ServerState::Enabled,
                Some(Guarded::Readable(_) | Guarded::Unreadable(_)) => ServerState::Disabled,
                None => ServerState::Missing,
            };
            (name.to_owned(), state)
        })
        .collect();
    let instructions_missing = match &agent.spec.instructions_from {
        Some(from) => {
            let found = reference::config_map_key(ctx, &namespace, &from.config_map_key_ref).await?;
            reference::missing("spec.instructionsFrom", &from.config_map_key_ref, found)
        }
        None => None,
    };
    Ok(References { servers, instructions_missing })
}
