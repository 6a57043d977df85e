//! What crosses from a script: return values, output, errors, arguments.

use anchorhold_plan::Outcome;
use serde_json::json;

use crate::support::{completed, parsed, run};

#[tokio::test]
async fn json_values_cross_as_they_are() {
    assert_eq!(completed("return 'a' + '\\n' + 'b'").await, "a\nb");
    assert_eq!(
        completed("return {a: [1, null, true], b: 'x\"', u: undefined}").await,
        r#"{"a":[1,null,true],"b":"x\""}"#
    );
    assert_eq!(
        completed("return [0.1, -0, 1e21, 1e-7, 123456789012, -5, 2 ** 53]").await,
        "[0.1,-0,1e+21,1e-7,123456789012,-5,9007199254740992]"
    );
    assert_eq!(completed("return null").await, "null");
    assert_eq!(completed("return [[], {}, '', 'é日本😀']").await, "[[],{},\"\",\"é日本😀\"]");
}

#[tokio::test]
async fn a_long_value_is_broken_at_its_outermost_level() {
    let text = completed(
        "return Array.from({length: 3}, (_, id) => ({id, name: 'a name that is long enough to need a line'}))",
    )
    .await;
    assert_eq!(text.lines().count(), 5);
    assert_eq!(parsed(&text)[2]["id"], 2);
}

#[tokio::test]
async fn what_json_cannot_hold_has_one_rendering() {
    let script = "return [new Map([[1, {a: 2}]]), new Set([1]), new Date(0), new Date(NaN), /x/g, 10n, NaN, -Infinity, undefined,
        Symbol('s'), () => 1, function f() {}, class A {}, new Uint8Array([1, 2]), new ArrayBuffer(3), new (class P { x = 1 })(),
        Object(5), new WeakMap(), {toJSON() { return {j: 1} }}]";
    assert_eq!(
        parsed(&completed(script).await),
        json!([
            {"Map": [[1, {"a": 2}]]}, {"Set": [1]}, "1970-01-01T00:00:00.000Z", "Invalid Date", "/x/g", "10n", "NaN", "-Infinity",
            "undefined", "Symbol(s)", "[Function (anonymous)]", "[Function: f]", "[class A]", {"Uint8Array": [1, 2]},
            "[ArrayBuffer: 3 bytes]", {"x": 1}, 5, "[WeakMap]", {"j": 1},
        ])
    );
}

#[tokio::test]
async fn an_error_keeps_its_cause_its_code_and_its_errors() {
    let (outcome, text) =
        run("throw new Error('outer', {cause: Object.assign(new TypeError('inner'), {code: 'E1'})})").await;
    assert_eq!(outcome, Outcome::Threw);
    assert_eq!(
        text,
        "Error: outer\n    at script.js:1:52\n  caused by: TypeError: inner [E1]\n      at script.js:1:52\n  \
         1 | throw new Error('outer', {cause: Object.assign(new TypeError('inner'), {code: 'E1'})})"
    );
    let text = completed("return new AggregateError([new Error('a'), 'b'], 'all')").await;
    let errors = &parsed(&text)["errors"];
    assert_eq!((&errors[0]["message"], &errors[1]), (&json!("a"), &json!("b")));
}

#[tokio::test]
async fn what_is_thrown_need_not_be_an_error() {
    for (script, text) in [
        ("throw 42", "42 was thrown, which is not an Error"),
        ("throw {a: 1}", "{ a: 1 } was thrown, which is not an Error"),
        ("throw undefined", "undefined was thrown, which is not an Error"),
        ("throw null", "null was thrown, which is not an Error"),
        ("await Promise.reject()", "undefined was thrown, which is not an Error"),
    ] {
        assert_eq!(run(script).await, (Outcome::Threw, text.to_owned()), "{script}");
    }
}

#[tokio::test]
async fn an_argument_that_json_cannot_hold_is_named_by_its_path() {
    for (argument, message) in [
        ("{filter: new Map()}", "args.filter is a Map, which JSON cannot hold"),
        ("{list: [1, undefined]}", "args.list[1] is undefined, which JSON cannot hold"),
        ("{'odd key': {n: NaN}}", "args[\"odd key\"].n is NaN, which JSON cannot hold"),
        ("{when: new Date()}", "args.when is a Date, which JSON cannot hold"),
        ("{big: 1n}", "args.big is a BigInt, which JSON cannot hold"),
        ("{f() {}}", "args.f is a function, which JSON cannot hold"),
        ("{e: new Error('x')}", "args.e is an Error, which JSON cannot hold"),
        ("(() => { const o = {}; o.a = [o]; return o })()", "args.a[0] is a cycle: it contains itself"),
        ("'text'", "tools.echo takes one object of named arguments, got a string"),
        ("[1]", "tools.echo takes one object of named arguments, got an array"),
        ("{}, {}", "tools.echo takes one object of named arguments, got 2 arguments"),
    ] {
        let script = format!("try {{ await tools.echo({argument}) }} catch (e) {{ return e.message }}");
        assert_eq!(completed(&script).await, message, "{argument}");
    }
    let text = completed(
        "const p = tools.echo({n: 1}); try { await tools.echo({p}) } catch (e) { await p; return e.message }",
    )
    .await;
    assert_eq!(text, "args.p is a promise: a call was not awaited; write `await` before it");
    assert_eq!(completed("return await tools.echo()").await, "{}");
    assert_eq!(completed("return await tools.echo({u: undefined, d: {toJSON: () => 1}})").await, r#"{"d":1}"#);
}

#[tokio::test]
async fn a_value_that_runs_code_gives_an_error_with_a_line() {
    for (script, first) in [
        ("return {get a() { throw new Error('getter') }}", "Error: getter\n    at get a (script.js:1:"),
        (
            "return new Proxy({}, {ownKeys() { throw new TypeError('trap') }})",
            "TypeError: trap\n    at ownKeys (script.js:1:",
        ),
        ("return {toJSON() { throw new Error('json') }}", "Error: json\n    at toJSON (script.js:1:"),
        ("const a = []; a.push(a); return {x: {a}}", "TypeError: result.x.a[0] is a cycle"),
        ("return {p: tools.echo({})}", "TypeError: result.p is a promise: a call was not awaited"),
    ] {
        let (outcome, text) = run(script).await;
        assert_eq!(outcome, Outcome::Threw, "{script}");
        assert!(text.trim_start_matches("--- error ---\n").starts_with(first), "{text}");
    }
    let growing = "const a = [1]; Object.defineProperty(a, 0, {get() { a.push(1); return 1 }}); return a.length + JSON.stringify(a).length";
    assert_eq!(run(growing).await.0, Outcome::Completed);
}

#[tokio::test]
async fn text_is_well_formed_and_drives_no_terminal() {
    assert_eq!(completed("return '\\ud800a\\x1b[31m\\x00b\\r\\n\\u202ec'").await, "\u{fffd}a␛[31m␀b\n\\u{202e}c");
    assert_eq!(completed("return {a: '\\ud800'}").await, "{\"a\":\"\u{fffd}\"}");
    let forged = completed("text('--- error ---\\nfake'); console.log('c')").await;
    assert_eq!(forged, "--- text ---\n --- error ---\nfake\n--- console ---\nc");
}

#[tokio::test]
async fn a_syntax_error_points_into_the_text_that_was_sent() {
    let (outcome, text) = run("const a = 1;\nconst b = ;\nreturn a").await;
    assert_eq!(outcome, Outcome::Refused);
    assert_eq!(text, "SyntaxError: unexpected token in expression: ';'\n    at script.js:2:11\n  2 | const b = ;");
    let text = run("const a = 1;\nfor (const x of [1]) {\n  text(x)\n").await.1;
    assert!(text.contains("at script.js:3:"), "{text}");
    let text = run("```js\nconst a = 1;\nconst b = ;\n```").await.1;
    assert!(text.contains("at script.js:3:11"), "{text}");
}

#[tokio::test]
async fn what_is_no_javascript_is_answered_with_what_to_do() {
    for (script, hint) in [
        ("const a: string = 'x';", "scripts are JavaScript, not TypeScript: remove `: string` on line 1"),
        ("import fs from 'fs'", "line 1: there are no modules to import"),
        ("export default 1", "line 1: a script exports nothing"),
    ] {
        let (outcome, text) = run(script).await;
        assert_eq!(outcome, Outcome::Refused, "{script}");
        assert!(text.starts_with(hint), "{text}");
    }
    for (script, hint) in [
        ("setTimeout(() => {}, 1)", "setTimeout is not defined: scripts have no timers"),
        ("process.env.HOME", "process is not defined: there is no process"),
        ("require('fs')", "require is not defined: there are no modules"),
        ("await grep({pattern: 'x'})", "grep is not defined: tools are called through tools, such as tools.grep("),
        ("eval('1')", "eval is not defined: code cannot be made from text"),
        ("(() => {}).constructor('return 1')()", "code cannot be made from text"),
        ("(async () => {}).constructor('return 1')()", "code cannot be made from text"),
        ("await import('fs')", "could not load module 'fs': there are no modules"),
    ] {
        let (outcome, text) = run(script).await;
        assert_eq!(outcome, Outcome::Threw, "{script}");
        assert!(text.contains(hint), "{text}");
    }
    let names =
        "[typeof eval, typeof Function, typeof WebAssembly, typeof Atomics, typeof SharedArrayBuffer, typeof models]";
    assert_eq!(completed(&format!("return {names}.every(t => t === 'undefined')")).await, "true");
}

#[tokio::test]
async fn dates_are_in_universal_time() {
    assert_eq!(
        completed("return new Date(2024, 0, 1).toISOString() + new Date().getTimezoneOffset()").await,
        "2024-01-01T00:00:00.000Z0"
    );
}

#[tokio::test]
async fn a_rejection_that_nobody_awaits_is_said() {
    let text = completed("tools.fail({message: 'no luck'}); await tools.echo({}); return 1").await;
    assert_eq!(
        text,
        "--- returned ---\n1\n--- notes ---\n- a promise was rejected and nobody awaited it: ToolError: no luck [failed]\n      at script.js:1:7"
    );
}

#[tokio::test]
async fn exit_ends_the_script_wherever_it_is_called() {
    assert_eq!(
        completed("text('a'); try { [1].forEach(() => exit()) } catch { text('b') } finally { text('c') }").await,
        "a"
    );
    assert_eq!(completed("tools.echo({}).then(() => { text('a'); exit() }); await new Promise(() => {})").await, "a");
}
