//! The kind `McpServer`: a server that a platform team registers, and which of its tools may run.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code_server::CodeServer;
use crate::mcp_server_status::McpServerStatus;
use crate::reference::{ConfigMapKeyRef, SecretKeyRef};
use crate::rule;
use crate::rule_http;

/// How a server is reached, and what of it may be used.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "anchorhold.dev",
    version = "v1alpha1",
    kind = "McpServer",
    plural = "mcpservers",
    singular = "mcpserver",
    shortname = "amcp",
    category = "anchorhold",
    namespaced,
    status = "McpServerStatus",
    derive = "PartialEq",
    // Uninstalling the chart must not delete every object of the kind.
    annotation("helm.sh/resource-policy", "keep"),
    label("app.kubernetes.io/part-of", "anchorhold"),
    doc = "An MCP server that jobs may reach. In full: mcpservers.anchorhold.dev; short: amcp.",
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Reason", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].reason"#),
    printcolumn(name = "Tools", type_ = "integer", json_path = ".status.toolCount"),
    printcolumn(name = "Host", type_ = "string", json_path = ".status.host"),
    printcolumn(name = "Checked", type_ = "date", json_path = ".status.lastProbeTime"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = rule::short_name("an McpServer"),
    validation = Rule::new("!self.metadata.name.contains('.')").message(
        "the name of an McpServer becomes a part of its tools' names and must not contain '.': use '-' in metadata.name"
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rule::exactly_one(
    &["url", "code"],
    "an McpServer needs exactly one of url and code: set one and remove the other",
))]
#[x_kube(validation = Rule::new("has(self.url) || (!has(self.headers) && !has(self.tls))").message(
    "headers and tls belong to a server with a url: remove them, a managed code server needs none"
))]
#[x_kube(validation = Rule::new("!has(self.tls) || !has(self.url) || self.url.startsWith('https://')").message(
    "spec.tls has no effect on an http:// URL: use https:// or remove it"
))]
#[x_kube(validation = Rule::new(
    "self.allowedNamespaces.from == 'Same' || !has(self.headers) || self.headers.all(header, !has(header.valueFrom))"
).message(
    "a server with Secrets serves its own namespace only: set spec.allowedNamespaces.from to Same, or register it in each namespace"
))]
#[x_kube(validation = Rule::new("self.requestTimeoutSeconds >= self.connectTimeoutSeconds").message(
    "spec.requestTimeoutSeconds must not be less than spec.connectTimeoutSeconds: raise the one or lower the other"
))]
pub struct McpServerSpec {
    /// Where the server speaks streamable HTTP: http or https, no user info, no fragment, no address of this host or node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    #[x_kube(validation = rule_http::url_shape("spec.url"))]
    #[x_kube(validation = rule_http::url_address("spec.url"))]
    pub url: Option<String>,
    /// A read-only code server that the operator runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeServer>,
    /// Headers of every request; at most 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    #[x_kube(validation = Rule::new("self.all(a, self.exists_one(b, b.name.lowerAscii() == a.name.lowerAscii()))").message(
        "two headers have the same name (upper and lower case do not differ): keep one"
    ))]
    pub headers: Vec<Header>,
    /// Seconds until a connection stands; 1 to 120.
    #[serde(default = "McpServerSpec::default_connect_timeout_seconds")]
    #[schemars(range(min = 1, max = 120))]
    pub connect_timeout_seconds: i64,
    /// Seconds one tool call may take; 1 to 3,600.
    #[serde(default = "McpServerSpec::default_request_timeout_seconds")]
    #[schemars(range(min = 1, max = 3600))]
    pub request_timeout_seconds: i64,
    /// Seconds between two probes; 30 to 86,400.
    #[serde(default = "McpServerSpec::default_probe_interval_seconds")]
    #[schemars(range(min = 30, max = 86_400))]
    pub probe_interval_seconds: i64,
    /// False cuts the server off, running jobs included.
    #[serde(default = "McpServerSpec::default_enabled")]
    pub enabled: bool,
    /// Tools that may run although the server does not mark them read-only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolAllow>,
    /// Where the server's tools appear.
    #[serde(default)]
    pub exposure: Exposure,
    /// Where single tools appear: the exact name wins, then the first pattern that matches; at most 128.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128))]
    pub tool_exposure: Vec<ToolExposure>,
    /// Which namespaces' agents may use the server.
    #[serde(default)]
    pub allowed_namespaces: AllowedNamespaces,
    /// How the server's certificate is checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
}

impl McpServerSpec {
    const fn default_connect_timeout_seconds() -> i64 {
        10
    }

    const fn default_request_timeout_seconds() -> i64 {
        60
    }

    const fn default_probe_interval_seconds() -> i64 {
        300
    }

    const fn default_enabled() -> bool {
        true
    }
}

impl Default for McpServerSpec {
    fn default() -> Self {
        Self {
            url: None,
            code: None,
            headers: Vec::new(),
            connect_timeout_seconds: Self::default_connect_timeout_seconds(),
            request_timeout_seconds: Self::default_request_timeout_seconds(),
            probe_interval_seconds: Self::default_probe_interval_seconds(),
            enabled: Self::default_enabled(),
            tools: None,
            exposure: Exposure::default(),
            tool_exposure: Vec::new(),
            allowed_namespaces: AllowedNamespaces::default(),
            tls: None,
        }
    }
}

/// A header of every request to the server. Exactly one of value and valueFrom.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rule::exactly_one(
    &["value", "valueFrom"],
    "a header needs exactly one of value and valueFrom: set one and remove the other",
))]
pub struct Header {
    /// Name of the header. Names that steer the connection or that a proxy writes are refused.
    #[schemars(length(min = 1, max = 128))]
    #[x_kube(validation = rule_http::header_name())]
    #[x_kube(validation = rule_http::header_name_allowed())]
    pub name: String,
    /// The value itself; not for secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    #[x_kube(validation = rule_http::header_value_characters())]
    #[x_kube(validation = rule_http::header_value_literal())]
    pub value: Option<String>,
    /// Where the value comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_from: Option<HeaderValueSource>,
}

/// Where a header's value comes from.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct HeaderValueSource {
    /// The key of a Secret. Only the broker of a job sees it, as a file, and reads it anew for each request.
    pub secret_key_ref: SecretKeyRef,
}

/// Tools that an administrator allows by name.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ToolAllow {
    /// Names or patterns with `*`; at most 256. A tool marked read-only by its server needs no entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "crate::crd::name_patterns")]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub allow: Vec<String>,
}

/// Where a tool appears.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// Callable from scripts when the agent has codemode, and declared to the model otherwise.
    #[default]
    Codemode,
    /// Declared to the model, and callable from scripts.
    Direct,
    /// Found with `tool_search`, then callable.
    Deferred,
    /// Unreachable.
    Hidden,
}

/// Where the tools of one name or pattern appear.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ToolExposure {
    /// A tool's name as its server knows it, or a pattern with `*`.
    #[schemars(length(min = 1, max = 128))]
    #[x_kube(validation = rule::name_pattern())]
    pub pattern: String,
    /// Where they appear.
    pub exposure: Exposure,
}

/// Which namespaces' agents may use a server.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("(self.from == 'Selector') == has(self.selector)").message(
    "spec.allowedNamespaces.selector goes with from: Selector, and from: Selector needs it: set both or neither"
))]
pub struct AllowedNamespaces {
    /// Same: the server's own. All: every namespace. Selector: those the selector matches.
    #[serde(default)]
    pub from: NamespacesFrom,
    /// Selects namespaces by their labels; only with Selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}

/// How namespaces are chosen.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamespacesFrom {
    /// The server's own namespace.
    #[default]
    Same,
    /// Every namespace.
    All,
    /// The namespaces a selector matches.
    Selector,
}

/// How a server's certificate is checked.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// The PEM certificates of the authorities to trust, instead of the public ones.
    pub ca_bundle_config_map_ref: ConfigMapKeyRef,
}
