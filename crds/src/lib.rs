//! The kinds of `anchorhold.dev/v1alpha1`: [`Job`], [`Agent`] and [`McpServer`], with their conditions, reasons and names.
//!
//! What a manifest may say is written here once: as types, as schema bounds and as CEL rules whose messages say what to
//! do. The API server checks all of it; `anchorhold validate` checks the same without one. This crate knows neither the
//! operator nor the plan: `spec` types follow API conventions and live for years in etcd.

#![expect(unreachable_pub, reason = "kube's KubeSchema repeats each struct, with its `pub`, inside a function")]

mod agent;
mod agent_status;
pub mod check;
mod code_server;
mod condition;
mod crd;
mod header;
mod job;
mod job_status;
mod mcp_server;
mod mcp_server_status;
mod model;
pub mod names;
mod not_implemented;
pub mod quantity;
mod reason;
mod reference;
mod rule;
mod rule_http;
mod sandbox;
mod source;
mod url_check;

pub use agent::{Agent, AgentLimits, AgentServer, AgentSpec};
pub use agent_status::{AgentStatus, EffectiveTool, ToolOrigin, ToolPlace};
pub use code_server::{CodeServer, GitRepository};
pub use condition::{ConditionStatus, ConditionType, NewCondition, find_condition, is_true, set_condition};
pub use crd::{all, crd};
pub use header::{HEADER_NAME_MAX, HEADER_VALUE_MAX, HeaderRefusal, check_header_name, check_header_value};
pub use job::{Cancel, Job, JobSpec, Output};
pub use job_status::{
    AttemptStatus, JobResult, JobState, JobStatus, JobUsage, ResolvedEgress, ResolvedImage, ResolvedJob, ResolvedTool,
    ResultFile,
};
pub use mcp_server::{
    AllowedNamespaces, Exposure, Header, HeaderValueSource, McpServer, McpServerSpec, NamespacesFrom, Tls, ToolAllow,
    ToolExposure,
};
pub use mcp_server_status::{McpServerStatus, ReadOnly, ServerIdentity, ServerTool};
pub use model::{Model, ModelProvider};
pub use not_implemented::{NotImplemented, TOOLS_TO_COME};
pub use reason::{AgentReason, ConditionReason, JobReason, McpServerReason};
pub use reference::{AgentRef, ConfigMapKeyFrom, ConfigMapKeyRef, McpServerRef, SecretKeyRef, SecretRef};
pub use sandbox::{Resources, Sandbox};
pub use source::{ClaimSource, ConfigMapItem, ConfigMapSource, ImageSource, PullPolicy, RepositorySource, Source};
pub use url_check::{UrlRefusal, check_address, check_url};
