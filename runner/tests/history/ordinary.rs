//! What the tools say of an ordinary repository, beside what git says.

use std::fs;

use anchorhold_plan::KernelTool::{GitBlame, GitLog, GitShow};
use serde_json::{Value, json};

use crate::job::Job;
use crate::repository::{commit, commit_by, git, git_at, job, numbered, short};

const FORMAT: &str = "--format=%H %ad %an: %s";

/// The hashes in a list of commits.
fn hashes(job: &Job, arguments: Value) -> Vec<String> {
    let answer = job.value(GitLog, arguments);
    answer["commits"].as_array().unwrap().iter().map(|commit| commit["hash"].as_str().unwrap().to_owned()).collect()
}

fn by_git(job: &Job, arguments: &[&str]) -> Vec<String> {
    let arguments = [&["log", "--format=%H", "--no-patch"], arguments].concat();
    git(&job.path("app"), &arguments).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Two people, a branch that was merged, a file that was deleted.
fn history() -> Job {
    let job = job();
    job.file("app/src/a.txt", numbered(1..=30));
    commit(&job, 1, "Begin\n\nWith a body.");
    job.file("app/b.txt", "b\n");
    commit_by(&job, 2, "Grace Hopper <grace@example.org>", "Add b");
    git(&job.path("app"), &["switch", "-q", "-c", "side"]);
    job.file("app/src/a.txt", numbered(1..=30).replace("line 5\n", "line five\n"));
    commit(&job, 3, "Spell five");
    git(&job.path("app"), &["switch", "-q", "main"]);
    job.file("app/src/a.txt", numbered(1..=30).replace("line 25\n", "line twenty-five\nand more\n"));
    commit_by(&job, 4, "Grace Hopper <grace@example.org>", "Spell twenty-five");
    git_at(
        &job.path("app"),
        1_700_000_000 + 5 * 3600,
        "Ada Lovelace <ada@example.org>",
        &["merge", "-q", "--no-edit", "side"],
    );
    fs::remove_file(job.path("app/b.txt")).unwrap();
    commit(&job, 6, "Remove b");
    job
}

#[test]
fn log_lists_what_git_lists() {
    let job = history();
    let git_says = git(&job.path("app"), &["log", "--date=short", FORMAT]);
    let expected: Vec<String> = git_says.lines().map(|line| format!("{} {}", short(line), &line[41..])).collect();
    assert_eq!(job.call_by_model(GitLog, json!({})), expected.join("\n"));
    assert_eq!(hashes(&job, json!({"revision": "side"})), by_git(&job, &["side"]));
}

#[test]
fn log_by_path_lists_what_git_lists() {
    let job = history();
    for path in ["src", "src/a.txt", "main.rs", "b.txt"] {
        assert_eq!(
            hashes(&job, json!({"path": format!("/workspace/app/{path}")})),
            by_git(&job, &["--", path]),
            "{path}"
        );
        assert_eq!(hashes(&job, json!({"path": path})), by_git(&job, &["--", path]), "{path}");
    }
    assert_eq!(
        job.call(GitLog, json!({"path": "nothing.txt"})),
        "[no commit of nothing.txt is wanted; 5 commits were looked at]"
    );
}

#[test]
fn log_by_lines_lists_what_git_lists() {
    let job = history();
    for (first, last) in [(5, 5), (1, 4), (6, 20), (25, 26), (1, 31), (27, 28)] {
        // Of two branches git shows one after the other here; the order is not what is compared.
        let mut said = hashes(&job, json!({"path": "src/a.txt", "range": format!("{first},{last}")}));
        let mut expected = by_git(&job, &[&format!("-L{first},{last}:src/a.txt")]);
        said.sort();
        expected.sort();
        assert_eq!(said, expected, "{first},{last}");
    }
}

#[test]
fn log_narrows_by_author_message_and_time() {
    let job = history();
    let all = by_git(&job, &[]);
    assert_eq!(hashes(&job, json!({"author": "GRACE@"})), by_git(&job, &["-i", "--author=grace@"]));
    assert_eq!(hashes(&job, json!({"grep": "with a BODY"})), by_git(&job, &["-i", "--grep=with a body"]));
    assert_eq!(hashes(&job, json!({"since": "2023-11-15T03:00:00Z"})), all[..2].to_vec());
    assert_eq!(hashes(&job, json!({"until": "2023-11-14"})), all[5..].to_vec());
    assert_eq!(
        hashes(&job, json!({"since": "2023-11-15T00:30:00+00:00", "until": "2023-11-15T02:30:00Z"})),
        by_git(&job, &["--since=2023-11-15T00:30:00Z", "--until=2023-11-15T02:30:00Z"])
    );
}

#[test]
fn log_says_what_was_cut_and_how_to_go_on() {
    let job = history();
    let all = by_git(&job, &[]);
    let first = job.call(GitLog, json!({"limit": 2}));
    assert!(first.ends_with("\n[more commits follow: continue with offset=3]"), "{first}");
    assert_eq!(first.lines().count(), 3);
    assert_eq!(hashes(&job, json!({"limit": 2, "offset": 3})), all[2..4].to_vec());
    assert_eq!(job.call(GitLog, json!({"offset": 99})), "[the list has fewer than 99 commits: 6 in all]");
    let value = job.value(GitLog, json!({"limit": 1, "offset": 6}));
    assert_eq!(
        value,
        json!({
            "path": "/workspace/app",
            "commits": [{
                "hash": all[5], "author": "Ada Lovelace", "email": "ada@example.org", "time": "2023-11-15T01:13:20+02:00",
                "committed": "2023-11-15T01:13:20+02:00", "subject": "Begin", "parents": [],
            }],
            "complete": true, "shallow": false, "cut": false, "next": null,
        })
    );
}

#[test]
fn arguments_that_cannot_be_are_refused_by_name() {
    let job = history();
    let told = |arguments: Value| job.call(GitLog, arguments);
    assert_eq!(
        told(json!({"limit": 0})),
        "invalid_arguments: git_log: limit must be between 1 and 500; got the number 0"
    );
    assert_eq!(
        told(json!({"range": "9,3", "path": "src/a.txt"})),
        "invalid_arguments: git_log: range must be \"first,last\", counted from 1, as in \"10,20\"; got the text \"9,3\""
    );
    assert_eq!(told(json!({"range": "1,2"})), "invalid_arguments: git_log: range needs the path of a file");
    assert_eq!(
        told(json!({"range": "1,99", "path": "src/a.txt"})),
        "invalid_arguments: git_log: range ends at line 99, but src/a.txt has 31 lines at HEAD"
    );
    assert_eq!(told(json!({"range": "1,2", "path": "b.txt"})), "failed: b.txt is no file at HEAD; range needs one");
    assert_eq!(
        job.call(GitBlame, json!({"path": "src/a.txt", "offset": 32})),
        "invalid_arguments: git_blame: offset 32 is beyond the end: src/a.txt has 31 lines at HEAD"
    );
    assert_eq!(
        job.call(GitShow, json!({"revision": "HEAD", "offset": 2})),
        "invalid_arguments: git_show: offset is for a file as it was, revision=\"<commit>:<path>\"; a diff is narrowed with path"
    );
}

#[test]
fn show_gives_the_diff_that_git_gives() {
    let job = history();
    let app = job.path("app");
    for revision in ["main~1^2", "main~1^1", "main", "main~1~2"] {
        let git_says = git(&app, &["show", "--format=", "--no-color", "-m", "--first-parent", revision]);
        // The lines that name modes and blobs are not shown.
        let expected: Vec<&str> = git_says
            .lines()
            .filter(|line| {
                !["index ", "new file mode", "deleted file mode"].iter().any(|beginning| line.starts_with(beginning))
            })
            .map(|line| match (line.starts_with("@@"), line.rfind("@@")) {
                // Nor is the line above a hunk that git takes for a heading.
                (true, Some(at)) => &line[..at + 2],
                _ => line,
            })
            .collect();
        let shown = job.call(GitShow, json!({"revision": revision}));
        let at = shown.find("diff --git").unwrap();
        assert_eq!(shown[at..].lines().collect::<Vec<_>>(), expected, "{revision}");
    }
}

#[test]
fn show_gives_the_whole_commit() {
    let job = history();
    let hash = git(&job.path("app"), &["rev-parse", "side"]);
    assert_eq!(
        job.call(GitShow, json!({"revision": "side"})),
        format!(
            "commit {hash}\nauthor Ada Lovelace <ada@example.org> 2023-11-15T03:13:20+02:00\n\n    Spell five\n\n1 file changed\n\
             M +1 -1 src/a.txt\n\ndiff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -2,7 +2,7 @@\n line 2\n \
             line 3\n line 4\n-line 5\n+line five\n line 6\n line 7\n line 8"
        )
    );
    let cut = job.call(GitShow, json!({"revision": "side", "limit": 4}));
    assert!(
        cut.ends_with(
            "@@ -2,7 +2,7 @@\n[the diff is cut: 8 lines were left out; name one file with path, or give a larger limit]"
        ),
        "{cut}"
    );
    let within = job.call(GitShow, json!({"revision": "side", "path": "main.rs"}));
    assert!(within.ends_with("\n\n0 files of main.rs changed"), "{within}");
}

#[test]
fn show_gives_a_file_and_a_folder_as_they_were() {
    let job = history();
    let show = |revision: &str| job.call(GitShow, json!({"revision": revision}));
    assert_eq!(show("HEAD~1:b.txt"), "b\n");
    assert_eq!(show("HEAD:src/a.txt"), git(&job.path("app"), &["show", "HEAD:src/a.txt"]) + "\n");
    assert_eq!(show("HEAD~1:"), "b.txt\nmain.rs\nsrc/");
    assert_eq!(show("HEAD:src"), "a.txt");
    assert_eq!(
        show("HEAD:b.txt"),
        "failed: HEAD:b.txt does not exist in /workspace/app; git_show revision=\"HEAD:\" lists the top folder, git_log with path \
         finds a deleted file"
    );
    assert_eq!(
        job.call(GitShow, json!({"revision": "HEAD:src/a.txt", "offset": 29, "limit": 2})),
        "line 28\nline 29\n[1 more line of 31 in all; continue with offset=31]"
    );
}

#[test]
fn blame_says_what_git_says() {
    let job = history();
    let app = job.path("app");
    job.file("app/src/a.txt", numbered(1..=40).replace("line 8\n", "").replace("line 30\n", "line thirty\n\n"));
    commit_by(&job, 7, "Grace Hopper <grace@example.org>", "Rework");
    for revision in ["HEAD", "HEAD~1", "side", "HEAD~2"] {
        let git_says = git(&app, &["blame", "--porcelain", revision, "--", "src/a.txt"]);
        let expected: Vec<&str> = git_says
            .lines()
            .filter(|line| line.len() > 41 && line[..40].bytes().all(|byte| byte.is_ascii_hexdigit()))
            .map(|line| &line[..40])
            .collect();
        let answer = job.value(GitBlame, json!({"path": "src/a.txt", "revision": revision}));
        let said: Vec<&str> =
            answer["lines"].as_array().unwrap().iter().map(|line| line["hash"].as_str().unwrap()).collect();
        assert_eq!(said, expected, "{revision}");
    }
    let five = git(&app, &["rev-parse", "side"]);
    let begin = git(&app, &["rev-parse", "side~2"]);
    assert_eq!(
        job.call(GitBlame, json!({"path": "src/a.txt", "revision": "side", "offset": 5, "limit": 2})),
        format!(
            "5 {} 2023-11-15 Ada Lovelace: line five\n6 {} 2023-11-15 Ada Lovelace: line 6\n[24 more lines of 30 in all; continue \
             with offset=7]",
            short(&five),
            short(&begin)
        )
    );
}
