//! Checks what objects of one set say about each other.

use std::collections::HashMap;

use anchorhold_plan::KernelTool;

use super::kind::Kind;
use super::object::{Object, Typed};
use super::report::Report;
use crate::document::Node;
use crate::finding::Finding;

/// Finds objects that occur twice and references that lead nowhere. An object that is named and not there may lie in the
/// cluster, so that is a warning; what is there and does not fit is an error.
pub(super) fn check(objects: &[Object]) -> Vec<Finding> {
    let mut findings = duplicates(objects);
    for object in objects {
        let mut report = object.report();
        match &object.typed {
            Some(Typed::Job(job)) => {
                let agent =
                    named(objects, object, Kind::Agent, &job.spec.agent_ref.name, "spec.agentRef.name", &mut report);
                if let Some(Typed::Agent(agent)) = agent.and_then(|agent| agent.typed.as_ref())
                    && job.spec.script.is_some()
                    && !KernelTool::granted(agent.spec.tools.as_deref()).contains(&KernelTool::Codemode)
                {
                    let message = format!(
                        "needs the tool codemode, which spec.tools of Agent {} does not grant: add it there",
                        job.spec.agent_ref.name
                    );
                    report.error_in(&object.node, "spec.script", message);
                }
                for (index, source) in job.spec.sources.iter().enumerate() {
                    let Some(config_map) = &source.config_map else { continue };
                    let field = format!("spec.sources[{index}].configMap");
                    let name = format!("{field}.name");
                    let Some(found) = named(objects, object, Kind::ConfigMap, &config_map.name, &name, &mut report)
                    else {
                        continue;
                    };
                    for (item_index, item) in config_map.items.iter().flatten().enumerate() {
                        if !has_key(&found.node, &item.key) {
                            let message = format!(
                                "ConfigMap {} has no key \"{}\": correct the key, or add it there",
                                config_map.name, item.key
                            );
                            report.error_in(&object.node, &format!("{field}.items[{item_index}].key"), message);
                        }
                    }
                }
            }
            Some(Typed::Agent(agent)) => {
                for (index, server) in agent.spec.mcp.iter().enumerate() {
                    let field = format!("spec.mcp[{index}].server");
                    named(objects, object, Kind::McpServer, &server.server, &field, &mut report);
                }
            }
            Some(Typed::McpServer | Typed::ConfigMap) | None => {}
        }
        findings.extend(report.into_findings());
    }
    findings
}

/// The object that a field names; a warning when these files do not hold it.
fn named<'o>(
    objects: &'o [Object],
    from: &Object,
    kind: Kind,
    name: &str,
    field: &str,
    report: &mut Report,
) -> Option<&'o Object> {
    let found = find(objects, kind, name, from.identity.namespace.as_deref());
    if found.is_none() {
        let message = format!("{} {name} is not in these files: it must exist in the cluster", kind.as_str());
        report.warning(from.node.locate(field), field, message);
    }
    found
}

/// The object of that kind and name, in that namespace. One that names no namespace is in all of them: whoever applies it
/// says where.
pub(crate) fn find<'o>(objects: &'o [Object], kind: Kind, name: &str, namespace: Option<&str>) -> Option<&'o Object> {
    objects.iter().find(|object| {
        object.kind == kind
            && object.identity.name == name
            && match (object.identity.namespace.as_deref(), namespace) {
                (Some(own), Some(wanted)) => own == wanted,
                _ => true,
            }
    })
}

fn has_key(config_map: &Node, key: &str) -> bool {
    ["data", "binaryData"].iter().any(|part| config_map.get(part).is_some_and(|part| part.get(key).is_some()))
}

fn duplicates(objects: &[Object]) -> Vec<Finding> {
    let mut seen = HashMap::new();
    let mut findings = Vec::new();
    for object in objects.iter().filter(|object| !object.identity.name.is_empty()) {
        if let Some(first) = seen.get(&(object.kind, &object.identity)) {
            let first: &&Object = first;
            let at = first.name_at();
            let mut report = object.report();
            report.error(
                object.name_at(),
                "metadata.name",
                format!(
                    "{} stands in {}:{} already: rename or remove one of the two",
                    object.title(),
                    first.file,
                    at.line
                ),
            );
            findings.extend(report.into_findings());
        } else {
            seen.insert((object.kind, &object.identity), object);
        }
    }
    findings
}
