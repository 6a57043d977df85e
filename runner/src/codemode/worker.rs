//! The worker's side: a process that reads one script from standard input, runs it, and ends.

use std::io::{BufRead, BufReader, Read, StdinLock, Write};
use std::process::ExitCode;

use rustix::process::Pid;

use super::engine::{self, Port};
use super::wire::{End, FromWorker, Start};
use crate::sandbox::{WorkerLimits, confine_worker};

/// The first argument of a worker.
pub(super) const ARGUMENT: &str = "script-worker";
/// What is held back at most before it is written.
const BATCH: usize = 16 << 10;

/// Becomes a script worker when this process was started as one; `None` otherwise.
///
/// Every program that runs scripts calls this first of all in `main`: a worker is the same program, started again.
#[must_use]
pub fn run_worker_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ARGUMENT {
        return None;
    }
    let numbers: Vec<u64> = arguments.filter_map(|argument| argument.to_str()?.parse().ok()).collect();
    let &[parent, address_space, cpu_seconds, line_bytes] = numbers.as_slice() else {
        eprintln!("a script worker is started by the runner only");
        return Some(ExitCode::from(2));
    };
    let parent = i32::try_from(parent).ok().and_then(Pid::from_raw);
    if let Err(error) = confine_worker(&WorkerLimits { parent, address_space, cpu_seconds }) {
        eprintln!("{}", chain(&error));
        return Some(ExitCode::from(3));
    }
    let mut pipes = Pipes { input: BufReader::with_capacity(64 << 10, std::io::stdin().lock()), output: Vec::new(), line_bytes };
    let start = pipes.receive().and_then(|line| serde_json::from_str::<Start>(&line).ok());
    let Some(start) = start else {
        return Some(ExitCode::from(4));
    };
    engine::run(start, Box::new(pipes))
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Standard input and output, one message a line.
struct Pipes {
    input: BufReader<StdinLock<'static>>,
    output: Vec<u8>,
    line_bytes: u64,
}

impl Pipes {
    fn write(&mut self) {
        let mut stdout = std::io::stdout().lock();
        if stdout.write_all(&self.output).and_then(|()| stdout.flush()).is_err() {
            // Nobody reads any more.
            std::process::exit(1);
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
        let mut line = Vec::new();
        let mut bounded = (&mut self.input).take(self.line_bytes);
        bounded.read_until(b'\n', &mut line).ok()?;
        if line.pop() != Some(b'\n') {
            return None;
        }
        String::from_utf8(line).ok()
    }

    fn end(&mut self, end: End) -> ! {
        self.push(&FromWorker::End(Box::new(end)));
        self.write();
        std::process::exit(0)
    }
}
