//! A tool's arguments: the JSON Schema that is shown for them, and the check that an object obeys it.
//!
//! Both come from the argument type. The check is ours and not serde's, because its message has to say which argument is
//! wrong, what came and what is wanted; serde sees only arguments that passed.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool::ToolError;

/// The JSON Schema of an argument type: one flat object, no references, no `null`, unknown arguments refused.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.shift_remove("title");
        object.shift_remove("description");
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.values_mut().for_each(plain);
        }
    }
    schema
}

/// Takes out what schemars adds for `Option` and for Rust's integer widths: an optional argument is left out, not null.
fn plain(property: &mut Value) {
    let Some(object) = property.as_object_mut() else { return };
    object.shift_remove("format");
    object.shift_remove("default");
    if let Some(Value::Array(types)) = object.get("type")
        && let Some(only) = types.iter().find(|kind| *kind != "null").cloned()
    {
        object.insert("type".to_owned(), only);
    }
    if let Some(Value::Array(branches)) = object.get("anyOf")
        && let Some(Value::Object(only)) = branches.iter().find(|branch| branch["type"] != "null").cloned()
    {
        object.shift_remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// Reads a call's arguments.
///
/// An argument that is null counts as left out. The text of a number or of a truth value counts as that value.
///
/// # Errors
/// [`ToolError::InvalidArguments`], naming the argument, what came and what is wanted.
pub(crate) fn parse<T: DeserializeOwned>(tool: &str, schema: &Value, arguments: Value) -> Result<T, ToolError> {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let takes = || properties.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let refuse = |problem: String| ToolError::InvalidArguments(format!("{tool}: {problem}"));

    let given = match arguments {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        other => {
            return Err(refuse(format!("wants one object with the arguments {}; got {}", takes(), described(&other))));
        }
    };
    let mut accepted = Map::new();
    for (name, value) in given {
        let Some(property) = properties.get(&name) else {
            return Err(refuse(format!("has no argument \"{}\"; it takes {}", shortened(&name), takes())));
        };
        if value.is_null() {
            continue;
        }
        let Some(value) = fitted(property, &value) else {
            return Err(refuse(format!("{name} must be {}; got {}", wanted(property), described(&value))));
        };
        accepted.insert(name, value);
    }
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !accepted.contains_key(required) {
            let wanted = properties.get(required).map(wanted).unwrap_or_default();
            return Err(refuse(format!("{required} is missing; it must be {wanted}")));
        }
    }
    serde_json::from_value(Value::Object(accepted)).map_err(|error| refuse(error.to_string()))
}

/// The value as the property's type wants it, or nothing if it does not fit.
fn fitted(property: &Value, value: &Value) -> Option<Value> {
    match (property["type"].as_str(), value) {
        (Some("integer"), Value::Number(number)) => integer(number).map(Value::from),
        (Some("integer"), Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        (Some("boolean"), Value::Bool(_)) => Some(value.clone()),
        (Some("boolean"), Value::String(text)) => text.trim().parse::<bool>().ok().map(Value::from),
        (Some("string"), Value::String(_)) => match property["enum"].as_array() {
            Some(allowed) if !allowed.contains(value) => None,
            _ => Some(value.clone()),
        },
        _ => None,
    }
}

/// JavaScript has one number type: 3.0 is 3.
#[expect(clippy::cast_possible_truncation, reason = "only whole numbers of at most 2^53 in size get there")]
fn integer(number: &serde_json::Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
    })
}

fn wanted(property: &Value) -> String {
    match (property["type"].as_str(), property["enum"].as_array()) {
        (_, Some(allowed)) => {
            format!("one of {}", allowed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        (Some("integer"), _) => "a whole number".to_owned(),
        (Some("boolean"), _) => "true or false".to_owned(),
        _ => "a text".to_owned(),
    }
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => format!("{value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text \"{}\"", shortened(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// As much of a caller's text as a message needs.
fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Arguments {
        /// Where.
        path: String,
        /// How many.
        limit: Option<i64>,
        ignore_case: Option<bool>,
        /// How.
        output: Option<Form>,
    }

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Form {
        Text,
        Json,
    }

    fn read(value: Value) -> Result<Arguments, String> {
        parse("look", &schema::<Arguments>(), value).map_err(|error| error.to_string())
    }

    #[test]
    fn the_schema_is_flat_and_closed() {
        assert_eq!(
            schema::<Arguments>(),
            json!({
                "type": "object",
                "properties": {
                    "path": {"description": "Where.", "type": "string"},
                    "limit": {"description": "How many.", "type": "integer"},
                    "ignoreCase": {"type": "boolean"},
                    "output": {"description": "How.", "type": "string", "enum": ["text", "json"]},
                },
                "additionalProperties": false,
                "required": ["path"],
            })
        );
    }

    #[test]
    fn numbers_and_truth_values_may_come_as_text_and_null_as_left_out() {
        let expected =
            Arguments { path: "a".into(), limit: Some(3), ignore_case: Some(true), output: Some(Form::Json) };
        assert_eq!(
            read(json!({"path": "a", "limit": "3", "ignoreCase": "true", "output": "json"})).as_ref(),
            Ok(&expected)
        );
        assert_eq!(read(json!({"path": "a", "limit": 3.0, "ignoreCase": true, "output": "json"})), Ok(expected));
        assert_eq!(
            read(json!({"path": "a", "limit": null})),
            Ok(Arguments { path: "a".into(), limit: None, ignore_case: None, output: None })
        );
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_came_and_what_is_wanted() {
        let cases = [
            (json!([1]), "look: wants one object with the arguments path, limit, ignoreCase, output; got a list"),
            (
                json!({"path": "a", "file": 1}),
                "look: has no argument \"file\"; it takes path, limit, ignoreCase, output",
            ),
            (json!({}), "look: path is missing; it must be a text"),
            (json!(null), "look: path is missing; it must be a text"),
            (json!({"path": 3}), "look: path must be a text; got the number 3"),
            (json!({"path": "a", "limit": "many"}), "look: limit must be a whole number; got the text \"many\""),
            (json!({"path": "a", "limit": 1.5}), "look: limit must be a whole number; got the number 1.5"),
            (json!({"path": "a", "limit": 1e300}), "look: limit must be a whole number; got the number 1e+300"),
            (json!({"path": "a", "ignoreCase": 1}), "look: ignoreCase must be true or false; got the number 1"),
            (
                json!({"path": "a", "output": "xml"}),
                "look: output must be one of \"text\", \"json\"; got the text \"xml\"",
            ),
        ];
        for (arguments, message) in cases {
            assert_eq!(read(arguments), Err(message.to_owned()));
        }
    }
}
