//! The tool `shell`: real commands, in the real supervisor.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs;
use std::time::Duration;

use anchorhold_plan::KernelTool::Shell;
use anchorhold_plan::ToolCaller;
use anchorhold_runner::kernel::{Allowance, Cancel};
use job::{Job, allowance, told};
use serde_json::{Value, json};

/// What a model is told of a call.
fn call(job: &Job, arguments: Value) -> String {
    told(job.kernel_with_shell().call(Shell, arguments, &allowance(ToolCaller::Model)))
}

fn run(job: &Job, command: &str) -> String {
    call(job, json!({"command": command}))
}

#[test]
fn a_command_runs_in_the_source_and_its_exit_code_is_told() {
    let job = Job::new();
    let folder = job.path("app").canonicalize().unwrap();
    assert_eq!(run(&job, "pwd; cat main.rs; exit 3"), format!("{}\nfn main() {{}}\n[exit code 3]", folder.display()));
    assert_eq!(run(&job, "true"), "[exit code 0; no output]");
    assert_eq!(run(&job, "kill -SEGV $$"), "[ended by signal 11 (SIGSEGV); no output]");
    assert_eq!(run(&job, "no-such-program"), "/bin/sh: 1: no-such-program: not found\n[exit code 127]");
}

#[test]
fn output_and_errors_come_as_they_were_printed() {
    assert_eq!(run(&Job::new(), "echo a; echo b >&2; echo c"), "a\nb\nc\n[exit code 0]");
}

#[test]
fn output_is_text_that_no_terminal_acts_on() {
    let job = Job::new();
    assert_eq!(
        run(
            &job,
            r"printf 'caf\351 \033[31mred\033[0m \033]0;title\007x\r\n\0y'; printf '\303'; sleep 0.1; printf '\244'"
        ),
        "caf\\xe9 red x\nyä\n[exit code 0]"
    );
    job.file("app/binary", (0..=255_u8).cycle().take(1 << 20).collect::<Vec<_>>());
    let text = run(&job, "cat binary");
    assert!(
        text.len() < 33 << 10 && text.chars().all(|character| !character.is_control() || "\n\t".contains(character))
    );
}

#[test]
fn of_a_long_output_both_ends_are_given_and_the_middle_is_counted() {
    let job = Job::new();
    let text = run(&job, "seq 1000000");
    let whole: String = (1..=1_000_000).flat_map(|number| [number.to_string(), "\n".to_owned()]).collect();
    let (head, rest) = text.split_once("\n[… ").unwrap();
    let (notice, tail) = rest.split_once('\n').unwrap();
    let tail = tail.strip_suffix("[exit code 0]").unwrap();
    assert!(whole.starts_with(head) && whole.ends_with(tail));
    assert_eq!((head.len(), tail.len()), (16 << 10, 16 << 10));
    let (bytes, lines) = (6_888_896 - (32 << 10), 1_000_000 - head.matches('\n').count() - tail.matches('\n').count());
    let grouped = |number: usize| {
        let digits = number.to_string();
        digits.as_bytes().rchunks(3).rev().map(|part| str::from_utf8(part).unwrap()).collect::<Vec<_>>().join(",")
    };
    assert_eq!(notice, format!("{} bytes, {} lines left out …]", grouped(bytes), grouped(lines)));
}

#[test]
fn an_endless_output_ends_with_the_time() {
    let text = call(&Job::new(), json!({"command": "yes", "timeout": 3}));
    assert!(text.starts_with("timed_out: y\ny\n"), "{}", &text[..40]);
    assert!(text.ends_with("\ny\n[killed after 3 s with all it had started; more time: timeout, up to 600]"));
    assert!(text.len() < 33 << 10);
}

#[test]
fn what_was_printed_until_the_time_was_up_is_told() {
    assert_eq!(
        call(&Job::new(), json!({"command": "echo begun; trap '' TERM INT HUP; sleep 1000", "timeout": "3"})),
        "timed_out: begun\n[killed after 3 s with all it had started; more time: timeout, up to 600]"
    );
}

#[test]
fn a_call_that_nobody_waits_for_ends() {
    let (job, cancel) = (Job::new(), Cancel::default());
    let allowance = Allowance { cancel: cancel.clone(), ..allowance(ToolCaller::Model) };
    let begun = job.path("tmp/begun");
    let canceller = std::thread::spawn(move || {
        while !begun.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        cancel.set();
    });
    let text = told(job.kernel_with_shell().call(
        Shell,
        json!({"command": "echo begun; : > $HOME/begun; sleep 1000"}),
        &allowance,
    ));
    canceller.join().unwrap();
    assert_eq!(text, "timed_out: begun\n[killed with all it had started: the call was ended before it had an answer]");
}

#[test]
fn arguments_that_cannot_be_are_named() {
    let job = Job::new();
    for (arguments, told) in [
        (json!({}), "command is missing; it must be a text".to_owned()),
        (json!({"command": " \n"}), "command is empty; give a command as for sh -c".to_owned()),
        (json!({"command": "a\u{0}b"}), "command contains a NUL character, which no command can".to_owned()),
        (
            json!({"command": "x".repeat((64 << 10) + 1)}),
            "command has 65,537 bytes; at most 65,536 are taken: write a script to /out and run it with sh".to_owned(),
        ),
        (
            json!({"command": "true", "timeout": 0}),
            "timeout is in seconds and must be between 1 and 600; got the number 0".to_owned(),
        ),
        (
            json!({"command": "true", "timeout": 601}),
            "timeout is in seconds and must be between 1 and 600; got the number 601".to_owned(),
        ),
        (json!({"command": "true", "cwd": "/"}), "has no argument \"cwd\"; it takes command, timeout".to_owned()),
    ] {
        assert_eq!(call(&job, arguments), format!("invalid_arguments: shell: {told}"));
    }
    let longest = format!("true {}", "\u{1}".repeat((64 << 10) - 5));
    assert_eq!(run(&job, &longest), "[exit code 0; no output]");
}

#[test]
fn a_job_without_a_shell_says_so() {
    let told = told(Job::new().kernel().call(Shell, json!({"command": "true"}), &allowance(ToolCaller::Model)));
    assert_eq!(told, "failed: shell: this job was started without a shell");
}

#[test]
fn the_answer_says_where_a_folder_of_the_pod_is() {
    let job = Job::new();
    let text = run(&job, "cd /workspace/app && ls > /out/list; exit 1");
    let (app, out) = (job.path("app"), job.path("out"));
    let last = text.lines().last().unwrap();
    assert_eq!(
        last,
        format!("[exit code 1; /workspace/app is {} here; /out is {} here]", app.display(), out.display())
    );
}

#[test]
fn results_and_scratch_files_can_be_written() {
    let job = Job::new();
    let out = job.path("out");
    let command = format!(
        "set -e; cd {}; mkdir a; echo x > a/b; mv a/b c; rm -r a; cp c d; rm d; chmod 600 c; f=$(mktemp); echo y > $f; \
         cat c $f > both; tee copy < both > /dev/null; diff both copy; head -c 4 /dev/urandom | wc -c; cat <<E\nhere\nE",
        out.display()
    );
    assert_eq!(run(&job, &command), "4\nhere\n[exit code 0]");
    assert_eq!(fs::read_to_string(out.join("copy")).unwrap(), "x\ny\n");
}

#[test]
fn the_usual_tools_work() {
    let job = Job::new();
    job.file("app/x.json", r#"{"a": [1, 2]}"#);
    job.file("app/run.sh", "#!/bin/sh\necho run\n");
    fs::set_permissions(job.path("app/run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (command, told) in [
        ("find . -name '*.rs' | xargs grep -n main | sed 's/fn/FN/' | awk -F: '{print $2}'", "FN main() {}"),
        ("./run.sh", "run"),
        ("bash -c 'diff <(echo a) <(echo a) && echo same'", "same"),
        ("timeout 5 echo in time", "in time"),
        ("timeout 0.1 sleep 100; echo $?", "124"),
        ("setsid -w echo session", "session"),
        ("(sleep 0.1; echo waited) & wait", "waited"),
        ("perl -e 'print 6 * 7'", "42"),
        ("echo 'a b' | sort | uniq -c | tr -s ' '", " 1 a b"),
    ] {
        assert_eq!(run(&job, command), format!("{told}\n[exit code 0]"), "{command}");
    }
}

#[test]
fn the_environment_is_exactly_this() {
    let job = Job::new();
    let scratch = job.path("tmp");
    let text = run(&job, "env -u PWD -u OLDPWD -u SHLVL -u _ | grep -v '^GIT_CONFIG_[KV]' | sort");
    let expected = format!(
        "GIT_ALLOW_PROTOCOL=file\nGIT_ASKPASS=false\nGIT_ATTR_NOSYSTEM=1\nGIT_CONFIG_COUNT=20\nGIT_CONFIG_GLOBAL=/dev/null\n\
         GIT_CONFIG_NOSYSTEM=1\nGIT_CONFIG_SYSTEM=/dev/null\nGIT_EDITOR=false\nGIT_NO_LAZY_FETCH=1\nGIT_OPTIONAL_LOCKS=0\n\
         GIT_PAGER=cat\nGIT_SEQUENCE_EDITOR=false\nGIT_SSH_COMMAND=false\nGIT_TERMINAL_PROMPT=0\nHOME={scratch}\nLANG=C.UTF-8\n\
         PAGER=cat\nPATH={bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nTERM=dumb\nTMPDIR={scratch}\n[exit code 0]",
        bin = job.path("bin").display(),
        scratch = scratch.display()
    );
    assert_eq!(text, expected);
}
