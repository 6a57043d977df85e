//! What has no end has one here, and what a call is allowed is all it takes.

use std::fs;
use std::os::unix::fs::chown;
use std::process::Command;

use anchorhold_plan::KernelTool::{GitBlame, GitLog, GitShow};
use anchorhold_plan::ToolCaller;
use anchorhold_runner::sandbox::{RunnerAccess, confine_runner};
use serde_json::json;

use crate::hostile::{jobs, log, subject_is};
use crate::job::{allowance, told};
use crate::repository::{commit, git};

#[test]
fn files_without_end_are_not_read_to_their_end() {
    let job = jobs();
    for (name, most) in
        [("config", "1,048,576"), ("HEAD", "8,192"), ("shallow", "4,100,000"), ("objects/info/alternates", "1,048,576")]
    {
        let path = job.path("app/.git").join(name);
        let saved = fs::read(&path).ok();
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(
            log(&job, "app"),
            format!("failed: /workspace/app/.git/{name} has more than {most} bytes, which no repository needs there")
        );
        match saved {
            Some(content) => fs::write(&path, content).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        subject_is(&job, "app", "inside");
    }
}

#[test]
fn objects_that_grow_when_they_are_unpacked_are_refused_by_their_size() {
    let job = jobs();
    let app = job.path("app");
    fs::File::create(app.join("zeros.txt")).unwrap().set_len(200 << 20).unwrap();
    commit(&job, 2, "bomb");
    let size = fs::metadata(app.join("zeros.txt")).unwrap().len();
    assert_eq!(size, 209_715_200);
    assert_eq!(
        job.call(GitShow, json!({"revision": "HEAD:zeros.txt"})),
        "failed: HEAD:zeros.txt has more than 64 MiB; it is not shown"
    );
    let shown = job.call(GitShow, json!({"revision": "HEAD"}));
    assert!(shown.ends_with("\n1 file changed\nA too large to compare zeros.txt"), "{shown}");
    // As a commit it has to be decoded, and is not.
    fs::write(job.path("message"), "word ".repeat(14_000_000)).unwrap();
    git(&app, &["commit", "-q", "--allow-empty", "-F", "../message"]);
    let hash = git(&app, &["rev-parse", "HEAD"]);
    let bytes: u64 = git(&app, &["cat-file", "-s", "HEAD"]).parse().unwrap();
    for packed in [false, true] {
        if packed {
            git(&app, &["gc", "-q"]);
        }
        let answer = log(&job, "app");
        assert!(
            answer.starts_with(&format!("failed: object {hash} has 70,0"))
                && answer.ends_with(" bytes; at most 67,108,864 are read"),
            "{bytes}: {answer}"
        );
    }
}

#[test]
fn objects_that_lead_to_themselves_have_an_end() {
    let job = jobs();
    let app = job.path("app");
    commit(&job, 2, "second");
    let object = |hash: &str| app.join(format!(".git/objects/{}/{}", &hash[..2], &hash[2..]));
    // The parent of the second commit is the second commit again, under the name of the first.
    let (first, second) = (git(&app, &["rev-parse", "HEAD~1"]), git(&app, &["rev-parse", "HEAD"]));
    fs::remove_file(object(&first)).unwrap();
    fs::copy(object(&second), object(&first)).unwrap();
    let answer = log(&job, "app");
    assert_eq!(answer.lines().count(), 2, "{answer}");
    assert!(job.call(GitLog, json!({"revision": "HEAD~2000"})).contains(": second"));

    // A folder that holds itself.
    job.file("app/top/deep/file.txt", "x\n");
    job.file("app/top/deep/deep/file.txt", "x\n");
    job.file("app/top/deep/more", "x\n");
    git(&app, &["switch", "-q", "--orphan", "tree"]);
    job.file("app/top/deep/file.txt", "x\n");
    job.file("app/top/deep/deep/file.txt", "x\n");
    let commit = commit(&job, 3, "a folder in itself");
    let (outer, inner) = (git(&app, &["rev-parse", "HEAD:top/deep"]), git(&app, &["rev-parse", "HEAD:top/deep/deep"]));
    fs::remove_file(object(&inner)).unwrap();
    fs::copy(object(&outer), object(&inner)).unwrap();
    let shown = job.call(GitShow, json!({"revision": commit}));
    assert!(shown.contains(" files or more changed\n"), "{shown}");
}

#[test]
fn a_repository_of_another_user_is_read() {
    let job = jobs();
    let app = job.path("app");
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut folders = vec![app.clone()];
    while let Some(folder) = folders.pop() {
        chown(&folder, Some(12_345), Some(12_345)).unwrap();
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                chown(entry.path(), Some(12_345), Some(12_345)).unwrap();
            }
        }
    }
    subject_is(&job, "app", "inside");
    // git itself refuses it unless it is told otherwise.
    let refused = Command::new("git").current_dir(&app).env("HOME", "/nonexistent").args(["log"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("dubious ownership"));
}

#[test]
fn a_confined_runner_gives_the_same_answers() {
    let job = jobs();
    git(&job.path("app"), &["gc", "-q"]);
    let calls = || {
        [
            (GitLog, json!({"path": "main.rs"})),
            (GitShow, json!({"revision": "main"})),
            (GitBlame, json!({"path": "main.rs"})),
        ]
    };
    let free: Vec<String> = calls().into_iter().map(|(tool, arguments)| job.call(tool, arguments)).collect();
    assert!(free.iter().all(|answer| !answer.starts_with("failed")), "{free:?}");
    let kernel = job.kernel();
    let secret = job.path("outside/.git/HEAD");
    assert!(fs::read(&secret).is_ok());
    let access = RunnerAccess {
        read: vec![job.path("app")],
        write: vec![job.path("out")],
        execute: None,
        programs: Vec::new(),
        unix_sockets: false,
    };
    // The rules bind a thread and those it starts.
    let confined = std::thread::spawn(move || {
        confine_runner(&access).unwrap();
        assert!(fs::read(&secret).is_err());
        calls()
            .into_iter()
            .map(|(tool, arguments)| told(kernel.call(tool, arguments, &allowance(ToolCaller::Script))))
            .collect::<Vec<_>>()
    });
    assert_eq!(confined.join().unwrap(), free);
}

#[test]
fn a_call_that_nobody_waits_for_ends() {
    let job = jobs();
    let allowed = allowance(ToolCaller::Model);
    allowed.cancel.set();
    for (tool, arguments) in
        [(GitLog, json!({})), (GitShow, json!({"revision": "HEAD"})), (GitBlame, json!({"path": "main.rs"}))]
    {
        assert_eq!(
            told(job.kernel().call(tool, arguments, &allowed)),
            "timed_out: the call was ended before it had an answer"
        );
    }
}
