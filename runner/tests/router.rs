//! The router, which every call goes through, without a script in front of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::io::Write;
use std::sync::{Arc, Mutex};

use anchorhold_plan::{KernelTool, ToolCaller};
use anchorhold_runner::record::{Event, Line, Record};
use anchorhold_runner::router::Router;
use anchorhold_runner::tool::{Call, CallTool, ToolError, ToolOutput};
use job::Job;
use serde_json::{Value, json};

/// A record that is kept in memory.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs calls through a router of a job and returns what was recorded.
fn route(job: &Job, calls: impl AsyncFnOnce(&Router)) -> (Vec<Event>, (u64, u64)) {
    let record = Record::new(true);
    let router = Router::new(&job.plan, Arc::new(job.kernel()), record.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(calls(&router));
    let lines = Lines::default();
    record.start(lines.clone()).unwrap();
    record.finish();
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap().event).collect();
    (events, router.used())
}

fn call(name: &str, arguments: Value) -> Call {
    Call { name: name.into(), arguments, caller: ToolCaller::Script, script: Some(7) }
}

#[test]
fn a_call_is_made_counted_and_recorded() {
    let (events, used) = route(&Job::new(), async |router| {
        assert_eq!(
            router.call(call("read", json!({"path": "app/main.rs"}))).await,
            Ok(ToolOutput::Text("fn main() {}\n".into()))
        );
    });
    assert_eq!(used, (1, 0));
    let [Event::Call(ended)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((ended.call, ended.script, ended.tool.as_str(), &ended.error), (1, Some(7), "read", &None));
    assert_eq!(ended.result.as_ref().unwrap().text.as_deref(), Some("fn main() {}\n"));
}

#[test]
fn a_call_that_the_policy_refuses_is_blocked_counted_and_recorded_and_never_made() {
    let mut job = Job::new();
    job.plan.tools = vec![KernelTool::Ls, KernelTool::Write];
    let (events, used) = route(&job, async |router| {
        for (name, reason) in [
            ("write", "tool \"write\" is not callable from a script"),
            ("read", "tool \"read\" is not granted by the agent; add it to the agent's spec.tools"),
            ("Ls", "tool \"Ls\" does not exist"),
        ] {
            assert_eq!(router.call(call(name, json!({}))).await, Err(ToolError::Blocked(reason.into())));
        }
    });
    assert_eq!(used, (0, 3));
    assert!(events.iter().all(|event| matches!(event, Event::Blocked(_))), "{events:?}");
    assert_eq!(events.len(), 3);
}

#[test]
fn a_call_beyond_a_limit_is_refused_and_recorded() {
    let mut job = Job::new();
    job.plan.limits.tool_calls = 1;
    job.plan.limits.script.argument_bytes = 1024;
    let (events, used) = route(&job, async |router| {
        assert_eq!(
            router.call(call("read", json!({"path": "x".repeat(2000)}))).await,
            Err(ToolError::LimitReached("the arguments have 2011 bytes as JSON; at most 1024 are allowed".into()))
        );
        router.call(call("ls", json!({}))).await.unwrap();
        assert_eq!(
            router.call(call("ls", json!({}))).await,
            Err(ToolError::LimitReached("the job has made all of its 1 tool calls".into()))
        );
    });
    assert_eq!(used, (1, 0));
    let errors: Vec<_> = events
        .iter()
        .map(|event| match event {
            Event::Call(ended) => ended.error.as_deref(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(errors, [Some("limit_reached"), None, Some("limit_reached")]);
}

#[test]
fn a_call_that_nobody_waits_for_any_more_is_recorded_as_cancelled() {
    let (events, used) = route(&Job::new(), async |router| {
        let mut pending = router.call(call("grep", json!({"pattern": "x"})));
        // Begun, then dropped.
        assert!(futures_poll_once(&mut pending).await.is_none());
        drop(pending);
        drop(router.call(call("ls", json!({}))));
    });
    assert_eq!(used, (2, 0));
    let errors: Vec<_> = events
        .iter()
        .map(|event| match event {
            Event::Call(ended) => (ended.tool.as_str(), ended.error.as_deref()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(errors, [("grep", Some("cancelled")), ("ls", Some("cancelled"))]);
}

/// Polls a future once.
async fn futures_poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

#[test]
fn a_list_holds_what_the_caller_may_call_with_its_schema() {
    let mut job = Job::new();
    job.plan.tools = vec![KernelTool::Read, KernelTool::Grep, KernelTool::Shell];
    route(&job, async |router| {
        let listed = router.list(ToolCaller::Script);
        assert_eq!(listed.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["read", "grep"]);
        for tool in listed {
            assert_eq!(tool.input_schema["type"], "object");
            assert_eq!(tool.input_schema["additionalProperties"], false);
            for (name, property) in tool.input_schema["properties"].as_object().unwrap() {
                assert!(property["type"].is_string() && property["description"].is_string(), "{name}: {property}");
            }
        }
    });
}
