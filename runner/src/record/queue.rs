//! The bounded queue between those who write events and the thread that writes lines.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that wait to be written.
const QUEUE_BYTES: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    /// Events given up since the last one that was taken.
    lost: u64,
    output: Output,
    /// Whether the writer is between taking lines and having written them.
    writing: bool,
    finished: bool,
}

/// How the output takes what is written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Output {
    /// In time.
    #[default]
    Flowing,
    /// An event has waited for room in vain; until there is some no other waits.
    Stuck,
    /// It is gone for good.
    Broken,
}

impl Queue {
    /// Adds what `make` returns, or gives it up when there is no room within `wait`. `make` is told how many events were
    /// given up since it was last called; it is not called for one that is given up.
    pub(super) fn push(&self, wait: Duration, make: impl FnOnce(u64) -> String) {
        let mut state = self.lock();
        if state.bytes >= QUEUE_BYTES && state.output == Output::Flowing {
            let (guard, _) = self
                .changed
                .wait_timeout_while(state, wait, |state| state.bytes >= QUEUE_BYTES && state.output != Output::Broken)
                .unwrap_or_else(PoisonError::into_inner);
            state = guard;
        }
        if state.output == Output::Broken || state.finished {
            return;
        }
        if state.bytes >= QUEUE_BYTES {
            state.output = Output::Stuck;
            state.lost += 1;
            return;
        }
        state.output = Output::Flowing;
        let line = make(std::mem::take(&mut state.lost));
        state.bytes += line.len();
        state.lines.push_back(line);
        self.changed.notify_all();
    }

    /// Writes lines as they come, until the queue is finished or the output is gone.
    pub(super) fn write_to(&self, mut output: impl Write) {
        loop {
            let mut state = self.lock();
            while state.lines.is_empty() && !state.finished {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.lines.is_empty() {
                return;
            }
            let lines = std::mem::take(&mut state.lines);
            state.bytes = 0;
            state.writing = true;
            self.changed.notify_all();
            drop(state);

            // One write for all that waits: a script makes thousands of calls a second.
            let batch: String = lines.into_iter().collect();
            let written = output.write_all(batch.as_bytes()).and_then(|()| output.flush());

            let mut state = self.lock();
            state.writing = false;
            if written.is_err() {
                state.output = Output::Broken;
                state.lines.clear();
                state.bytes = 0;
            }
            self.changed.notify_all();
            if state.output == Output::Broken {
                return;
            }
        }
    }

    /// Takes no further event and waits until those that came are written, at most `wait`.
    pub(super) fn finish(&self, wait: Duration) {
        let deadline = Instant::now() + wait;
        let mut state = self.lock();
        state.finished = true;
        self.changed.notify_all();
        while (!state.lines.is_empty() || state.writing) && state.output != Output::Broken {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A panic while the lock is held leaves whole lines behind, so the queue is used on.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, mpsc};

    use super::*;

    /// Hands every write to the test, after the test has let it through.
    struct Gated(mpsc::Sender<Vec<u8>>, mpsc::Receiver<()>);

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn when_nobody_reads_events_are_given_up_and_counted_and_the_run_goes_on() {
        let (written_tx, written_rx) = mpsc::channel();
        let (pass_tx, pass_rx) = mpsc::channel();
        let queue = Arc::new(Queue::default());
        let line = "x".repeat(QUEUE_BYTES);
        // The first is taken by the writer, which then waits; the second fills the queue.
        let writer = Arc::clone(&queue);
        queue.push(Duration::ZERO, |_| line.clone());
        let thread = std::thread::spawn(move || writer.write_to(Gated(written_tx, pass_rx)));
        let mut lost_before_second = 0;
        loop {
            let mut taken = false;
            queue.push(Duration::ZERO, |lost| {
                taken = true;
                lost_before_second = lost;
                line.clone()
            });
            if taken {
                break;
            }
        }
        queue.push(Duration::ZERO, |_| panic!("there is no room"));
        queue.push(Duration::from_hours(1), |_| panic!("who has waited in vain once does not wait again"));
        pass_tx.send(()).unwrap();
        written_rx.recv().unwrap();
        let mut told = None;
        while told.is_none() {
            queue.push(Duration::ZERO, |lost| {
                told = Some(lost);
                "end".into()
            });
        }
        assert!(told >= Some(2), "{told:?}");
        pass_tx.send(()).unwrap();
        pass_tx.send(()).unwrap();
        queue.finish(Duration::from_hours(1));
        thread.join().unwrap();
    }

    #[test]
    fn a_broken_output_ends_the_writer_and_nothing_waits_for_it() {
        let (written_tx, written_rx) = mpsc::channel();
        let (pass_tx, pass_rx) = mpsc::channel();
        let queue = Arc::new(Queue::default());
        drop((written_rx, pass_tx));
        queue.push(Duration::ZERO, |_| "first\n".into());
        let writer = Arc::clone(&queue);
        std::thread::spawn(move || writer.write_to(Gated(written_tx, pass_rx))).join().unwrap();
        queue.push(Duration::from_hours(1), |_| panic!("nothing is made for a broken output"));
        queue.finish(Duration::from_hours(1));
    }

    #[test]
    fn what_came_before_the_writer_started_is_written_in_order() {
        let (written_tx, written_rx) = mpsc::channel();
        let (pass_tx, pass_rx) = mpsc::channel();
        pass_tx.send(()).unwrap();
        let queue = Arc::new(Queue::default());
        queue.push(Duration::ZERO, |_| "1\n".into());
        queue.push(Duration::ZERO, |_| "2\n".into());
        let writer = Arc::clone(&queue);
        let thread = std::thread::spawn(move || writer.write_to(Gated(written_tx, pass_rx)));
        queue.finish(Duration::from_hours(1));
        thread.join().unwrap();
        assert_eq!(written_rx.try_iter().collect::<Vec<_>>().concat(), b"1\n2\n");
    }
}
