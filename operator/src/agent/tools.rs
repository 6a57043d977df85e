//! The effective tool list: each tool that an Agent grants, where it appears and why.

use anchorhold_crds::{AgentSpec, EffectiveTool, ToolOrigin, ToolPlace};
use anchorhold_plan::KernelTool;

use super::dereference::{References, ServerState};
use super::server_of;

/// The kernel tools in their order of display, then MCP tools as the spec lists them. An MCP tool stands there as its
/// entry in the spec, because which tools a server has is not known before it was probed.
pub(crate) fn effective_tools(spec: &AgentSpec, references: &References) -> Vec<EffectiveTool> {
    let kernel = KernelTool::granted(spec.tools.as_deref()).into_iter().map(|tool| kernel_tool(tool, spec));
    let mcp = spec.tools.iter().flatten().enumerate().filter_map(|(index, entry)| {
        let state = references.servers.get(server_of(entry)?).copied().unwrap_or(ServerState::Missing);
        Some(mcp_tool(index, entry, state))
    });
    kernel.chain(mcp).collect()
}

fn kernel_tool(tool: KernelTool, spec: &AgentSpec) -> EffectiveTool {
    let granted = match spec.tools.iter().flatten().position(|entry| entry == tool.name()) {
        Some(index) => format!("granted by spec.tools[{index}]"),
        None => "granted because spec.tools is left out".to_owned(),
    };
    let (place, rule) = match (tool.callable_from_script(), spec.model.is_some()) {
        _ if !tool.is_implemented() => (ToolPlace::Nowhere, "; this version does not have it"),
        (true, true) => (ToolPlace::ModelAndScripts, ""),
        (true, false) => (ToolPlace::Scripts, "; there is no model, as spec.model is not set"),
        (false, true) => (ToolPlace::Model, "; not callable from scripts, as it does more than look"),
        (false, false) if tool == KernelTool::Codemode => {
            (ToolPlace::Nowhere, "; it runs the spec.script of jobs; only a model calls it, and spec.model is not set")
        }
        (false, false) => (ToolPlace::Nowhere, "; only a model calls it, and spec.model is not set"),
    };
    EffectiveTool { name: tool.name().into(), origin: ToolOrigin::Kernel, place, why: format!("{granted}{rule}") }
}

fn mcp_tool(index: usize, entry: &str, state: ServerState) -> EffectiveTool {
    let why = match state {
        ServerState::Missing => "its McpServer does not exist in this namespace",
        ServerState::Disabled => "its McpServer is disabled",
        ServerState::Enabled => "this version does not call MCP tools",
    };
    EffectiveTool {
        name: entry.into(),
        origin: ToolOrigin::Mcp,
        place: ToolPlace::Nowhere,
        why: format!("granted by spec.tools[{index}]; {why}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools(spec: serde_json::Value, references: &References) -> Vec<(String, ToolPlace, String)> {
        effective_tools(&serde_json::from_value(spec).unwrap(), references)
            .into_iter()
            .map(|tool| (tool.name, tool.place, tool.why))
            .collect()
    }

    fn names(tools: &[(String, ToolPlace, String)], place: ToolPlace) -> Vec<&str> {
        tools.iter().filter(|(_, at, _)| *at == place).map(|(name, _, _)| name.as_str()).collect()
    }

    #[test]
    fn what_is_to_come_is_named_the_same_by_the_kinds_and_by_the_runner() {
        let to_come = KernelTool::ALL.into_iter().filter(|tool| !tool.is_implemented()).map(KernelTool::name);
        assert_eq!(to_come.collect::<Vec<_>>(), anchorhold_crds::TOOLS_TO_COME);
    }

    #[test]
    fn without_a_list_and_a_model_scripts_get_the_read_tools() {
        let tools = tools(json!({}), &References::default());
        assert_eq!(names(&tools, ToolPlace::Scripts), ["read", "ls", "grep", "find"]);
        assert_eq!(names(&tools, ToolPlace::Nowhere), ["codemode"]);
        assert_eq!(tools[0].2, "granted because spec.tools is left out; there is no model, as spec.model is not set");
    }

    #[test]
    fn with_a_list_it_is_exactly_that() {
        let spec =
            json!({"model": {"provider": "Anthropic", "name": "m"}, "tools": ["codemode", "grep", "tool_search"]});
        let tools = tools(spec, &References::default());
        assert_eq!(
            tools,
            [
                ("grep".into(), ToolPlace::ModelAndScripts, "granted by spec.tools[1]".into()),
                (
                    "codemode".into(),
                    ToolPlace::Model,
                    "granted by spec.tools[0]; not callable from scripts, as it does more than look".into()
                ),
                (
                    "tool_search".into(),
                    ToolPlace::Nowhere,
                    "granted by spec.tools[2]; this version does not have it".into()
                ),
            ]
        );
        assert_eq!(self::tools(json!({"tools": []}), &References::default()), []);
    }

    #[test]
    fn mcp_tools_are_listed_with_why_they_are_not_usable() {
        let references = References {
            servers: [("tracker".to_owned(), ServerState::Enabled), ("wiki".to_owned(), ServerState::Disabled)].into(),
            instructions_missing: None,
        };
        let tools = tools(json!({"tools": ["mcp__tracker__*", "mcp__wiki__search", "mcp__gone__x"]}), &references);
        let whys: Vec<_> = tools.iter().map(|(_, _, why)| why.as_str()).collect();
        assert_eq!(
            whys,
            [
                "granted by spec.tools[0]; this version does not call MCP tools",
                "granted by spec.tools[1]; its McpServer is disabled",
                "granted by spec.tools[2]; its McpServer does not exist in this namespace",
            ]
        );
        assert_eq!(names(&tools, ToolPlace::Nowhere).len(), 3);
    }
}
