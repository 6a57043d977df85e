use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn plan() -> RunPlan {
    RunPlan {
        version: PLAN_VERSION,
        job: JobIdentity { namespace: "team".into(), name: "count".into(), uid: "u-1".into() },
        program: Program::Script { source: "return 1".into() },
        sources: vec![Source { name: "app".into(), path: "/workspace/app".into() }],
        output: OutputVolume { path: "/out".into(), size_limit_bytes: 1 << 30 },
        tools: vec![KernelTool::Read, KernelTool::Codemode],
        limits: Limits::default(),
        gate: Gate::Probe { canaries: vec!["10.96.0.1:443".parse().unwrap()], rounds: 3, timeout_ms: 30_000 },
        record: RecordOptions::default(),
    }
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::to_value(plan()).unwrap();
    change(&mut value);
    RunPlan::parse(value.to_string().as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_plan_survives_being_written_and_read() {
    assert_eq!(RunPlan::parse(plan().to_json().unwrap().as_bytes()).unwrap(), plan());
}

#[test]
fn another_version_is_refused_as_such_even_when_its_fields_differ() {
    assert_eq!(
        RunPlan::parse(br#"{"version": 2, "prompt": "x"}"#).unwrap_err().to_string(),
        "the plan has version 2, this runner reads version 1; use the runner image of the operator's release"
    );
}

#[test]
fn an_unknown_field_is_refused_at_every_depth() {
    for path in
        ["", "/job", "/program/script", "/sources/0", "/output", "/limits", "/limits/script", "/gate/probe", "/record"]
    {
        let message = refusal(|plan| plan.pointer_mut(path).unwrap()["allowNetwork"] = json!(true));
        assert!(message.starts_with("failed to read the plan: unknown field `allowNetwork`"), "{path}: {message}");
    }
}

#[test]
fn values_that_cannot_be_honoured_name_their_field() {
    assert_eq!(
        refusal(|plan| plan["program"]["script"]["source"] = json!(" \n")),
        "the plan's program.script.source is empty; give the script at least one statement"
    );
    assert_eq!(
        refusal(|plan| plan["sources"][0]["name"] = json!("../etc")),
        "the plan's sources[0].name is \"../etc\"; it must be a DNS label: a-z, 0-9 and -, at most 63 characters"
    );
    assert_eq!(
        refusal(|plan| plan["gate"]["probe"]["canaries"] = json!([])),
        "the plan's gate.probe.canaries is empty; without a canary nothing is proved"
    );
    assert_eq!(
        refusal(|plan| plan["limits"]["timeoutSeconds"] = json!(0)),
        "the plan's limits.timeoutSeconds is 0; it must be between 1 and 604800"
    );
}

#[test]
fn two_sources_of_one_name_are_refused() {
    let message = refusal(|plan| {
        let first = plan["sources"][0].clone();
        plan["sources"].as_array_mut().unwrap().push(first);
    });
    assert_eq!(message, "the plan's sources[1].name \"app\" occurs twice");
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = RunPlan::parse(&bytes);
    }

    #[test]
    fn whatever_is_accepted_is_written_back_alike(source in "\\PC{1,80}", name in "[a-z0-9-]{1,8}") {
        let mut plan = plan();
        plan.program = Program::Script { source };
        plan.sources[0].name = name;
        let text = plan.to_json().unwrap();
        if let Ok(read) = RunPlan::parse(text.as_bytes()) {
            prop_assert_eq!(read, plan);
        }
    }
}
