//! The rules, kind by kind, as tables of objects and the exact violations they give.

mod agent;
mod full;
mod job;
mod mcp_server;
mod structure;

use serde_json::{Map, Value, json};

use super::KindCheck;

/// Puts a value at a JSON pointer; the objects on the way are made.
fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (path, last) = pointer.rsplit_once('/').unwrap();
    let mut place = &mut object;
    for piece in path.split('/').skip(1) {
        place = match place {
            Value::Array(items) => &mut items[piece.parse::<usize>().unwrap()],
            _ => place.as_object_mut().unwrap().entry(piece).or_insert_with(|| Value::Object(Map::new())),
        };
    }
    place.as_object_mut().unwrap().insert(last.to_owned(), value);
    object
}

/// Takes away what is at a JSON pointer.
fn without(mut object: Value, pointer: &str) -> Value {
    let (path, last) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(last).unwrap();
    object
}

/// What the API server would say: of the structure first, and of the rules when there is nothing to say of that.
fn violations(check: &KindCheck, object: &Value, old: Option<&Value>) -> Vec<String> {
    let mut found = check.structure(object);
    if found.is_empty() {
        found = check.rules(object, old);
    }
    found.iter().map(ToString::to_string).collect()
}

/// A table: what to put where, and the violations that gives.
fn table<const N: usize>(kind: &str, base: &Value, rows: [(&str, Value, &[&str]); N]) {
    let check = KindCheck::of_kind(kind).unwrap();
    for (pointer, value, expected) in rows {
        let shown: String = value.to_string().chars().take(100).collect();
        let object = with(base.clone(), pointer, value);
        assert_eq!(violations(&check, &object, None), expected, "{pointer} = {shown}");
    }
}

fn job() -> Value {
    json!({
        "apiVersion": "anchorhold.dev/v1alpha1",
        "kind": "Job",
        "metadata": { "name": "count" },
        "spec": { "agentRef": { "name": "reader" }, "script": "return 1" },
    })
}

fn agent() -> Value {
    json!({
        "apiVersion": "anchorhold.dev/v1alpha1",
        "kind": "Agent",
        "metadata": { "name": "reader" },
        "spec": {},
    })
}

fn mcp_server() -> Value {
    json!({
        "apiVersion": "anchorhold.dev/v1alpha1",
        "kind": "McpServer",
        "metadata": { "name": "tracker" },
        "spec": { "url": "https://tracker.example.com/mcp" },
    })
}
