//! Whether a ConfigMap's key that a spec names exists. They are not watched: a cluster holds many and we need few.

use std::time::Duration;

use anchorhold_crds::ConfigMapKeyRef;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;

use crate::context::Context;
use crate::error::Error;

/// Until a missing ConfigMap is looked for again.
pub const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// What was found of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// ConfigMap and key.
    Key,
    /// The ConfigMap without the key.
    NoKey,
    /// Nothing.
    NoObject,
}

/// Asks the API server.
pub async fn config_map_key(ctx: &Context, namespace: &str, reference: &ConfigMapKeyRef) -> Result<Found, Error> {
    let api: Api<ConfigMap> = Api::namespaced(ctx.client.clone(), namespace);
    match api.get_opt(&reference.name).await {
        Ok(Some(found)) => Ok(find(&found, &reference.key)),
        Ok(None) => Ok(Found::NoObject),
        Err(source) => Err(Error::api("read", "ConfigMap", format!("{namespace}/{}", reference.name), source)),
    }
}

fn find(config_map: &ConfigMap, key: &str) -> Found {
    if config_map.data.as_ref().is_some_and(|data| data.contains_key(key)) { Found::Key } else { Found::NoKey }
}

/// The sentence for a condition: what is missing, and what to do. None when nothing is.
#[must_use]
pub fn missing(field: &str, reference: &ConfigMapKeyRef, found: Found) -> Option<String> {
    let ConfigMapKeyRef { name, key } = reference;
    match found {
        Found::Key => None,
        Found::NoKey => Some(format!(
            "{field} names the key \"{key}\", which ConfigMap \"{name}\" does not have: add it to its data"
        )),
        Found::NoObject => Some(format!(
            "{field} names ConfigMap \"{name}\", which does not exist in this namespace: create it with the key \"{key}\""
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_counts_only_as_text() {
        let config_map: ConfigMap =
            serde_json::from_value(json!({"data": {"a": "x"}, "binaryData": {"b": "eA=="}})).unwrap();
        assert_eq!(find(&config_map, "a"), Found::Key);
        assert_eq!(find(&config_map, "b"), Found::NoKey);
    }

    #[test]
    fn what_is_missing_names_the_field_and_what_to_do() {
        let reference = ConfigMapKeyRef { name: "house-rules".into(), key: "text".into() };
        assert_eq!(missing("spec.instructionsFrom", &reference, Found::Key), None);
        assert_eq!(
            missing("spec.instructionsFrom", &reference, Found::NoKey).unwrap(),
            "spec.instructionsFrom names the key \"text\", which ConfigMap \"house-rules\" does not have: add it to its data"
        );
        assert_eq!(
            missing("spec.instructionsFrom", &reference, Found::NoObject).unwrap(),
            "spec.instructionsFrom names ConfigMap \"house-rules\", which does not exist in this namespace: create it with the key \"text\""
        );
    }
}
