//! Why nothing was run.

use std::fmt;

use crate::finding::{Finding, Plain, Severity};
use crate::validate::Object;

/// A reason that lies in the command line, the manifests or the machine; exit code 2.
#[derive(Debug)]
pub(super) enum Refusal {
    /// About the command line or the machine.
    Sentence(String),
    /// About a place in a manifest.
    Finding(Box<Finding>),
}

impl Refusal {
    /// A refusal about a field of an object.
    pub(super) fn at(object: &Object, field: &str, message: impl Into<String>) -> Self {
        Self::Finding(Box::new(Finding {
            file: object.file.clone(),
            at: Some(object.node.locate(field)),
            severity: Severity::Error,
            object: object.title(),
            field: format!("{}{field}", object.prefix),
            message: message.into(),
        }))
    }
}

impl From<String> for Refusal {
    fn from(sentence: String) -> Self {
        Self::Sentence(sentence)
    }
}

impl From<&str> for Refusal {
    fn from(sentence: &str) -> Self {
        Self::Sentence(sentence.to_owned())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence(sentence) => write!(f, "error: {}", Plain(sentence)),
            Self::Finding(finding) => finding.fmt(f),
        }
    }
}
