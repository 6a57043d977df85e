//! Executes one plan.
//!
//! The order is that of safety, and each step needs the one before: read the plan, open its folders, pass the network gate,
//! confine this process, and only then start threads and the program. Until the process has confined itself there is one
//! thread, because confinement binds a thread and those it starts.

mod options;
mod output_files;
mod program;
mod report;
mod signals;

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anchorhold_plan::{Enforcement, ExitCode, Gate, KernelTool, Outcome, PLAN_MAX_BYTES, RunPlan, Stage, TMP};
use tokio::runtime::Runtime;

use crate::codemode;
use crate::error::chain;
use crate::gate::{self, GateOutcome, Pause, Rounds};
use crate::kernel::roots::{RootError, Roots};
use crate::kernel::shell::{self, Shell};
use crate::record::{Event, GatePassed, Record, RunStarted, sha256};
use crate::sandbox::{RunnerAccess, ToolAccess, confine_runner};
use options::Options;
use report::{Ending, Report};
use signals::Signals;

/// Threads for tools that block. Each call in flight may hold one; more calls wait in order.
const TOOL_THREADS: usize = 8;
/// How long a tool that hangs in the file system may hold up the end.
const SHUTDOWN_WAIT: Duration = Duration::from_millis(500);

/// Where commands find our `git` in a pod: container runtimes mount a small tmpfs at /dev/shm, which commands cannot write to.
const POD_PROGRAMS: &str = "/dev/shm/anchorhold";

/// Becomes the part of a run that this process was started as: a script worker, or a part of a command; `None` otherwise.
///
/// Every program that runs plans calls this first of all in `main`: the parts are the same program, started again, and
/// confine themselves before anything else is set up.
#[must_use]
pub fn part_if_asked() -> Option<std::process::ExitCode> {
    codemode::run_worker_if_asked().or_else(shell::run_if_asked)
}

/// The whole program: does what the command line says, and returns how it ended.
///
/// The result is in the termination message and in the last line of the record as well.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> std::process::ExitCode {
    let started = Instant::now();
    if let Some(ended) = part_if_asked() {
        return ended;
    }
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("anchorhold-runner: {error}");
            return ExitCode::Plan.into();
        }
    };
    let mut report = Report::open(started, options.termination_log.as_deref());
    let ending = catch_unwind(AssertUnwindSafe(|| execute(&options, started, &mut report)));
    let ending = match ending {
        Ok(Ok(ending) | Err(ending)) => ending,
        Err(_) => Ending::new(Outcome::Internal, "the runner failed inside; this is a defect of the runner"),
    };
    report.end(ending).exit_code().into()
}

fn execute(options: &Options, started: Instant, report: &mut Report) -> Result<Ending, Ending> {
    let bytes = read_plan(&options.plan)?;
    let plan = RunPlan::parse(&bytes).map_err(|error| Ending::new(Outcome::PlanRejected, error.to_string()))?;
    report.record = Record::new(plan.record.content);
    if options.unconfined && plan.gate != Gate::NoCluster {
        let message = "--unconfined is refused for a plan that was made in a cluster (gate is not noCluster)";
        return Err(Ending::new(Outcome::PlanRejected, message));
    }
    let roots = Arc::new(Roots::open_all(&plan).map_err(|error| refuse_root(&error))?);
    refuse_empty(&roots)?;
    report.record.write(Event::RunStarted(RunStarted {
        runner: env!("CARGO_PKG_VERSION").to_owned(),
        job: plan.job.clone(),
        plan_sha256: sha256(&bytes),
        sources: plan.sources.iter().map(anchorhold_plan::Source::shown_path).collect(),
        tools: plan.tools.clone(),
    }));
    report.stage(Stage::Preparing);
    let shell = shell(&plan, &options.plan)?;

    // A runtime of one thread: it starts no other until a tool is called.
    let runtime = runtime().map_err(|error| internal("start the runtime", &error))?;
    let mut signals = Signals::listen(&runtime).map_err(|error| internal("listen for signals", &error))?;
    pass_gate(&plan.gate, report, |pause| signals.pause(&runtime, pause))?;
    if !options.unconfined {
        confine(&plan, shell.as_ref())?;
    }
    report.start_record();

    report.stage(Stage::Started);
    let deadline = started + Duration::from_secs(plan.limits.timeout_seconds);
    let ran = runtime.block_on(program::run(
        &plan,
        Arc::clone(&roots),
        shell,
        options.unconfined,
        &report.record,
        deadline,
        &mut signals,
    ));
    runtime.shutdown_timeout(SHUTDOWN_WAIT);
    let (files, total) = output_files::list(roots.out());
    report.usage(ran.usage);
    report.files(files, total);
    Ok(ran.ending)
}

fn read_plan(path: &Path) -> Result<Vec<u8>, Ending> {
    let mut bytes = Vec::new();
    File::open(path)
        // One byte more than a plan may have: then parsing says that it is too large.
        .and_then(|file| file.take(PLAN_MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            Ending::new(Outcome::PlanRejected, format!("failed to read the plan {}: {error}", path.display()))
        })?;
    Ok(bytes)
}

fn refuse_root(error: &RootError) -> Ending {
    match error {
        RootError::Open { source, .. } => Ending::new(Outcome::SourceUnreadable, format!("{error}: {source}")),
        RootError::Openat2 { source } => Ending::new(Outcome::SandboxUnavailable, format!("{error}: {source}")),
    }
}

fn refuse_empty(roots: &Roots) -> Result<(), Ending> {
    match roots.empty_source() {
        Ok(None) => Ok(()),
        Ok(Some(source)) => Err(Ending::new(
            Outcome::SourceEmpty,
            format!("the source {} is empty: there is nothing to look at in {}", source.name(), source.shown()),
        )),
        Err(error) => Err(Ending::new(Outcome::PlanRejected, error.to_string())),
    }
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(TOOL_THREADS).build()
}

fn pass_gate(gate: &Gate, report: &mut Report, pause: impl FnMut(Duration) -> Pause) -> Result<(), Ending> {
    let began = Instant::now();
    let (enforcement, rounds) = match gate::pass(gate, pause) {
        GateOutcome::Enforced(rounds) => (Enforcement::Enforced, rounds),
        GateOutcome::Assumed => (Enforcement::Assumed, Rounds::default()),
        GateOutcome::NoCluster => (Enforcement::NoCluster, Rounds::default()),
        GateOutcome::Stopped => return Err(Ending::new(Outcome::Cancelled, "told to stop before the program began")),
        GateOutcome::NotEnforced { open, rounds } => {
            report.enforcement(Enforcement::NotEnforced);
            let why = match open {
                Some(canary) => format!("{canary} still answered"),
                None => format!("only the last {} of {} rounds were closed", rounds.closed, rounds.tried),
            };
            let message = format!(
                "the network is not closed: {why} when the time-out passed; the cluster's network plugin must enforce NetworkPolicy"
            );
            return Err(Ending::new(Outcome::NetworkPolicyNotEnforced, message));
        }
        GateOutcome::Failed(error) => {
            use std::error::Error;
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            return Err(Ending::new(Outcome::NetworkPolicyNotEnforced, format!("{error}: {cause}")));
        }
    };
    report.enforcement(enforcement);
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.record.write(Event::GatePassed(GatePassed { enforcement, rounds: rounds.tried, duration_ms }));
    Ok(())
}

/// The tool `shell`, if the plan's program may call it, with a folder for what commands write and nobody keeps.
///
/// Without it this process confines itself more strictly: it can then start nothing but script workers.
fn shell(plan: &RunPlan, plan_file: &Path) -> Result<Option<Shell>, Ending> {
    if !plan.tool_policy().callable(plan.program.caller()).any(|tool| tool == KernelTool::Shell) {
        return Ok(None);
    }
    let (scratch, programs) = match plan.gate {
        // A person's /tmp is full of other programs' files. Whoever made the plan's folder removes it with what is in it.
        Gate::NoCluster => {
            let folder = plan_file.parent().unwrap_or(Path::new("."));
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder.join("anchorhold-tmp"));
            let folder = made
                .and_then(|()| folder.canonicalize())
                .map_err(|error| internal("make the shell's folder", &error))?;
            (folder.join("anchorhold-tmp"), folder.join("anchorhold-bin"))
        }
        Gate::Probe { .. } | Gate::Assume => (PathBuf::from(TMP), PathBuf::from(POD_PROGRAMS)),
    };
    let shell = Shell::new(plan, program::OWN_PROGRAM, scratch).with_guarded_git(&programs);
    shell.map(Some).map_err(|error| internal("prepare git for the shell", &error))
}

fn confine(plan: &RunPlan, shell: Option<&Shell>) -> Result<(), Ending> {
    let mut access = RunnerAccess {
        read: plan.sources.iter().map(|source| PathBuf::from(&source.path)).collect(),
        write: vec![PathBuf::from(&plan.output.path)],
        execute: Some(PathBuf::from(program::OWN_PROGRAM)),
        ..RunnerAccess::default()
    };
    if let Some(shell) = shell {
        let ToolAccess { programs, read, write } = shell.access();
        access.programs = programs;
        access.read.extend(read);
        access.write.extend(write);
    }
    confine_runner(&access).map_err(|error| Ending::new(Outcome::SandboxUnavailable, chain(&error)))
}

fn internal(step: &str, error: &io::Error) -> Ending {
    Ending::new(Outcome::Internal, format!("failed to {step}: {error}"))
}
