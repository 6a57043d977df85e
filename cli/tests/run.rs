//! `anchorhold run`, with the real runner and the real kernel.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use landlock::{AccessFs, Ruleset, RulesetAttr};
use serde_json::{Value, json};
use support::{AGENT, Did, Folder, job, program, repository, script_job};

fn completed(stdout: &str) -> Did {
    Did { code: Some(0), stdout: stdout.into(), stderr: String::new() }
}

fn refused(stderr: &str) -> Did {
    Did { code: Some(2), stdout: String::new(), stderr: stderr.into() }
}

#[test]
fn a_job_runs_from_its_manifests_and_only_its_result_is_on_standard_output() {
    let folder = Folder::with(&[("job.yaml", &script_job("text('one');\nreturn 1 + 1;"))]);
    assert_eq!(folder.run(&["run", "."]), completed("--- returned ---\n2\n--- text ---\none\n"));
}

#[test]
fn json_output_is_one_document() {
    let folder = Folder::with(&[("job.yaml", &script_job("return 'done';"))]);
    let did = folder.run(&["run", "job.yaml", "-o", "json"]);
    assert_eq!((did.code, did.stderr.as_str()), (Some(0), ""));
    let mut document: Value = serde_json::from_str(&did.stdout).unwrap();
    assert!(document["durationMs"].take().is_u64());
    assert_eq!(
        document,
        json!({
            "job": "look",
            "outcome": "Completed",
            "interrupted": false,
            "message": "",
            "place": null,
            "text": "done",
            "textCut": false,
            "textBytes": 4,
            "usage": {
                "turns": 0, "inputTokens": 0, "outputTokens": 0, "toolCalls": 0, "blockedCalls": 0, "scripts": 1,
            },
            "failedCalls": 0,
            "durationMs": null,
            "out": null,
            "files": [],
            "filesTotal": 0,
            "confined": true,
        })
    );
}

#[test]
fn a_result_larger_than_a_termination_message_comes_whole() {
    let folder = Folder::with(&[("job.yaml", &script_job("return 'é\\n\"'.repeat(6000) + 'end';"))]);
    let did = folder.run(&["run", "."]);
    assert_eq!(did.code, Some(0));
    assert_eq!(did.stdout, format!("{}end\n", "é\n\"".repeat(6000)));
}

#[test]
fn a_script_that_fails_exits_with_1_and_names_the_line_of_the_manifest() {
    let folder = Folder::with(&[("job.yaml", &script_job("text('before');\nconst list = null;\nlist.push(1);"))]);
    let did = folder.run(&["run", "."]);
    assert_eq!(did.code, Some(1));
    assert!(did.stdout.contains("before"), "{}", did.stdout);
    assert!(did.stderr.starts_with("./job.yaml:18:5: the script failed: TypeError"), "{}", did.stderr);
    assert!(did.stderr.contains("script.js:3:1"), "{}", did.stderr);
}

#[test]
fn sources_come_from_the_command_line_an_annotation_or_a_config_map() {
    let claims = "  sources:\n  - {name: app, persistentVolumeClaim: {claimName: app}}\n  - {name: notes, configMap: {name: notes, items: [{key: a, path: deep/a.txt}]}}\n";
    let script = "  script: |\n    const read = (path) => tools.read({ path, output: 'json' });\n    const files = await Promise.all([read('app/x.txt'), read('notes/deep/a.txt')]);\n    for (const { text: content } of files) text(content.trim());\n";
    let notes =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {a: from a ConfigMap, b: unused}\n---\n";
    let plain = format!("{notes}{AGENT}---\n{}{claims}{script}", job("look"));
    let annotated =
        plain.replace("  name: look\n", "  name: look\n  annotations: {anchorhold.dev/local-source.app: ../code}\n");
    let folder = Folder::with(&[
        ("plain.yaml", &plain),
        ("deploy/job.yaml", &annotated),
        ("code/x.txt", "from a folder\n"),
        ("other/x.txt", "from the command line\n"),
    ]);
    assert_eq!(
        folder.run(&["run", "plain.yaml"]),
        refused(
            "plain.yaml:21:5: error: spec.sources[0]: this source lives in a cluster: pass --source app=PATH, or annotate the Job with anchorhold.dev/local-source.app: PATH\n"
        )
    );
    assert_eq!(
        folder.run(&["run", "plain.yaml", "--source", "app=code"]),
        completed("from a folder\nfrom a ConfigMap\n")
    );
    assert_eq!(folder.run(&["run", "deploy"]), completed("from a folder\nfrom a ConfigMap\n"));
    assert_eq!(
        folder.run(&["run", "deploy", "--source", "app=other"]),
        completed("from the command line\nfrom a ConfigMap\n")
    );
    assert_eq!(
        folder.run(&["run", "deploy", "--source", "app=nowhere"]),
        refused("error: --source app: failed to open the folder nowhere: No such file or directory (os error 2)\n")
    );
    assert_eq!(
        folder.run(&["run", "deploy", "--source", "app=plain.yaml"]),
        refused("error: --source app: plain.yaml is not a folder; name one\n")
    );
    assert_eq!(
        folder.run(&["run", "deploy", "--source", "lib=code"]),
        refused("error: --source lib: the job has no source of that name; it has app, notes\n")
    );
}

#[test]
fn a_key_of_a_config_map_never_leaves_its_folder() {
    let folder = Folder::with(&[(
        "x.yaml",
        &format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: notes}}\ndata: {{../../escape: x}}\n---\n{AGENT}---\n{}  sources:\n  - {{name: notes, configMap: {{name: notes}}}}\n  script: return 1\n",
            job("look")
        ),
    )]);
    assert_eq!(
        folder.run(&["run", "."]),
        refused(
            "./x.yaml:21:19: error: spec.sources[0].configMap: ConfigMap notes: data[../../escape] is no key: use letters, digits, '-', '_' and '.'\n"
        )
    );
}

#[test]
fn an_empty_source_is_named_and_nothing_is_run() {
    let manifest = script_job("return 1;")
        .replace("  script: |", "  sources:\n  - {name: app, persistentVolumeClaim: {claimName: app}}\n  script: |");
    let folder = Folder::with(&[("x.yaml", &manifest)]);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(
        folder.run(&["run", "x.yaml", "--source", "app=empty"]),
        refused("error: the source app is empty: there is nothing to look at in /workspace/app\n")
    );
}

#[test]
fn which_job_is_run_is_never_guessed() {
    let two = format!("{AGENT}---\n{0}  script: return 1\n---\n{1}  script: return 2\n", job("one"), job("two"));
    let folder = Folder::with(&[("two.yaml", &two), ("agent.yaml", AGENT), ("none/x.yaml", AGENT)]);
    assert_eq!(
        folder.run(&["run", "two.yaml"]),
        refused("error: the manifests hold 2 Jobs; choose one with --job: one, two\n")
    );
    assert_eq!(folder.run(&["run", "two.yaml", "--job", "two"]), completed("2\n"));
    assert_eq!(
        folder.run(&["run", "two.yaml", "--job", "three"]),
        refused("error: no Job is called three; the manifests hold: one, two\n")
    );
    assert_eq!(
        folder.run(&["run", "none"]),
        refused("error: the manifests hold no Job; name a file or folder that does\n")
    );
}

#[test]
fn what_the_job_names_has_to_be_in_the_manifests() {
    let folder = Folder::with(&[
        ("alone.yaml", &format!("{}  script: return 1\n", job("look"))),
        (
            "map.yaml",
            &format!(
                "{AGENT}---\n{}  sources: [{{name: a, configMap: {{name: gone}}}}]\n  script: return 1\n",
                job("look")
            ),
        ),
    ]);
    assert_eq!(
        folder.run(&["run", "alone.yaml"]),
        refused(
            "alone.yaml:7:5: error: spec.agentRef.name: Agent reader is not in these files: add its file to the command line, or write one (kind: Agent)\n"
        )
    );
    assert_eq!(
        folder.run(&["run", "map.yaml"]),
        refused(
            "map.yaml:15:35: error: spec.sources[0].configMap.name: ConfigMap gone is not in these files: add its file to the command line, or pass --source a=PATH\n"
        )
    );
}

#[test]
fn manifests_with_errors_are_not_run() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 1;").replace("script:", "scirpt:"))]);
    assert_eq!(
        folder.run(&["run", "x.yaml"]),
        refused("x.yaml:15:3: error: spec.scirpt: is not a known field: did you mean script?\n")
    );
}

#[test]
fn what_is_suspended_or_cancelled_is_not_run() {
    let suspended = script_job("return 1;").replace("  script: |", "  suspend: true\n  script: |");
    let cancelled = script_job("return 1;").replace("  script: |", "  cancel: {reason: no more}\n  script: |");
    let agent = script_job("return 1;").replace("spec:\n  tools", "spec:\n  suspend: true\n  tools");
    let folder = Folder::with(&[("s.yaml", &suspended), ("c.yaml", &cancelled), ("a.yaml", &agent)]);
    for (file, message) in [
        ("s.yaml", "s.yaml:15:3: error: spec.suspend: the job is suspended: set it to false\n"),
        ("c.yaml", "c.yaml:15:3: error: spec.cancel: the job is cancelled: remove the field\n"),
        (
            "a.yaml",
            "a.yaml:15:5: error: spec.agentRef.name: Agent reader is suspended: set its spec.suspend to false\n",
        ),
    ] {
        assert_eq!(folder.run(&["run", file]), refused(message));
    }
}

#[test]
fn a_script_sees_its_sources_and_nothing_else_of_the_machine() {
    let script = "const look = async (path) => { try { await tools.read({ path }); return 'read'; } catch (error) { return error.code; } };\nreturn Promise.all(['app/x.txt', '/etc/passwd', 'app/../../x', 'app/link'].map(look));";
    let manifest = script_job(script)
        .replace("  script: |", "  sources:\n  - {name: app, persistentVolumeClaim: {claimName: app}}\n  script: |");
    let folder = Folder::with(&[("x.yaml", &manifest), ("app/x.txt", "x")]);
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("app/link")).unwrap();
    let did = folder.run(&["run", "x.yaml", "--source", "app=app", "-o", "json"]);
    let document: Value = serde_json::from_str(&did.stdout).unwrap();
    let outcomes: Vec<String> = serde_json::from_str(document["text"].as_str().unwrap()).unwrap();
    assert_eq!(outcomes, ["read", "failed", "failed", "failed"]);
}

#[test]
fn the_record_is_kept_where_it_is_told_and_ends_with_the_result() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 7;"))]);
    assert_eq!(folder.run(&["run", "x.yaml", "--record", "record.jsonl"]), completed("7\n"));
    let record = std::fs::read_to_string(folder.path().join("record.jsonl")).unwrap();
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["run.started", "gate.passed", "script.started", "script.ended", "run.ended"]);
    assert_eq!(lines[4]["result"]["text"], "7");
    let did = folder.run(&["run", "x.yaml", "--record", "none/record.jsonl"]);
    assert_eq!(
        did,
        refused(
            "error: --record none/record.jsonl: failed to create the file: No such file or directory (os error 2)\n"
        )
    );
}

#[test]
fn an_output_folder_must_be_the_jobs_own() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 7;")), ("full/file", "x")]);
    assert_eq!(folder.run(&["run", "x.yaml", "--out", "new/out"]), completed("7\n"));
    assert!(folder.path().join("new/out").is_dir());
    assert_eq!(
        folder.run(&["run", "x.yaml", "--out", "full"]),
        refused("error: --out full: the folder is not empty; name a new or an empty one\n")
    );
}

#[test]
fn an_unconfined_run_says_so_in_its_result() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 7;"))]);
    let did = folder.run(&["run", "x.yaml", "--unconfined", "-o", "json"]);
    let document: Value = serde_json::from_str(&did.stdout).unwrap();
    assert_eq!((did.code, &document["text"], &document["confined"]), (Some(0), &json!("7"), &json!(false)));
}

#[test]
fn a_deadline_of_the_job_ends_its_script_with_1() {
    let manifest =
        script_job("text('kept');\nfor (;;);").replace("  script: |", "  activeDeadlineSeconds: 1\n  script: |");
    let folder = Folder::with(&[("x.yaml", &manifest)]);
    let did = folder.run(&["run", "x.yaml"]);
    assert_eq!(did.code, Some(1));
    assert!(did.stdout.contains("kept"), "{}", did.stdout);
    assert!(did.stderr.starts_with("the deadline passed: "), "{}", did.stderr);
}

/// Runs `work` on a thread that can take no further Landlock domain: sixteen is the kernel's limit, and a process that is
/// started there inherits them. What they forbid, the job does not do.
fn where_nothing_can_be_confined<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            for _ in 0..16 {
                let ruleset = Ruleset::default().handle_access(AccessFs::MakeBlock).unwrap().create().unwrap();
                ruleset.restrict_self().unwrap();
            }
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_record_replaces_a_record_and_nothing_else() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 7;"))]);
    let did = folder.run(&["run", "x.yaml", "--record", "x.yaml"]);
    let told = "error: --record x.yaml: the file exists and is no record; name another\n";
    assert_eq!((did.code, did.stdout.as_str(), did.stderr.as_str()), (Some(2), "", told));
    for _ in 0..2 {
        assert_eq!(folder.run(&["run", "x.yaml", "--record", "record.jsonl"]), completed("7\n"));
    }
}

#[test]
fn how_a_job_ended_is_told_by_the_exit_code_even_if_standard_error_takes_nothing() {
    let folder = Folder::with(&[("x.yaml", &script_job("throw new Error('no')"))]);
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let code = |arguments: &[&str]| folder.command(arguments).stderr(full()).status().unwrap().code();
    assert_eq!(code(&["run", "x.yaml"]), Some(1));
    assert_eq!(code(&["run", "absent.yaml"]), Some(2));
}

#[test]
fn a_limit_that_was_inherited_is_no_reason_to_run_unconfined() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 7;"))]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -v 4000000; exec \"$0\" run x.yaml"]).arg(program()).current_dir(folder.path());
    assert_eq!(Did::from(shell.output().unwrap()), completed("7\n"));
}

#[test]
fn a_kernel_that_cannot_confine_runs_nothing_and_exits_with_3() {
    let folder = Folder::with(&[("x.yaml", &script_job("return 7;"))]);
    let did = where_nothing_can_be_confined(|| folder.run(&["run", "x.yaml"]));
    assert_eq!((did.code, did.stdout.as_str()), (Some(3), ""));
    assert!(did.stderr.starts_with("this kernel cannot confine the job: "), "{}", did.stderr);
    assert!(did.stderr.contains("--unconfined"), "{}", did.stderr);
    assert_eq!(folder.run(&["run", "x.yaml"]), completed("7\n"), "the control");
    assert_eq!(where_nothing_can_be_confined(|| folder.run(&["run", "x.yaml", "--unconfined"])), completed("7\n"));
}

/// The processes of our program that were started in that folder.
fn processes_in(folder: &Folder) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let own = std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program());
        let here = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder.path()));
        if own && here {
            found.push(std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default());
        }
    }
    found
}

#[test]
fn an_interrupt_ends_the_job_with_130_and_leaves_no_process() {
    for (signal, arguments) in [
        ("INT", &["run", "x.yaml", "--record", "/dev/stderr"][..]),
        ("TERM", &["run", "x.yaml", "--record", "/dev/stderr"]),
    ] {
        let folder = Folder::with(&[("x.yaml", &script_job("for (;;);"))]);
        let mut child = folder.command(arguments).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // The record says when the script has begun.
        assert!(lines.by_ref().any(|line| line.unwrap().contains("script.started")));
        assert!(processes_in(&folder).len() >= 2);
        let sent = std::process::Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        let did = Did::from(child.wait_with_output().unwrap());
        assert_eq!(did.code, Some(130), "{signal}: {rest:?}");
        assert!(rest.iter().any(|line| line.starts_with("cancelled: ")), "{rest:?}");
        assert_eq!(processes_in(&folder), Vec::<String>::new());
    }
}

#[test]
fn when_the_program_is_killed_its_runner_goes_with_it() {
    let folder = Folder::with(&[("x.yaml", &script_job("for (;;);"))]);
    let mut child = folder
        .command(&["run", "x.yaml", "--record", "/dev/stderr"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("script.started")));
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel ends the others at once, but not in the same instant.
    for _ in 0..1000 {
        if processes_in(&folder).is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("left behind: {:?}", processes_in(&folder));
}

#[test]
fn the_quickstart_answers_its_question_about_this_repository() {
    let folder = Folder::with(&[]);
    let quickstart = repository().join("examples/quickstart");
    let did = folder.run(&["run", quickstart.to_str().unwrap()]);
    assert_eq!((did.code, did.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = did.stdout.lines().collect();
    assert_eq!(lines[0], "crate        functions   without a doc comment");
    assert!(lines.iter().any(|line| line.starts_with("plan ")), "{}", did.stdout);
    assert!(lines.len() <= 24 && lines.iter().all(|line| line.chars().count() <= 100), "{}", did.stdout);
}
