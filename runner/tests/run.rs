//! The real runner, one process per test, from its plan to its exit code.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anchorhold_plan::{Enforcement, Gate, KernelTool, Outcome, OutputFile, RunResult, Stage, Usage};
use anchorhold_runner::record::Event;
use job::{Ended, Job};
use rustix::process::{Pid, Signal, kill_process};

/// A script that never ends by itself.
const ENDLESS: &str = "for (;;);";
/// As long as anything here may take on a machine that does many other things.
const PATIENCE: Duration = Duration::from_mins(1);

fn refused(ended: &Ended, outcome: Outcome, code: i32, message: &str) {
    let result = ended.result();
    assert_eq!((result.outcome, result.message.as_str()), (Some(outcome), message));
    assert_eq!(ended.code, Some(code));
    assert_eq!(ended.stderr, "", "the message is in the record, whose lines are all JSON");
    assert!(!ended.record.iter().any(|line| matches!(line.event, Event::ScriptStarted(_))), "nothing was started");
}

#[test]
fn a_script_runs_to_its_result() {
    let job = Job::new().script("return (await tools.read({path: 'app/main.rs'})).length");
    job.file("out/report/a.txt", "abc");
    let ended = job.run();
    assert_eq!(
        ended.result(),
        &RunResult {
            stage: Stage::Ended,
            outcome: Some(Outcome::Completed),
            message: String::new(),
            text: ended.text().to_owned(),
            text_bytes: ended.text().len() as u64,
            sha256: ended.result().sha256.clone(),
            enforcement: Enforcement::NoCluster,
            usage: Usage { tool_calls: 1, scripts: 1, ..Usage::default() },
            files: vec![OutputFile {
                name: "report/a.txt".into(),
                size_bytes: 3,
                sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
            }],
            files_total: 1,
        }
    );
    assert!(ended.text().contains("13"), "{}", ended.text());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_record_tells_the_run_from_start_to_end() {
    let mut job = Job::new()
        .script("await tools.read({path: 'app/main.rs'}); try { await tools.shell({command: 'id'}) } catch {}");
    job.plan.record.content = false;
    let ended = job.run();
    let kinds: Vec<&str> = ended
        .record
        .iter()
        .map(|line| match &line.event {
            Event::RunStarted(_) => "run.started",
            Event::GatePassed(_) => "gate.passed",
            Event::ScriptStarted(_) => "script.started",
            Event::ScriptEnded(_) => "script.ended",
            Event::Call(_) => "call",
            Event::Blocked(_) => "blocked",
            Event::Cut(_) => "cut",
            Event::RecordLost(_) => "record.lost",
            Event::RunEnded(_) => "run.ended",
        })
        .collect();
    assert_eq!(kinds, ["run.started", "gate.passed", "script.started", "call", "blocked", "script.ended", "run.ended"]);
    assert_eq!(ended.record.iter().map(|line| line.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    let Event::Call(call) = &ended.record[3].event else { panic!() };
    assert_eq!((call.call, call.script, call.tool.as_str(), &call.error), (1, Some(1), "read", &None));
    // Without content: sizes and hashes only.
    assert_eq!((call.arguments.bytes, call.arguments.text.as_deref()), (22, None));
    assert_eq!(call.result.as_ref().map(|result| (result.bytes, result.text.as_deref())), Some((13, None)));
    let Event::Blocked(blocked) = &ended.record[4].event else { panic!() };
    assert_eq!(
        (blocked.tool.as_str(), blocked.reason.as_str()),
        ("shell", "tool \"shell\" is not callable from a script")
    );
    assert_eq!(ended.result().usage, Usage { tool_calls: 1, blocked_calls: 1, scripts: 1, ..Usage::default() });
}

#[test]
fn a_script_job_is_prepared_for_no_program_whatever_its_plan_grants() {
    let mut job = Job::new();
    job.plan.tools = KernelTool::ALL.to_vec();
    assert_eq!(job.run().code, Some(0));
    // What the shell would need beside the plan, and its confinement then allow: nothing that a script calls starts a program.
    let mut found: Vec<_> = fs::read_dir(job.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, ["app", "out", "plan.json", "termination"]);
}

#[test]
fn a_script_that_throws_fails_the_run_and_keeps_what_it_printed() {
    let ended = Job::new().script("text('before'); throw new Error('it broke')").run();
    assert_eq!((ended.code, ended.result().outcome), (Some(1), Some(Outcome::Threw)));
    assert!(ended.result().message.contains("it broke"), "{}", ended.result().message);
    assert!(ended.text().contains("before"), "{}", ended.text());
}

#[test]
fn nothing_outside_the_job_is_readable_from_a_script() {
    let job = Job::new().script(
        "const told = [];
         for (const path of ['/etc/passwd', '../secret.txt', 'app/../../secret.txt', 'app/link', 'app/folder/secret.txt', '/proc/self/environ'])
           for (const tool of ['read', 'ls', 'grep'])
             try { told.push('READ ' + await tools[tool](tool === 'grep' ? {path, pattern: '.'} : {path})) } catch (e) { told.push(e.name) }
         return told.every(t => !t.startsWith('READ')) ? 'nothing' : told.join('\\n')",
    );
    job.file("secret.txt", "secret");
    job.link("app/link", job.path("secret.txt"));
    job.link("app/folder", "..");
    let ended = job.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.text().contains("nothing"), "{}", ended.text());
    // The control: without confinement the same paths lead to files that this user can read.
    for path in ["app/link", "app/folder/secret.txt", "app/../secret.txt"] {
        assert_eq!(fs::read_to_string(job.path(path)).unwrap(), "secret");
    }
    fs::read("/etc/passwd").unwrap();
}

#[test]
fn an_unknown_field_is_refused() {
    let job = Job::new();
    let mut plan = serde_json::to_value(&job.plan).unwrap();
    plan["limits"]["script"]["network"] = true.into();
    fs::write(job.path("plan.json"), plan.to_string()).unwrap();
    let ended = job.ended(job.command(&[]).output().unwrap());
    assert_eq!((ended.code, ended.result().outcome), (Some(2), Some(Outcome::PlanRejected)));
    assert!(ended.result().message.starts_with("failed to read the plan: unknown field `network`"), "{ended:?}");
}

#[test]
fn a_plan_that_is_missing_too_large_or_of_another_version_is_refused() {
    let job = Job::new();
    let missing = job.ended(job.command(&[]).output().unwrap());
    let path = job.path("plan.json");
    refused(
        &missing,
        Outcome::PlanRejected,
        2,
        &format!("failed to read the plan {}: No such file or directory (os error 2)", path.display()),
    );
    fs::write(&path, vec![b' '; 2_000_000]).unwrap();
    refused(
        &job.ended(job.command(&[]).output().unwrap()),
        Outcome::PlanRejected,
        2,
        "the plan has 1000001 bytes; at most 1000000 are read",
    );
    fs::write(&path, "{\"version\": 9}").unwrap();
    refused(
        &job.ended(job.command(&[]).output().unwrap()),
        Outcome::PlanRejected,
        2,
        "the plan has version 9, this runner reads version 1; use the runner image of the operator's release",
    );
}

#[test]
fn an_empty_or_missing_source_is_named() {
    let job = Job::with_sources(&["app", "lib"]);
    fs::remove_file(job.path("lib/main.rs")).unwrap();
    refused(
        &job.run(),
        Outcome::SourceEmpty,
        8,
        "the source lib is empty: there is nothing to look at in /workspace/lib",
    );
    fs::remove_dir(job.path("lib")).unwrap();
    let path = job.path("lib");
    refused(
        &job.run(),
        Outcome::SourceUnreadable,
        8,
        &format!(
            "failed to open {}, which the job sees as /workspace/lib: No such file or directory (os error 2)",
            path.display()
        ),
    );
}

#[test]
fn an_open_network_starts_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let canary = listener.local_addr().unwrap();
    let mut job = Job::new();
    job.plan.gate = Gate::Probe { canaries: vec![canary], rounds: 3, timeout_ms: 100 };
    let ended = job.run();
    refused(
        &ended,
        Outcome::NetworkPolicyNotEnforced,
        7,
        &format!(
            "the network is not closed: {canary} still answered when the time-out passed; the cluster's network plugin must enforce NetworkPolicy"
        ),
    );
    assert_eq!(ended.result().enforcement, Enforcement::NotEnforced);
    // The control: with the canary gone the same plan completes.
    drop(listener);
    job.plan.gate = Gate::Probe { canaries: vec![canary], rounds: 3, timeout_ms: 60_000 };
    let ended = job.run();
    assert_eq!((ended.code, ended.result().enforcement), (Some(0), Enforcement::Enforced));
}

#[test]
fn a_gate_that_cannot_look_stays_shut() {
    let mut job = Job::new();
    let canary = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    job.plan.gate = Gate::Probe { canaries: vec![canary; 100], rounds: 3, timeout_ms: 60_000 };
    fs::write(job.path("plan.json"), job.plan.to_json().unwrap()).unwrap();
    // On loopback a refusal comes at once, so the sockets of one round are what is held; fewer are allowed than canaries.
    let runner = job.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(runner.get_program()).args(runner.get_args());
    let ended = job.ended(shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap());
    refused(
        &ended,
        Outcome::NetworkPolicyNotEnforced,
        7,
        &format!(
            "failed to make a socket for the canary {canary}, so nothing is known of the network: Too many open files (os error 24)"
        ),
    );
}

#[test]
fn a_plan_from_a_cluster_never_runs_unconfined() {
    let mut job = Job::new();
    job.plan.gate = Gate::Assume;
    refused(
        &job.run_with(&["--unconfined"]),
        Outcome::PlanRejected,
        2,
        "--unconfined is refused for a plan that was made in a cluster (gate is not noCluster)",
    );
    // The controls: confined it runs, and so does a plan of this machine unconfined.
    assert_eq!(job.run().result().enforcement, Enforcement::Assumed);
    job.plan.gate = Gate::NoCluster;
    assert_eq!(job.run_with(&["--unconfined"]).code, Some(0));
}

#[test]
fn an_unknown_argument_is_a_usage_error() {
    let job = Job::new();
    let ended = job.run_with(&["--verbose"]);
    assert_eq!((ended.code, ended.result), (Some(2), None));
    assert_eq!(
        ended.stderr,
        "anchorhold-runner: unknown argument --verbose; usage: anchorhold-runner [--plan FILE] [--termination-log FILE|none]\n"
    );
}

#[test]
fn the_deadline_of_the_run_ends_it() {
    let mut job = Job::new().script(&format!("text('begun'); {ENDLESS}"));
    job.plan.limits.timeout_seconds = 1;
    let ended = job.run();
    assert_eq!((ended.code, ended.result().outcome), (Some(5), Some(Outcome::TimedOut)));
    assert_eq!(ended.result().message, "the run did not end within its 1 s");
}

#[test]
fn the_deadline_of_the_script_ends_the_run() {
    let mut job = Job::new().script(ENDLESS);
    job.plan.limits.script.timeout_ms = 200;
    let ended = job.run();
    assert_eq!((ended.code, ended.result().outcome), (Some(5), Some(Outcome::TimedOut)));
}

#[test]
fn a_job_makes_no_more_calls_than_its_limit() {
    let mut job = Job::new().script(
        "const told = []; for (let i = 0; i < 4; i++) await tools.ls({}).then(() => told.push('ok'), e => told.push(e.code + ': ' + e.message)); return told",
    );
    job.plan.limits.tool_calls = 2;
    let ended = job.run();
    assert_eq!(ended.result().usage.tool_calls, 2);
    assert_eq!(
        ended.text().matches("limit_reached: the job has made all of its 2 tool calls").count(),
        2,
        "{}",
        ended.text()
    );
}

#[test]
fn arguments_and_results_stay_within_their_limits() {
    let mut job = Job::new().script(
        "const told = [];
         await tools.read({path: 'x'.repeat(2000)}).catch(e => told.push('refused'));
         told.push((await tools.read({path: 'app/big.txt', limit: 1000})).length <= 1024);
         await tools.grep({pattern: 'x', output: 'json', limit: 1000}).then(r => told.push(r.cut));
         return told.join()",
    );
    job.plan.limits.script.argument_bytes = 1024;
    job.plan.limits.script.result_bytes = 1024;
    job.file("app/big.txt", "xxxx\n".repeat(1000));
    let ended = job.run();
    assert!(ended.text().contains("refused,true,true"), "{}", ended.text());
}

/// Starts a run and waits until its script has a process.
fn begun(job: &Job) -> (Child, BufReader<std::process::ChildStdout>, Pid) {
    let mut child = job.spawn(&[]);
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("script.started") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the run ended early");
    }
    let deadline = Instant::now() + PATIENCE;
    let worker = loop {
        if let Some(worker) = child_of(child.id()) {
            break worker;
        }
        assert!(Instant::now() < deadline, "the script has no process");
        std::thread::sleep(Duration::from_millis(5));
    };
    (child, lines, worker)
}

/// The process whose parent this is.
fn child_of(parent: u32) -> Option<Pid> {
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).find_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let after_name = stat.rsplit_once(") ")?.1;
        (after_name.split(' ').nth(1)? == parent.to_string()).then(|| Pid::from_raw(pid))?
    })
}

/// Waits until a process is gone, or dead and only not collected yet.
fn await_death(process: Pid) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if matches!(state, None | Some('Z' | 'X')) {
            return;
        }
        assert!(Instant::now() < deadline, "process {process:?} is alive: {stat}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_signal_cancels_the_run_and_the_record_still_ends() {
    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::INT, "SIGINT")] {
        let job = Job::new().script(ENDLESS);
        let (mut child, mut lines, worker) = begun(&job);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(6));
        await_death(worker);
        let result = RunResult::parse(&fs::read_to_string(job.path("termination")).unwrap()).unwrap();
        assert_eq!(
            (result.stage, result.outcome, result.message),
            (Stage::Ended, Some(Outcome::Cancelled), format!("the run was told to stop by {name}"))
        );
        assert!(rest.lines().last().unwrap().contains("\"type\":\"run.ended\""), "{rest}");
    }
}

#[test]
fn a_runner_that_is_killed_leaves_no_process_and_tells_how_far_it_came() {
    let job = Job::new().script(ENDLESS);
    let (mut child, _lines, worker) = begun(&job);
    child.kill().unwrap();
    child.wait().unwrap();
    await_death(worker);
    let result = RunResult::parse(&fs::read_to_string(job.path("termination")).unwrap()).unwrap();
    assert_eq!((result.stage, result.outcome), (Stage::Started, None));
}

#[test]
fn a_signal_during_the_gate_ends_the_run_before_anything_starts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut job = Job::new();
    job.plan.gate = Gate::Probe { canaries: vec![listener.local_addr().unwrap()], rounds: 3, timeout_ms: 300_000 };
    let mut child = job.spawn(&[]);
    // The second connection comes after the first pause, in which signals are heard.
    for _ in 0..2 {
        listener.accept().unwrap();
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(6));
    assert!(!stdout.contains("script.started"), "{stdout}");
}

#[test]
fn nobody_who_reads_the_record_is_no_reason_to_fail() {
    let script = "for (let i = 0; i < 5; i++) await tools.read({path: 'app/main.rs'}); return 'done'";
    // Closed at once.
    let job = Job::new().script(script);
    let mut child = job.spawn(&[]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // Open and never read: more than the pipe and the queue in front of it hold.
    let mut job = Job::new().script(
        "await Promise.all(Array.from({length: 120}, () => tools.read({path: 'app/big.txt', limit: 1}))); return 'done'",
    );
    job.plan.tools = vec![KernelTool::Read];
    job.file("app/big.txt", "x".repeat(60_000));
    let mut child = job.spawn(&[]);
    let unread = child.stdout.take();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(unread);
    let result = RunResult::parse(&fs::read_to_string(job.path("termination")).unwrap()).unwrap();
    assert_eq!((result.outcome, result.usage.tool_calls), (Some(Outcome::Completed), 120));
}

#[test]
fn a_line_of_the_record_is_never_longer_than_collectors_take() {
    let job = Job::new()
        .script("text('é'.repeat(12000)); return (await tools.read({path: 'app/big.txt', limit: 100000})).length");
    job.file("app/big.txt", "\u{1}\n".repeat(100_000));
    let output = job.spawn(&[]).wait_with_output().unwrap();
    let longest = String::from_utf8(output.stdout).unwrap().lines().map(str::len).max().unwrap();
    assert!((60_000..65_536).contains(&longest), "{longest}");
}
