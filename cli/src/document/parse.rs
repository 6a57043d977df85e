//! From the text of a file to its documents.
//!
//! Bounds: a document may be 64 levels deep and, aliases written out, hold [`MAX_VALUES`] values and [`MAX_TEXT`] bytes of
//! text. A document that cannot be read does not hide those after it.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, Span, Tag};

use super::path::Path;
use super::{Entry, Node, Position, Value, scalar};

/// Values of one document, aliases written out. A Job has some dozens.
const MAX_VALUES: usize = 100_000;
/// Bytes of text of one document, aliases written out. The API server takes 3 MiB in one request.
const MAX_TEXT: usize = 3 << 20;
/// Levels of nesting. A Job has eight.
const MAX_DEPTH: usize = 64;
/// Problems of one file that are worth telling.
const MAX_PROBLEMS: usize = 100;

/// Something about the text itself that has to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) at: Position,
    /// The field it is about; empty when the text could not be read so far.
    pub(crate) field: String,
    pub(crate) message: String,
}

/// The documents of a file that could be read, and the problems of all. Empty documents are left out.
pub(crate) fn parse(text: &str) -> (Vec<Node>, Vec<Problem>) {
    let mut options = Options::default();
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    // As kubectl reads the last line of a block scalar.
    options.block_scalar_eof_without_line_feed = true;
    options.set_emit_comments(false);
    let mut builder = Builder {
        text,
        events: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        size: Size::default(),
        problems: Vec::new(),
    };
    let mut documents = Vec::new();
    loop {
        match builder.document() {
            Ok(Some(Node { value: Value::Null, .. })) => {}
            Ok(Some(node)) => documents.push(node),
            Ok(None) => break,
            Err(problem) => {
                builder.problems.push(problem);
                if builder.problems.len() >= MAX_PROBLEMS || !builder.events.proceed_next_document().unwrap_or(false) {
                    break;
                }
            }
        }
    }
    (documents, builder.problems)
}

/// How much a value holds, aliases written out.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    values: usize,
    text: usize,
}

impl Size {
    fn add(&mut self, other: Self, at: Position) -> Result<(), Problem> {
        self.values = self.values.saturating_add(other.values);
        self.text = self.text.saturating_add(other.text);
        if self.values > MAX_VALUES {
            return Err(problem(
                at,
                format!(
                    "the document holds more than {MAX_VALUES} values, aliases written out; split it, or use fewer aliases"
                ),
            ));
        }
        if self.text > MAX_TEXT {
            return Err(problem(
                at,
                format!(
                    "the document holds more than {MAX_TEXT} bytes, aliases written out; split it, or use fewer aliases"
                ),
            ));
        }
        Ok(())
    }

    fn since(self, before: Self) -> Self {
        Self { values: self.values - before.values, text: self.text - before.text }
    }
}

struct Builder<'t> {
    text: &'t str,
    events: Parser<'t, granit_parser::StrInput<'t>>,
    /// Anchored values that are complete, with their sizes.
    anchors: HashMap<usize, (Node, Size)>,
    size: Size,
    problems: Vec<Problem>,
}

impl<'t> Builder<'t> {
    /// The next document; `None` at the end of the file.
    fn document(&mut self) -> Result<Option<Node>, Problem> {
        self.anchors.clear();
        self.size = Size::default();
        loop {
            let Some(next) = self.events.next_event() else { return Ok(None) };
            match next.map_err(|error| syntax(&error, self.text))? {
                (Event::StreamEnd, _) => return Ok(None),
                (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
                (event, span) => return self.node(event, span, &Path::Root).map(Some),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Problem> {
        match self.events.next_event() {
            Some(next) => next.map_err(|error| syntax(&error, self.text)),
            None => Err(problem(Position { line: 1, column: 1 }, "the document ends early; complete it".into())),
        }
    }

    fn node(&mut self, event: Event<'t>, span: Span, path: &Path<'_>) -> Result<Node, Problem> {
        let at = position(span.start);
        let before = self.size;
        let is_literal = matches!(event, Event::Scalar(_, ScalarStyle::Literal, _, _));
        let (value, anchor) = match event {
            Event::Alias(id) => return self.alias(id, at),
            Event::Scalar(text, style, anchor, tag) => {
                self.size.add(Size { values: 1, text: text.len() }, at)?;
                (scalar_value(&text, style, tag.as_deref()), anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.size.add(Size { values: 1, text: 0 }, at)?;
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::SequenceEnd {
                        break;
                    }
                    let index = items.len();
                    items.push(self.node(event, span, &path.index(index))?);
                }
                (collection(Value::List(items), tag.as_deref(), "seq"), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.size.add(Size { values: 1, text: 0 }, at)?;
                (collection(Value::Map(self.entries(path)?), tag.as_deref(), "map"), anchor)
            }
            _ => return Err(problem(at, "a value is wanted here".into())),
        };
        let node = Node { at, value, is_literal };
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), self.size.since(before)));
        }
        Ok(node)
    }

    fn alias(&mut self, id: usize, at: Position) -> Result<Node, Problem> {
        let Some((node, size)) = self.anchors.get(&id) else {
            return Err(problem(at, "an alias stands inside the value that it names; write the value out".into()));
        };
        self.size.add(*size, at)?;
        Ok(node.clone())
    }

    /// The entries of a map, with `<<` applied as `kubectl` applies it.
    fn entries(&mut self, path: &Path<'_>) -> Result<Vec<Entry>, Problem> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut merged: Vec<Entry> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let key_at = position(span.start);
            let (key, is_merge) = self.key(event, span, key_at)?;
            let inner = path.key(&key);
            let (event, span) = self.next()?;
            let node = self.node(event, span, &inner)?;
            if is_merge {
                merge(node, key_at, &mut merged)?;
            } else if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                let message = format!("this key stands on line {} already; keep one of the two", first.key_at.line);
                self.report(Problem { at: key_at, field: inner.to_string(), message });
            } else {
                entries.push(Entry { key, key_at, node });
            }
        }
        for entry in merged {
            if !entries.iter().any(|other| other.key == entry.key) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// A key, and whether it is the merge key.
    fn key(&mut self, event: Event<'t>, span: Span, at: Position) -> Result<(String, bool), Problem> {
        match event {
            Event::Scalar(text, style, 0, None) => {
                self.size.add(Size { values: 1, text: text.len() }, at)?;
                if style != ScalarStyle::Plain {
                    return Ok((text.into_owned(), false));
                }
                if text == "<<" {
                    return Ok((text.into_owned(), true));
                }
                match scalar::resolve(&text) {
                    Value::Null => Err(problem(at, "a key is null; give it a name, or quote it".into())),
                    Value::Unclear { advice, .. } => Err(problem(at, format!("a key is unclear: {advice}"))),
                    _ => Ok((text.into_owned(), false)),
                }
            }
            event => match self.node(event, span, &Path::Root)?.value {
                Value::Text(text) => Ok((text, false)),
                _ => Err(problem(at, "a key is not a text; write a plain or quoted text".into())),
            },
        }
    }

    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

fn scalar_value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    match tag {
        None if style == ScalarStyle::Plain => scalar::resolve(text),
        None => Value::Text(text.to_owned()),
        Some(tag) if tag.is_yaml_core_schema_tag("str") || tag.original() == "!" => Value::Text(text.to_owned()),
        Some(tag) => Value::Unclear { text: text.to_owned(), advice: refused_tag(tag) },
    }
}

fn collection(value: Value, tag: Option<&Tag>, own_tag: &str) -> Value {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema_tag(own_tag) => {
            Value::Unclear { text: String::new(), advice: refused_tag(tag) }
        }
        _ => value,
    }
}

fn refused_tag(tag: &Tag) -> String {
    format!("the tag {} means nothing here; remove it", tag.original().escape_debug())
}

/// Puts what a merge key names behind what is there: earlier ones win.
fn merge(node: Node, at: Position, merged: &mut Vec<Entry>) -> Result<(), Problem> {
    let maps = match node.value {
        Value::List(items) => items,
        value => vec![Node { at: node.at, value, is_literal: false }],
    };
    for map in maps {
        let Value::Map(entries) = map.value else {
            return Err(problem(at, "the merge key << takes a map or a list of maps; name one with an alias".into()));
        };
        for entry in entries {
            if !merged.iter().any(|other| other.key == entry.key) {
                merged.push(entry);
            }
        }
    }
    Ok(())
}

fn position(mark: Marker) -> Position {
    Position { line: mark.line(), column: mark.col() + 1 }
}

fn problem(at: Position, message: String) -> Problem {
    Problem { at, field: String::new(), message }
}

fn syntax(error: &ScanError, text: &str) -> Problem {
    let at = position(*error.marker());
    if let Some(tab) = indenting_tab(text, at.line) {
        return problem(tab, "not YAML: a tab indents this line; indent with spaces".into());
    }
    let advice = match error.kind() {
        ErrorKind::UnknownAnchor => "; define the anchor before its alias, or write the value out",
        _ => "",
    };
    problem(at, format!("not YAML: {}{advice}", error.info()))
}

/// A tab in the indentation of that line or of the next: the parser sees it as many things, the place of none of which is
/// the tab's.
fn indenting_tab(text: &str, line: usize) -> Option<Position> {
    text.lines().enumerate().skip(line.saturating_sub(1)).take(2).find_map(|(index, text)| {
        let indentation = text.len() - text.trim_start_matches([' ', '\t']).len();
        let column = text.get(..indentation)?.find('\t')? + 1;
        Some(Position { line: index + 1, column })
    })
}
