//! A value of the script as JSON text, in one pass, without recursion and without trusting the value: getters, proxies and
//! `toJSON` run the script's code and may throw, mutate or never end.

use std::collections::HashSet;
use std::fmt::Write as _;

use rquickjs::atom::PredefinedAtom;
use rquickjs::object::Filter;
use rquickjs::{Array, Atom, Ctx, Exception, Function, Object, Type, Value};

use super::prelude::Prelude;
use crate::codemode::identifier;

/// The far side reads arguments with `serde_json`, which refuses 128 levels; some are left for the message around them.
const ARGUMENT_DEPTH: usize = 100;
/// Beyond what people write, within what a walk can hold in memory.
const OUTPUT_DEPTH: usize = 50_000;
/// A value whose text is longer is broken into lines at its outermost level.
const ONE_LINE: usize = 100;

/// What the text is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A tool's arguments or a stored value: what JSON cannot hold is an error that names its path.
    Argument,
    /// Output: what JSON cannot hold has a rendering.
    Output,
}

/// JSON text, cut at a bound, with the size it would have had.
pub(super) struct Encoded {
    pub(super) text: String,
    pub(super) bytes: usize,
}

/// One container that is being written.
enum Frame<'js> {
    Array { array: Object<'js>, next: u32, length: u32 },
    Object { object: Object<'js>, keys: Vec<Atom<'js>>, next: usize, empty: bool },
}

pub(super) struct Encoder<'a, 'js> {
    ctx: &'a Ctx<'js>,
    prelude: &'a Prelude,
    purpose: Purpose,
    /// What the value is called in an error: `args`, `the return value`.
    label: &'a str,
    /// Bytes to keep; for arguments, bytes allowed.
    limit: usize,
    interrupted: &'a dyn Fn() -> bool,
    object_prototype: Value<'js>,
    frames: Vec<Frame<'js>>,
    out: Sink,
    visited: u32,
}

impl<'a, 'js> Encoder<'a, 'js> {
    pub(super) fn new(
        ctx: &'a Ctx<'js>,
        prelude: &'a Prelude,
        purpose: Purpose,
        label: &'a str,
        limit: usize,
        interrupted: &'a dyn Fn() -> bool,
    ) -> rquickjs::Result<Self> {
        let object_prototype = prelude.object_prototype(ctx)?;
        let out = Sink { text: String::new(), bytes: 0, limit, breaks: Vec::new() };
        Ok(Self {
            ctx,
            prelude,
            purpose,
            label,
            limit,
            interrupted,
            object_prototype,
            frames: Vec::new(),
            out,
            visited: 0,
        })
    }

    /// Writes the value. `Err` means that an exception is pending in the engine.
    pub(super) fn encode(mut self, value: &Value<'js>) -> rquickjs::Result<Encoded> {
        self.value(value.clone(), "")?;
        while let Some(frame) = self.frames.last_mut() {
            match frame {
                Frame::Array { array, next, length } => {
                    if next == length {
                        self.close(']');
                        continue;
                    }
                    let (array, index) = (array.clone(), *next);
                    *next += 1;
                    if index > 0 {
                        self.out.push(",");
                    }
                    self.break_line();
                    let item: Value = array.get(index)?;
                    self.value(item, "")?;
                }
                Frame::Object { object, keys, next, empty } => {
                    let Some(key) = keys.get(*next) else {
                        self.close('}');
                        continue;
                    };
                    let (object, key, first) = (object.clone(), key.clone(), *empty);
                    *next += 1;
                    let item: Value = object.get(key.clone())?;
                    // JSON leaves a property out whose value is undefined.
                    if item.is_undefined() {
                        continue;
                    }
                    if let Some(Frame::Object { empty, .. }) = self.frames.last_mut() {
                        *empty = false;
                    }
                    if !first {
                        self.out.push(",");
                    }
                    self.break_line();
                    let key = self.prelude.key(&key);
                    self.out.quoted(&key);
                    self.out.push(":");
                    self.value(item, &key)?;
                }
            }
            if self.purpose == Purpose::Argument && self.out.bytes > self.limit {
                return Err(self.range_error(&format!("{} is larger than {} bytes", self.label, self.limit)));
            }
        }
        Ok(self.out.finish(self.purpose == Purpose::Output))
    }

    fn value(&mut self, value: Value<'js>, key: &str) -> rquickjs::Result<()> {
        self.visited = self.visited.wrapping_add(1);
        if self.visited.is_multiple_of(1024) && (self.interrupted)() {
            return Err(Exception::throw_internal(self.ctx, "interrupted"));
        }
        match value.type_of() {
            Type::Null => self.out.push("null"),
            Type::Bool => self.out.push(if value.as_bool() == Some(true) { "true" } else { "false" }),
            Type::Int => {
                let number = value.as_int().unwrap_or_default();
                self.out.push(&number.to_string());
            }
            Type::Float => self.float(value.as_float().unwrap_or(f64::NAN))?,
            Type::String => {
                let text = self.prelude.text(&value);
                self.out.quoted(&text);
            }
            Type::Array => self.open_array(value)?,
            Type::Undefined | Type::Uninitialized => self.special("undefined", "undefined")?,
            Type::BigInt => {
                let text = format!("{}n", self.prelude.string_of(&value));
                self.special("a BigInt", &text)?;
            }
            Type::Symbol => {
                let text = self.prelude.string_of(&value);
                self.special("a symbol", &text)?;
            }
            Type::Function | Type::Constructor => self.replaced(value, "a function")?,
            Type::Promise => return Err(self.promise_error()),
            Type::Exception => self.replaced(value, "an Error")?,
            _ => self.object(value, key)?,
        }
        Ok(())
    }

    fn object(&mut self, value: Value<'js>, key: &str) -> rquickjs::Result<()> {
        let Some(object) = value.as_object() else {
            return self.special("not a value", "undefined");
        };
        if value.is_proxy() && self.prelude.is_array(self.ctx, &value)? {
            return self.open_array(value);
        }
        if (value.is_proxy() || !self.is_plain(object))
            && let Some(kind) = self.prelude.brand(self.ctx, &value)?
        {
            return self.replaced(value, &format!("a {kind}"));
        }
        let to_json: Value = object.get(PredefinedAtom::ToJSON)?;
        if let Some(function) = to_json.as_function() {
            return self.replaced_by_to_json(function, &value, key);
        }
        let keys = object.own_keys::<Atom>(Filter::new().string().enum_only()).collect::<rquickjs::Result<Vec<_>>>()?;
        self.out.push("{");
        self.open(Frame::Object { object: object.clone(), keys, next: 0, empty: true })
    }

    fn replaced_by_to_json(&mut self, function: &Function<'js>, value: &Value<'js>, key: &str) -> rquickjs::Result<()> {
        let replaced: Value = function.call((rquickjs::function::This(value.clone()), key))?;
        // What `toJSON` returned is taken as it is: asking it again could go on for ever.
        match replaced.type_of() {
            Type::Object => {
                let Some(object) = replaced.as_object() else { return Ok(()) };
                let keys = object
                    .own_keys::<Atom>(Filter::new().string().enum_only())
                    .collect::<rquickjs::Result<Vec<_>>>()?;
                self.out.push("{");
                self.open(Frame::Object { object: object.clone(), keys, next: 0, empty: true })
            }
            _ => self.value(replaced, key),
        }
    }

    fn open_array(&mut self, value: Value<'js>) -> rquickjs::Result<()> {
        let array = value.into_object().ok_or(rquickjs::Error::Unknown)?;
        let length = match array.as_array().map(Array::len) {
            Some(length) => u32::try_from(length).unwrap_or(u32::MAX),
            None => array.get(PredefinedAtom::Length)?,
        };
        self.out.push("[");
        self.open(Frame::Array { array, next: 0, length })
    }

    fn open(&mut self, frame: Frame<'js>) -> rquickjs::Result<()> {
        self.frames.push(frame);
        let depth = self.frames.len();
        let deepest = if self.purpose == Purpose::Argument { ARGUMENT_DEPTH } else { OUTPUT_DEPTH };
        // A cycle always gets deep. Looking for it at each power of two keeps the cost of a deep value linear.
        if depth >= 64 && (depth.is_power_of_two() || depth > deepest) {
            if let Some(path) = self.cycle() {
                return Err(Exception::throw_type(self.ctx, &format!("{path} is a cycle: it contains itself")));
            }
            if depth > deepest {
                return Err(self.range_error(&format!("{} is nested deeper than {deepest} levels", self.label)));
            }
        }
        Ok(())
    }

    fn close(&mut self, bracket: char) {
        let empty = match self.frames.pop() {
            Some(Frame::Array { length, .. }) => length == 0,
            Some(Frame::Object { empty, .. }) => empty,
            None => true,
        };
        if self.frames.is_empty() && !empty {
            self.out.breaks.push((self.out.text.len(), false));
        }
        self.out.push(bracket.encode_utf8(&mut [0; 4]));
    }

    fn break_line(&mut self) {
        if self.frames.len() == 1 {
            self.out.breaks.push((self.out.text.len(), true));
        }
    }

    /// Whether an object has no prototype but that of plain objects.
    fn is_plain(&self, object: &Object<'js>) -> bool {
        object.get_prototype().is_none_or(|prototype| *prototype.as_value() == self.object_prototype)
    }

    fn float(&mut self, number: f64) -> rquickjs::Result<()> {
        if !number.is_finite() {
            let text = if number.is_nan() {
                "NaN"
            } else if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            return self.special(text, text);
        }
        let argument = self.purpose == Purpose::Argument;
        if number == 0.0 {
            self.out.push(if number.is_sign_negative() && !argument { "-0" } else { "0" });
            return Ok(());
        }
        self.out.push(&number_text(number));
        Ok(())
    }

    /// What JSON has no form for.
    fn special(&mut self, kind: &str, rendering: &str) -> rquickjs::Result<()> {
        if self.purpose == Purpose::Argument {
            let path = self.path();
            return Err(Exception::throw_type(self.ctx, &format!("{path} is {kind}, which JSON cannot hold")));
        }
        self.out.quoted(rendering);
        Ok(())
    }

    fn replaced(&mut self, value: Value<'js>, kind: &str) -> rquickjs::Result<()> {
        if self.purpose == Purpose::Argument {
            return self.special(kind, "");
        }
        let data = self.prelude.as_data(self.ctx, value)?;
        match data.type_of() {
            Type::Object => {
                let Some(object) = data.into_object() else { return Ok(()) };
                let keys = object
                    .own_keys::<Atom>(Filter::new().string().enum_only())
                    .collect::<rquickjs::Result<Vec<_>>>()?;
                self.out.push("{");
                self.open(Frame::Object { object, keys, next: 0, empty: true })
            }
            _ => self.value(data, ""),
        }
    }

    fn promise_error(&self) -> rquickjs::Error {
        let path = self.path();
        Exception::throw_type(
            self.ctx,
            &format!("{path} is a promise: a call was not awaited; write `await` before it"),
        )
    }

    fn range_error(&self, message: &str) -> rquickjs::Error {
        Exception::throw_range(self.ctx, message)
    }

    /// The place that is being written, as the script would write it.
    fn path(&self) -> String {
        self.path_to(self.frames.len())
    }

    fn path_to(&self, depth: usize) -> String {
        let mut path = self.label.to_owned();
        for frame in self.frames.iter().take(depth) {
            match frame {
                Frame::Array { next, .. } => _ = write!(path, "[{}]", next.saturating_sub(1)),
                Frame::Object { keys, next, .. } => {
                    let key = keys.get(next.saturating_sub(1)).map(|key| self.prelude.key(key)).unwrap_or_default();
                    if identifier::is_identifier(&key) {
                        _ = write!(path, ".{key}");
                    } else {
                        _ = write!(path, "[{key:?}]");
                    }
                }
            }
        }
        path
    }

    /// The path of the first container that is inside itself.
    fn cycle(&self) -> Option<String> {
        let mut seen = HashSet::new();
        for (depth, frame) in self.frames.iter().enumerate() {
            let (Frame::Array { array: object, .. } | Frame::Object { object, .. }) = frame;
            if !seen.insert(object.as_value().clone()) {
                return Some(self.path_to(depth));
            }
        }
        None
    }
}

/// A finite number other than zero as JavaScript prints it.
fn number_text(number: f64) -> String {
    let magnitude = number.abs();
    if (1e-6..1e21).contains(&magnitude) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    if magnitude >= 1e21 { text.replace('e', "e+") } else { text }
}

/// Text up to a bound, and the places where its outermost level could be broken into lines.
struct Sink {
    text: String,
    bytes: usize,
    limit: usize,
    /// Offset, and whether what follows is indented.
    breaks: Vec<(usize, bool)>,
}

impl Sink {
    fn push(&mut self, piece: &str) {
        self.bytes += piece.len();
        let room = self.limit.saturating_sub(self.text.len());
        if room > 0 {
            self.text.push_str(piece.get(..piece.floor_char_boundary(room)).unwrap_or_default());
        }
    }

    fn quoted(&mut self, text: &str) {
        // Text without anything to escape, which is nearly all text, is copied as it is.
        if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
            self.push("\"");
            self.push(text);
            self.push("\"");
        } else {
            self.push(&serde_json::Value::from(text).to_string());
        }
    }

    fn finish(self, may_break: bool) -> Encoded {
        let Self { text, bytes, breaks, .. } = self;
        if !may_break || bytes <= ONE_LINE || breaks.is_empty() {
            return Encoded { text, bytes };
        }
        let mut broken = String::with_capacity(text.len() + 3 * breaks.len());
        let mut from = 0;
        for (offset, indented) in &breaks {
            broken.push_str(text.get(from..*offset).unwrap_or_default());
            broken.push_str(if *indented { "\n  " } else { "\n" });
            from = *offset;
        }
        broken.push_str(text.get(from..).unwrap_or_default());
        let added = broken.len() - text.len();
        Encoded { text: broken, bytes: bytes + added }
    }
}
