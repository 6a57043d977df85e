//! Objects as the API server sent them: readable, or not.

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::PartialObjectMeta;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// An object of ours. One that cannot be read in full is kept with the reason, so that it neither stalls the watch nor
/// is acted upon in part: a field this operator does not know is a limit it would not enforce.
#[derive(Debug)]
pub enum Guarded<K> {
    /// Every field of the spec is known.
    Readable(Arc<K>),
    /// A newer CRD, or a stored object that a later CRD would refuse.
    Unreadable(Arc<Unreadable>),
}

/// Why an object cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreadable {
    /// What is known of it all the same.
    pub metadata: ObjectMeta,
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
    pub fn readable(&self) -> Result<&Arc<K>, &Unreadable> {
        match self {
            Self::Readable(object) => Ok(object),
            Self::Unreadable(unreadable) => Err(unreadable),
        }
    }
}

impl<'de, K: DeserializeOwned + Resource> Deserialize<'de> for Guarded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Value::deserialize(deserializer)?;
        match K::deserialize(&raw) {
            Ok(object) => Ok(Self::Readable(Arc::new(object))),
            Err(error) => {
                let PartialObjectMeta { metadata, .. } =
                    PartialObjectMeta::<K>::deserialize(&raw).map_err(D::Error::custom)?;
                Ok(Self::Unreadable(Arc::new(Unreadable { metadata, problem: error.to_string() })))
            }
        }
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
