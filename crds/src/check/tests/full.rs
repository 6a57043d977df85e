//! Manifests with every field that a kind has.

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::violations;
use crate::check::KindCheck;
use crate::{Agent, Job, McpServer};

const JOB: &str = include_str!("../../../tests/full/job.yaml");
const AGENT: &str = include_str!("../../../tests/full/agent.yaml");
const MCP_SERVER: &str = include_str!("../../../tests/full/mcpserver.yaml");
const CODE_SERVER: &str = include_str!("../../../tests/full/code-server.yaml");

fn parse(yaml: &str) -> Value {
    serde_saphyr::from_str(yaml).unwrap()
}

#[test]
fn a_manifest_with_every_field_breaks_no_rule() {
    for (kind, yaml) in [("Job", JOB), ("Agent", AGENT), ("McpServer", MCP_SERVER), ("McpServer", CODE_SERVER)] {
        assert_eq!(violations(&KindCheck::of_kind(kind).unwrap(), &parse(yaml), None), [""; 0], "{kind}");
    }
}

#[test]
fn reading_and_writing_an_object_loses_nothing() {
    fn round_trip<K: DeserializeOwned + Serialize + Debug + PartialEq>(yaml: &str) {
        let value = parse(yaml);
        let typed: K = serde_json::from_value(value.clone()).unwrap();
        let written = serde_json::to_value(&typed).unwrap();
        // Through text, so that the order of fields does not count.
        assert_eq!(sorted(&written), sorted(&value));
        assert_eq!(serde_json::from_value::<K>(written).unwrap(), typed);
    }
    round_trip::<Job>(JOB);
    round_trip::<Agent>(AGENT);
    round_trip::<McpServer>(MCP_SERVER);
    round_trip::<McpServer>(CODE_SERVER);
}

#[test]
fn the_manifests_together_have_every_field_of_spec_and_status() {
    for (kind, manifests) in [("Job", vec![JOB]), ("Agent", vec![AGENT]), ("McpServer", vec![MCP_SERVER, CODE_SERVER])]
    {
        let mut used = BTreeSet::new();
        for yaml in manifests {
            fields("", &parse(yaml), &mut used);
        }
        let definition = crate::all().into_iter().find(|definition| definition.spec.names.kind == kind).unwrap();
        let schema =
            serde_json::to_value(&definition.spec.versions[0].schema.as_ref().unwrap().open_api_v3_schema).unwrap();
        let mut declared = BTreeSet::new();
        properties("", &schema, &mut declared);
        // Borrowed from Kubernetes, each with more fields than an example needs; and what excludes a field that is used.
        let exempt = [".spec.prompt", ".spec.instructions", ".tolerations", ".selector", ".kind", ".apiVersion"];
        let missing: Vec<_> =
            declared.difference(&used).filter(|field| !exempt.iter().any(|exempt| field.contains(exempt))).collect();
        assert!(missing.is_empty(), "{kind}: no example of {missing:?}");
    }
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name:?}:{}", sorted(value))).collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        scalar => scalar.to_string(),
    }
}

fn fields(path: &str, value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let path = format!("{path}.{name}");
            fields(&path, member, into);
            into.insert(path);
        }),
        Value::Array(items) => items.iter().for_each(|item| fields(path, item, into)),
        _ => {}
    }
}

fn properties(path: &str, schema: &Value, into: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        properties(&path, property, into);
        into.insert(path);
    }
    if schema["items"].is_object() {
        properties(path, &schema["items"], into);
    }
}
