//! What a pod shows of its attempt. Pure: it reads the pod and nothing else, neither the job nor the clock.

use anchorhold_plan::{ExitCode, Outcome, RUNNER_CONTAINER, RUNNER_PROGRAM, RunResult, Stage};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    ContainerState, ContainerStateTerminated, ContainerStatus, Pod, PodCondition, PodStatus,
};

use super::stop::Stopped;

/// One pod, as far as it matters for its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    /// When the API server accepted the pod.
    pub(crate) created: Timestamp,
    /// Whether a node was found: only such a pod has logs worth keeping.
    pub(crate) scheduled: bool,
    /// That we told the pod to stop, if we did.
    pub(crate) stopped: Option<Stopped>,
    /// When a deleted pod should be gone; the API server adds the grace period to the time of the request.
    pub(crate) leaving_by: Option<Timestamp>,
    /// Who takes the pod away, when the cluster said so.
    pub(crate) disruption: Option<Disruption>,
    /// How far its runner is.
    pub(crate) state: State,
}

impl Observation {
    /// Whether the attempt ended because its network was not closed in time.
    pub(crate) fn gate_stayed_shut(&self) -> bool {
        let State::Ended(end) = &self.state else { return false };
        match end.result.as_ref().and_then(|result| result.outcome) {
            Some(outcome) => outcome == Outcome::NetworkPolicyNotEnforced,
            None => end.exit_code.and_then(ExitCode::from_status) == Some(ExitCode::NetworkPolicyNotEnforced),
        }
    }
}

/// How far the runner of a pod is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It has not started.
    Waiting(Wait),
    /// It runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It was told to stop and has, but the pod does not say yet who told it: the kubelet reports that a moment later.
    Ending {
        /// What is known of the end.
        end: End,
        /// When it ended.
        since: Timestamp,
    },
    /// It has ended.
    Ended(End),
}

/// Why a runner has not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The scheduler has not looked at the pod.
    Unscheduled,
    /// No node takes the pod; the scheduler's words.
    Unschedulable(String),
    /// An image cannot be had; the kubelet's words.
    Image {
        /// What the kubelet says.
        message: String,
        /// Trying again cannot help.
        permanent: bool,
    },
    /// A container cannot be created; the kubelet's words.
    Container(String),
    /// Volumes are being mounted and the network is being set up.
    Volumes,
    /// Images are being pulled and containers made.
    Creating,
}

/// How a runner ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Who or what ended it.
    pub(crate) cause: Cause,
    /// What the runner reported; `None` when it could not.
    pub(crate) result: Option<Box<RunResult>>,
    /// The exit code of its process, when there was one.
    pub(crate) exit_code: Option<i32>,
    /// What the kubelet or the control plane says about it.
    pub(crate) message: String,
    /// Whether the program may have begun: what it did cannot be undone by trying again.
    pub(crate) began: bool,
    /// When it started, when that is known.
    pub(crate) since: Option<Timestamp>,
    /// When it ended, when that is known.
    pub(crate) at: Option<Timestamp>,
}

/// Who or what ended a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Its process ended.
    Exit,
    /// The kernel killed it: the container's memory limit.
    OutOfMemory,
    /// The image has no runner that can be executed.
    RunnerMissing,
    /// The pod's own deadline passed, be it the job's or one that we shortened to stop it.
    Deadline,
    /// The node refused the pod before it started anything.
    NodeRefused,
    /// The cluster took the pod away.
    Disrupted(Disruption),
    /// Somebody deleted the pod.
    Deleted,
}

/// Who takes a pod away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disruption {
    /// The kubelet short of something, a drain, a node that shuts down.
    Evicted,
    /// A pod of higher priority.
    Preempted,
    /// Its node does not answer or is gone.
    NodeLost,
}

/// Reads a pod.
pub(crate) fn observe(pod: &Pod) -> Observation {
    let status = pod.status.as_ref();
    let disruption = status.and_then(disruption);
    let deleted = pod.metadata.deletion_timestamp.as_ref();
    Observation {
        created: pod.metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0),
        scheduled: pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some()),
        stopped: Stopped::of(pod),
        leaving_by: deleted.map(|time| time.0),
        disruption,
        state: status.map_or(State::Waiting(Wait::Unscheduled), |status| state(pod, status, disruption)),
    }
}

fn state(pod: &Pod, status: &PodStatus, disruption: Option<Disruption>) -> State {
    let deleted = pod.metadata.deletion_timestamp.is_some();
    let over = matches!(status.phase.as_deref(), Some("Failed" | "Succeeded"));
    let runner = runner_status(status);
    let container = runner.and_then(|runner| runner.state.as_ref());
    if let Some(terminated) = container.and_then(|container| container.terminated.as_ref()) {
        let cause = if over { cause_of_pod(status, disruption) } else { None };
        let told = cause.or(disruption.map(Cause::Disrupted)).or(deleted.then_some(Cause::Deleted));
        let words = if over { words(status) } else { String::new() };
        let end = end_of(terminated, told, words);
        // Our own stop needs no explanation, and neither does an end that nobody else asked for.
        let explained =
            over || Stopped::of(pod).is_some() || end.cause != Cause::Exit || !told_to_stop(terminated, &end);
        return match end.at {
            Some(since) if !explained => State::Ending { end, since },
            _ => State::Ended(end),
        };
    }
    if over {
        // The control plane gave the pod up, or the node refused it: no container will say more.
        let running = container.and_then(|container| container.running.as_ref());
        let cause =
            cause_of_pod(status, disruption).unwrap_or(if deleted { Cause::Deleted } else { Cause::NodeRefused });
        return State::Ended(End {
            cause,
            result: None,
            exit_code: None,
            message: words(status),
            began: running.is_some(),
            since: running.and_then(|running| running.started_at.as_ref()).map(|time| time.0),
            at: None,
        });
    }
    if let Some(running) = container.and_then(|container| container.running.as_ref()) {
        let since = running.started_at.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
        return State::Running { since };
    }
    State::Waiting(wait(pod, status, container))
}

/// How a runner that has ended did so. `told` is who in the cluster wanted its end, `words` what the pod says about it.
fn end_of(terminated: &ContainerStateTerminated, told: Option<Cause>, words: String) -> End {
    let text = terminated.message.as_deref().unwrap_or_default();
    let result = RunResult::parse(text).map(Box::new);
    let started = terminated.started_at.as_ref().map(|time| time.0).filter(|time| *time > Timestamp::UNIX_EPOCH);
    let message = if result.is_none() && !text.is_empty() { text.to_owned() } else { words };
    let mut end = End {
        cause: own_cause(terminated, text),
        // A container whose process could not be started has the epoch as its start.
        began: result.as_ref().map_or(started.is_some(), |result| result.stage > Stage::Preparing),
        result,
        exit_code: Some(terminated.exit_code),
        message,
        since: started,
        at: terminated.finished_at.as_ref().map(|time| time.0).filter(|time| *time > Timestamp::UNIX_EPOCH),
    };
    if let Some(told) = told
        && end.cause == Cause::Exit
        && told_to_stop(terminated, &end)
    {
        end.cause = told;
    }
    end
}

/// Whether the runner ended because somebody told it to, and not because its program did.
fn told_to_stop(terminated: &ContainerStateTerminated, end: &End) -> bool {
    match &end.result {
        Some(result) => result.outcome.is_none_or(|outcome| outcome == Outcome::Cancelled),
        // 143 is SIGTERM, 137 SIGKILL, as a shell counts them.
        None => {
            matches!(terminated.exit_code, 137 | 143) || terminated.reason.as_deref() == Some("ContainerStatusUnknown")
        }
    }
}

/// What the container itself says of its end.
fn own_cause(terminated: &ContainerStateTerminated, message: &str) -> Cause {
    match terminated.reason.as_deref() {
        Some("OOMKilled") => Cause::OutOfMemory,
        // containerd says StartError, CRI-O and Docker say ContainerCannotRun.
        Some("StartError" | "ContainerCannotRun") if message.contains(RUNNER_PROGRAM) => Cause::RunnerMissing,
        Some("StartError" | "ContainerCannotRun") => Cause::NodeRefused,
        _ => Cause::Exit,
    }
}

/// What the pod as a whole says of its end; the kubelet and the control plane write it.
fn cause_of_pod(status: &PodStatus, disruption: Option<Disruption>) -> Option<Cause> {
    match status.reason.as_deref() {
        Some("DeadlineExceeded") => Some(Cause::Deadline),
        // "Evicted", and the kubelet's graceful node shutdown under its two names.
        Some("Evicted" | "Terminated" | "NodeShutdown") => Some(Cause::Disrupted(Disruption::Evicted)),
        Some("Preempting") => Some(Cause::Disrupted(Disruption::Preempted)),
        Some("NodeLost") => Some(Cause::Disrupted(Disruption::NodeLost)),
        _ => disruption.map(Cause::Disrupted),
    }
}

fn disruption(status: &PodStatus) -> Option<Disruption> {
    let condition = condition(status, "DisruptionTarget").filter(|condition| condition.status == "True")?;
    match condition.reason.as_deref() {
        Some("PreemptionByScheduler" | "PreemptionByKubeScheduler") => Some(Disruption::Preempted),
        Some("DeletionByTaintManager" | "DeletionByPodGC") => Some(Disruption::NodeLost),
        // EvictionByEvictionAPI, TerminationByKubelet, and what later versions add: something moved the pod away.
        _ => Some(Disruption::Evicted),
    }
}

fn wait(pod: &Pod, status: &PodStatus, container: Option<&ContainerState>) -> Wait {
    if let Some(waiting) = container.and_then(|container| container.waiting.as_ref()) {
        let reason = waiting.reason.as_deref().unwrap_or_default();
        let message = || waiting.message.clone().filter(|text| !text.is_empty()).unwrap_or_else(|| reason.to_owned());
        match reason {
            "ErrImageNeverPull" | "InvalidImageName" => return Wait::Image { message: message(), permanent: true },
            "ErrImagePull"
            | "ImagePullBackOff"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => {
                return Wait::Image { message: message(), permanent: false };
            }
            "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
                return Wait::Container(message());
            }
            _ => {}
        }
    }
    if pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some()) {
        // Kubernetes 1.29 and later: false until volumes are mounted and the network is there.
        let ready = condition(status, "PodReadyToStartContainers").is_none_or(|condition| condition.status == "True");
        return if ready { Wait::Creating } else { Wait::Volumes };
    }
    condition(status, "PodScheduled")
        .filter(|condition| condition.status == "False")
        .and_then(|condition| condition.message.clone().or_else(|| condition.reason.clone()))
        .map_or(Wait::Unscheduled, Wait::Unschedulable)
}

/// The status of the runner's container.
pub(crate) fn runner_status(status: &PodStatus) -> Option<&ContainerStatus> {
    status.container_statuses.iter().flatten().find(|container| container.name == RUNNER_CONTAINER)
}

fn condition<'a>(status: &'a PodStatus, type_: &str) -> Option<&'a PodCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == type_)
}

/// The pod's own reason and message, as one sentence.
fn words(status: &PodStatus) -> String {
    [status.reason.as_deref(), status.message.as_deref()]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(": ")
}

#[cfg(test)]
mod tests;
