//! `edit` over real files: what is found, what is refused with which lines, and what stays as it was.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use anchorhold_plan::KernelTool::{Edit, Find, Grep, Ls, Read};
use job::Job;
use serde_json::{Value, json};

fn edit(job: &Job, edits: &Value) -> String {
    job.call_by_model(Edit, json!({"path": "/out/file", "edits": edits}))
}

/// Edits a file with this content; returns what it holds afterwards.
fn edited(content: &[u8], edits: &[(&str, &str)]) -> Vec<u8> {
    let job = Job::new();
    job.file("out/file", content);
    let list: Vec<Value> = edits.iter().map(|(old, new)| json!({"oldText": old, "newText": new})).collect();
    let answer = edit(&job, &json!(list));
    assert!(answer.starts_with("edited /out/file: "), "{answer}");
    fs::read(job.path("out/file")).unwrap()
}

#[test]
fn edit_replaces_pieces_and_shows_them_with_their_neighbours() {
    let job = Job::new();
    job.file("out/file", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
    assert_eq!(
        edit(&job, &json!([{"oldText": "seven", "newText": "7"}, {"oldText": "two\n", "newText": ""}])),
        "edited /out/file: 2 places changed; now 32 bytes, 7 lines\n  1  one\n- 2  two\n  2  three\n  3  four\n  4  five\n  5  six\n- 7  seven\n+ 6  7\n  7  eight"
    );
    assert_eq!(fs::read_to_string(job.path("out/file")).unwrap(), "one\nthree\nfour\nfive\nsix\n7\neight\n");
}

#[test]
fn every_byte_outside_the_replaced_text_stays_as_it_was() {
    for (before, edits, after) in [
        (&b"a\r\nb\r\nc"[..], &[("b", "x\ny")][..], &b"a\r\nx\r\ny\r\nc"[..]),
        (b"a\r\nb\nc\rd", &[("c", "x")], b"a\r\nb\nx\rd"),
        (b"a\rb\rc", &[("b", "x\ny")], b"a\rx\ry\rc"),
        (b"\xef\xbb\xbfa\nb", &[("a\nb", "b\na")], b"\xef\xbb\xbfb\na"),
        (b"caf\xe9 a\n\xff\xfe", &[("caf", "c")], b"c\xe9 a\n\xff\xfe"),
        (b"a  \n\tb\t \n", &[("b", "c")], b"a  \n\tc\t \n"),
    ] {
        assert_eq!(edited(before, edits), after, "{before:?}");
    }
}

#[test]
fn the_mode_stays_without_the_bits_that_lend_rights() {
    let job = Job::new();
    job.file("out/file", "a");
    fs::set_permissions(job.path("out/file"), Permissions::from_mode(0o4750)).unwrap();
    edit(&job, &json!([{"oldText": "a", "newText": "b"}]));
    assert_eq!(fs::metadata(job.path("out/file")).unwrap().mode() & 0o7777, 0o750);
}

#[test]
fn typography_and_white_space_are_tolerated_and_told() {
    let job = Job::new();
    job.file("out/file", "He said “yes” – it’s\u{a0}so.  \r\nEnd\r\n");
    assert_eq!(
        edit(&job, &json!([{"oldText": "\"yes\" - it's so.\nEnd", "newText": "no.\nStop"}])),
        "edited /out/file: 1 place changed; now 19 bytes, 2 lines\n- 1  He said “yes” – it’s\u{a0}so.  \n- 2  End\n+ 1  He said no.\n+ 2  Stop\n\
         [found apart from typographic quotes or dashes, or white space: edits[0]]"
    );
    assert_eq!(fs::read_to_string(job.path("out/file")).unwrap(), "He said no.\r\nStop\r\n");
}

#[test]
fn a_text_that_occurs_more_than_once_is_refused_with_its_places() {
    let job = Job::new();
    job.file("out/file", "let a = 1;\nlet b = 2;\n\tlet a = 1;\n");
    assert_eq!(
        edit(&job, &json!([{"oldText": "let a = 1;", "newText": "x"}])),
        "failed: edit: edits[0].oldText occurs 2 times in /out/file; add lines around it until it occurs once\n1: let a = 1;\n3: \tlet a = 1;"
    );
    job.file("out/file", "‘a’\n".repeat(7));
    assert_eq!(
        edit(&job, &json!([{"oldText": "'a'", "newText": "x"}])),
        "failed: edit: edits[0].oldText occurs 7 times in /out/file, apart from quotes, dashes and white space; add lines around it \
         until it occurs once\n1: ‘a’\n2: ‘a’\n3: ‘a’\n4: ‘a’\n5: ‘a’\n…"
    );
    job.file("out/file", "a".repeat(5_000));
    let answer = edit(&job, &json!([{"oldText": "aa", "newText": "x"}]));
    assert!(
        answer.starts_with("failed: edit: edits[0].oldText occurs at least 1,000 times in /out/file; "),
        "{answer}"
    );
    assert_eq!(fs::read(job.path("out/file")).unwrap(), "a".repeat(5_000).as_bytes());
}

#[test]
fn a_text_that_does_not_occur_is_refused_with_the_lines_that_may_be_meant() {
    let job = Job::new();
    let file = "fn main() {\n    let a = 1;\n    let b = 2;\n}\n";
    job.file("out/file", file);
    let refused = |old: &str| {
        let answer = edit(&job, &json!([{"oldText": "1", "newText": "2"}, {"oldText": old, "newText": "x"}]));
        answer.strip_prefix("failed: edit: edits[1].oldText does not occur in /out/file; ").unwrap().to_owned()
    };
    assert_eq!(
        refused("\tlet a = 1;\n\tlet b = 2;"),
        "line 2 has it with other white space within it or before its lines:\n2:     let a = 1;\n3:     let b = 2;"
    );
    assert_eq!(
        refused("fn main() {\n    let a = 1;\n    let c = 3;\n}"),
        "its first 2 lines occur at line 1, and then comes:\n3:     let b = 2;\n4: }"
    );
    assert_eq!(refused("}\nfn"), "its first line occurs at line 4, and then comes the end of the file");
    assert_eq!(refused("let aa = 11;"), "the lines most like it:\n2:     let a = 1;\n3:     let b = 2;");
    assert_eq!(refused("zzz"), "no line is like it: read the file first");
    // Nothing was changed, although the first edit fits.
    assert_eq!(fs::read_to_string(job.path("out/file")).unwrap(), file);
    job.file("out/file", "");
    assert_eq!(
        edit(&job, &json!([{"oldText": "a", "newText": "b"}])),
        "failed: edit: edits[0].oldText does not occur in /out/file; the file is empty"
    );
}

#[test]
fn edits_that_overlap_or_change_nothing_are_refused() {
    let job = Job::new();
    job.file("out/file", "a\r\nb\r\nc\r\n");
    for (edits, message) in [
        (
            json!([{"oldText": "a\nb", "newText": "x"}, {"oldText": "b", "newText": "y"}]),
            "edits[0] (lines 1 to 2) and edits[1] (line 2) overlap in /out/file; make one edit of them",
        ),
        (
            json!([{"oldText": "b\r\n", "newText": "b\n"}]),
            "edits[0] changes nothing in /out/file: line 2 is the same already, and the line endings of a place are kept",
        ),
        (json!([{"oldText": "a", "newText": "a"}]), "edits[0] changes nothing: oldText and newText are the same"),
        (
            json!([{"oldText": "a", "newText": "b"}, {"oldText": "", "newText": "a"}]),
            "edits[1].oldText is empty; give the text to replace, or use write for a new file",
        ),
        (json!([]), "edits is empty; give at least one edit"),
        (
            json!(vec![json!({"oldText": "a", "newText": "b"}); 201]),
            "edits has 201 entries; at most 200 are possible in one call",
        ),
    ] {
        assert_eq!(edit(&job, &edits), format!("invalid_arguments: edit: {message}"));
    }
    assert_eq!(fs::read(job.path("out/file")).unwrap(), b"a\r\nb\r\nc\r\n");
}

#[test]
fn what_is_no_text_too_large_or_not_there_is_named() {
    let job = Job::new();
    let edits = json!([{"oldText": "a", "newText": "b"}]);
    assert_eq!(edit(&job, &edits), "failed: /out/file does not exist; make it with write");
    job.file("out/file", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    assert_eq!(
        edit(&job, &edits),
        "failed: /out/file is a binary file (PNG image, 16 bytes; the first byte that is no text is number 9); edit takes text only"
    );
    File::create(job.path("out/file")).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(
        edit(&job, &edits),
        "failed: /out/file has 1,099,511,627,776 bytes; edit takes files of at most 16,777,216 bytes: write smaller files to /out"
    );
    assert_eq!(
        job.call_by_model(Edit, json!({"path": "/workspace/app/main.rs", "edits": edits})),
        "failed: /workspace/app/main.rs is in /workspace, which is read-only; write below /out"
    );
}

#[test]
fn a_large_file_is_edited_and_one_byte_too_many_is_refused() {
    const MOST: usize = 16 << 20;
    let mut job = Job::new();
    job.plan.output.size_limit_bytes = 128 << 20;
    let mut content = "x".repeat(MOST - 4) + "end\n";
    job.file("out/file", &content);
    assert_eq!(
        edit(&job, &json!([{"oldText": "end", "newText": "End"}])),
        format!(
            "edited /out/file: 1 place changed; now 16,777,216 bytes, 1 line\n- 1  {0}… [line of 16777215 bytes]\n+ 1  {0}… [line of 16777215 bytes]",
            "x".repeat(200)
        )
    );
    content.push('x');
    job.file("out/file", &content);
    assert_eq!(
        edit(&job, &json!([{"oldText": "end", "newText": "End"}])),
        "failed: /out/file has 16,777,217 bytes; edit takes files of at most 16,777,216 bytes: write smaller files to /out"
    );
    // Of a million lines, tolerantly.
    let mut content = "”\r\n".repeat(1_000_000);
    content.push_str("needle ‘here’ \r\n");
    job.file("out/file", &content);
    let answer = edit(&job, &json!([{"oldText": "needle 'here'\n", "newText": "found\n"}]));
    assert!(answer.contains("\n- 1000001  needle ‘here’ \n+ 1000001  found\n"), "{answer}");
    assert_eq!(
        edit(&job, &json!([{"oldText": "fund", "newText": ""}])),
        "failed: edit: edits[0].oldText does not occur in /out/file; the lines most like it:\n1000001: found"
    );
}

#[test]
fn one_edit_beside_the_path_and_a_list_as_text_are_taken_and_told() {
    let job = Job::new();
    job.file("out/file", "a\n");
    assert_eq!(
        job.call_by_model(Edit, json!({"path": "/out/file", "oldText": "a", "newText": "b"})),
        "edited /out/file: 1 place changed; now 2 bytes, 1 line\n- 1  a\n+ 1  b\n[oldText and newText were taken as the only entry of edits]"
    );
    assert_eq!(
        edit(&job, &json!("[{\"oldText\": \"b\", \"newText\": \"c\"}]")),
        "edited /out/file: 1 place changed; now 2 bytes, 1 line\n- 1  b\n+ 1  c\n[edits: the text was taken as the list that it holds as JSON]"
    );
    let both =
        json!({"path": "/out/file", "oldText": "c", "newText": "d", "edits": [{"oldText": "c", "newText": "e"}]});
    assert_eq!(
        job.call_by_model(Edit, both),
        "invalid_arguments: edit: has no argument \"oldText\"; it takes path, edits"
    );
    assert_eq!(fs::read(job.path("out/file")).unwrap(), b"c\n");
}

#[test]
fn a_wrong_argument_in_the_list_is_named_by_its_path() {
    let job = Job::new();
    for (edits, message) in [
        (json!([{"oldText": "a", "newText": "b"}, {"newText": "b"}]), "edits[1].oldText is missing; it must be a text"),
        (json!([{"oldText": "a", "newText": 1}]), "edits[0].newText must be a text; got the number 1"),
        (
            json!([{"oldText": "a", "newText": "b", "all": true}]),
            "edits[0] has no argument \"all\"; it takes oldText, newText",
        ),
        (json!({"oldText": "a"}), "edits must be a list of objects with oldText, newText; got an object"),
        (json!("a"), "edits must be a list of objects with oldText, newText; got the text \"a\""),
        (json!(null), "edits is missing; it must be a list of objects with oldText, newText"),
    ] {
        assert_eq!(edit(&job, &edits), format!("invalid_arguments: edit: {message}"));
    }
}

#[test]
fn a_model_is_told_what_was_taken_from_text_and_a_script_gets_the_file_alone() {
    let job = Job::new();
    let arguments = json!({"path": "app/main.rs", "limit": "1"});
    assert_eq!(job.call(Read, arguments.clone()), "fn main() {}\n");
    assert_eq!(job.call_by_model(Read, arguments), "fn main() {}\n[limit: the text \"1\" was taken as the number 1]");
    assert_eq!(job.call_by_model(Read, json!({"path": "app/main.rs", "limit": 1})), "fn main() {}\n");
    assert_eq!(
        job.call_by_model(Ls, json!({"path": "app", "depth": "2"})),
        "main.rs\n[depth: the text \"2\" was taken as the number 2]"
    );
    assert_eq!(
        job.call_by_model(Find, json!({"pattern": "*.rs", "ignored": "true"})),
        "app/main.rs\n[ignored: the text \"true\" was taken as true]"
    );
    assert_eq!(
        job.call_by_model(Grep, json!({"pattern": "main", "context": "1", "ignoreCase": "false"})),
        "app/main.rs:1: fn main() {}\n[context: the text \"1\" was taken as the number 1]\n[ignoreCase: the text \"false\" was taken as false]"
    );
}
