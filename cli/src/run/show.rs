//! What a person sees while a job runs: one line for each call, on standard error.

use std::fmt::Write;

use anchorhold_runner::record::{
    BlockedCall, CallEnded, Content, Cut, Event, GatePassed, RecordLost, RunStarted, ScriptEnded,
};
use serde_json::Value;

/// Characters of a line; a terminal of usual width shows it whole.
const WIDTH: usize = 100;

/// The line for an event, if it is worth one. Control characters are escaped: a script chose the words.
pub(super) fn line(event: &Event) -> Option<String> {
    match event {
        Event::RunStarted(RunStarted { job, sources, .. }) => {
            let over = if sources.is_empty() { String::new() } else { format!(" over {}", sources.join(", ")) };
            Some(format!("job {}{over}", job.name))
        }
        Event::Call(CallEnded { tool, duration_ms, error, message, arguments, result, .. }) => {
            let outcome = match (error, result) {
                (Some(_), _) => format!("failed: {}", plain(message)),
                (None, Some(result)) => size(result.bytes),
                (None, None) => String::new(),
            };
            Some(fit(&format!("  {tool} {}", described(arguments)), &format!("{outcome}  {duration_ms} ms")))
        }
        Event::Blocked(BlockedCall { tool, reason, .. }) => {
            Some(fit(&format!("  {}", plain(tool)), &format!("blocked: {}", plain(reason))))
        }
        Event::Cut(Cut { bytes, kept, .. }) => Some(format!("  cut to {} of {}", size(*kept), size(*bytes))),
        Event::RecordLost(RecordLost { events }) => Some(format!("  {events} events of the record were lost")),
        Event::ScriptEnded(ScriptEnded { duration_ms, .. }) => Some(format!("script ended after {duration_ms} ms")),
        Event::GatePassed(GatePassed { .. }) | Event::ScriptStarted(_) | Event::RunEnded(_) => None,
    }
}

/// `path=/workspace/app limit=20`: the arguments of a call, when the record carries them.
fn described(arguments: &Content) -> String {
    let parsed = arguments.text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(Value::Object(fields)) = parsed else { return size(arguments.bytes) };
    let mut words = String::new();
    for (name, value) in fields {
        let value = match value {
            Value::String(text) => plain(&text),
            other => plain(&other.to_string()),
        };
        let space = if words.is_empty() { "" } else { " " };
        let _ = write!(words, "{space}{}={value}", plain(&name));
    }
    words
}

/// A line whose end is kept when its beginning is too long.
fn fit(beginning: &str, end: &str) -> String {
    let end: String = end.chars().take(WIDTH / 2).collect();
    let room = WIDTH - 2 - end.chars().count();
    let mut shown: String = beginning.chars().take(room).collect();
    if beginning.chars().nth(room).is_some() {
        shown.pop();
        shown.push('…');
    }
    format!("{shown}  {end}")
}

/// `1.2 KB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{}.{} KB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Text without what a terminal would act on.
fn plain(text: &str) -> String {
    text.chars().take(4 * WIDTH).map(|character| if character.is_control() { '·' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str, error: Option<&str>, message: &str) -> Event {
        Event::Call(CallEnded {
            call: 1,
            script: Some(1),
            operation: "execute_tool".into(),
            tool: "grep".into(),
            duration_ms: 12,
            error: error.map(str::to_owned),
            message: message.into(),
            arguments: Content::of(arguments, true),
            result: error.is_none().then(|| Content::of(&"x".repeat(1_234), true)),
        })
    }

    #[test]
    fn a_call_is_one_line_with_what_was_asked_and_what_came() {
        assert_eq!(
            line(&call(r#"{"pattern":"pub fn","path":"/workspace/code"}"#, None, "")).unwrap(),
            "  grep pattern=pub fn path=/workspace/code  1.2 KB  12 ms"
        );
        assert_eq!(
            line(&call(r#"{"pattern":"("}"#, Some("invalid_arguments"), "no regex")).unwrap(),
            "  grep pattern=(  failed: no regex  12 ms"
        );
    }

    #[test]
    fn a_long_line_is_cut_and_cannot_steer_the_terminal() {
        let shown = line(&call(&format!(r#"{{"pattern":"\u001b[2J{}"}}"#, "y".repeat(500)), None, "")).unwrap();
        assert!(shown.starts_with("  grep pattern=·[2Jyyy") && shown.ends_with("y…  1.2 KB  12 ms"), "{shown}");
        assert_eq!(shown.chars().count(), WIDTH);
    }
}
