//! The tools that write, while others change the same folder or write at once, and in the runner as it confines itself.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anchorhold_plan::KernelTool::{self, Edit, Write};
use anchorhold_plan::ToolCaller;
use anchorhold_runner::kernel::Kernel;
use anchorhold_runner::kernel::roots::Roots;
use anchorhold_runner::sandbox::{RunnerAccess, confine_runner};
use job::{Job, allowance, told};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

/// Ends a thread that goes on until it is told, also when the test fails meanwhile.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The names in a folder: a write leaves nothing else behind.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn writes_at_once_never_exceed_the_limit_together() {
    let mut job = Job::new();
    job.plan.output.size_limit_bytes = 1_000;
    let kernel = job.kernel();
    let answers: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..20)
            .map(|number| {
                let arguments = json!({"path": format!("/out/{number}"), "content": "x".repeat(100)});
                scope.spawn(|| told(kernel.call(Write, arguments, &allowance(ToolCaller::Model))))
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|answer| answer.starts_with("created /out/")).count(), 10, "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.starts_with("limit_reached: ")).count(), 10, "{answers:?}");
    assert_eq!(names(&job.path("out")).len(), 10);
}

#[test]
fn a_reader_sees_the_old_file_or_the_new_and_never_a_part() {
    let job = Job::new();
    let kernel = job.kernel();
    let contents = ["a".repeat(100_000), "b".repeat(90_000)];
    job.file("out/file", &contents[0]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let seen = fs::read_to_string(job.path("out/file")).unwrap();
                assert!(contents.contains(&seen), "{} bytes", seen.len());
            }
        });
        for content in contents.iter().cycle().take(200) {
            let answer = told(kernel.call(
                Write,
                json!({"path": "/out/file", "content": content}),
                &allowance(ToolCaller::Model),
            ));
            assert!(answer.starts_with("replaced "), "{answer}");
        }
    });
    assert_eq!(names(&job.path("out")), ["file"]);
}

#[test]
fn a_folder_that_changes_places_with_a_link_out_never_lets_a_write_out() {
    let mut job = Job::new();
    job.plan.output.size_limit_bytes = 1 << 30;
    job.file("out/folder/file.txt", "old 0\n");
    job.file("outside/file.txt", "old 0\n");
    job.link("out/link", "../outside");
    let (folder, link) = (job.path("out/folder"), job.path("out/link"));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // In one step: a name that is free for a moment would be taken by a write that makes its folders.
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let kernel = job.kernel();
        let call =
            |tool: KernelTool, arguments: Value| told(kernel.call(tool, arguments, &allowance(ToolCaller::Model)));
        let mut written = 0;
        let mut round = 0;
        let deadline = Instant::now() + Duration::from_mins(1);
        // As many as it takes to have written often between the swaps.
        while (written < 200 || round < 2_000) && Instant::now() < deadline {
            round += 1;
            let text = format!("old {round}\n");
            for answer in [
                call(Write, json!({"path": "/out/folder/file.txt", "content": text})),
                // A new name each time: what was there before is recognised as changed.
                call(Write, json!({"path": format!("/out/folder/{round}.txt"), "content": text})),
                call(Write, json!({"path": format!("/out/folder/{round}/file.txt"), "content": text})),
                call(Edit, json!({"path": "/out/folder/file.txt", "edits": [{"oldText": "old", "newText": "new"}]})),
            ] {
                let done = ["created ", "replaced ", "edited "].iter().any(|done| answer.starts_with(done));
                written += u32::from(done);
                assert!(done || answer.starts_with("failed: "), "{answer}");
            }
            assert_eq!(fs::read(job.path("outside/file.txt")).unwrap(), b"old 0\n");
            assert_eq!(names(&job.path("outside")), ["file.txt"]);
        }
        assert!(written >= 200, "only {written} writes were made");
        // The control: by its path, a file is written outside in the same moments.
        let deadline = Instant::now() + Duration::from_mins(1);
        while !job.path("outside/by-path").exists() && Instant::now() < deadline {
            fs::write(folder.join("by-path"), "x").unwrap();
        }
        assert!(job.path("outside/by-path").exists(), "the link was never in the place of the folder");
    });
    // Nothing half written is left, in either of them.
    assert_eq!(names(&job.path("out")), ["folder", "link"]);
    let mut left = [names(&folder), names(&link)].concat();
    left.retain(|name| name.ends_with(".partial"));
    assert_eq!(left, [""; 0]);
}

/// Names the folder of the job to the process that confines itself.
const CONFINED: &str = "KERNEL_WRITE_TEST_FOLDER";

#[test]
fn both_tools_work_in_the_confined_runner_and_the_kernel_keeps_all_else_from_it() {
    let job = Job::new();
    if let Ok(folder) = std::env::var(CONFINED) {
        // Only the folders count: the job's own go with this process.
        let folder = Path::new(&folder);
        let mut plan = job.plan.clone();
        plan.sources[0].path = folder.join("app").to_str().unwrap().to_owned();
        plan.output.path = folder.join("out").to_str().unwrap().to_owned();
        let kernel = Kernel::new(Arc::new(Roots::open_all(&plan).unwrap()));
        // The control: unconfined, the source can be written to by its path.
        fs::write(folder.join("app/control"), "x").unwrap();
        confine_runner(&RunnerAccess {
            read: vec![folder.join("app")],
            write: vec![folder.join("out")],
            ..RunnerAccess::default()
        })
        .unwrap();
        let call = |tool, arguments| told(kernel.call(tool, arguments, &allowance(ToolCaller::Model)));
        assert_eq!(call(Write, json!({"path": "/out/a/b", "content": "one"})), "created /out/a/b: 3 bytes, 1 line");
        assert_eq!(call(Write, json!({"path": "/out/a/b", "content": "two"})), "replaced /out/a/b: 3 bytes, 1 line");
        assert_eq!(
            call(Edit, json!({"path": "/out/a/b", "edits": [{"oldText": "two", "newText": "three"}]})),
            "edited /out/a/b: 1 place changed; now 5 bytes, 1 line\n- 1  two\n+ 1  three"
        );
        let denied = fs::write(folder.join("app/denied"), "x").unwrap_err();
        assert_eq!(denied.kind(), std::io::ErrorKind::PermissionDenied);
        return;
    }
    let ended = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "both_tools_work_in_the_confined_runner_and_the_kernel_keeps_all_else_from_it",
            "--nocapture",
        ])
        .env(CONFINED, job.folder.path())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(fs::read(job.path("out/a/b")).unwrap(), b"three");
    assert_eq!(names(&job.path("out/a")), ["b"]);
    assert_eq!(names(&job.path("app")), ["control", "main.rs"]);
}
