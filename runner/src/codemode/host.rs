//! The host's side: starts a worker for a script, answers its calls, and ends it at the deadline.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anchorhold_plan::{KernelTool, Outcome, ScriptLimits, ToolCaller};
use tokio::sync::Semaphore;
use tokio::time::{sleep_until, timeout_at};

use super::output::{Part, Parts, compose};
use super::result::{CallOutcome, CallSummary, ScriptResult};
use super::session::{Ended, Session};
use super::source::{self, Source};
use super::wire::{Listed, Start};
use super::worker;
use crate::tool::CallTool;

/// Bytes of one token of output, as budgets count.
const TOKEN_BYTES: u64 = 4;
/// Bytes kept between scripts of one job, keys included.
const STORED: usize = 1 << 20;

/// Runs the scripts of one job: a process for each, so many at once, the rest in order of arrival.
pub struct Codemode {
    executable: PathBuf,
    /// What makes a worker of it.
    argument: &'static str,
    limits: ScriptLimits,
    slots: Semaphore,
    tools: Arc<dyn CallTool>,
    /// What scripts stored for later ones: key and JSON text.
    store: Mutex<Vec<(String, String)>>,
}

impl Codemode {
    /// `executable` is this program: it is started again as the worker, and its `main` begins with
    /// [`run_worker_if_asked`](super::run_worker_if_asked). `/proc/self/exe` names it also when its file was replaced.
    pub fn new(executable: impl Into<PathBuf>, limits: ScriptLimits, tools: Arc<dyn CallTool>) -> Self {
        let slots = Semaphore::new(usize::try_from(limits.concurrent).unwrap_or(1));
        let argument = worker::ARGUMENT;
        Self { executable: executable.into(), argument, limits, slots, tools, store: Mutex::default() }
    }

    /// Has workers take no Landlock domain: for a run that its user wants unconfined, on a kernel that has no Landlock.
    #[must_use]
    pub fn without_landlock(mut self) -> Self {
        self.argument = worker::ARGUMENT_WITHOUT_LANDLOCK;
        self
    }

    /// Runs one script to its end. `id` is the script's number in the record. When `cancelled` completes, the script is
    /// killed; when the future is dropped, too.
    pub async fn execute(&self, id: u64, text: &str, cancelled: impl Future<Output = ()>) -> ScriptResult {
        let asked = Instant::now();
        let Source { script, options } = match source::parse(text) {
            Ok(source) => source,
            Err(problem) => {
                let parts = Parts { error: Part::whole(problem), ..Parts::default() };
                return conclude(asked, asked, Outcome::Refused, &parts, self.limits.output_tokens, Vec::new());
            }
        };
        let mut notes = Vec::new();
        let timeout_ms = clamped("timeout_ms", options.timeout_ms, self.limits.timeout_ms, &mut notes);
        let tokens = clamped("max_output_tokens", options.max_output_tokens, self.limits.output_tokens, &mut notes);
        let deadline = asked + Duration::from_millis(timeout_ms);
        let mut cancelled = pin!(cancelled);
        let slot = tokio::select! {
            biased;
            () = &mut cancelled => Err((Outcome::Cancelled, "the script was cancelled before it started".to_owned())),
            slot = timeout_at(deadline.into(), self.slots.acquire()) => slot.map_err(|_| (
                Outcome::TimedOut,
                format!("the deadline of {timeout_ms} ms passed while the script waited for another to end; it never started"),
            )),
        };
        let _slot = match slot {
            Ok(slot) => slot,
            Err((outcome, problem)) => {
                let parts = Parts { error: Part::whole(problem), notes, ..Parts::default() };
                return conclude(asked, Instant::now(), outcome, &parts, tokens, Vec::new());
            }
        };
        let started = Instant::now();
        let start = self.start(script, timeout_ms, deadline.saturating_duration_since(started), tokens);
        let ended =
            match Session::begin(&self.executable, self.argument, &start, &self.limits, Arc::clone(&self.tools), id) {
                Ok(mut session) => {
                    // The session last: listening to a worker that never stops talking uses up what tokio grants a task at a
                    // time, and a timer that is looked at after it would never be found to have ended.
                    let end = tokio::select! {
                        biased;
                        () = sleep_until((deadline + KILL_AFTER).into()) => session.timed_out(timeout_ms),
                        () = &mut cancelled => Session::cancelled(),
                        end = session.run() => end,
                    };
                    session.close(end).await
                }
                Err(error) => Ended::failed(
                    Outcome::Internal,
                    format!("failed to start the script's process {}: {error}", self.executable.display()),
                ),
            };
        self.result(asked, started, ended, notes, tokens)
    }

    fn start(&self, script: String, deadline_ms: u64, left: Duration, tokens: u64) -> Start {
        let listed = |caller| self.tools.list(caller).into_iter();
        let tools: Vec<Listed> = listed(ToolCaller::Script)
            .map(|tool| Listed { name: tool.name, description: tool.description, schema: tool.input_schema })
            .collect();
        let mut blocked: Vec<String> = KernelTool::ALL.iter().map(|tool| tool.name().to_owned()).collect();
        blocked.extend(listed(ToolCaller::Model).map(|tool| tool.name));
        blocked.sort_unstable();
        blocked.dedup();
        blocked.retain(|name| !tools.iter().any(|tool| tool.name == *name));
        Start {
            script,
            timeout_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1),
            deadline_ms,
            heap_bytes: self.limits.heap_bytes,
            calls: self.limits.calls,
            calls_in_flight: self.limits.calls_in_flight,
            argument_bytes: self.limits.argument_bytes,
            output_bytes: budget(tokens),
            tools,
            blocked,
            store: self.store.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn result(
        &self,
        asked: Instant,
        started: Instant,
        ended: Ended,
        mut notes: Vec<String>,
        tokens: u64,
    ) -> ScriptResult {
        let Ended { outcome, error, value, text, console, images, notes: from_script, store, calls, blocked_calls } =
            ended;
        if outcome == Outcome::Completed
            && let Some(problem) = self.keep(store)
        {
            notes.push(problem);
        }
        notes.extend(from_script);
        let made = finished(&calls);
        if outcome != Outcome::Completed && !made.is_empty() {
            notes.push(format!("calls that finished before that are not undone: {made}"));
        }
        if !images.is_empty() {
            let kinds: Vec<&str> = images.iter().map(|image| image.mime_type.as_str()).collect();
            notes.push(format!("images returned beside this text: {}", kinds.join(", ")));
        }
        let is_silent = [&error, &value, &text, &console].iter().all(|part| part.bytes == 0) && images.is_empty();
        if outcome == Outcome::Completed && is_silent {
            notes.push(
                "the script returned nothing and printed nothing; end it with `return value` or call text(value)"
                    .into(),
            );
        }
        let parts = Parts { error, value, text, console, notes };
        let result = conclude(asked, started, outcome, &parts, tokens, calls);
        ScriptResult { images, blocked_calls, ..result }
    }

    /// Keeps what a script stored. The sentence says what did not fit.
    fn keep(&self, changes: Vec<(String, Option<String>)>) -> Option<String> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut problem = None;
        for (key, json) in changes {
            store.retain(|(known, _)| *known != key);
            let Some(json) = json else { continue };
            // A worker that was taken over could send anything; what is no JSON is not kept.
            if serde_json::from_str::<serde::de::IgnoredAny>(&json).is_err() {
                continue;
            }
            let size: usize = store.iter().map(|(key, json)| key.len() + json.len()).sum();
            if size + key.len() + json.len() > STORED {
                problem =
                    Some(format!("the value of {key:?} was not kept: store() keeps {STORED} bytes in all for one job"));
                continue;
            }
            store.push((key, json));
        }
        problem
    }
}

/// A result before what only a finished script has is added to it.
fn conclude(
    asked: Instant,
    started: Instant,
    outcome: Outcome,
    parts: &Parts,
    tokens: u64,
    calls: Vec<CallSummary>,
) -> ScriptResult {
    let (text, text_bytes) = compose(parts, budget(tokens));
    let waited = started.saturating_duration_since(asked);
    let message = super::output::safe(&parts.error.text);
    ScriptResult {
        outcome,
        message,
        text,
        text_bytes,
        images: Vec::new(),
        calls,
        blocked_calls: 0,
        waited,
        duration: asked.elapsed(),
    }
}

/// How long after the deadline the process is killed. The engine interrupts itself at the deadline and can then say where it
/// was; what does not answer by then sits in a loop that never looks at the interrupt.
const KILL_AFTER: Duration = Duration::from_millis(40);

fn budget(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(TOKEN_BYTES)).unwrap_or(usize::MAX)
}

fn clamped(name: &str, wanted: Option<u64>, cap: u64, notes: &mut Vec<String>) -> u64 {
    match wanted {
        Some(wanted) if wanted > cap => {
            notes.push(format!("{name} {wanted} is above this job's cap; {cap} was used"));
            cap
        }
        Some(wanted) => wanted,
        None => cap,
    }
}

/// The calls that came to an end, by name, in the order of their first.
fn finished(calls: &[CallSummary]) -> String {
    let mut names: Vec<(&str, u64)> = Vec::new();
    for call in calls.iter().filter(|call| call.outcome == CallOutcome::Completed) {
        match names.iter_mut().find(|(name, _)| *name == call.tool) {
            Some((_, count)) => *count += 1,
            None => names.push((&call.tool, 1)),
        }
    }
    let shown = names
        .iter()
        .take(10)
        .map(|(name, count)| if *count == 1 { (*name).to_owned() } else { format!("{name} ×{count}") });
    shown.collect::<Vec<_>>().join(", ")
}
