//! Checks labels, annotations and the namespace, which every kind's schema leaves to the API server's built-in rules.

use super::report::Report;
use crate::document::{Entry, Node, Path, Value};

/// The API server's bound on all annotations of an object, bytes.
const ANNOTATIONS_MAX: usize = 256 << 10;

/// Who an object is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// `None` when the command line or the context is to say it.
    pub(crate) namespace: Option<String>,
    /// Empty when the server is to generate one.
    pub(crate) name: String,
}

impl Identity {
    /// Who an object says it is.
    pub(super) fn of(object: &Node) -> Self {
        let text = |key| object.get("metadata").and_then(|metadata| metadata.get(key)).and_then(Node::text);
        Self { namespace: text("namespace").map(str::to_owned), name: text("name").unwrap_or_default().to_owned() }
    }
}

/// Checks the metadata of an object.
pub(super) fn check(object: &Node, report: &mut Report) {
    let root = Path::Root;
    let path = root.key("metadata");
    let Some(metadata) = object.get("metadata") else { return };
    if let Some(entry) = metadata.entry("namespace")
        && text_of(entry, &path.key("namespace"), report).is_some_and(|text| !is_label(text))
    {
        report.error(
            entry.node.at,
            path.key("namespace"),
            "must consist of lower case letters, digits and '-', start and end with a letter or digit, and have at most 63 characters",
        );
    }
    if let Some(entry) = metadata.entry("labels") {
        check_texts(entry, &path.key("labels"), report, is_label_value);
    }
    if let Some(entry) = metadata.entry("annotations") {
        let path = path.key("annotations");
        check_texts(entry, &path, report, |_| true);
        let size: usize = match &entry.node.value {
            Value::Map(entries) => {
                entries.iter().map(|entry| entry.key.len() + entry.node.text().map_or(0, str::len)).sum()
            }
            _ => 0,
        };
        if size > ANNOTATIONS_MAX {
            report.error(entry.key_at, path, format!("has {size} bytes in all; at most {ANNOTATIONS_MAX} are allowed"));
        }
    }
}

/// Labels and annotations: texts by qualified name.
fn check_texts(entry: &Entry, path: &Path<'_>, report: &mut Report, is_value: impl Fn(&str) -> bool) {
    let Value::Map(entries) = &entry.node.value else {
        report.error(entry.key_at, path, "must be a mapping: write each entry as key: \"value\", one level deeper");
        return;
    };
    for entry in entries {
        let path = path.key(&entry.key);
        if !is_qualified_name(&entry.key) {
            report.error(
                entry.key_at,
                path,
                "the key must be a name of at most 63 letters, digits, '-', '_' and '.', or such a name after a DNS name and a '/'",
            );
        }
        if text_of(entry, &path, report).is_some_and(|text| !is_value(text)) {
            report.error(
                entry.node.at,
                path,
                "must have at most 63 letters, digits, '-', '_' and '.', and start and end with a letter or digit: a longer text is an annotation",
            );
        }
    }
}

fn text_of<'n>(entry: &'n Entry, path: &Path<'_>, report: &mut Report) -> Option<&'n str> {
    let message = match &entry.node.value {
        Value::Text(text) => return Some(text),
        Value::Unclear { .. } => return None, // told by whoever walks the whole document
        Value::Null => "must be text, not nothing: write a value or remove the field",
        Value::Bool(_) => "must be text, not true or false: put it in quotes",
        Value::Number(_) => "must be text, not a number: put it in quotes",
        Value::List(_) | Value::Map(_) => "must be text: put it in quotes",
    };
    report.error(entry.node.at, path, message);
    None
}

/// RFC 1123, one label: what a namespace is called.
fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len()) && is_bounded(text, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(), b"-")
}

/// What comes before the `/` of a key.
fn is_prefix(text: &str) -> bool {
    text.len() <= 253
        && text
            .split('.')
            .all(|label| is_bounded(label, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(), b"-"))
}

fn is_label_value(text: &str) -> bool {
    text.is_empty() || (text.len() <= 63 && is_bounded(text, |byte| byte.is_ascii_alphanumeric(), b"-_."))
}

fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_prefix)
}

/// Of allowed bytes, with an `outer` one at both ends.
fn is_bounded(text: &str, outer: impl Fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| outer(*byte))
        && bytes.last().is_some_and(|byte| outer(*byte))
        && bytes.iter().all(|byte| outer(*byte) || inner.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_the_api_server_judges_them() {
        let long = "a".repeat(64);
        for (text, label, value, qualified) in [
            ("web", true, true, true),
            ("web-1.example", false, true, true),
            ("Web_1", false, true, true),
            ("-web", false, false, false),
            ("web-", false, false, false),
            ("", false, true, false),
            (long.as_str(), false, false, false),
            ("example.com/name", false, false, true),
            ("a/b/c", false, false, false),
            ("/name", false, false, false),
        ] {
            assert_eq!(
                (is_label(text), is_label_value(text), is_qualified_name(text)),
                (label, value, qualified),
                "{text:?}"
            );
        }
    }
}
