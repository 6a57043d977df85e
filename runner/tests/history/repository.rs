//! A repository made by git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::job::Job;

/// A job with one source, `app`, that is a repository.
pub(crate) fn job() -> Job {
    let job = Job::new();
    git(&job.path("app"), &["init", "-q", "-b", "main"]);
    job
}

/// Runs git, which must succeed; returns what it printed, without the last line ending.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    git_at(folder, 1_700_000_000, "Ada Lovelace <ada@example.org>", arguments)
}

/// The same at a time and by a person.
pub(crate) fn git_at(folder: &Path, time: u32, person: &str, arguments: &[&str]) -> String {
    let output = run(folder, time, person, arguments);
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
}

fn run(folder: &Path, time: u32, person: &str, arguments: &[&str]) -> Output {
    let (name, email) = person.split_once(" <").unwrap();
    let email = email.trim_end_matches('>');
    let date = format!("{time} +0200");
    Command::new("git")
        .current_dir(folder)
        .args(["-c", "protocol.file.allow=always", "-c", "safe.directory=*"])
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", name)
        .env("GIT_AUTHOR_EMAIL", email)
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_NAME", name)
        .env("GIT_COMMITTER_EMAIL", email)
        .env("GIT_COMMITTER_DATE", &date)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Commits everything with a message, `number` hours after the first.
pub(crate) fn commit(job: &Job, number: u32, message: &str) -> String {
    commit_by(job, number, "Ada Lovelace <ada@example.org>", message)
}

pub(crate) fn commit_by(job: &Job, number: u32, person: &str, message: &str) -> String {
    let folder = job.path("app");
    git(&folder, &["add", "-A"]);
    git_at(&folder, 1_700_000_000 + number * 3600, person, &["commit", "-q", "--allow-empty", "-m", message]);
    git(&folder, &["rev-parse", "HEAD"])
}

/// A text of numbered lines.
pub(crate) fn numbered(lines: std::ops::RangeInclusive<u32>) -> String {
    lines.fold(String::new(), |text, line| text + &format!("line {line}\n"))
}

/// The first 12 digits of a hash.
pub(crate) fn short(hash: &str) -> &str {
    &hash[..12]
}

/// The only file beneath a folder whose path ends so.
pub(crate) fn one_file(folder: &Path, ending: &str) -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(ending))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}
