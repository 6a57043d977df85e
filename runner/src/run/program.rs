//! Runs the plan's program: one script.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use anchorhold_plan::{Outcome, Program, RunPlan, Usage};

use super::report::Ending;
use super::signals::Signals;
use crate::codemode::{Codemode, ScriptResult};
use crate::kernel::Kernel;
use crate::kernel::roots::Roots;
use crate::kernel::shell::Shell;
use crate::record::{Cut, Event, Record, ScriptEnded, ScriptStarted};
use crate::router::Router;
use crate::tool::CallTool;

/// What came of the program.
pub(super) struct Ran {
    pub(super) ending: Ending,
    pub(super) usage: Usage,
}

/// The number of the only script of a script job.
const SCRIPT: u64 = 1;

/// This program, also when its file was replaced since it was started.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";

/// Runs the program to its end, to the deadline, or until the run is told to stop.
pub(super) async fn run(
    plan: &RunPlan,
    roots: Arc<Roots>,
    shell: Option<Shell>,
    unconfined: bool,
    record: &Record,
    deadline: Instant,
    signals: &mut Signals,
) -> Ran {
    let Program::Script { source } = &plan.program;
    let mut kernel = Kernel::new(roots);
    if let Some(shell) = shell {
        kernel = kernel.with_shell(shell);
    }
    let router = Arc::new(Router::new(plan, Arc::new(kernel), record.clone()));
    let mut codemode = Codemode::new(OWN_PROGRAM, plan.limits.script.clone(), Arc::clone(&router) as Arc<dyn CallTool>);
    if unconfined {
        codemode = codemode.without_landlock();
    }
    record.write(Event::ScriptStarted(ScriptStarted { script: SCRIPT, source: record.content(source) }));

    let stopped = Cell::new(None);
    let stop = async {
        stopped.set(Some(tokio::select! {
            biased;
            signal = signals.told() => (Outcome::Cancelled, format!("the run was told to stop by {signal}")),
            () = tokio::time::sleep_until(deadline.into()) => {
                (Outcome::TimedOut, format!("the run did not end within its {} s", plan.limits.timeout_seconds))
            }
        }));
    };
    let result = codemode.execute(SCRIPT, source, stop).await;
    let (outcome, message) = match stopped.take() {
        Some((outcome, message)) => (outcome, message),
        None => (result.outcome, result.message.clone()),
    };
    let ending = Ending { outcome, message, text: result.text.clone(), text_bytes: result.text_bytes };
    record_end(record, &result, &ending);
    let (tool_calls, blocked_calls) = router.used();
    let scripts = u64::from(result.has_run());
    Ran { ending, usage: Usage { tool_calls, blocked_calls, scripts, ..Usage::default() } }
}

fn record_end(record: &Record, result: &ScriptResult, ending: &Ending) {
    let kept = result.text.len() as u64;
    if result.text_bytes > kept {
        record.write(Event::Cut(Cut { call: None, script: Some(SCRIPT), bytes: result.text_bytes, kept }));
    }
    record.write(Event::ScriptEnded(ScriptEnded {
        script: SCRIPT,
        outcome: ending.outcome,
        duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
        message: ending.message.clone(),
        output: record.content(&ending.text),
    }));
}
