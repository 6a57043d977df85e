//! The model an agent works with.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretKeyRef;
use crate::rule_http;

/// A model and how to reach it. The key stays with the broker; the sandbox never sees it.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Which protocol the endpoint speaks.
    pub provider: ModelProvider,
    /// The model's name as the endpoint knows it.
    #[schemars(length(min = 1, max = 256))]
    #[x_kube(validation = Rule::new(r"!self.matches('[\\s[:cntrl:]]')").message(
        "spec.model.name must not contain white space: write the name as the endpoint knows it"
    ))]
    pub name: String,
    /// Where the endpoint is; the provider's own when left out. Same rules as for the URL of an McpServer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    #[x_kube(validation = rule_http::url_shape("spec.model.baseUrl"))]
    #[x_kube(validation = rule_http::url_address("spec.model.baseUrl"))]
    pub base_url: Option<String>,
    /// The Secret with the API key. Left out for endpoints that need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_secret_ref: Option<SecretKeyRef>,
    /// Tokens of one answer, at most; 1 to 1,000,000. The runner's default for the provider when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_output_tokens: Option<i64>,
    /// Sampling temperature, 0 to 2; not sent when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
}

/// The protocol a model's endpoint speaks.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelProvider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI-compatible chat completions.
    OpenAI,
}

impl ModelProvider {
    /// The value as a manifest writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAI => "OpenAI",
        }
    }
}
