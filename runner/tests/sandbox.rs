//! Confinement, seen from inside: every attempt is made twice in a process of its own, once without confinement, where it
//! must succeed (or fail for a reason of its own), and once with it, where the kernel must refuse.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a test stops at the first surprise"
)]
#![allow(unsafe_code, reason = "the attempts are system calls that no safe function makes")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anchorhold_runner::sandbox::{RunnerAccess, WorkerLimits, availability, confine_runner, confine_worker};

/// What the probe process is told, and where.
const FOLDER: &str = "SANDBOX_TEST_FOLDER";
const MODE: &str = "SANDBOX_TEST_MODE";
const ATTEMPT: &str = "SANDBOX_TEST_ATTEMPT";

/// The result of an attempt: `ok`, or the name of the error.
type Attempt = (&'static str, fn(&Path) -> Result<(), i32>);

fn syscall(number: libc::c_long, arguments: [usize; 4]) -> Result<(), i32> {
    let [a, b, c, d] = arguments;
    // SAFETY: every pointer among the arguments is null or invalid on purpose; the kernel answers EFAULT and touches nothing.
    let result = unsafe { libc::syscall(number, a, b, c, d) };
    if result < 0 { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { Ok(()) }
}

fn io(result: std::io::Result<impl Sized>) -> Result<(), i32> {
    result.map(drop).map_err(|error| error.raw_os_error().unwrap_or(-1))
}

fn socket(family: i32, kind: i32) -> Result<(), i32> {
    syscall(libc::SYS_socket, [family.unsigned_abs() as usize, kind.unsigned_abs() as usize, 0, 0])
}

fn parent() -> usize {
    std::os::unix::process::parent_id() as usize
}

fn c(path: &Path) -> std::ffi::CString {
    std::ffi::CString::new(path.to_str().unwrap()).unwrap()
}

/// What stays possible for the runner.
const KEPT: &[Attempt] = &[
    ("read a file of a source", |folder| io(fs::read(folder.join("source/file")))),
    ("list a source", |folder| io(fs::read_dir(folder.join("source")))),
    ("write a file of the output folder", |folder| io(fs::write(folder.join("out/new"), "x"))),
    ("make a folder in the output folder", |folder| io(fs::create_dir_all(folder.join("out/a/b")))),
    ("rename in the output folder", |folder| {
        fs::write(folder.join("out/one"), "x").unwrap();
        io(fs::rename(folder.join("out/one"), folder.join("out/two")))
    }),
    ("a pair of connected sockets", |_| io(std::os::unix::net::UnixStream::pair())),
    ("a thread", |_| io(std::thread::Builder::new().spawn(|| ()).map(|thread| thread.join().unwrap()))),
    ("start this program", |_| {
        io(Command::new("/proc/self/exe").arg("--list").env_clear().stdout(Stdio::null()).status())
    }),
];

/// What the runner loses.
const LOST: &[Attempt] = &[
    ("read a file outside", |_| io(fs::read("/etc/passwd"))),
    ("read the parent's environment", |_| io(fs::read(format!("/proc/{}/environ", parent())))),
    ("list the root", |_| io(fs::read_dir("/"))),
    ("read a file outside through a symbolic link", |folder| io(fs::read(folder.join("source/link")))),
    ("write a file of a source", |folder| io(fs::write(folder.join("source/file"), "x"))),
    ("truncate a file of a source", |folder| {
        let path = c(&folder.join("source/file"));
        // SAFETY: the path is a string that ends with a NUL and outlives the call.
        if unsafe { libc::truncate(path.as_ptr(), 0) } == 0 {
            Ok(())
        } else {
            io(Err::<(), _>(std::io::Error::last_os_error()))
        }
    }),
    ("remove a file of a source", |folder| io(fs::remove_file(folder.join("source/other")))),
    ("write a file outside", |folder| io(fs::write(folder.join("outside"), "x"))),
    ("make a symbolic link", |folder| io(std::os::unix::fs::symlink("/", folder.join("out/link")))),
    ("make a pipe", |folder| {
        let path = c(&folder.join("out/pipe"));
        syscall(libc::SYS_mknodat, [libc::AT_FDCWD.cast_unsigned() as usize, path.as_ptr() as usize, 0o010_600, 0])
    }),
    ("run another program", |_| io(Command::new("/bin/true").status())),
    ("run a program that was written", |folder| {
        let program = folder.join("out/program");
        // This program itself, which is the one that may be executed; a copy of it is another file. It only lists its tests.
        let own = std::env::current_exe().unwrap();
        fs::copy(own, &program).unwrap();
        io(Command::new(program).arg("--list").env_clear().stdout(Stdio::null()).status())
    }),
    ("a file without a path", |_| syscall(libc::SYS_memfd_create, [c"x".as_ptr() as usize, 0, 0, 0])),
    ("a TCP socket", |_| socket(libc::AF_INET, libc::SOCK_STREAM)),
    ("a UDP socket", |_| socket(libc::AF_INET, libc::SOCK_DGRAM)),
    ("an IPv6 socket", |_| socket(libc::AF_INET6, libc::SOCK_STREAM)),
    ("a netlink socket", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW)),
    ("a unix socket", |_| socket(libc::AF_UNIX, libc::SOCK_STREAM)),
    ("signal the parent", |_| syscall(libc::SYS_kill, [parent(), 0, 0, 0])),
    ("trace", |_| {
        expect(syscall(libc::SYS_ptrace, [libc::PTRACE_ATTACH as usize, i32::MAX as usize, 0, 0]), &[libc::ESRCH])
    }),
    ("read the parent's memory", |_| expect(syscall(libc::SYS_process_vm_readv, [parent(), 0, 0, 0]), &[libc::EINVAL])),
    ("a new namespace", |_| syscall(libc::SYS_unshare, [0, 0, 0, 0])),
    ("a process in a new namespace", |_| {
        // SAFETY: as `fork`, since no stack is given; the child only exits.
        let child =
            unsafe { libc::syscall(libc::SYS_clone, (libc::CLONE_NEWNET | libc::SIGCHLD) as usize, 0, 0, 0, 0) };
        match child {
            // SAFETY: the child of the clone above, which may call nothing that allocates.
            0 => unsafe { libc::_exit(0) },
            child if child > 0 => Ok(()),
            _ => io(Err::<(), _>(std::io::Error::last_os_error())),
        }
    }),
    ("an asynchronous ring", |_| {
        expect(syscall(libc::SYS_io_uring_setup, [0, 0, 0, 0]), &[libc::EFAULT, libc::EINVAL])
    }),
    ("enter a namespace", |_| expect(syscall(libc::SYS_setns, [usize::MAX, 0, 0, 0]), &[libc::EBADF])),
    ("a mount", |_| expect(syscall(libc::SYS_mount, [0, 0, 0, 0]), &[libc::EFAULT])),
    ("a new mount", |_| expect(syscall(libc::SYS_fsopen, [0, 0, 0, 0]), &[libc::EFAULT])),
    ("a key", |_| expect(syscall(libc::SYS_keyctl, [9999, 0, 0, 0]), &[libc::EOPNOTSUPP])),
    ("a performance counter", |_| {
        expect(syscall(libc::SYS_perf_event_open, [0, 0, 0, 0]), &[libc::EFAULT, libc::EINVAL])
    }),
    ("a program for the kernel", |_| expect(syscall(libc::SYS_bpf, [9999, 0, 0, 0]), &[libc::EINVAL])),
    ("a file by its handle", |_| expect(syscall(libc::SYS_open_by_handle_at, [0, 0, 0, 0]), &[libc::EFAULT])),
    ("another process's descriptor", |_| expect(syscall(libc::SYS_pidfd_getfd, [usize::MAX, 0, 0, 0]), &[libc::EBADF])),
];

/// An error that shows that the kernel looked at the call counts as success.
fn expect(result: Result<(), i32>, errors: &[i32]) -> Result<(), i32> {
    match result {
        Err(error) if errors.contains(&error) => Ok(()),
        other => other,
    }
}

/// The process that attempts. It is a test so that it is part of this program; alone it does nothing.
#[test]
#[ignore = "started by the other tests, in a process of its own"]
fn probe() {
    let Some(mode) = std::env::var_os(MODE) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let attempt = std::env::var(ATTEMPT).unwrap();
    match mode.to_str().unwrap() {
        "free" => {}
        "runner" => confine_runner(&access(&folder)).unwrap(),
        "runner with unix sockets" => {
            confine_runner(&RunnerAccess { unix_sockets: true, ..access(&folder) }).unwrap();
        }
        "worker" => {
            let limits = WorkerLimits { parent: rustix::process::getppid(), address_space: 1 << 30, cpu_seconds: 1 };
            confine_worker(&limits).unwrap();
        }
        other => panic!("{other}"),
    }
    if attempt == "worker" {
        worker();
    }
    for (name, make) in KEPT.iter().chain(LOST).filter(|(name, _)| attempt == "all" || attempt == *name) {
        println!("PROBE {name}={}", make(&folder).map_or_else(|error| error.to_string(), |()| "ok".to_owned()));
    }
}

fn access(folder: &Path) -> RunnerAccess {
    RunnerAccess {
        read: vec![folder.join("source")],
        write: vec![folder.join("out")],
        execute: Some(std::env::current_exe().unwrap()),
        ..RunnerAccess::default()
    }
}

/// A confined worker that does what it is told by a byte.
fn worker() -> ! {
    let mut order = [0];
    println!("PROBE ready");
    while std::io::stdin().read(&mut order).unwrap_or(0) == 1 {
        match order[0] {
            b'e' => println!("PROBE echo"),
            b'm' => println!("PROBE {}", vec![1_u8; 64 << 20].iter().map(|byte| u64::from(*byte)).sum::<u64>()),
            b'M' => drop(std::hint::black_box(Vec::<u8>::with_capacity(2 << 30))),
            b'x' => loop {
                std::hint::spin_loop();
            },
            b'o' => drop(fs::File::open("/etc/passwd")),
            b's' => drop(socket(libc::AF_INET, libc::SOCK_STREAM)),
            b'u' => drop(socket(libc::AF_UNIX, libc::SOCK_STREAM)),
            b't' => drop(std::thread::Builder::new().spawn(|| ())),
            b'k' => drop(syscall(libc::SYS_kill, [parent(), 0, 0, 0])),
            b'p' => drop(syscall(libc::SYS_prctl, [0, 0, 0, 0])),
            b'f' => println!("PROBE {:?}", syscall(libc::SYS_write, [3, c"x".as_ptr() as usize, 1, 0])),
            b'X' => drop(syscall(0x4000_0000 + libc::SYS_read, [0, 0, 0, 0])),
            _ => break,
        }
    }
    std::process::exit(7)
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["source", "out"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("source/file"), "content").unwrap();
        fs::write(folder.path().join("source/other"), "content").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("source/link")).unwrap();
        Self(folder)
    }

    fn command(&self, mode: &str, attempt: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "probe", "--ignored", "--nocapture"]);
        command.env(FOLDER, self.0.path()).env(MODE, mode).env(ATTEMPT, attempt);
        command
    }
}

/// What came of every attempt, by name.
fn attempts(mode: &str, attempt: &str) -> BTreeMap<String, String> {
    let folder = Folder::new();
    let output = folder.command(mode, attempt).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let results = text.lines().filter_map(|line| line.split("PROBE ").nth(1)?.split_once('='));
    results.map(|(name, result)| (name.to_owned(), result.to_owned())).collect()
}

#[test]
fn this_kernel_can_confine() {
    assert!(availability().unwrap().number() >= 3);
}

#[test]
fn without_confinement_every_attempt_succeeds() {
    let results = attempts("free", "all");
    let failed: Vec<_> = results.iter().filter(|(_, result)| *result != "ok").collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(results.len(), KEPT.len() + LOST.len());
}

#[test]
fn a_confined_runner_keeps_what_it_was_given_and_nothing_else() {
    let results = attempts("runner", "all");
    for (name, _) in KEPT {
        assert_eq!(results.get(*name).map(String::as_str), Some("ok"), "{name}");
    }
    let refused = [libc::EACCES, libc::EPERM].map(|error| error.to_string());
    let allowed: Vec<_> =
        LOST.iter().filter(|(name, _)| !results.get(*name).is_some_and(|result| refused.contains(result))).collect();
    let allowed: Vec<_> = allowed.iter().map(|(name, _)| (name, results.get(*name))).collect();
    assert!(allowed.is_empty(), "{allowed:?}");
}

#[test]
fn with_a_broker_the_runner_has_unix_sockets_and_no_other() {
    let results = attempts("runner with unix sockets", "all");
    assert_eq!(results["a unix socket"], "ok");
    for name in ["a TCP socket", "a UDP socket", "an IPv6 socket", "a netlink socket"] {
        assert_eq!(results[name], libc::EPERM.to_string(), "{name}");
    }
}

#[test]
fn access_to_what_does_not_exist_is_refused_by_name() {
    let access = RunnerAccess { read: vec!["/no/such/folder".into()], ..RunnerAccess::default() };
    // In a thread of its own: had it gone on, this thread would be confined from here on.
    let error = std::thread::spawn(move || confine_runner(&access)).join().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "failed to open /no/such/folder to grant access to it");
}

/// A confined worker, or the same process without confinement, after one order. Its output and how it ended.
fn order(mode: &str, order: u8) -> (String, ExitStatus) {
    let folder = Folder::new();
    let mut child = folder
        .command(mode, "worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&[order]).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| line.split("PROBE ").nth(1)).filter(|line| *line != "ready");
    (lines.collect(), output.status)
}

#[test]
fn a_confined_worker_reads_writes_and_allocates() {
    for mode in ["free", "worker"] {
        assert_eq!(order(mode, b'e').0, "echo");
        assert_eq!(order(mode, b'm').0, (64 << 20).to_string());
        assert_eq!(order(mode, b'q').1.code(), Some(7));
    }
}

#[test]
fn whatever_else_a_worker_tries_kills_it() {
    for (name, attempt) in [
        ("open a file", b'o'),
        ("a TCP socket", b's'),
        ("a unix socket", b'u'),
        ("a thread", b't'),
        ("signal the parent", b'k'),
        ("change itself", b'p'),
    ] {
        assert_eq!(order("free", attempt).1.code(), Some(7), "control: {name}");
        assert_eq!(order("worker", attempt).1.signal(), Some(libc::SIGSYS), "{name}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_second_table_of_system_calls_is_no_way_out() {
    assert_eq!(order("worker", b'X').1.signal(), Some(libc::SIGSYS));
}

#[test]
fn a_workers_memory_and_processor_time_are_bounded() {
    assert_eq!(order("free", b'M').1.code(), Some(7), "control");
    // The allocator gives up, and giving up needs a signal that the worker may not send either.
    assert!(matches!(order("worker", b'M').1.signal(), Some(libc::SIGABRT | libc::SIGSYS)));
    assert_eq!(order("worker", b'x').1.signal(), Some(libc::SIGXCPU));
}

#[test]
fn an_inherited_descriptor_is_closed() {
    use std::os::fd::AsRawFd;
    let file = tempfile::tempfile().unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let folder = Folder::new();
    let number = file.as_raw_fd();
    let run = |mode: &str| {
        let mut command = Command::new("/bin/sh");
        let inner = folder.command(mode, "worker");
        command
            .arg("-c")
            .arg(format!("exec \"$0\" \"$@\" 3<&{number}"))
            .arg(inner.get_program())
            .args(inner.get_args());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"f").unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    assert!(run("free").contains("PROBE Ok(())"));
    assert!(run("worker").contains(&format!("PROBE Err({})", libc::EBADF)));
}

#[test]
fn the_kernel_says_that_a_worker_is_confined() {
    let folder = Folder::new();
    let mut child = folder.command("worker", "worker").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("ready") {
        let mut bytes = [0; 256];
        let read = stdout.read(&mut bytes).unwrap();
        assert!(read > 0, "the worker ended");
        seen.extend_from_slice(&bytes[..read]);
    }
    let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    for (name, soft, hard) in [
        ("Max core file size", "0", "0"),
        ("Max file size", "0", "0"),
        ("Max open files", "3", "3"),
        ("Max cpu time", "1", "2"),
        ("Max address space", "1073741824", "1073741824"),
    ] {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        let values: Vec<_> = line[name.len()..].split_whitespace().take(2).collect();
        assert_eq!(values, [soft, hard], "{line}");
    }
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn a_worker_dies_with_its_parent() {
    let folder = Folder::new();
    let mut command = Command::new("/bin/sh");
    let inner = folder.command("worker", "worker");
    // The shell starts the worker, waits for its first line, tells its number, and ends.
    command
        .arg("-c")
        .arg("mkfifo \"$SANDBOX_TEST_FOLDER/in\"; \"$0\" \"$@\" <>\"$SANDBOX_TEST_FOLDER/in\" & echo PID=$!; sleep 1");
    command.arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // Its standard output stays open as long as the worker lives, so the end of the output is the worker's end.
    let output = command.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("PROBE ready"));
}
