//! Repositories of every shape.

use std::fs;
use std::process::Command;

use anchorhold_plan::KernelTool::{GitBlame, GitLog, GitShow};
use serde_json::json;

use crate::job::Job;
use crate::repository::{commit, git, job, numbered, one_file, short};

fn two_commits() -> Job {
    let job = job();
    commit(&job, 1, "one");
    job.file("app/main.rs", "fn main() { run() }\n");
    commit(&job, 2, "two");
    job
}

const TWO: [&str; 2] = ["two", "one"];

/// The subjects of a log.
fn subjects(job: &Job, path: &str) -> Vec<String> {
    let answer = job.value(GitLog, json!({"path": path}));
    answer["commits"].as_array().unwrap().iter().map(|commit| commit["subject"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn packed_objects_are_read() {
    let job = two_commits();
    git(&job.path("app"), &["gc", "-q"]);
    assert_eq!(subjects(&job, "app"), TWO);
    git(&job.path("app"), &["multi-pack-index", "write"]);
    git(&job.path("app"), &["commit-graph", "write"]);
    assert_eq!(subjects(&job, "app/main.rs"), TWO);
}

#[test]
fn a_bare_repository_is_read() {
    let job = two_commits();
    let app = job.path("app");
    git(&app, &["clone", "-q", "--bare", ".", "bare.git"]);
    assert_eq!(subjects(&job, "app/bare.git"), TWO);
    assert_eq!(subjects(&job, "app/bare.git/main.rs"), TWO);
}

#[test]
fn a_linked_worktree_is_read() {
    let job = two_commits();
    let app = job.path("app");
    git(&app, &["worktree", "add", "-q", "--detach", "tree", "HEAD~1"]);
    assert_eq!(subjects(&job, "app/tree"), ["one"]);
    assert_eq!(subjects(&job, "app/tree/main.rs"), ["one"]);
    let main = git(&app, &["rev-parse", "main"]);
    assert!(
        job.call(GitShow, json!({"path": "app/tree", "revision": "main"})).starts_with(&format!("commit {main}\n"))
    );
}

#[test]
fn a_submodule_is_a_repository_of_its_own_and_an_entry_of_the_other() {
    let job = two_commits();
    let app = job.path("app");
    git(&app, &["clone", "-q", "--bare", ".", "other.git"]);
    git(&app, &["submodule", "--quiet", "add", "./other.git", "sub"]);
    git(&app, &["add", "sub"]);
    git(&app, &["commit", "-q", "-m", "Add a submodule"]);
    assert!(app.join("sub/.git").is_file());
    assert_eq!(subjects(&job, "app/sub/main.rs"), TWO);
    assert_eq!(subjects(&job, "app")[0], "Add a submodule");
    let inner = git(&app.join("sub"), &["rev-parse", "HEAD"]);
    assert_eq!(
        job.call(GitShow, json!({"revision": "HEAD:sub"})),
        format!("[HEAD:sub is a submodule at commit {inner}; its files are a repository of their own]")
    );
    let shown = job.call(GitShow, json!({"revision": "HEAD"}));
    assert!(shown.contains("\nA +1 -0 sub\n") && shown.contains(&format!("\n+Subproject commit {inner}")), "{shown}");
}

#[test]
fn a_shallow_clone_says_where_it_ends() {
    let job = two_commits();
    let app = job.path("app");
    git(&app, &["clone", "-q", "--depth=1", &format!("file://{}", app.display()), "shallow"]);
    let hash = git(&app, &["rev-parse", "HEAD"]);
    let path = json!({"path": "app/shallow"});
    assert_eq!(
        job.call(GitLog, path),
        format!(
            "{} 2023-11-15 Ada Lovelace: two\n[the clone is shallow: older commits were not fetched]",
            short(&hash)
        )
    );
    assert_eq!(
        job.call(GitLog, json!({"path": "app/shallow", "revision": "HEAD~1"})),
        format!(
            "failed: revision HEAD~1 goes too far: commit {} has 0 parents: the clone is shallow and ends there",
            short(&hash)
        )
    );
    let blame = job.call(GitBlame, json!({"path": "app/shallow/main.rs"}));
    assert_eq!(blame, format!("1 {} 2023-11-15 Ada Lovelace: fn main() {{ run() }}\n", short(&hash)));
}

#[test]
fn a_repository_without_a_commit_says_so() {
    let job = job();
    assert_eq!(
        job.call(GitLog, json!({})),
        "failed: /workspace/app has no commit: HEAD is branch main, which does not exist; there is no branch and no tag"
    );
}

#[test]
fn a_folder_without_a_repository_says_so() {
    let job = Job::new();
    assert_eq!(
        job.call(GitLog, json!({"path": "main.rs"})),
        "failed: main.rs is in no git repository: neither /workspace/app nor a folder between holds a .git"
    );
    let job = Job::with_sources(&["one", "two"]);
    assert_eq!(
        job.call(GitLog, json!({})),
        "invalid_arguments: path is missing; the job's sources are /workspace/one, /workspace/two"
    );
}

#[test]
fn a_detached_head_is_read() {
    let job = two_commits();
    git(&job.path("app"), &["checkout", "-q", "--detach", "HEAD~1"]);
    assert_eq!(subjects(&job, "app"), ["one"]);
}

#[test]
fn other_ways_to_store_a_repository_are_named() {
    let job = Job::new();
    git(&job.path("app"), &["init", "-q", "--object-format=sha256"]);
    git(&job.path("app"), &["commit", "-q", "--allow-empty", "-m", "one"]);
    assert_eq!(
        job.call(GitLog, json!({})),
        "failed: /workspace/app names its objects by sha256; only repositories with SHA-1 names are read"
    );
    let job = two_commits();
    git(&job.path("app"), &["config", "extensions.refStorage", "reftable"]);
    assert_eq!(
        job.call(GitLog, json!({})),
        "failed: /workspace/app stores its branches and tags as reftable; only files are read: git refs migrate --ref-format=files"
    );
}

#[test]
fn names_and_messages_that_are_no_utf8_are_shown() {
    let job = job();
    let app = job.path("app");
    commit(&job, 1, "one");
    let raw = git(&app, &["cat-file", "commit", "HEAD"]);
    let header = raw.split("\n\n").next().unwrap().replace("Ada", "J\u{fc}rgen \u{1b}[31m");
    // As Latin-1: ü becomes the byte 0xfc, which is no UTF-8.
    let bytes = |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect() };
    for (encoding, expected) in [
        ("", "J\u{fffd}rgen \\u{1b}[31m Lovelace: caf\u{fffd} \\u{1b}[31m"),
        ("\nencoding ISO-8859-1", "Jürgen \\u{1b}[31m Lovelace: café \\u{1b}[31m"),
    ] {
        fs::write(job.path("commit"), bytes(&format!("{header}{encoding}\n\ncaf\u{e9} \u{1b}[31m\n\nbody\n"))).unwrap();
        let hash = git(&app, &["hash-object", "-t", "commit", "-w", "--literally", "../commit"]);
        let answer = job.call(GitLog, json!({"revision": hash}));
        assert_eq!(answer, format!("{} 2023-11-15 {expected}", short(&hash)));
    }
}

#[test]
fn a_damaged_object_is_named_and_ends_nothing_else() {
    let job = two_commits();
    let app = job.path("app");
    let first = git(&app, &["rev-parse", "HEAD~1"]);
    let file = app.join(format!(".git/objects/{}/{}", &first[..2], &first[2..]));
    fs::remove_file(&file).unwrap();
    assert_eq!(
        job.call(GitLog, json!({})),
        format!("failed: object {first} is not in /workspace/app: the clone is partial, or the repository is damaged")
    );
    fs::write(&file, b"no object").unwrap();
    assert_eq!(
        job.call(GitLog, json!({})),
        format!("failed: object {first} of /workspace/app is damaged or too large to decode; git fsck says more")
    );
    assert!(job.call(GitShow, json!({"revision": "HEAD:main.rs"})).starts_with("fn main() { run() }"));
}

#[test]
fn damaged_packs_and_indices_end_a_call_with_a_message() {
    let right = two_commits().call(GitLog, json!({}));
    for ending in [".idx", ".pack"] {
        let job = two_commits();
        let app = job.path("app");
        git(&app, &["gc", "-q"]);
        let path = one_file(&app.join(".git/objects/pack"), ending);
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        for keep in [0, 1, 8, 12, whole.len() / 4, whole.len() / 2, whole.len() - 21, whole.len() - 1, whole.len()] {
            fs::write(&path, &whole[..keep]).unwrap();
            let answer = job.call(GitLog, json!({}));
            let unread = answer.starts_with("failed: ");
            // The last bytes of a pack are its checksum, which no commit needs.
            assert!(unread || (keep >= whole.len() / 2 && answer == right), "{ending} {keep}: {answer}");
            assert!(keep < whole.len() || !unread, "{answer}");
        }
    }
}

#[test]
fn damaged_bytes_in_a_pack_never_end_the_process() {
    let job = two_commits();
    let app = job.path("app");
    job.file("app/long.txt", numbered(1..=500));
    commit(&job, 3, "three");
    job.file("app/long.txt", numbered(2..=501));
    commit(&job, 4, "four");
    git(&app, &["gc", "-q"]);
    for ending in [".pack", ".idx"] {
        let path = one_file(&app.join(".git/objects/pack"), ending);
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 40 + 1) {
            let mut content = whole.clone();
            content[at] ^= 0x5a;
            fs::write(&path, content).unwrap();
            for (tool, arguments) in [
                (GitLog, json!({"path": "long.txt"})),
                (GitShow, json!({"revision": "HEAD"})),
                (GitBlame, json!({"path": "long.txt"})),
            ] {
                // Right, or refused with a message; a panic fails the test.
                let answer = job.call(tool, arguments);
                assert!(!answer.is_empty(), "{ending} {at}");
            }
        }
        fs::write(&path, whole).unwrap();
        assert_eq!(subjects(&job, "app").len(), 4);
    }
}

#[test]
fn huge_messages_trees_and_files_stay_within_the_answer() {
    let job = job();
    let app = job.path("app");
    fs::write(job.path("message"), "word ".repeat(10_000_000)).unwrap();
    let message = job.path("message");
    git(&app, &["commit", "-q", "--allow-empty", "-F", message.to_str().unwrap()]);
    let log = job.call_by_model(GitLog, json!({}));
    assert!(log.len() < 1000 && log.ends_with('…'), "{}", log.len());
    let show = job.call_by_model(GitShow, json!({"revision": "HEAD"}));
    assert!(show.len() < 10_000 && show.contains("[the message is cut: 49,999,999 bytes in all]"), "{}", show.len());

    let blob = git(&app, &["hash-object", "-w", "main.rs"]);
    let entries: String =
        (0..100_000).fold(String::new(), |text, number| text + &format!("100644 blob {blob}\tfile{number:06}\n"));
    fs::write(job.path("entries"), entries).unwrap();
    let tree = Command::new("sh").current_dir(&app).args(["-c", "git mktree < ../entries"]).output().unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let wide = git(&app, &["commit-tree", "-m", "wide", "-p", "HEAD", tree.trim()]);
    let show = job.call_by_model(GitShow, json!({"revision": wide}));
    assert!(show.contains("\n100,000 files changed\n"), "{}", &show[..400]);
    assert!(show.len() < 64 << 10, "{}", show.len());
    let listed = job.call_by_model(GitShow, json!({"revision": format!("{wide}:"), "offset": 99_999}));
    assert_eq!(listed, "file099998\nfile099999");

    job.file("app/huge.txt", numbered(1..=2_000_000));
    commit(&job, 2, "huge");
    let show = job.call_by_model(GitShow, json!({"revision": "HEAD"}));
    assert!(show.contains("\nA too large to compare huge.txt\n"), "{show}");
    assert_eq!(
        job.call(GitBlame, json!({"path": "huge.txt"})),
        "failed: a version of the file has more than 8 MiB; it is not followed by lines"
    );
    let last = job.call(GitShow, json!({"revision": "HEAD:huge.txt", "offset": 2_000_000}));
    assert_eq!(last, "line 2000000\n");
}
