//! The worker's side: a process that reads one script from standard input, runs it, and ends.

use std::io::Write;
use std::process::ExitCode;

use rustix::process::Pid;

use super::engine::{self, Port};
use super::wire::{End, FromWorker, Start};
use crate::error::chain;
use crate::sandbox::{WorkerLimits, confine_worker, confine_worker_without_landlock};

/// The first argument of a worker.
pub(super) const ARGUMENT: &str = "script-worker";
/// The first argument of a worker that takes no Landlock domain.
pub(super) const ARGUMENT_WITHOUT_LANDLOCK: &str = "script-worker-without-landlock";
/// What is held back at most before it is written.
const BATCH: usize = 16 << 10;
/// Bytes that are asked for at a time.
const CHUNK: usize = 256 << 10;

/// Becomes a script worker when this process was started as one; `None` otherwise.
///
/// Every program that runs scripts calls this first of all in `main`: a worker is the same program, started again.
#[must_use]
pub fn run_worker_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let confine = match arguments.next()?.to_str()? {
        ARGUMENT => confine_worker,
        ARGUMENT_WITHOUT_LANDLOCK => confine_worker_without_landlock,
        _ => return None,
    };
    let numbers: Vec<u64> = arguments.filter_map(|argument| argument.to_str()?.parse().ok()).collect();
    let &[parent, address_space, cpu_seconds, line_bytes] = numbers.as_slice() else {
        eprintln!("a script worker is started by the runner only");
        return Some(ExitCode::from(2));
    };
    let parent = i32::try_from(parent).ok().and_then(Pid::from_raw);
    if let Err(error) = confine(&WorkerLimits { parent, address_space, cpu_seconds }) {
        eprintln!("{}", chain(&error));
        return Some(ExitCode::from(3));
    }
    let line_bytes = usize::try_from(line_bytes).unwrap_or(usize::MAX);
    let mut pipes = Pipes { input: Vec::new(), begin: 0, output: Vec::new(), line_bytes };
    pipes.send(&FromWorker::Ready);
    let start = pipes.receive().and_then(|line| serde_json::from_str::<Start>(&line).ok());
    let Some(start) = start else {
        return Some(ExitCode::from(4));
    };
    engine::run(start, Box::new(pipes))
}

/// Standard input and output, one message a line.
struct Pipes {
    /// What was read and not yet used begins at `begin`.
    input: Vec<u8>,
    begin: usize,
    output: Vec<u8>,
    /// The longest line that is taken.
    line_bytes: usize,
}

impl Pipes {
    fn write(&mut self) {
        let mut rest = self.output.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                // Nobody reads any more.
                Err(_) => std::process::exit(1),
            }
        }
        self.output.clear();
    }

    fn push(&mut self, message: &FromWorker) {
        if serde_json::to_writer(&mut self.output, message).is_ok() {
            self.output.push(b'\n');
        }
    }
}

impl Port for Pipes {
    fn call(&mut self, id: u64, tool: &str, arguments: &str) {
        // The arguments are JSON already; parsing them to write them again would cost more than all the rest.
        let tool = serde_json::Value::from(tool);
        _ = writeln!(self.output, "{{\"call\":{{\"id\":{id},\"tool\":{tool},\"arguments\":{arguments}}}}}");
        if self.output.len() >= BATCH {
            self.write();
        }
    }

    fn send(&mut self, message: &FromWorker) {
        self.push(message);
        self.write();
    }

    fn flush(&mut self) {
        if !self.output.is_empty() {
            self.write();
        }
    }

    fn receive(&mut self) -> Option<String> {
        self.flush();
        let mut searched = self.begin;
        loop {
            if let Some(found) = memchr::memchr(b'\n', self.input.get(searched..)?) {
                let end = searched + found;
                let line = std::str::from_utf8(self.input.get(self.begin..end)?).ok()?.to_owned();
                self.begin = end + 1;
                return Some(line);
            }
            self.input.drain(..self.begin);
            self.begin = 0;
            searched = self.input.len();
            if searched > self.line_bytes {
                return None;
            }
            self.input.reserve(CHUNK);
            match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut self.input)) {
                Ok(0) => return None,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    fn end(&mut self, end: End) -> ! {
        self.push(&FromWorker::End(Box::new(end)));
        self.write();
        std::process::exit(0)
    }
}
