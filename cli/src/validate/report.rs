//! Where the checks of one object put what they find.

use std::fmt::Display;
use std::sync::Arc;

use crate::document::{Node, Position};
use crate::finding::{Finding, Severity};

/// The findings of one object, in the order the checks made them.
#[derive(Debug)]
pub(crate) struct Report {
    file: Arc<str>,
    object: String,
    /// What stands in front of every field: `items[2].` in a list, else nothing.
    prefix: String,
    findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn new(file: &Arc<str>, object: String, prefix: String) -> Self {
        Self { file: Arc::clone(file), object, prefix, findings: Vec::new() }
    }

    /// An error about a field at a place.
    pub(crate) fn error(&mut self, at: Position, field: impl Display, message: impl Into<String>) {
        self.push(Severity::Error, at, &field.to_string(), message.into());
    }

    /// A warning about a field at a place.
    pub(crate) fn warning(&mut self, at: Position, field: impl Display, message: impl Into<String>) {
        self.push(Severity::Warning, at, &field.to_string(), message.into());
    }

    /// An error about a field whose place is looked up in the object.
    pub(crate) fn error_in(&mut self, object: &Node, field: &str, message: impl Into<String>) {
        self.error(object.locate(field), field, message);
    }

    /// Whether something was said about that field already; never true of the object as a whole.
    pub(crate) fn names(&self, field: &str) -> bool {
        !field.is_empty() && self.findings.iter().any(|finding| finding.field.strip_prefix(&self.prefix) == Some(field))
    }

    /// Whether an error was found.
    pub(crate) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    fn push(&mut self, severity: Severity, at: Position, field: &str, message: String) {
        // A rule's message often names its field, since `kubectl` shows the two far apart.
        let message = match message.strip_prefix(field).and_then(|rest| rest.strip_prefix(' ')) {
            Some(rest) if !field.is_empty() => rest.to_owned(),
            _ => message,
        };
        let field = if field.is_empty() {
            self.prefix.trim_end_matches('.').to_owned()
        } else {
            format!("{}{field}", self.prefix)
        };
        self.findings.push(Finding {
            file: Arc::clone(&self.file),
            at: Some(at),
            severity,
            object: self.object.clone(),
            field,
            message,
        });
    }
}
