//! Checks a manifest as the API server would, without one: its structure (types, required and unknown fields, bounds) and,
//! with the feature `cel`, its rules. Messages name the field by its path and say what to do.

#[cfg(any(test, feature = "cel"))]
mod rules;
mod structure;
#[cfg(test)]
mod tests;

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use serde_json::Value;

/// Something in a manifest that the API server would refuse.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Where, such as `spec.sources[0].name`. Empty for the object as a whole.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

/// The checks of one kind.
#[derive(Debug)]
pub struct KindCheck {
    schema: JSONSchemaProps,
    #[cfg(any(test, feature = "cel"))]
    rules: rules::Rules,
}

impl KindCheck {
    /// The checks of the kind of that name; none when the kind is not ours.
    #[must_use]
    pub fn of_kind(kind: &str) -> Option<Self> {
        let definition = crate::all().into_iter().find(|definition| definition.spec.names.kind == kind)?;
        Self::of_definition(definition)
    }

    fn of_definition(definition: CustomResourceDefinition) -> Option<Self> {
        let version = definition.spec.versions.into_iter().next()?;
        let mut schema = version.schema?.open_api_v3_schema?;
        // What every object has, and what the API server adds to the schema of each kind by itself.
        let properties = schema.properties.get_or_insert_default();
        for (name, type_) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            let property = JSONSchemaProps { type_: Some(type_.to_owned()), ..JSONSchemaProps::default() };
            properties.insert(name.to_owned(), property);
        }
        Some(Self {
            #[cfg(any(test, feature = "cel"))]
            rules: rules::Rules::compile(&schema),
            schema,
        })
    }

    /// Checks types, required and unknown fields, bounds, enumerations and unique keys. Look at [`Self::rules`] only when
    /// this finds nothing, as the API server does.
    #[must_use]
    pub fn structure(&self, object: &Value) -> Vec<Violation> {
        structure::check(&self.schema, object)
    }

    /// Evaluates the CEL rules on the object with its defaults filled in; with `old`, transition rules as well. A rule that
    /// cannot be evaluated is a violation.
    #[cfg(any(test, feature = "cel"))]
    #[must_use]
    pub fn rules(&self, object: &Value, old: Option<&Value>) -> Vec<Violation> {
        self.rules.check(object, old)
    }
}
