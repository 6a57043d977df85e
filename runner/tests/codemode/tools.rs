//! Tools as scripts see them: the list, the search, declarations, blocked calls, what is kept between scripts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anchorhold_plan::Outcome;
use anchorhold_runner::codemode::CallOutcome;

use crate::support::{TestTools, codemode, completed, limits, parsed, result, run};

#[tokio::test]
async fn a_blocked_call_is_an_error_to_the_script_and_is_counted() {
    for spelling in ["tools.write({})", "tools['write']({})", "tools['wri' + 'te']({})"] {
        let result = result(&format!("try {{ await {spelling} }} catch (e) {{ return [e.message, e.code] }}")).await;
        assert_eq!(result.text, r#"["tool \"write\" is not callable from a script","blocked"]"#);
        assert_eq!(result.blocked_calls, 1);
        assert_eq!(result.calls[0].outcome, CallOutcome::Failed("blocked"));
    }
    let script =
        "return ['write' in tools, Object.keys(tools).includes('write'), ALL_TOOLS.some(t => t.name === 'write'),
        typeof tools.mcp__tracker__create_issue, 'mcp__tracker__create-issue' in tools]";
    assert_eq!(completed(script).await, r#"[false,false,false,"function",false]"#);
}

#[tokio::test]
async fn the_tools_cannot_be_changed() {
    for change in [
        "tools.x = 1",
        "delete tools.echo",
        "Object.defineProperty(tools, 'x', {value: 1})",
        "Object.setPrototypeOf(tools, {})",
    ] {
        assert_eq!(run(change).await.1.lines().next(), Some("TypeError: tools cannot be changed"), "{change}");
    }
}

#[tokio::test]
async fn tools_are_found_and_described() {
    assert_eq!(
        completed("return ALL_TOOLS[0]").await,
        r#"{"name":"echo","identifier":"echo","description":"The tool echo."}"#
    );
    assert_eq!(
        completed("return searchTools('rows', {limit: 1})").await,
        r#"[{"name":"rows","description":"The tool rows."}]"#
    );
    assert_eq!(
        completed("return describeTool('echo')").await,
        "/** The tool echo. */\ntools.echo(args?: {\n  /** Some text */\n  text?: string;\n}): Promise<any>"
    );
    assert_eq!(completed("return describeNamespace('kernel')").await.lines().next(), Some("echo: The tool echo."));
    assert_eq!(
        run("describeTool('ecko')").await.1.lines().next(),
        Some("TypeError: there is no tool \"ecko\"; did you mean echo?")
    );
    assert_eq!(
        run("searchTools('x', {limit: 0})").await.1.lines().next(),
        Some("TypeError: searchTools: limit is a whole number from 1 on")
    );
}

#[tokio::test]
async fn values_are_kept_for_later_scripts_of_the_job_when_a_script_succeeds() {
    let tools = Arc::new(TestTools::default());
    let job = codemode(limits(), &tools);
    let run = async |script: &str| job.execute(1, script, std::future::pending()).await.text;
    assert_eq!(
        run("store('__proto__', {a: 1}); store('x', [1]); const c = load('x'); c.push(2); return load('x')").await,
        "[1]"
    );
    assert_eq!(run("return [load('__proto__'), load('x'), load('none') === undefined]").await, r#"[{"a":1},[1],true]"#);
    assert!(run("store('x', 'lost'); throw 1").await.starts_with("1 was thrown"));
    assert_eq!(run("store('__proto__', undefined); return load('x')").await, "[1]");
    assert_eq!(run("return load('__proto__') === undefined").await, "true");
    assert!(
        run("store('big', 'x'.repeat(300000))").await.starts_with("RangeError: the value has 300002 bytes as JSON")
    );
    assert!(
        run("for (let i = 0; i < 9; i++) store('k' + i, 'x'.repeat(200000))")
            .await
            .starts_with("RangeError: store() keeps at most 1048576 bytes")
    );
    assert!(run("store('m', new Map())").await.starts_with("TypeError: value is a Map"));
}

#[tokio::test]
async fn images_are_what_their_bytes_are() {
    let gif = "R0lGODlhAQABAAAAACw=";
    let result = result(&format!("image('data:image/png;base64,{gif}'); image({{data: '{gif}'}})")).await;
    assert_eq!(result.images.len(), 2);
    assert_eq!(result.text, "- images returned beside this text: image/gif, image/gif");
    assert_eq!((result.images[0].mime_type.as_str(), result.images[0].data.as_str()), ("image/gif", gif));
    assert!(run("image('aGVsbG8=')").await.1.starts_with("TypeError: image(): the image is neither"));
    assert!(run(&format!("for (let i = 0; i < 9; i++) image('{gif}')")).await.1.contains("at most 8 images"));
}

#[tokio::test]
async fn text_results_are_text_and_structured_ones_are_values() {
    assert_eq!(completed("return await tools.text({text: 'a\\u0000\\\"b'})").await, "a␀\"b");
    assert_eq!(parsed(&completed("return (await tools.rows({count: 2}))[1]").await)["name"], "row 1");
}

#[tokio::test]
async fn a_failed_script_tells_its_calls() {
    let result =
        result("await tools.echo({}); await tools.echo({}); await tools.text({}); tools.never({}); null.x").await;
    assert_eq!(result.outcome, Outcome::Threw);
    assert!(result.text.ends_with(
        "--- notes ---\n- cancelled, still running at the end: never (line 1)\n- calls that finished before that are not undone: echo ×2, text"
    ), "{}", result.text);
    let calls: Vec<_> = result.calls.iter().map(|call| (call.tool.as_str(), call.outcome)).collect();
    let done = CallOutcome::Completed;
    assert_eq!(calls, [("echo", done), ("echo", done), ("text", done), ("never", CallOutcome::Cancelled)]);
}

#[tokio::test]
async fn calls_run_in_parallel_up_to_the_limit_and_the_rest_waits() {
    let tools = Arc::new(TestTools::default());
    let script = "const r = await Promise.all(Array.from({length: 300}, () => tools.tick({}))); return r.length";
    let result = codemode(limits(), &tools).execute(1, script, std::future::pending()).await;
    assert_eq!(result.text, "300");
    assert_eq!(tools.started.load(Ordering::SeqCst), 300);
    assert_eq!(tools.most_running.load(Ordering::SeqCst), 64);
}
