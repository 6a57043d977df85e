//! How the end of a command is told.

use super::MOST_SECONDS;
use super::wire::{End, How};
use crate::kernel::display;

/// How a command ended, for the last line of its answer.
pub(super) fn told(how: How, seconds: u32) -> String {
    match how {
        How::Exited(code) => format!("exit code {code}"),
        How::Signalled(signal) => match name(signal) {
            Some(name) => format!("ended by signal {signal} ({name})"),
            None => format!("ended by signal {signal}"),
        },
        How::TimedOut if seconds < MOST_SECONDS => {
            format!("killed after {seconds} s with all it had started; more time: timeout, up to {MOST_SECONDS}")
        }
        How::TimedOut => format!("killed after {seconds} s with all it had started"),
        How::Cancelled => "killed with all it had started: the call was ended before it had an answer".to_owned(),
    }
}

/// What it left behind, likewise.
pub(super) fn left(end: End) -> String {
    let killed = match end.left {
        0 => String::new(),
        _ if matches!(end.how, How::TimedOut | How::Cancelled) => String::new(),
        left => format!("; {} still running and killed", display::count(left, "process was", "processes were")),
    };
    let hangs = if end.hang { "; some of what it started hangs in the kernel and is not gone yet" } else { "" };
    killed + hangs
}

/// The signals that end commands, by name.
fn name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ: a file grew beyond what the job may write",
        libc::SIGSYS => "SIGSYS: a system call that is not allowed",
        _ => return None,
    })
}
