//! A tool's arguments as a TypeScript declaration, made from their JSON Schema: what models read best.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::identifier::is_identifier;
use super::wire::Listed;

/// Levels of a schema that are written out.
const DEEPEST: usize = 8;
/// Bytes of a declaration; beyond it, types become `unknown`.
const LARGEST: usize = 16 << 10;

/// The declaration of one tool, with its description.
pub(super) fn declaration(tool: &Listed, identifier: &str) -> String {
    let mut out = comment(&tool.description, "");
    let access =
        if is_identifier(identifier) { format!("tools.{identifier}") } else { format!("tools[{:?}]", tool.name) };
    let mut writer = Writer { root: &tool.schema, written: 0, following: Vec::new() };
    let arguments = writer.type_of(&tool.schema, 0);
    let is_optional = tool.schema.get("required").and_then(Value::as_array).is_none_or(Vec::is_empty);
    _ = write!(out, "{access}(args{}: {arguments}): Promise<any>", if is_optional { "?" } else { "" });
    out
}

struct Writer<'a> {
    root: &'a Value,
    written: usize,
    /// References that are being written out, so that a recursive one ends.
    following: Vec<&'a str>,
}

impl<'a> Writer<'a> {
    fn type_of(&mut self, schema: &'a Value, depth: usize) -> String {
        let text = match schema {
            Value::Bool(false) => "never".to_owned(),
            Value::Object(object) if depth <= DEEPEST && self.written <= LARGEST => self.object_schema(object, depth),
            _ => "unknown".to_owned(),
        };
        self.written += text.len();
        text
    }

    fn object_schema(&mut self, schema: &'a Map<String, Value>, depth: usize) -> String {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference(reference, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let values: Vec<String> = values.iter().take(50).map(Value::to_string).collect();
            return if values.is_empty() { "never".to_owned() } else { values.join(" | ") };
        }
        // Everything that is said beside `anyOf` holds as well: properties are not lost.
        let mut parts: Vec<String> = self.own_type(schema, depth).into_iter().collect();
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                let mut types: Vec<String> = choices.iter().map(|choice| self.type_of(choice, depth + 1)).collect();
                types.dedup();
                let narrows = types.iter().any(|text| text != "unknown" && text != "{}");
                if narrows || parts.is_empty() {
                    parts.push(union(&types, !parts.is_empty()));
                }
            }
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            parts.extend(all.iter().map(|part| self.type_of(part, depth + 1)).filter(|text| text != "unknown"));
        }
        let text = match parts.len() {
            0 => "unknown".to_owned(),
            _ => parts.join(" & "),
        };
        if schema.get("nullable") == Some(&Value::Bool(true)) { format!("{text} | null") } else { text }
    }

    fn reference(&mut self, reference: &'a str, depth: usize) -> String {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        let Some(pointer) = reference.strip_prefix('#') else { return format!("unknown /* {reference} */") };
        if self.following.contains(&reference) {
            return format!("unknown /* recursive: {name} */");
        }
        let Some(target) = self.root.pointer(pointer) else { return format!("unknown /* {reference} is missing */") };
        self.following.push(reference);
        let text = self.type_of(target, depth + 1);
        self.following.pop();
        text
    }

    /// What `type` and the keywords of each type say; `None` when they say nothing.
    fn own_type(&mut self, schema: &'a Map<String, Value>, depth: usize) -> Option<String> {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if ["properties", "additionalProperties", "patternProperties"]
                .iter()
                .any(|key| schema.contains_key(*key)) =>
            {
                vec!["object"]
            }
            _ if schema.contains_key("items") || schema.contains_key("prefixItems") => vec!["array"],
            _ => return None,
        };
        let texts: Vec<String> = types
            .iter()
            .map(|name| match *name {
                "integer" | "number" => "number".to_owned(),
                "array" => self.array(schema, depth),
                "object" => self.object(schema, depth),
                name @ ("string" | "boolean" | "null") => name.to_owned(),
                _ => "unknown".to_owned(),
            })
            .collect();
        Some(union(&texts, false))
    }

    fn array(&mut self, schema: &'a Map<String, Value>, depth: usize) -> String {
        let tuple = schema.get("prefixItems").or_else(|| schema.get("items").filter(|items| items.is_array()));
        let rest = if schema.contains_key("prefixItems") { schema.get("items") } else { schema.get("additionalItems") };
        if let Some(items) = tuple.and_then(Value::as_array) {
            let mut items: Vec<String> = items.iter().map(|item| self.type_of(item, depth + 1)).collect();
            if let Some(rest) = rest.filter(|rest| **rest != Value::Bool(false)) {
                items.push(format!("...{}[]", parenthesised(&self.type_of(rest, depth + 1))));
            }
            return format!("[{}]", items.join(", "));
        }
        let item = schema.get("items").map_or_else(|| "unknown".to_owned(), |item| self.type_of(item, depth + 1));
        format!("{}[]", parenthesised(&item))
    }

    fn object(&mut self, schema: &'a Map<String, Value>, depth: usize) -> String {
        let indent = "  ".repeat(depth + 1);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut lines = String::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if self.written + lines.len() > LARGEST {
                _ = writeln!(lines, "{indent}// more properties");
                break;
            }
            lines.push_str(&comment(property.get("description").and_then(Value::as_str).unwrap_or_default(), &indent));
            let key = if is_identifier(name) { name.clone() } else { Value::from(name.as_str()).to_string() };
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            let text = self.type_of(property, depth + 1);
            let default = property.get("default").map(|default| format!(" // default {default}")).unwrap_or_default();
            _ = writeln!(lines, "{indent}{key}{mark}: {text};{default}");
        }
        for (pattern, value) in schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
            let text = self.type_of(value, depth + 1);
            _ = writeln!(lines, "{indent}[key: string]: {text}; // keys that match {pattern}");
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => _ = writeln!(lines, "{indent}[key: string]: unknown;"),
            Some(value @ Value::Object(_)) => {
                let text = self.type_of(value, depth + 1);
                _ = writeln!(lines, "{indent}[key: string]: {text};");
            }
            _ => {}
        }
        if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{lines}{}}}", "  ".repeat(depth)) }
    }
}

fn union(types: &[String], in_parentheses: bool) -> String {
    match types {
        [] => "never".to_owned(),
        [one] => one.clone(),
        many if in_parentheses => format!("({})", many.join(" | ")),
        many => many.join(" | "),
    }
}

fn parenthesised(text: &str) -> String {
    let is_compound =
        !text.starts_with('{') && !text.starts_with('[') && (text.contains(" | ") || text.contains(" & "));
    if is_compound { format!("({text})") } else { text.to_owned() }
}

fn comment(text: &str, indent: &str) -> String {
    let text = text.trim().replace("*/", "* /");
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    match lines.as_slice() {
        [line] => format!("{indent}/** {line} */\n"),
        lines => format!("{indent}/**\n{indent} * {}\n{indent} */\n", lines.join(&format!("\n{indent} * "))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(schema: Value) -> String {
        let tool = Listed { name: "t".into(), description: String::new(), schema };
        let text = declaration(&tool, "t");
        text.trim_start_matches("tools.t(args")
            .trim_start_matches('?')
            .trim_start_matches(": ")
            .trim_end_matches("): Promise<any>")
            .to_owned()
    }

    #[test]
    fn a_tool_is_declared_with_its_description_and_the_names_of_its_arguments() {
        let tool = Listed {
            name: "read".into(),
            description: "Reads a file.\nA window at a time.".into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "limit": {"type": "integer", "default": 100},
                    "kind": {"enum": ["a", "b", 3]},
                    "odd-name": {"type": ["string", "null"]},
                },
                "required": ["path"],
            }),
        };
        let expected = "/**\n * Reads a file.\n * A window at a time.\n */\ntools.read(args: {\n  /** The file */\n  path: string;\n  \
                        limit?: number; // default 100\n  kind?: \"a\" | \"b\" | 3;\n  \"odd-name\"?: string | null;\n}): Promise<any>";
        assert_eq!(declaration(&tool, "read"), expected);
    }

    #[test]
    fn fault_18_properties_beside_a_choice_are_kept() {
        let text = arguments(json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }));
        assert_eq!(text, "{\n  a?: string;\n  b?: string;\n}");
        let text = arguments(json!({"type": "object", "properties": {"a": {"type": "string"}},
            "oneOf": [{"properties": {"x": {"const": 1}}}, {"properties": {"y": {"type": "null"}}}]}));
        assert_eq!(text, "{\n  a?: string;\n} & ({\n    x?: 1;\n  } | {\n    y?: null;\n  })");
    }

    #[test]
    fn tuples_maps_unions_and_references() {
        assert_eq!(arguments(json!({"type": "array", "items": {"type": ["string", "number"]}})), "(string | number)[]");
        assert_eq!(
            arguments(json!({"prefixItems": [{"type": "string"}, {"type": "number"}], "items": {"type": "boolean"}})),
            "[string, number, ...boolean[]]"
        );
        assert_eq!(
            arguments(json!({"type": "object", "additionalProperties": {"type": "number"}})),
            "{\n  [key: string]: number;\n}"
        );
        assert_eq!(
            arguments(json!({"type": "object", "patternProperties": {"^x-": {"type": "string"}}})),
            "{\n  [key: string]: string; // keys that match ^x-\n}"
        );
        assert_eq!(arguments(json!({"type": "string", "nullable": true})), "string | null");
        assert_eq!(
            arguments(json!({"allOf": [{"type": "string"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"const": "x"}}})),
            "string & \"x\""
        );
        assert_eq!(arguments(json!({"$ref": "#/nope"})), "unknown /* #/nope is missing */");
    }

    #[test]
    fn a_recursive_or_huge_schema_ends() {
        let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}});
        assert_eq!(arguments(tree), "{\n    next?: unknown /* recursive: node */;\n  }");
        let wide: Map<String, Value> =
            (0..10_000).map(|index| (format!("p{index}"), json!({"type": "string"}))).collect();
        assert!(arguments(json!({"type": "object", "properties": wide})).len() < 2 * LARGEST);
        let mut deep = json!({"type": "string"});
        for _ in 0..60 {
            deep = json!({"type": "object", "properties": {"a": deep, "b": true}});
        }
        assert!(arguments(deep).contains("unknown"));
    }
}
