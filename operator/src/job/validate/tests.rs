use anchorhold_crds::{AgentSpec, JobSpec};
use serde_json::{Value, json};

use super::*;

#[expect(clippy::needless_pass_by_value, reason = "a literal at each call reads better")]
fn job(spec: Value) -> Job {
    let mut whole = json!({"agentRef": {"name": "reader"}});
    let script = spec.get("prompt").or(spec.get("promptFrom")).is_none();
    if script {
        whole["script"] = "return 1".into();
    }
    for (key, value) in spec.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let spec: JobSpec = serde_json::from_value(whole).unwrap();
    let mut job = Job::new("count", spec);
    job.metadata.namespace = Some("team-a".into());
    job.metadata.uid = Some("u1".into());
    job
}

fn agent(spec: Value) -> Agent {
    let spec: AgentSpec = serde_json::from_value(spec).unwrap();
    Agent::new("reader", spec)
}

fn refused(job: &Job, agent: &Agent, servers: &Servers) -> (JobReason, String) {
    match validate(job, agent, servers) {
        Err(Refusal::Job(verdict)) => (verdict.reason, verdict.message),
        other => panic!("{other:?}"),
    }
}

fn accepted(job: &Job, agent: &Agent) -> ValidatedJob {
    validate(job, agent, &vec![]).unwrap()
}

#[test]
fn what_comes_with_a_later_release_is_refused_by_its_field() {
    let reader = agent(json!({}));
    for (spec, field) in [
        (json!({"prompt": "say hello"}), "spec.prompt "),
        (json!({"promptFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}), "spec.promptFrom "),
        (
            json!({"sources": [{"name": "app", "repository": {"mcpServerRef": {"name": "code"}, "name": "app"}}]}),
            "spec.sources[0].repository ",
        ),
    ] {
        let (reason, message) = refused(&job(spec), &reader, &vec![]);
        assert_eq!(reason, JobReason::NotImplemented);
        assert!(message.starts_with(field) && message.contains("; use "), "{message}");
    }
    let (reason, message) =
        refused(&job(json!({})), &agent(json!({"tools": ["codemode", "mcp__tracker__*"]})), &vec![]);
    assert_eq!(reason, JobReason::NotImplemented);
    assert!(message.starts_with("spec.tools[1] of Agent reader "), "{message}");
}

#[test]
fn a_server_that_cannot_be_used_is_named() {
    let servers = |state| vec![("tracker".to_owned(), state)];
    let reader = agent(json!({}));
    let (reason, message) = refused(&job(json!({})), &reader, &servers(ServerState::Missing));
    assert_eq!(reason, JobReason::McpServerMissing);
    assert!(message.contains("Agent reader names McpServer tracker, which does not exist"), "{message}");
    assert_eq!(refused(&job(json!({})), &reader, &servers(ServerState::Disabled)).0, JobReason::McpServerDisabled);
    assert!(validate(&job(json!({})), &reader, &servers(ServerState::Enabled)).is_ok());
}

#[test]
fn a_script_needs_an_agent_that_grants_codemode() {
    let (reason, message) = refused(&job(json!({})), &agent(json!({"tools": ["read"]})), &vec![]);
    assert_eq!(reason, JobReason::ToolNotGranted);
    assert!(message.contains("spec.tools of Agent reader"), "{message}");
}

#[test]
fn a_script_that_grows_too_large_as_json_is_refused_before_it_is_written() {
    let (reason, message) = refused(&job(json!({"script": "\u{1}".repeat(200_000)})), &agent(json!({})), &vec![]);
    assert_eq!(reason, JobReason::InvalidSpec);
    assert!(message.starts_with("spec.script has 1200002 bytes once written as JSON"), "{message}");
}

#[test]
fn an_amount_that_is_none_is_named() {
    let (reason, message) = refused(&job(json!({"output": {"sizeLimit": "much"}})), &agent(json!({})), &vec![]);
    assert_eq!(
        (reason, message.as_str()),
        (JobReason::InvalidSpec, "spec.output.sizeLimit is \"much\"; it must be a positive amount such as 1Gi")
    );
    let odd = agent(json!({"sandbox": {"resources": {"limits": {"memory": "lots"}}}}));
    let (reason, message) = refused(&job(json!({})), &odd, &vec![]);
    assert_eq!(reason, JobReason::AgentInvalid);
    assert!(message.contains("spec.sandbox.resources.limits.memory"), "{message}");
}

#[test]
fn a_job_is_never_without_a_memory_limit_and_never_asks_for_more_than_that() {
    let amounts = |sandbox: Value| {
        let resources = accepted(&job(json!({})), &agent(json!({"sandbox": {"resources": sandbox}}))).resources;
        serde_json::to_value(&resources).unwrap()
    };
    assert_eq!(
        amounts(json!({})),
        json!({"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}})
    );
    assert_eq!(
        amounts(json!({"limits": {"memory": "64Mi"}})),
        json!({"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi"}})
    );
    assert_eq!(
        amounts(json!({"requests": {"memory": "2Gi"}})),
        json!({"requests": {"cpu": "100m", "memory": "2Gi"}, "limits": {"memory": "2Gi"}})
    );
    assert_eq!(
        amounts(json!({"limits": {"cpu": "1", "memory": "1Gi"}})),
        json!({"limits": {"cpu": "1", "memory": "1Gi"}})
    );
}

#[test]
fn an_object_without_a_uid_is_our_defect_and_not_the_users() {
    let mut anonymous = job(json!({}));
    anonymous.metadata.uid = None;
    assert!(matches!(validate(&anonymous, &agent(json!({})), &vec![]), Err(Refusal::Bug(_))));
}
