//! Executes one plan and reports what came of it.
//!
//! The order in which a run is built up is the order of its safety: the plan is parsed, the network gate is passed, the
//! process confines itself, and only then does anything of the plan run. Kernel tools, codemode and the broker's client
//! never import one another; every call goes through one router (policy, limits, call, truncate, record).

pub mod codemode;
mod error;
pub mod gate;
pub mod kernel;
pub mod record;
pub mod router;
pub mod run;
#[expect(unsafe_code, reason = "the one place for system calls that no crate wraps")]
pub mod sandbox;
pub mod tool;
