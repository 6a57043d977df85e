//! `write` over real folders, and what both tools that write share: where they may, how much, and what they never make.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anchorhold_plan::KernelTool::{Edit, Read, Write};
use anchorhold_plan::ToolCaller;
use job::{Job, allowance, told};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;

fn write(job: &Job, path: &str, content: &str) -> String {
    job.call_by_model(Write, json!({"path": path, "content": content}))
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// The names in a folder: a write leaves nothing else behind.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn write_creates_a_file_with_its_folders_and_says_what_it_did() {
    let job = Job::new();
    assert_eq!(write(&job, "/out/a/b/report.md", "größe\r\nlast"), "created /out/a/b/report.md: 13 bytes, 2 lines");
    assert_eq!(fs::read(job.path("out/a/b/report.md")).unwrap(), "größe\r\nlast".as_bytes());
    assert_eq!(mode(&job.path("out/a/b/report.md")), 0o644);
    assert_eq!(names(&job.path("out/a/b")), ["report.md"]);
    assert_eq!(write(&job, "/out/empty", ""), "created /out/empty: 0 bytes, 0 lines");
    assert_eq!(write(&job, "/out//./one", "x\n"), "created /out/one: 2 bytes, 1 line");
    assert_eq!(job.call(Read, json!({"path": "/out/one"})), "x\n");
}

#[test]
fn write_replaces_a_file_and_keeps_its_mode_without_the_bits_that_lend_rights() {
    let job = Job::new();
    for (before, after) in [(0o600, 0o600), (0o755, 0o755), (0o444, 0o444), (0o7755, 0o755)] {
        job.file("out/file", "old");
        let path = job.path("out/file");
        fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
        assert_eq!(mode(&path), before);
        assert_eq!(write(&job, "/out/file", "new"), "replaced /out/file: 3 bytes, 1 line");
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"new".to_vec(), after));
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn another_name_of_a_replaced_file_keeps_the_old_content() {
    let job = Job::new();
    job.file("outside", "precious");
    fs::hard_link(job.path("outside"), job.path("out/file")).unwrap();
    assert_eq!(write(&job, "/out/file", "new"), "replaced /out/file: 3 bytes, 1 line");
    assert_eq!(fs::read(job.path("outside")).unwrap(), b"precious");
}

#[test]
fn write_refuses_every_path_that_is_not_beneath_the_output_folder() {
    let job = Job::new();
    job.file("secret", "secret");
    let read_only = |path: &str, is: &str| format!("failed: {path} {is}, which is read-only; write below /out");
    assert_eq!(write(&job, "/workspace/app/x", ""), read_only("/workspace/app/x", "is in /workspace"));
    assert_eq!(write(&job, "/workspace/app/main.rs", ""), read_only("/workspace/app/main.rs", "is in /workspace"));
    assert_eq!(write(&job, "app/main.rs", ""), read_only("app/main.rs", "is relative to /workspace"));
    assert_eq!(write(&job, "out/x", ""), read_only("out/x", "is relative to /workspace"));
    assert_eq!(
        write(&job, "/etc/passwd", ""),
        "failed: /etc/passwd is outside the job's folders; what a tool can see is /workspace (/workspace/app) and /out"
    );
    assert_eq!(
        write(&job, "/out/../secret", ""),
        "failed: /out/../secret leads to /secret, which is outside the job's folders"
    );
    assert_eq!(write(&job, "/out/no/../x", ""), "failed: /out/no/../x does not exist");
    for (path, problem) in [
        ("", "the path is empty"),
        ("/out/a\0b", "the path contains a NUL character"),
        ("/out/a/", "/out/a/ names a folder"),
        ("/out/a/.", "/out/a/. names a folder"),
    ] {
        assert_eq!(write(&job, path, ""), format!("invalid_arguments: {problem}; give a path like /out/<file>"));
    }
    let deep = "/out/".to_owned() + &"d/".repeat(200) + "x";
    assert_eq!(
        write(&job, &deep, ""),
        format!("invalid_arguments: {deep} is more than 128 folders deep; give a path like /out/<file>")
    );
    assert_eq!(
        write(&job, &("/out/".to_owned() + &"d/".repeat(5_000) + "x"), ""),
        "invalid_arguments: the path has 10006 bytes; at most 4095 are possible; give a path like /out/<file>"
    );
    assert_eq!(fs::read(job.path("app/main.rs")).unwrap(), b"fn main() {}\n");
    assert_eq!(fs::read(job.path("secret")).unwrap(), b"secret");
    assert_eq!(names(&job.path("out")), [""; 0]);
}

#[test]
fn links_inside_the_output_folder_are_followed_to_where_they_land() {
    let job = Job::new();
    job.file("out/real/file", "old");
    job.link("out/folder", "real");
    job.link("out/file", "/out/real/file");
    job.link("out/new", "real/not-yet");
    assert_eq!(write(&job, "/out/folder/file", "1"), "replaced /out/folder/file: 1 byte, 1 line");
    assert_eq!(fs::read(job.path("out/real/file")).unwrap(), b"1");
    assert_eq!(write(&job, "/out/file", "2"), "replaced /out/file: 1 byte, 1 line");
    assert_eq!(fs::read(job.path("out/real/file")).unwrap(), b"2");
    assert_eq!(write(&job, "/out/new", "3"), "created /out/new: 1 byte, 1 line");
    assert_eq!(fs::read(job.path("out/real/not-yet")).unwrap(), b"3");
    // The links themselves are as they were.
    assert_eq!(fs::read_link(job.path("out/file")).unwrap(), Path::new("/out/real/file"));
    assert_eq!(names(&job.path("out")), ["file", "folder", "new", "real"]);
}

#[test]
fn links_out_are_refused_with_the_place_where_they_land() {
    let job = Job::new();
    job.file("outside/file", "secret");
    job.link("out/up", "../outside");
    job.link("out/file", job.path("outside/file"));
    job.link("out/new", job.path("outside/new"));
    job.link("out/source", "/workspace/app");
    job.link("out/workspace", "/workspace");
    job.link("out/a", "b");
    job.link("out/b", "a");
    let outside = job.path("outside").to_str().unwrap().to_owned();
    for (path, message) in [
        ("/out/up/file", "leads to /outside/file, which is outside the job's folders".to_owned()),
        ("/out/file", format!("leads to {outside}/file, which is outside the job's folders")),
        ("/out/new", format!("leads to {outside}/new, which is outside the job's folders")),
        ("/out/source/main.rs", "leads to /workspace/app/main.rs, which is read-only; write below /out".to_owned()),
        ("/out/source/new", "leads to /workspace/app/new, which is read-only; write below /out".to_owned()),
        ("/out/workspace", "leads to /workspace, which is read-only; write below /out".to_owned()),
        ("/out/a", "goes through more than 40 links; it is most likely a loop of links".to_owned()),
        ("/out/a/x", "goes through more than 40 links; it is most likely a loop of links".to_owned()),
    ] {
        assert_eq!(write(&job, path, "overwritten"), format!("failed: {path} {message}"));
        let edits = json!([{"oldText": "secret", "newText": "x"}]);
        assert_eq!(job.call_by_model(Edit, json!({"path": path, "edits": edits})), format!("failed: {path} {message}"));
    }
    assert_eq!(fs::read(job.path("outside/file")).unwrap(), b"secret");
    assert_eq!(names(&job.path("outside")), ["file"]);
    assert_eq!(names(&job.path("app")), ["main.rs"]);
    // The control: whoever writes by the path goes where the links lead.
    fs::write(job.path("out/file"), "overwritten").unwrap();
    fs::write(job.path("out/up/other"), "overwritten").unwrap();
    assert_eq!(fs::read(job.path("outside/file")).unwrap(), b"overwritten");
    assert_eq!(names(&job.path("outside")), ["file", "other"]);
}

#[test]
fn what_is_no_regular_file_is_named_and_stays() {
    let job = Job::new();
    fs::create_dir(job.path("out/folder")).unwrap();
    job.file("out/file", "x");
    mknodat(CWD, job.path("out/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(job.path("out/socket")).unwrap();
    job.link("out/to-fifo", "fifo");
    let refused = |path: &str, kind: &str| format!("failed: {path} is {kind}; only a regular file can be replaced");
    for (path, kind) in [
        ("/out", "a folder"),
        ("/out/folder", "a folder"),
        ("/out/fifo", "a named pipe (FIFO)"),
        ("/out/to-fifo", "a named pipe (FIFO)"),
        ("/out/socket", "a socket"),
    ] {
        assert_eq!(write(&job, path, "x"), refused(path, kind));
        let edits = json!([{"oldText": "a", "newText": "b"}]);
        assert_eq!(job.call_by_model(Edit, json!({"path": path, "edits": edits})), refused(path, kind));
    }
    assert_eq!(
        write(&job, "/out/file/x", ""),
        "failed: /out/file/x does not exist: /out/file is a regular file, not a folder"
    );
    // Only root may make a device.
    if mknodat(CWD, job.path("out/zero"), FileType::CharacterDevice, Mode::RUSR, makedev(1, 5)).is_ok() {
        assert_eq!(write(&job, "/out/zero", "x"), refused("/out/zero", "a device"));
    }
}

#[test]
fn both_tools_count_against_the_size_of_the_output_folder() {
    let mut job = Job::new();
    job.plan.output.size_limit_bytes = 100;
    job.file("out/.git/hidden", [b'x'; 40]);
    job.file("out/deep/er/file", [b'x'; 30]);
    assert_eq!(
        write(&job, "/out/new", &"y".repeat(31)),
        "limit_reached: /out/new was not written: it has 31 bytes, /out holds 70 and may hold 100; write less, or remove files first"
    );
    assert_eq!(names(&job.path("out")), [".git", "deep"]);
    assert_eq!(write(&job, "/out/new", &"y".repeat(30)), "created /out/new: 30 bytes, 1 line");
    // The old file counts as well: for a moment both are there.
    assert_eq!(
        write(&job, "/out/new", "z"),
        "limit_reached: /out/new was not written: it has 1 byte, /out holds 100 and may hold 100; write less, or remove files first"
    );
    let edits = json!([{"oldText": "y".repeat(30), "newText": "z"}]);
    assert_eq!(
        job.call_by_model(Edit, json!({"path": "/out/new", "edits": edits})),
        "limit_reached: /out/new was not written: it has 1 byte, /out holds 100 and may hold 100; write less, or remove files first"
    );
    assert_eq!(fs::read(job.path("out/new")).unwrap(), "y".repeat(30).as_bytes());
}

#[test]
fn a_write_that_is_ended_changes_nothing() {
    let job = Job::new();
    job.file("out/file", "old");
    let allowance = allowance(ToolCaller::Model);
    allowance.cancel.set();
    for (tool, arguments) in [
        (Write, json!({"path": "/out/file", "content": "new"})),
        (Edit, json!({"path": "/out/file", "edits": [{"oldText": "old", "newText": "new"}]})),
    ] {
        let ended = "timed_out: the call was ended before it had an answer";
        assert_eq!(told(job.kernel().call(tool, arguments, &allowance)), ended);
    }
    assert_eq!(fs::read(job.path("out/file")).unwrap(), b"old");
    assert_eq!(names(&job.path("out")), ["file"]);
}

#[test]
fn a_name_that_the_file_system_refuses_is_told() {
    let job = Job::new();
    let path = format!("/out/{}", "n".repeat(300));
    assert_eq!(write(&job, &path, "x"), format!("failed: failed to open {path}: File name too long (os error 36)"));
}
