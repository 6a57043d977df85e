//! The machine's processes, as `/proc` tells. Any of them may end between two looks, which is never an error here.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The processes of root: nobody else can hold a node, so nobody else's command line is believed.
pub(crate) fn of_root() -> Result<Vec<u32>> {
    let entries = fs::read_dir("/proc").context("cannot list /proc")?;
    Ok(entries
        .filter_map(Result::ok)
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == 0))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect())
}

/// The command line, empty for a kernel thread and for a process that is gone or waits to be collected.
pub(crate) fn arguments(pid: u32) -> Vec<OsString> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = line.strip_suffix(&[0]).unwrap_or(&line);
    if line.is_empty() {
        return Vec::new();
    }
    line.split(|byte| *byte == 0).map(|argument| OsString::from_vec(argument.to_vec())).collect()
}

/// What names a namespace (`pid`, `net`, `mnt`) of a process, the same for all that share it.
pub(crate) fn namespace(pid: u32, kind: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok()
}

/// A process that was looked at and is not yet known to have ended. A signal sent through it reaches that process or
/// none, whoever got the same number since.
pub(crate) struct Process {
    pid: u32,
    descriptor: OwnedFd,
}

impl Process {
    /// The process with this number, when it is there and `is_it` still holds once its number can no longer change
    /// hands.
    pub(crate) fn open(pid: u32, is_it: impl FnOnce(u32) -> bool) -> Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        match pidfd_open(number, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(is_it(pid).then_some(Self { pid, descriptor })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot open process {pid}")),
        }
    }

    /// Its number on this machine.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal; to a process that has ended, nothing happens.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        match pidfd_send_signal(&self.descriptor, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error).with_context(|| format!("cannot send {signal:?} to process {}", self.pid)),
        }
    }

    /// Whether it ended before `deadline`.
    pub(crate) fn ended_before(&self, deadline: Instant) -> Result<bool> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).context("the deadline is too far away")?;
            let mut watched = [PollFd::new(&self.descriptor, PollFlags::IN)];
            match poll(&mut watched, Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => bail!("cannot wait for process {}: {error}", self.pid),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use rustix::process::Signal;

    use super::{Process, arguments};
    use crate::cluster::wait::until;

    #[test]
    fn a_process_is_read_signalled_and_waited_for() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let process = Process::open(child.id(), |_| true).unwrap().unwrap();
        // The parent goes on a moment before the kernel has set up the new program's arguments.
        let deadline = Instant::now() + Duration::from_mins(1);
        let started = || Ok(Some(arguments(child.id())).filter(|arguments| !arguments.is_empty()));
        assert_eq!(until("the arguments", deadline, started).unwrap(), ["sleep", "600"]);
        assert!(!process.ended_before(Instant::now()).unwrap());
        process.signal(Signal::KILL).unwrap();
        assert!(process.ended_before(Instant::now() + Duration::from_secs(10)).unwrap());
        child.wait().unwrap();
        process.signal(Signal::KILL).unwrap();
    }

    #[test]
    fn a_number_whose_holder_changed_is_not_opened() {
        assert!(Process::open(std::process::id(), |_| false).unwrap().is_none());
    }
}
