//! Why something is as it is: one closed list a kind. The same word is condition reason, Event reason and metric label.

use std::fmt;

/// A word of one of the closed lists.
pub trait ConditionReason: Copy + fmt::Debug {
    /// The word itself.
    fn as_str(self) -> &'static str;
    /// What it means and what to do about it, in one sentence or two.
    fn meaning(self) -> &'static str;
}

/// Writes the enum, its words and their meanings from one list, so that none is forgotten.
macro_rules! reasons {
    ($(#[$attribute:meta])* $name:ident { $($variant:ident: $meaning:literal,)* }) => {
        $(#[$attribute])*
        #[expect(clippy::doc_markdown, reason = "the texts are printed as well, where backticks would be in the way")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = $meaning] $variant,)*
        }

        impl $name {
            /// Every word of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word itself: condition reason, Event reason and metric label.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant),)*
                }
            }

            /// What it means and what to do about it.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }

            /// The word of the list that reads so.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.as_str() == word)
            }
        }

        impl ConditionReason for $name {
            fn as_str(self) -> &'static str {
                $name::as_str(self)
            }

            fn meaning(self) -> &'static str {
                $name::meaning(self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

reasons! {
    /// Why a Job waits, runs, ended or failed.
    JobReason {
        // How it stands.
        Accepted: "The spec is valid. Nothing to do.",
        Resolved: "Every object the spec names was found. Nothing to do.",
        Pending: "The job was accepted and its attempt is being made. Nothing to do.",
        Starting: "The attempt's pod exists and its containers start. Nothing to do; the pod's events say what it waits for.",
        Running: "The runner has started: first it proves that its network is closed, then it runs the script. Nothing to do.",
        Completed: "The job ended well. Nothing to do.",
        BackingOff: "An attempt failed and the next one follows after a delay. Nothing to do; status.attempts says why it failed.",
        Enforced: "The network policy was seen to hold before the run began. Nothing to do.",
        Assumed: "The installation assumes that network policies hold and did not look. Set networkPolicy.enforcement to Probe to have it proved.",
        NotEnforced: "Connections the policy forbids went through, so nothing was run. Install a network plugin that enforces NetworkPolicy.",
        Unknown: "The runner proves it before it starts anything, and tells when the attempt ends. Nothing to do.",

        // What it waits for.
        Suspended: "spec.suspend is true. Set it to false to let the job go on.",
        Resumed: "spec.suspend is false again. Nothing to do.",
        AgentNotFound: "The Agent does not exist in the job's namespace. Create it, or delete the job and name another.",
        SourceNotFound: "A claim, ConfigMap or server that a source names does not exist. Create it, or delete the job and name another.",
        PromptNotFound: "The ConfigMap or key of promptFrom or instructionsFrom does not exist. Create it.",
        OutputNotFound: "The claim that output names does not exist. Create it.",
        QuotaExceeded: "A ResourceQuota of the namespace leaves no room. Wait, raise the quota, or lower the agent's sandbox.resources.",
        PullingImage: "An image is being pulled, or could not be pulled yet. Check the image's name, its registry and imagePullSecrets if it stays so.",
        Scheduling: "No node fits yet. Check the agent's sandbox.resources, nodeSelector and tolerations if it stays so.",
        CanaryUnreachable: "The operator cannot reach its own canary, so no policy could be put to the test and no pod is made. Check the canary Service of the installation.",
        NotImplemented: "A field asks for something this version does not do; the message names it. Leave the field out or upgrade.",
        InvalidSpec: "The spec breaks a rule; the message names the field. Delete the job and create it corrected.",

        // What it failed of. (A job also fails with what it waited for, when that cannot change or startDeadlineSeconds pass.)
        McpServerMissing: "A server that the agent's tools name does not exist. Register it or take it out of the agent's tools.",
        McpServerDisabled: "A server that the agent's tools name is disabled. Enable it or take it out of the agent's tools.",
        McpServerUnreachable: "A server the agent requires did not answer. Check the server's status, or set required to false.",
        HeaderRefused: "The value of a server's header could be interpreted or is no header value. Correct the Secret.",
        NetworkPolicyNotEnforced: "Connections the policy forbids went through, so nothing was run. Install a network plugin that enforces NetworkPolicy.",
        ImagePullFailed: "An image could not be pulled. Check its name, its registry and imagePullSecrets.",
        RunnerMissing: "The runner image does not contain the runner. Set the installation's runner image to one of this release.",
        RunnerCrashed: "The runner ended without a result; the message has its exit code or signal. Read the pod's logs, and report it if they do not explain it.",
        ContainerNotCreated: "The kubelet could not create the container; the message has its words. Check what it names.",
        Unschedulable: "No node took the pod within startDeadlineSeconds. Check the agent's sandbox, or raise the deadline.",
        OOMKilled: "The sandbox used more memory than its limit. Raise the agent's sandbox.resources.limits.memory, or do less at once.",
        Evicted: "The node stopped the pod because it ran short of something. Lower what the job writes, or raise requests.",
        Preempted: "A pod of higher priority took the node. Raise backoffLimit, or set the agent's sandbox.priorityClassName.",
        NodeLost: "The node stopped answering or was shut down. Raise backoffLimit to have such jobs tried again.",
        PodDeleted: "Somebody deleted the attempt's pod. Create the job anew under another name, or raise backoffLimit.",
        DeadlineExceeded: "The run took longer than activeDeadlineSeconds, the agent's limits.timeoutSeconds, or, where the job sets no activeDeadlineSeconds, the 120 s of a script. Set activeDeadlineSeconds, or ask for less.",
        StartDeadlineExceeded: "No attempt ran within startDeadlineSeconds; the message says what it waited for. Remove the cause, or raise the deadline.",
        BudgetExceeded: "The job reached one of the agent's limits; the message names it. Raise the limit, or ask for less.",
        ModelError: "The model's endpoint refused or failed for good. The message has its answer; check the name, the key and the quota.",
        ScriptError: "The script failed. The message has its error and line; correct the script.",
        Cancelled: "spec.cancel was set. Nothing to do; the logs stay until the job is deleted.",
        AgentSuspended: "The agent's kill switch is on. Set its spec.suspend to false and create the job anew.",
        ToolNotGranted: "The job needs a tool that its agent does not grant; the message names it. Add it to the agent's spec.tools.",
        AgentInvalid: "The Agent is not Accepted. Correct it; its status names the field.",
        SandboxUnavailable: "The node's kernel cannot confine the run, so nothing was run. Use nodes with Landlock and seccomp, or a RuntimeClass that has them.",
        SourceMissing: "A source that was there when the job was accepted is gone. Restore it and create the job anew.",
        SourceEmpty: "A source holds no file. Fill it, or correct its subPath.",
        SourceNotMountable: "A source could not be mounted or read. The message says which; check the claim, its access modes, its subPath, and that user 65532 may read it.",
        OutputFull: "The job wrote more than output.sizeLimit. Raise it, or write less.",
        PlanRejected: "The runner refused its plan, as a runner of another release does. Use operator and runner of one release.",
        NameConflict: "An object with a name the job needs exists and is not the job's. Delete it, or create the job under another name.",
        PodRejected: "Admission refused the pod; the message has its words. Allow the restricted pods of jobs in this namespace.",
        InternalError: "Something that cannot happen did. The message has the details; please report it.",
    }
}

reasons! {
    /// Why an Agent can or cannot be used.
    AgentReason {
        Accepted: "The spec is valid. Nothing to do.",
        Resolved: "Every object the spec names was found. Nothing to do.",
        Ready: "Jobs can use the agent. Nothing to do.",
        Suspended: "The kill switch is on: no job of this agent runs. Set spec.suspend to false to lift it.",
        InvalidSpec: "The spec breaks a rule; the message names the field. Correct it.",
        NotImplemented: "A field asks for something this version does not do; the message names it. Leave the field out or upgrade.",
        McpServerMissing: "A server that the tools name does not exist. Register it or take it out of spec.tools.",
        McpServerDisabled: "A server that the tools name is disabled. Enable it or take it out of spec.tools.",
        McpServerNotAllowed: "A server that the tools name does not serve this namespace. Ask for it in the server's allowedNamespaces.",
        InstructionsNotFound: "The ConfigMap or key of instructionsFrom does not exist. Create it.",
        NotAccepted: "The agent was not accepted. The condition Accepted says why.",
        NotResolved: "Something the agent names was not found. The condition ResolvedRefs says what.",
        InternalError: "Something that cannot happen did. The message has the details; please report it.",
    }
}

reasons! {
    /// Why an McpServer can or cannot be used.
    McpServerReason {
        Accepted: "The registration is valid. Nothing to do.",
        Resolved: "Every object the registration names was found. Nothing to do.",
        Ready: "The server answered its last probe. Nothing to do.",
        Reachable: "The server answered its last probe. Nothing to do.",
        Disabled: "spec.enabled is false: nobody uses the server. Set it to true to use it.",
        InvalidSpec: "The registration breaks a rule; the message names the field. Correct it.",
        InvalidUrl: "The URL cannot be used; the message says why. Correct spec.url.",
        HeaderRefused: "A header's name or value is refused; the message says why. Correct it.",
        AddressRefused: "The host resolves to an address that jobs never reach. Register the server's own name or address.",
        NotImplemented: "A field asks for something this version does not do; the message names it. Leave the field out or upgrade.",
        SecretNotFound: "A Secret or key that a header names does not exist. Create it.",
        CaBundleNotFound: "The ConfigMap or key of spec.tls does not exist. Create it.",
        NotProbed: "The server was not probed yet. Nothing to do.",
        NameNotResolved: "The host has no address. Check its name, and the operator's DNS.",
        ConnectFailed: "No connection could be made. Check the server, its port, its certificate, and what filters the way to it.",
        Unauthorized: "The server refused the credentials. Check the Secret.",
        ProtocolError: "The server did not answer as an MCP server. Check that the URL is its streamable HTTP endpoint.",
        TransportNotSupported: "The server speaks the former HTTP+SSE transport. Use its streamable HTTP endpoint.",
        ProbeTimedOut: "The server did not answer in time. Check its load, or raise the time-outs.",
        NotAccepted: "The registration was not accepted. The condition Accepted says why.",
        NotResolved: "Something the registration names was not found. The condition ResolvedRefs says what.",
        InternalError: "Something that cannot happen did. The message has the details; please report it.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_one_the_api_takes_and_leads_back_to_its_reason() {
        fn check<R: ConditionReason + PartialEq>(all: &[R], from_word: fn(&str) -> Option<R>) {
            for &reason in all {
                let word = reason.as_str();
                assert!(
                    word.starts_with(|c: char| c.is_ascii_uppercase())
                        && word.chars().all(|c| c.is_ascii_alphanumeric())
                );
                assert!(from_word(word) == Some(reason));
                assert!(reason.meaning().contains(". "), "{word} says what to do");
            }
        }
        check(JobReason::ALL, JobReason::from_word);
        check(AgentReason::ALL, AgentReason::from_word);
        check(McpServerReason::ALL, McpServerReason::from_word);
    }
}
