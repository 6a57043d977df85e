//! What the engine's host functions share, and the bounds that hold on it.

use std::rc::Rc;
use std::time::Instant;

use rquickjs::{Ctx, Persistent, Value};

use super::Port;
use super::compile::Form;
use super::prelude::Prelude;
use crate::codemode::image;
use crate::codemode::wire::{Channel, FromWorker, Image, Printed, Start};

/// Bytes of one stored value, and of all of them with their keys.
const STORED_VALUE: usize = 256 << 10;
const STORED: usize = 1 << 20;

/// What the engine's host functions share.
pub(super) struct State {
    pub(super) port: Box<dyn Port>,
    pub(super) start: Start,
    pub(super) deadline: Instant,
    pub(super) prelude: Option<Rc<Prelude>>,
    /// Set by the interrupt: the frames the script was at.
    pub(super) interrupted: Option<String>,
    pub(super) form: Form,
    /// The form's value counts only when nothing was printed.
    pub(super) last_expression: bool,
    pub(super) printed: [u64; 2],
    pub(super) sent: [usize; 2],
    pub(super) images: usize,
    pub(super) store: Vec<(String, Option<String>)>,
    pub(super) stored_bytes: usize,
    pub(super) in_flight: usize,
    pub(super) rejections: Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>,
}

impl State {
    pub(super) fn track_rejection<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        promise: Value<'js>,
        reason: Value<'js>,
        is_handled: bool,
    ) {
        let promise = Persistent::save(ctx, promise);
        if is_handled {
            self.rejections.retain(|(known, _)| *known != promise);
        } else if self.rejections.len() < 64 {
            self.rejections.push((promise, Persistent::save(ctx, reason)));
        }
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    pub(super) fn print(&mut self, channel: Channel, text: String) {
        let index = channel as usize;
        let (Some(printed), Some(sent)) = (self.printed.get_mut(index), self.sent.get_mut(index)) else { return };
        *printed += text.len() as u64 + 1;
        let room = self.start.output_bytes.saturating_sub(*sent);
        if room == 0 {
            return;
        }
        let mut text = text;
        text.truncate(text.floor_char_boundary(room));
        *sent += text.len() + 1;
        self.port.send(&FromWorker::Print(Printed { channel, text }));
    }

    /// Bytes that `text` had and that were not even handed over.
    pub(super) fn count_unsent(&mut self, bytes: u64) {
        if let Some(printed) = self.printed.first_mut() {
            *printed += bytes;
        }
    }

    /// Keeps a value for later scripts. The error says which bound it would pass.
    pub(super) fn store(&mut self, key: String, json: Option<String>) -> Result<(), String> {
        let size = json.as_ref().map_or(0, String::len);
        if size > STORED_VALUE {
            return Err(format!("the value has {size} bytes as JSON; store() keeps at most {STORED_VALUE}"));
        }
        let known = self.start.store.iter().position(|(name, _)| *name == key);
        let old = known.and_then(|index| self.start.store.get(index)).map_or(0, |(name, json)| name.len() + json.len());
        let new = json.as_ref().map_or(0, |json| key.len() + json.len());
        if self.stored_bytes - old + new > STORED {
            return Err(format!(
                "store() keeps at most {STORED} bytes in all; remove a key with store(key, undefined)"
            ));
        }
        self.stored_bytes = self.stored_bytes - old + new;
        if let Some(index) = known {
            self.start.store.remove(index);
        }
        if let Some(json) = &json {
            self.start.store.push((key.clone(), json.clone()));
        }
        self.store.retain(|(name, _)| *name != key);
        self.store.push((key, json));
        Ok(())
    }

    pub(super) fn send_image(&mut self, image: Image) -> Result<(), String> {
        if self.images >= image::MOST {
            return Err(format!("a script returns at most {} images", image::MOST));
        }
        self.images += 1;
        self.port.send(&FromWorker::Image(image));
        Ok(())
    }
}
