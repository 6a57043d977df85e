//! The page: everything in one file, nothing that runs, nothing that is fetched. Pure.

use anchorhold_plan::{Enforcement, Outcome, RunResult};
use anchorhold_runner::record::{BlockedCall, CallEnded, Content, Cut, Event, RunStarted, ScriptEnded, ScriptStarted};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::read::Run;
use crate::run::show::size;

const STYLE: &str = include_str!("page.css");
/// The page holds what a script chose to print: whatever gets past the escaping still loads and runs nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Renders a record that has at least one line.
pub(super) fn render(run: &Run) -> String {
    let span = Span::of(run);
    let started = run.lines.iter().find_map(|line| match &line.event {
        Event::RunStarted(started) => Some(started),
        _ => None,
    });
    let ended = run.lines.iter().rev().find_map(|line| match &line.event {
        Event::RunEnded(ended) => Some(ended),
        _ => None,
    });
    let name = started.map_or("a job", |started| started.job.name.as_str());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (name) " – run" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (name) (outcome(ended.map(|ended| &ended.result))) }
                @if let Some(started) = started { (facts(started, &span, ended.map(|ended| &ended.result))) }
                (lacking(run, ended.is_some()))
                @if let Some(ended) = ended { (result(&ended.result)) }
                (timeline(run, &span))
                @if let Some(ended) = ended { (files(&ended.result)) }
            }
        }
    }
    .into_string()
}

/// The time a run took, as its lines tell.
struct Span {
    from: Timestamp,
    milliseconds: f64,
}

impl Span {
    fn of(run: &Run) -> Self {
        let times = || run.lines.iter().map(|line| line.time);
        let first = times().min().unwrap_or(Timestamp::UNIX_EPOCH);
        let last = times().max().unwrap_or(first);
        Self { from: first, milliseconds: milliseconds(first, last).max(1.0) }
    }

    /// From where to where, in percent of the run, something lasted that ended then.
    fn place(&self, ended: Timestamp, took: u64) -> (f64, f64) {
        let end = milliseconds(self.from, ended).clamp(0.0, self.milliseconds);
        let took = f64::from(u32::try_from(took).unwrap_or(u32::MAX)).min(end);
        (100.0 * (end - took) / self.milliseconds, 100.0 * took / self.milliseconds)
    }
}

fn milliseconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64() * 1000.0
}

fn outcome(result: Option<&RunResult>) -> Markup {
    let (word, class) = match result.and_then(|result| result.outcome) {
        Some(Outcome::Completed) => ("Completed".to_owned(), "good"),
        Some(other) => (format!("{other:?}"), "bad"),
        None => ("not ended".to_owned(), "warn"),
    };
    html! { span class={"outcome " (class)} { (word) } }
}

fn facts(started: &RunStarted, span: &Span, result: Option<&RunResult>) -> Markup {
    let fact = |name: &str, value: String| html! { div { dt { (name) } dd { (value) } } };
    html! {
        dl {
            (fact("Namespace", started.job.namespace.clone()))
            (fact("Started", format!("{:.0}", span.from)))
            (fact("Duration", format!("{:.3} s", span.milliseconds / 1000.0)))
            @if let Some(result) = result {
                (fact("Scripts", result.usage.scripts.to_string()))
                (fact("Calls", result.usage.tool_calls.to_string()))
                (fact("Blocked calls", result.usage.blocked_calls.to_string()))
                (fact("Network", network(result.enforcement).to_owned()))
            }
            (fact("Sources", if started.sources.is_empty() { "none".to_owned() } else { started.sources.join(", ") }))
            (fact("Tools", started.tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ")))
            (fact("Runner", started.runner.clone()))
        }
    }
}

const fn network(enforcement: Enforcement) -> &'static str {
    match enforcement {
        Enforcement::Unknown => "not known",
        Enforcement::Enforced => "closed, and proved so",
        Enforcement::Assumed => "closed, as the administrator says",
        Enforcement::NotEnforced => "open: nothing was run",
        Enforcement::NoCluster => "closed by the kernel of this machine",
    }
}

fn lacking(run: &Run, ended: bool) -> Markup {
    let note = |text: String| html! { p.note { (text) } };
    html! {
        @if !ended { (note("The record ends before the run: it still goes on, or its runner was killed.".to_owned())) }
        @if run.missing > 0 { (note(format!("{} lines of the record are missing.", run.missing))) }
        @if run.beyond > 0 { (note(format!("{} further lines are left out of this page.", run.beyond))) }
        @if run.foreign > 0 { (note(format!("{} lines are none of a record and are left out.", run.foreign))) }
    }
}

fn result(result: &RunResult) -> Markup {
    html! {
        h2 { "Result" }
        @if !result.message.is_empty() { pre.bad { (result.message) } }
        @if !result.text.is_empty() { pre { (result.text) } }
        @if result.is_cut() { p.dim { "cut; the whole text has " (size(result.text_bytes)) } }
        @if result.text.is_empty() && result.message.is_empty() { p.dim { "The program returned and printed nothing." } }
    }
}

fn timeline(run: &Run, span: &Span) -> Markup {
    html! {
        h2 { "What happened" }
        table {
            thead { tr { th.n { "at" } th.track { "" } th { "what" } th.n { "took" } th.n { "result" } } }
            tbody { @for line in &run.lines { (row(&line.event, line.time, span)) } }
        }
    }
}

fn row(event: &Event, time: Timestamp, span: &Span) -> Markup {
    match event {
        Event::Call(call) => call_row(call, time, span),
        Event::Blocked(BlockedCall { tool, reason, arguments, script, .. }) => cells(
            "warn",
            span,
            (time, None),
            html! { strong { "blocked " (tool) } " " (of_script(*script)) " " (shown(arguments)) div.warn { (reason) } },
            html! {},
        ),
        Event::ScriptStarted(ScriptStarted { script, source }) => cells(
            "",
            span,
            (time, None),
            html! { "script " (script) " begins" @if let Some(text) = &source.text { details { summary { "its text" } pre { (text) } } } },
            html! { (size(source.bytes)) },
        ),
        Event::ScriptEnded(ScriptEnded { script, outcome, duration_ms, message, output }) => cells(
            if *outcome == Outcome::Completed { "" } else { "bad" },
            span,
            (time, Some(*duration_ms)),
            html! { "script " (script) " ends: " (format!("{outcome:?}")) @if !message.is_empty() { pre { (message) } } },
            html! { (size(output.bytes)) },
        ),
        Event::Cut(Cut { call, bytes, kept, .. }) => cells(
            "warn",
            span,
            (time, None),
            html! { @if let Some(call) = call { "the result of call " (call) } @else { "the output of the script" } " was cut to " (size(*kept)) },
            html! { (size(*bytes)) },
        ),
        Event::GatePassed(gate) => cells(
            "",
            span,
            (time, Some(gate.duration_ms)),
            html! { "network gate: " (network(gate.enforcement)) @if gate.rounds > 0 { " after " (gate.rounds) " rounds" } },
            html! {},
        ),
        Event::RecordLost(lost) => cells(
            "warn",
            span,
            (time, None),
            html! { (lost.events) " events were lost: nobody read the record" },
            html! {},
        ),
        Event::RunStarted(_) => cells("", span, (time, None), html! { "the run begins" }, html! {}),
        Event::RunEnded(ended) => cells("", span, (time, Some(ended.duration_ms)), html! { "the run ends" }, html! {}),
    }
}

fn call_row(call: &CallEnded, time: Timestamp, span: &Span) -> Markup {
    let CallEnded { call: number, script, tool, duration_ms, error, message, arguments, result, .. } = call;
    let what = html! {
        strong { (tool) } " " span.dim { "call " (number) } " " (of_script(*script)) " " (shown(arguments))
        @if let Some(error) = error { div.bad { (error) ": " (message) } }
        @if let Some(text) = result.as_ref().and_then(|result| result.text.as_ref()) { details { summary { "its result" } pre { (text) } } }
    };
    let came = html! { @if let Some(result) = result { (size(result.bytes)) } };
    cells(if error.is_some() { "bad" } else { "" }, span, (time, Some(*duration_ms)), what, came)
}

fn of_script(script: Option<u64>) -> Markup {
    html! { @if let Some(script) = script { span.dim { "of script " (script) } } }
}

fn shown(arguments: &Content) -> Markup {
    html! {
        @if let Some(text) = &arguments.text { code { (text) } }
        @else { span.dim title=(arguments.sha256) { (size(arguments.bytes)) " of arguments" } }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a literal at each call reads better")]
fn cells(class: &str, span: &Span, (time, took): (Timestamp, Option<u64>), what: Markup, came: Markup) -> Markup {
    let (left, width) = span.place(time, took.unwrap_or(0));
    let began =
        milliseconds(span.from, time) - took.map_or(0.0, |took| f64::from(u32::try_from(took).unwrap_or(u32::MAX)));
    html! {
        tr class=(class) {
            td.n { "+" (format!("{:.3}", began.max(0.0) / 1000.0)) " s" }
            td.track { div { @if took.is_some() { i style=(format!("left:{left:.2}%;width:{width:.2}%")) {} } } }
            td.what { (what) }
            td.n { @if let Some(took) = took { (took) " ms" } }
            td.n { (came) }
        }
    }
}

fn files(result: &RunResult) -> Markup {
    let more = result.files_total.saturating_sub(result.files.len() as u64);
    html! {
        h2 { "Files in /out" }
        @if result.files_total == 0 { p.dim { "none" } }
        @else {
            table {
                thead { tr { th { "name" } th.n { "size" } th { "SHA-256" } } }
                tbody {
                    @for file in &result.files {
                        tr { td.what { (file.name) } td.n { (size(file.size_bytes)) } td.what { code { (file.sha256) } } }
                    }
                }
            }
            @if more > 0 { p.dim { (more) " more files are not listed" } }
        }
    }
}
