//! The read tools over real folders, with the files that real folders hold.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anchorhold_plan::KernelTool::{Find, Grep, Ls, Read};
use anchorhold_plan::ToolCaller;
use job::{Job, allowance, told};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;

// read

#[test]
fn read_gives_a_file_exactly_as_it_is() {
    let job = Job::new();
    for content in ["a\nb\n", "a\nb", "one\r\ntwo\r\n", "mixed\r\nends\nhere\r", "", "\n\n", "größe 日本\n"] {
        job.file("app/file.txt", content);
        assert_eq!(job.call(Read, json!({"path": "app/file.txt"})), content);
    }
}

#[test]
fn read_shows_a_window_and_the_call_for_the_next() {
    let job = Job::new();
    job.file("app/numbers.txt", (1..=1000).map(|number| number.to_string() + "\n").collect::<String>());
    assert_eq!(
        job.call(Read, json!({"path": "app/numbers.txt", "offset": 3, "limit": 2})),
        "3\n4\n[996 more lines of 1,000 in all; continue with offset=5]"
    );
    let first = job.call(Read, json!({"path": "app/numbers.txt"}));
    assert!(first.starts_with("1\n2\n"), "{first}");
    assert!(first.ends_with("\n400\n[600 more lines of 1,000 in all; continue with offset=401]"), "{first}");
    assert_eq!(job.call(Read, json!({"path": "app/numbers.txt", "offset": 1000})), "1000\n");
    assert_eq!(job.call(Read, json!({"path": "app/numbers.txt", "offset": -2})), "999\n1000\n");
}

#[test]
fn read_answers_windows_that_cannot_be() {
    let job = Job::new();
    job.file("app/three.txt", "1\n2\n3\n");
    let read =
        |offset: i64, limit: i64| job.call(Read, json!({"path": "app/three.txt", "offset": offset, "limit": limit}));
    assert_eq!(
        read(0, 1),
        "invalid_arguments: read: offset counts lines from 1, and from the end with -1; got the number 0"
    );
    assert_eq!(read(4, 1), "invalid_arguments: read: offset 4 is beyond the end: app/three.txt has 3 lines");
    assert_eq!(
        read(i64::MAX, 1),
        format!("invalid_arguments: read: offset {} is beyond the end: app/three.txt has 3 lines", i64::MAX)
    );
    assert_eq!(read(-99, 1), "1\n[2 more lines of 3 in all; continue with offset=2]");
    assert_eq!(read(1, 0), "invalid_arguments: read: limit must be 1 or more; got the number 0");
    assert_eq!(read(1, -1), "invalid_arguments: read: limit must be 1 or more; got the number -1");
    assert_eq!(read(1, i64::MAX), "1\n2\n3\n");
}

#[test]
fn read_gives_structure_on_request() {
    let job = Job::new();
    job.file("app/three.txt", "1\n2\n3\n");
    assert_eq!(
        job.value(Read, json!({"path": "/workspace/app/three.txt", "limit": 2})),
        json!({
            "path": "/workspace/app/three.txt", "text": "1\n2\n", "firstLine": 1, "lastLine": 2, "totalLines": 3, "bytes": 6,
            "cut": true, "next": {"offset": 3},
        })
    );
}

#[test]
fn read_tells_a_model_that_a_file_is_empty() {
    let job = Job::new();
    job.file("app/empty", "");
    assert_eq!(job.call_by_model(Read, json!({"path": "app/empty"})), "[app/empty is empty]");
    assert_eq!(job.call(Read, json!({"path": "app/empty"})), "");
}

#[test]
fn read_replaces_bytes_that_are_no_text_and_leaves_out_a_byte_order_mark() {
    let job = Job::new();
    job.file("app/latin1.txt", b"caf\xe9\n");
    job.file("app/marked.json", "\u{feff}{\"a\": 1}\n");
    assert_eq!(job.call(Read, json!({"path": "app/latin1.txt"})), "caf\u{fffd}\n");
    assert_eq!(job.call(Read, json!({"path": "app/marked.json"})), "{\"a\": 1}\n");
}

#[test]
fn read_names_binary_files() {
    let job = Job::new();
    job.file("app/image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    assert_eq!(
        job.call(Read, json!({"path": "app/image.png"})),
        "failed: app/image.png is a binary file (PNG image, 16 bytes; the first byte that is no text is number 9); read returns text only"
    );
}

#[test]
fn read_pages_through_one_huge_line() {
    let job = Job::new();
    job.file("app/min.js", vec![b'x'; 50_000_000]);
    let first = job.call(Read, json!({"path": "app/min.js"}));
    assert_eq!(first.trim_end_matches(|c| c != 'x').len(), 32 << 10);
    assert!(
        first.ends_with("\n[line 1 is longer than this answer: continue with offset=1, column=32769]"),
        "{}",
        &first[32000..]
    );
    assert_eq!(job.call(Read, json!({"path": "app/min.js", "column": 49_999_998_u64})), "xxx");
    assert_eq!(
        job.call(Read, json!({"path": "app/min.js", "column": 60_000_000_u64})),
        "invalid_arguments: read: column 60000000 is beyond the end of the line, which has 50,000,000 bytes"
    );
    // A script may ask for as much as a result may have.
    let most = job.call(Read, json!({"path": "app/min.js", "limit": 1}));
    assert!((15 << 20..16 << 20).contains(&most.len()), "{}", most.len());
}

#[test]
fn read_answers_on_a_sparse_terabyte() {
    let job = Job::new();
    File::create(job.path("app/sparse")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(
        job.call(Read, json!({"path": "app/sparse"})),
        "failed: app/sparse is a binary file (data, 1,099,511,627,776 bytes; the first byte that is no text is number 1); read returns text only"
    );
}

#[test]
fn read_opens_nothing_that_could_block_or_act() {
    let job = Job::new();
    mknodat(CWD, job.path("app/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!(
        job.call(Read, json!({"path": "app/fifo"})),
        "failed: app/fifo is a named pipe (FIFO); only regular files and folders are read"
    );
    assert_eq!(job.call(Read, json!({"path": "app"})), "failed: app is a folder; list it with ls");
    assert_eq!(job.call(Read, json!({"path": "/workspace"})), "failed: /workspace is a folder; list it with ls");
    // Only root may make a device.
    if mknodat(CWD, job.path("app/zero"), FileType::CharacterDevice, Mode::RUSR, makedev(1, 5)).is_ok() {
        assert_eq!(
            job.call(Read, json!({"path": "app/zero"})),
            "failed: app/zero is a device; only regular files and folders are read"
        );
    }
}

// ls

#[test]
fn ls_without_a_path_lists_the_sources() {
    let job = Job::with_sources(&["lib", "app"]);
    assert_eq!(job.call(Ls, json!({})), "lib/\napp/");
    assert_eq!(job.call(Ls, json!({"path": "/out"})), "[/out is empty]");
}

#[test]
fn ls_lists_by_name_and_marks_what_is_no_file() {
    let job = Job::new();
    job.file("app/.hidden", "");
    job.file("app/src/lib.rs", "x");
    job.link("app/link", "src/lib.rs");
    job.file("app/odd\nname", "");
    mknodat(CWD, job.path("app/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!(
        job.call(Ls, json!({"path": "app"})),
        ".hidden\nfifo (fifo)\nlink -> src/lib.rs\nmain.rs\nodd\\nname\nsrc/"
    );
    assert_eq!(
        job.value(Ls, json!({"path": "/workspace/app", "offset": 3, "limit": 2})),
        json!({
            "path": "/workspace/app",
            "entries": [
                {"name": "link", "type": "link", "target": "src/lib.rs"},
                {"name": "main.rs", "type": "file", "size": 13},
            ],
            "total": 6, "cut": true, "next": {"offset": 5},
        })
    );
}

#[test]
fn ls_lists_a_tree_to_a_depth_and_in_windows() {
    let job = Job::new();
    for name in ["a/one", "a/two/deep", "b/three", ".git/config"] {
        job.file(&format!("app/{name}"), "");
    }
    assert_eq!(job.call(Ls, json!({"path": "app", "depth": 2})), ".git/\na/\na/one\na/two/\nb/\nb/three\nmain.rs");
    assert_eq!(
        job.call(Ls, json!({"path": "app", "depth": 2, "limit": 3})),
        ".git/\na/\na/one\n[more entries follow: continue with offset=4]"
    );
    assert_eq!(
        job.call(Ls, json!({"path": "app", "depth": 2, "limit": 3, "offset": 4})),
        "a/two/\nb/\nb/three\n[more entries follow: continue with offset=7]"
    );
    assert_eq!(job.call(Ls, json!({"path": "app", "depth": 2, "limit": 3, "offset": 7})), "main.rs");
    assert_eq!(job.call(Ls, json!({"path": "app", "offset": 70})), "[app has fewer than 70 entries]");
}

#[test]
fn ls_answers_on_a_folder_of_a_hundred_thousand_entries() {
    let job = Job::new();
    let folder = job.path("app/many");
    fs::create_dir(&folder).unwrap();
    for number in 0..100_000 {
        File::create(folder.join(format!("{number:06}"))).unwrap();
    }
    let listed = job.call(Ls, json!({"path": "app/many"}));
    assert!(listed.starts_with("000000\n000001\n"), "{listed}");
    assert!(listed.ends_with("\n000199\n[more entries follow, 100,000 in all: continue with offset=201]"), "{listed}");
    assert_eq!(job.call(Ls, json!({"path": "app/many", "offset": 100_000})), "099999");
    assert_eq!(
        job.call(Find, json!({"pattern": "*9999", "path": "app/many", "limit": 3})).lines().next(),
        Some("app/many/009999")
    );
}

// find

#[test]
fn find_matches_names_at_any_depth_and_paths_with_a_slash() {
    let job = Job::with_sources(&["app", "lib"]);
    job.file("app/src/deep/mod.rs", "");
    job.file("app/.hidden/x.rs", "");
    job.file("app/.git/y.rs", "");
    assert_eq!(
        job.call(Find, json!({"pattern": "*.rs"})),
        "app/.hidden/x.rs\napp/main.rs\napp/src/deep/mod.rs\nlib/main.rs"
    );
    assert_eq!(
        job.call(Find, json!({"pattern": "src/**/*.rs", "path": "/workspace/app"})),
        "/workspace/app/src/deep/mod.rs"
    );
    assert_eq!(job.call(Find, json!({"pattern": "d*/", "path": "app"})), "app/src/deep/");
    assert_eq!(
        job.call(Find, json!({"pattern": "*.rs", "limit": 2, "offset": 2})),
        "app/main.rs\napp/src/deep/mod.rs\n[more results follow: continue with offset=4, or narrow pattern or path]"
    );
}

#[test]
fn find_counts_what_it_skips_and_says_what_it_looked_at() {
    let job = Job::new();
    job.file("app/.gitignore", "target/\n*.log\n!keep.log\n");
    job.file("app/target/debug/out.log", "");
    job.file("app/a.log", "");
    job.file("app/keep.log", "");
    assert_eq!(
        job.call(Find, json!({"pattern": "*.log"})),
        "app/keep.log\n[2 ignored files and folders were skipped: ignored=true includes them]"
    );
    assert_eq!(
        job.call(Find, json!({"pattern": "*.log", "ignored": true})),
        "app/a.log\napp/keep.log\napp/target/debug/out.log"
    );
    // A folder that is named is searched though it is ignored.
    assert_eq!(job.call(Find, json!({"pattern": "*.log", "path": "app/target"})), "app/target/debug/out.log");
    assert_eq!(
        job.call(Find, json!({"pattern": "*.py"})),
        "[no name matches *.py beneath /workspace; 3 files were looked at; 2 ignored files and folders were skipped: ignored=true includes them]"
    );
}

#[test]
fn ignore_files_of_every_level_count_and_the_innermost_decides() {
    let job = Job::new();
    job.file("app/.gitignore", "/build\n*.tmp\n");
    job.file("app/build/x.txt", "");
    job.file("app/sub/build/x.txt", "");
    job.file("app/sub/.gitignore", "!keep.tmp\nlocal/\n");
    job.file("app/sub/keep.tmp", "");
    job.file("app/sub/other.tmp", "");
    job.file("app/sub/local/x.txt", "");
    job.file("app/sub/.ignore", "secret.txt\n");
    job.file("app/sub/secret.txt", "");
    job.file("app/.git/info/exclude", "excluded.txt\n");
    job.file("app/excluded.txt", "");
    assert_eq!(
        job.call(Find, json!({"pattern": "*.{txt,tmp}"})),
        "app/sub/build/x.txt\napp/sub/keep.tmp\n[5 ignored files and folders were skipped: ignored=true includes them]"
    );
    // The rules above a folder count when the search begins in it.
    assert_eq!(
        job.call(Find, json!({"pattern": "*.tmp", "path": "app/sub"})),
        "app/sub/keep.tmp\n[3 ignored files and folders were skipped: ignored=true includes them]"
    );
}

// grep

#[test]
fn grep_gives_path_line_and_text_in_the_order_of_paths() {
    let job = Job::with_sources(&["lib", "app"]);
    job.file("app/b.txt", "one\ntwo needle\r\nthree\n");
    job.file("app/a/z.txt", "needle at the end");
    assert_eq!(
        job.call(Grep, json!({"pattern": "needle|main"})),
        "app/a/z.txt:1: needle at the end\napp/b.txt:2: two needle\napp/main.rs:1: fn main() {}\nlib/main.rs:1: fn main() {}"
    );
    assert_eq!(
        job.call(Grep, json!({"pattern": "NEEDLE$", "ignoreCase": true, "path": "app/b.txt"})),
        "app/b.txt:2: two needle"
    );
    assert_eq!(
        job.call(Grep, json!({"pattern": "main() {", "literal": true, "glob": "*.rs", "path": "/workspace/lib"})),
        "/workspace/lib/main.rs:1: fn main() {}"
    );
}

#[test]
fn grep_shows_context_and_sets_groups_apart() {
    let job = Job::new();
    job.file("app/a.txt", "1\n2\nx3\n4\n5\n6\n7\nx8\n9\nx10\n11\n");
    assert_eq!(
        job.call(Grep, json!({"pattern": "x", "context": 1, "path": "app"})),
        "app/a.txt-2- 2\napp/a.txt:3: x3\napp/a.txt-4- 4\n--\napp/a.txt-7- 7\napp/a.txt:8: x8\napp/a.txt-9- 9\napp/a.txt:10: x10\napp/a.txt-11- 11"
    );
    assert_eq!(
        job.value(Grep, json!({"pattern": "x8", "context": 1}))["matches"],
        json!([{
            "path": "app/a.txt", "line": 8, "text": "x8",
            "before": [{"line": 7, "text": "7"}], "after": [{"line": 9, "text": "9"}],
        }])
    );
}

#[test]
fn grep_goes_through_its_matches_in_windows() {
    let job = Job::new();
    for file in 0..20 {
        job.file(&format!("app/{file:02}.txt"), "hit 1\nmiss\nhit 2\nhit 3\n");
    }
    let all: Vec<String> =
        job.call(Grep, json!({"pattern": "hit", "limit": 1000})).lines().map(str::to_owned).collect();
    assert_eq!(all.len(), 60);
    let mut paged = Vec::new();
    let mut offset = 1;
    loop {
        let answer = job.value(Grep, json!({"pattern": "hit", "limit": 7, "offset": offset}));
        for hit in answer["matches"].as_array().unwrap() {
            paged.push(format!("{}:{}: {}", hit["path"].as_str().unwrap(), hit["line"], hit["text"].as_str().unwrap()));
        }
        let Some(next) = answer["next"]["offset"].as_u64() else { break };
        offset = next;
    }
    assert_eq!(paged, all);
    assert!(
        job.call(Grep, json!({"pattern": "hit"}))
            .ends_with("\n[more matches follow: continue with offset=51, or narrow pattern, glob or path]")
    );
    assert_eq!(
        job.call(Grep, json!({"pattern": "hit", "offset": 99})),
        "[there are only 60 matches; offset=99 is beyond them]"
    );
}

#[test]
fn grep_says_what_it_did_not_search() {
    let job = Job::new();
    job.file("app/.gitignore", "*.log\n");
    job.file("app/a.log", "needle\n");
    job.file("app/data.bin", b"needle\0needle\n");
    job.file("app/.hidden", "a needle\n");
    job.file("app/.git/config", "needle\n");
    job.link("app/link", "main.rs");
    mknodat(CWD, job.path("app/fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let skipped = "1 ignored file or folder was skipped: ignored=true includes them; 1 link was not followed: name one to look at it; \
                   1 FIFO, socket or device was skipped; 1 binary file was not searched";
    assert_eq!(job.call(Grep, json!({"pattern": "needle"})), format!("app/.hidden:1: a needle\n[{skipped}]"));
    assert_eq!(
        job.call(Grep, json!({"pattern": "nope"})),
        format!("[no line matches nope in /workspace; 4 files were searched; {skipped}]")
    );
    // A file that is named is searched though it is ignored, and a link that is named is followed.
    assert_eq!(job.call(Grep, json!({"pattern": "needle", "path": "app/a.log"})), "app/a.log:1: needle");
    assert_eq!(job.call(Grep, json!({"pattern": "main", "path": "app/link"})), "app/link:1: fn main() {}");
    assert_eq!(
        job.call(Grep, json!({"pattern": "needle", "path": "app/data.bin"})),
        "[no line matches needle in app/data.bin; 1 file was searched; 1 binary file was not searched]"
    );
    assert_eq!(
        job.call(Grep, json!({"pattern": "needle", "path": "app/fifo"})),
        "failed: app/fifo is a named pipe (FIFO); only regular files and folders are read"
    );
}

#[test]
fn grep_names_what_is_wrong_with_a_pattern() {
    let job = Job::new();
    let grep = |pattern: &str| job.call(Grep, json!({"pattern": pattern}));
    assert_eq!(grep(""), "invalid_arguments: grep: pattern is empty; it would match every line");
    for (pattern, hint) in [
        ("a(?=b)", "look-around is not supported: search for less and filter the lines"),
        ("a(b", "literal=true takes it as plain text"),
        ("a\nb", "lines are matched one at a time"),
        ("(a{1000}){1000}", "literal=true takes it as plain text"),
    ] {
        let answer = grep(pattern);
        assert!(answer.starts_with("invalid_arguments: grep: pattern is not accepted: "), "{answer}");
        assert!(answer.ends_with(hint), "{answer}");
    }
}

#[test]
fn grep_cuts_long_lines_and_passes_over_those_it_cannot_hold() {
    let job = Job::new();
    job.file("app/long.txt", format!("needle{}\n", "x".repeat(10_000)));
    let answer = job.call(Grep, json!({"pattern": "needle", "path": "app/long.txt"}));
    assert_eq!(answer, format!("app/long.txt:1: needle{}… [line of 10006 bytes]", "x".repeat(1994)));
    job.file("app/huge.txt", [b"needle\n".as_slice(), &vec![b'x'; 50_000_000]].concat());
    assert_eq!(
        job.call(Grep, json!({"pattern": "needle", "path": "app/huge.txt"})),
        "app/huge.txt:1: needle\n[1 file has a line over 16 MiB and was not searched beyond it]"
    );
}

#[test]
fn grep_finds_the_same_whatever_is_searched_at_once() {
    let job = Job::new();
    for file in 0..500 {
        job.file(&format!("app/{}/{file}.txt", file % 7), format!("needle {file}\n").repeat(file % 5));
    }
    let first = job.call(Grep, json!({"pattern": "needle", "limit": 5000}));
    assert_eq!(first.lines().count(), 1000);
    for _ in 0..5 {
        assert_eq!(job.call(Grep, json!({"pattern": "needle", "limit": 5000})), first);
    }
    let start: String = first.lines().take(50).collect::<Vec<_>>().join("\n");
    assert!(job.call(Grep, json!({"pattern": "needle"})).starts_with(&start));
}

#[test]
fn a_mounted_config_map_is_searched_by_the_names_of_its_keys() {
    let job = Job::new();
    fs::remove_file(job.path("app/main.rs")).unwrap();
    job.file("app/..2026_01_01/key.txt", "value\n");
    job.link("app/..data", "..2026_01_01");
    job.link("app/key.txt", "..data/key.txt");
    assert_eq!(job.call(Ls, json!({"path": "app"})), "key.txt");
    assert_eq!(job.call(Grep, json!({"pattern": "value"})), "app/key.txt:1: value");
    assert_eq!(job.call(Find, json!({"pattern": "*"})), "app/key.txt");
    assert_eq!(job.call(Read, json!({"path": "app/key.txt"})), "value\n");
}

#[test]
fn a_loop_of_links_ends_every_tool() {
    let job = Job::new();
    job.link("app/loop", ".");
    job.link("app/a", "b");
    job.link("app/b", "a");
    assert_eq!(job.call(Ls, json!({"path": "app", "depth": 10})), "a -> b\nb -> a\nloop -> .\nmain.rs");
    assert_eq!(
        job.call(Grep, json!({"pattern": "main"})),
        "app/main.rs:1: fn main() {}\n[3 links were not followed: name one to look at it]"
    );
    assert_eq!(
        job.call(Grep, json!({"pattern": "main", "path": "app/a"})),
        "failed: app/a goes through more than 40 links; it is most likely a loop of links"
    );
    assert_eq!(job.call(Read, json!({"path": "app/loop/loop/loop/main.rs"})), "fn main() {}\n");
}

#[test]
fn a_tree_that_changes_under_a_call_never_shows_what_is_outside() {
    let job = Job::new();
    job.file("app/folder/file.txt", "inside\n");
    job.file("outside/file.txt", "secret\n");
    let (folder, away, link) = (job.path("app/folder"), job.path("app/away"), job.path("app/link"));
    job.link("app/link", "../outside");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The folder and a link out change places, as fast as they can.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(&folder, &away).unwrap();
                fs::rename(&link, &folder).unwrap();
                fs::rename(&folder, &link).unwrap();
                fs::rename(&away, &folder).unwrap();
            }
        });
        let kernel = job.kernel();
        let mut seen_by_path = false;
        for _ in 0..200 {
            for (tool, arguments) in [
                (Read, json!({"path": "app/folder/file.txt"})),
                (Grep, json!({"pattern": "inside|secret", "path": "app"})),
                (Grep, json!({"pattern": "inside|secret", "path": "app/folder"})),
            ] {
                let answer = told(kernel.call(tool, arguments, &allowance(ToolCaller::Script)));
                assert!(!answer.contains("secret\n") && !answer.contains(": secret"), "{answer}");
            }
            // The control: by its path, the file outside is read in the same moments.
            seen_by_path |= fs::read_to_string(folder.join("file.txt")).is_ok_and(|text| text == "secret\n");
        }
        let deadline = Instant::now() + Duration::from_mins(1);
        while !seen_by_path && Instant::now() < deadline {
            seen_by_path = fs::read_to_string(folder.join("file.txt")).is_ok_and(|text| text == "secret\n");
        }
        stop.store(true, Ordering::Relaxed);
        assert!(seen_by_path, "the link was never in the place of the folder");
    });
}

#[test]
fn a_call_that_is_ended_ends_also_in_the_middle_of_a_file() {
    let job = Job::new();
    job.file("app/long.txt", "no match here\n".repeat(100_000));
    let allowance = allowance(ToolCaller::Script);
    allowance.cancel.set();
    let ended = "timed_out: the call was ended before it had an answer";
    for (tool, arguments) in [
        (Read, json!({"path": "app/long.txt"})),
        (Grep, json!({"pattern": "x", "path": "app/long.txt"})),
        (Grep, json!({"pattern": "x"})),
        (Find, json!({"pattern": "*"})),
        (Ls, json!({"path": "app"})),
    ] {
        assert_eq!(told(job.kernel().call(tool, arguments, &allowance)), ended);
    }
}

#[test]
fn a_wrong_argument_is_named_with_what_came_and_what_is_wanted() {
    let job = Job::new();
    assert_eq!(
        job.call(Read, json!({"file": "app/main.rs"})),
        "invalid_arguments: read: has no argument \"file\"; it takes path, offset, limit, column, output"
    );
    assert_eq!(job.call(Read, json!({})), "invalid_arguments: read: path is missing; it must be a text");
    assert_eq!(
        job.call(Grep, json!({"pattern": "x", "limit": 0})),
        "invalid_arguments: grep: limit must be between 1 and 200000; got the number 0"
    );
    assert_eq!(
        job.call(Find, json!({"pattern": "x", "path": "app/main.rs"})),
        "failed: app/main.rs is a regular file, not a folder"
    );
    assert_eq!(
        job.call(Ls, json!({"path": "app", "depth": 99})),
        "invalid_arguments: ls: depth must be between 1 and 10"
    );
    assert_eq!(job.call(Read, json!({"path": "app/main.rs", "limit": "1"})), "fn main() {}\n");
}
