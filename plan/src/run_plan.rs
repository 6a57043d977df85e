//! What to run: written by the operator into a ConfigMap, read by the runner from a file. It holds no secret.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{KernelTool, Limits, PLAN_MAX_BYTES, SCRIPT_MAX_BYTES, ToolCaller, ToolPolicy, WORKSPACE};

/// The version this crate writes, and the only one it reads. It rises with every change a runner could misread.
pub const PLAN_VERSION: u32 = 1;

/// One attempt of one job, complete: the runner needs nothing else to know what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunPlan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// Whose plan it is; appears in the record.
    pub job: JobIdentity,
    /// What to run.
    pub program: Program,
    /// The code to look at; each appears to tools and scripts as `/workspace/<name>`.
    pub sources: Vec<Source>,
    /// The folder results may be written to.
    pub output: OutputVolume,
    /// The kernel tools the agent grants.
    pub tools: Vec<KernelTool>,
    /// How much the job may use.
    pub limits: Limits,
    /// How the network's closure is proved before anything starts.
    pub gate: Gate,
    /// What the record carries.
    pub record: RecordOptions,
}

/// The Job object a plan was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JobIdentity {
    /// The Job's namespace; `local` without a cluster.
    pub namespace: String,
    /// The Job's name.
    pub name: String,
    /// The Job's uid; empty without a cluster.
    pub uid: String,
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Program {
    /// One codemode script, no model.
    Script {
        /// The script's text. At most [`SCRIPT_MAX_BYTES`] bytes, not blank.
        source: String,
    },
}

impl Program {
    /// Who makes the calls of this program.
    #[must_use]
    pub const fn caller(&self) -> ToolCaller {
        match self {
            Self::Script { .. } => ToolCaller::Script,
        }
    }
}

/// One folder of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    /// A DNS label, unique in the plan.
    pub name: String,
    /// The folder as this process sees it: `/workspace/<name>` in a pod, any folder without a cluster.
    pub path: String,
}

impl Source {
    /// The path under which tools and scripts know this source.
    #[must_use]
    pub fn shown_path(&self) -> String {
        format!("{WORKSPACE}/{}", self.name)
    }
}

/// The writable folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputVolume {
    /// The folder as this process sees it; tools and scripts know it as `/out`.
    pub path: String,
    /// Bytes it may hold. The volume behind it has the same limit where Kubernetes can enforce one.
    pub size_limit_bytes: u64,
}

/// How the runner makes sure that the network is closed before it starts anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Gate {
    /// New connections to every canary must fail this many times in a row, within the time-out.
    Probe {
        /// Addresses that any unrestricted pod reaches. Not empty.
        canaries: Vec<SocketAddr>,
        /// Rounds in a row in which no canary may answer. 1 to 20.
        rounds: u32,
        /// Milliseconds until the runner gives up. 1 to 300,000.
        timeout_ms: u64,
    },
    /// The administrator vouches for the cluster: nothing is probed, and the job's condition says so.
    Assume,
    /// There is no cluster network: the runner is a process of the user's machine, and the programs it starts have no
    /// socket of any kind.
    NoCluster,
}

/// What the record carries beyond names, sizes and hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordOptions {
    /// Whether arguments and results are recorded in full (up to the size of a record line).
    pub content: bool,
}

/// Why a plan was refused. Every message names the field and what to do.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The plan is larger than a ConfigMap could hold.
    #[error("the plan has {0} bytes; at most {PLAN_MAX_BYTES} are read")]
    TooLarge(usize),
    /// Not JSON, a missing field, a field of the wrong type, or one this runner does not know.
    #[error("failed to read the plan: {0}; operator and runner image must be of one release")]
    Malformed(serde_json::Error),
    /// A version this runner does not know.
    #[error(
        "the plan has version {found}, this runner reads version {PLAN_VERSION}; use the runner image of the operator's release"
    )]
    Version {
        /// What the plan says.
        found: u64,
    },
    /// A field has a value that cannot be honoured.
    #[error("the plan's {field} {problem}")]
    Field {
        /// The field's path.
        field: String,
        /// What is wrong with it, and what is wanted.
        problem: String,
    },
}

impl RunPlan {
    /// Reads a plan. Refuses an unknown version, an unknown field, and every value out of its documented bounds.
    pub fn parse(bytes: &[u8]) -> Result<Self, PlanError> {
        /// Just the version, so that a plan of another version is named as such and not by the first field that differs.
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }

        if bytes.len() > PLAN_MAX_BYTES {
            return Err(PlanError::TooLarge(bytes.len()));
        }
        let Versioned { version } = serde_json::from_slice(bytes).map_err(PlanError::Malformed)?;
        if version != u64::from(PLAN_VERSION) {
            return Err(PlanError::Version { found: version });
        }
        let plan: Self = serde_json::from_slice(bytes).map_err(PlanError::Malformed)?;
        plan.check()?;
        Ok(plan)
    }

    /// Writes the plan as [`RunPlan::parse`] reads it; the same plan gives the same bytes.
    pub fn to_json(&self) -> Result<String, PlanError> {
        let text = serde_json::to_string(self).map_err(PlanError::Malformed)?;
        if text.len() > PLAN_MAX_BYTES {
            return Err(PlanError::TooLarge(text.len()));
        }
        Ok(text)
    }

    /// The policy that decides on every call of this job.
    #[must_use]
    pub fn tool_policy(&self) -> ToolPolicy {
        ToolPolicy::new(self.tools.iter().copied())
    }

    fn check(&self) -> Result<(), PlanError> {
        let Program::Script { source } = &self.program;
        if source.trim().is_empty() {
            return Err(field("program.script.source", "is empty; give the script at least one statement"));
        }
        if source.len() > SCRIPT_MAX_BYTES {
            return Err(field(
                "program.script.source",
                format!("has {} bytes; at most {SCRIPT_MAX_BYTES} are allowed", source.len()),
            ));
        }
        for (index, source) in self.sources.iter().enumerate() {
            if !is_dns_label(&source.name) {
                return Err(field(
                    format!("sources[{index}].name"),
                    format!(
                        "is \"{}\"; it must be a DNS label: a-z, 0-9 and -, at most 63 characters",
                        source.name.escape_debug()
                    ),
                ));
            }
            if self.sources.iter().take(index).any(|other| other.name == source.name) {
                return Err(field(format!("sources[{index}].name"), format!("\"{}\" occurs twice", source.name)));
            }
            if !source.path.starts_with('/') {
                return Err(field(format!("sources[{index}].path"), "is not absolute"));
            }
        }
        if !self.output.path.starts_with('/') {
            return Err(field("output.path", "is not absolute"));
        }
        if let Some((name, value, lowest, highest)) = self.limits.out_of_bounds() {
            return Err(field(name, format!("is {value}; it must be between {lowest} and {highest}")));
        }
        match &self.gate {
            Gate::Probe { canaries, .. } if canaries.is_empty() => {
                Err(field("gate.probe.canaries", "is empty; without a canary nothing is proved"))
            }
            Gate::Probe { rounds, .. } if !(1..=20).contains(rounds) => {
                Err(field("gate.probe.rounds", format!("is {rounds}; it must be between 1 and 20")))
            }
            Gate::Probe { timeout_ms, .. } if !(1..=300_000).contains(timeout_ms) => {
                Err(field("gate.probe.timeoutMs", format!("is {timeout_ms}; it must be between 1 and 300000")))
            }
            Gate::Probe { .. } | Gate::Assume | Gate::NoCluster => Ok(()),
        }
    }
}

fn field(field: impl Into<String>, problem: impl Into<String>) -> PlanError {
    PlanError::Field { field: field.into(), problem: problem.into() }
}

/// RFC 1123, as Kubernetes uses it for names: 1 to 63 of a-z, 0-9 and `-`, no `-` at either end.
fn is_dns_label(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

#[cfg(test)]
mod tests;
