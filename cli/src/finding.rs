//! What is wrong with a manifest, and how it is told.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::document::Position;

/// One thing that has to change, or that deserves a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The file as it was named; `-` for standard input.
    pub(crate) file: Arc<str>,
    /// Where in it; absent when the file as a whole is meant.
    #[serde(flatten)]
    pub(crate) at: Option<Position>,
    pub(crate) severity: Severity,
    /// The object it is about, as `Kind/name`; empty when there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) object: String,
    /// The field it is about, as `kubectl` writes it; empty when there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) field: String,
    /// What is wrong, and what to do.
    pub(crate) message: String,
}

/// Whether a finding makes the manifests wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// The manifests would be refused, or the job would fail to start.
    Error,
    /// Right in itself, but not provable from these files alone.
    Warning,
}

impl Finding {
    /// An error about a whole file.
    pub(crate) fn file(file: &Arc<str>, message: impl Into<String>) -> Self {
        Self {
            file: Arc::clone(file),
            at: None,
            severity: Severity::Error,
            object: String::new(),
            field: String::new(),
            message: message.into(),
        }
    }

    /// A warning about a whole file or folder.
    pub(crate) fn note(file: &Arc<str>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::file(file, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Plain(&self.file))?;
        if let Some(Position { line, column }) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(match self.severity {
            Severity::Error => ": error: ",
            Severity::Warning => ": warning: ",
        })?;
        if !self.field.is_empty() {
            write!(f, "{}: ", Plain(&self.field))?;
        }
        write!(f, "{}", Plain(&self.message))
    }
}

/// A text on one line without what a terminal would act on: names come from files that anybody may have written.
pub(crate) struct Plain<'t>(pub(crate) &'t str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| {
            if character.is_control() { write!(f, "{}", character.escape_default()) } else { write!(f, "{character}") }
        })
    }
}
