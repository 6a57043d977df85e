//! `git` in the shell, on repositories that would have it run their own programs. Each trap writes a mark when it is sprung: in a
//! plain shell it must be, through the tool it may not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anchorhold_plan::KernelTool::Shell;
use anchorhold_plan::ToolCaller;
use job::{Job, allowance, told};
use serde_json::json;

/// Configuration and attributes, the command that springs it.
struct Trap {
    name: &'static str,
    config: &'static [(&'static str, &'static str)],
    attributes: &'static str,
    command: &'static str,
}

const TRAPS: &[Trap] = &[
    Trap { name: "monitor", config: &[("core.fsmonitor", "TRAP")], attributes: "", command: "git status" },
    Trap { name: "pager", config: &[("core.pager", "TRAP")], attributes: "", command: "git --paginate log" },
    Trap { name: "pager of a command", config: &[("pager.log", "TRAP")], attributes: "", command: "git log" },
    Trap { name: "diff", config: &[("diff.external", "TRAP")], attributes: "", command: "git diff" },
    Trap {
        name: "diff driver",
        config: &[("diff.evil.command", "TRAP")],
        attributes: "*.txt diff=evil",
        command: "git diff",
    },
    Trap {
        name: "converter",
        config: &[("diff.evil.textconv", "TRAP")],
        attributes: "*.txt diff=evil",
        command: "git log -p",
    },
    Trap {
        name: "clean filter",
        config: &[("filter.evil.clean", "TRAP")],
        attributes: "*.txt filter=evil",
        command: "git diff",
    },
    Trap {
        name: "filter process",
        config: &[("filter.evil.process", "TRAP")],
        attributes: "*.txt filter=evil",
        command: "git diff",
    },
    Trap {
        name: "smudge filter",
        config: &[("filter.evil.smudge", "TRAP")],
        attributes: "*.txt filter=evil",
        command: "git cat-file --filters HEAD:a.txt",
    },
    Trap { name: "alias", config: &[("alias.st", "!TRAP")], attributes: "", command: "git st" },
    Trap {
        name: "transport",
        config: &[("core.sshCommand", "TRAP")],
        attributes: "",
        command: "git ls-remote ssh://example.com/x",
    },
    Trap {
        name: "external transport",
        config: &[("protocol.ext.allow", "always")],
        attributes: "",
        command: "git ls-remote 'ext::TRAP'",
    },
    Trap {
        name: "remote's program",
        config: &[("remote.here.url", "."), ("remote.here.uploadpack", "TRAP")],
        attributes: "",
        command: "git ls-remote here",
    },
    Trap {
        name: "credential helper",
        config: &[("credential.helper", "!TRAP")],
        attributes: "",
        command: "printf 'protocol=https\\nhost=example.com\\n\\n' | git credential fill",
    },
    Trap {
        name: "signature",
        config: &[("gpg.program", "TRAP"), ("log.showSignature", "true")],
        attributes: "",
        command: "git log signed",
    },
    Trap {
        name: "browser",
        config: &[("browser.b.cmd", "TRAP"), ("web.browser", "b")],
        attributes: "",
        command: "git web--browse x",
    },
    Trap {
        name: "merge driver",
        config: &[("merge.evil.driver", "TRAP")],
        attributes: "*.txt merge=evil",
        command: "git merge-file -p a.txt a.txt a.txt; git merge-tree --write-tree HEAD other",
    },
];

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with two commits, a branch, a file that has changed since, and one that looks as if.
fn repository(job: &Job, attributes: &str) {
    let app = job.path("app");
    job.file("app/a.txt", "one\n");
    job.file("app/.gitattributes", attributes);
    git(&app, &["init", "-q"]);
    git(&app, &["add", "-A"]);
    git(&app, &["commit", "-q", "-m", "first"]);
    git(&app, &["checkout", "-q", "-b", "other"]);
    job.file("app/a.txt", "two\n");
    git(&app, &["commit", "-q", "-a", "-m", "second"]);
    git(&app, &["checkout", "-q", "main"]);
    job.file("app/a.txt", "three\n");
    git(&app, &["commit", "-q", "-a", "-m", "third"]);
    // A commit that says it is signed, for the program that would check it.
    let commit = Command::new("git").args(["cat-file", "commit", "HEAD"]).current_dir(&app).output().unwrap().stdout;
    let commit = String::from_utf8(commit).unwrap();
    let (head, message) = commit.split_once("\n\n").unwrap();
    job.file(
        "signed",
        format!("{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}"),
    );
    let signed = job.path("signed");
    let hash = Command::new("git")
        .args(["hash-object", "-t", "commit", "-w", signed.to_str().unwrap()])
        .current_dir(&app)
        .output()
        .unwrap()
        .stdout;
    git(&app, &["update-ref", "refs/heads/signed", String::from_utf8(hash).unwrap().trim()]);
    job.file("app/a.txt", "four\n");
}

/// Writes the trap's program, which leaves a mark in the scratch folder, and returns its path.
fn trap(job: &Job) -> String {
    let mark = job.path("tmp/mark");
    job.file("app/trap", format!("#!/bin/sh\n: > {}\n", mark.display()));
    fs::set_permissions(job.path("app/trap"), PermissionsExt::from_mode(0o755)).unwrap();
    job.path("app/trap").to_str().unwrap().to_owned()
}

fn free(job: &Job, command: &str) {
    // What waits for an answer of the trap has sprung it.
    Command::new("timeout")
        .args(["--kill-after=1", "5", "/bin/sh", "-c"])
        .arg(command)
        .current_dir(job.path("app"))
        .env("HOME", job.path("outside"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
}

fn run(job: &Job, command: &str) -> String {
    told(job.kernel_with_shell().call(Shell, json!({"command": command}), &allowance(ToolCaller::Model)))
}

fn sprung(job: &Job) -> bool {
    fs::remove_file(job.path("tmp/mark")).is_ok()
}

#[test]
fn no_program_that_a_repository_names_is_run() {
    for Trap { name, config, attributes, command } in TRAPS {
        let job = Job::new();
        fs::create_dir(job.path("tmp")).unwrap();
        repository(&job, attributes);
        let trap = trap(&job);
        for (key, value) in *config {
            git(&job.path("app"), &["config", key, &value.replace("TRAP", &trap)]);
        }
        let command = command.replace("TRAP", &trap);
        if *name != "pager" && *name != "pager of a command" {
            free(&job, &command);
        } else {
            // A pager is started for a terminal only.
            free(&job, &format!("script -qec '{command}' /dev/null"));
        }
        assert!(sprung(&job), "control: {name}");
        let text = run(&job, &command);
        assert!(!sprung(&job), "{name}: {text}");
        // Also where git is found by another program.
        let text = run(&job, &format!("cat > $HOME/script <<'E'\n{command}\nE\nenv sh $HOME/script"));
        assert!(!sprung(&job), "{name} in a script: {text}");
    }
}

#[test]
fn no_hook_is_run() {
    let job = Job::new();
    fs::create_dir(job.path("tmp")).unwrap();
    repository(&job, "");
    let trap = trap(&job);
    for hook in ["post-checkout", "pre-commit", "post-index-change", "reference-transaction"] {
        fs::copy(&trap, job.path(&format!("app/.git/hooks/{hook}"))).unwrap();
    }
    // In a copy that can be changed, as the source cannot.
    let commands = "cp -r . ../COPY/work && cd ../COPY/work && git checkout -q -f other && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x";
    free(&job, &commands.replace("COPY", "tmp"));
    assert!(sprung(&job), "control");
    fs::remove_dir_all(job.path("tmp/work")).unwrap();
    assert_eq!(run(&job, &commands.replace("COPY", "tmp")), "[exit code 0; no output]");
    assert!(!sprung(&job));
}

#[test]
fn a_foreign_read_only_repository_can_be_looked_at() {
    let job = Job::new();
    repository(&job, "");
    if !rustix::process::geteuid().is_root() {
        eprintln!("not tested: only root can give a repository to another user");
        return;
    }
    let status = Command::new("chown").args(["-R", "12345:12345"]).arg(job.path("app")).status().unwrap();
    assert!(status.success());
    let control = Command::new("git").args(["-C", job.path("app").to_str().unwrap(), "log"]).output().unwrap();
    assert!(String::from_utf8_lossy(&control.stderr).contains("dubious ownership"), "control");
    for (command, told) in [
        ("git log --format=%s", "third\nfirst\n"),
        ("git status --short", " M a.txt\n"),
        ("git diff --stat", " a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"),
        (
            "git show --format=%s --stat other",
            "second\n\n a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n",
        ),
        ("git blame -s main.rs | cut -d' ' -f2-", "1) fn main() {}\n"),
        ("git grep -n three HEAD", "HEAD:a.txt:1:three\n"),
        ("git branch --list --format='%(refname:short)'", "main\nother\nsigned\n"),
        ("git rev-parse --is-inside-work-tree", "true\n"),
        ("git archive HEAD | tar -t | head -2", ".gitattributes\na.txt\n"),
    ] {
        assert_eq!(run(&job, command), format!("{told}[exit code 0]"), "{command}");
    }
}
