//! A job's codemode with tools that do something observable.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anchorhold_plan::{Outcome, ScriptLimits, ToolCaller};
use anchorhold_runner::codemode::{Codemode, ScriptResult};
use anchorhold_runner::tool::{Call, CallTool, PendingCall, ToolDescription, ToolError, ToolOutput};
use serde_json::{Value, json};

/// The program whose workers run the scripts.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_anchorhold-runner");

/// Tools for tests: they echo, fail, wait, and count.
#[derive(Default)]
pub struct TestTools {
    /// Calls that were started.
    pub started: AtomicU64,
    /// Calls that are running, and the most that ever were.
    pub running: AtomicU64,
    pub most_running: AtomicU64,
    /// Names beside the standard ones, each of which echoes its own name.
    pub names: Vec<String>,
}

/// Counts a call as running until it ends or is dropped.
struct Running(Arc<TestTools>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl TestTools {
    async fn answer(call: Call) -> Result<ToolOutput, ToolError> {
        match call.name.as_str() {
            "echo" => Ok(ToolOutput::Json(call.arguments)),
            "text" => Ok(ToolOutput::Text(call.arguments["text"].as_str().unwrap_or("nothing").to_owned())),
            "fail" => Err(ToolError::Failed(call.arguments["message"].as_str().unwrap_or("it failed").to_owned())),
            "never" => std::future::pending().await,
            "tick" => {
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(ToolOutput::Json(json!({"ok": true})))
            }
            "rows" => {
                let count = call.arguments["count"].as_u64().unwrap_or(1);
                Ok(ToolOutput::Json(
                    (0..count).map(|id| json!({"id": id, "name": format!("row {id}"), "tags": ["a", "b"]})).collect(),
                ))
            }
            "large" => {
                let bytes = call.arguments["bytes"].as_u64().unwrap_or(1);
                Ok(ToolOutput::Text("x".repeat(usize::try_from(bytes).unwrap())))
            }
            name @ ("write" | "shell") => {
                Err(ToolError::Blocked(format!("tool \"{name}\" is not callable from a script")))
            }
            name => Ok(ToolOutput::Text(format!("this is {name}"))),
        }
    }
}

impl CallTool for Shared {
    fn call(&self, call: Call) -> PendingCall {
        let tools = Arc::clone(&self.0);
        tools.started.fetch_add(1, Ordering::SeqCst);
        let running = tools.running.fetch_add(1, Ordering::SeqCst) + 1;
        tools.most_running.fetch_max(running, Ordering::SeqCst);
        let guard = Running(tools);
        Box::pin(async move {
            let _guard = guard;
            TestTools::answer(call).await
        })
    }

    fn list(&self, caller: ToolCaller) -> Vec<ToolDescription> {
        let mut names: Vec<String> =
            ["echo", "text", "fail", "never", "tick", "rows", "large"].map(str::to_owned).to_vec();
        names.extend(self.0.names.iter().cloned());
        if caller == ToolCaller::Model {
            names.extend(["write", "shell", "mcp__tracker__create-issue"].map(str::to_owned));
        }
        let describe = |name: String| ToolDescription {
            description: format!("The tool {name}."),
            input_schema: json!({"type": "object", "properties": {"text": {"type": "string", "description": "Some text"}}}),
            name,
        };
        names.into_iter().map(describe).collect()
    }
}

/// What codemode holds of the tools.
pub struct Shared(pub Arc<TestTools>);

/// Codemode over the test tools with these limits.
pub fn codemode(limits: ScriptLimits, tools: &Arc<TestTools>) -> Codemode {
    Codemode::new(PROGRAM, limits, Arc::new(Shared(Arc::clone(tools))))
}

/// Limits that end a test that hangs, even on a machine that is very busy.
pub fn limits() -> ScriptLimits {
    ScriptLimits { timeout_ms: 300_000, ..ScriptLimits::default() }
}

/// Runs one script with ordinary limits.
pub async fn result(script: &str) -> ScriptResult {
    result_with(script, limits()).await
}

/// Runs one script with these limits.
pub async fn result_with(script: &str, limits: ScriptLimits) -> ScriptResult {
    codemode(limits, &Arc::default()).execute(1, script, std::future::pending()).await
}

/// Runs one script and tells how it ended and what is seen of it.
pub async fn run(script: &str) -> (Outcome, String) {
    outcome_and_text(result(script).await)
}

/// The two that most tests look at.
pub fn outcome_and_text(result: ScriptResult) -> (Outcome, String) {
    (result.outcome, result.text)
}

/// The text of a script that must complete.
pub async fn completed(script: &str) -> String {
    let (outcome, text) = run(script).await;
    assert_eq!(outcome, Outcome::Completed, "{script}\n{text}");
    text
}

/// A value as JSON.
pub fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
