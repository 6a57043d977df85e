//! The operator: it turns a Job into a plan, a NetworkPolicy and a pod, and tells what became of them.
//!
//! ```text
//! watches ─► feed ─► stores ─► controller ─► {job, agent, mcp_server}::reconcile(object, context) ─► API server
//! ```
//!
//! Each reconcile is a pipeline of pure steps between reads and writes. State lives in the objects: a restart at any
//! point loses nothing.

#![forbid(unsafe_code)]

pub mod backoff;
pub mod canary;
pub mod context;
pub mod error;
pub mod job;
pub mod metrics;
pub mod object;
pub mod settings;
pub mod stores;
