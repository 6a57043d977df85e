//! Objects as the API server sent them: readable, or not.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

use anchorhold_crds::{Agent, Job, McpServer, crd};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::Resource;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::metrics::Kind;
use crate::schema::Known;

/// One of our three kinds.
pub trait OurKind: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static {
    /// Which one.
    const KIND: Kind;

    /// The fields of its spec.
    fn known() -> &'static Known;
}

impl OurKind for Job {
    const KIND: Kind = Kind::Job;

    fn known() -> &'static Known {
        static KNOWN: LazyLock<Known> = LazyLock::new(|| Known::spec_of(&crd::<Job>()));
        &KNOWN
    }
}

impl OurKind for Agent {
    const KIND: Kind = Kind::Agent;

    fn known() -> &'static Known {
        static KNOWN: LazyLock<Known> = LazyLock::new(|| Known::spec_of(&crd::<Agent>()));
        &KNOWN
    }
}

impl OurKind for McpServer {
    const KIND: Kind = Kind::McpServer;

    fn known() -> &'static Known {
        static KNOWN: LazyLock<Known> = LazyLock::new(|| Known::spec_of(&crd::<McpServer>()));
        &KNOWN
    }
}

/// An object of ours. One that cannot be read in full is kept with the reason, so that it neither stalls the watch nor
/// is acted upon in part.
#[derive(Debug, PartialEq)]
pub enum Guarded<K> {
    /// Every field of the spec is known.
    Readable(Arc<K>),
    /// A newer CRD, or a stored object that a later CRD would refuse.
    Unreadable(Arc<Unreadable>),
}

/// An object that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreadable {
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// The conditions of its status, as far as they can be read.
    pub conditions: Vec<Condition>,
    /// What is wrong, naming the field.
    pub problem: String,
}

impl<K> Clone for Guarded<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Readable(object) => Self::Readable(Arc::clone(object)),
            Self::Unreadable(unreadable) => Self::Unreadable(Arc::clone(unreadable)),
        }
    }
}

impl<K> Guarded<K> {
    /// The object, if it can be read in full.
    pub fn readable(&self) -> Result<&Arc<K>, &Arc<Unreadable>> {
        match self {
            Self::Readable(object) => Ok(object),
            Self::Unreadable(unreadable) => Err(unreadable),
        }
    }
}

impl<K> From<K> for Guarded<K> {
    fn from(object: K) -> Self {
        Self::Readable(Arc::new(object))
    }
}

impl<'de, K: OurKind> Deserialize<'de> for Guarded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Value::deserialize(deserializer)?;
        let problem = match raw.get("spec").and_then(|spec| K::known().first_unknown(spec, "spec")) {
            Some(path) => {
                format!(
                    "{path} is not known to this operator: upgrade the operator to the CRD's release, or remove the field"
                )
            }
            None => match K::deserialize(&raw) {
                Ok(object) => return Ok(object.into()),
                Err(error) => format!("the object cannot be read: {error}; write it anew with the current CRD"),
            },
        };
        let metadata =
            ObjectMeta::deserialize(raw.get("metadata").unwrap_or(&Value::Null)).map_err(D::Error::custom)?;
        let conditions = raw
            .pointer("/status/conditions")
            .and_then(|conditions| Vec::deserialize(conditions).ok())
            .unwrap_or_default();
        Ok(Self::Unreadable(Arc::new(Unreadable { metadata, conditions, problem })))
    }
}

impl<K: Resource + Clone> Resource for Guarded<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(dynamic: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(dynamic)
    }

    fn group(dynamic: &Self::DynamicType) -> Cow<'_, str> {
        K::group(dynamic)
    }

    fn version(dynamic: &Self::DynamicType) -> Cow<'_, str> {
        K::version(dynamic)
    }

    fn plural(dynamic: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(dynamic)
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Readable(object) => object.meta(),
            Self::Unreadable(unreadable) => &unreadable.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Readable(object) => Arc::make_mut(object).meta_mut(),
            Self::Unreadable(unreadable) => &mut Arc::make_mut(unreadable).metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn agent(spec: &Value) -> Guarded<Agent> {
        serde_json::from_value(json!({
            "apiVersion": "anchorhold.dev/v1alpha1", "kind": "Agent",
            "metadata": {"name": "reader", "namespace": "team-a", "generation": 4},
            "spec": spec,
        }))
        .unwrap()
    }

    #[test]
    fn an_object_whose_every_field_is_known_is_readable() {
        let guarded = agent(&json!({"tools": ["read"]}));
        assert_eq!(guarded.readable().unwrap().spec.tools, Some(vec!["read".to_owned()]));
    }

    #[test]
    fn an_unknown_field_and_a_wrong_type_are_kept_with_their_problem() {
        let unknown = agent(&json!({"limits": {"energy": 5}}));
        let unreadable = unknown.readable().unwrap_err();
        assert_eq!(unreadable.metadata.generation, Some(4));
        assert_eq!(
            unreadable.problem,
            "spec.limits.energy is not known to this operator: upgrade the operator to the CRD's release, or remove the field"
        );

        let wrong = agent(&json!({"suspend": "later"}));
        assert_eq!(
            wrong.readable().unwrap_err().problem,
            "the object cannot be read: invalid type: string \"later\", expected a boolean; write it anew with the current CRD"
        );
    }
}
