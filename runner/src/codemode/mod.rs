//! codemode: scripts that call tools, each in a process of its own.
//!
//! [`Codemode`] is the host's side: it starts a worker (this same program, see [`run_worker_if_asked`]), gives it the script,
//! answers its calls through the router and kills it at the deadline. Everything that comes from the worker is untrusted: a
//! script may have taken the engine over. The worker's side confines itself before it reads the script.

mod absent;
mod callee;
mod declaration;
mod engine;
mod host;
mod identifier;
mod image;
mod lines;
mod output;
mod result;
mod search;
mod session;
mod source;
mod suggest;
mod syntax;
mod wire;
mod worker;

pub use host::Codemode;
pub use result::{CallOutcome, CallSummary, ScriptResult};
pub use wire::Image;
pub use worker::run_worker_if_asked;
