//! The `CustomResourceDefinitions` as the API server gets them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;
use kube::core::Rule;
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::agent::{Agent, tool_pattern};
use crate::job::Job;
use crate::mcp_server::McpServer;
use crate::rule;

/// The definitions of all kinds, in the order of their names.
#[must_use]
pub fn all() -> Vec<CustomResourceDefinition> {
    vec![crd::<Agent>(), crd::<Job>(), crd::<McpServer>()]
}

/// The definition of one kind. It differs from [`CustomResourceExt::crd`] in that no field takes `null`: the API server
/// then drops `prompt: null` before the rules look, where it would otherwise store a field that is there and is not.
#[must_use]
pub fn crd<K: CustomResourceExt>() -> CustomResourceDefinition {
    let mut definition = K::crd();
    for version in &mut definition.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            refuse_null(schema);
        }
    }
    definition
}

fn refuse_null(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    for property in schema.properties.iter_mut().flat_map(std::collections::BTreeMap::values_mut) {
        refuse_null(property);
    }
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => refuse_null(items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(refuse_null),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        refuse_null(values);
    }
}

/// An amount. Kubernetes' own schema of it carries a description of two screens.
pub(crate) fn quantity(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-int-or-string": true })
}

/// Amounts by name.
pub(crate) fn quantities(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "maxProperties": 3,
        "additionalProperties": { "x-kubernetes-int-or-string": true },
    })
}

/// The entries of an Agent's `tools`.
pub(crate) fn tool_patterns(_: &mut SchemaGenerator) -> Schema {
    strings(256, 256, &tool_pattern())
}

/// Names or patterns of tools, as their server knows them.
pub(crate) fn name_patterns(_: &mut SchemaGenerator) -> Schema {
    strings(256, 128, &rule::name_pattern())
}

/// Patterns of files.
pub(crate) fn file_patterns(_: &mut SchemaGenerator) -> Schema {
    strings(128, 256, &rule::file_pattern())
}

/// A list of strings whose every entry a rule looks at.
fn strings(max_items: u32, max_length: u32, rule: &Rule) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": max_items,
        "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": max_length,
            "x-kubernetes-validations": [rule],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_definition() {
        let names: Vec<_> = all().into_iter().filter_map(|definition| definition.metadata.name).collect();
        assert_eq!(names, ["agents.anchorhold.dev", "jobs.anchorhold.dev", "mcpservers.anchorhold.dev"]);
    }

    #[test]
    fn no_field_takes_null() {
        assert!(!serde_json::to_string(&all()).unwrap().contains("nullable"));
    }
}
