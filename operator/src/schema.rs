//! Which fields the operator knows. A field it does not know is a wish it would not honour, so it is named and refused.
//!
//! The API server prunes what its own CRD does not know; this catches a CRD that is newer than the operator.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::Value;

/// The fields below one place of an object: a CRD's schema without all that is not needed here.
#[derive(Debug, PartialEq, Eq)]
pub enum Known {
    /// Anything may stand here: a scalar, or a place that keeps what it does not know.
    Anything,
    /// An object of exactly these fields.
    Fields(BTreeMap<Box<str>, Known>),
    /// A list or a map of such values.
    Each(Box<Known>),
}

impl Known {
    /// What the definition knows of `spec`.
    #[must_use]
    pub fn spec_of(definition: &CustomResourceDefinition) -> Self {
        definition
            .spec
            .versions
            .iter()
            .find_map(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref()?.properties.as_ref()?.get("spec"))
            // A definition without a spec knows no field of it.
            .map_or_else(|| Self::Fields(BTreeMap::new()), Self::of)
    }

    fn of(schema: &JSONSchemaProps) -> Self {
        if schema.x_kubernetes_preserve_unknown_fields == Some(true) {
            return Self::Anything;
        }
        if let Some(properties) = &schema.properties {
            return Self::Fields(
                properties.iter().map(|(name, schema)| (name.as_str().into(), Self::of(schema))).collect(),
            );
        }
        if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
            return Self::Each(Box::new(Self::of(items)));
        }
        if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
            return Self::Each(Box::new(Self::of(values)));
        }
        Self::Anything
    }

    /// The path of the first field below `path` that is not known.
    #[must_use]
    pub fn first_unknown(&self, value: &Value, path: &str) -> Option<String> {
        match (self, value) {
            (Self::Fields(known), Value::Object(fields)) => fields.iter().find_map(|(name, value)| {
                let path = format!("{path}.{name}");
                match known.get(name.as_str()) {
                    Some(known) => known.first_unknown(value, &path),
                    None => Some(path),
                }
            }),
            (Self::Each(known), Value::Array(items)) => items
                .iter()
                .enumerate()
                .find_map(|(index, item)| known.first_unknown(item, &format!("{path}[{index}]"))),
            (Self::Each(known), Value::Object(values)) => {
                values.iter().find_map(|(name, value)| known.first_unknown(value, &format!("{path}.{name}")))
            }
            // A value of another type does not deserialise either, which says so better.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use anchorhold_crds::{Agent, Job, McpServer, crd};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_no_type_knows_is_named_with_its_path() {
        let known = Known::spec_of(&crd::<Job>());
        let spec = json!({
            "agentRef": {"name": "reader"},
            "script": "return 1",
            "sources": [{"name": "app", "configMap": {"name": "app"}}, {"name": "lib", "image": {"reference": "a", "verify": true}}],
        });
        assert_eq!(known.first_unknown(&spec, "spec"), Some("spec.sources[1].image.verify".into()));
    }

    #[test]
    fn maps_and_scalars_take_any_name() {
        let known = Known::spec_of(&crd::<Agent>());
        let spec = json!({
            "tools": ["read"],
            "sandbox": {"nodeSelector": {"disk": "ssd"}, "resources": {"limits": {"memory": "1Gi"}}, "tolerations": [{"key": "a"}]},
        });
        assert_eq!(known.first_unknown(&spec, "spec"), None);
    }

    #[test]
    fn nothing_of_our_kinds_is_left_unchecked() {
        for definition in [crd::<Job>(), crd::<Agent>(), crd::<McpServer>()] {
            let known = Known::spec_of(&definition);
            assert_eq!(known.first_unknown(&json!({"surprise": []}), "spec"), Some("spec.surprise".into()));
        }
    }
}
