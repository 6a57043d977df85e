//! The life of a job as a table: what is known and what is seen, and the one step that follows.

use anchorhold_plan::{Outcome, RunResult, Stage};

use super::super::facts::Finished;
use super::super::history::{History, OpenAttempt};
use super::super::stop::Stopped;
use super::*;

/// The present of every row.
const NOW: i64 = 10_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

/// A job that was created 100 s ago and has done nothing.
fn fresh() -> Facts {
    Facts {
        finished: None,
        cancel: None,
        suspend: false,
        agent_suspended: false,
        started: None,
        active_deadline: Some(seconds(3600)),
        waiting_since: at(NOW - 100),
        start_deadline: seconds(600),
        start_deadline_is_set: false,
        mounts: true,
        backoff_limit: 0,
        history: History { open: None, last: None, next: 0, counted: 0, uncounted: 0, not_before: None },
        engine_works: false,
        not_implemented: None,
    }
}

/// A job whose attempt 0 was made 50 s ago.
fn begun(ran: bool) -> Facts {
    let history = History { open: Some(OpenAttempt { number: 0, ran }), last: Some(0), next: 1, ..fresh().history };
    Facts { started: Some(at(NOW - 50)), history, ..fresh() }
}

/// The same, of a job that has waited for all of its time.
fn waited() -> Facts {
    Facts { waiting_since: at(NOW - 600), ..begun(false) }
}

fn finished(ttl: Option<i64>) -> Facts {
    Facts { finished: Some(Finished { at: at(NOW - 60), ttl: ttl.map(seconds) }), ..begun(true) }
}

fn cancelled(facts: Facts) -> Facts {
    Facts { cancel: Some("a better plan".into()), ..facts }
}

fn suspended(facts: Facts) -> Facts {
    Facts { suspend: true, ..facts }
}

fn agent_suspended(facts: Facts) -> Facts {
    Facts { agent_suspended: true, ..facts }
}

fn with_backoff_limit(limit: u32, facts: Facts) -> Facts {
    Facts { backoff_limit: limit, ..facts }
}

fn with_deadline(deadline: i64, facts: Facts) -> Facts {
    Facts { active_deadline: Some(seconds(deadline)), ..facts }
}

fn after(counted: u32, uncounted: u32, mut facts: Facts) -> Facts {
    facts.history = History { counted, uncounted, ..facts.history };
    facts
}

fn pod(state: State) -> Observation {
    Observation { created: at(NOW - 50), scheduled: true, stopped: None, leaving_by: None, disruption: None, state }
}

fn running() -> Observation {
    pod(State::Running { since: at(NOW - 40) })
}

fn waiting(wait: Wait) -> Observation {
    pod(State::Waiting(wait))
}

fn stopped(reason: StopReason, ago: i64, observation: Observation) -> Observation {
    Observation { stopped: Some(Stopped { reason, at: at(NOW - ago) }), ..observation }
}

fn leaving(by: i64, disruption: Option<Disruption>, observation: Observation) -> Observation {
    Observation { leaving_by: Some(at(by)), disruption, ..observation }
}

fn end(cause: Cause, outcome: Option<Outcome>, began: bool) -> End {
    let result = outcome.map(|outcome| {
        let stage = Stage::Ended;
        Box::new(RunResult {
            stage,
            outcome: Some(outcome),
            message: "the runner's words".into(),
            ..RunResult::default()
        })
    });
    End { cause, result, exit_code: Some(1), message: String::new(), began, since: None, at: Some(at(NOW - 1)) }
}

fn ended(cause: Cause, outcome: Option<Outcome>, began: bool) -> Observation {
    pod(State::Ended(end(cause, outcome, began)))
}

fn completed() -> Observation {
    ended(Cause::Exit, Some(Outcome::Completed), true)
}

fn threw() -> Observation {
    ended(Cause::Exit, Some(Outcome::Threw), true)
}

/// A step without its sentences, so that a row is a line.
#[derive(Debug, PartialEq)]
enum Short {
    Rest(Option<i64>),
    Remove,
    StopLeftover,
    Hold(Hold),
    BackOff(i64),
    Create(i32),
    Track(Option<JobReason>, Option<i64>),
    Stop(StopReason),
    Close(JobReason, bool),
    Complete,
    Fail(JobReason),
}

fn short(step: Step) -> Short {
    let second = |time: Timestamp| time.as_second() - NOW;
    match step {
        Step::Rest { until } => Short::Rest(until.map(second)),
        Step::Remove => Short::Remove,
        Step::StopLeftover => Short::StopLeftover,
        Step::Hold(hold) => Short::Hold(hold),
        Step::BackOff { until } => Short::BackOff(second(until)),
        Step::Create { attempt } => Short::Create(attempt),
        Step::Track { waiting, until } => Short::Track(waiting.map(|(reason, _)| reason), until.map(second)),
        Step::Stop(reason) => Short::Stop(reason),
        Step::Close(Closed { verdict, counted }) => Short::Close(verdict.reason, counted),
        Step::Finish(Ending::Complete) => Short::Complete,
        Step::Finish(Ending::Failed(verdict)) => Short::Fail(verdict.reason),
    }
}

fn check(rows: impl IntoIterator<Item = (&'static str, Facts, Option<Observation>, Short)>) {
    for (row, facts, seen, wanted) in rows {
        assert_eq!(short(decide(&facts, seen.as_ref(), at(NOW))), wanted, "{row}");
    }
}

#[test]
fn a_job_without_a_pod() {
    use JobReason as R;
    let not_before = |second, mut facts: Facts| {
        facts.history.not_before = Some(at(second));
        facts
    };
    check([
        ("a new job gets its first pod", fresh(), None, Short::Create(0)),
        ("a suspended job gets none", suspended(fresh()), None, Short::Hold(Hold::Suspended)),
        ("nor does one of a suspended agent", agent_suspended(fresh()), None, Short::Hold(Hold::AgentSuspended)),
        ("a cancelled job ends", cancelled(fresh()), None, Short::Fail(R::Cancelled)),
        ("even while it is suspended", suspended(cancelled(fresh())), None, Short::Fail(R::Cancelled)),
        ("a later attempt waits its time", not_before(NOW + 7, fresh()), None, Short::BackOff(7)),
        ("and comes when it is due", not_before(NOW, fresh()), None, Short::Create(0)),
        (
            "no attempt begins after the job's time",
            with_deadline(50, Facts { started: Some(at(NOW - 50)), ..fresh() }),
            None,
            Short::Fail(R::DeadlineExceeded),
        ),
        (
            "a wait beyond the job's time ends with it",
            with_deadline(55, not_before(NOW + 60, Facts { started: Some(at(NOW - 50)), ..fresh() })),
            None,
            Short::BackOff(5),
        ),
        ("a pod that vanished before it ran is made anew", begun(false), None, Short::Close(R::PodDeleted, false)),
        ("one that had run counts", begun(true), None, Short::Fail(R::PodDeleted)),
        ("as often as allowed", with_backoff_limit(1, begun(true)), None, Short::Close(R::PodDeleted, true)),
        (
            "one that vanished to suspend the job is no failure",
            suspended(begun(false)),
            None,
            Short::Close(R::Suspended, false),
        ),
    ]);
}

#[test]
fn a_pod_that_has_not_started() {
    use JobReason as R;
    let old = |wait| Observation { created: at(NOW - 600), ..waiting(wait) };
    let image = |permanent| Wait::Image { message: "no such image".into(), permanent };
    check([
        (
            "it is waited for until its deadline",
            begun(false),
            Some(waiting(Wait::Creating)),
            Short::Track(Some(R::Starting), Some(500)),
        ),
        (
            "a pod the status does not know is adopted",
            fresh(),
            Some(waiting(Wait::Unscheduled)),
            Short::Track(Some(R::Starting), Some(500)),
        ),
        (
            "no node fits yet",
            begun(false),
            Some(waiting(Wait::Unschedulable("0/1".into()))),
            Short::Track(Some(R::Scheduling), Some(500)),
        ),
        ("no image yet", begun(false), Some(waiting(image(false))), Short::Track(Some(R::PullingImage), Some(500))),
        (
            "an image that cannot come is not waited for",
            begun(false),
            Some(waiting(image(true))),
            Short::Fail(R::ImagePullFailed),
        ),
        (
            "no node fitted in time",
            waited(),
            Some(old(Wait::Unschedulable("0/1".into()))),
            Short::Fail(R::Unschedulable),
        ),
        ("nobody scheduled it in time", waited(), Some(old(Wait::Unscheduled)), Short::Fail(R::Unschedulable)),
        ("no image came in time", waited(), Some(old(image(false))), Short::Fail(R::ImagePullFailed)),
        ("no volume was mounted in time", waited(), Some(old(Wait::Volumes)), Short::Fail(R::SourceNotMountable)),
        (
            "no volume, and none of the user's",
            Facts { mounts: false, ..waited() },
            Some(old(Wait::Volumes)),
            Short::Fail(R::StartDeadlineExceeded),
        ),
        ("no container was made in time", waited(), Some(old(Wait::Creating)), Short::Fail(R::StartDeadlineExceeded)),
        (
            "the container could not be made",
            waited(),
            Some(old(Wait::Container("x".into()))),
            Short::Fail(R::ContainerNotCreated),
        ),
        (
            "it has nothing to tell when cancelled",
            cancelled(begun(false)),
            Some(waiting(Wait::Creating)),
            Short::Fail(R::Cancelled),
        ),
        (
            "nor when its agent is suspended",
            agent_suspended(begun(false)),
            Some(waiting(Wait::Creating)),
            Short::Fail(R::AgentSuspended),
        ),
        (
            "nor when the job's time is over",
            with_deadline(50, begun(false)),
            Some(waiting(Wait::Creating)),
            Short::Fail(R::DeadlineExceeded),
        ),
        (
            "it is stopped when suspended",
            suspended(begun(false)),
            Some(waiting(Wait::Creating)),
            Short::Stop(StopReason::Suspended),
        ),
        (
            "the job's time may be shorter than the wait",
            with_deadline(60, begun(false)),
            Some(waiting(Wait::Creating)),
            Short::Track(Some(R::Starting), Some(10)),
        ),
    ]);
}

#[test]
fn a_pod_that_runs() {
    use StopReason as S;
    check([
        ("it is left alone until the job's time is over", begun(true), Some(running()), Short::Track(None, Some(3550))),
        ("a pod the status does not know is adopted", fresh(), Some(running()), Short::Track(None, None)),
        (
            "without its agent it goes on",
            Facts { active_deadline: None, ..begun(true) },
            Some(running()),
            Short::Track(None, None),
        ),
        ("cancelling stops it", cancelled(begun(true)), Some(running()), Short::Stop(S::Cancelled)),
        ("suspending stops it", suspended(begun(true)), Some(running()), Short::Stop(S::Suspended)),
        ("the kill switch stops it", agent_suspended(begun(true)), Some(running()), Short::Stop(S::AgentSuspended)),
        ("its deadline stops it", with_deadline(50, begun(true)), Some(running()), Short::Stop(S::DeadlineExceeded)),
        (
            "cancelling wins",
            agent_suspended(suspended(cancelled(begun(true)))),
            Some(running()),
            Short::Stop(S::Cancelled),
        ),
    ]);
}

#[test]
fn a_pod_that_was_told_to_stop() {
    use JobReason as R;
    use StopReason as S;
    let gone = |reason, cause, outcome| stopped(reason, 5, ended(cause, outcome, true));
    check([
        (
            "it is given time",
            cancelled(begun(true)),
            Some(stopped(S::Cancelled, 5, running())),
            Short::Track(None, Some(55)),
        ),
        (
            "a node that does not answer is not waited for",
            cancelled(begun(true)),
            Some(stopped(S::Cancelled, 60, running())),
            Short::Fail(R::Cancelled),
        ),
        (
            "cancelled",
            cancelled(begun(true)),
            Some(gone(S::Cancelled, Cause::Deadline, Some(Outcome::Cancelled))),
            Short::Fail(R::Cancelled),
        ),
        (
            "before the pod says why",
            cancelled(begun(true)),
            Some(gone(S::Cancelled, Cause::Exit, Some(Outcome::Cancelled))),
            Short::Fail(R::Cancelled),
        ),
        (
            "killed without a word",
            cancelled(begun(true)),
            Some(gone(S::Cancelled, Cause::Deadline, None)),
            Short::Fail(R::Cancelled),
        ),
        (
            "over its time",
            begun(true),
            Some(gone(S::DeadlineExceeded, Cause::Deadline, Some(Outcome::Cancelled))),
            Short::Fail(R::DeadlineExceeded),
        ),
        (
            "by the kill switch",
            begun(true),
            Some(gone(S::AgentSuspended, Cause::Deadline, Some(Outcome::Cancelled))),
            Short::Fail(R::AgentSuspended),
        ),
        (
            "suspended",
            suspended(begun(true)),
            Some(gone(S::Suspended, Cause::Deadline, Some(Outcome::Cancelled))),
            Short::Close(R::Suspended, false),
        ),
        (
            "resumed before it had stopped",
            begun(true),
            Some(gone(S::Suspended, Cause::Deadline, None)),
            Short::Close(R::Suspended, false),
        ),
        (
            "it completed all the same",
            cancelled(begun(true)),
            Some(stopped(S::Cancelled, 5, completed())),
            Short::Complete,
        ),
        (
            "it failed by itself all the same",
            cancelled(begun(true)),
            Some(stopped(S::Cancelled, 5, threw())),
            Short::Fail(R::ScriptError),
        ),
    ]);
}

#[test]
fn a_pod_that_ended_by_itself() {
    use JobReason as R;
    let exit = |outcome| Some(ended(Cause::Exit, Some(outcome), true));
    let twice = || with_backoff_limit(2, begun(true));
    check([
        ("completed", begun(true), Some(completed()), Short::Complete),
        ("completed while nobody looked", fresh(), Some(completed()), Short::Complete),
        ("completed beats cancelled", cancelled(begun(true)), Some(completed()), Short::Complete),
        ("threw", begun(true), Some(threw()), Short::Fail(R::ScriptError)),
        ("threw and may try again", twice(), Some(threw()), Short::Close(R::ScriptError, true)),
        ("threw for the last time", after(2, 0, twice()), Some(threw()), Short::Fail(R::ScriptError)),
        ("stalled", twice(), exit(Outcome::Stalled), Short::Close(R::ScriptError, true)),
        ("heap", twice(), exit(Outcome::OutOfMemory), Short::Close(R::ScriptError, true)),
        ("killed", twice(), exit(Outcome::Killed), Short::Close(R::ScriptError, true)),
        ("timed out", twice(), exit(Outcome::TimedOut), Short::Close(R::DeadlineExceeded, true)),
        ("a defect", twice(), exit(Outcome::Internal), Short::Close(R::InternalError, true)),
        (
            "a script that cannot be run is not tried again",
            twice(),
            exit(Outcome::Refused),
            Short::Fail(R::ScriptError),
        ),
        ("nor is a plan of another release", twice(), exit(Outcome::PlanRejected), Short::Fail(R::PlanRejected)),
        ("nor an empty source", twice(), exit(Outcome::SourceEmpty), Short::Fail(R::SourceEmpty)),
        (
            "nor a kernel that cannot confine",
            twice(),
            exit(Outcome::SandboxUnavailable),
            Short::Fail(R::SandboxUnavailable),
        ),
        (
            "nor an open network",
            twice(),
            exit(Outcome::NetworkPolicyNotEnforced),
            Short::Fail(R::NetworkPolicyNotEnforced),
        ),
        (
            "out of memory",
            begun(true),
            Some(ended(Cause::OutOfMemory, Some(Outcome::Killed), true)),
            Short::Fail(R::OOMKilled),
        ),
        (
            "out of memory without a word",
            twice(),
            Some(ended(Cause::OutOfMemory, None, true)),
            Short::Close(R::OOMKilled, true),
        ),
        (
            "no runner in the image",
            twice(),
            Some(ended(Cause::RunnerMissing, None, false)),
            Short::Fail(R::RunnerMissing),
        ),
        (
            "the pod's own deadline",
            twice(),
            Some(ended(Cause::Deadline, Some(Outcome::Cancelled), true)),
            Short::Fail(R::DeadlineExceeded),
        ),
        ("exit without a word", begun(true), Some(ended(Cause::Exit, None, true)), Short::Fail(R::ScriptError)),
    ]);
}

#[test]
fn what_is_not_implemented_ends_a_job_whatever_else_holds_it_back() {
    let verdict = Verdict::new(JobReason::NotImplemented, "spec.prompt is not implemented");
    let prompt = |facts| Facts { not_implemented: Some(verdict.clone()), ..facts };
    for facts in [fresh(), suspended(fresh()), agent_suspended(fresh())] {
        assert_eq!(decide(&prompt(facts), None, at(NOW)), Step::Finish(Ending::Failed(verdict.clone())));
    }
}

#[test]
fn a_gate_that_stayed_shut() {
    use JobReason as R;
    let shut = || Some(ended(Cause::Exit, Some(Outcome::NetworkPolicyNotEnforced), false));
    let on = |facts| Facts { engine_works: true, ..facts };
    let fails = || Short::Fail(R::NetworkPolicyNotEnforced);
    let again = || Short::Close(R::NetworkPolicyNotEnforced, false);
    check([
        ("where no job was ever sealed", with_backoff_limit(3, begun(true)), shut(), fails()),
        ("where others are sealed the engine is late", on(begun(true)), shut(), again()),
        ("and may be late twice", on(after(0, 1, begun(true))), shut(), again()),
        ("but not for ever", on(after(0, 2, begun(true))), shut(), fails()),
    ]);
}

#[test]
fn a_pod_that_the_cluster_took() {
    use JobReason as R;
    let evicted = |began| Some(ended(Cause::Disrupted(Disruption::Evicted), None, began));
    let lost = || Some(Disruption::NodeLost);
    check([
        ("evicted before the program began", begun(true), evicted(false), Short::Close(R::Evicted, false)),
        ("evicted after it began", begun(true), evicted(true), Short::Fail(R::Evicted)),
        (
            "evicted after it began, with tries left",
            with_backoff_limit(1, begun(true)),
            evicted(true),
            Short::Close(R::Evicted, true),
        ),
        ("uncounted attempts are bounded", after(0, 10, begun(true)), evicted(false), Short::Fail(R::Evicted)),
        (
            "and do not use up the counted",
            after(1, 9, with_backoff_limit(1, begun(true))),
            evicted(false),
            Short::Close(R::Evicted, false),
        ),
        (
            "preempted",
            begun(true),
            Some(ended(Cause::Disrupted(Disruption::Preempted), None, false)),
            Short::Close(R::Preempted, false),
        ),
        (
            "deleted by somebody",
            begun(true),
            Some(ended(Cause::Deleted, Some(Outcome::Cancelled), true)),
            Short::Fail(R::PodDeleted),
        ),
        (
            "the node refused it",
            begun(false),
            Some(ended(Cause::NodeRefused, None, false)),
            Short::Close(R::PodRejected, false),
        ),
        ("it is leaving", begun(true), Some(leaving(NOW + 5, None, running())), Short::Track(None, Some(65))),
        (
            "its node should have let go",
            begun(true),
            Some(leaving(NOW - 60, lost(), running())),
            Short::Fail(R::NodeLost),
        ),
        (
            "before it ran",
            begun(false),
            Some(leaving(NOW - 60, lost(), waiting(Wait::Creating))),
            Short::Close(R::NodeLost, false),
        ),
        (
            "cancelling still stops it",
            cancelled(begun(true)),
            Some(leaving(NOW + 5, None, running())),
            Short::Stop(StopReason::Cancelled),
        ),
    ]);
}

#[test]
fn a_pod_that_ended_and_does_not_say_why_yet() {
    let ending = |ago| {
        let end = end(Cause::Exit, Some(Outcome::Cancelled), true);
        Some(pod(State::Ending { end, since: at(NOW - ago) }))
    };
    check([
        ("the kubelet is given time to say", begun(true), ending(1), Short::Track(None, Some(29))),
        ("but not for ever", begun(true), ending(30), Short::Fail(JobReason::NodeLost)),
    ]);
}

#[test]
fn a_job_that_has_ended_never_changes() {
    check([
        ("it stays", finished(None), None, Short::Rest(None)),
        ("whatever its pod does", finished(None), Some(completed()), Short::Rest(None)),
        ("cancelled later", cancelled(finished(None)), Some(threw()), Short::Rest(None)),
        ("suspended later", suspended(finished(None)), None, Short::Rest(None)),
        ("until its time is over", finished(Some(100)), None, Short::Rest(Some(40))),
        ("then it leaves", finished(Some(60)), None, Short::Remove),
        (
            "a pod that could still run is stopped first",
            finished(Some(60)),
            Some(waiting(Wait::Creating)),
            Short::StopLeftover,
        ),
        ("a pod that runs, too", finished(None), Some(running()), Short::StopLeftover),
        ("once", finished(None), Some(stopped(StopReason::JobEnded, 1, running())), Short::Rest(None)),
    ]);
}
