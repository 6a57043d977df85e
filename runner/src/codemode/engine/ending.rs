//! How a script ended, as the last message tells it.

use rquickjs::Value;

use super::encode::{Encoder, Purpose};
use super::{Realm, Shared, compile};
use crate::codemode::wire::{End, How};

/// Bytes of an error's text: enough for frames and causes, small enough to be kept whole in most budgets.
const ERROR_BYTES: usize = 16 << 10;
/// Notes that are worth reading.
const MOST_NOTES: usize = 10;

/// Ends the process with what the script did.
pub(super) fn finish(shared: &Shared, mut end: End) -> ! {
    let mut state = shared.borrow_mut();
    let [text, console] = state.printed;
    end.text_bytes = text;
    end.console_bytes = console;
    end.notes.truncate(MOST_NOTES);
    if end.how == How::Completed {
        end.store = std::mem::take(&mut state.store);
    }
    state.port.end(end)
}

pub(super) fn failed(how: How, error: String) -> End {
    End { how, error, ..End::default() }
}

pub(super) fn completed<'js>(realm: &Realm<'_, 'js>, value: &Value<'js>) -> End {
    let mut end = End::default();
    let (limit, counts) = {
        let state = realm.shared.borrow();
        (state.start.output_bytes, !(state.last_expression && state.printed != [0; 2]))
    };
    if counts && !value.is_undefined() {
        match show(realm, value, "result", limit) {
            Ok((text, bytes)) => {
                end.value = Some(text);
                end.value_bytes = bytes;
            }
            Err(error) => return thrown(realm, error),
        }
    }
    end.notes = notes(realm, true);
    end
}

/// A value as it is printed: a string as it is, the rest as JSON.
pub(super) fn show<'js>(
    realm: &Realm<'_, 'js>,
    value: &Value<'js>,
    label: &str,
    limit: usize,
) -> rquickjs::Result<(String, u64)> {
    if value.is_string() {
        let mut text = realm.prelude.text(value);
        let bytes = text.len() as u64;
        text.truncate(text.floor_char_boundary(limit));
        return Ok((text, bytes));
    }
    let late = || realm.shared.borrow().is_late();
    let encoded = Encoder::new(realm.ctx, realm.prelude, Purpose::Output, label, limit, &late)?.encode(value)?;
    Ok((encoded.text, encoded.bytes as u64))
}

pub(super) fn stalled(realm: &Realm<'_, '_>) -> End {
    let mut end = failed(
        How::Stalled,
        "the script waits for something that can never come: it awaits a promise, and no call is running that could settle it"
            .into(),
    );
    end.notes = notes(realm, false);
    end
}

pub(super) fn timed_out(realm: &Realm<'_, '_>) -> End {
    let frames = realm.shared.borrow().interrupted.clone().unwrap_or_default();
    let deadline = realm.shared.borrow().start.deadline_ms;
    let mut end = failed(How::TimedOut, format!("the deadline of {deadline} ms passed{frames}"));
    end.notes = notes(realm, false);
    end
}

/// What was thrown, told apart by what the engine throws of its own accord.
pub(super) fn thrown(realm: &Realm<'_, '_>, error: rquickjs::Error) -> End {
    if realm.shared.borrow().interrupted.is_some() || realm.shared.borrow().is_late() {
        return timed_out(realm);
    }
    let out_of_memory = |frames: &str| {
        let heap = realm.shared.borrow().start.heap_bytes;
        failed(How::OutOfMemory, format!("the script's heap of {} MiB is used up{frames}", heap >> 20))
    };
    if !error.is_exception() {
        return match error {
            rquickjs::Error::Allocation => out_of_memory(""),
            other => failed(How::Threw, other.to_string()),
        };
    }
    let value = realm.ctx.catch();
    let message = value.as_exception().and_then(rquickjs::Exception::message);
    let is_engine_error = value
        .as_exception()
        .is_some_and(|exception| exception.get::<_, String>("name").is_ok_and(|name| name == "InternalError"));
    // Out of memory has four shapes: its error, an error whose text could not be made either, `null`, nothing at all.
    if value.type_of() == rquickjs::Type::Uninitialized
        || is_engine_error && matches!(message.as_deref(), None | Some("" | "out of memory"))
        || value.is_null() && never_says_null(realm.shared)
    {
        return out_of_memory("");
    }
    let mut text = match realm.prelude.thrown(realm.ctx, value) {
        Ok(text) if realm.shared.borrow().interrupted.is_none() => text,
        Ok(_) => return timed_out(realm),
        Err(_) if realm.shared.borrow().is_late() => return timed_out(realm),
        Err(_) => {
            realm.ctx.catch();
            "an error that cannot be printed".into()
        }
    };
    if let Some(excerpt) = compile::excerpt(&realm.shared.borrow().start.script, &text) {
        text.push_str(&excerpt);
    }
    text.truncate(text.floor_char_boundary(ERROR_BYTES));
    let mut end = failed(How::Threw, text);
    end.notes = notes(realm, false);
    end
}

/// Out of memory can arrive as a thrown `null`. A script that does not contain the word is hardly the one who threw it.
fn never_says_null(shared: &Shared) -> bool {
    !shared.borrow().start.script.contains("null")
}

/// What the script should know about its own end.
pub(super) fn notes(realm: &Realm<'_, '_>, completed: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Ok((calls, total)) = realm.prelude.unfinished(realm.ctx)
        && total > 0
    {
        let shown = calls.iter().take(5).map(|(tool, line)| match line {
            0 => tool.clone(),
            line => format!("{tool} (line {line})"),
        });
        let shown: Vec<String> = shown.collect();
        let more = if total > shown.len() { format!(" and {} more", total - shown.len()) } else { String::new() };
        let why = if completed { "the script ended without awaiting" } else { "cancelled, still running at the end" };
        notes.push(format!("{why}: {}{more}{}", shown.join(", "), if completed { "; cancelled" } else { "" }));
    }
    let rejections = std::mem::take(&mut realm.shared.borrow_mut().rejections);
    if completed {
        for (_, reason) in rejections.into_iter().take(3) {
            let text = reason.restore(realm.ctx).and_then(|reason| realm.prelude.thrown(realm.ctx, reason));
            let text = text.unwrap_or_else(|_| "an error that cannot be printed".into());
            notes.push(format!("a promise was rejected and nobody awaited it: {text}"));
        }
    }
    notes
}
