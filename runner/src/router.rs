//! The one road to every tool: policy, limits, call, truncate, record.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anchorhold_plan::{Decision, KernelTool, RunPlan, ToolCaller, ToolPolicy};

use crate::kernel::{Allowance, Cancel, Kernel};
use crate::record::{BlockedCall, CallEnded, Cut, Event, Record};
use crate::tool::{Call, CallTool, PendingCall, ToolDescription, ToolError, ToolOutput};

/// How long one call of a kernel tool may take. A script's own deadline ends it earlier by dropping it.
const CALL_DEADLINE: Duration = Duration::from_mins(1);
/// Bytes of a message or name that the record keeps.
const RECORDED_MESSAGE: usize = 1000;
const RECORDED_NAME: usize = 200;

/// Routes the calls of one run.
#[derive(Debug)]
pub struct Router {
    policy: ToolPolicy,
    kernel: Arc<Kernel>,
    record: Record,
    tool_calls: u64,
    argument_bytes: usize,
    result_bytes: usize,
    counts: Counts,
}

/// What was called so far.
#[derive(Debug, Default)]
struct Counts {
    /// Every call, blocked ones included: its number.
    calls: AtomicU64,
    made: AtomicU64,
    blocked: AtomicU64,
}

impl Router {
    /// A router with the plan's policy and limits.
    #[must_use]
    pub fn new(plan: &RunPlan, kernel: Arc<Kernel>, record: Record) -> Self {
        let script = &plan.limits.script;
        let bytes = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            policy: plan.tool_policy(),
            kernel,
            record,
            tool_calls: plan.limits.tool_calls,
            argument_bytes: bytes(script.argument_bytes),
            result_bytes: bytes(script.result_bytes),
            counts: Counts::default(),
        }
    }

    /// Calls that were made, and calls that the policy refused.
    #[must_use]
    pub fn used(&self) -> (u64, u64) {
        (self.counts.made.load(Ordering::Relaxed), self.counts.blocked.load(Ordering::Relaxed))
    }

    fn block(&self, number: u64, call: &Call, arguments: &str, reason: String) -> ToolError {
        self.counts.blocked.fetch_add(1, Ordering::Relaxed);
        self.record.write(Event::Blocked(BlockedCall {
            call: number,
            script: call.script,
            tool: shortened(&call.name, RECORDED_NAME),
            reason: shortened(&reason, RECORDED_MESSAGE),
            arguments: self.record.content(arguments),
        }));
        ToolError::Blocked(reason)
    }

    /// What keeps an allowed call from being made.
    fn limit(&self, arguments: &str) -> Result<(), ToolError> {
        if arguments.len() > self.argument_bytes {
            return Err(ToolError::LimitReached(format!(
                "the arguments have {} bytes as JSON; at most {} are allowed",
                arguments.len(),
                self.argument_bytes
            )));
        }
        let take = |made: u64| (made < self.tool_calls).then_some(made + 1);
        match self.counts.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(()),
            Err(_) => {
                Err(ToolError::LimitReached(format!("the job has made all of its {} tool calls", self.tool_calls)))
            }
        }
    }
}

impl CallTool for Router {
    fn call(&self, call: Call) -> PendingCall {
        let number = self.counts.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let arguments = call.arguments.to_string();
        let tool = match self.policy.decide(&call.name, call.caller) {
            Decision::Allow(tool) => tool,
            Decision::Block(reason) => {
                let error = self.block(number, &call, &arguments, reason);
                return Box::pin(std::future::ready(Err(error)));
            }
        };
        let mut open = OpenCall {
            record: self.record.clone(),
            event: Some(CallEnded {
                call: number,
                script: call.script,
                operation: "execute_tool".to_owned(),
                tool: tool.name().to_owned(),
                duration_ms: 0,
                error: None,
                message: String::new(),
                arguments: self.record.content(&arguments),
                result: None,
            }),
            started: Instant::now(),
            cancel: Cancel::default(),
        };
        if let Err(error) = self.limit(&arguments) {
            return Box::pin(std::future::ready(open.end(Err(error))));
        }
        let result_bytes = self.result_bytes;
        let deadline = Kernel::deadline(tool).unwrap_or(CALL_DEADLINE);
        let kernel = Arc::clone(&self.kernel);
        let allowance = Allowance { caller: call.caller, result_bytes, cancel: open.cancel.clone() };
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || kernel.call(tool, call.arguments, &allowance));
            let result = match tokio::time::timeout(deadline, work).await {
                Ok(Ok(result)) => result,
                // A panic is a defect of the tool: the call fails and the run goes on.
                Ok(Err(_)) => Err(ToolError::Failed(format!("{tool} failed inside; this is a defect of the runner"))),
                Err(_) => {
                    let seconds = deadline.as_secs();
                    Err(ToolError::TimedOut(format!("{tool} had no answer after {seconds} s; ask for less at a time")))
                }
            };
            let result = result.and_then(|output| open.truncate(tool, output, result_bytes));
            open.end(result)
        })
    }

    fn list(&self, caller: ToolCaller) -> Vec<ToolDescription> {
        self.policy.callable(caller).filter_map(Kernel::describe).collect()
    }
}

/// A call that has begun. However it ends, also when whoever waits for it goes away, it is recorded once.
struct OpenCall {
    record: Record,
    event: Option<CallEnded>,
    started: Instant,
    cancel: Cancel,
}

impl OpenCall {
    /// Records the end of the call and hands its result on.
    fn end(&mut self, result: Result<ToolOutput, ToolError>) -> Result<ToolOutput, ToolError> {
        self.cancel.set();
        if let Some(mut event) = self.event.take() {
            event.duration_ms = milliseconds(self.started);
            match &result {
                Ok(ToolOutput::Text(text)) => event.result = Some(self.record.content(text)),
                Ok(ToolOutput::Json(value)) => event.result = Some(self.record.content(&value.to_string())),
                Err(error) => {
                    event.error = Some(error.code().to_owned());
                    event.message = shortened(&error.to_string(), RECORDED_MESSAGE);
                }
            }
            self.record.write(Event::Call(event));
        }
        result
    }

    /// Cuts a text that is too long. A value cannot be cut and still be one.
    fn truncate(&self, tool: KernelTool, output: ToolOutput, most: usize) -> Result<ToolOutput, ToolError> {
        match output {
            ToolOutput::Text(text) if text.len() > most => {
                let notice = format!("\n[cut: {} bytes in all]", text.len());
                let kept = text.floor_char_boundary(most.saturating_sub(notice.len()));
                if let Some(event) = &self.event {
                    let (bytes, kept) = (text.len() as u64, kept as u64);
                    self.record.write(Event::Cut(Cut { call: Some(event.call), script: None, bytes, kept }));
                }
                let mut text = text;
                text.truncate(kept);
                text.push_str(&notice);
                Ok(ToolOutput::Text(text))
            }
            ToolOutput::Json(value) => {
                let bytes = value.to_string().len();
                if bytes > most {
                    return Err(ToolError::LimitReached(format!(
                        "the result of {tool} has {bytes} bytes as JSON; at most {most} are allowed: ask for less with limit"
                    )));
                }
                Ok(ToolOutput::Json(value))
            }
            ToolOutput::Text(text) => Ok(ToolOutput::Text(text)),
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.cancel.set();
        if let Some(mut event) = self.event.take() {
            event.duration_ms = milliseconds(self.started);
            event.error = Some("cancelled".to_owned());
            event.message = String::from("nobody waited for the answer any more");
            self.record.write(Event::Call(event));
        }
    }
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn shortened(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text).to_owned()
}
