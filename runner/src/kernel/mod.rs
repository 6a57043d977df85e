//! The tools that look, `read`, `ls`, `grep`, `find`, `git_log`, `git_show` and `git_blame`, those that write, `write` and
//! `edit`, and the one that runs commands, [`shell`].
//!
//! They run on a blocking thread, look at a flag between files so that a call nobody waits for ends soon, and keep
//! their answers within what the caller may be given. A file of the job is opened in [`roots`] and nowhere else.

mod arguments;
mod binary;
mod display;
mod edit;
mod find;
mod glob;
mod grep;
mod history;
mod ignored;
mod ls;
mod output;
mod read;
pub mod roots;
pub mod shell;
mod walk;
mod write;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anchorhold_plan::{KernelTool, ToolCaller};
use serde_json::Value;

use crate::tool::{ToolDescription, ToolError, ToolOutput};
use output::Output;
use roots::{PathError, Root, Roots};
use shell::Shell;

/// The kernel tools over one job's folders.
#[derive(Debug)]
pub struct Kernel {
    roots: Arc<Roots>,
    output: Output,
    shell: Option<Shell>,
}

/// Tells a tool that nobody waits for its answer any more.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Within what one call has to stay.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// Who calls: a model is given less than a script may ask for.
    pub caller: ToolCaller,
    /// Bytes the answer may have.
    pub result_bytes: usize,
    /// Set when the call is to end.
    pub cancel: Cancel,
}

impl Kernel {
    /// The tools over these roots.
    #[must_use]
    pub fn new(roots: Arc<Roots>) -> Self {
        Self { roots, output: Output::default(), shell: None }
    }

    /// The same, with a shell.
    #[must_use]
    pub fn with_shell(mut self, shell: Shell) -> Self {
        self.shell = Some(shell);
        self
    }

    /// How a tool is described to whoever calls it. `None` for a tool that is not one of these.
    #[must_use]
    pub fn describe(tool: KernelTool) -> Option<ToolDescription> {
        definition(tool).map(|(description, input_schema)| ToolDescription {
            name: tool.name().to_owned(),
            description: description.to_owned(),
            input_schema: input_schema.clone(),
        })
    }

    /// How long a call of a tool that sees to its own time may take at most; `None` for the others.
    #[must_use]
    pub fn deadline(tool: KernelTool) -> Option<Duration> {
        (tool == KernelTool::Shell).then_some(shell::DEADLINE)
    }

    /// Runs a tool. Blocks; to be called on a thread that may.
    pub fn call(&self, tool: KernelTool, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
        let taken_as = match (allowance.caller, definition(tool)) {
            // A model cannot see how its arguments arrived. A script can, and gets what a file holds and nothing else.
            (ToolCaller::Model, Some((_, schema))) => arguments::taken_as(schema, &arguments),
            (ToolCaller::Model, None) | (ToolCaller::Script, _) => Vec::new(),
        };
        let output = self.run(tool, arguments, allowance)?;
        Ok(with_notices(output, &taken_as))
    }

    fn run(&self, tool: KernelTool, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
        match tool {
            KernelTool::Read => read::call(&self.roots, arguments, allowance),
            KernelTool::Ls => ls::call(&self.roots, arguments, allowance),
            KernelTool::Grep => grep::call(&self.roots, arguments, allowance),
            KernelTool::Find => find::call(&self.roots, arguments, allowance),
            KernelTool::Write => write::call(&self.roots, &self.output, arguments, allowance),
            KernelTool::Edit => edit::call(&self.roots, &self.output, arguments, allowance),
            KernelTool::GitLog => history::log(&self.roots, arguments, allowance),
            KernelTool::GitShow => history::show(&self.roots, arguments, allowance),
            KernelTool::GitBlame => history::blame(&self.roots, arguments, allowance),
            KernelTool::Shell => match &self.shell {
                Some(shell) => shell::call(shell, arguments, allowance),
                None => Err(ToolError::Failed("shell: this job was started without a shell".to_owned())),
            },
            KernelTool::Codemode | KernelTool::ToolSearch => {
                Err(ToolError::Failed(format!("tool \"{tool}\" is not part of this release of the runner")))
            }
        }
    }
}

/// The description of a tool, and the schema of its arguments. `None` for a tool that is not one of these.
fn definition(tool: KernelTool) -> Option<(&'static str, &'static Value)> {
    Some(match tool {
        KernelTool::Read => (read::DESCRIPTION, &read::SCHEMA),
        KernelTool::Ls => (ls::DESCRIPTION, &ls::SCHEMA),
        KernelTool::Grep => (grep::DESCRIPTION, &grep::SCHEMA),
        KernelTool::Find => (find::DESCRIPTION, &find::SCHEMA),
        KernelTool::Write => (write::DESCRIPTION, &write::SCHEMA),
        KernelTool::Edit => (edit::DESCRIPTION, &edit::SCHEMA),
        KernelTool::GitLog => (history::LOG_DESCRIPTION, &history::LOG_SCHEMA),
        KernelTool::GitShow => (history::SHOW_DESCRIPTION, &history::SHOW_SCHEMA),
        KernelTool::GitBlame => (history::BLAME_DESCRIPTION, &history::BLAME_SCHEMA),
        KernelTool::Shell => (shell::DESCRIPTION, &shell::SCHEMA),
        KernelTool::Codemode | KernelTool::ToolSearch => return None,
    })
}

/// Adds lines in brackets to a text; a value says nothing but itself.
fn with_notices(output: ToolOutput, notices: &[String]) -> ToolOutput {
    let ToolOutput::Text(mut text) = output else { return output };
    for notice in notices {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push('[');
        text.push_str(notice);
        text.push(']');
    }
    ToolOutput::Text(text)
}

/// Calls `meet` with the path and the shown name of every regular file of a root, in order, until it returns false.
pub(crate) fn each_file(root: &Root, meet: &mut dyn FnMut(&Path, String) -> bool) {
    let walk = walk::Walk::whole(root, String::new(), true);
    // Never cancelled, so it never fails; a folder that cannot be read is passed over.
    let _ = walk.run(&Cancel::default(), &mut walk::Skipped::default(), &mut |met| match met {
        walk::Met::File(item) if !meet(&item.below, walk.shown(item)) => walk::Step::End,
        walk::Met::File(_) | walk::Met::Folder(_) | walk::Met::Link(_) => walk::Step::On,
    });
}

impl Cancel {
    /// Asks the tool to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the tool was asked to end.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn check(&self) -> Result<(), ToolError> {
        if self.is_set() {
            Err(ToolError::TimedOut("the call was ended before it had an answer".to_owned()))
        } else {
            Ok(())
        }
    }
}

impl Allowance {
    /// The smaller of two caps by who calls.
    const fn cap(&self, model: usize, script: usize) -> usize {
        match self.caller {
            ToolCaller::Model => model,
            ToolCaller::Script => script,
        }
    }
}

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::Malformed { .. } | PathError::NoDestination { .. } => Self::InvalidArguments(error.to_string()),
            PathError::Outside { .. }
            | PathError::LeadsOut { .. }
            | PathError::Missing { .. }
            | PathError::NotAFolder { .. }
            | PathError::Special { .. }
            | PathError::Loop { .. }
            | PathError::Changed { .. }
            | PathError::ReadOnly { .. }
            | PathError::NotReplaceable { .. }
            | PathError::Write { .. }
            | PathError::Io { .. } => Self::Failed(error.to_string()),
        }
    }
}

/// How an answer is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Form {
    #[default]
    Text,
    Json,
}

/// Which part of a list of results is wanted: `limit` of them from the `offset`-th on, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    offset: usize,
    limit: usize,
}

impl Window {
    /// Reads `offset` and `limit` of a tool that lists results.
    fn parse(
        tool: &str,
        offset: Option<i64>,
        limit: Option<i64>,
        default: usize,
        most: usize,
    ) -> Result<Self, ToolError> {
        let count = |name: &str, value: i64, most: usize| match usize::try_from(value) {
            Ok(value) if (1..=most).contains(&value) => Ok(value),
            _ => Err(ToolError::InvalidArguments(format!(
                "{tool}: {name} must be between 1 and {most}; got the number {value}"
            ))),
        };
        Ok(Self {
            offset: offset.map_or(Ok(1), |value| count("offset", value, MOST_RESULTS))?,
            limit: limit.map_or(Ok(default), |value| count("limit", value, most))?,
        })
    }

    /// Results to collect before the window is complete.
    const fn end(self) -> usize {
        self.offset - 1 + self.limit
    }
}

/// The furthest result a caller may ask for: what is collected on the way is held in memory.
const MOST_RESULTS: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_a_plan_may_grant_is_described() {
        // `codemode` is the runner's own and no tool of the kernel. What only a model could call is here before it can be granted.
        for tool in KernelTool::ALL.into_iter().filter(|tool| *tool != KernelTool::Codemode && tool.is_implemented()) {
            assert!(Kernel::describe(tool).is_some(), "{tool}");
        }
    }
}
