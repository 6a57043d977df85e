//! `anchorhold validate`: one clear message for each thing that can be wrong, with its place.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod support;

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use support::{AGENT, Did, Folder, job, repository, script_job};

/// The findings of a file, without its summary line.
fn findings(text: &str) -> Vec<String> {
    let did = Folder::validate(text);
    assert_eq!(did.stderr, "");
    let mut lines: Vec<String> = did.stdout.lines().map(str::to_owned).collect();
    let summary = lines.pop().unwrap();
    let has_errors = lines.iter().any(|line| line.contains(": error: "));
    assert_eq!(did.code, Some(if has_errors { 2 } else { 0 }), "{summary}");
    lines
}

/// Each text has exactly these findings.
fn check(table: &[(&str, &str, &[&str])]) {
    for (what, text, wanted) in table {
        assert_eq!(findings(text), *wanted, "{what}:\n{text}");
    }
}

/// A Job whose spec, from line 8 on, is this.
fn spec(text: &str) -> String {
    format!("{}{text}---\n{AGENT}", job("look"))
}

/// An McpServer whose spec, from line 6 on, is this.
fn server(text: &str) -> String {
    format!("apiVersion: anchorhold.dev/v1alpha1\nkind: McpServer\nmetadata:\n  name: tracker\nspec:\n{text}")
}

#[test]
fn text_that_is_not_yaml_says_where() {
    check(&[
        (
            "a tab",
            &spec("  script: return 1\n\tsuspend: true\n"),
            &["x.yaml:9:1: error: not YAML: a tab indents this line; indent with spaces"],
        ),
        (
            "a duplicate key",
            &spec("  script: return 1\n  script: return 2\n"),
            &["x.yaml:9:3: error: spec.script: this key stands on line 8 already; keep one of the two"],
        ),
        (
            "an unclosed list",
            "apiVersion: anchorhold.dev/v1alpha1\nkind: Agent\nmetadata: {name: a}\nspec: {tools: [read\n",
            &["x.yaml:4:15: error: not YAML: unclosed bracket '['"],
        ),
        (
            "an alias of nothing",
            &spec("  script: *code\n"),
            &[
                "x.yaml:8:11: error: not YAML: while parsing node, found unknown anchor; define the anchor before its alias, or write the value out",
            ],
        ),
        (
            "a tag",
            &spec("  script: !code return 1\n"),
            &["x.yaml:8:17: error: spec.script: the tag !code means nothing here; remove it"],
        ),
        (
            "an unquoted yes",
            &spec("  script: return 1\n  suspend: yes\n"),
            &[
                "x.yaml:9:12: error: spec.suspend: unquoted yes is a boolean to kubectl and a text to others; write \"yes\", true or false",
            ],
        ),
        (
            "a leading zero",
            &spec("  script: return 1\n  backoffLimit: 010\n"),
            &[
                "x.yaml:9:17: error: spec.backoffLimit: 010 is octal to kubectl and decimal to others; quote a text, or leave out the leading 0",
            ],
        ),
        (
            "anchors, aliases and merge keys are fine",
            &spec(
                "  script: return 1\n  sources:\n    - {name: a, persistentVolumeClaim: &claim {claimName: a}}\n    - {name: b, persistentVolumeClaim: {<<: *claim, subPath: b}}\n",
            ),
            &[],
        ),
    ]);
}

#[test]
fn an_alias_bomb_ends_at_once() {
    let levels: Vec<String> = (1..12)
        .map(|level| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", ")))
        .collect();
    let text = format!("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n{}", levels.concat());
    assert_eq!(
        findings(&text),
        [
            "x.yaml:5:45: error: the document holds more than 100000 values, aliases written out; split it, or use fewer aliases"
        ]
    );
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let folder = Folder::with(&[("empty/notes.txt", "x")]);
    folder.write("latin.yaml", b"a: b\nc: \xe9\n");
    folder.write("large.yaml", vec![b'#'; (16 << 20) + 1]);
    for (path, wanted) in [
        ("gone.yaml", "gone.yaml: error: failed to open the file: No such file or directory (os error 2)"),
        ("empty", "empty: error: the folder holds no *.yaml, *.yml or *.json file; name a folder that does"),
        ("latin.yaml", "latin.yaml: error: line 2 is not UTF-8; save the file as UTF-8"),
        ("large.yaml", "large.yaml: error: the file is larger than 16777216 bytes; split it"),
    ] {
        assert_eq!(
            folder.run(&["validate", path]),
            Did { code: Some(2), stdout: format!("{wanted}\n0 objects, 1 error, 0 warnings\n"), stderr: String::new() }
        );
    }
}

#[test]
fn what_is_not_quite_one_of_our_kinds_is_an_error_and_what_is_foreign_is_left_alone() {
    check(&[
        (
            "another version",
            "apiVersion: anchorhold.dev/v1\nkind: Job\n",
            &["x.yaml:1:1: error: apiVersion: unknown version \"anchorhold.dev/v1\"; write anchorhold.dev/v1alpha1"],
        ),
        (
            "an unknown kind",
            "apiVersion: anchorhold.dev/v1alpha1\nkind: Jobs\n",
            &["x.yaml:2:1: error: kind: unknown kind \"Jobs\" of anchorhold.dev/v1alpha1; did you mean Job?"],
        ),
        (
            "no kind",
            "apiVersion: v1\n",
            &["x.yaml:1:1: error: kind: is missing or no text; ours are Job, Agent and McpServer"],
        ),
        (
            "no object",
            "replicas: 2\n",
            &["x.yaml:1:1: error: is no Kubernetes object: it has neither apiVersion nor kind"],
        ),
        ("a foreign Job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: A B}\nspec: {x: yes}\n", &[]),
    ]);
    let folder = Folder::with(&[("values.yaml", "replicas: 2\n"), ("job.yaml", &script_job("return 1"))]);
    assert_eq!(
        folder.run(&["validate", "."]).stdout,
        "2 objects, 0 errors, 0 warnings, 1 document of other kinds skipped\n"
    );
}

#[test]
fn structure_is_checked_as_the_api_server_checks_it() {
    check(&[
        (
            "an unknown field",
            &spec("  script: return 1\n  sorces: []\n"),
            &["x.yaml:9:3: error: spec.sorces: is not a known field: did you mean sources?"],
        ),
        (
            "an unknown field that would steer a terminal",
            &spec("  script: return 1\n  \"\\e[2J\": 1\n"),
            &[
                "x.yaml:5:1: error: spec.\\u{1b}[2J: is not a known field: the fields here are activeDeadlineSeconds, agentRef, backoffLimit, cancel, output, prompt, promptFrom, script, sources, startDeadlineSeconds, suspend, ttlSecondsAfterFinished",
            ],
        ),
        (
            "a missing field",
            "apiVersion: anchorhold.dev/v1alpha1\nkind: Job\nmetadata: {name: a}\nspec:\n  script: return 1\n",
            &["x.yaml:4:1: error: spec.agentRef: is required: add it"],
        ),
        (
            "a number for a text",
            &spec("  script: 7\n"),
            &["x.yaml:8:3: error: spec.script: must be text, not a number: put it in quotes"],
        ),
        (
            "a text for a number",
            &spec("  script: return 1\n  backoffLimit: \"1\"\n"),
            &["x.yaml:9:3: error: spec.backoffLimit: must be a whole number, not text: remove the quotes"],
        ),
        (
            "nothing",
            &spec("  script: return 1\n  prompt:\n"),
            &["x.yaml:9:3: error: spec.prompt: must be text, not nothing: write a value or remove the field"],
        ),
        (
            "out of bounds",
            &spec("  script: return 1\n  backoffLimit: 11\n"),
            &["x.yaml:9:3: error: spec.backoffLimit: is 11; at most 10 is allowed"],
        ),
        (
            "not of the list",
            &server("  url: https://tracker.example.com/mcp\n  exposure: direct\n"),
            &["x.yaml:7:3: error: spec.exposure: must be one of Codemode, Direct, Deferred, Hidden, not \"direct\""],
        ),
    ]);
}

#[test]
fn names_are_checked_as_the_api_server_checks_them() {
    let named = |name: &str| format!("{}  script: return 1\n---\n{AGENT}", job(name));
    check(&[
        ("63 characters are fine", &named(&"j".repeat(63)), &[]),
        (
            "64 are not",
            &named(&"j".repeat(64)),
            &[
                "x.yaml:1:1: error: the name of a Job must be at most 63 characters (it becomes a label value): choose a shorter metadata.name",
            ],
        ),
        (
            "upper case",
            &named("Look"),
            &[
                "x.yaml:4:3: error: metadata.name: must consist of lower case letters, digits, '-' and '.', and start and end with a letter or digit",
            ],
        ),
        (
            "a number in a label",
            &named("look\n  labels: {tier: 1}"),
            &["x.yaml:5:18: error: metadata.labels.tier: must be text, not a number: put it in quotes"],
        ),
        (
            "a label that is a sentence",
            &named("look\n  labels: {tier: of the web}"),
            &[
                "x.yaml:5:18: error: metadata.labels.tier: must have at most 63 letters, digits, '-', '_' and '.', and start and end with a letter or digit: a longer text is an annotation",
            ],
        ),
        (
            "a namespace with a dot",
            &named("look\n  namespace: a.b"),
            &[
                "x.yaml:5:14: error: metadata.namespace: must consist of lower case letters, digits and '-', start and end with a letter or digit, and have at most 63 characters",
            ],
        ),
        (
            "no name",
            &named("look").replacen("  name: look\n", "  labels: {}\n", 1),
            &["x.yaml:3:1: error: metadata.name: is required: add it"],
        ),
    ]);
}

#[test]
fn the_rules_of_a_job_say_what_to_do() {
    check(&[
        (
            "two programs",
            &spec("  script: return 1\n  prompt: look\n"),
            &[
                "x.yaml:5:1: error: spec: a Job needs exactly one of prompt, promptFrom and script: set one and remove the others",
                "x.yaml:9:3: error: spec.prompt: is not implemented in this version: agents come with a later release; use spec.script",
            ],
        ),
        (
            "an empty script",
            &spec("  script: \"  \"\n"),
            &["x.yaml:8:3: error: spec.script: is empty: write something or leave it out"],
        ),
        (
            "a source of no kind",
            &spec("  script: return 1\n  sources:\n    - name: app\n"),
            &[
                "x.yaml:10:7: error: spec.sources[0]: a source needs exactly one of persistentVolumeClaim, configMap, image and repository: set one and remove the others",
            ],
        ),
        (
            "two sources of one name",
            &spec(
                "  script: return 1\n  sources:\n    - {name: app, persistentVolumeClaim: {claimName: a}}\n    - {name: app, persistentVolumeClaim: {claimName: b}}\n",
            ),
            &["x.yaml:11:7: error: spec.sources[1]: has the name of an earlier entry: choose another"],
        ),
        (
            "a path that leaves its volume",
            &spec(
                "  script: return 1\n  sources:\n    - {name: app, persistentVolumeClaim: {claimName: a, subPath: ../b}}\n",
            ),
            &[
                "x.yaml:10:57: error: spec.sources[0].persistentVolumeClaim.subPath: subPath must be a relative path without '..': write it from the top of the volume",
            ],
        ),
    ]);
}

#[test]
fn the_rules_of_a_server_say_what_to_do() {
    let url = "  url: https://tracker.example.com/mcp\n";
    check(&[
        ("a plain server", &server(url), &[]),
        (
            "the host itself",
            &server("  url: http://127.1/mcp\n"),
            &[
                "x.yaml:6:3: error: spec.url: must not point to a loopback, link-local, unspecified or multicast address, nor spell an address unusually: write the server's own name or address",
            ],
        ),
        (
            "a password",
            &server("  url: https://me:secret@tracker.example.com/mcp\n"),
            &[
                "x.yaml:6:3: error: spec.url: must be http:// or https://, a host, and perhaps a port and a path, without user, password and fragment, such as https://tracker.example.com/mcp",
            ],
        ),
        (
            "a header that is ours",
            &server(&format!("{url}  headers:\n    - {{name: Host, value: a}}\n")),
            &[
                "x.yaml:8:8: error: spec.headers[0].name: this header steers the connection, names the client or belongs to MCP and cannot be set: remove it",
            ],
        ),
        (
            "a value that could be expanded",
            &server(&format!("{url}  headers:\n    - {{name: X-Key, value: \"${{KEY}}\"}}\n")),
            &[
                "x.yaml:8:21: error: spec.headers[0].value: the value of a header must not start with ! and must not contain ${…} or $NAME: a program that expands them would see something else; write the value itself or take it from a Secret",
            ],
        ),
    ]);
}

#[test]
fn what_this_version_does_not_do_is_said_by_name() {
    check(&[
        (
            "a prompt",
            &spec("  prompt: look\n"),
            &[
                "x.yaml:8:3: error: spec.prompt: is not implemented in this version: agents come with a later release; use spec.script",
            ],
        ),
        (
            "a repository",
            &spec(
                "  script: return 1\n  sources:\n    - name: lib\n      repository: {mcpServerRef: {name: code}, name: lib}\n",
            ),
            &[
                "x.yaml:11:7: error: spec.sources[0].repository: is not implemented in this version: code servers come with a later release; use persistentVolumeClaim, configMap or image",
            ],
        ),
        (
            "MCP tools",
            &AGENT.replace("codemode]", "codemode, mcp__tracker__*]"),
            &[
                "x.yaml:6:43: error: spec.tools[5]: grants MCP tools, which is not implemented in this version: they come with a later release; take the mcp__ entries out",
            ],
        ),
    ]);
}

#[test]
fn references_lead_to_what_is_there() {
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {a: x}\n";
    check(&[
        (
            "an agent that is not in these files",
            &format!("{}  script: return 1\n", job("look")),
            &[
                "x.yaml:7:5: warning: spec.agentRef.name: Agent reader is not in these files: it must exist in the cluster",
            ],
        ),
        (
            "an agent of another namespace",
            &format!(
                "{}  script: return 1\n---\n{}",
                job("look\n  namespace: a"),
                AGENT.replace("name: reader", "name: reader\n  namespace: b")
            ),
            &[
                "x.yaml:8:5: warning: spec.agentRef.name: Agent reader is not in these files: it must exist in the cluster",
            ],
        ),
        (
            "an agent without codemode",
            &spec("  script: return 1\n").replace(", codemode", ""),
            &[
                "x.yaml:8:3: error: spec.script: needs the tool codemode, which spec.tools of Agent reader does not grant: add it there",
            ],
        ),
        (
            "a key that the ConfigMap does not have",
            &format!(
                "{}{map}",
                spec(
                    "  script: return 1\n  sources: [{name: app, configMap: {name: notes, items: [{key: b, path: b}]}}]\n"
                )
            ),
            &[
                "x.yaml:9:59: error: spec.sources[0].configMap.items[0].key: ConfigMap notes has no key \"b\": correct the key, or add it there",
            ],
        ),
        (
            "a server that no job could call yet",
            &format!("{AGENT}  mcp: [{{server: tracker}}]\n"),
            &[
                "x.yaml:7:3: error: spec.mcp: is not implemented in this version: MCP servers are called by a later release; take it out",
            ],
        ),
        (
            "two documents of one name",
            &format!("{AGENT}---\n{AGENT}"),
            &[
                "x.yaml:11:3: error: metadata.name: Agent/reader stands in x.yaml:4 already: rename or remove one of the two",
            ],
        ),
        (
            "one name in two namespaces is fine",
            &format!("{AGENT}---\n{}", AGENT.replace("name: reader", "name: reader\n  namespace: b")),
            &[],
        ),
    ]);
}

#[test]
fn strict_counts_warnings_as_errors() {
    let folder = Folder::with(&[("x.yaml", &format!("{}  script: return 1\n", job("look")))]);
    assert_eq!(folder.run(&["validate", "x.yaml"]).code, Some(0));
    assert_eq!(folder.run(&["validate", "--strict", "x.yaml"]).code, Some(2));
}

#[test]
fn items_of_a_list_are_documents_of_their_own() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: anchorhold.dev/v1alpha1\n  kind: Agent\n  metadata: {name: a}\n  spec: {tool: []}\n";
    assert_eq!(findings(list), ["x.yaml:7:10: error: items[0].spec.tool: is not a known field: did you mean tools?"]);
}

#[test]
fn one_broken_document_does_not_hide_the_others_and_order_is_that_of_the_text() {
    let text = format!("a: [1\n---\n{}---\nb: {{1\n", AGENT.replace("tools", "tols"));
    let found = findings(&text);
    let places: Vec<&str> = found.iter().map(|line| line.split(": error").next().unwrap()).collect();
    assert_eq!(places, ["x.yaml:1:4", "x.yaml:8:3", "x.yaml:10:4"], "{found:?}");
}

#[test]
fn standard_input_and_json_files_are_manifests_too() {
    let folder = Folder::with(&[(
        "x.json",
        "{\n\t\"apiVersion\": \"anchorhold.dev/v1alpha1\",\n\t\"kind\": \"Agent\",\n\t\"metadata\": {\"name\": \"a\"},\n\t\"spec\": {\"tools\": \"read\"}\n}\n",
    )]);
    let mut child =
        folder.command(&["validate", "-", "x.json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"kind: Job\n").unwrap();
    let did = Did::from(child.wait_with_output().unwrap());
    assert_eq!(
        did.stdout,
        "-:1:1: error: apiVersion: is missing or no text; ours is anchorhold.dev/v1alpha1\nx.json:5:11: error: spec.tools: must be a list, not text\n1 object, 2 errors, 0 warnings\n"
    );
}

#[test]
fn json_output_is_one_document_with_the_same_findings() {
    let folder = Folder::with(&[("x.yaml", &spec("  script: 7\n"))]);
    let did = folder.run(&["validate", "-o", "json", "x.yaml"]);
    assert_eq!((did.code, did.stderr.as_str()), (Some(2), ""));
    assert_eq!(
        serde_json::from_str::<Value>(&did.stdout).unwrap(),
        json!({
            "valid": false,
            "objects": 2,
            "skipped": 0,
            "errors": 1,
            "warnings": 0,
            "findings": [{
                "file": "x.yaml",
                "line": 8,
                "column": 3,
                "severity": "error",
                "object": "Job/look",
                "field": "spec.script",
                "message": "must be text, not a number: put it in quotes",
            }],
        })
    );
}

#[test]
fn every_example_is_valid() {
    let folder = Folder::with(&[]);
    let examples = repository().join("examples");
    let did = folder.run(&["validate", "--strict", examples.to_str().unwrap()]);
    assert_eq!((did.code, did.stdout.contains(" 0 errors, 0 warnings")), (Some(0), true), "{}", did.stdout);
}

#[test]
fn what_a_folder_hides_behind_links_and_pipes_is_told() {
    let folder = Folder::with(&[("m/agent.yaml", AGENT), ("elsewhere/x.yaml", "not: ours\n")]);
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, folder.path().join(at)).unwrap();
    link("../elsewhere", "m/sub");
    let did = folder.run(&["validate", "m"]);
    let told = "m/sub: warning: is a link to a folder, which is not followed; name it on the command line";
    assert_eq!(did.code, Some(0));
    assert!(format!("{}{}", did.stdout, did.stderr).contains(told), "{did:?}");
    link("nowhere", "m/gone.yaml");
    let pipe = std::process::Command::new("mkfifo").arg(folder.path().join("m/pipe.yaml")).status().unwrap();
    assert!(pipe.success());
    let did = folder.run(&["validate", "m"]);
    assert_eq!(did.code, Some(2));
    for told in [
        "m/gone.yaml: error: failed to open the file: No such file",
        "m/pipe.yaml: error: is no regular file; take it away",
    ] {
        assert!(format!("{}{}", did.stdout, did.stderr).contains(told), "{did:?}");
    }
}
