//! Walks an object along its structural schema. Our schemas use what is handled here and nothing else; a test makes sure.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value};

use super::Violation;

/// What an object of any kind may have in `metadata`. The schema leaves it to the API server.
const METADATA_FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Checks an object. The violations come in the order of its fields.
pub(super) fn check(schema: &JSONSchemaProps, object: &Value) -> Vec<Violation> {
    let mut walk = Walk { violations: Vec::new() };
    walk.value("", schema, object);
    walk.metadata(object.get("metadata"));
    walk.violations
}

struct Walk {
    violations: Vec<Violation>,
}

impl Walk {
    fn refuse(&mut self, path: &str, message: impl Into<String>) {
        self.violations.push(Violation { path: path.to_owned(), message: message.into() });
    }

    fn value(&mut self, path: &str, schema: &JSONSchemaProps, value: &Value) {
        if schema.x_kubernetes_int_or_string == Some(true) {
            if !(value.is_string() || value.is_i64()) {
                self.refuse(path, format!("must be text or a whole number, not {}", kind(value)));
            }
            return;
        }
        match (schema.type_.as_deref(), value) {
            (Some("object"), Value::Object(fields)) => self.object(path, schema, fields),
            (Some("array"), Value::Array(items)) => self.array(path, schema, items),
            (Some("string"), Value::String(text)) => self.string(path, schema, text),
            (Some("integer"), Value::Number(number)) if number.is_i64() => self.number(path, schema, value),
            (Some("number"), Value::Number(_)) => self.number(path, schema, value),
            (Some("boolean"), Value::Bool(_)) => {}
            (expected, _) => {
                let hint = match (expected, value) {
                    (Some("string"), Value::Number(_) | Value::Bool(_)) => ": put it in quotes",
                    (Some("integer" | "number" | "boolean"), Value::String(_)) => ": remove the quotes",
                    (_, Value::Null) => ": write a value or remove the field",
                    _ => "",
                };
                let expected = match expected {
                    Some("object") => "a mapping",
                    Some("array") => "a list",
                    Some("string") => "text",
                    Some("integer") => "a whole number",
                    Some("number") => "a number",
                    _ => "true or false",
                };
                self.refuse(path, format!("must be {expected}, not {}{hint}", kind(value)));
            }
        }
    }

    fn object(&mut self, path: &str, schema: &JSONSchemaProps, fields: &Map<String, Value>) {
        let values = match &schema.additional_properties {
            Some(JSONSchemaPropsOrBool::Schema(values)) => Some(values),
            Some(JSONSchemaPropsOrBool::Bool(_)) | None => None,
        };
        for (name, value) in fields {
            let field = join(path, name);
            if let Some(property) = schema.properties.as_ref().and_then(|properties| properties.get(name)) {
                self.value(&field, property, value);
            } else if let Some(values) = values {
                self.value(&field, values, value);
            } else if let Some(properties) = &schema.properties {
                self.refuse(&field, unknown(name, properties.keys().map(String::as_str)));
            }
        }
        for name in schema.required.iter().flatten().filter(|name| !fields.contains_key(*name)) {
            self.refuse(&join(path, name), "is required: add it");
        }
        if let Some(most) = schema.max_properties.filter(|most| length(fields.len()) > *most) {
            self.refuse(path, format!("has {} entries; at most {most} are allowed", fields.len()));
        }
    }

    fn array(&mut self, path: &str, schema: &JSONSchemaProps, items: &[Value]) {
        if let Some(JSONSchemaPropsOrArray::Schema(item)) = &schema.items {
            for (index, value) in items.iter().enumerate() {
                self.value(&format!("{path}[{index}]"), item, value);
            }
        }
        if let Some(most) = schema.max_items.filter(|most| length(items.len()) > *most) {
            self.refuse(path, format!("has {} entries; at most {most} are allowed", items.len()));
        }
        if let Some(least) = schema.min_items.filter(|least| length(items.len()) < *least) {
            self.refuse(path, format!("has {} entries; at least {least} must be there", items.len()));
        }
        match schema.x_kubernetes_list_type.as_deref() {
            Some("map") => {
                let keys = schema.x_kubernetes_list_map_keys.as_deref().unwrap_or_default();
                let key_of = |value: &Value| keys.iter().map(|key| value.get(key).cloned()).collect::<Option<Vec<_>>>();
                for (index, value) in items.iter().enumerate() {
                    let Some(key) = key_of(value) else { continue };
                    if items.iter().take(index).any(|earlier| key_of(earlier).as_ref() == Some(&key)) {
                        let keys = keys.join(" and ");
                        self.refuse(
                            &format!("{path}[{index}]"),
                            format!("has the {keys} of an earlier entry: choose another"),
                        );
                    }
                }
            }
            Some("set") => {
                for (index, value) in items.iter().enumerate() {
                    if items.iter().take(index).any(|earlier| earlier == value) {
                        self.refuse(&format!("{path}[{index}]"), "is there twice: remove one");
                    }
                }
            }
            _ => {}
        }
    }

    fn string(&mut self, path: &str, schema: &JSONSchemaProps, text: &str) {
        if let Some(allowed) = &schema.enum_ {
            let allowed: Vec<_> = allowed.iter().filter_map(|value| value.0.as_str()).collect();
            if !allowed.contains(&text) {
                self.refuse(path, format!("must be one of {}, not \"{}\"", allowed.join(", "), text.escape_debug()));
            }
        }
        let characters = length(text.chars().count());
        if let Some(most) = schema.max_length.filter(|most| characters > *most) {
            self.refuse(path, format!("has {characters} characters; at most {most} are allowed"));
        }
        if let Some(least) = schema.min_length.filter(|least| characters < *least) {
            self.refuse(path, format!("has {characters} characters; at least {least} must be there"));
        }
        if schema.format.as_deref() == Some("date-time") && text.parse::<k8s_openapi::jiff::Timestamp>().is_err() {
            self.refuse(path, "must be a time such as 2025-01-31T12:00:00Z");
        }
    }

    fn number(&mut self, path: &str, schema: &JSONSchemaProps, value: &Value) {
        let Some(number) = value.as_f64() else { return };
        if let Some(least) = schema.minimum.filter(|least| number < *least) {
            self.refuse(path, format!("is {value}; at least {least} is allowed"));
        }
        if let Some(most) = schema.maximum.filter(|most| number > *most) {
            self.refuse(path, format!("is {value}; at most {most} is allowed"));
        }
    }

    fn metadata(&mut self, metadata: Option<&Value>) {
        let Some(Value::Object(fields)) = metadata else {
            // `value` has refused anything that is no mapping.
            if metadata.is_none() {
                self.refuse("metadata.name", "is required: add it");
            }
            return;
        };
        for name in fields.keys().filter(|name| !METADATA_FIELDS.contains(&name.as_str())) {
            self.refuse(&join("metadata", name), unknown(name, METADATA_FIELDS.into_iter()));
        }
        match fields.get("name") {
            Some(Value::String(name)) if is_dns_subdomain(name) => {}
            None if fields.contains_key("generateName") => {}
            None => self.refuse("metadata.name", "is required: add it"),
            Some(_) => self.refuse(
                "metadata.name",
                "must consist of lower case letters, digits, '-' and '.', and start and end with a letter or digit",
            ),
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A count as schemas write bounds. No manifest comes near the end of i64.
fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

fn is_dns_subdomain(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// What to say of a field that is not there: the nearest name, or all of them.
fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.collect();
    let nearest = known.iter().map(|candidate| (distance(name, candidate), candidate)).min();
    match nearest {
        Some((edits, candidate)) if edits <= candidate.len().div_ceil(3) => {
            format!("is not a known field: did you mean {candidate}?")
        }
        _ => format!("is not a known field: the fields here are {}", known.join(", ")),
    }
}

/// How many characters to add, drop or replace to get from one name to the other; letter case does not count.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().take(64).enumerate() {
        let mut previous = i + 1;
        let mut next = vec![previous];
        for (b, above) in to.iter().zip(row.windows(2)) {
            let &[diagonal, above] = above else { continue };
            previous = (diagonal + usize::from(a != *b)).min(above + 1).min(previous + 1);
            next.push(previous);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
