//! What the prelude returns: functions taken from the realm before the script could change it.

use rquickjs::{Atom, Ctx, Function, IntoJs, Object, Persistent, Value};

type Kept = Persistent<Function<'static>>;

/// The prelude's functions that the engine calls.
pub(super) struct Prelude {
    settle: Kept,
    unfinished: Kept,
    as_data: Kept,
    brand: Kept,
    thrown: Kept,
    text_of: Kept,
    is_array: Kept,
    object_prototype: Persistent<Value<'static>>,
}

impl Prelude {
    pub(super) fn new<'js>(ctx: &Ctx<'js>, exports: &Object<'js>) -> rquickjs::Result<Self> {
        let kept =
            |name: &str| -> rquickjs::Result<Kept> { Ok(Persistent::save(ctx, exports.get::<_, Function>(name)?)) };
        Ok(Self {
            settle: kept("settle")?,
            unfinished: kept("unfinished")?,
            as_data: kept("asData")?,
            brand: kept("brand")?,
            thrown: kept("thrown")?,
            text_of: kept("textOf")?,
            is_array: kept("isArray")?,
            object_prototype: Persistent::save(ctx, exports.get::<_, Value>("objectPrototype")?),
        })
    }

    /// Resolves the promise of a call.
    pub(super) fn resolve<'js>(&self, ctx: &Ctx<'js>, id: u64, value: impl IntoJs<'js>) -> rquickjs::Result<()> {
        self.settle.clone().restore(ctx)?.call((id, true, value))
    }

    /// Rejects the promise of a call with an error that has the script's line.
    pub(super) fn reject(&self, ctx: &Ctx<'_>, id: u64, message: &str, code: &str) -> rquickjs::Result<()> {
        self.settle.clone().restore(ctx)?.call((id, false, message, code))
    }

    /// The calls that have no answer yet: tool and line of the first ones, and how many there are.
    pub(super) fn unfinished(&self, ctx: &Ctx<'_>) -> rquickjs::Result<(Vec<(String, u32)>, usize)> {
        let result: Object = self.unfinished.clone().restore(ctx)?.call(())?;
        let calls: Vec<Object> = result.get("calls")?;
        let calls = calls.iter().map(|call| Ok((call.get("tool")?, call.get("line")?)));
        Ok((calls.collect::<rquickjs::Result<_>>()?, result.get("total")?))
    }

    /// The rendering of what JSON cannot hold.
    pub(super) fn as_data<'js>(&self, ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Value<'js>> {
        self.as_data.clone().restore(ctx)?.call((value,))
    }

    /// What a built-in object is (`Map`, `Date`), by what it holds; `None` for a plain one or one of the script's classes.
    pub(super) fn brand<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Option<String>> {
        let brand: String = self.brand.clone().restore(ctx)?.call((value.clone(),))?;
        Ok(Some(brand).filter(|brand| !brand.is_empty()))
    }

    /// What was thrown, as a person reads it: message, frames, cause.
    pub(super) fn thrown<'js>(&self, ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<String> {
        let text: Value = self.thrown.clone().restore(ctx)?.call((value,))?;
        Ok(self.text(&text))
    }

    pub(super) fn is_array<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<bool> {
        self.is_array.clone().restore(ctx)?.call((value.clone(),))
    }

    /// `Object.prototype` of the realm.
    pub(super) fn object_prototype<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        self.object_prototype.clone().restore(ctx)
    }

    /// A string of the script as UTF-8; halves of surrogate pairs become U+FFFD.
    pub(super) fn text(&self, value: &Value<'_>) -> String {
        if let Some(text) = value.as_string().and_then(|text| text.to_string().ok()) {
            return text;
        }
        self.string_of(value)
    }

    /// `String(value)`, well-formed; empty when even that fails.
    pub(super) fn string_of(&self, value: &Value<'_>) -> String {
        let restored = self.text_of.clone().restore(value.ctx());
        restored.and_then(|text_of| text_of.call((value.clone(),))).unwrap_or_default()
    }

    /// A property's name.
    pub(super) fn key(&self, atom: &Atom<'_>) -> String {
        match atom.to_string() {
            Ok(text) => text,
            Err(_) => atom.to_value().map(|value| self.text(&value)).unwrap_or_default(),
        }
    }
}
