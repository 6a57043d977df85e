//! What the API server cannot check of an Agent, and what this version does not do.

use anchorhold_crds::{AgentReason, AgentSpec, check_url};
use anchorhold_plan::KernelTool;

use super::server_of;
use crate::error::chain;

/// Why an Agent is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: AgentReason,
    /// Begins with the field and ends with what to do.
    pub(crate) message: String,
}

pub(crate) fn validate(spec: &AgentSpec) -> Result<(), Refusal> {
    for (index, tool) in spec.tools.iter().flatten().enumerate() {
        if KernelTool::from_name(tool).is_none() && server_of(tool).is_none() {
            return Err(invalid(format!(
                "spec.tools[{index}] is \"{}\", which is no tool: write a kernel tool's name, mcp__<server>__* or mcp__<server>__<tool>",
                tool.escape_debug()
            )));
        }
    }
    if let Some(url) = spec.model.as_ref().and_then(|model| model.base_url.as_deref())
        && let Err(refusal) = check_url(url)
    {
        return Err(invalid(format!("spec.model.baseUrl: {}", chain(&refusal))));
    }
    match spec.not_implemented() {
        Some(found) => {
            Err(Refusal { reason: AgentReason::NotImplemented, message: format!("{} {}", found.field, found.message) })
        }
        None => Ok(()),
    }
}

fn invalid(message: String) -> Refusal {
    Refusal { reason: AgentReason::InvalidSpec, message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(spec: serde_json::Value) -> Result<(), Refusal> {
        validate(&serde_json::from_value(spec).unwrap())
    }

    #[test]
    fn an_agent_of_kernel_tools_is_accepted() {
        assert_eq!(verdict(json!({})), Ok(()));
        assert_eq!(verdict(json!({"tools": ["read", "codemode"], "limits": {"toolCalls": 10}})), Ok(()));
    }

    #[test]
    fn granted_mcp_tools_are_valid_and_not_implemented() {
        let refusal = verdict(json!({"tools": ["read", "mcp__tracker__*"]})).unwrap_err();
        assert_eq!(refusal.reason, AgentReason::NotImplemented);
        assert!(refusal.message.starts_with("spec.tools[1] grants MCP tools"), "{}", refusal.message);
    }

    #[test]
    fn an_unknown_tool_and_an_address_of_the_node_are_named() {
        assert_eq!(
            verdict(json!({"tools": ["bash"]})),
            Err(Refusal {
                reason: AgentReason::InvalidSpec,
                message: "spec.tools[0] is \"bash\", which is no tool: write a kernel tool's name, mcp__<server>__* or mcp__<server>__<tool>".into(),
            })
        );
        let metadata = json!({"model": {"provider": "OpenAI", "name": "m", "baseUrl": "http://2852039166/"}});
        let refusal = verdict(metadata).unwrap_err();
        assert!(
            refusal.message.starts_with("spec.model.baseUrl: 169.254.169.254 is a link-local address"),
            "{}",
            refusal.message
        );
    }
}
