//! Waiting for what another program does, always with an end.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Short against the second that most of these waits take, and long against what a look costs (well under 1 ms).
const PAUSE: Duration = Duration::from_millis(50);

/// The first value that `look` gives before `deadline`. It is looked at least once. An error from `look` ends the
/// wait: what may still become right is `None`.
pub(crate) fn until<T>(what: &str, deadline: Instant, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    loop {
        if let Some(value) = look()? {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            bail!("gave up waiting for {what}");
        }
        sleep(PAUSE);
    }
}
