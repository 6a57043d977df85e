//! Repositories that want more than to be read. Each refusal stands beside the same thing inside the job's folders, where it
//! works.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anchorhold_plan::KernelTool::{GitBlame, GitLog, GitShow};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::job::Job;
use crate::repository::{commit, git, job, short};

/// A job whose source holds one commit, and a folder beside it that is not the job's and holds another repository.
pub(crate) fn jobs() -> Job {
    let job = job();
    commit(&job, 1, "inside");
    fs::create_dir(job.path("outside")).unwrap();
    git(&job.path("outside"), &["init", "-q", "-b", "main"]);
    git(&job.path("outside"), &["commit", "-q", "--allow-empty", "-m", "a secret"]);
    job
}

pub(crate) fn log(job: &Job, path: &str) -> String {
    job.call(GitLog, json!({"path": path}))
}

/// The refusal of something that leads out.
fn out(job: &Job, named: &str, place: &str) -> String {
    let place = job.path(place);
    let place = fs::canonicalize(&place).unwrap_or(place);
    format!(
        "failed: {named} leads to {}, which is outside the job's folders; a repository is opened only with all of its parts in them",
        place.display()
    )
}

pub(crate) fn subject_is(job: &Job, path: &str, subject: &str) {
    let answer = log(job, path);
    assert!(answer.lines().next().unwrap().ends_with(&format!(": {subject}")), "{answer}");
}

/// Replaces a file or folder by a link.
fn replace_by_link(path: &Path, target: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
    symlink(target, path).unwrap();
}

#[test]
fn no_key_of_a_configuration_runs_a_program() {
    let job = jobs();
    let app = job.path("app");
    let marker = job.path("marker");
    let program = job.path("program");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\ncat \"$1\" 2>/dev/null\n", marker.display())).unwrap();
    Command::new("chmod").args(["+x", program.to_str().unwrap()]).status().unwrap();
    job.file("app/.gitattributes", "* diff=evil filter=evil\n");
    job.file("app/main.rs", "changed\n");
    commit(&job, 2, "attributes");
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.askPass",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "pager.log",
        "uploadpack.packObjectsHook",
        "credential.helper",
        "core.alternateRefsCommand",
    ] {
        git(&app, &["config", key, program.to_str().unwrap()]);
    }
    git(&app, &["config", "alias.log", &format!("!{}", program.display())]);
    let hash = git(&app, &["log", "-1", "--format=%H"]);

    for (tool, arguments) in [
        (GitLog, json!({"path": "main.rs", "range": "1,1"})),
        (GitShow, json!({"revision": "HEAD"})),
        (GitBlame, json!({"path": "main.rs"})),
    ] {
        let answer = job.call(tool, arguments);
        assert!(answer.contains(short(&hash)), "{answer}");
    }
    assert!(!marker.exists());
    // The configuration is in force: git itself runs the program, whatever it makes of what that prints.
    Command::new("git").current_dir(&app).args(["show", "HEAD"]).output().unwrap();
    assert!(marker.exists());
}

#[test]
fn no_file_that_a_configuration_includes_is_read() {
    let job = jobs();
    let app = job.path("app");
    fs::write(job.path("included"), "[extensions]\n\tobjectFormat = sha256\n").unwrap();
    git(&app, &["config", "include.path", job.path("included").to_str().unwrap()]);
    subject_is(&job, "app", "inside");
    // The same line in the file itself is read.
    let config = fs::read_to_string(app.join(".git/config")).unwrap();
    fs::write(app.join(".git/config"), config + "[extensions]\n\tobjectFormat = sha256\n").unwrap();
    assert_eq!(
        log(&job, "app"),
        "failed: /workspace/app names its objects by sha256; only repositories with SHA-1 names are read"
    );
}

#[test]
fn objects_are_borrowed_inside_the_jobs_folders_only() {
    let job = jobs();
    let app = job.path("app");
    let secret = git(&job.path("outside"), &["rev-parse", "HEAD"]);
    git(&app, &["init", "-q", "other"]);
    git(&app.join("other"), &["commit", "-q", "--allow-empty", "-m", "lent"]);
    let lent = git(&app.join("other"), &["rev-parse", "HEAD"]);
    let alternates = app.join(".git/objects/info/alternates");
    let borrow = |from: &str| fs::write(&alternates, format!("{from}\n")).unwrap();
    let show = |revision: &str| job.call(GitShow, json!({"path": "app", "revision": revision}));

    for inside in ["../../other/.git/objects".to_owned(), app.join("other/.git/objects").display().to_string()] {
        borrow(&inside);
        assert!(show(&lent).contains("    lent\n"), "{}", show(&lent));
    }
    let named = "/workspace/app/.git/objects/info/alternates";
    let expected = out(&job, named, "outside/.git/objects");
    for outside in ["../../../outside/.git/objects".to_owned(), job.path("outside/.git/objects").display().to_string()]
    {
        borrow(&outside);
        assert_eq!(show(&secret), expected);
        assert_eq!(log(&job, "app"), expected);
    }
    borrow(&format!("\"{}\"", job.path("outside/.git/objects").display()));
    assert_eq!(show(&secret), expected);
    borrow("/no/such/place");
    assert_eq!(
        log(&job, "app"),
        format!(
            "failed: {named} leads to /no/such/place, which is outside the job's folders; a repository is opened only with all of its \
             parts in them"
        )
    );
    // By a second step, and by a link.
    borrow("../../other/.git/objects");
    fs::write(app.join("other/.git/objects/info/alternates"), job.path("outside/.git/objects").to_str().unwrap())
        .unwrap();
    assert_eq!(show(&secret), out(&job, "/workspace/app/other/.git/objects/info/alternates", "outside/.git/objects"));
    symlink(job.path("outside/.git/objects"), app.join("door")).unwrap();
    borrow("../../door");
    assert_eq!(show(&secret), expected);
    fs::remove_file(&alternates).unwrap();
    fs::write(app.join(".git/objects/info/http-alternates"), "http://127.0.0.1/x.git\n").unwrap();
    assert_eq!(
        log(&job, "app"),
        "failed: /workspace/app/.git/objects/info/http-alternates borrows objects by HTTP, which is never done here"
    );
}

#[test]
fn a_git_file_points_inside_the_jobs_folders_only() {
    let job = jobs();
    fs::create_dir(job.path("app/sub")).unwrap();
    git(&job.path("app"), &["init", "-q", "--bare", "store"]);
    job.file("app/sub/.git", "gitdir: ../.git\n");
    subject_is(&job, "app/sub", "inside");
    let expected = out(&job, "/workspace/app/sub/.git", "outside/.git");
    job.file("app/sub/.git", "gitdir: ../../outside/.git\n");
    assert_eq!(log(&job, "app/sub"), expected);
    job.file("app/sub/.git", format!("gitdir: {}\n", job.path("outside/.git").display()));
    assert_eq!(log(&job, "app/sub"), expected);
    job.file("app/sub/.git", "something else\n");
    assert_eq!(
        log(&job, "app/sub"),
        "failed: /workspace/app/sub/.git is a file, but not one that says where the repository is"
    );
    job.file("app/sub/.git", vec![b'x'; 10_000]);
    assert_eq!(
        log(&job, "app/sub"),
        "failed: /workspace/app/sub/.git has more than 4,200 bytes, which no repository needs there"
    );
}

#[test]
fn a_linked_folder_of_git_is_inside_the_jobs_folders_only() {
    let job = jobs();
    fs::create_dir(job.path("app/sub")).unwrap();
    symlink("../.git", job.path("app/sub/.git")).unwrap();
    subject_is(&job, "app/sub", "inside");
    replace_by_link(&job.path("app/sub/.git"), &job.path("outside/.git"));
    assert_eq!(log(&job, "app/sub"), out(&job, "/workspace/app/sub/.git", "outside/.git"));
}

#[test]
fn a_common_folder_is_inside_the_jobs_folders_only() {
    let job = jobs();
    let app = job.path("app");
    git(&app, &["worktree", "add", "-q", "--detach", "tree"]);
    subject_is(&job, "app/tree", "inside");
    fs::write(app.join(".git/worktrees/tree/commondir"), "../../../../outside/.git\n").unwrap();
    assert_eq!(log(&job, "app/tree"), out(&job, "/workspace/app/.git/worktrees/tree/commondir", "outside/.git"));
}

#[test]
fn linked_object_folders_and_packs_are_inside_the_jobs_folders_only() {
    for part in ["objects", "objects/pack", "a loose folder", "a loose object", "a pack"] {
        let job = jobs();
        let app = job.path("app");
        if part == "a pack" {
            git(&app, &["gc", "-q"]);
        }
        let hash = git(&app, &["rev-parse", "HEAD"]);
        let path = app.join(".git").join(match part {
            "a loose folder" => format!("objects/{}", &hash[..2]),
            "a loose object" => format!("objects/{}/{}", &hash[..2], &hash[2..]),
            "a pack" => {
                let pack = crate::repository::one_file(&app.join(".git/objects/pack"), ".pack");
                pack.strip_prefix(app.join(".git")).unwrap().to_str().unwrap().to_owned()
            }
            other => other.to_owned(),
        });
        let shown = format!("/workspace/app/{}", path.strip_prefix(&app).unwrap().display());
        for (place, inside) in [("app/elsewhere", true), ("outside/elsewhere", false)] {
            let place = job.path(place);
            if path.is_symlink() {
                fs::rename(job.path("app/elsewhere"), &place).unwrap();
            } else {
                fs::rename(&path, &place).unwrap();
                symlink(&place, &path).unwrap();
            }
            replace_by_link_only(&path, &place);
            if inside {
                subject_is(&job, "app", "inside");
            } else {
                assert_eq!(log(&job, "app"), out(&job, &shown, "outside/elsewhere"), "{part}");
            }
        }
    }
}

fn replace_by_link_only(path: &Path, target: &Path) {
    fs::remove_file(path).unwrap();
    symlink(target, path).unwrap();
}

#[test]
fn what_blocks_or_acts_when_it_is_opened_is_named_and_not_opened() {
    let job = jobs();
    let app = job.path("app");
    let fifo = |name: &str| {
        let path = app.join(".git").join(name);
        let _ = fs::remove_file(&path);
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let answer = log(&job, "app");
        fs::remove_file(&path).unwrap();
        answer
    };
    let expected = |name: &str, wanted: &str| {
        format!("failed: /workspace/app/.git/{name} is a named pipe (FIFO), where git has {wanted}")
    };
    for name in ["objects/pack/pack-0.idx", "objects/ab"] {
        assert_eq!(fifo(name), expected(name, "regular files"));
        subject_is(&job, "app", "inside");
    }
    for name in ["objects/info/alternates", "commondir", "shallow"] {
        let answer = fifo(name);
        assert!(answer.starts_with(&format!("failed: /workspace/app/.git/{name} is a named pipe (FIFO)")), "{answer}");
        subject_is(&job, "app", "inside");
    }
    for name in ["HEAD", "config"] {
        let saved = fs::read(app.join(".git").join(name)).unwrap();
        assert_eq!(fifo(name), expected(name, "a regular file"));
        fs::write(app.join(".git").join(name), saved).unwrap();
        subject_is(&job, "app", "inside");
    }
}
