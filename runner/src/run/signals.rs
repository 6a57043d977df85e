//! Signals that tell the run to stop.
//!
//! They are listened for before the gate: in a container the runner is process 1, which a signal without a listener does
//! not reach at all.

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::gate::Pause;

/// The signals that stop a run.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Begins to listen. Starts no thread.
    pub(super) fn listen(runtime: &Runtime) -> io::Result<Self> {
        let _context = runtime.enter();
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one of them; returns its name.
    pub(super) async fn told(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.hang_up.recv() => "SIGHUP",
        }
    }

    /// Waits for a time, or until one of them comes.
    pub(super) fn pause(&mut self, runtime: &Runtime, time: Duration) -> Pause {
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = self.told() => Pause::Stop,
                () = tokio::time::sleep(time) => Pause::Over,
            }
        })
    }
}
