//! The kernel tools' names, and the one function that says who may call which.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A tool of the runner itself. MCP tools are named `mcp__<server>__<tool>` and are the broker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelTool {
    /// Reads a window of a file.
    Read,
    /// Lists a folder.
    Ls,
    /// Searches file contents.
    Grep,
    /// Searches file names.
    Find,
    /// Writes a file beneath `/out`.
    Write,
    /// Replaces text in a file beneath `/out`.
    Edit,
    /// Runs `sh -c` in a confined process.
    Shell,
    /// Lists commits.
    GitLog,
    /// Shows a commit.
    GitShow,
    /// Says who last changed each line.
    GitBlame,
    /// Runs a script.
    Codemode,
    /// Finds deferred tools.
    ToolSearch,
}

impl KernelTool {
    /// Every kernel tool, in the order they are shown.
    pub const ALL: [Self; 12] = [
        Self::Read,
        Self::Ls,
        Self::Grep,
        Self::Find,
        Self::Write,
        Self::Edit,
        Self::Shell,
        Self::GitLog,
        Self::GitShow,
        Self::GitBlame,
        Self::Codemode,
        Self::ToolSearch,
    ];

    /// The name a model, a script and a manifest use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Ls => "ls",
            Self::Grep => "grep",
            Self::Find => "find",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Shell => "shell",
            Self::GitLog => "git_log",
            Self::GitShow => "git_show",
            Self::GitBlame => "git_blame",
            Self::Codemode => "codemode",
            Self::ToolSearch => "tool_search",
        }
    }

    /// The tool of that exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Whether the runner of this version has it. An agent that asks for another one is refused as not implemented.
    #[must_use]
    pub const fn is_implemented(self) -> bool {
        matches!(self, Self::Read | Self::Ls | Self::Grep | Self::Find | Self::Codemode)
    }

    /// The kernel tools that an agent's tool list grants. Without a list: every one that is implemented but `tool_search`, which
    /// an agent has to ask for. With a list: exactly those it names; what it names beyond (`mcp__…`) is not a kernel tool and left out.
    #[must_use]
    pub fn granted(list: Option<&[String]>) -> Vec<Self> {
        match list {
            None => Self::ALL.into_iter().filter(|tool| tool.is_implemented() && *tool != Self::ToolSearch).collect(),
            Some(names) => Self::ALL.into_iter().filter(|tool| names.iter().any(|name| name == tool.name())).collect(),
        }
    }

    /// Whether a script may call it: only tools that look and change nothing.
    #[must_use]
    pub const fn callable_from_script(self) -> bool {
        matches!(self, Self::Read | Self::Ls | Self::Grep | Self::Find)
    }
}

impl fmt::Display for KernelTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolCaller {
    /// The model, with a tool call of its own.
    Model,
    /// A script, through `tools.<name>()`.
    Script,
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow(KernelTool),
    /// It may not: a blocked call, with the sentence that the caller is told.
    Block(String),
}

/// The tools a job was granted. One function, [`ToolPolicy::decide`], serves both listing and calling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPolicy {
    granted: Vec<KernelTool>,
}

impl ToolPolicy {
    /// A policy that grants these tools and no other.
    #[must_use]
    pub fn new(granted: impl IntoIterator<Item = KernelTool>) -> Self {
        let mut granted: Vec<_> = granted.into_iter().collect();
        granted.sort_unstable();
        granted.dedup();
        Self { granted }
    }

    /// Decides on a call by exact name. Unknown, not granted and not callable from a script each say so.
    #[must_use]
    pub fn decide(&self, name: &str, caller: ToolCaller) -> Decision {
        let Some(tool) = KernelTool::from_name(name) else {
            return Decision::Block(format!("tool \"{}\" does not exist", name.escape_debug()));
        };
        if caller == ToolCaller::Script && !tool.callable_from_script() {
            return Decision::Block(format!("tool \"{tool}\" is not callable from a script"));
        }
        if !self.granted.contains(&tool) {
            return Decision::Block(format!(
                "tool \"{tool}\" is not granted by the agent; add it to the agent's spec.tools"
            ));
        }
        Decision::Allow(tool)
    }

    /// The tools this caller may call, in their order of display.
    pub fn callable(&self, caller: ToolCaller) -> impl Iterator<Item = KernelTool> {
        KernelTool::ALL.into_iter().filter(move |tool| self.decide(tool.name(), caller) == Decision::Allow(*tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_gets_the_read_tools_it_was_granted_and_no_other() {
        let policy = ToolPolicy::new(KernelTool::ALL);
        let callable: Vec<_> = policy.callable(ToolCaller::Script).map(KernelTool::name).collect();
        assert_eq!(callable, ["read", "ls", "grep", "find"]);
    }

    #[test]
    fn what_is_not_granted_unknown_or_not_for_scripts_is_blocked_with_its_reason() {
        let policy = ToolPolicy::new([KernelTool::Read, KernelTool::Shell]);
        assert_eq!(policy.decide("read", ToolCaller::Script), Decision::Allow(KernelTool::Read));
        assert_eq!(policy.decide("shell", ToolCaller::Model), Decision::Allow(KernelTool::Shell));
        assert_eq!(
            policy.decide("shell", ToolCaller::Script),
            Decision::Block("tool \"shell\" is not callable from a script".into())
        );
        assert_eq!(
            policy.decide("grep", ToolCaller::Script),
            Decision::Block("tool \"grep\" is not granted by the agent; add it to the agent's spec.tools".into())
        );
        assert_eq!(policy.decide("Read", ToolCaller::Script), Decision::Block("tool \"Read\" does not exist".into()));
    }

    #[test]
    fn without_a_list_an_agent_has_every_tool_there_is_and_with_one_exactly_what_it_names() {
        let names = |tools: Vec<KernelTool>| tools.into_iter().map(KernelTool::name).collect::<Vec<_>>();
        assert_eq!(names(KernelTool::granted(None)), ["read", "ls", "grep", "find", "codemode"]);
        let names = ["codemode", "mcp__tracker__*", "read", "read"].map(String::from);
        assert_eq!(KernelTool::granted(Some(&names)), [KernelTool::Read, KernelTool::Codemode]);
        assert_eq!(KernelTool::granted(Some(&[])), []);
    }

    #[test]
    fn every_name_leads_back_to_its_tool() {
        for tool in KernelTool::ALL {
            assert_eq!(KernelTool::from_name(tool.name()), Some(tool));
            assert_eq!(serde_json::to_value(tool).unwrap(), tool.name());
        }
    }
}
