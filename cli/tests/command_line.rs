//! The command line itself.

mod support;

use std::os::unix::process::CommandExt;

use support::{Did, Folder};

#[test]
fn the_version_is_printed_for_people_and_for_programs() {
    let folder = Folder::with(&[]);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        folder.run(&["version"]),
        Did {
            code: Some(0),
            stdout: format!("anchorhold {version} (anchorhold.dev/v1alpha1, plan version 1)\n"),
            stderr: String::new()
        }
    );
    let did = folder.run(&["version", "-o", "json"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&did.stdout).unwrap(),
        serde_json::json!({ "version": version, "apiVersion": "anchorhold.dev/v1alpha1", "planVersion": 1 })
    );
}

#[test]
fn every_command_has_help_with_examples_and_the_runner_is_not_shown() {
    let folder = Folder::with(&[]);
    let help = folder.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("Exit codes:") && !help.stdout.contains("runner"), "{}", help.stdout);
    for command in ["run", "validate", "version", "completion"] {
        let did = folder.run(&[command, "--help"]);
        assert_eq!(did.code, Some(0));
        assert!(did.stdout.contains("Examples:\n  "), "{}", did.stdout);
    }
}

#[test]
fn what_the_command_line_does_not_know_exits_with_2() {
    let folder = Folder::with(&[]);
    for arguments in
        [&[][..], &["walk"], &["run"], &["validate"], &["run", ".", "--source", "app"], &["run", ".", "-o", "xml"]]
    {
        let did = folder.run(arguments);
        assert_eq!((did.code, did.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(!did.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn completion_is_a_script_for_each_shell() {
    let folder = Folder::with(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let did = folder.run(&["completion", shell]);
        assert_eq!((did.code, did.stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(did.stdout.contains("validate"), "{shell}");
    }
}

#[test]
fn as_a_kubectl_plugin_it_calls_itself_so() {
    let folder = Folder::with(&[]);
    let did =
        Did::from(folder.command(&["version", "--help"]).arg0("/usr/local/bin/kubectl-anchorhold").output().unwrap());
    assert!(did.stdout.contains("Usage: kubectl anchorhold version"), "{}", did.stdout);
}
