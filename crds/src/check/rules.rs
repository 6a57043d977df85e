//! Evaluates the CEL rules of a kind.

use std::fmt;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use kube::core::cel::{CompiledSchema, ErrorKind, Validator, compile_schema};
use serde_json::Value;

use super::Violation;

/// The compiled rules of one kind.
pub(super) struct Rules {
    compiled: CompiledSchema,
    validator: Validator,
}

impl Rules {
    pub(super) fn compile(schema: &JSONSchemaProps) -> Self {
        // Serialising a schema cannot fail; were it to, the empty schema would compile to rules that refuse nothing, so
        // the value below makes evaluation fail instead.
        let schema = serde_json::to_value(schema)
            .unwrap_or_else(|_| serde_json::json!({ "x-kubernetes-validations": [{ "rule": "false", "message": "the schema cannot be read" }] }));
        Self { compiled: compile_schema(&schema), validator: Validator::new() }
    }

    pub(super) fn check(&self, object: &Value, old: Option<&Value>) -> Vec<Violation> {
        let Err(errors) = self.validator.validate_compiled(&self.compiled, object, old) else { return Vec::new() };
        let mut violations: Vec<_> = errors
            .into_iter()
            .map(|error| Violation {
                path: error.field_path,
                message: match error.kind {
                    ErrorKind::ValidationFailure => error.message,
                    _ => format!("the rule `{}` could not be evaluated: {}", error.rule, error.message),
                },
            })
            .collect();
        violations.sort();
        violations.dedup();
        violations
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").finish_non_exhaustive()
    }
}
