//! The functions that the prelude calls. The script never holds one of them itself.

use std::rc::Rc;

use rquickjs::{Array, Ctx, Exception, Function, Object, Value};

use super::encode::{Encoder, Purpose};
use super::ending::{finish, notes, show};
use super::prelude::Prelude;
use super::{Realm, Shared};
use crate::codemode::wire::{Channel, End, Listed};
use crate::codemode::{absent, callee, declaration, identifier, image, search, source, suggest};

/// What the prelude learns about this script.
pub(super) fn setup<'js>(ctx: &Ctx<'js>, shared: &Shared) -> rquickjs::Result<Object<'js>> {
    let state = shared.borrow();
    let start = &state.start;
    let setup = Object::new(ctx.clone())?;
    setup.set("calls", start.calls)?;
    setup.set("inFlight", start.calls_in_flight)?;
    let names: Vec<&str> = start.tools.iter().map(|tool| tool.name.as_str()).collect();
    let tools = Array::new(ctx.clone())?;
    for (index, (tool, identifier)) in start.tools.iter().zip(identifier::identifiers(&names)).enumerate() {
        let entry = Object::new(ctx.clone())?;
        entry.set("name", tool.name.as_str())?;
        entry.set("identifier", identifier)?;
        entry.set("description", tool.description.as_str())?;
        tools.set(index, entry)?;
    }
    setup.set("tools", tools)?;
    let blocked = Array::new(ctx.clone())?;
    for (index, name) in start.blocked.iter().enumerate() {
        let entry = Object::new(ctx.clone())?;
        entry.set("name", name.as_str())?;
        entry.set("identifier", identifier::identifier(name))?;
        blocked.set(index, entry)?;
    }
    setup.set("blocked", blocked)?;
    setup.set("store", start.store.iter().map(|(key, json)| vec![key.as_str(), json.as_str()]).collect::<Vec<_>>())?;
    Ok(setup)
}

/// The object of host functions that the prelude gets.
pub(super) fn functions<'js>(ctx: &Ctx<'js>, shared: &Shared) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    calls(ctx, shared, &host)?;
    output(ctx, shared, &host)?;
    places(ctx, shared, &host)?;
    tools(ctx, shared, &host)?;
    Ok(host)
}

fn calls<'js>(ctx: &Ctx<'js>, shared: &Shared, host: &Object<'js>) -> rquickjs::Result<()> {
    let state = Rc::clone(shared);
    let call = move |id: u64, tool: String, json: String| {
        let mut state = state.borrow_mut();
        state.in_flight += 1;
        state.port.call(id, &tool, &json);
    };
    host.set("call", Function::new(ctx.clone(), call)?)?;
    let state = Rc::clone(shared);
    let encode = move |ctx: Ctx<'js>, value: Value<'js>, label: String| -> rquickjs::Result<String> {
        let limit = state.borrow().start.argument_bytes;
        let prelude = prelude(&ctx, &state)?;
        let late = || state.borrow().is_late();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(Encoder::new(&ctx, &prelude, Purpose::Argument, &label, limit, &late)?.encode(&value)?.text)
    };
    host.set("encode", Function::new(ctx.clone(), encode)?)?;
    let state = Rc::clone(shared);
    let store = move |ctx: Ctx<'js>, key: String, json: Option<String>| -> rquickjs::Result<()> {
        state.borrow_mut().store(key, json).map_err(|problem| Exception::throw_range(&ctx, &problem))
    };
    host.set("store", Function::new(ctx.clone(), store)?)
}

fn output<'js>(ctx: &Ctx<'js>, shared: &Shared, host: &Object<'js>) -> rquickjs::Result<()> {
    let state = Rc::clone(shared);
    let print = move |channel: String, text: String| {
        let channel = if channel == "text" { Channel::Text } else { Channel::Console };
        state.borrow_mut().print(channel, text);
    };
    host.set("print", Function::new(ctx.clone(), print)?)?;
    let state = Rc::clone(shared);
    let show = move |ctx: Ctx<'js>, value: Value<'js>, label: String| -> rquickjs::Result<String> {
        let limit = state.borrow().start.output_bytes;
        let prelude = prelude(&ctx, &state)?;
        let realm = Realm { ctx: &ctx, prelude: &prelude, shared: &state };
        let (mut text, bytes) = show(&realm, &value, &label, limit)?;
        // What is not sent still counts for the size that the result names.
        let kept = text.len() as u64;
        state.borrow_mut().count_unsent(bytes - kept.min(bytes));
        text.shrink_to_fit();
        Ok(text)
    };
    host.set("show", Function::new(ctx.clone(), show)?)?;
    let state = Rc::clone(shared);
    let exit = move |ctx: Ctx<'js>| -> rquickjs::Result<()> {
        let prelude = prelude(&ctx, &state)?;
        let realm = Realm { ctx: &ctx, prelude: &prelude, shared: &state };
        let end = End { notes: notes(&realm, true), ..End::default() };
        finish(&state, end)
    };
    host.set("exit", Function::new(ctx.clone(), exit)?)
}

fn places<'js>(ctx: &Ctx<'js>, shared: &Shared, host: &Object<'js>) -> rquickjs::Result<()> {
    let state = Rc::clone(shared);
    let place = move |line: u32, column: u32| {
        let state = state.borrow();
        let (line, column) = state.form.place(line, column, &state.start.script)?;
        Some(format!("script.js:{line}:{column}"))
    };
    host.set("place", Function::new(ctx.clone(), place)?)?;
    let state = Rc::clone(shared);
    let callee = move |line: u32, column: u32, problem: String| -> Option<String> {
        let state = state.borrow();
        let (line, column) = state.form.place(line, column, &state.start.script)?;
        let (text, problem) = callee::callee(source::line(&state.start.script, line)?, column, &problem)?;
        let hint = suggest::missing_tool(&text, state.start.tools.iter().map(|tool| tool.name.as_str()));
        Some(format!("{text} is {problem}{}", hint.unwrap_or_default()))
    };
    host.set("callee", Function::new(ctx.clone(), callee)?)?;
    // Judged here and not by a regular expression, so that console, errors and declarations agree on what an identifier is.
    let is_identifier = |text: String| identifier::is_identifier(&text);
    host.set("isIdentifier", Function::new(ctx.clone(), is_identifier)?)?;
    let undefined_name = |name: String| absent::hint(&name).map(|hint| format!("{name} is not defined: {hint}"));
    host.set("undefinedName", Function::new(ctx.clone(), undefined_name)?)?;
    let state = Rc::clone(shared);
    let interrupted = move |frames: String| {
        state.borrow_mut().interrupted.get_or_insert(frames);
    };
    host.set("interrupted", Function::new(ctx.clone(), interrupted)?)
}

fn tools<'js>(ctx: &Ctx<'js>, shared: &Shared, host: &Object<'js>) -> rquickjs::Result<()> {
    let state = Rc::clone(shared);
    let search = move |query: String, limit: f64, namespace: Option<String>| {
        // The prelude checked that it is a whole number from 1 on.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
        let limit = (limit as usize).min(100);
        search::search(&state.borrow().start.tools, &query, limit, namespace.as_deref()).to_string()
    };
    host.set("search", Function::new(ctx.clone(), search)?)?;
    let state = Rc::clone(shared);
    let describe = move |ctx: Ctx<'js>, name: String| -> rquickjs::Result<String> {
        let described = describe_tool(&state.borrow().start.tools, &name);
        described.map_err(|problem| Exception::throw_type(&ctx, &problem))
    };
    host.set("describeTool", Function::new(ctx.clone(), describe)?)?;
    let state = Rc::clone(shared);
    let describe = move |ctx: Ctx<'js>, name: String| -> rquickjs::Result<String> {
        let described = search::namespace_listing(&state.borrow().start.tools, &name);
        described.map_err(|problem| Exception::throw_type(&ctx, &problem))
    };
    host.set("describeNamespace", Function::new(ctx.clone(), describe)?)?;
    let state = Rc::clone(shared);
    let image = move |ctx: Ctx<'js>, data: String, declared: Option<String>| -> rquickjs::Result<()> {
        let image = image::parse(&data, declared.as_deref());
        let sent = image.and_then(|image| state.borrow_mut().send_image(image));
        sent.map_err(|problem| Exception::throw_type(&ctx, &format!("image(): {problem}")))
    };
    host.set("image", Function::new(ctx.clone(), image)?)
}

/// The declaration of the tool of that name or identifier.
fn describe_tool(tools: &[Listed], wanted: &str) -> Result<String, String> {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let identifiers = identifier::identifiers(&names);
    let find = |by: &dyn Fn(&(&Listed, &String)) -> bool| tools.iter().zip(&identifiers).find(|pair| by(pair));
    let found = find(&|(tool, _)| tool.name == wanted).or_else(|| find(&|(_, identifier)| *identifier == wanted));
    let Some((tool, identifier)) = found else {
        let near = suggest::closest(wanted, names.into_iter());
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        return Err(format!("there is no tool {wanted:?}{hint}"));
    };
    Ok(declaration::declaration(tool, identifier))
}

fn prelude(ctx: &Ctx<'_>, shared: &Shared) -> rquickjs::Result<Rc<Prelude>> {
    let prelude = shared.borrow().prelude.clone();
    prelude.ok_or_else(|| Exception::throw_internal(ctx, "the engine is starting"))
}
