//! A manifest as it was written: values with the line and column they stand at.
//!
//! Findings point into files, so a plain JSON value is not enough. The tree is built from the events of a YAML parser
//! (JSON is read as the YAML it is), with the meaning that `kubectl` gives to a scalar; where readers of YAML disagree
//! about one, the tree says so instead of choosing.

mod parse;
mod path;
mod scalar;

pub(crate) use parse::parse;
pub(crate) use path::Path;

use serde_json::{Map, Number, Value as Json};

/// A place in a file; line and column count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A value and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) value: Value,
    /// Whether it is a text written line by line after `|`: its lines are lines of the file, from `at` on.
    pub(crate) is_literal: bool,
}

/// What a manifest can hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// Keys are unique, in the order they were written.
    Map(Vec<Entry>),
    /// A scalar that readers of YAML understand differently, or a value that is tagged: the text of a scalar, and what to
    /// do about it.
    Unclear {
        text: String,
        advice: String,
    },
}

/// One key of a map with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Position,
    pub(crate) node: Node,
}

impl Node {
    /// The value of a key; `None` for a missing key and for anything that is not a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The text of a text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Where a place within a text stands in the file, both counted from 1; known for a text that was written line by line.
    pub(crate) fn place_in_text(&self, line: usize, column: usize) -> Option<Position> {
        // Blank lines at the start belong to the text, but `at` is where its first words are.
        let text = self.text().filter(|text| self.is_literal && !text.starts_with(['\n', ' ']))?;
        let within = text.lines().count() >= line;
        within.then(|| Position { line: self.at.line + line - 1, column: self.at.column + column - 1 })
    }

    /// The items of a list; none for anything else.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The value without places. An unclear scalar becomes its text: whoever needs its meaning refused it before.
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::Text(text) | Value::Unclear { text, .. } => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => Json::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// Where a field written as `spec.sources[0].name` stands: its key, or the item of a list. When the field is not there,
    /// the place of the innermost field around it that is.
    pub(crate) fn locate(&self, field: &str) -> Position {
        let (mut node, mut place) = (self, self.at);
        for step in path::steps(field) {
            let (found, at) = match step {
                path::Step::Key(key) => match node.entry(key) {
                    Some(entry) => (&entry.node, entry.key_at),
                    None => return place,
                },
                path::Step::Index(index) => match node.items().get(index) {
                    Some(item) => (item, item.at),
                    None => return place,
                },
            };
            (node, place) = (found, at);
        }
        place
    }
}

#[cfg(test)]
mod tests;
