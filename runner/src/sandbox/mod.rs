//! Confinement by the kernel, of this process by itself, and the only `unsafe` code of the runner.
//!
//! Three programs confine themselves here. A script worker gives up everything but its pipes ([`confine_worker`]): its list
//! of system calls says what it may do. The runner gives up what no tool of it needs ([`confine_runner`]): its list says
//! what it may not do, and Landlock says where it may look and write. The process that watches over a shell gives up, for
//! itself and for all it will start, what no command needs ([`confine_tool`]). All refuse to go on when the kernel does not enforce
//! what was asked for: there is no best effort in silence. Landlock binds the calling thread and the threads it starts
//! later, so they are called before any other thread exists.

mod access;
mod error;
mod filter;
mod process;
mod programs;
mod runner;
mod tool;
mod tool_filter;
mod worker;

pub use access::{LandlockAbi, availability};
pub use error::SandboxError;
pub use programs::confine_programs;
pub use runner::{RunnerAccess, confine_runner};
pub use tool::{Domain, Left, ToolAccess, ToolLimits, confine_tool, confine_tool_without_scopes, devices};
pub use worker::{WorkerLimits, confine_worker, confine_worker_without_landlock};
