//! The record of a run: JSON lines on standard output, one event a line.
//!
//! A line has at most [`LINE_MAX_BYTES`] bytes. Its `seq` counts from 1 without a gap, so a reader sees what is missing.
//! Events are written by a thread of their own through a bounded queue: when the reader of standard output stops reading,
//! an event waits [`FULL_WAIT`] for room and is then given up, and a later [`Event::RecordLost`] says how many were. The
//! run never hangs on its record and never fails for it.

mod event;
mod line;
mod queue;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

pub use event::{
    BlockedCall, CallEnded, Content, Cut, Event, GatePassed, Line, RecordLost, RunEnded, RunStarted, ScriptEnded,
    ScriptStarted,
};
pub(crate) use event::{hexadecimal, sha256};
pub use line::LINE_MAX_BYTES;
use queue::Queue;

/// How long an event waits for room in the queue before it is given up.
pub const FULL_WAIT: Duration = Duration::from_secs(1);
/// How long the end of a run waits until the last line is written.
const FLUSH_WAIT: Duration = Duration::from_secs(2);

/// The record of one run. Cheap to clone; every clone writes to the same record.
#[derive(Clone, Debug)]
pub struct Record {
    queue: Arc<Queue>,
    sequence: Arc<AtomicU64>,
    content: bool,
}

impl Record {
    /// A record whose events wait until [`Record::start`]. `content` says whether arguments and results are written in
    /// full or by size and hash.
    #[must_use]
    pub fn new(content: bool) -> Self {
        Self { queue: Arc::default(), sequence: Arc::default(), content }
    }

    /// Starts the thread that writes. To be called once, after the process has confined itself: a thread that was started
    /// before would stay unconfined.
    pub fn start(&self, output: impl Write + Send + 'static) -> std::io::Result<()> {
        let queue = Arc::clone(&self.queue);
        std::thread::Builder::new().name("record".to_owned()).spawn(move || queue.write_to(output))?;
        Ok(())
    }

    /// Adds an event.
    pub fn write(&self, event: Event) {
        self.queue.push(FULL_WAIT, |lost| {
            let mut text = String::new();
            if lost > 0 {
                text.push_str(&self.line(Event::RecordLost(RecordLost { events: lost })));
            }
            text.push_str(&self.line(event));
            text
        });
    }

    /// Waits, for a bounded time, until everything is written. The last thing done with a record.
    pub fn finish(&self) {
        self.queue.finish(FLUSH_WAIT);
    }

    /// What the record says of a text: its size and hash, and the text itself where the plan asks for it.
    #[must_use]
    pub fn content(&self, text: &str) -> Content {
        Content::of(text, self.content)
    }

    fn line(&self, event: Event) -> String {
        let seq = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        line::write(Line { seq, time: Timestamp::now(), event })
    }
}
