//! Limits: time, memory, output, calls, slots.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anchorhold_plan::{Outcome, ScriptLimits};

use serde_json::{Value, json};

use crate::support::{PROGRAM, TestTools, codemode, limits, result, result_with, run};

fn short(timeout_ms: u64) -> ScriptLimits {
    ScriptLimits { timeout_ms, ..limits() }
}

/// A script whose result must come soon after its deadline. The bound is far above the promised 50 ms, because the machine
/// that tests may be busy; without the kill these would never end.
async fn is_ended(script: &str, first_line: &str) {
    let begun = Instant::now();
    let result = result_with(script, short(1000)).await;
    assert_eq!(result.outcome, Outcome::TimedOut, "{script}\n{}", result.text);
    assert!(result.message.starts_with(first_line), "{}", result.message);
    assert!(begun.elapsed() < Duration::from_secs(10), "{script}");
}

#[tokio::test]
async fn a_loop_is_interrupted() {
    for script in [
        "let o = {};\nfor (;;) {\n  o.x = Math.random();\n}",
        "const spin = async () => { for (;;) await null }; await spin()",
        "try { for (;;) ; } finally { for (;;) ; }",
        "return {toJSON() { for (;;) ; }}",
        "throw {get message() { for (;;) ; }, toString() { for (;;) ; }}",
    ] {
        is_ended(script, "the deadline of 1000 ms passed").await;
    }
}

#[test]
fn an_interrupted_loop_tells_its_place() {
    // The worker alone, as the host starts it: the host would kill it soon after the deadline, and a busy machine may not
    // let it speak before that.
    let start = json!({
        "script": "let n = 0;\nfunction spin() {\n  for (;;) n++;\n}\nspin();", "timeout_ms": 4000, "deadline_ms": 4000,
        "heap_bytes": 64 << 20, "calls": 1, "calls_in_flight": 1, "argument_bytes": 1024, "output_bytes": 1024,
        "tools": [], "blocked": [], "store": [],
    });
    let own = std::process::id().to_string();
    let mut worker = Command::new(PROGRAM)
        .args(["script-worker", &own, "1000000000", "100", "1000000"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(worker.stdin.take().unwrap(), "{start}").unwrap();
    let output = worker.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let end: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(end["end"]["how"], "TimedOut");
    let error = end["end"]["error"].as_str().unwrap();
    // In a loop the engine knows the place only roughly, but the function and its callers exactly.
    assert!(error.starts_with("the deadline of 4000 ms passed\n    at spin (script.js:"), "{error}");
    assert!(error.ends_with("\n    at script.js:5:1"), "{error}");
}

#[tokio::test]
async fn native_loops_that_look_at_no_interrupt_are_killed() {
    for script in [
        "('a'.repeat(2e7)).indexOf('a'.repeat(1e6) + 'b')",
        "const a = []; a.length = 4294967295; a.sort()",
        "Array.prototype.reverse.call({length: 2 ** 53 - 1})",
        "new RegExp('a|'.repeat(2e6))",
    ] {
        is_ended(script, "the deadline of 1000 ms passed; the script was killed").await;
    }
}

#[tokio::test]
async fn what_was_printed_before_a_kill_is_kept() {
    let result = result_with(
        "text('before'); console.log('too'); Array.prototype.reverse.call({length: 2 ** 53 - 1})",
        short(4000),
    )
    .await;
    assert_eq!(
        result.text,
        "--- error ---\nthe deadline of 4000 ms passed; the script was killed\n--- text ---\nbefore\n--- console ---\ntoo"
    );
}

#[tokio::test]
async fn a_script_that_waits_for_a_call_is_ended_and_the_call_is_cancelled() {
    let tools = Arc::new(TestTools::default());
    let result = codemode(short(5000), &tools).execute(1, "await tools.never({})", std::future::pending()).await;
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(result.text.contains("calls that were still running were cancelled: never"), "{}", result.text);
    assert_eq!(tools.running.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_scripts_own_deadline_is_honoured() {
    let (outcome, text) = run("// @options: {\"timeout_ms\": 200}\nfor (;;) ;").await;
    assert_eq!(outcome, Outcome::TimedOut);
    assert!(text.starts_with("the deadline of 200 ms passed"), "{text}");
}

#[tokio::test]
async fn a_script_that_waits_for_nothing_is_told_at_once() {
    for script in ["await new Promise(() => {})", "const p = new Promise(r => { tools.echo({}) }); await p"] {
        let result = result(script).await;
        assert_eq!(result.outcome, Outcome::Stalled, "{script}");
        assert!(result.message.starts_with("the script waits for something that can never come"), "{}", result.text);
    }
}

#[tokio::test]
async fn memory_is_bounded_and_said() {
    let small = ScriptLimits { heap_bytes: 4 << 20, ..limits() };
    for script in [
        "const a = []; for (;;) a.push('x'.repeat(100000) + a.length)",
        "const a = []; for (;;) a.push({})",
        "let s = 'x'; for (;;) s += s + 'y'",
        "new Uint8Array(1e9)",
        "const a = await tools.large({bytes: 3e6}); const b = await tools.large({bytes: 3e6}); return a + b",
    ] {
        let result = result_with(script, small.clone()).await;
        let is_said =
            result.outcome == Outcome::OutOfMemory && result.message == "the script's heap of 4 MiB is used up";
        // A string may reach the engine's own bound on its length first, or the tool's result not fit.
        let is_thrown = result.outcome == Outcome::Threw;
        assert!(is_said || is_thrown, "{script}\n{:?} {}", result.outcome, result.text);
    }
}

#[tokio::test]
async fn recursion_is_an_error_that_can_be_caught() {
    let script = "let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return [n > 1000, String(e)] }";
    assert_eq!(run(script).await.1, r#"[true,"RangeError: Maximum call stack size exceeded"]"#);
    assert_eq!(run("const f = () => f(); f()").await.0, Outcome::Threw);
}

#[tokio::test]
async fn output_is_bounded_as_it_is_produced() {
    let result =
        result("for (let i = 0; i < 20000; i++) console.log('line ' + i + 'x'.repeat(100)); return 'value'").await;
    assert_eq!(result.outcome, Outcome::Completed);
    assert!(result.text.len() <= 32_000 && result.text.len() > 31_000, "{}", result.text.len());
    assert!(result.text.starts_with("--- returned ---\nvalue\n--- console ---\nline 0x"));
    assert!(result.text_bytes > 2_000_000);
    let last = result.text.lines().last().unwrap();
    assert!(last.starts_with("--- cut to 8000 tokens: console "), "{last}");
}

#[tokio::test]
async fn calls_are_counted_and_their_sizes_bounded() {
    let few = ScriptLimits { calls: 3, argument_bytes: 1024, result_bytes: 1024, ..limits() };
    let script = "const out = []; for (const call of [() => tools.echo({a: 'x'.repeat(2000)}), () => tools.large({bytes: 5000}), () => tools.echo({}), () => tools.echo({})])
        try { out.push(await call()) } catch (e) { out.push(e.message) } return out";
    let result = result_with(script, few).await;
    assert_eq!(
        result.text,
        "[\n  \"args is larger than 1024 bytes\",\n  \"the result has 5000 bytes; a script gets at most 1024: ask for less at a time\",\n  {},\n  \
         \"this script has made 3 calls, which is its limit\"\n]"
    );
}

#[tokio::test]
async fn scripts_wait_for_a_slot_and_may_learn_that_they_never_started() {
    let tools = Arc::new(TestTools::default());
    let job = codemode(ScriptLimits { concurrent: 1, timeout_ms: 1500, ..limits() }, &tools);
    let (first, second) = tokio::join!(
        job.execute(1, "await tools.never({})", std::future::pending()),
        job.execute(2, "// @options: {\"timeout_ms\": 100}\nreturn 1", std::future::pending()),
    );
    assert_eq!(first.outcome, Outcome::TimedOut);
    assert_eq!(second.outcome, Outcome::TimedOut);
    assert_eq!(
        second.text,
        "the deadline of 100 ms passed while the script waited for another to end; it never started"
    );
    assert_eq!(job.execute(3, "return 1", std::future::pending()).await.text, "1");
}

#[tokio::test]
async fn a_cancelled_script_keeps_what_it_printed() {
    let tools = Arc::new(TestTools::default());
    let cancelled = async {
        while tools.started.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let result = codemode(limits(), &tools).execute(1, "text('a'); await tools.never({})", cancelled).await;
    assert_eq!(result.outcome, Outcome::Cancelled);
    assert!(
        result.text.starts_with("--- error ---\nthe script was cancelled\n--- text ---\na\n--- notes ---\n"),
        "{}",
        result.text
    );
    assert_eq!(tools.running.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn large_replies_and_large_output_do_not_block_each_other() {
    let gif = "R0lGODlhAQABAAAAACw";
    let script = format!(
        "const calls = Array.from({{length: 64}}, () => tools.large({{bytes: 100000}}));
        for (let i = 0; i < 8; i++) image('{gif}' + 'A'.repeat(1000001));
        return (await Promise.all(calls)).length"
    );
    let result = result(&script).await;
    assert_eq!((result.outcome, result.images.len()), (Outcome::Completed, 8), "{}", result.text);
}
