//! From text to a function: what form the script has, and that it cannot leave its wrapper.
//!
//! A script is the body of an async function. Text such as `})(); (async () => {` would close that function and run outside
//! of it, so the text is compiled in two wrappers that differ in what may follow their closing brace: after an arrow function
//! in parentheses only `,` or `)` can come, after a function declaration only a statement can. No text leaves both. Nothing
//! of a check runs: each begins with `throw 0`.

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function, Value};

use super::Realm;
use super::prelude::Prelude;
use crate::codemode::source;
use crate::codemode::syntax;

const FILE: &str = "script.js";
/// What a value of the last expression passes through, so that it counts only when nothing was printed.
const LAST: &str = "return last$(";
/// Lines from the end at which a last expression is looked for.
const TAIL_LINES: usize = 40;
/// Bytes of a script in which it is looked for: each attempt compiles the script.
const TAIL_BYTES: usize = 64 << 10;

/// How the text is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As the body of an async function.
    Body,
    /// As one expression, whose value is the result.
    Expression,
    /// As a body whose last statement is an expression; from this line and column on, columns are shifted.
    Tail { line: u32, column: u32 },
}

impl Form {
    /// A place in the text that was sent, from a place in what was compiled: the wrapper takes the first line. `None` for the
    /// wrapper itself; what is behind the text counts as its end.
    pub(super) fn place(self, line: u32, column: u32, script: &str) -> Option<(u32, u32)> {
        let line = line.checked_sub(1).filter(|line| *line > 0)?;
        let lines = u32::try_from(script.lines().count()).unwrap_or(u32::MAX).max(1);
        if line > lines {
            let last = source::line(script, lines).unwrap_or_default();
            return Some((lines, u32::try_from(last.encode_utf16().count()).unwrap_or(0) + 1));
        }
        let shift = u32::try_from(LAST.len()).unwrap_or(0);
        let column = match self {
            Self::Tail { line: tail, column: start } if line == tail && column > start => {
                (column.saturating_sub(shift)).max(1)
            }
            _ => column,
        };
        Some((line, column))
    }
}

/// A script that is ready to be called.
pub(super) struct Program<'js> {
    pub(super) main: Function<'js>,
    /// Passed to it: the function that marks the last expression.
    pub(super) last: Function<'js>,
}

/// Finds the script's form and compiles it. The error is what the script's author is told.
pub(super) fn compile<'js>(realm: &Realm<'_, 'js>) -> Result<Program<'js>, String> {
    let Realm { ctx, prelude, shared } = *realm;
    let script = shared.borrow().start.script.clone();
    let (form, code) = if let Some(code) = expression(ctx, &script) {
        (Form::Expression, code)
    } else {
        check_body(ctx, prelude, &script)?;
        tail(ctx, &script).unwrap_or_else(|| (Form::Body, body(&script)))
    };
    shared.borrow_mut().form = form;
    let main = evaluate::<Function>(ctx, &code).map_err(|_| refusal(ctx, prelude, &script))?;
    let marked = std::rc::Rc::clone(shared);
    let last = Function::new(ctx.clone(), move |value: Value<'js>| {
        marked.borrow_mut().last_expression = true;
        value
    });
    let last = last.map_err(|error| error.to_string())?;
    Ok(Program { main, last })
}

fn body(script: &str) -> String {
    format!("(async (last$) => {{\n{script}\n}})")
}

/// The code of a text that is one expression. A function is called: `async () => {…}` by itself does nothing otherwise.
fn expression(ctx: &Ctx<'_>, script: &str) -> Option<String> {
    let text = without_semicolon(script);
    if !is_expression(ctx, text) {
        return None;
    }
    Some(format!(
        "(async (last$) => {{ const value = await (\n{text}\n); return typeof value === 'function' && !/^class\\b/.test(value) ? value() : value }})"
    ))
}

/// Parentheses and brackets differ in what may stand between them: nothing that leaves one is at home in the other.
fn is_expression(ctx: &Ctx<'_>, text: &str) -> bool {
    parses(ctx, &format!("throw 0; (async () => (\n{text}\n))"))
        && parses(ctx, &format!("throw 0; (async () => [\n{text}\n])"))
}

fn is_body(ctx: &Ctx<'_>, text: &str) -> bool {
    parses(ctx, &closed_by_parenthesis(text)) && parses(ctx, &closed_by_brace(text))
}

fn closed_by_parenthesis(text: &str) -> String {
    format!("throw 0; (async (last$) => {{\n{text}\n}})")
}

fn closed_by_brace(text: &str) -> String {
    format!("throw 0; {{ async function script(last$) {{\n{text}\n}} }}")
}

fn check_body(ctx: &Ctx<'_>, prelude: &Prelude, script: &str) -> Result<(), String> {
    for code in [closed_by_parenthesis(script), closed_by_brace(script)] {
        if !parses(ctx, &code) {
            // Once more, for the error.
            _ = evaluate::<Value>(ctx, &code);
            return Err(refusal(ctx, prelude, script));
        }
    }
    Ok(())
}

fn parses(ctx: &Ctx<'_>, code: &str) -> bool {
    // A text that compiles runs into `throw 0`.
    evaluate::<Value>(ctx, code).is_err() && ctx.catch().as_int() == Some(0)
}

fn evaluate<'js, V: rquickjs::FromJs<'js>>(ctx: &Ctx<'js>, code: &str) -> rquickjs::Result<V> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(FILE.into());
    ctx.eval_with_options(code, options)
}

fn without_semicolon(text: &str) -> &str {
    let text = text.trim_end();
    text.strip_suffix(';').unwrap_or(text)
}

/// A body whose last statement is an expression: `const x = 1; x` by itself would return nothing.
fn tail(ctx: &Ctx<'_>, script: &str) -> Option<(Form, String)> {
    if script.len() > TAIL_BYTES {
        return None;
    }
    let mut end = script.trim_end().len();
    for _ in 0..TAIL_LINES {
        let start = script.get(..end)?.rfind('\n').map_or(0, |at| at + 1);
        let line = script.get(start..end)?;
        let indent = line.len() - line.trim_start().len();
        // A statement begins at the line's beginning, or behind a semicolon in it: `const x = 1; x`.
        let behind = without_semicolon(line).rfind(';').map(|at| at + 1);
        let behind = behind.map(|at| at + line.get(at..).map_or(0, |rest| rest.len() - rest.trim_start().len()));
        for offset in behind.into_iter().chain([indent]) {
            if let Some(found) = split(ctx, script, start + offset) {
                return Some(found);
            }
        }
        if syntax::begins_statement(line.trim_start()) {
            return None;
        }
        end = start.checked_sub(1)?;
    }
    None
}

/// The script as a body and a last expression from this offset on, if that is what it is.
fn split(ctx: &Ctx<'_>, script: &str, offset: usize) -> Option<(Form, String)> {
    let (head, text) = script.split_at_checked(offset)?;
    let text = without_semicolon(text);
    if head.trim().is_empty() || syntax::begins_statement(text) || syntax::continues(text, head) {
        return None;
    }
    if !is_expression(ctx, text) || !is_body(ctx, head) {
        return None;
    }
    let line = u32::try_from(head.matches('\n').count() + 1).ok()?;
    let column = u32::try_from(head.rsplit('\n').next().unwrap_or_default().encode_utf16().count()).ok()?;
    Some((Form::Tail { line, column }, format!("(async (last$) => {{\n{head}{LAST}{text}\n)}})")))
}

/// The pending `SyntaxError` as the author is told it.
fn refusal(ctx: &Ctx<'_>, prelude: &Prelude, script: &str) -> String {
    let value = ctx.catch();
    let mut text = prelude.thrown(ctx, value).unwrap_or_else(|_| "the script cannot be compiled".into());
    let place = syntax::place(&text);
    if let Some(hint) = syntax::hint(script, place.map(|(line, _)| line)) {
        text = format!("{hint}\n{text}");
    }
    if let Some(excerpt) = excerpt(script, &text) {
        text.push_str(&excerpt);
    }
    text
}

/// The line of the script that an error's first frame names.
pub(super) fn excerpt(script: &str, error: &str) -> Option<String> {
    const WIDEST: usize = 160;
    let (line, _) = syntax::place(error)?;
    let text = source::line(script, line)?.trim_end();
    if text.trim().is_empty() {
        return None;
    }
    let shown = text.get(..text.floor_char_boundary(WIDEST)).unwrap_or_default();
    let more = if shown.len() < text.len() { "…" } else { "" };
    Some(format!("\n  {line} | {shown}{more}"))
}
