//! `kubectl`, `helm` and other programs, with a deadline and their whole output in the error.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs and returns standard output; panics with everything the program said when it fails.
pub fn run<S: AsRef<OsStr>>(program: &str, args: &[S]) -> String {
    let output = attempt(program, args, None);
    assert!(output.status.success(), "{}", describe(program, args, &output));
    String::from_utf8(output.stdout).expect("programs print UTF-8")
}

/// As [`run`], with text on standard input.
pub fn run_with_input<S: AsRef<OsStr>>(program: &str, args: &[S], input: &str) -> String {
    let output = attempt(program, args, Some(input));
    assert!(output.status.success(), "{}", describe(program, args, &output));
    String::from_utf8(output.stdout).expect("programs print UTF-8")
}

/// Runs and returns what it said on standard error; panics when it succeeds.
pub fn refused<S: AsRef<OsStr>>(program: &str, args: &[S], input: Option<&str>) -> String {
    let output = attempt(program, args, input);
    assert!(!output.status.success(), "should have failed: {}", describe(program, args, &output));
    String::from_utf8(output.stderr).expect("programs print UTF-8")
}

/// Runs, whatever comes of it. `timeout` ends it after four minutes.
pub fn attempt<S: AsRef<OsStr>>(program: &str, args: &[S], input: Option<&str>) -> Output {
    let mut child = Command::new("timeout")
        .arg("240")
        .arg(program)
        .args(args)
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("failed to start {program}: {error}"));
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        stdin.write_all(input.as_bytes()).expect("the program reads its input");
    }
    child.wait_with_output().expect("the program can be waited for")
}

fn describe<S: AsRef<OsStr>>(program: &str, args: &[S], output: &Output) -> String {
    let args: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
    format!(
        "{program} {}: {}\n{}{}",
        args.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
