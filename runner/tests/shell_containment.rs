//! What a command cannot do. Every attempt is a real command that prints REACHED where it succeeds: once in a plain shell, where it
//! must, and once through the tool, where the kernel must refuse; and again as on a kernel whose Landlock keeps no signals in.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anchorhold_plan::KernelTool::Shell;
use anchorhold_plan::ToolCaller;
use anchorhold_runner::sandbox::{RunnerAccess, ToolAccess, confine_runner};
use job::{Job, allowance, told};
use serde_json::json;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Walls {
    Scopes,
    NoScopes,
}

const BOTH: [Walls; 2] = [Walls::Scopes, Walls::NoScopes];

fn confined(job: &Job, walls: Walls, command: &str, seconds: u32) -> String {
    let shell = match walls {
        Walls::Scopes => job.shell(),
        Walls::NoScopes => job.shell().without_scopes(),
    };
    let arguments = json!({"command": command, "timeout": seconds});
    told(job.kernel().with_shell(shell).call(Shell, arguments, &allowance(ToolCaller::Model)))
}

/// The same command without confinement.
fn free(job: &Job, command: &str) -> String {
    let output = Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .current_dir(job.path("app"))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A process outside that an attempt is aimed at.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        Self(Command::new("sleep").arg("1000").stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A job whose neighbours hold a secret.
fn besieged() -> Job {
    let job = Job::new();
    job.file("outside/secret", "secret");
    job.file("outside/tool", "#!/bin/sh\necho REACHED\n");
    job.file("app/other", "x");
    job.link("app/link", job.path("outside/secret"));
    job.link("out/link", job.path("outside/through"));
    fs::set_permissions(job.path("outside/tool"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    job
}

fn refused_in_the_tool_alone(job: &Job, attempts: &[(&str, String)]) {
    for (name, command) in attempts {
        let control = free(job, command);
        assert!(control.contains("REACHED"), "control of {name}: {control}");
    }
    // The controls have changed the folders.
    let job = &besieged_again(job);
    for walls in BOTH {
        for (name, command) in attempts {
            let text = confined(job, walls, command, 10);
            assert!(!text.contains("REACHED"), "{walls:?}: {name}: {text}");
            assert!(!text.contains("timed_out"), "{walls:?}: {name}: {text}");
        }
    }
}

/// The job with its folders as they were.
fn besieged_again(job: &Job) -> Job {
    let mut again = besieged();
    // Same place, so that the commands mean the same.
    for name in ["app", "out", "outside", "tmp"] {
        let _ = fs::remove_dir_all(job.path(name));
        let from = again.path(name);
        if from.exists() {
            fs::rename(from, job.path(name)).unwrap();
        }
    }
    again.plan = job.plan.clone();
    // Links lead to where the folders are now.
    for (link, target) in [("app/link", "outside/secret"), ("out/link", "outside/through")] {
        fs::remove_file(job.path(link)).unwrap();
        job.link(link, job.path(target));
    }
    again
}

#[test]
fn files_outside_are_out_of_reach() {
    let job = besieged();
    let (outside, out, app) = (job.path("outside"), job.path("out"), job.path("app"));
    let (outside, out, app) = (outside.display(), out.display(), app.display());
    refused_in_the_tool_alone(
        &job,
        &[
            ("read a file", format!("cat {outside}/secret && echo REACHED")),
            ("read a file through a link", "cat link && echo REACHED".into()),
            ("read the list of users", "head -c 1 /etc/passwd && echo REACHED".into()),
            ("list a folder", format!("ls {outside} && echo REACHED")),
            ("list the root", "ls / && echo REACHED".into()),
            ("write a file", format!("echo x > {outside}/new && echo REACHED")),
            ("write a file through a link", format!("echo x > {out}/link && echo REACHED")),
            ("change a source", "echo x > main.rs && echo REACHED".into()),
            ("empty a source's file", "truncate -s 0 main.rs && echo REACHED".into()),
            ("remove from a source", "rm -f other && echo REACHED".into()),
            ("rename into a source", format!("echo x > {out}/moved && mv {out}/moved {app}/moved && echo REACHED")),
            ("link a file outside into the output folder", format!("ln {outside}/secret {out}/hard && echo REACHED")),
            ("run a program outside", format!("{outside}/tool")),
            ("run a program that was written", format!("cp /bin/echo {out}/tool && {out}/tool REACHED")),
            (
                "run a program that was written to scratch",
                "f=$(mktemp) && cp /bin/echo $f && chmod +x $f && $f REACHED".into(),
            ),
        ],
    );
}

#[test]
fn no_special_file_is_made() {
    let job = besieged();
    let out = job.path("out");
    let out = out.display();
    refused_in_the_tool_alone(
        &job,
        &[
            ("a symbolic link", format!("ln -s / {out}/symbolic && echo REACHED")),
            ("a pipe", format!("mkfifo {out}/pipe && echo REACHED")),
            ("a set-user-ID file", format!("cp /bin/true {out}/user && chmod u+s {out}/user && echo REACHED")),
            ("a set-group-ID file", format!("touch {out}/group && chmod 2755 {out}/group && echo REACHED")),
            (
                "a file that is created with the bit",
                format!(
                    "perl -MFcntl -e 'umask 0; sysopen(F, \"{out}/created\", O_CREAT|O_WRONLY, 04755) && -u F && print \"REACHED\"'"
                ),
            ),
        ],
    );
}

#[test]
fn there_is_no_network_and_no_socket() {
    let job = besieged();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let _listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (stream, datagram) = (folder.path().join("stream"), folder.path().join("datagram"));
    let _stream = UnixListener::bind(&stream).unwrap();
    let _datagram = UnixDatagram::bind(&datagram).unwrap();
    let name = format!("anchorhold-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    let open_port = listening.local_addr().unwrap().port();
    let _ = tcp;
    let perl = |body: String| format!("perl -MSocket -e '{body}'");
    refused_in_the_tool_alone(
        &job,
        &[
            ("TCP by the shell", format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{open_port}' && echo REACHED")),
            (
                "TCP",
                perl(format!(
                    "socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in({open_port}, INADDR_LOOPBACK)) && print q(REACHED)"
                )),
            ),
            (
                "UDP",
                perl(format!(
                    "socket(S, AF_INET, SOCK_DGRAM, 0) && send(S, q(x), 0, pack_sockaddr_in({udp_port}, INADDR_LOOPBACK)) && print q(REACHED)"
                )),
            ),
            ("listen", perl("socket(S, AF_INET, SOCK_STREAM, 0) && bind(S, pack_sockaddr_in(0, INADDR_LOOPBACK)) && listen(S, 1) && print q(REACHED)".into())),
            (
                "a unix socket",
                perl(format!(
                    "socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un(q({}))) && print q(REACHED)",
                    stream.display()
                )),
            ),
            (
                "an abstract socket",
                perl(format!(
                    "socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un(qq(\\0{name}))) && print q(REACHED)"
                )),
            ),
            (
                "a datagram from one of a pair of sockets",
                perl(format!(
                    "socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) && send(A, q(x), 0, pack_sockaddr_un(q({}))) && print q(REACHED)",
                    datagram.display()
                )),
            ),
            ("an asynchronous ring", call_of(libc::SYS_io_uring_setup, "1, (my $b = qq(\\0) x 256)", "-1 != $r")),
        ],
    );
}

/// A system call made by perl; REACHED is printed when the condition on its result, `$r`, holds.
fn call_of(number: libc::c_long, arguments: &str, condition: &str) -> String {
    format!("perl -e '$r = syscall({number}, {arguments}); print q(REACHED) if {condition}'")
}

#[test]
fn other_processes_are_neither_seen_nor_touched() {
    let job = besieged();
    let victim = Victim::new();
    let (victim, runner) = (victim.0.id(), std::process::id());
    refused_in_the_tool_alone(
        &job,
        &[
            ("list processes", "ls /proc && echo REACHED".into()),
            ("the runner's environment", format!("cat /proc/{runner}/environ && echo REACHED")),
            ("the starter's environment", "cat /proc/$PPID/environ && echo REACHED".into()),
            ("the runner's descriptors", format!("ls /proc/{runner}/fd && echo REACHED")),
            ("a process's memory", format!("perl -e 'open(F, q(+<), q(/proc/{victim}/mem)) && print q(REACHED)'")),
            ("trace", call_of(libc::SYS_ptrace, &format!("{}, {victim}, 0, 0", libc::PTRACE_SEIZE), "$r == 0")),
            ("read memory", call_of(libc::SYS_process_vm_readv, &format!("{victim}, 0, 0, 0, 0, 0"), "$r == 0")),
            (
                "limit another's processor time",
                call_of(libc::SYS_prlimit64, &format!("{victim}, 0, (my $b = pack(q(QQ), 1000, 1000)), 0"), "$r == 0"),
            ),
            ("slow another down", format!("renice -n 5 -p {victim} >/dev/null && echo REACHED")),
            ("slow all of the user down", "renice -n 0 -u $(id -u) >/dev/null && echo REACHED".into()),
            ("tie another to a processor", format!("taskset -p 1 {victim} >/dev/null && echo REACHED")),
            ("a file without a path", call_of(libc::SYS_memfd_create, "(my $n = q(x)), 0", "$r >= 0")),
            ("a namespace", call_of(libc::SYS_unshare, "0", "$r == 0")),
            (
                "memory that outlives it",
                "perl -e '$i = shmget(0, 1, 0600); defined $i && print q(REACHED); shmctl($i, 0, 0)'".into(),
            ),
            ("signal the runner", format!("kill -0 {runner} && echo REACHED")),
            ("signal the supervisor", "kill -0 $PPID && echo REACHED".into()),
            ("signal the first process", "kill -0 1 && echo REACHED".into()),
        ],
    );
}

#[test]
fn with_scopes_no_other_process_can_be_signalled() {
    let (job, victim) = (besieged(), Victim::new());
    let pid = victim.0.id();
    let attempts = [
        format!("kill -0 {pid} && echo REACHED"),
        format!("perl -e 'kill(0, {pid}) && print q(REACHED)'"),
        call_of(libc::SYS_tkill, &format!("{pid}, 0"), "$r == 0"),
    ];
    for attempt in &attempts {
        assert!(free(&job, attempt).contains("REACHED"), "control: {attempt}");
        assert!(!confined(&job, Walls::Scopes, attempt, 10).contains("REACHED"), "{attempt}");
    }
}

#[test]
fn a_signal_to_everybody_hits_nobody_outside() {
    let (job, mut victim) = (besieged(), Victim::new());
    // No control: it would end the machine. The command itself looks first whether the wall stands.
    let guarded = "kill -0 1 && exit 9; kill -0 $PPID && exit 9; sleep 1000 & kill -9 -1; wait $!; echo alive $?";
    assert!(confined(&job, Walls::Scopes, guarded, 10).ends_with("alive 137\n[exit code 0]"));
    assert!(
        confined(&job, Walls::NoScopes, &guarded.replace("wait $!", "true"), 10)
            .ends_with("alive 0\n[exit code 0; 1 process was still running and killed]")
    );
    assert_eq!(victim.0.try_wait().unwrap(), None);
}

/// Processes whose command line holds the mark.
fn marked(mark: &str) -> Vec<i32> {
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let has = |process: &i32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark) && !status.contains(") Z ")
    };
    processes.filter(has).collect()
}

/// Ends what a control run has left.
fn sweep(mark: &str) -> usize {
    let left = marked(mark);
    for process in &left {
        let process = rustix::process::Pid::from_raw(*process).unwrap();
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
    left.len()
}

/// Ways to outlive the shell that started it. Each leaves exactly one process, with the mark in its command line.
const ESCAPES: &[(&str, &str)] = &[
    ("in the background", "sleep 1000.MARK >/dev/null 2>&1 &"),
    ("holding the output", "sleep 1000.MARK &"),
    ("without a terminal", "nohup sleep 1000.MARK >/dev/null 2>&1 &"),
    ("ignoring signals", "(trap '' TERM INT HUP QUIT USR1; exec sleep 1000.MARK >/dev/null 2>&1) &"),
    ("forked twice", "( (sleep 1000.MARK >/dev/null 2>&1 &) & ) ; sleep 0.1"),
    (
        "a daemon by the book",
        "perl -MPOSIX -e 'exit if fork; setsid; exit if fork; chdir q(/); close STDOUT; close STDERR; exec q(sleep), q(1000.MARK)'; sleep 0.1",
    ),
    (
        "an orphanage of its own",
        "perl -e 'if (!fork) { syscall(PRCTL, 36, 1, 0, 0, 0); exec q(sleep), q(1000.MARK) }' >/dev/null 2>&1; sleep 0.1",
    ),
    ("stopped", "sleep 1000.MARK >/dev/null 2>&1 & kill -STOP $!"),
];

#[test]
fn nothing_outlives_the_call() {
    let job = Job::new();
    for (number, (name, escape)) in ESCAPES.iter().enumerate() {
        for (offset, walls) in BOTH.into_iter().enumerate() {
            let mark = format!("{}{number}{offset}7", std::process::id());
            let command = escape.replace("MARK", &mark).replace("PRCTL", &libc::SYS_prctl.to_string());
            // Its output goes nowhere: whoever holds it would hold up the control.
            free(&job, &format!("({command}) >/dev/null"));
            assert_eq!(sweep(&mark), 1, "control: {name}");
            let text = confined(&job, walls, &format!("{command}\necho done"), 20);
            assert!(text.contains("done\n["), "{walls:?}: {name}: {text}");
            assert!(text.contains("; 1 process was still running and killed]"), "{walls:?}: {name}: {text}");
            assert_eq!(marked(&mark), [0; 0], "{walls:?}: {name}");
        }
    }
}

#[test]
fn leaving_the_session_is_followed_or_refused() {
    let job = Job::new();
    let mark = format!("{}91", std::process::id());
    let command = format!("setsid sleep 1000.{mark} >/dev/null 2>&1 & sleep 0.2");
    free(&job, &command);
    assert_eq!(sweep(&mark), 1, "control");
    assert_eq!(
        confined(&job, Walls::Scopes, &command, 10),
        "[exit code 0; no output; 1 process was still running and killed]"
    );
    assert_eq!(marked(&mark), [0; 0]);
    // A kernel that cannot hold it in does not let it go.
    assert_eq!(confined(&job, Walls::NoScopes, &command, 10), "[exit code 0; no output]");
    assert_eq!(marked(&mark), [0; 0]);
}

#[test]
fn at_the_deadline_a_whole_tree_dies() {
    let job = Job::new();
    for (offset, walls) in BOTH.into_iter().enumerate() {
        let mark = format!("{}8{offset}", std::process::id());
        // 255 descendants that ignore what can be ignored.
        let tree =
            format!("perl -e '$0 = q({mark}); $SIG{{TERM}} = $SIG{{HUP}} = q(IGNORE); fork for 1..8; sleep 1000'");
        let text = confined(&job, walls, &format!("{tree} & sleep 0.5; echo begun; wait"), 5);
        assert!(text.starts_with("timed_out: begun\n[killed after 5 s"), "{walls:?}: {text}");
        assert_eq!(marked(&mark), [0; 0], "{walls:?}");
    }
}

#[test]
fn a_tree_that_never_stops_growing_dies_with_the_call() {
    let job = Job::new();
    for (offset, walls) in BOTH.into_iter().enumerate() {
        let mark = format!("{}7{offset}", std::process::id());
        // Each process starts its successor and ends: a moving target that no list of processes catches.
        let chain = format!("perl -e '$0 = q({mark}); $SIG{{CHLD}} = q(IGNORE); while (1) {{ exit if fork }}'");
        let text = confined(&job, walls, &format!("{chain} & {chain} & sleep 0.3; echo done"), 10);
        assert!(text.starts_with("done\n[exit code 0; "), "{walls:?}: {text}");
        assert_eq!(marked(&mark), [0; 0], "{walls:?}");
    }
}

#[test]
fn the_command_dies_with_the_runner() {
    let mark = format!("{}61", std::process::id());
    let mut runner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "probe", "--ignored", "--nocapture"])
        .env("SHELL_TEST_COMMAND", format!("setsid sleep 1000.{mark} & sleep 1000.{mark}"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| marked(&mark).len() >= 2);
    runner.kill().unwrap();
    runner.wait().unwrap();
    wait_until(|| marked(&mark).is_empty());
}

/// A runner in a process of its own, to be killed, or to be confined as in a run.
#[test]
#[ignore = "started by other tests, in a process of its own"]
fn probe() {
    let Ok(command) = std::env::var("SHELL_TEST_COMMAND") else { return };
    let job = Job::new();
    let (kernel, shell) = (job.kernel(), job.shell());
    if std::env::var_os("SHELL_TEST_CONFINED").is_some() {
        let ToolAccess { programs, mut read, mut write } = shell.access();
        read.push(job.path("app"));
        write.push(job.path("out"));
        let execute = Some(env!("CARGO_BIN_EXE_anchorhold-runner").into());
        confine_runner(&RunnerAccess { read, write, execute, programs, unix_sockets: false }).unwrap();
    }
    let arguments = json!({"command": command, "timeout": 60});
    println!("TOLD {}", told(kernel.with_shell(shell).call(Shell, arguments, &allowance(ToolCaller::Model))));
}

#[test]
fn a_confined_runner_runs_commands_in_the_same_way() {
    let command = "cat main.rs; git --version | cut -c 1-11; setsid sleep 1000 & sleep 0.1; cat /etc/passwd; kill -0 1; \
                   perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0) || print qq($!\n)'; echo x > $HOME/x && cat $HOME/x";
    let probe = |confined: bool| {
        let mut runner = Command::new(std::env::current_exe().unwrap());
        runner.args(["--exact", "probe", "--ignored", "--nocapture"]).env("SHELL_TEST_COMMAND", command);
        if confined {
            runner.env("SHELL_TEST_CONFINED", "1");
        }
        let output = String::from_utf8(runner.output().unwrap().stdout).unwrap();
        let (_, told) = output.split_once("TOLD ").unwrap();
        told.split_inclusive(']').next().unwrap().to_owned()
    };
    let told = "fn main() {}\ngit version\ncat: /etc/passwd: Permission denied\n/bin/sh: 1: kill: Operation not permitted\n\n\
                Operation not permitted\nx\n[exit code 0; 1 process was still running and killed]";
    assert_eq!(probe(false), told);
    assert_eq!(probe(true), told);
}

#[test]
fn a_supervisor_that_is_killed_from_outside_takes_the_shell_along() {
    let mark = format!("{}51", std::process::id());
    let job = Job::new();
    let command = format!("echo begun; sleep 1000.{mark}; true");
    let killer = std::thread::spawn({
        let mark = mark.clone();
        move || {
            wait_until(|| marked(&mark).len() >= 2);
            // The shell is the one with the whole command; its parent is the supervisor.
            let shell = marked(&mark).into_iter().min().unwrap();
            let status = fs::read_to_string(format!("/proc/{shell}/stat")).unwrap();
            let parent: i32 = status.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
            let parent = rustix::process::Pid::from_raw(parent).unwrap();
            rustix::process::kill_process(parent, rustix::process::Signal::KILL).unwrap();
        }
    });
    assert_eq!(
        confined(&job, Walls::Scopes, &command, 60),
        "failed: begun\n[shell: the process that watches over the command was killed from outside]"
    );
    killer.join().unwrap();
    wait_until(|| marked(&mark).is_empty());
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "it never came to that");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn no_descriptor_is_inherited() {
    let job = Job::new();
    let file = tempfile::tempfile().unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let number = file.as_raw_fd();
    let command = format!("bash -c ': <&{number}' && echo REACHED");
    assert!(free(&job, &command).contains("REACHED"), "control");
    let every = "for n in $(seq 3 255); do bash -c \": <&$n\" 2>/dev/null && echo REACHED $n; done";
    for walls in BOTH {
        assert!(!confined(&job, walls, &command, 10).contains("REACHED"));
        assert_eq!(confined(&job, walls, every, 60), "[exit code 1; no output]");
    }
}

#[test]
fn each_process_is_bounded() {
    let mut job = Job::new();
    job.plan.output.size_limit_bytes = 1 << 20;
    let out = job.path("out");
    let big = format!("head -c 3000000 /dev/zero > {}/big && echo REACHED", out.display());
    assert!(free(&job, &big).contains("REACHED"), "control");
    assert!(!confined(&job, Walls::Scopes, &big, 10).contains("REACHED"));
    assert_eq!(fs::metadata(out.join("big")).unwrap().len(), 1 << 20);
    let hog = "perl -e '$x = q(x) x (1200 << 20); print q(REACHED)'";
    assert!(free(&job, hog).contains("REACHED"), "control");
    let text = confined(&job, Walls::Scopes, hog, 20);
    assert!(text.starts_with("Out of memory"), "{text}");
    let limits = "bash -c 'ulimit -c; ulimit -u; ulimit -n; ulimit -d; ulimit -f; ulimit -l; ulimit -n 1025 2>/dev/null || echo held'";
    assert_eq!(confined(&job, Walls::Scopes, limits, 10), "0\n4096\n1024\n1048576\n1024\n0\nheld\n[exit code 0]");
}

#[test]
fn a_command_has_no_capability_and_gains_none() {
    // In a shell without confinement the same program can open its own status.
    let status = "perl -e 'print prctl() if 0; for $c (0..40) { print qq($c ) if syscall(PRCTL, 23, $c, 0, 0, 0) == 1 && cap($c) } \
                  sub cap { $h = pack(q(LL), 0x20080522, 0); $d = qq(\\0) x 24; syscall(CAPGET, $h, $d); \
                  (unpack(q(L6), $d))[3 * int($_[0] / 32) + 1] >> ($_[0] % 32) & 1 } print q(END)'"
        .replace("PRCTL", &libc::SYS_prctl.to_string())
        .replace("CAPGET", &libc::SYS_capget.to_string());
    let job = Job::new();
    if rustix::process::geteuid().is_root() {
        assert!(free(&job, &status).starts_with("0 1 "), "control: root has capabilities");
    }
    assert_eq!(confined(&job, Walls::Scopes, &status, 10), "END\n[exit code 0]");
}
