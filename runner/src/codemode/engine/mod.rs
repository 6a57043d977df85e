//! QuickJS: the only folder that imports rquickjs. One engine runs one script and is never dropped: the process ends first,
//! because tearing an engine down after it ran out of memory can abort.
//!
//! The engine knows nothing of pipes and of tools. It speaks to whoever drives it through [`Port`].

mod compile;
mod encode;
mod host;
mod prelude;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Persistent, Promise, Runtime, Value};

use self::compile::Form;
use self::encode::{Encoder, Purpose};
use self::prelude::Prelude;
use super::image;
use super::wire::{CallResult, Channel, End, FromWorker, How, Image, Printed, Reply, Start};

/// Bytes of native stack the engine may use. Its own check turns deeper recursion into a RangeError; the process's stack is
/// several times larger (`sandbox::confine_worker`).
const STACK: usize = 4 << 20;
/// Bytes of an error's text: enough for frames and causes, small enough to be kept whole in most budgets.
const ERROR_BYTES: usize = 16 << 10;
/// Bytes of one stored value, and of all of them with their keys.
const STORED_VALUE: usize = 256 << 10;
const STORED: usize = 1 << 20;
/// Notes that are worth reading.
const MOST_NOTES: usize = 10;

type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval, // Compiling the script needs it; the global is removed.
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::Performance,
);

/// The far side of an engine.
pub(super) trait Port: 'static {
    /// Sends a call; it may be held back until [`Port::flush`].
    fn call(&mut self, id: u64, tool: &str, arguments: &str);
    /// Sends a message at once.
    fn send(&mut self, message: &FromWorker);
    /// Sends what was held back.
    fn flush(&mut self);
    /// Waits for the answer to a call. `None` when there will be none.
    fn receive(&mut self) -> Option<String>;
    /// Sends the last message and ends the process.
    fn end(&mut self, end: End) -> !;
}

/// What the engine's host functions share.
struct State {
    port: Box<dyn Port>,
    start: Start,
    deadline: Instant,
    prelude: Option<Rc<Prelude>>,
    /// Set by the interrupt: the frames the script was at.
    interrupted: Option<String>,
    form: Form,
    /// The form's value counts only when nothing was printed.
    last_expression: bool,
    printed: [u64; 2],
    sent: [usize; 2],
    images: usize,
    store: Vec<(String, Option<String>)>,
    stored_bytes: usize,
    in_flight: usize,
    rejections: Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>,
}

type Shared = Rc<RefCell<State>>;

/// Runs one script to its end, which is the process's end.
pub(super) fn run(start: Start, port: Box<dyn Port>) -> ! {
    let deadline = Instant::now() + Duration::from_millis(start.timeout_ms);
    let heap = usize::try_from(start.heap_bytes).unwrap_or(usize::MAX);
    let stored_bytes = start.store.iter().map(|(key, json)| key.len() + json.len()).sum();
    let shared = Rc::new(RefCell::new(State {
        port,
        start,
        deadline,
        prelude: None,
        interrupted: None,
        form: Form::Body,
        last_expression: false,
        printed: [0; 2],
        sent: [0; 2],
        images: 0,
        store: Vec::new(),
        stored_bytes,
        in_flight: 0,
        rejections: Vec::new(),
    }));
    match engine(heap, deadline, &shared) {
        // The process ends inside: the engine is not torn down.
        Ok((_runtime, context)) => context.with(|ctx| finish(&shared, script(&ctx, &shared))),
        Err(error) => finish(&shared, failed(How::OutOfMemory, format!("the engine could not start: {error}"))),
    }
}

fn engine(heap: usize, deadline: Instant, shared: &Shared) -> rquickjs::Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(heap);
    runtime.set_max_stack_size(STACK);
    let flusher = Rc::clone(shared);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        // The engine asks some thousand times a second while it computes: calls that were started leave now.
        if let Ok(mut state) = flusher.try_borrow_mut() {
            state.port.flush();
        }
        Instant::now() >= deadline
    })));
    let rejections = Rc::clone(shared);
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
        if let Ok(mut state) = rejections.try_borrow_mut() {
            state.track_rejection(&ctx, promise, reason, is_handled);
        }
    })));
    let context = Context::custom::<Intrinsics>(&runtime)?;
    Ok((runtime, context))
}

impl State {
    fn track_rejection<'js>(&mut self, ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
        let promise = Persistent::save(ctx, promise);
        if is_handled {
            self.rejections.retain(|(known, _)| *known != promise);
        } else if self.rejections.len() < 64 {
            self.rejections.push((promise, Persistent::save(ctx, reason)));
        }
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    fn print(&mut self, channel: Channel, text: String) {
        let index = channel as usize;
        let (Some(printed), Some(sent)) = (self.printed.get_mut(index), self.sent.get_mut(index)) else { return };
        *printed += text.len() as u64 + 1;
        let room = self.start.output_bytes.saturating_sub(*sent);
        if room == 0 {
            return;
        }
        let mut text = text;
        text.truncate(text.floor_char_boundary(room));
        *sent += text.len() + 1;
        self.port.send(&FromWorker::Print(Printed { channel, text }));
    }

    /// Bytes that `text` had and that were not even handed over.
    fn count_unsent(&mut self, bytes: u64) {
        if let Some(printed) = self.printed.first_mut() {
            *printed += bytes;
        }
    }

    /// Keeps a value for later scripts. The error says which bound it would pass.
    fn store(&mut self, key: String, json: Option<String>) -> Result<(), String> {
        let size = json.as_ref().map_or(0, String::len);
        if size > STORED_VALUE {
            return Err(format!("the value has {size} bytes as JSON; store() keeps at most {STORED_VALUE}"));
        }
        let known = self.start.store.iter().position(|(name, _)| *name == key);
        let old = known.and_then(|index| self.start.store.get(index)).map_or(0, |(name, json)| name.len() + json.len());
        let new = json.as_ref().map_or(0, |json| key.len() + json.len());
        if self.stored_bytes - old + new > STORED {
            return Err(format!("store() keeps at most {STORED} bytes in all; remove a key with store(key, undefined)"));
        }
        self.stored_bytes = self.stored_bytes - old + new;
        if let Some(index) = known {
            self.start.store.remove(index);
        }
        if let Some(json) = &json {
            self.start.store.push((key.clone(), json.clone()));
        }
        self.store.retain(|(name, _)| *name != key);
        self.store.push((key, json));
        Ok(())
    }

    fn send_image(&mut self, image: Image) -> Result<(), String> {
        if self.images >= image::MOST {
            return Err(format!("a script returns at most {} images", image::MOST));
        }
        self.images += 1;
        self.port.send(&FromWorker::Image(image));
        Ok(())
    }
}

/// Ends the process with what the script did.
fn finish(shared: &Shared, mut end: End) -> ! {
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

fn failed(how: How, error: String) -> End {
    End { how, error, ..End::default() }
}

/// Compiles and runs the script of the start message.
fn script(ctx: &Ctx<'_>, shared: &Shared) -> End {
    let prelude = match install(ctx, shared) {
        Ok(prelude) => prelude,
        Err(error) => return failed(How::OutOfMemory, format!("the engine could not start: {error}")),
    };
    let program = match compile::compile(ctx, &prelude, shared) {
        Ok(program) => program,
        Err(refusal) => return failed(How::Refused, refusal),
    };
    let main: Value = match program.main.call((program.last,)) {
        Ok(value) => value,
        Err(error) => return thrown(ctx, &prelude, shared, error),
    };
    let Some(promise) = main.as_promise() else {
        return completed(ctx, &prelude, shared, &main);
    };
    if let Err(end) = drive(ctx, &prelude, shared, promise) {
        return end;
    }
    match promise.result::<Value>() {
        Some(Ok(value)) => completed(ctx, &prelude, shared, &value),
        Some(Err(error)) => thrown(ctx, &prelude, shared, error),
        None => stalled(ctx, &prelude, shared),
    }
}

/// Evaluates the prelude and gives the script its globals.
fn install<'js>(ctx: &Ctx<'js>, shared: &Shared) -> Result<Rc<Prelude>, String> {
    let build = || -> rquickjs::Result<Rc<Prelude>> {
        let mut options = EvalOptions::default();
        options.filename = Some("anchorhold".into());
        let prelude: Function = ctx.eval_with_options(include_str!("../prelude.js"), options)?;
        let host = host::functions(ctx, shared)?;
        let setup = host::setup(ctx, shared)?;
        let exports: Object = prelude.call((host, setup))?;
        let prelude = Rc::new(Prelude::new(ctx, &exports)?);
        shared.borrow_mut().prelude = Some(Rc::clone(&prelude));
        Ok(prelude)
    };
    build().catch(ctx).map_err(|error| error.to_string())
}

/// Runs jobs and delivers answers until the promise is settled or can not be.
fn drive<'js>(ctx: &Ctx<'js>, prelude: &Prelude, shared: &Shared, promise: &Promise<'js>) -> Result<(), End> {
    loop {
        while ctx.execute_pending_job() {
            if shared.borrow().interrupted.is_some() || shared.borrow().is_late() {
                return Err(timed_out(ctx, prelude, shared));
            }
        }
        if shared.borrow().interrupted.is_some() {
            return Err(timed_out(ctx, prelude, shared));
        }
        if promise.state() != PromiseState::Pending || shared.borrow().in_flight == 0 {
            return Ok(());
        }
        let line = shared.borrow_mut().port.receive();
        let Some(line) = line else {
            return Err(failed(How::TimedOut, "the runner went away".into()));
        };
        deliver(ctx, prelude, shared, &line).map_err(|error| thrown(ctx, prelude, shared, error))?;
    }
}

fn deliver<'js>(ctx: &Ctx<'js>, prelude: &Prelude, shared: &Shared, line: &str) -> rquickjs::Result<()> {
    let Ok(reply) = serde_json::from_str::<Reply>(line) else { return Ok(()) };
    {
        let mut state = shared.borrow_mut();
        state.in_flight = state.in_flight.saturating_sub(1);
    }
    match reply.result {
        CallResult::Json(json) => {
            let value = ctx.json_parse(json.get())?;
            prelude.resolve(ctx, reply.id, value)
        }
        CallResult::Text(text) => prelude.resolve(ctx, reply.id, text.as_ref()),
        CallResult::Error { message, code } => prelude.reject(ctx, reply.id, &message, &code),
    }
}

fn completed<'js>(ctx: &Ctx<'js>, prelude: &Prelude, shared: &Shared, value: &Value<'js>) -> End {
    let mut end = End::default();
    let (limit, counts) = {
        let state = shared.borrow();
        (state.start.output_bytes, !(state.last_expression && state.printed != [0; 2]))
    };
    if counts && !value.is_undefined() {
        match show(ctx, prelude, shared, value, "result", limit) {
            Ok((text, bytes)) => {
                end.value = Some(text);
                end.value_bytes = bytes;
            }
            Err(error) => return thrown(ctx, prelude, shared, error),
        }
    }
    end.notes = notes(ctx, prelude, shared, true);
    end
}

/// A value as it is printed: a string as it is, the rest as JSON.
fn show<'js>(
    ctx: &Ctx<'js>,
    prelude: &Prelude,
    shared: &Shared,
    value: &Value<'js>,
    label: &str,
    limit: usize,
) -> rquickjs::Result<(String, u64)> {
    if value.is_string() {
        let mut text = prelude.text(value);
        let bytes = text.len() as u64;
        text.truncate(text.floor_char_boundary(limit));
        return Ok((text, bytes));
    }
    let late = || shared.borrow().is_late();
    let encoded = Encoder::new(ctx, prelude, Purpose::Output, label, limit, &late)?.encode(value)?;
    Ok((encoded.text, encoded.bytes as u64))
}

fn stalled<'js>(ctx: &Ctx<'js>, prelude: &Prelude, shared: &Shared) -> End {
    let mut end = failed(
        How::Stalled,
        "the script waits for something that can never come: it awaits a promise, and no call is running that could settle it"
            .into(),
    );
    end.notes = notes(ctx, prelude, shared, false);
    end
}

fn timed_out<'js>(ctx: &Ctx<'js>, prelude: &Prelude, shared: &Shared) -> End {
    let frames = shared.borrow().interrupted.clone().unwrap_or_default();
    let timeout = shared.borrow().start.timeout_ms;
    let mut end = failed(How::TimedOut, format!("the deadline of {timeout} ms passed{frames}"));
    end.notes = notes(ctx, prelude, shared, false);
    end
}

/// What was thrown, told apart by what the engine throws of its own accord.
fn thrown<'js>(ctx: &Ctx<'js>, prelude: &Prelude, shared: &Shared, error: rquickjs::Error) -> End {
    if shared.borrow().interrupted.is_some() || shared.borrow().is_late() {
        return timed_out(ctx, prelude, shared);
    }
    let out_of_memory = |frames: &str| {
        let heap = shared.borrow().start.heap_bytes;
        failed(How::OutOfMemory, format!("the script's heap of {} MiB is used up{frames}", heap >> 20))
    };
    if !error.is_exception() {
        return match error {
            rquickjs::Error::Allocation => out_of_memory(""),
            other => failed(How::Threw, other.to_string()),
        };
    }
    let value = ctx.catch();
    let message = value.as_exception().and_then(|exception| exception.message());
    let is_engine_error = value.as_exception().is_some_and(|exception| {
        exception.get::<_, String>("name").is_ok_and(|name| name == "InternalError")
    });
    // Out of memory has four shapes: its error, an error whose text could not be made either, `null`, nothing at all.
    if value.type_of() == rquickjs::Type::Uninitialized
        || is_engine_error && matches!(message.as_deref(), None | Some("" | "out of memory"))
        || value.is_null() && never_says_null(shared)
    {
        return out_of_memory("");
    }
    let mut text = match prelude.thrown(ctx, value) {
        Ok(text) if shared.borrow().interrupted.is_none() => text,
        Ok(_) => return timed_out(ctx, prelude, shared),
        Err(_) if shared.borrow().is_late() => return timed_out(ctx, prelude, shared),
        Err(_) => {
            ctx.catch();
            "an error that cannot be printed".into()
        }
    };
    if let Some(excerpt) = compile::excerpt(&shared.borrow().start.script, &text) {
        text.push_str(&excerpt);
    }
    text.truncate(text.floor_char_boundary(ERROR_BYTES));
    let mut end = failed(How::Threw, text);
    end.notes = notes(ctx, prelude, shared, false);
    end
}

/// Out of memory can arrive as a thrown `null`. A script that does not contain the word is hardly the one who threw it.
fn never_says_null(shared: &Shared) -> bool {
    !shared.borrow().start.script.contains("null")
}

/// What the script should know about its own end.
fn notes<'js>(ctx: &Ctx<'js>, prelude: &Prelude, shared: &Shared, completed: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Ok((calls, total)) = prelude.unfinished(ctx)
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
    let rejections = std::mem::take(&mut shared.borrow_mut().rejections);
    if completed {
        for (_, reason) in rejections.into_iter().take(3) {
            let text = reason.restore(ctx).and_then(|reason| prelude.thrown(ctx, reason));
            let text = text.unwrap_or_else(|_| "an error that cannot be printed".into());
            notes.push(format!("a promise was rejected and nobody awaited it: {text}"));
        }
    }
    notes
}
