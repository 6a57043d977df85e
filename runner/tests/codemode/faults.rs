//! What other implementations were seen to get wrong; the numbers are those of the list of faults.

use anchorhold_plan::Outcome;

use crate::support::{TestTools, codemode, completed, limits, parsed, result, result_with, run};
use anchorhold_plan::ScriptLimits;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn fault_01_all_settled_shows_the_reasons() {
    let text = completed(
        "return await Promise.allSettled([tools.echo({a: 1}), tools.fail({message: 'no luck'}), Promise.reject(new TypeError('x'))])",
    )
    .await;
    assert_eq!(
        parsed(&text),
        json!([
            {"status": "fulfilled", "value": {"a": 1}},
            {"status": "rejected", "reason": {"name": "ToolError", "message": "no luck", "code": "failed", "at": "script.js:1:60"}},
            {"status": "rejected", "reason": {"name": "TypeError", "message": "x", "at": "script.js:1:107"}},
        ])
    );
    let shown = json!({"name": "Error", "message": "m", "at": "script.js:1:10"});
    assert_eq!(parsed(&completed("text(new Error('m'))").await), shown);
    assert_eq!(parsed(&completed("const e = new Error('m')\nreturn e").await)["message"], "m");
}

#[tokio::test]
async fn fault_02_an_uncaught_tool_error_has_the_line_of_its_call_and_its_callers() {
    let script = "const x = 1;\nasync function inner() {\n  await tools.fail({message: 'no luck'});\n}\nawait inner();";
    let (outcome, text) = run(script).await;
    assert_eq!(outcome, Outcome::Threw);
    assert_eq!(
        text,
        "ToolError: no luck [failed]\n    at inner (script.js:3:15)\n    at script.js:5:7\n  3 |   await tools.fail({message: 'no luck'});"
    );
}

async fn with_names(names: &[&str], script: &str) -> String {
    let tools = Arc::new(TestTools { names: names.iter().map(ToString::to_string).collect(), ..TestTools::default() });
    let result = codemode(limits(), &tools).execute(1, script, std::future::pending()).await;
    assert_eq!(result.outcome, Outcome::Completed, "{}", result.text);
    result.text
}

#[tokio::test]
async fn fault_03_names_that_meet_are_both_reachable() {
    let script = "const other = ALL_TOOLS.find(t => t.name === 'a-b').identifier;
        return [await tools['a-b']({}), await tools.a_b({}), await tools[other]({}), other !== 'a_b']";
    for names in [["a-b", "a_b"], ["a_b", "a-b"]] {
        assert_eq!(with_names(&names, script).await, r#"["this is a-b","this is a_b","this is a-b",true]"#);
    }
}

#[tokio::test]
async fn fault_04_a_call_that_is_not_awaited_is_said() {
    let (outcome, text) = run("tools.never({})\nreturn 1").await;
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!(
        text,
        "--- returned ---\n1\n--- notes ---\n- the script ended without awaiting: never (line 1); cancelled"
    );
}

#[tokio::test]
async fn fault_05_a_missing_tool_can_be_asked_for_and_calling_it_suggests() {
    let script = "return [typeof tools.nope, tools.nope?.() === undefined, 'nope' in tools, 'echo' in tools, Object.keys(tools)[0]]";
    assert_eq!(completed(script).await, r#"["undefined",true,false,true,"echo"]"#);
    let (outcome, text) = run("return tools.ehco({})").await;
    assert_eq!(outcome, Outcome::Threw);
    assert!(text.starts_with("TypeError: tools.ehco is not a function; there is no tool \"ehco\""), "{text}");
    let text = run("return tools.Row({})").await.1;
    assert!(
        text.starts_with("TypeError: tools.Row is not a function; there is no tool \"Row\"; did you mean rows?"),
        "{text}"
    );
}

#[tokio::test]
async fn fault_06_letters_of_every_script_are_kept() {
    assert_eq!(
        with_names(&["日本", "2fa"], "return [await tools.日本({}), await tools._2fa({})]").await,
        r#"["this is 日本","this is 2fa"]"#
    );
}

#[tokio::test]
async fn fault_07_awaiting_the_tools_calls_nothing() {
    let tools = Arc::new(TestTools { names: vec!["then".into()], ..TestTools::default() });
    let script = "const t = await tools; return [typeof t.echo, await tools.then({})]";
    let result = codemode(limits(), &tools).execute(1, script, std::future::pending()).await;
    assert_eq!(result.text, r#"["function","this is then"]"#);
    assert_eq!(result.calls.len(), 1);
}

#[tokio::test]
async fn fault_08_names_of_object_prototype_are_ordinary_names() {
    let names = ["toString", "constructor", "valueOf", "__proto__", "delete", "hasOwnProperty"];
    let script = "const out = [];
        for (const n of ['toString', 'constructor', 'valueOf', '__proto__', 'delete', 'hasOwnProperty']) out.push(n in tools, await tools[n]({}));
        return out.every((x, i) => i % 2 ? x.startsWith('this is ') : x)";
    assert_eq!(with_names(&names, script).await, "true");
    let absent = "return [typeof tools.toString, typeof tools.constructor, 'valueOf' in tools, typeof tools.__proto__]";
    assert_eq!(completed(absent).await, r#"["undefined","undefined",false,"undefined"]"#);
}

#[tokio::test]
async fn fault_09_a_script_may_patch_its_own_realm() {
    let script = "const a = [1, 2]; a.map = () => 1; Array.prototype.extra = function () { return this.length };
        Promise.prototype.then = () => 7; Array.prototype.push = null; JSON.stringify = () => 'x'; Map = Set = String = null;
        Object.prototype.toJSON = undefined; Object.prototype.get = () => 1; Array.prototype[Symbol.iterator] = null; Reflect.apply = null;
        console.log({a: [1]}); text({b: 1});
        return [a.map(), a.extra(), await tools.echo({c: 1})]";
    let (outcome, text) = run(script).await;
    assert_eq!(outcome, Outcome::Completed, "{text}");
    assert_eq!(text, "--- returned ---\n[1,2,{\"c\":1}]\n--- text ---\n{\"b\":1}\n--- console ---\n{ a: [ 1 ] }");
}

#[tokio::test]
async fn fault_10_and_11_options_are_refused_or_clamped_and_never_ignored() {
    for line in [
        "// @options: {\"timeout_ms\": -1}",
        "// @options: {\"timeout_ms\": NaN}",
        "// @options {}",
        "/* @options: {} */",
    ] {
        let (outcome, text) = run(&format!("{line}\ntext('ran')")).await;
        assert_eq!(outcome, Outcome::Refused, "{line}");
        assert!(text.contains("// @options: {\"max_output_tokens\": 2000, \"timeout_ms\": 30000}"), "{text}");
    }
    let text = completed("\u{feff}//@options:{\"timeout_ms\": 99999999}\nreturn 1").await;
    assert_eq!(
        text,
        "--- returned ---\n1\n--- notes ---\n- timeout_ms 99999999 is above this job's cap; 300000 was used"
    );
    assert_eq!(completed("const s = `\n// @options: {\"nope\": 1}\n`; return s.length").await, "26");
}

#[tokio::test]
async fn fault_12_a_small_budget_keeps_the_error_and_none_says_nothing() {
    let error = "// @options: {\"max_output_tokens\": 20}\ntext('x'.repeat(1000)); null.x";
    let (outcome, text) = run(error).await;
    assert_eq!(outcome, Outcome::Threw);
    assert!(text.starts_with("TypeError: cannot read property 'x' of null") && text.len() <= 80, "{text}");
    assert_eq!(
        run("// @options: {\"max_output_tokens\": 0}\nreturn 'x'.repeat(1000)").await,
        (Outcome::Completed, String::new())
    );
    let value = run(
        "// @options: {\"max_output_tokens\": 100}\ntext('t'.repeat(1000)); console.log('c'); return 'v'.repeat(100)",
    )
    .await
    .1;
    assert!(value.starts_with(&format!("--- returned ---\n{}\n--- text ---\ntt", "v".repeat(100))), "{value}");
    assert!(value.len() <= 400 && value.ends_with("of 1000 bytes, console 0 of 1 bytes ---"), "{value}");
}

#[tokio::test]
async fn fault_13_a_fence_a_lone_function_and_a_last_expression_give_their_value() {
    for (script, expected) in [
        ("1 + 1", "2"),
        ("1 + 1;", "2"),
        ("```js\nreturn 1\n```", "1"),
        ("async () => { return 5 }", "5"),
        ("async function main() { return 6 }", "6"),
        ("(async () => 7)()", "7"),
        ("const x = 4; x * 2", "8"),
        ("const x = {a: 1}\nx", r#"{"a":1}"#),
        ("const r = await tools.echo({a: 1});\n[1, 2].map(x => x + r.a)", "[2,3]"),
        ("async function main() { return 8 }\nmain()", "8"),
        ("await tools.echo({z: 1});", r#"{"z":1}"#),
        ("{a: 1}", r#"{"a":1}"#),
        ("const a = 1\nif (a) {\n  text('t')\n}", "t"),
        ("text('only'); 5", "only"),
        ("const f = x => x\nconst y = f\n(2)\nreturn y", "2"),
    ] {
        assert_eq!(completed(script).await, expected, "{script}");
    }
    let nothing = "the script returned nothing and printed nothing; end it with `return value` or call text(value)";
    assert_eq!(completed("const a = 1").await, format!("- {nothing}"));
}

#[tokio::test]
async fn fault_14_what_is_no_function_is_named() {
    for (script, message) in [
        ("const o = {}; o.foo(1)", "TypeError: o.foo is not a function"),
        ("let q; q()", "TypeError: q is not a function"),
        ("const o = {a: {}}; o['b c'](1)", "TypeError: o['b c'] is not a function"),
        ("const o = {}; new o.Thing()", "TypeError: o.Thing is not a constructor"),
        ("const o = {}; o.a.b", "TypeError: cannot read property 'b' of undefined"),
    ] {
        let (outcome, text) = run(script).await;
        assert_eq!(outcome, Outcome::Threw);
        assert_eq!(text.lines().next(), Some(message), "{text}");
    }
    assert_eq!(
        completed("try { const o = {}; o.foo() } catch (e) { return e.message }").await,
        "o.foo is not a function"
    );
}

#[tokio::test]
async fn fault_15_console_prints_as_node_does() {
    let script = "console.log('%s is %d, %i, %f, %j, %o %% %c!', 'a', 1.5, 2.7, 3.5, {a: 1}, [1], 'css', -0, 10n);
        console.log([-0, undefined, null, 'it\\'s'], new Map([['k', 1]]), new Set('ab'), () => 1, class A {}, Symbol('s'));
        console.info({a: {b: {c: [1]}}}); console.dir(new (class P { x = 1 })());
        console.group('g'); console.warn('in\\nside'); console.groupEnd(); console.error('out');
        console.assert(1 === 1, 'no'); console.assert(false, 'yes %d', 1);
        console.count(); console.count(); console.count('x'); console.timeEnd('none'); console.debug();
        console.table([{a: 1, b: 'x'}, {a: 3}]); console.trace('here');
        const o = {}; o.self = o; console.log(o, Object.create(null), [, 1], Promise.resolve(1));";
    let expected = "a is 1.5, 2, 3.5, {\"a\":1}, [ 1 ] % ! -0 10n
[ -0, undefined, null, \"it's\" ] Map(1) { 'k' => 1 } Set(2) { 'a', 'b' } [Function (anonymous)] [class A] Symbol(s)
{ a: { b: { c: [ 1 ] } } }
P { x: 1 }
g
  in
  side
out
Assertion failed: yes 1
default: 1
default: 2
x: 1
Timer 'none' does not exist

┌─────────┬───┬─────┐
│ (index) │ a │ b   │
├─────────┼───┼─────┤
│ 0       │ 1 │ 'x' │
│ 1       │ 3 │     │
└─────────┴───┴─────┘
Trace: here
    at script.js:7:58
{ self: [Circular] } [Object: null prototype] {} [ empty, 1 ] Promise";
    assert_eq!(completed(script).await, expected);
}

#[tokio::test]
async fn fault_16_code_cannot_leave_its_wrapper() {
    for script in [
        "})(); (async () => { return 7",
        "}, function () { return 7",
        "} { return 7",
        "}); text('out'); ({",
        "1)); text('out'); ((2",
    ] {
        let (outcome, text) = run(script).await;
        assert_eq!(outcome, Outcome::Refused, "{script}");
        assert!(text.contains("SyntaxError") && text.contains("script.js:1:"), "{text}");
    }
}

#[tokio::test]
async fn fault_22_calls_start_at_once_and_may_be_awaited_many_times() {
    let tools = Arc::new(TestTools::default());
    let script = "const a = tools.echo({n: 1}), b = tools.never({}); const r = [await a, await a];
        return [r, await Promise.race([b, a])]";
    let result = codemode(limits(), &tools).execute(1, script, std::future::pending()).await;
    assert_eq!(parsed(result.text.lines().nth(1).unwrap()), json!([[{"n": 1}, {"n": 1}], {"n": 1}]));
    assert_eq!(result.calls.len(), 2);
}

#[tokio::test]
async fn fault_23_large_arguments_and_many_parallel_calls_are_ordinary() {
    let limits = ScriptLimits { argument_bytes: 8 << 20, ..limits() };
    let script = "const rows = Array.from({length: 20000}, (_, id) => ({id, name: 'row ' + id, tags: ['a', 'b']}));
        const back = await tools.echo({rows}); const many = await Promise.all(Array.from({length: 1000}, (_, n) => tools.echo({n})));
        return [back.rows.length, back.rows[19999].name, many.length, many[999].n]";
    let result = result_with(script, limits).await;
    assert_eq!(result.text, r#"[20000,"row 19999",1000,999]"#);
}

#[tokio::test]
async fn fault_24_neither_a_tool_nor_a_stack_shows_the_inside() {
    assert_eq!(
        completed("return [String(tools.echo), String(text), String(console.log), String(tools)]").await,
        "[\n  \"function echo() {\\n    [native code]\\n}\",\n  \"function text() {\\n    [native code]\\n}\",\n  \
         \"function log() {\\n    [native code]\\n}\",\n  \"[object Tools]\"\n]"
    );
    let script = "function f() { try { [1].map(() => { null.x }) } catch (e) { return e.stack } }\nreturn f()";
    assert_eq!(
        completed(script).await,
        "TypeError: cannot read property 'x' of null\n    at script.js:1:38\n    at map (native)\n    at f (script.js:1:26)\n    at script.js:2:8"
    );
    let script = "try { await tools.fail({}) } catch (e) { return e.stack }";
    assert_eq!(completed(script).await, "ToolError: it failed\n    at script.js:1:19");
}

#[tokio::test]
async fn fault_25_deep_values_take_linear_time_and_too_deep_ones_are_errors_that_can_be_caught() {
    let deep = |levels: u32, rest: &str| format!("let a = {{}}; for (let i = 0; i < {levels}; i++) a = {{a}}; {rest}");
    let result = result(&deep(16_000, "return a")).await;
    assert_eq!((result.outcome, result.text_bytes), (Outcome::Completed, 16_000 * 6 + 2 + 4));
    let caught = deep(100_000, "try { text(a) } catch (e) { return String(e) }");
    assert_eq!(completed(&caught).await, "RangeError: text is nested deeper than 50000 levels");
    let argument = deep(200, "try { await tools.echo(a) } catch (e) { return String(e) }");
    assert_eq!(completed(&argument).await, "RangeError: args is nested deeper than 100 levels");
}
