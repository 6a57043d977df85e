//! `anchorhold report`, from the records of real runs.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failed expectation is a failed test")]

mod support;

use support::{Folder, script_job};

/// The page of a run of that script; the run's own exit code does not matter.
fn page(script: &str) -> String {
    let folder = Folder::with(&[("x.yaml", &script_job(script))]);
    folder.run(&["run", "x.yaml", "--record", "record.jsonl"]);
    let did = folder.run(&["report", "record.jsonl", "--out", "page.html"]);
    assert_eq!((did.code, did.stdout.as_str(), did.stderr.as_str()), (Some(0), "", "page.html\n"));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    let printed = folder.run(&["report", "record.jsonl"]);
    assert_eq!((printed.code, printed.stdout), (Some(0), page.clone()));
    page
}

/// How often a text occurs.
fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

#[test]
fn a_page_tells_what_was_called_blocked_and_returned() {
    let page = page(
        "await tools.ls({path: '/out'}); try { await tools['write']({path: '/out/a', content: ''}) } catch {}\n\
         await tools.ls({path: '/nowhere'}).catch(() => {}); return 'forty-two'",
    );
    assert_eq!(count(&page, "<strong>ls</strong>"), 2);
    assert_eq!(count(&page, "<strong>blocked write</strong>"), 1);
    assert_eq!(count(&page, "<div class=\"bad\">"), 1, "the call of a path that is not there");
    assert_eq!(count(&page, "<span class=\"outcome good\">Completed</span>"), 1);
    assert_eq!(count(&page, "<pre>forty-two"), 1);
}

#[test]
fn what_a_script_prints_stays_text_on_the_page() {
    let hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>";
    let page = page(&format!(
        "text({hostile:?}); await tools.ls({{path: {hostile:?}}}).catch(() => {{}}); throw new Error({hostile:?})"
    ));
    assert_eq!(count(&page, "<script"), 0);
    assert_eq!(count(&page, "<img"), 0);
    assert!(count(&page, "&lt;script&gt;alert(1)") >= 3, "{page}");
    assert_eq!(count(&page, "<span class=\"outcome bad\">Threw</span>"), 1);
}

#[test]
fn a_record_that_ends_early_says_so() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 1"))]);
    folder.run(&["run", "x.yaml", "--record", "record.jsonl"]);
    let record = std::fs::read_to_string(folder.path().join("record.jsonl")).unwrap();
    let lines: Vec<&str> = record.lines().collect();
    folder.write("part.jsonl", format!("{}\nnot of the record\n{}\n", lines[0], lines[2]));
    let page = folder.run(&["report", "part.jsonl"]).stdout;
    for note in ["The record ends before the run", "1 lines of the record are missing", "1 lines are none of a record"]
    {
        assert_eq!(count(&page, note), 1, "{note}");
    }
}

#[test]
fn what_is_no_record_is_refused() {
    let folder = Folder::with(&[("empty", ""), ("other", "hello\n")]);
    for file in ["empty", "other"] {
        let did = folder.run(&["report", file]);
        let told = format!(
            "error: {file}: holds no line of a record; a record is what a job's pod logs, or run --record keeps\n"
        );
        assert_eq!((did.code, did.stdout.as_str(), did.stderr), (Some(2), "", told));
    }
    let did = folder.run(&["report", "absent"]);
    assert_eq!(did.code, Some(2));
    assert_eq!(did.stderr, "error: failed to read absent: No such file or directory (os error 2)\n");
}
