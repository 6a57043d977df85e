//! Sentences; which reason follows from which end is the table of `decide`.

use anchorhold_plan::{RunResult, Stage};

use super::*;

fn end(cause: Cause, result: Option<RunResult>, message: &str) -> End {
    End {
        cause,
        result: result.map(Box::new),
        exit_code: Some(1),
        message: message.into(),
        began: true,
        since: None,
        at: None,
    }
}

fn ended(outcome: Outcome, message: &str) -> RunResult {
    RunResult { stage: Stage::Ended, outcome: Some(outcome), message: message.into(), ..RunResult::default() }
}

fn verdict(end: &End) -> (JobReason, String) {
    match judge(end, None, None) {
        Judgement::Failed { verdict, .. } => (verdict.reason, verdict.message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_runners_own_words_are_the_best() {
    let threw = end(Cause::Exit, Some(ended(Outcome::Threw, "Error: not today (script.js:2)")), "ignored");
    assert_eq!(verdict(&threw), (JobReason::ScriptError, "Error: not today (script.js:2)".into()));
}

#[test]
fn a_limit_of_the_pod_is_named_before_what_the_runner_saw_of_it() {
    let killed = end(Cause::OutOfMemory, Some(ended(Outcome::Killed, "the script's process was killed")), "");
    assert_eq!(
        verdict(&killed),
        (
            JobReason::OOMKilled,
            "the runner was killed at its memory limit; raise spec.sandbox.resources.limits.memory of the Agent (the runner: the script's process was killed)".into()
        )
    );
}

#[test]
fn without_a_word_of_the_runner_the_clusters_words_are_told() {
    let evicted = end(Cause::Disrupted(Disruption::Evicted), None, "Evicted: The node was low on resource: memory.");
    assert_eq!(
        verdict(&evicted),
        (JobReason::Evicted, "the pod was evicted: Evicted: The node was low on resource: memory.".into())
    );
}

#[test]
fn a_full_output_is_told_from_other_evictions() {
    let full = r#"Evicted: Usage of EmptyDir volume "out" exceeds the limit "1Gi". "#;
    let (reason, message) = verdict(&end(Cause::Disrupted(Disruption::Evicted), None, full));
    assert_eq!(reason, JobReason::OutputFull);
    assert!(message.starts_with("the job wrote more to /out than spec.output.sizeLimit"), "{message}");
    let scratch = r#"Evicted: Usage of EmptyDir volume "tmp" exceeds the limit "64Mi". "#;
    assert_eq!(verdict(&end(Cause::Disrupted(Disruption::Evicted), None, scratch)).0, JobReason::Evicted);
}

#[test]
fn a_silent_runner_is_judged_by_its_exit_code() {
    let with_code = |code| verdict(&End { exit_code: Some(code), ..end(Cause::Exit, None, "") });
    assert_eq!(with_code(2).0, JobReason::PlanRejected);
    assert_eq!(with_code(3).0, JobReason::SandboxUnavailable);
    assert_eq!(with_code(5).0, JobReason::DeadlineExceeded);
    assert_eq!(with_code(7).0, JobReason::NetworkPolicyNotEnforced);
    assert_eq!(with_code(8).0, JobReason::SourceEmpty);
    assert_eq!(with_code(101).0, JobReason::InternalError);
    assert_eq!(
        with_code(0),
        (JobReason::RunnerCrashed, "the runner ended without reporting a result (exit code 0)".into()),
        "success without a result is none"
    );
    assert_eq!(
        with_code(139),
        (JobReason::RunnerCrashed, "the runner ended without reporting a result (exit code 139)".into())
    );
}

#[test]
fn a_cancelled_job_says_why_in_the_users_words() {
    let stopped = end(Cause::Deadline, Some(ended(Outcome::Cancelled, "told to stop")), "DeadlineExceeded");
    assert_eq!(
        judge(&stopped, Some(StopReason::Cancelled), Some("a better plan")),
        Judgement::Failed { verdict: Verdict::new(JobReason::Cancelled, "a better plan"), retry: Retry::Never }
    );
}
