//! The contract between the operator, which writes a plan, and the runner, which executes it.
//!
//! Three things cross between them, and all three are here: the [`RunPlan`] (a file the runner reads), the
//! [`RunResult`] (the termination message the operator reads) and the [`ExitCode`] of the runner's process. A runner
//! refuses a plan of a version it does not know and a field it does not know: a limit that would not be honoured must
//! not be accepted. Nothing in this crate reads a file, a clock or the environment.

#![forbid(unsafe_code)]

mod exit_code;
mod limits;
mod path;
mod run_plan;
mod run_result;
mod tool;

pub use exit_code::ExitCode;
pub use limits::{Limits, ScriptLimits};
pub use path::{
    BROKER_SOCKET, OUT, OUT_VOLUME, PLAN_DIRECTORY, PLAN_FILE, PLAN_KEY, PLAN_MAX_BYTES, RUNNER_CONTAINER,
    RUNNER_PROGRAM, RUNNER_UID, SCRIPT_MAX_BYTES, TERMINATION_MESSAGE_MAX_BYTES, TERMINATION_MESSAGE_PATH, TMP,
    WORKSPACE,
};
pub use run_plan::{Gate, JobIdentity, OutputVolume, PLAN_VERSION, PlanError, Program, RecordOptions, RunPlan, Source};
pub use run_result::{Enforcement, Outcome, OutputFile, RunResult, Stage, Usage};
pub use tool::{Decision, KernelTool, ToolCaller, ToolPolicy};
