//! What a revision may be.

use std::fs;

use anchorhold_plan::KernelTool::{GitLog, GitShow};
use serde_json::json;

use crate::job::Job;
use crate::repository::{commit, git, job, short};

fn log(job: &Job, revision: &str) -> String {
    job.call(GitLog, json!({"revision": revision, "limit": 1}))
}

fn found(job: &Job, revision: &str) -> String {
    let answer = log(job, revision);
    answer.split(' ').next().unwrap().to_owned()
}

fn history() -> Job {
    let job = job();
    commit(&job, 1, "one");
    git(&job.path("app"), &["switch", "-q", "-c", "feature/side"]);
    commit(&job, 2, "two");
    git(&job.path("app"), &["switch", "-q", "main"]);
    commit(&job, 3, "three");
    git(&job.path("app"), &["merge", "-q", "--no-edit", "feature/side"]);
    git(&job.path("app"), &["tag", "-a", "-m", "First", "v1"]);
    git(&job.path("app"), &["tag", "-a", "-m", "Of a tag", "v1-again", "v1"]);
    git(&job.path("app"), &["tag", "plain", "HEAD~1"]);
    git(&job.path("app"), &["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
    git(&job.path("app"), &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    job
}

#[test]
fn names_hashes_and_steps_are_understood_as_git_understands_them() {
    let job = history();
    let app = job.path("app");
    let hash = git(&app, &["rev-parse", "HEAD"]);
    let described = format!("v1-0-g{}", &hash[..9]);
    for revision in [
        "HEAD",
        "@",
        "main",
        "refs/heads/main",
        "heads/main",
        "feature/side",
        "v1",
        "v1-again",
        "plain",
        "v1^{}",
        "v1-again^{commit}",
        "HEAD^",
        "HEAD^2",
        "HEAD~2",
        "HEAD^2~1",
        "v1^2",
        "HEAD^0",
        "origin/main",
        "origin",
        "refs/remotes/origin/main",
        "main^^",
        &hash,
        &hash[..7],
        &hash[..4],
        &described,
    ] {
        let expected = git(&app, &["rev-parse", &format!("{revision}^{{commit}}")]);
        assert_eq!(found(&job, revision), short(&expected), "{revision}");
    }
}

#[test]
fn packed_references_are_the_same() {
    let job = history();
    let app = job.path("app");
    git(&app, &["pack-refs", "--all"]);
    assert!(!app.join(".git/refs/heads/main").exists());
    for revision in ["HEAD", "feature/side", "v1-again", "plain", "origin"] {
        let expected = git(&app, &["rev-parse", &format!("{revision}^{{commit}}")]);
        assert_eq!(found(&job, revision), short(&expected), "{revision}");
    }
}

#[test]
fn what_is_no_single_revision_is_refused() {
    let job = history();
    let refused = |revision: &str| {
        let answer = log(&job, revision);
        let problem = answer
            .strip_suffix(
                "; give a branch, a tag, HEAD or a commit hash, and behind it ~n, ^n or ^{}, as in HEAD~3 or v1.2^2",
            )
            .unwrap_or_else(|| panic!("{answer}"));
        problem.strip_prefix("invalid_arguments: git_log: revision ").unwrap().to_owned()
    };
    for (revision, expected) in [
        ("", "\"\" is empty"),
        ("--output=/out/x", "\"--output=/out/x\" begins with -"),
        ("-1", "\"-1\" begins with -"),
        ("main\n", "\"main\\n\" contains a control character"),
        ("ma\0in", "\"ma\\u{0}in\" contains a control character"),
        (" main", "\" main\" contains a space"),
        ("HEAD@{1}", "\"HEAD@{1}\" asks for a reflog or an upstream, which are not read"),
        ("@{-1}", "\"@{-1}\" asks for a reflog or an upstream, which are not read"),
        ("main@{upstream}", "\"main@{upstream}\" asks for a reflog or an upstream, which are not read"),
        (":/three", "\":/three\" searches or asks for the index, which is not done"),
        ("HEAD^{/three}", "\"HEAD^{/three}\" searches or asks for the index, which is not done"),
        ("main..plain", "\"main..plain\" is a range, where one commit is wanted"),
        ("../../etc/passwd", "\"../../etc/passwd\" is a range, where one commit is wanted"),
        ("ma*", "\"ma*\" contains *, ?, [ or \\, which no name of git does"),
    ] {
        assert_eq!(refused(revision), expected);
    }
    assert!(refused(&"x".repeat(201)).ends_with("is longer than 200 bytes"));
}

#[test]
fn what_does_not_exist_is_answered_with_what_does() {
    let job = history();
    assert_eq!(
        log(&job, "feature/sied"),
        "failed: revision feature/sied does not exist in /workspace/app; near names: feature/side"
    );
    assert_eq!(
        log(&job, "zzz"),
        "failed: revision zzz does not exist in /workspace/app; branches and tags: feature/side, main, origin/HEAD, origin/main, plain and more"
    );
    let fourth = git(&job.path("app"), &["rev-parse", "HEAD^1^1"]);
    assert_eq!(
        log(&job, "HEAD~9"),
        format!("failed: revision HEAD~9 goes too far: commit {} has 0 parents", short(&fourth))
    );
    assert_eq!(
        log(&job, "HEAD^{index}"),
        "invalid_arguments: revision HEAD^{index} is not understood from ^{index} on; give a branch, a tag, HEAD or a commit hash, \
         and behind it ~n, ^n or ^{}, as in HEAD~3 or v1.2^2"
    );
    let blob = git(&job.path("app"), &["rev-parse", "HEAD:main.rs"]);
    assert_eq!(log(&job, &blob), format!("failed: revision {blob} is a blob, where a commit is needed"));
}

#[test]
fn paths_behind_a_revision_stay_in_the_repository() {
    let job = history();
    for (path, problem) in [
        ("/etc/passwd", "begins with /, where a path within the repository is wanted, as in HEAD:src/main.rs"),
        ("a/../../b", "contains . or .., where a path within the repository is wanted, as in HEAD:src/main.rs"),
        ("a\nb", "contains a control character"),
    ] {
        assert_eq!(
            job.call(GitShow, json!({"revision": format!("HEAD:{path}")})),
            format!(
                "invalid_arguments: git_show: the path \"{}\" of the revision {problem}",
                path.replace('\n', "\\n")
            )
        );
    }
}

#[test]
fn a_name_reads_no_other_file_of_the_repository() {
    let job = history();
    for name in ["config", "description", "hooks/pre-commit.sample", "refs/../config", "index", "logs/HEAD"] {
        fs::write(job.path("app/.git/description"), "0123456789012345678901234567890123456789\n").unwrap();
        let answer = log(&job, name);
        assert!(
            answer.starts_with(&format!("failed: revision {name} does not exist in /workspace/app"))
                || answer.contains("is a range, where one commit is wanted"),
            "{answer}"
        );
    }
}

#[test]
fn references_that_lead_in_a_circle_or_are_damaged_are_said() {
    let job = history();
    let app = job.path("app");
    fs::write(app.join(".git/refs/heads/ring"), "ref: refs/heads/gnir\n").unwrap();
    fs::write(app.join(".git/refs/heads/gnir"), "ref: refs/heads/ring\n").unwrap();
    fs::write(app.join(".git/refs/heads/broken"), "xyz\n").unwrap();
    fs::write(app.join(".git/refs/heads/out"), "ref: ../../../../etc/passwd\n").unwrap();
    fs::write(app.join(".git/refs/heads/huge"), vec![b'a'; 9000]).unwrap();
    assert_eq!(log(&job, "ring"), "failed: reference refs/heads/ring leads to itself");
    let damaged = |name: &str| {
        format!("failed: /workspace/app/.git/refs/heads/{name} is damaged: it names neither a commit nor a branch")
    };
    assert_eq!(log(&job, "broken"), damaged("broken"));
    assert_eq!(log(&job, "out"), damaged("out"));
    assert_eq!(
        log(&job, "huge"),
        "failed: /workspace/app/.git/refs/heads/huge has more than 8,192 bytes, which no repository needs there"
    );
    let main = git(&app, &["rev-parse", "HEAD"]);
    fs::write(app.join(".git/packed-refs"), "# pack-refs with: peeled fully-peeled sorted\nxyz\n\0\0\n").unwrap();
    assert_eq!(log(&job, "nothing-like-it"), "failed: /workspace/app/.git/packed-refs is damaged; git fsck says more");
    // A reference with a file of its own needs no other.
    assert_eq!(found(&job, "HEAD"), short(&main));
}
