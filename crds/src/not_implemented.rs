//! What a spec may say and this version does not do. The kinds are complete from the start, so that a manifest written
//! for a later version is understood; until then it is refused by name, by the operator and by `anchorhold validate` with
//! the same words.

use crate::agent::AgentSpec;
use crate::job::JobSpec;
use crate::mcp_server::McpServerSpec;

/// A field that is valid and asks for something this version does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotImplemented {
    /// The field's path, such as `spec.sources[0].repository`.
    pub field: String,
    /// What is missing, and what to do: the rest of a sentence that begins with the field.
    pub message: &'static str,
}

/// Kernel tools that a manifest may name and the runner of this version does not have.
pub const TOOLS_TO_COME: [&str; 7] = ["write", "edit", "shell", "git_log", "git_show", "git_blame", "tool_search"];

impl JobSpec {
    /// The first field of the job that this version does not act on.
    #[must_use]
    pub fn not_implemented(&self) -> Option<NotImplemented> {
        const PROMPT: &str = "is not implemented in this version: agents come with a later release; use spec.script";
        const REPOSITORY: &str = "is not implemented in this version: code servers come with a later release; use persistentVolumeClaim, configMap or image";
        if self.prompt.is_some() {
            return Some(found("spec.prompt", PROMPT));
        }
        if self.prompt_from.is_some() {
            return Some(found("spec.promptFrom", PROMPT));
        }
        let index = self.sources.iter().position(|source| source.repository.is_some())?;
        Some(found(format!("spec.sources[{index}].repository"), REPOSITORY))
    }
}

impl AgentSpec {
    /// The first field of the agent that this version does not act on.
    #[must_use]
    pub fn not_implemented(&self) -> Option<NotImplemented> {
        const MODEL: &str = "is not implemented in this version: models are called by a later release; take it out, jobs bring spec.script";
        const SERVERS: &str =
            "is not implemented in this version: MCP servers are called by a later release; take it out";
        for (index, tool) in self.tools.iter().flatten().enumerate() {
            let message = if tool.starts_with("mcp__") {
                "grants MCP tools, which is not implemented in this version: they come with a later release; take the mcp__ entries out"
            } else if TOOLS_TO_COME.contains(&tool.as_str()) {
                "grants a tool that is not implemented in this version: it comes with a later release; take it out"
            } else {
                continue;
            };
            return Some(found(format!("spec.tools[{index}]"), message));
        }
        let limits = &self.limits;
        let field = |given: bool, field, message| given.then(|| found(field, message));
        field(!self.mcp.is_empty(), "spec.mcp", SERVERS)
            .or_else(|| field(self.model.is_some(), "spec.model", MODEL))
            .or_else(|| field(self.instructions.is_some(), "spec.instructions", MODEL))
            .or_else(|| field(self.instructions_from.is_some(), "spec.instructionsFrom", MODEL))
            .or_else(|| field(limits.input_tokens.is_some(), "spec.limits.inputTokens", MODEL))
            .or_else(|| field(limits.output_tokens.is_some(), "spec.limits.outputTokens", MODEL))
    }
}

impl McpServerSpec {
    /// The first field of the server that this version does not act on.
    #[must_use]
    pub fn not_implemented(&self) -> Option<NotImplemented> {
        self.code.as_ref()?;
        Some(found(
            "spec.code",
            "is not implemented in this version: code servers come with a later release; use spec.url",
        ))
    }
}

fn found(field: impl Into<String>, message: &'static str) -> NotImplemented {
    NotImplemented { field: field.into(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(spec: serde_json::Value) -> Option<String> {
        let spec: JobSpec = serde_json::from_value(spec).unwrap();
        spec.not_implemented().map(|found| found.field)
    }

    #[test]
    fn a_script_over_files_is_done_and_the_rest_is_named_by_its_field() {
        let agent = json!({ "name": "reader" });
        let claim = json!({ "name": "app", "persistentVolumeClaim": { "claimName": "app" } });
        let repository = json!({ "name": "lib", "repository": { "mcpServerRef": { "name": "code" }, "name": "lib" } });
        assert_eq!(job(json!({ "agentRef": agent, "script": "1", "sources": [claim] })), None);
        assert_eq!(job(json!({ "agentRef": agent, "prompt": "x" })), Some("spec.prompt".into()));
        assert_eq!(
            job(json!({ "agentRef": agent, "script": "1", "sources": [claim, repository] })),
            Some("spec.sources[1].repository".into())
        );
        let from = json!({ "configMapKeyRef": { "name": "a", "key": "b" } });
        assert_eq!(job(json!({ "agentRef": agent, "promptFrom": from })), Some("spec.promptFrom".into()));

        let agent = |tools: &[&str]| AgentSpec {
            tools: Some(tools.iter().map(ToString::to_string).collect()),
            ..AgentSpec::default()
        };
        assert_eq!(agent(&["read"]).not_implemented(), None);
        assert_eq!(
            agent(&["read", "mcp__tracker__*"]).not_implemented().map(|found| found.field),
            Some("spec.tools[1]".into())
        );
        assert_eq!(agent(&["shell"]).not_implemented().map(|found| found.field), Some("spec.tools[0]".into()));
        let inert = |spec| {
            let spec: AgentSpec = serde_json::from_value(spec).unwrap();
            spec.not_implemented().map(|found| found.field)
        };
        assert_eq!(inert(json!({"model": {"provider": "OpenAI", "name": "m"}})), Some("spec.model".into()));
        assert_eq!(inert(json!({"mcp": [{"server": "tracker"}]})), Some("spec.mcp".into()));
        assert_eq!(inert(json!({"instructions": "Be brief."})), Some("spec.instructions".into()));
        assert_eq!(inert(json!({"limits": {"outputTokens": 9}})), Some("spec.limits.outputTokens".into()));
        assert_eq!(inert(json!({"limits": {"toolCalls": 9, "timeoutSeconds": 5}})), None);
        assert_eq!(McpServerSpec::default().not_implemented(), None);
    }
}
