//! QuickJS: the only folder that imports rquickjs. One engine runs one script and is never dropped: the process ends first,
//! because tearing an engine down after it ran out of memory can abort.
//!
//! The engine knows nothing of pipes and of tools. It speaks to whoever drives it through [`Port`].

mod compile;
mod encode;
mod ending;
mod host;
mod prelude;
mod state;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Promise, Runtime, Value};

use self::compile::Form;
use self::ending::{completed, failed, finish, stalled, thrown, timed_out};
use self::prelude::Prelude;
use self::state::State;
use super::wire::{CallResult, End, FromWorker, How, Reply, Start};

/// Bytes of native stack the engine may use. Its own check turns deeper recursion into a `RangeError`; the process's stack is
/// several times larger (`sandbox::confine_worker`).
const STACK: usize = 4 << 20;

/// The script's globals: one function expression, in pieces that are read one after another and see one another.
const PRELUDE: &str = concat!(
    include_str!("../prelude/taken.js"),
    include_str!("../prelude/stacks.js"),
    include_str!("../prelude/values.js"),
    include_str!("../prelude/console.js"),
    include_str!("../prelude/tools.js"),
    include_str!("../prelude/globals.js"),
);

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

type Shared = Rc<RefCell<State>>;

/// Where a script runs: the engine's context, the prelude's functions in it, and what is shared with the host functions.
struct Realm<'a, 'js> {
    ctx: &'a Ctx<'js>,
    prelude: &'a Prelude,
    shared: &'a Shared,
}

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

/// Compiles and runs the script of the start message.
fn script(ctx: &Ctx<'_>, shared: &Shared) -> End {
    let prelude = match install(ctx, shared) {
        Ok(prelude) => prelude,
        Err(error) => return not_begun(shared, How::OutOfMemory, format!("the engine could not start: {error}")),
    };
    let realm = Realm { ctx, prelude: &prelude, shared };
    let program = match compile::compile(&realm) {
        Ok(program) => program,
        Err(refusal) => return not_begun(shared, How::Refused, refusal),
    };
    let main: Value = match program.main.call((program.last,)) {
        Ok(value) => value,
        Err(error) => return thrown(&realm, error),
    };
    let Some(promise) = main.as_promise() else {
        return completed(&realm, &main);
    };
    match drive(&realm, promise) {
        Drive::Late => timed_out(&realm),
        Drive::Failed(error) => thrown(&realm, error),
        Drive::Settled => match promise.result::<Value>() {
            Some(Ok(value)) => completed(&realm, &value),
            Some(Err(error)) => thrown(&realm, error),
            None => stalled(&realm),
        },
    }
}

/// The end of a script that did not come to run. On a machine that is very busy the deadline may be the reason, whatever the
/// interrupted engine says.
fn not_begun(shared: &Shared, how: How, problem: String) -> End {
    let state = shared.borrow();
    if state.is_late() {
        let deadline = state.start.deadline_ms;
        return failed(How::TimedOut, format!("the deadline of {deadline} ms passed before the script began"));
    }
    failed(how, problem)
}

/// Evaluates the prelude and gives the script its globals.
fn install(ctx: &Ctx<'_>, shared: &Shared) -> Result<Rc<Prelude>, String> {
    let build = || -> rquickjs::Result<Rc<Prelude>> {
        let mut options = EvalOptions::default();
        options.filename = Some("anchorhold".into());
        let prelude: Function = ctx.eval_with_options(PRELUDE, options)?;
        let host = host::functions(ctx, shared)?;
        let setup = host::setup(ctx, shared)?;
        let exports: Object = prelude.call((host, setup))?;
        let prelude = Rc::new(Prelude::new(ctx, &exports)?);
        shared.borrow_mut().prelude = Some(Rc::clone(&prelude));
        Ok(prelude)
    };
    build().catch(ctx).map_err(|error| error.to_string())
}

/// Why there is nothing more to run.
enum Drive {
    /// The promise is settled, or no call is left that could settle it.
    Settled,
    /// The deadline has passed.
    Late,
    /// An answer could not be delivered.
    Failed(rquickjs::Error),
}

/// Runs jobs and delivers answers until the promise is settled or can not be.
fn drive<'js>(realm: &Realm<'_, 'js>, promise: &Promise<'js>) -> Drive {
    let is_late = || {
        let state = realm.shared.borrow();
        state.interrupted.is_some() || state.is_late()
    };
    loop {
        while realm.ctx.execute_pending_job() {
            if is_late() {
                return Drive::Late;
            }
        }
        if realm.shared.borrow().interrupted.is_some() {
            return Drive::Late;
        }
        if promise.state() != PromiseState::Pending || realm.shared.borrow().in_flight == 0 {
            return Drive::Settled;
        }
        let line = realm.shared.borrow_mut().port.receive();
        // Without a host there is nobody to tell; its end of the pipe is closed in both directions.
        let Some(line) = line else { return Drive::Late };
        if let Err(error) = deliver(realm, &line) {
            return Drive::Failed(error);
        }
    }
}

fn deliver(realm: &Realm<'_, '_>, line: &str) -> rquickjs::Result<()> {
    let Ok(reply) = serde_json::from_str::<Reply>(line) else { return Ok(()) };
    {
        let mut state = realm.shared.borrow_mut();
        state.in_flight = state.in_flight.saturating_sub(1);
    }
    match reply.result {
        CallResult::Json(json) => {
            let value = realm.ctx.json_parse(json.get())?;
            realm.prelude.resolve(realm.ctx, reply.id, value)
        }
        CallResult::Text(text) => realm.prelude.resolve(realm.ctx, reply.id, text.as_ref()),
        CallResult::Error { message, code } => realm.prelude.reject(realm.ctx, reply.id, &message, &code),
    }
}
