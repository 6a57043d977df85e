//! Runs the plan's program: one script.

use std::sync::Arc;
use std::time::Instant;

use anchorhold_plan::{Outcome, Program, RunPlan, Usage};

use super::report::Ending;
use super::signals::Signals;
use crate::kernel::Kernel;
use crate::kernel::roots::Roots;
use crate::record::{Event, Record, ScriptEnded, ScriptStarted};
use crate::router::Router;
use crate::tool::CallTool;

/// What came of the program.
pub(super) struct Ran {
    pub(super) ending: Ending,
    pub(super) usage: Usage,
}

/// The number of the only script of a script job.
const SCRIPT: u64 = 1;

/// Runs the program to its end, to the deadline, or until the run is told to stop.
pub(super) async fn run(
    plan: &RunPlan,
    roots: Arc<Roots>,
    record: &Record,
    deadline: Instant,
    signals: &mut Signals,
) -> Ran {
    let Program::Script { source } = &plan.program;
    let router = Arc::new(Router::new(plan, Arc::new(Kernel::new(roots)), record.clone()));
    let began = Instant::now();
    record.write(Event::ScriptStarted(ScriptStarted { script: SCRIPT, source: record.content(source) }));
    let ending = tokio::select! {
        biased;
        signal = signals.told() => Ending::new(Outcome::Cancelled, format!("told to stop by {signal}")),
        () = tokio::time::sleep_until(deadline.into()) => {
            let seconds = plan.limits.timeout_seconds;
            Ending::new(Outcome::TimedOut, format!("the run did not end within its {seconds} s"))
        }
        ending = script(source, plan, router.clone()) => ending,
    };
    record.write(Event::ScriptEnded(ScriptEnded {
        script: SCRIPT,
        outcome: ending.outcome,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        message: ending.message.clone(),
        output: record.content(&ending.text),
    }));
    let (tool_calls, blocked_calls) = router.used();
    Ran { ending, usage: Usage { tool_calls, blocked_calls, scripts: 1, ..Usage::default() } }
}

/// Until codemode answers: each line of the source is one call.
async fn script(source: &str, _plan: &RunPlan, tools: Arc<dyn CallTool>) -> Ending {
    let _ = (source, tools);
    Ending::new(Outcome::Internal, "codemode is not connected yet")
}
