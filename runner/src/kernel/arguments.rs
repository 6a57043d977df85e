//! A tool's arguments: the JSON Schema that is shown for them, and the check that an object obeys it.
//!
//! Both come from the argument type. The check is ours and not serde's, because its message has to say which argument is
//! wrong, what came and what is wanted; serde sees only arguments that passed.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool::ToolError;

/// The JSON Schema of an argument type: one object, no references, no `null`, unknown arguments refused. An argument is a
/// whole number, a truth value, a text, or a list of objects of such.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    close(&mut schema);
    schema
}

/// Makes the schema of an object one that refuses what it does not name, and its arguments plain.
fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.shift_remove("title");
    object.shift_remove("description");
    object.insert("additionalProperties".to_owned(), Value::Bool(false));
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(plain);
    }
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
    if let Some(items) = object.get_mut("items") {
        close(items);
    }
}

/// Reads a call's arguments.
///
/// An argument that is null counts as left out. The text of a number, of a truth value or of a list as JSON counts as that
/// value; [`taken_as`] says so.
///
/// # Errors
/// [`ToolError::InvalidArguments`], naming the argument by its path (`edits[1].oldText`), what came and what is wanted.
pub(crate) fn parse<T: DeserializeOwned>(tool: &str, schema: &Value, arguments: Value) -> Result<T, ToolError> {
    let refuse = |problem: String| ToolError::InvalidArguments(format!("{tool}: {problem}"));
    let given = match arguments {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        other => {
            let takes = names(schema);
            return Err(refuse(format!("wants one object with the arguments {takes}; got {}", described(&other))));
        }
    };
    let accepted = fit_object("", schema, &given).map_err(refuse)?;
    serde_json::from_value(accepted).map_err(|error| refuse(error.to_string()))
}

/// Which arguments came as the text of another type and were taken as that, one sentence each.
///
/// For whoever may not know that it quotes its numbers; arguments that do not fit are [`parse`]'s to refuse.
pub(crate) fn taken_as(schema: &Value, arguments: &Value) -> Vec<String> {
    let given = arguments.as_object().into_iter().flatten();
    given
        .filter_map(|(name, value)| {
            let Value::String(text) = value else { return None };
            let taken = match fit(name, schema["properties"].get(name)?, value).ok()? {
                Value::String(_) => return None,
                Value::Array(_) => {
                    return Some(format!("{name}: the text was taken as the list that it holds as JSON"));
                }
                other => described(&other),
            };
            Some(format!("{name}: the text \"{}\" was taken as {taken}", shortened(text)))
        })
        .collect()
}

/// The arguments that an object takes, for messages.
fn names(schema: &Value) -> String {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The object as its schema wants it, or what is wrong with it. `at` is its path; empty for the arguments themselves.
fn fit_object(at: &str, schema: &Value, given: &Map<String, Value>) -> Result<Value, String> {
    let path = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let mut accepted = Map::new();
    for (name, value) in given {
        let Some(property) = schema["properties"].get(name) else {
            let space = if at.is_empty() { "" } else { " " };
            return Err(format!("{at}{space}has no argument \"{}\"; it takes {}", shortened(name), names(schema)));
        };
        if !value.is_null() {
            accepted.insert(name.clone(), fit(&path(name), property, value)?);
        }
    }
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !accepted.contains_key(required) {
            let wanted = schema["properties"].get(required).map(wanted).unwrap_or_default();
            return Err(format!("{} is missing; it must be {wanted}", path(required)));
        }
    }
    Ok(Value::Object(accepted))
}

/// The value as the property's type wants it, or what is wrong with it.
fn fit(at: &str, property: &Value, value: &Value) -> Result<Value, String> {
    let fitted = match (property["type"].as_str(), value) {
        (Some("array"), Value::Array(items)) => return fit_list(at, property, items),
        (Some("array"), Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => return fit_list(at, property, &items),
            Ok(_) | Err(_) => None,
        },
        (Some("object"), Value::Object(given)) => return fit_object(at, property, given),
        (Some("integer"), Value::Number(number)) => integer(number).map(Value::from),
        (Some("integer"), Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        (Some("boolean"), Value::Bool(_)) => Some(value.clone()),
        (Some("boolean"), Value::String(text)) => text.trim().parse::<bool>().ok().map(Value::from),
        (Some("string"), Value::String(_)) => match property["enum"].as_array() {
            Some(allowed) if !allowed.contains(value) => None,
            _ => Some(value.clone()),
        },
        _ => None,
    };
    fitted.ok_or_else(|| format!("{at} must be {}; got {}", wanted(property), described(value)))
}

fn fit_list(at: &str, property: &Value, items: &[Value]) -> Result<Value, String> {
    let fitted = items.iter().enumerate().map(|(index, item)| fit(&format!("{at}[{index}]"), &property["items"], item));
    fitted.collect::<Result<_, _>>().map(Value::Array)
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
        (Some("array"), _) => format!("a list of objects with {}", names(&property["items"])),
        (Some("object"), _) => format!("an object with {}", names(property)),
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
        /// Places.
        places: Option<Vec<Place>>,
    }

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Place {
        /// Which.
        line: i64,
        text_there: Option<String>,
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
    fn the_schema_is_plain_and_closed() {
        assert_eq!(
            schema::<Arguments>(),
            json!({
                "type": "object",
                "properties": {
                    "path": {"description": "Where.", "type": "string"},
                    "limit": {"description": "How many.", "type": "integer"},
                    "ignoreCase": {"type": "boolean"},
                    "output": {"description": "How.", "type": "string", "enum": ["text", "json"]},
                    "places": {"description": "Places.", "type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "line": {"description": "Which.", "type": "integer"},
                            "textThere": {"type": "string"},
                        },
                        "additionalProperties": false,
                        "required": ["line"],
                    }},
                },
                "additionalProperties": false,
                "required": ["path"],
            })
        );
    }

    #[test]
    fn numbers_and_truth_values_may_come_as_text_and_null_as_left_out() {
        let expected = Arguments {
            path: "a".into(),
            limit: Some(3),
            ignore_case: Some(true),
            output: Some(Form::Json),
            places: None,
        };
        assert_eq!(
            read(json!({"path": "a", "limit": "3", "ignoreCase": "true", "output": "json"})).as_ref(),
            Ok(&expected)
        );
        assert_eq!(read(json!({"path": "a", "limit": 3.0, "ignoreCase": true, "output": "json"})), Ok(expected));
        assert_eq!(
            read(json!({"path": "a", "limit": null})),
            Ok(Arguments { path: "a".into(), limit: None, ignore_case: None, output: None, places: None })
        );
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_came_and_what_is_wanted() {
        let cases = [
            (
                json!([1]),
                "look: wants one object with the arguments path, limit, ignoreCase, output, places; got a list",
            ),
            (
                json!({"path": "a", "file": 1}),
                "look: has no argument \"file\"; it takes path, limit, ignoreCase, output, places",
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

    #[test]
    fn what_does_not_fit_in_a_list_is_named_by_its_path() {
        let places = |places: Value| read(json!({"path": "a", "places": places}));
        let cases = [
            (json!({"line": 1}), "look: places must be a list of objects with line, textThere; got an object"),
            (json!("[1"), "look: places must be a list of objects with line, textThere; got the text \"[1\""),
            (json!([{"line": 1}, 2]), "look: places[1] must be an object with line, textThere; got the number 2"),
            (json!([{"line": 1}, {}]), "look: places[1].line is missing; it must be a whole number"),
            (json!([{"line": []}]), "look: places[0].line must be a whole number; got a list"),
            (json!([{"line": 1, "x": 1}]), "look: places[0] has no argument \"x\"; it takes line, textThere"),
        ];
        for (value, message) in cases {
            assert_eq!(places(value), Err(message.to_owned()));
        }
        let both = vec![Place { line: 1, text_there: None }, Place { line: 2, text_there: Some("b".into()) }];
        let list = json!([{"line": 1, "textThere": null}, {"line": "2", "textThere": "b"}]);
        assert_eq!(places(list.clone()).unwrap().places.as_ref(), Some(&both));
        assert_eq!(places(json!(list.to_string())).unwrap().places, Some(both));
    }

    #[test]
    fn what_came_as_text_and_was_taken_as_something_else_is_told() {
        let told = |arguments: Value| taken_as(&schema::<Arguments>(), &arguments);
        assert_eq!(
            told(json!({"path": "1", "limit": " 3", "ignoreCase": "true", "output": "json", "places": "[]"})),
            [
                "limit: the text \" 3\" was taken as the number 3",
                "ignoreCase: the text \"true\" was taken as true",
                "places: the text was taken as the list that it holds as JSON",
            ]
        );
        assert_eq!(told(json!({"path": "1", "limit": 3, "ignoreCase": true})), [""; 0]);
        assert_eq!(told(json!({"limit": "many", "unknown": "3"})), [""; 0]);
        assert_eq!(told(json!("3")), [""; 0]);
    }
}
