//! The operator: it turns a Job into a plan, a NetworkPolicy and a pod, and tells what became of them.
//!
//! ```text
//! watches ─► feed ─► stores ─► controller ─► {job, agent, mcp_server}::reconcile(object, context) ─► API server
//! ```
//!
//! Each reconcile is a pipeline of pure steps between reads and writes. State lives in the objects: a restart at any
//! point loses nothing.

#![forbid(unsafe_code)]

pub mod agent;
pub mod args;
pub mod backoff;
pub mod canary;
pub mod context;
pub mod controller;
pub mod error;
pub mod feed;
pub mod http;
pub mod job;
pub mod lease;
pub mod mcp_server;
pub mod metrics;
pub mod object;
pub mod reference;
pub mod schema;
pub mod serve;
pub mod settings;
pub mod status;
pub mod stores;
pub mod telemetry;
pub mod unreadable;
