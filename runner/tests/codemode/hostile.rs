//! Workers that do not behave: an engine that crashes, and programs that are no worker at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anchorhold_plan::{Outcome, ScriptLimits};
use anchorhold_runner::codemode::{Codemode, ScriptResult};

use crate::support::{Shared, TestTools, limits, run};

#[tokio::test]
async fn an_engine_that_crashes_ends_its_own_process_and_no_other() {
    let (outcome, text) =
        run("let it = [1].values(); for (let i = 0; i < 3e6; i++) it = it.map(x => x); return [...it]").await;
    assert!(
        matches!(outcome, Outcome::Killed | Outcome::Threw | Outcome::OutOfMemory | Outcome::TimedOut),
        "{outcome:?} {text}"
    );
    assert_eq!(run("return 1").await.1, "1");
}

/// Runs a script in a program that is a shell script instead of a worker.
async fn with_program(body: &str, timeout_ms: u64, tools: &Arc<TestTools>) -> ScriptResult {
    let folder = tempfile::tempdir().unwrap();
    let program: PathBuf = folder.path().join("worker");
    fs::write(&program, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let limits = ScriptLimits { timeout_ms, calls: 100, calls_in_flight: 4, ..limits() };
    Codemode::new(program, limits, Arc::new(Shared(Arc::clone(tools))))
        .execute(1, "return 1", std::future::pending())
        .await
}

async fn outcome_within(timeout_ms: u64, body: &str) -> (Outcome, String) {
    let result = with_program(body, timeout_ms, &Arc::default()).await;
    (result.outcome, result.message)
}

/// With a deadline that a busy machine does not reach.
async fn outcome(body: &str) -> (Outcome, String) {
    outcome_within(60_000, body).await
}

#[tokio::test]
async fn a_worker_that_says_what_no_worker_says_is_killed() {
    let garbage =
        (Outcome::Killed, "the script's process sent something that no worker sends; it was killed".to_owned());
    for body in [
        "echo hello; sleep 100",
        "echo '{\"end\":{}}'; sleep 100",
        "echo '{\"call\":{\"id\":1,\"tool\":\"echo\",\"arguments\":{},\"more\":1}}'; sleep 100",
        "head -c 1000 /dev/urandom; echo; sleep 100",
        "printf '[%.0s' $(seq 1 10000); echo; sleep 100",
        "echo '{\"call\":{\"id\":-1,\"tool\":\"echo\",\"arguments\":{}}}'; sleep 100",
    ] {
        assert_eq!(outcome(body).await, garbage, "{body}");
    }
}

#[tokio::test]
async fn a_line_without_end_is_cut_off() {
    let expected = (Outcome::Killed, "the script's process sent a line without end; it was killed".to_owned());
    assert_eq!(outcome("head -c 100000000 /dev/zero; sleep 100").await, expected);
}

#[tokio::test]
async fn a_worker_that_ends_or_goes_silent_is_told_apart() {
    assert_eq!(
        outcome("exit 9").await,
        (Outcome::Killed, "the script's process ended without an answer (exit code 9)".into())
    );
    assert_eq!(
        outcome("echo sandbox says no >&2; exit 3").await,
        (Outcome::SandboxUnavailable, "the script's process cannot be confined: sandbox says no".into())
    );
    assert_eq!(
        outcome("kill -SEGV $$").await,
        (Outcome::Killed, "the script's engine crashed (signal 11); its process is gone".into())
    );
    assert_eq!(
        outcome("exec >&-; sleep 100").await,
        (Outcome::Killed, "the script's process closed its output and went on; it was killed".into())
    );
    assert_eq!(
        outcome_within(2000, "sleep 100").await,
        (Outcome::TimedOut, "the deadline of 2000 ms passed; the script was killed".into())
    );
    assert_eq!(
        outcome_within(2000, "exec <&-; sleep 100").await,
        (Outcome::TimedOut, "the deadline of 2000 ms passed; the script was killed".into())
    );
}

#[tokio::test]
async fn a_worker_that_calls_without_end_is_held_back() {
    let tools = Arc::new(TestTools::default());
    let flood = "i=0; while :; do i=$((i+1)); echo \"{\\\"call\\\":{\\\"id\\\":$i,\\\"tool\\\":\\\"never\\\",\\\"arguments\\\":{}}}\"; done";
    let result = with_program(flood, 2000, &tools).await;
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert_eq!(tools.most_running.load(Ordering::SeqCst), 4);
    assert_eq!(tools.running.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_worker_that_oversteps_its_limits_is_killed() {
    let call = |id: &str, tool: &str, arguments: &str| {
        format!(
            "echo \"{{\\\"call\\\":{{\\\"id\\\":{id},\\\"tool\\\":\\\"{tool}\\\",\\\"arguments\\\":{arguments}}}}}\""
        )
    };
    let tools = Arc::new(TestTools::default());
    let many = format!("i=0; while [ $i -lt 150 ]; do i=$((i+1)); {}; done; sleep 100", call("$i", "echo", "{}"));
    let result = with_program(&many, 60_000, &tools).await;
    assert_eq!((result.outcome, result.calls.len()), (Outcome::Killed, 100));
    assert_eq!(tools.started.load(Ordering::SeqCst), 100, "the host counts for itself");
    let long = "x".repeat(600);
    for (body, problem) in [
        (format!("{}; {}; sleep 100", call("1", "never", "{}"), call("1", "never", "{}")), "made a call that it may not make"),
        (format!("{}; sleep 100", call("1", &long, "{}")), "made a call that it may not make"),
        (
            "printf '{\"call\":{\"id\":1,\"tool\":\"echo\",\"arguments\":\"'; head -c 3000000 /dev/zero | tr '\\0' x; echo '\"}}'; sleep 100"
                .to_owned(),
            "made a call with larger arguments than it may",
        ),
        ("echo '\"ready\"'; echo '\"ready\"'; sleep 100".to_owned(), "sent something that no worker sends"),
        (
            "for i in 1 2 3 4 5 6 7 8 9; do echo '{\"image\":{\"mime_type\":\"image/png\",\"data\":\"\"}}'; done; sleep 100".to_owned(),
            "sent more images than it may",
        ),
    ] {
        let expected = (Outcome::Killed, format!("the script's process {problem}; it was killed"));
        assert_eq!(outcome(&body).await, expected, "{}", body.get(..100).unwrap_or(&body));
    }
}

#[tokio::test]
async fn a_worker_that_prints_without_end_is_bounded() {
    // Faster than it can be read: there is always a line to hear, and the deadline holds all the same.
    let flood =
        "exec yes '{\"print\":{\"channel\":\"text\",\"text\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}}'";
    let tools = Arc::default();
    let session = tokio::time::timeout(Duration::from_secs(40), with_program(flood, 2000, &tools));
    let result = session.await.expect("its two seconds have long passed");
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(result.text.len() <= 32_000);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said() {
    let codemode = Codemode::new("/no/such/program", limits(), Arc::new(Shared(Arc::default())));
    let result = codemode.execute(1, "return 1", std::future::pending()).await;
    assert_eq!(result.outcome, Outcome::Internal);
    assert!(result.text.starts_with("failed to start the script's process /no/such/program"), "{}", result.text);
}

#[test]
fn a_confined_runner_can_still_start_its_workers() {
    // In a process of its own: confinement is for good. `tests/run.rs` covers the whole program; this is the seam alone.
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::confined", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("RESULT 2"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "started by another test, in a process of its own"]
fn confined() {
    let access = anchorhold_runner::sandbox::RunnerAccess {
        execute: Some(crate::support::PROGRAM.into()),
        ..anchorhold_runner::sandbox::RunnerAccess::default()
    };
    anchorhold_runner::sandbox::confine_runner(&access).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(crate::support::result("return 1 + 1"));
    println!("RESULT {} {:?}", result.text, result.outcome);
}
