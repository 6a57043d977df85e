//! An Agent's reconcile: is it valid, does what it names exist, and which tools do its jobs get.

mod dereference;
mod status;
mod tools;
mod validate;

pub(crate) use self::validate::validate;

use std::sync::Arc;

use anchorhold_crds::{Agent, AgentSpec};
use jiff::Timestamp;
use kube::runtime::controller::Action;

use crate::context::Context;
use crate::error::Error;
use crate::reference::LOOK_AGAIN;
use crate::status::{apply, tell_refusal};

/// Looks at an Agent once. It writes its status, and only when that changed.
pub async fn reconcile(agent: Arc<Agent>, ctx: Arc<Context>) -> Result<Action, Error> {
    let now = Timestamp::now();
    let old = agent.status.clone().unwrap_or_default();
    // dereference (client required)
    let references = dereference::references(&ctx, &agent).await?;
    // everything else is pure
    let verdict = validate(&agent.spec);
    let new = status::new_status(&agent, &references, verdict, now);
    if new != old {
        apply(&ctx, &*agent, &new).await?;
        tell_refusal(&ctx, &*agent, &old.conditions, &new.conditions).await;
    }
    // ConfigMaps are not watched, McpServers are.
    Ok(if references.instructions_missing.is_some() { Action::requeue(LOOK_AGAIN) } else { Action::await_change() })
}

/// The servers that an agent's tools and entries name, in that order; one may occur more than once.
pub fn servers_named(spec: &AgentSpec) -> impl Iterator<Item = &str> {
    let of_tools = spec.tools.iter().flatten().filter_map(|tool| server_of(tool));
    of_tools.chain(spec.mcp.iter().map(|entry| entry.server.as_str()))
}

/// The server of `mcp__<server>__<tool>`. A server's name holds no `_`, so the second `__` is its end.
fn server_of(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.split_once("__").map(|(server, _)| server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_of_tools_and_of_entries_are_named() {
        let spec: AgentSpec = serde_json::from_value(serde_json::json!({
            "tools": ["read", "mcp__tracker__*", "mcp__wiki__get__page"], "mcp": [{"server": "code"}],
        }))
        .unwrap();
        assert_eq!(servers_named(&spec).collect::<Vec<_>>(), ["tracker", "wiki", "code"]);
    }
}
