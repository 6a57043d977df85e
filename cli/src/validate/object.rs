//! Checks one object by itself.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use anchorhold_crds::check::{KindCheck, Violation};
use anchorhold_crds::{Agent, Job, McpServer, NotImplemented, check_header_name, check_header_value, check_url};
use serde::de::DeserializeOwned;

use super::kind::Kind;
use super::metadata::{self, Identity};
use super::report::Report;
use crate::document::{Node, Path, Position, Value};

/// An object of a kind that is looked at, right or wrong.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) file: Arc<str>,
    /// Where the file lies; `None` for standard input.
    pub(crate) path: Option<PathBuf>,
    pub(crate) node: Node,
    /// Its fields' prefix in the file: `items[0].` in a list, else empty.
    pub(crate) prefix: String,
    pub(crate) kind: Kind,
    pub(crate) identity: Identity,
    /// What it says, when it is right by itself.
    pub(crate) typed: Option<Typed>,
}

/// What an object says.
#[derive(Debug)]
pub(crate) enum Typed {
    Job(Box<Job>),
    Agent(Box<Agent>),
    /// Nothing here asks what it says; the check of it is what counts.
    McpServer,
    /// Its files are read from the node.
    ConfigMap,
}

impl Object {
    /// `Job/name`, as findings and messages call it.
    pub(crate) fn title(&self) -> String {
        title(self.kind, &self.identity)
    }

    /// A report on this object.
    pub(super) fn report(&self) -> Report {
        Report::new(&self.file, self.title(), self.prefix.clone())
    }

    /// Where the object is named.
    pub(crate) fn name_at(&self) -> Position {
        self.node.locate("metadata.name")
    }
}

/// `Job/name`.
pub(super) fn title(kind: Kind, identity: &Identity) -> String {
    match identity.name.as_str() {
        "" => kind.as_str().to_owned(),
        name => format!("{}/{name}", kind.as_str()),
    }
}

/// Checks an object of one of our kinds: what is unclear, metadata, structure, rules, and what only code can judge. Each
/// step is taken when those before it found nothing.
pub(super) fn check(kind: Kind, checks: &KindCheck, node: &Node, report: &mut Report) -> Option<Typed> {
    check_clear(node, &Path::Root, report);
    metadata::check(node, report);
    let mut json = node.to_json();
    add_all(checks.structure(&json), node, report);
    if report.has_errors() {
        return None;
    }
    if let Some(metadata) = json.get_mut("metadata").and_then(|metadata| metadata.as_object_mut())
        && !metadata.contains_key("name")
        && let Some(stem) = metadata.get("generateName").and_then(|stem| stem.as_str())
    {
        // The server puts five characters behind the stem; rules on the name judge that.
        let name = format!("{stem}xxxxx");
        metadata.insert("name".into(), name.into());
    }
    add_all(checks.rules(&json, None), node, report);
    match kind {
        Kind::Job => read(json, node, report, |job: &Job, _| job.spec.not_implemented()).map(Typed::Job),
        Kind::Agent => read(json, node, report, check_agent).map(Typed::Agent),
        Kind::McpServer => read(json, node, report, check_server).map(|_| Typed::McpServer),
        Kind::ConfigMap => None,
    }
    .filter(|_| !report.has_errors())
}

fn read<K: DeserializeOwned>(
    json: serde_json::Value,
    node: &Node,
    report: &mut Report,
    check: impl Fn(&K, &mut Vec<Violation>) -> Option<NotImplemented>,
) -> Option<Box<K>> {
    match serde_json::from_value::<K>(json) {
        Ok(object) => {
            let mut violations = Vec::new();
            let missing = check(&object, &mut violations);
            violations.extend(missing.map(|missing| violation(missing.field, missing.message)));
            add_all(violations, node, report);
            Some(Box::new(object))
        }
        Err(error) => {
            report.error(node.at, "", format!("cannot be read: {error}"));
            None
        }
    }
}

fn check_agent(agent: &Agent, violations: &mut Vec<Violation>) -> Option<NotImplemented> {
    if let Some(Err(refusal)) = agent.spec.model.as_ref().and_then(|model| model.base_url.as_deref()).map(check_url) {
        violations.push(violation("spec.model.baseUrl", refusal));
    }
    agent.spec.not_implemented()
}

fn check_server(server: &McpServer, violations: &mut Vec<Violation>) -> Option<NotImplemented> {
    if let Some(Err(refusal)) = server.spec.url.as_deref().map(check_url) {
        violations.push(violation("spec.url", refusal));
    }
    for (index, header) in server.spec.headers.iter().enumerate() {
        if let Err(refusal) = check_header_name(&header.name) {
            violations.push(violation(format!("spec.headers[{index}].name"), refusal));
        }
        if let Some(Err(refusal)) = header.value.as_deref().map(check_header_value) {
            violations.push(violation(format!("spec.headers[{index}].value"), refusal));
        }
    }
    server.spec.not_implemented()
}

fn violation(path: impl Into<String>, message: impl Display) -> Violation {
    Violation { path: path.into(), message: message.to_string() }
}

/// Adds what one step found, but for fields that a step before it has told of.
fn add_all(mut violations: Vec<Violation>, node: &Node, report: &mut Report) {
    violations.retain(|violation| !report.names(&violation.path));
    for Violation { path, message } in violations {
        report.error_in(node, &path, message);
    }
}

/// Refuses scalars whose meaning depends on the reader, wherever they stand.
fn check_clear(node: &Node, path: &Path<'_>, report: &mut Report) {
    match &node.value {
        Value::Unclear { advice, .. } => report.error(node.at, path, advice.clone()),
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                check_clear(item, &path.index(index), report);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                check_clear(&entry.node, &path.key(&entry.key), report);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}
